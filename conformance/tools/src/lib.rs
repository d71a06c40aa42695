//! What the tests of awakener share: evidence that a test met the rules that it claims.
//!
//! Not here: anything that a shipped binary needs. This crate is not published.

pub mod evidence;
