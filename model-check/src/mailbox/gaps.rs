//! What was simplified, and what is not modelled at all.

use crate::world::Gap;

/// What was simplified.
pub const ABSTRACTIONS: &[&str] = &[];

/// What is not modelled.
pub const GAPS: &[Gap] = &[];
