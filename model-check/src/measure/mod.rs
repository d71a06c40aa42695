//! How fast the search is, and how large.
pub mod two_phase;
