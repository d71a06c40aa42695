//! What was measured, as a table or as JSON, beside what others were measured at.

use std::io::{Result, Write};

use serde::Serialize;

use super::job::{How, Job, Measured};
use super::plan::Settings;
use super::two_phase::TwoPhase;
use crate::world::World as _;

/// Somebody else's figure on two-phase commit with nine resource managers: the same 10,340,352 states and 123.6 million
/// transitions.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Published {
    /// Who.
    pub checker: &'static str,
    /// Threads.
    pub threads: u32,
    /// Transitions per second.
    pub transitions_per_second: f64,
    /// Bytes of a stored state, where that is meaningful.
    pub bytes_per_state: Option<f64>,
    /// Where it is from.
    pub source: &'static str,
}

const SOURCE: &str =
    "measured by this project, 2026-11-30, on two virtual cores of an AMD EPYC (Zen 4, 2.6 GHz), one thread";

/// Figures of others.
pub const PUBLISHED: &[Published] = &[
    Published {
        checker: "TLC 2.15",
        threads: 1,
        transitions_per_second: 0.378e6,
        bytes_per_state: None,
        source: SOURCE,
    },
    Published {
        checker: "stateright 0.31 example, BFS",
        threads: 1,
        transitions_per_second: 2.37e6,
        bytes_per_state: Some(143.0),
        source: SOURCE,
    },
    Published {
        checker: "stateright 0.31 example, DFS",
        threads: 1,
        transitions_per_second: 3.79e6,
        bytes_per_state: Some(15.8),
        source: SOURCE,
    },
    Published {
        checker: "SPIN 6.5.2, vector of 44 bytes",
        threads: 1,
        transitions_per_second: 6.7e6,
        bytes_per_state: Some(56.0),
        source: SOURCE,
    },
    Published {
        checker: "SPIN 6.5.2, vector of 20 bytes",
        threads: 1,
        transitions_per_second: 7.9e6,
        bytes_per_state: Some(32.0),
        source: SOURCE,
    },
    Published {
        checker: "stateright 0.31, packed, DFS",
        threads: 1,
        transitions_per_second: 13.6e6,
        bytes_per_state: Some(15.8),
        source: SOURCE,
    },
    Published {
        checker: "breadth-first search by hand, with prefetch",
        threads: 1,
        transitions_per_second: 65e6,
        bytes_per_state: Some(28.0),
        source: SOURCE,
    },
];

/// One figure.
#[derive(Clone, Debug, Serialize)]
pub struct Line {
    /// What was measured.
    #[serde(flatten)]
    pub job: Job,
    /// The fastest measurement.
    #[serde(flatten)]
    pub measured: Measured,
    /// Transitions per second by the clock.
    pub transitions_per_second: f64,
    /// Different states per second by the clock.
    pub states_per_second: f64,
    /// Most bytes of the process by different states.
    pub bytes_per_state: Option<f64>,
    /// The slowest measurement, in seconds.
    pub slowest_seconds: f64,
    /// How many times faster than stateright, depth first, one thread, same laws, by the clock.
    pub times_stateright: Option<f64>,
    /// The same by time on processors: what does not depend on who else uses the machine, nor on threads.
    pub times_stateright_per_cpu: Option<f64>,
}

/// Everything that was measured.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// Processors that this process may use.
    pub processors: usize,
    /// Processes that wanted a processor before the first measurement, averaged over a minute, where the system tells:
    /// with more than a few tenths the clock measures others as well.
    pub load_before: Option<f64>,
    /// How often each was measured.
    pub repeat: u32,
    /// The figures.
    pub figures: Vec<Line>,
    /// Those of others, on two-phase commit with nine resource managers.
    pub published: &'static [Published],
    /// Whether all searches of a scope agree on states, transitions, and how many laws fell and twins were reached.
    pub agrees: bool,
    #[serde(skip)]
    slowest: Vec<(Job, f64)>,
}

impl Report {
    pub(super) fn new(settings: &Settings) -> Self {
        let load = std::fs::read_to_string("/proc/loadavg").ok();
        Self {
            processors: std::thread::available_parallelism().map_or(1, Into::into),
            load_before: load.and_then(|load| load.split(' ').next()?.parse().ok()),
            repeat: settings.repeat.max(1),
            figures: Vec::new(),
            published: PUBLISHED,
            agrees: true,
            slowest: Vec::new(),
        }
    }

