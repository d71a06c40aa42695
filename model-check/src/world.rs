//! What a world is: states, everything that can be tried in each of them, and laws over what the outside saw.
//!
//! A world answers two questions only: where it begins, and what happens in a state. Both the engine
//! ([`crate::engine`]) and stateright ([`crate::second`]) search it through this trait, so that they can disagree about
//! the number of states only if one of them is wrong. Not here: how it is searched. Rules: FML-1, FML-2, FML-3.

use std::fmt::Debug;
use std::hash::{BuildHasher, Hash};

use serde::Serialize;
use serde::de::DeserializeOwned;

/// How an input ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// The machine moved on.
    Advanced,
    /// Legal, but nothing to do.
    Absorbed,
    /// Not legal here.
    Refused,
    /// No machine judged: something happened outside (a crash, a tick, a loss).
    Outside,
}

/// What is written on an edge beside its action: what the machine said, and which effects left the process.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct Label {
    /// How it ended.
    pub verdict: Verdict,
    /// Event, reason or class, in the contract's words; empty where no machine judged.
    pub what: &'static str,
    /// Kinds of the effects that left, in order.
    pub effects: Vec<&'static str>,
}

impl Label {
    /// Something happened outside.
    pub const OUTSIDE: Self = Self::of(Verdict::Outside, "");

    /// Without effects.
    pub const fn of(verdict: Verdict, what: &'static str) -> Self {
        Self { verdict, what, effects: Vec::new() }
    }
}

/// Where an edge leads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Next<S> {
    /// To another state (or, rarely, back to the same one).
    To(S),
    /// Nowhere: refused or absorbed without a trace. A self-loop of the graph.
    Stays,
    /// It would advance, but the adversary has used up what the scope allows: not followed, no edge of the graph.
    Beyond,
    /// Refused or absorbed, and still something changed: the law that forbids it is [`STUTTER`]. A self-loop as well.
    LeftTrace,
}

/// One thing that can be tried in a state, and what comes of it.
#[derive(Clone, Debug)]
pub struct Edge<W: World> {
    /// What is tried.
    pub action: W::Action,
    /// What is said of it.
    pub label: Label,
    /// Where it leads.
    pub next: Next<W::State>,
}

impl<W: World> Edge<W> {
    /// Whether it leads to a state that has to be looked at.
    pub const fn moves(&self) -> bool {
        matches!(self.next, Next::To(_))
    }
}

/// A condition on a state and on everything that can be tried in it. Pure.
pub type Condition<W> = fn(&W, &<W as World>::State, &[Edge<W>]) -> bool;

/// A law, and its twin: a state in which it has something to forbid.
#[derive(Debug)]
pub struct Law<W: World> {
    /// Rule id, a space, and what must always hold.
    pub name: &'static str,
    /// The condition.
    pub holds: Condition<W>,
    /// The law's antecedent: what must be reachable lest the law be empty.
    pub twin: &'static str,
    /// That condition.
    pub reached: Condition<W>,
}

impl<W: World> Law<W> {
    /// The id of its rule.
    pub fn rule(&self) -> &'static str {
        self.name.split(' ').next().unwrap_or_default()
    }
}

/// Which searches belong to which occasion.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Group {
    /// In every test run: seconds.
    Tiny,
    /// In every submission: minutes, at most a million states each.
    Ci,
    /// By hand: hours, fingerprints only.
    Deep,
    /// Cyclic worlds, for liveness; safety is checked there too.
    Cyclic,
}

/// A world with bounds.
#[derive(Clone, Debug)]
pub struct Scope<W> {
    /// Its name, unique within the world.
    pub name: &'static str,
    /// When it is searched.
    pub group: Group,
    /// What it may do, as `name = value` pairs: everything in which it differs from the least adversary.
    pub bounds: Vec<(&'static str, String)>,
    /// The world.
    pub world: W,
}

/// Something that is not in the model, and the test that covers it instead.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Gap {
    /// What is left out.
    pub what: &'static str,
    /// `file::test` of this repository, or in words why nothing can.
    pub covered_by: &'static str,
}

/// A model of machines and their adversary.
pub trait World: Clone + Debug + Send + Sync + 'static {
    /// One state. Two that are equal are one; a cyclic world compares a form in which instants are relative and numbers
    /// that only grow are renamed.
    type State: Clone + Eq + Hash + Debug + Send + Sync + 'static;
    /// Something that can be tried. Its serialised form is what traces hold.
    type Action: Clone + Eq + Ord + Hash + Debug + Serialize + DeserializeOwned + Send + Sync + 'static;

    /// Its name.
    const NAME: &'static str;
    /// Its laws; at most [`MAX_LAWS`].
    const LAWS: &'static [Law<Self>];
    /// What was simplified, one sentence each.
    const ABSTRACTIONS: &'static [&'static str];
    /// What is not modelled.
    const GAPS: &'static [Gap];

    /// Every scope, in all groups.
    fn scopes() -> Vec<Scope<Self>>;

    /// Where it begins.
    fn init(&self) -> Vec<Self::State>;

    /// Everything that can be tried in `state`, also in vain, in a fixed order. `edges` is empty when it is called.
    fn steps(&self, state: &Self::State, edges: &mut Vec<Edge<Self>>);

    /// Whether two states are one in every detail, not only equal: what was computed of one serves the other, to the
    /// order of its edges.
    fn same(one: &Self::State, other: &Self::State) -> bool {
        one == other
    }

    /// Who acts on whom, for sequence diagrams.
    fn parties(action: &Self::Action) -> (&'static str, &'static str);
}

/// Most laws of one world: what a node remembers is one bit per law.
pub const MAX_LAWS: usize = 64;

/// The law that every world has: [`Next::LeftTrace`] is nowhere.
pub const STUTTER: &str = "VER-5 what is refused or absorbed leaves no trace";

/// Whether nothing that was refused or absorbed left a trace: the condition of [`STUTTER`].
pub fn stutters<W: World>(_: &W, _: &W::State, edges: &[Edge<W>]) -> bool {
    edges.iter().all(|edge| edge.next != Next::LeftTrace)
}

/// Whether something is refused here: the twin of [`STUTTER`].
pub fn refuses<W: World>(_: &W, _: &W::State, edges: &[Edge<W>]) -> bool {
    edges.iter().any(|edge| edge.label.verdict == Verdict::Refused)
}

/// A hash of 64 bits that is the same in every run and on every machine of one word size; never 0.
pub fn fingerprint<T: Hash>(value: &T) -> u64 {
    foldhash::quality::FixedState::with_seed(0x6177_616b_656e_6572).hash_one(value).max(1)
}
