//! The five lists that `build.rs` makes from the TOML files: rules, limits, refusals, classes, receipts.
//!
//! Not here: the small lists that classify them (`kinds`). Change the TOML files, never the generated text.

use crate::{AuditKind, Fault, ReasonGroup, ReceiptKey, Retry, RuleKind, RuleState, Terminal, Unit};

include!(concat!(env!("OUT_DIR"), "/lists.rs"));
