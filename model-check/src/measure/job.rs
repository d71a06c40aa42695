//! One measurement: which scope, who searches, on how many threads; and what came of it.

use std::time::Instant;

use serde::{Deserialize, Serialize};
use stateright::{Checker, HasDiscoveries, Model};

use super::two_phase::{Native, TwoPhase};
use crate::engine::{Options, explore};
use crate::second::Second;
use crate::world::{Group, Scope, World};

/// Who searches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum How {
    /// The engine, with the graph.
    Graph,
    /// The engine, fingerprints only.
    Deep,
    /// stateright, depth first, through [`Second`].
    StaterightDfs,
    /// stateright, depth first, on a model written for it: two-phase commit only.
    StaterightNative,
}

impl How {
    /// Its name in reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Graph => "engine, graph",
            Self::Deep => "engine, deep",
            Self::StaterightDfs => "stateright DFS",
            Self::StaterightNative => "stateright DFS, own model",
        }
    }
}

/// One measurement to make.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Job {
    /// Of which world.
    pub world: String,
    /// In which scope.
    pub scope: String,
    /// By whom.
    pub how: How,
    /// On how many threads.
    pub threads: usize,
}

/// What was measured.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Measured {
    /// Different states.
    pub states: u64,
    /// Edges that lead to a state; without those that lead nowhere.
    pub transitions: u64,
    /// Laws that fell.
    pub broken: u32,
    /// Twins that were reached.
    pub reached: u32,
    /// Seconds by the clock.
    pub seconds: f64,
    /// Seconds of all its threads on a processor, where the system tells; in steps of 10 ms.
    pub cpu_seconds: Option<f64>,
    /// Most bytes of its process, where the system tells, less what it had before the search.
    pub peak_bytes: Option<u64>,
}

/// A world that can be measured, without its type.
pub struct Subject {
    /// Its name.
    pub world: &'static str,
    /// Its scopes.
    pub scopes: Vec<(&'static str, Group)>,
    search: fn(&Job) -> Option<Counted>,
}

impl std::fmt::Debug for Subject {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Subject")
            .field("world", &self.world)
            .field("scopes", &self.scopes)
            .finish_non_exhaustive()
    }
}

#[derive(Clone, Copy)]
struct Counted {
    states: u64,
    transitions: u64,
    broken: usize,
    reached: usize,
    seconds: f64,
}

impl Subject {
    /// A world.
    pub fn of<W: World>() -> Self {
        let scopes = W::scopes().into_iter().map(|scope| (scope.name, scope.group)).collect();
        Self { world: W::NAME, scopes, search: |job| search::<W>(job, scope::<W>(job)?) }
    }

    /// Two-phase commit, which stateright can also search on a model of its own.
    pub fn two_phase() -> Self {
        let search = |job: &Job| {
            let world = scope::<TwoPhase>(job)?;
            if job.how == How::StaterightNative { Some(native(job, world)) } else { search(job, world) }
        };
        Self { search, ..Self::of::<TwoPhase>() }
    }

    /// Makes a measurement in this process; `None` if the job is none of this world.
    pub fn measure(&self, job: &Job) -> Option<Measured> {
        let before = (kib("VmRSS:"), cpu());
        let counted = (self.search)(job)?;
        let since = |after: Option<f64>, before: Option<f64>| Some(after? - before?);
        Some(Measured {
            states: counted.states,
            transitions: counted.transitions,
            broken: u32::try_from(counted.broken).unwrap_or(u32::MAX),
            reached: u32::try_from(counted.reached).unwrap_or(u32::MAX),
            seconds: counted.seconds,
            cpu_seconds: since(cpu(), before.1),
            peak_bytes: kib("VmHWM:").zip(before.0).map(|(peak, before)| peak.saturating_sub(before) * 1024),
        })
    }
}

fn scope<W: World>(job: &Job) -> Option<W> {
    let fits = |scope: &Scope<W>| scope.name == job.scope;
    W::scopes().into_iter().find(fits).filter(|_| job.world == W::NAME).map(|scope| scope.world)
}

fn search<W: World>(job: &Job, world: W) -> Option<Counted> {
    let began = Instant::now();
    let counted = match job.how {
        How::Graph | How::Deep => {
            let options =
                Options { threads: job.threads, graph: job.how == How::Graph, ..Options::default() };
            let found = explore(&world, &options);
            let reached = found.reached.iter().filter(|reached| **reached).count();
            // The graph is freed after the clock was read: whoever wants it keeps it.
            let (states, transitions, broken) = (found.states, found.edges, found.broken.len());
            Counted { states, transitions, broken, reached, seconds: began.elapsed().as_secs_f64() }
        }
        How::StaterightDfs => {
            let begins = world.init().len();
            stateright(job, Second(world), W::LAWS.iter().map(|law| (law.name, law.twin)), begins)
        }
        How::StaterightNative => return None,
    };
    Some(counted)
}

fn native(job: &Job, world: TwoPhase) -> Counted {
    stateright(job, Native(world), TwoPhase::LAWS.iter().map(|law| (law.name, law.twin)), 1)
}

fn stateright<M>(
    job: &Job,
    model: M,
    laws: impl Iterator<Item = (&'static str, &'static str)>,
    begins: usize,
) -> Counted
where
    M: Model<
            State: Clone + std::fmt::Debug + PartialEq + std::hash::Hash + Send + Sync,
            Action: Clone + std::fmt::Debug + PartialEq + Send + Sync,
        > + Send
        + Sync
        + 'static,
{
    let began = Instant::now();
    let checker = model.checker().threads(job.threads).finish_when(HasDiscoveries::All).spawn_dfs().join();
    let seconds = began.elapsed().as_secs_f64();
    let found = checker.discoveries();
    let (mut broken, mut reached) = (0, 0);
    for (law, twin) in laws {
        broken += usize::from(found.contains_key(law));
        reached += usize::from(found.contains_key(twin));
    }
    Counted {
        states: checker.unique_state_count() as u64,
        // stateright also counts the states where it begins.
        transitions: (checker.state_count() - begins) as u64,
        broken,
        reached,
        seconds,
    }
}

/// A line of `/proc/self/status`.
fn kib(name: &str) -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix(name))?;
    line.trim().trim_end_matches("kB").trim().parse().ok()
}

/// Seconds of this process on a processor, from its times in ticks of 10 ms.
fn cpu() -> Option<f64> {
    let stat = std::fs::read_to_string("/proc/self/stat").ok()?;
    let mut fields = stat.rsplit_once(')')?.1.split_whitespace().skip(11);
    let mut ticks = || fields.next()?.parse::<f64>().ok();
    Some((ticks()? + ticks()?) / 100.0)
}
