//! The wire: what comes in is read in one form only, and a signature covers what it should.

mod common;
mod corners;
mod crypto;
mod documents;
mod door;
mod forms;
mod hint;
mod interop;
mod judge;
mod mangled;
mod screen;
mod suite;
