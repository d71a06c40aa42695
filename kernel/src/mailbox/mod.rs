//! Placeholder until the next commit.
pub mod image;
pub mod input;
pub mod ranges;
