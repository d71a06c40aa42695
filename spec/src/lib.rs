//! The rules of awakener as data, and enums of their names.
//!
//! The lists stand in `rules.toml`, `limits.toml`, `reasons.toml`, `classes.toml` and `receipts.toml`; `build.rs`
//! refuses a malformed list and makes the enums. Nothing here decides anything: this crate is the law's text, the
//! other crates keep it. What was decided after the first wording stands in `decisions.md`.
#![no_std]

#[macro_use]
mod names;
mod kinds;
mod lists;
mod machines;
mod mark;

pub use kinds::{AuditKind, Fault, ReasonGroup, ReceiptKey, Retry, RuleKind, RuleState, Terminal, Unit};
pub use lists::{Class, Limit, Reason, ReceiptKind, Rule};
pub use machines::MACHINES;
pub use mark::{mark, set_mark_hook};
pub use names::UnknownName;
