//! `check --replay`: runs a trace and says whether its law falls; and how traces are read at all.
//!
//! Rules: FML-1, CON-1.

use std::path::Path;

use awakener_model_check::trace::told::Told;
use awakener_model_check::trace::{Trace, text};
use awakener_model_check::worlds::Listed;

use crate::failure::Failure;
use crate::{out, select};

/// Runs the command: 1 if the law falls, 0 if it does not.
pub fn run(worlds: &[Box<dyn Listed>], file: &Path, json: bool) -> Result<u8, Failure> {
    let told = told(worlds, file)?;
    if json {
        out::say(&(serde_json::to_string(&told).map_err(|error| Failure::failed(error.to_string()))? + "\n"));
    } else {
        out::say(&text::text(&told, false));
    }
    match (told.exit(), &told.stuck) {
        (2, Some((at, why))) => Err(impossible(file, *at, why)),
        (code, _) => Ok(code),
    }
}

/// A step of the trace cannot be taken.
pub fn impossible(file: &Path, at: usize, why: &str) -> Failure {
    Failure::usage(format!("{}: step {at} is not possible: {why}", file.display()))
}

/// Reads a trace and follows it.
pub fn told(worlds: &[Box<dyn Listed>], file: &Path) -> Result<Told, Failure> {
    let text = std::fs::read_to_string(file).map_err(|error| Failure::file("read", file, &error))?;
    let trace = Trace::parse(&text).map_err(|why| Failure::usage(format!("{}: {why}", file.display())))?;
    Ok(select::world(worlds, &trace.world)?.follow(&trace)?)
}
