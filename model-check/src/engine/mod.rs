//! The search of a world, and what is said of it.
//!
//! Two modes, and they agree on every count. With the graph ([`wide`]): level by level, so that every way is a
//! shortest one, and all of it is numbered the same whatever the number of threads. Without ([`deep`]): fingerprints
//! only, depth first, for scopes of tens of millions of states; safety only, and ways need not be shortest.
//!
//! A state is known by 64 bits of it ([`crate::world::fingerprint`]). Two different states of n share them with a
//! probability of about n²/2⁶⁵: 3·10⁻⁸ for a million, 7·10⁻⁵ for fifty million ([`Found::collision`]); what comes
//! behind the second of them could then be missed. stateright counts with another hash ([`crate::second`]).
//!
//! Reading order: [`wide`] → [`worker`] → [`merge`] → [`graph`]; then [`deep`] → [`diver`]. Not here: liveness, exports, worlds.

mod crew;
mod deep;
mod diver;
pub mod graph;
mod intern;
pub mod kind;
mod look;
mod merge;
mod path;
mod stable;
mod table;
#[cfg(test)]
mod tests;
mod watch;
mod wide;
mod worker;

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use crate::world::{Condition, World};
use graph::Graph;

/// Most threads of one search.
pub const MAX_THREADS: usize = 16;

/// How a search is done.
#[derive(Clone, Debug)]
pub struct Options<W: World> {
    /// Threads that search: 1 to [`MAX_THREADS`]; what is outside is moved to the nearer end.
    pub threads: usize,
    /// Whether the graph is kept; else only fingerprints are.
    pub graph: bool,
    /// Further conditions that the graph remembers of each state; at most 64. Without a graph nobody asks them.
    pub marks: Vec<Condition<W>>,
    /// Most states. A search that is cut has seen a few more.
    pub states: Option<u64>,
    /// Most bytes of the whole process where the system tells (`/proc`), else of the engine's own structures.
    pub memory: Option<u64>,
    /// Most time.
    pub time: Option<Duration>,
    /// Becomes true when somebody wants the search to end.
    pub stop: Option<Arc<AtomicBool>>,
    /// End as soon as this law, a place in [`World::LAWS`], is known not to hold: with the graph after the level in
    /// which it fell, so that the way is a shortest one.
    pub until: Option<usize>,
    /// Kinds of actions ([`kind::of`]) that nobody tries: a kind also stands for everything below it, `call` for
    /// `call.ack`. Laws do not see their edges either.
    pub without: Vec<String>,
    /// How many states are expected: the table begins with room for them.
    pub expected: Option<u64>,
    /// Who is told how far it is, about twice a second, on one of the searching threads.
    pub progress: Option<Report>,
}

impl<W: World> Default for Options<W> {
    fn default() -> Self {
        Self {
            threads: 2,
            graph: true,
            marks: Vec::new(),
            states: None,
            memory: None,
            time: None,
            stop: None,
            until: None,
            without: Vec::new(),
            expected: None,
            progress: None,
        }
    }
}

/// Somebody who is told.
#[derive(Clone)]
pub struct Report(Arc<dyn Fn(&Progress) + Send + Sync>);

impl Report {
    /// Takes a listener in.
    pub fn new(listener: impl Fn(&Progress) + Send + Sync + 'static) -> Self {
        Self(Arc::new(listener))
    }
}

impl fmt::Debug for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Report")
    }
}

/// How far a search is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Progress {
    /// Different states so far.
    pub states: u64,
    /// Edges to a state so far.
    pub edges: u64,
    /// Edges per second since the last report.
    pub rate: f64,
    /// States that are known and not looked at yet.
    pub frontier: u64,
    /// How far away from the beginning the search is, in steps.
    pub depth: u32,
    /// Bytes in use, measured as [`Options::memory`] is.
    pub bytes: u64,
    /// Time since it began.
    pub took: Duration,
}

/// Why a search ended before everything was seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cut {
    /// Too many states.
    States,
    /// Too much memory.
    Memory,
    /// Too much time.
    Time,
    /// Somebody stopped it.
    Stopped,
    /// The law that was asked for ([`Options::until`]) has fallen.
    Fell,
}

/// A law that does not hold.
#[derive(Clone, Debug)]
pub struct Broken<W: World> {
    /// Which, in [`World::LAWS`].
    pub law: usize,
    /// A way to a state where it does not; a shortest one if [`Found::shortest`].
    pub way: Vec<W::Action>,
}

/// What a search found. If it was cut, everything here is about the part that was seen: a law that is not in
/// [`Self::broken`] may still fall, and a twin that was not reached may still be reachable.
#[derive(Clone, Debug)]
pub struct Found<W: World> {
    /// Different states.
    pub states: u64,
    /// How many of them were looked at: laws judged and everything tried. Fewer than there are only if it was cut.
    pub judged: u64,
    /// Edges that lead to a state, self-loops not counted.
    pub edges: u64,
    /// Inputs that were refused or absorbed without a trace.
    pub stays: u64,
    /// With the graph: the longest of all shortest ways. Without: the longest way that was gone, which differs from run
    /// to run.
    pub depth: u32,
    /// Why it ended too early, if it did.
    pub cut: Option<Cut>,
    /// By law: whether its twin was reached.
    pub reached: Vec<bool>,
    /// Laws that do not hold, by number.
    pub broken: Vec<Broken<W>>,
    /// Whether the ways are shortest ones, and the same in every run: with the graph.
    pub shortest: bool,
    /// How long it took.
    pub took: Duration,
    /// Most bytes that were seen in use, measured as [`Options::memory`] is; looked at a few times a second.
    pub bytes: u64,
    /// The graph, if it was kept.
    pub graph: Option<Graph<W>>,
}

impl<W: World> Found<W> {
    /// Whether everything was seen.
    pub const fn complete(&self) -> bool {
        self.cut.is_none()
    }

    /// About how probable it is that two of these states share a fingerprint.
    #[expect(clippy::cast_precision_loss, reason = "an estimate")]
    pub fn collision(&self) -> f64 {
        let states = self.states as f64;
        states * states / 2_f64.powi(65)
    }
}

/// Searches a world.
pub fn explore<W: World>(world: &W, options: &Options<W>) -> Found<W> {
    if options.graph { wide::search(world, options) } else { deep::search(world, options) }
}
