//! The tests of the shell from outside: its library and its program.

mod cli;
mod config;
mod demo;
mod http;
mod manifest;
mod plane;
mod program;
mod readme;
mod support;
mod wake;
