//! `liveness`.

use crate::args::Liveness;
use crate::failure::Failure;

/// Runs the command.
pub fn run(_: &Liveness, _: bool) -> Result<u8, Failure> {
    Err(Failure::failed("`liveness` is not part of this build"))
}
