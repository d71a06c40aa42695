//! How fast the search is, and how large: transitions and different states per second, bytes per state, beside stateright
//! on the same worlds with the same laws, and both on two-phase commit beside what others were measured at.
//!
//! Each figure comes from a process of its own, so that its peak of memory is its own ([`child`]). Speed is reported, not
//! judged; what must hold is that all searches of one scope agree on what they counted. Reading order: [`job`] →
//! [`child`] → [`plan`] → [`report`]; the protocol is in [`two_phase`]. Not here: what the worlds are.

pub mod child;
pub mod job;
pub mod plan;
pub mod report;
#[cfg(test)]
mod tests;
pub mod two_phase;

use std::io::Write;

use job::{Job, Measured, Subject};
use plan::Settings;
use report::Report;

/// Why there are no figures.
#[derive(Debug)]
pub enum Failed {
    /// There is no such world; these are.
    World(Vec<&'static str>),
    /// There is no such scope in that world; these are.
    Scope(&'static str, Vec<&'static str>),
    /// A measuring process did not start, or said nothing that could be read.
    Child(String),
    /// The report could not be written.
    Write(std::io::Error),
}

impl std::fmt::Display for Failed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::World(names) => write!(f, "no such world; there are: {}", names.join(", ")),
            Self::Scope(world, names) => {
                write!(f, "no such scope of {world}; there are: {}", names.join(", "))
            }
            Self::Child(why) => write!(f, "a measurement failed: {why}"),
            Self::Write(error) => write!(f, "the report was not written: {error}"),
        }
    }
}

impl std::error::Error for Failed {}

/// Measures what the settings say, each search in a process of its own, and writes a table, or JSON. The program must
/// call [`child::serve`] with the same subjects before anything else.
///
/// # Errors
/// [`Failed`]. That searches disagree is no error but said in the report ([`Report::agrees`]).
pub fn run(
    out: &mut impl Write,
    json: bool,
    subjects: &[Subject],
    settings: &Settings,
) -> Result<Report, Failed> {
    run_with(out, json, subjects, settings, &mut child::measure)
}

/// As [`run`], with whoever measures.
fn run_with(
    out: &mut impl Write,
    json: bool,
    subjects: &[Subject],
    settings: &Settings,
    measure: &mut dyn FnMut(&Job) -> Result<Measured, Failed>,
) -> Result<Report, Failed> {
    let mut report = Report::new(settings);
    for job in plan::jobs(subjects, settings)? {
        // Others on the machine only ever make a search slower.
        let mut best: Option<Measured> = None;
        for _ in 0..settings.repeat.max(1) {
            let measured = measure(&job)?;
            report.spread(&job, &measured);
            best = Some(best.filter(|best| best.seconds <= measured.seconds).unwrap_or(measured));
        }
        report.add(&job, best);
    }
    let written = if json { report.json(out) } else { report.table(out) };
    written.map_err(Failed::Write)?;
    Ok(report)
}
