//! The shell of awakener: what the pure kernel needs to live on a machine.
//!
//! Reading order: `config`, `manifest`, `keys`, `clock` (what a process starts from) → `cli` (the commands) → `exit`
//! (how a command ends).

pub mod broker;
pub mod cli;
pub mod client;
pub mod clock;
pub mod config;
pub mod demo;
pub mod exit;
pub mod host;
pub mod http;
pub mod keys;
pub mod manifest;
pub mod pause;
pub mod plane;
pub mod spawn;
pub mod station;
pub mod store;
pub mod wake;
