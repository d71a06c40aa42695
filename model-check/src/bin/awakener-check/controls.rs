//! `controls`.

use crate::args::Controls;
use crate::failure::Failure;

/// Runs the command.
pub fn run(_: &Controls, _: bool) -> Result<u8, Failure> {
    Err(Failure::failed("`controls` is not part of this build"))
}
