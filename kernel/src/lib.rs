//! The rules of awakener as pure state machines.
//!
//! This crate decides; it does nothing else. It has no I/O, no clock, no randomness, no logging and no panics:
//! time, ids, nonces and every fact about the outside come in as arguments, and what should happen leaves as values.
//!
//! Reading order: `machine` (what a step is) → `open` (why no effect can be seen before it is durable) →
//! `mailbox`, `waker`, `station`, `registry` (the machines) → `admission`, `wire`, `receipt`,
//! `audit`, `operator`, `fuse` (pure functions beside them).

#![no_std]
#![cfg_attr(
    not(test),
    deny(
        clippy::unwrap_used,
        clippy::expect_used,
        clippy::panic,
        clippy::indexing_slicing,
        clippy::string_slice,
        clippy::unreachable,
        clippy::wildcard_enum_match_arm
    )
)]

extern crate alloc;

pub mod admission;
pub mod audit;
pub mod config;
pub mod fuse;
pub mod ids;
pub mod json;
pub mod machine;
pub mod mailbox;
pub mod open;
pub mod operator;
pub mod page;
pub mod receipt;
pub mod registry;
pub mod router;
pub mod station;
pub mod time;
pub mod values;
pub mod waker;
pub mod wire;
mod words;
