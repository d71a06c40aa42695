//! `measure`: how fast the engine and stateright are on the same worlds.
//!
//! Rules: none of its own; speed is reported, not judged.

use std::process::ExitCode;

use awakener_model_check::measure::job::Subject;
use awakener_model_check::measure::plan::Settings;
use awakener_model_check::measure::{Failed, child, run as measure};
use awakener_model_check::worlds::Listed;

use crate::args::Measure;
use crate::failure::Failure;
use crate::out;

fn subjects(worlds: &[Box<dyn Listed>]) -> Vec<Subject> {
    worlds.iter().map(|world| world.subject()).chain([Subject::two_phase()]).collect()
}

/// Measures in this process, if it was started by [`run`] of another for that.
pub fn serve(worlds: &[Box<dyn Listed>]) -> Option<ExitCode> {
    child::serve(&subjects(worlds))
}

/// Runs the command: 1 if searches of one scope disagree about what they counted.
pub fn run(worlds: &[Box<dyn Listed>], args: &Measure, json: bool) -> Result<u8, Failure> {
    let least = Settings::default();
    let settings = Settings {
        world: args.world.clone(),
        scope: args.scope.clone(),
        threads: args.threads.map_or(least.threads, usize::from),
        repeat: args.repeat.unwrap_or(least.repeat),
    };
    let mut written = Vec::new();
    let report =
        measure(&mut written, json, &subjects(worlds), &settings).map_err(|failed| match failed {
            Failed::World(_) | Failed::Scope(..) => Failure::usage(failed.to_string()),
            Failed::Child(_) | Failed::Write(_) => Failure::failed(failed.to_string()),
        })?;
    out::say(&String::from_utf8_lossy(&written));
    Ok(u8::from(!report.agrees))
}
