//! A measurement in a process of its own: the same program, told by its environment what to measure.

use std::process::{Command, ExitCode, Stdio};

use super::Failed;
use super::job::{Job, Measured, Subject};

/// The variable that tells a process what to measure.
const VARIABLE: &str = "AWAKENER_MEASURE";

/// Measures, if this process was started for that: a program calls it before it looks at its arguments, and ends with
/// what it gives.
pub fn serve(subjects: &[Subject]) -> Option<ExitCode> {
    let job = std::env::var(VARIABLE).ok()?;
    let measured = serde_json::from_str::<Job>(&job).ok().and_then(|job| perform(subjects, &job));
    match measured.and_then(|measured| serde_json::to_string(&measured).ok()) {
        Some(line) => {
            println!("{line}");
            Some(ExitCode::SUCCESS)
        }
        None => Some(ExitCode::FAILURE),
    }
}

/// Measures in this process.
pub fn perform(subjects: &[Subject], job: &Job) -> Option<Measured> {
    subjects.iter().find(|subject| subject.world == job.world)?.measure(job)
}

/// Measures in a process of its own.
///
/// # Errors
/// [`Failed::Child`].
pub fn measure(job: &Job) -> Result<Measured, Failed> {
    let failed = |why: &dyn std::fmt::Display| {
        Failed::Child(format!("{} {} by {}: {why}", job.world, job.scope, job.how.name()))
    };
    let program = std::env::current_exe().map_err(|error| failed(&error))?;
    let told = serde_json::to_string(job).map_err(|error| failed(&error))?;
    let output = Command::new(program)
        .env(VARIABLE, told)
        .stdin(Stdio::null())
        .stderr(Stdio::inherit())
        .output()
        .map_err(|error| failed(&error))?;
    if !output.status.success() {
        return Err(failed(&output.status));
    }
    serde_json::from_slice(&output.stdout).map_err(|error| failed(&error))
}
