//! What a waker world leaves out, said honestly.

use crate::world::Gap;

/// What was simplified.
pub const ABSTRACTIONS: &[&str] = &[];

/// What is not modelled.
pub const GAPS: &[Gap] = &[];
