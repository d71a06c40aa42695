//! The lists hold together, and every rule is claimed by a test or known to wait for one.
//!
//! `repository` runs the checks on this tree; `teeth` runs them on small made-up trees, one for each way to fail.

#[path = "../../build/check.rs"]
mod check;
mod claims;
mod data;
mod ids;
mod ledger;
mod lists;
mod repository;
mod teeth;
mod tree;
