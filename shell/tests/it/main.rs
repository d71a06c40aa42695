//! The tests of the shell from outside: its library and its program.

mod http;
mod support;
