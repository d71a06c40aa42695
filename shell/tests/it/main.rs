//! The tests of the shell from outside: its library and its program.

mod acts;
mod child;
mod cli;
mod config;
mod demo;
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
mod stations;
mod support;
mod wake;
