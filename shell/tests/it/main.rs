//! The tests of the shell from outside: its library and its program.

mod acts;
mod adapters;
mod child;
mod cli;
mod config;
mod demo;
mod doors;
mod faults;
mod host;
mod http;
mod kills;
mod manifest;
mod plane;
mod power;
mod program;
mod readme;
mod review;
mod runners;
mod spawn;
mod stations;
mod support;
mod wake;