    /// Takes note of one measurement of several.
    pub(super) fn spread(&mut self, job: &Job, measured: &Measured) {
        match self.slowest.iter_mut().find(|(known, _)| known == job) {
            Some((_, seconds)) => *seconds = seconds.max(measured.seconds),
            None => self.slowest.push((job.clone(), measured.seconds)),
        }
    }

    /// Adds the fastest measurement.
    #[expect(clippy::cast_precision_loss, reason = "figures to look at")]
    pub(super) fn add(&mut self, job: &Job, best: Option<Measured>) {
        let Some(measured) = best else { return };
        let same = |line: &&Line| line.job.world == job.world && line.job.scope == job.scope;
        let first = self.figures.iter().find(same);
        let told = |of: &Measured| (of.states, of.transitions, of.broken, of.reached);
        self.agrees &= first.is_none_or(|first| told(&first.measured) == told(&measured));
        let reference = first.filter(|line| line.job.how == How::StaterightDfs).map(|line| line.measured);
        let slowest = self.slowest.iter().find(|(known, _)| known == job);
        self.figures.push(Line {
            job: job.clone(),
            measured,
            transitions_per_second: measured.transitions as f64 / measured.seconds,
            states_per_second: measured.states as f64 / measured.seconds,
            bytes_per_state: measured.peak_bytes.map(|bytes| bytes as f64 / measured.states as f64),
            slowest_seconds: slowest.map_or(measured.seconds, |(_, seconds)| *seconds),
            times_stateright: reference.map(|reference| reference.seconds / measured.seconds),
            times_stateright_per_cpu: reference.and_then(|reference| {
                Some(reference.cpu_seconds? / measured.cpu_seconds.filter(|s| *s > 0.0)?)
            }),
        });
    }

    /// As JSON, one object.
    pub(super) fn json(&self, out: &mut impl Write) -> Result<()> {
        serde_json::to_writer_pretty(&mut *out, self)?;
        writeln!(out)
    }

    /// As a table for people.
    pub(super) fn table(&self, out: &mut impl Write) -> Result<()> {
        let load = self.load_before.map_or_else(|| "unknown".to_owned(), |load| format!("{load:.2}"));
        writeln!(out, "{} processors, load before {load}, fastest of {}", self.processors, self.repeat)?;
        writeln!(
            out,
            "{:<26} {:>2}  {:>8} {:>8} {:>8} {:>8} {:>7}  {:>6} {:>6}",
            "", "t", "s", "cpu s", "Mtrans/s", "kstate/s", "B/state", "x", "x cpu"
        )?;
        let mut scope = None;
        for line in &self.figures {
            let (job, measured) = (&line.job, &line.measured);
            if scope != Some((&job.world, &job.scope)) {
                let (states, transitions) = (measured.states, measured.transitions);
                writeln!(out, "{} {}: {states} states, {transitions} transitions", job.world, job.scope)?;
                scope = Some((&job.world, &job.scope));
            }
            writeln!(
                out,
                "  {:<24} {:>2}  {:>8.2} {:>8} {:>8.2} {:>8.0} {:>7}  {:>6} {:>6}",
                job.how.name(),
                job.threads,
                measured.seconds,
                opt(measured.cpu_seconds, 2),
                line.transitions_per_second / 1e6,
                line.states_per_second / 1e3,
                opt(line.bytes_per_state, 0),
                opt(line.times_stateright, 1),
                opt(line.times_stateright_per_cpu, 1),
            )?;
        }
        if self.figures.iter().any(|line| line.job.world == TwoPhase::NAME) {
            writeln!(out, "others on two_phase managers_9 ({SOURCE})")?;
            for other in self.published {
                let (rate, bytes) = (other.transitions_per_second / 1e6, opt(other.bytes_per_state, 0));
                writeln!(out, "  {:<45} {rate:>8.2} {:>8} {bytes:>7}", other.checker, "")?;
            }
        }
        writeln!(out, "x: times faster than stateright, depth first, one thread, the same laws")?;
        writeln!(out, "{}", if self.agrees { "all counts agree" } else { "COUNTS DISAGREE" })
    }
}

fn opt(value: Option<f64>, digits: usize) -> String {
    value.map_or_else(|| "-".to_owned(), |value| format!("{value:.digits$}"))
}
