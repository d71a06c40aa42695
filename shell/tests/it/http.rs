//! The plane over HTTP, from outside: real files, real sockets.
//!
//! Every test that meets rules runs under the process-wide capture, so these tests take turns.

mod acks;
mod door;
mod failure;
mod guard;
mod inbox;
mod openapi;
mod proofs;
mod queries;
mod readable;
mod wake;
mod work;
