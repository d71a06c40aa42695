//! The tests of the shell from outside: its library and its program.

mod child;
mod cli;
mod config;
mod faults;
mod host;
mod http;
mod kills;
mod manifest;
mod plane;
mod stations;
mod support;
mod wake;
