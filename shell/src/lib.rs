//! The shell of awakener: what the pure kernel needs to live on a machine.
//!
//! Reading order: `config`, `manifest`, `keys`, `clock` (what a process starts from) → `cli` (the commands) → `exit`
//! (how a command ends).

pub mod broker;
pub mod clock;
pub mod config;
pub mod exit;
pub mod host;
pub mod keys;
pub mod manifest;
pub mod pause;
pub mod plane;
pub mod store;
pub mod wake;
