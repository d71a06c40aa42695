//! The status of all agents: one row each, of what plane, wake daemon, stations and state directory say.
//!
//! A projection: every number comes from the one place that decides by it, and nothing is kept here (AUD-8). What
//! cannot be read is absent and named, and never looks like rest (CON-1). Reading order: [`facts`] (what is known) →
//! [`mod@judge`] (what follows, the one place where that is decided) → `words` → [`mod@row`] → `ask`, `files` (where the facts
//! come from). Not here: who may see it (`http::routes::agents`), and how it is shown. Rules: WHY-1, AUD-8, CON-1.

mod ask;
mod cause;
pub mod facts;
mod files;
pub mod judge;
mod row;
#[cfg(test)]
pub(crate) mod tests;
mod words;

pub use ask::{Heard, Neighbours, WakeAt};
pub use cause::{Cause, State};
pub use files::Files;
pub use judge::{Verdict, judge};
pub use row::{Ledger, all, plane_facts, row};
pub use words::{next, waits_for};
