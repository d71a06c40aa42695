//! What a system world leaves out, said aloud.

use crate::world::Gap;

/// What was simplified.
pub const ABSTRACTIONS: &[&str] = &[];

/// What is not modelled.
pub const GAPS: &[Gap] = &[];
