//! `controls`: makes something wrong on purpose, a control at a time, and sees that a law notices.
//!
//! Here: what is said of it. The engine is in the library ([`controls`]). Rules: FML-5, CNF-3, CON-1.

use std::path::{Path, PathBuf};

use awakener_model_check::controls::{self, Line, Options, Report};

use crate::args::Controls;
use crate::failure::Failure;
use crate::out;

/// Runs the command.
pub fn run(args: &Controls, json: bool) -> Result<u8, Failure> {
    let threads = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let options =
        Options { root: root(), threads: args.threads.map_or(threads, usize::from), only: args.name.clone() };
    let hear = |line: &Line| out::say(&if json { value(line) } else { text(line) });
    let report = controls::run(&options, &hear).map_err(Failure::failed)?;
    if report.controls.is_empty() {
        return Err(Failure::usage("no control has this in its name"));
    }
    for (place, failure) in &report.without {
        if let Some(failure) = failure {
            let line = format!("{place}: {failure}\n");
            out::tell(&line, &line);
        }
    }
    if !json {
        out::say(&sum(&report));
    }
    Ok(u8::from(!report.is_clean()))
}

/// The root of the workspace that this program was built from.
fn root() -> PathBuf {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    package.parent().unwrap_or(package).to_owned()
}

fn value(line: &Line) -> String {
    serde_json::to_string(line).unwrap_or_default() + "\n"
}

fn text(line: &Line) -> String {
    let Line { name, rule, file, place, law, steps, failure, excused, .. } = line;
    match (failure, law) {
        (Some(failure), _) => format!("FAILS   {name} ({rule}, {file}, {place}): {failure}\n"),
        (None, Some(law)) => {
            format!("ok      {name}: {law}, in {place}, after {} steps\n", steps.unwrap_or_default())
        }
        (None, None) if *excused => format!("excused {name}: nothing depends on it\n"),
        (None, None) => format!("ok      {name}\n"),
    }
}

fn sum(report: &Report) -> String {
    let count = |good: &dyn Fn(&Line) -> bool| report.controls.iter().filter(|line| good(line)).count();
    let seconds = |ms: u64| format!("{}.{} s", ms / 1_000, ms % 1_000 / 100);
    format!(
        "{} controls: {} fell as they should, {} excused, {} FAILED; {} scopes hold without a control; {} (build {})\n",
        report.controls.len(),
        count(&|line| line.failure.is_none() && !line.excused),
        count(&|line| line.excused),
        count(&|line| line.failure.is_some()),
        report.without.iter().filter(|(_, failure)| failure.is_none()).count(),
        seconds(report.took_ms),
        seconds(report.build_ms),
    )
}
