//! What was simplified, and what is not in the model.

use crate::world::Gap;

/// What was simplified, one sentence each.
pub const ABSTRACTIONS: &[&str] = &[];

/// What is not modelled.
pub const GAPS: &[Gap] = &[];
