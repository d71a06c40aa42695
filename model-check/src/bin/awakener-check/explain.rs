//! `explain`: a trace in words, with what changes at each step.
//!
//! Rules: CON-1.

use awakener_model_check::trace::text;
use awakener_model_check::worlds::Listed;

use crate::args::Explain;
use crate::failure::Failure;
use crate::{out, replay};

/// Runs the command. Whether a law falls is said, and is not what is asked: the exit code is 0.
pub fn run(worlds: &[Box<dyn Listed>], args: &Explain, json: bool) -> Result<u8, Failure> {
    let told = replay::told(worlds, &args.file)?;
    if json {
        out::say(&(serde_json::to_string(&told).map_err(|error| Failure::failed(error.to_string()))? + "\n"));
    } else {
        out::say(&text::text(&told, true));
    }
    match &told.stuck {
        Some((at, why)) => Err(replay::impossible(&args.file, *at, why)),
        None => Ok(0),
    }
}
