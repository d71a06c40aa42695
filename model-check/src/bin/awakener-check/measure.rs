//! `measure`.

use crate::args::Measure;
use crate::failure::Failure;

/// Runs the command.
pub fn run(_: &Measure, _: bool) -> Result<u8, Failure> {
    Err(Failure::failed("`measure` is not part of this build"))
}
