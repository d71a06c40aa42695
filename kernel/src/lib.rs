//! The rules of awakener as pure values and pure functions.
//!
//! Nothing here reads a clock, draws a random number, opens a file or logs: time, ids and chance come in as
//! arguments, results go out as values.

#![no_std]
#![cfg_attr(
    not(test),
    deny(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)
)]

extern crate alloc;

pub mod ids;
pub mod json;
pub mod time;
pub mod wire;
