//! One scope is checked: searched, counted again by stateright, compared with its pins, and its laws are shown not to be
//! empty.
//!
//! Here: what is done with one scope and what is reported of it. What follows from many reports stands in [`judge`],
//! what people read in [`text`]. Rules: FML-1, FML-3, FML-5.

pub mod judge;
pub mod needs;
mod second;
pub mod text;

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use serde::Serialize;
use serde_json::Value;

use crate::engine::graph::Graph;
use crate::engine::{self, Cut, Found, Options, Progress};
use crate::manifest::Pin;
use crate::trace::follow::value;
use crate::trace::told::Told;
use crate::world::{Group, Scope, World};
use needs::Needs;

/// Bounds of each search.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Threads that search.
    pub threads: usize,
    /// Most bytes.
    pub memory: Option<u64>,
    /// Most states.
    pub states: Option<u64>,
    /// Most time, the second count included.
    pub time: Option<Duration>,
    /// Only these laws are reported, by their whole names; all if there are none.
    pub laws: Vec<String>,
}

/// Who watches a check, and may end it.
#[derive(Clone)]
pub struct Watch {
    /// Becomes true when it shall end.
    pub stop: Arc<AtomicBool>,
    /// Who is told.
    pub tell: Arc<dyn Fn(Doing<'_>) + Send + Sync>,
}

impl fmt::Debug for Watch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Watch").field("stop", &self.stop).finish_non_exhaustive()
    }
}

impl Watch {
    /// Nobody.
    pub fn nobody() -> Self {
        Self { stop: Arc::new(AtomicBool::new(false)), tell: Arc::new(|_| {}) }
    }
}

/// What is being done.
#[derive(Clone, Copy, Debug)]
pub enum Doing<'a> {
    /// The engine searches.
    Searching(&'a Progress),
    /// It is found out which kinds of actions the twins need.
    Proving,
    /// stateright counts.
    Counting(Duration),
}

/// What is said of a law in one scope.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum LawVerdict {
    /// It holds, and had something to forbid.
    Holds,
    /// It falls.
    Broken,
    /// It holds, but nothing here could have broken it.
    Idle,
}

/// One law in one scope.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LawReport {
    /// Its whole name.
    pub name: &'static str,
    /// The id of its rule.
    pub rule: &'static str,
    /// Its twin.
    pub twin: &'static str,
    /// What is said of it.
    pub verdict: LawVerdict,
    /// After how many steps the twin is first reached; nothing if it is not, or if there is no graph.
    pub twin_depth: Option<u32>,
    /// Kinds of actions without which the twin is not reached.
    pub needs: Vec<String>,
    /// How many steps lead to the fall.
    pub steps: Option<usize>,
    /// Those steps.
    pub way: Option<Vec<Value>>,
}

/// What stateright says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct SecondReport {
    /// Different states.
    pub states: u64,
    /// Whether states, fallen laws and reached twins are the same.
    pub agrees: bool,
}

/// How a scope compares with the manifest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Pins {
    /// As pinned.
    Match,
    /// Not as pinned.
    Differ,
    /// Not compared: nobody wanted it, or the search was cut.
    Skipped,
    /// The manifest has nothing on it.
    Unpinned,
}

/// One scope.
#[derive(Clone, Debug, Serialize)]
pub struct ScopeReport {
    /// Its world.
    pub world: &'static str,
    /// Its name.
    pub scope: &'static str,
    /// When it is searched.
    pub group: Group,
    /// Different states.
    pub states: u64,
    /// Edges between them.
    pub edges: u64,
    /// Inputs that led nowhere.
    pub stays: u64,
    /// The longest of all shortest ways.
    pub depth: u32,
    /// Time of the search, without the second count.
    pub seconds: f64,
    /// Most memory of the process during the search; 0 if the system does not tell.
    pub peak_bytes: u64,
    /// Whether everything was seen.
    pub complete: bool,
    /// Why not.
    pub cut: Option<&'static str>,
    /// What stateright says, where it counts.
    pub second: Option<SecondReport>,
    /// The laws, in the order of the world.
    pub laws: Vec<LawReport>,
    /// How it compares with the manifest.
    pub pins: Pins,
    /// In what it differs from the manifest, in words.
    #[serde(skip)]
    pub differs: Option<String>,
    /// Its own numbers, as they would be pinned.
    #[serde(skip)]
    pub pin: Option<Pin>,
    /// Falls, one for each broken law.
    #[serde(skip)]
    pub falls: Vec<Told>,
}

/// Whether the graph of a scope is kept, and counted a second time.
pub const fn is_explicit(group: Group) -> bool {
    match group {
        Group::Tiny | Group::Ci | Group::Cyclic => true,
        Group::Deep => false,
    }
}

/// Checks one scope. `pinned` is what it is compared with: the outer `None` = not at all.
pub fn scope<W: World>(
    scope: &Scope<W>,
    settings: &Settings,
    pinned: Option<Option<&Pin>>,
    watch: &Watch,
) -> ScopeReport {
    let began = Instant::now();
    let explicit = is_explicit(scope.group);
    let tell = Arc::clone(&watch.tell);
    let options = Options {
        threads: settings.threads,
        graph: explicit,
        states: settings.states,
        memory: settings.memory,
        time: settings.time,
        stop: Some(Arc::clone(&watch.stop)),
        progress: Some(engine::Report::new(move |progress| tell(Doing::Searching(progress)))),
        ..Options::default()
    };
    let mut found = engine::explore(&scope.world, &options);
    let mut cut = found.cut.map(word);
    let (mut needs, mut pin, mut second) = (None, None, None);
    if cut.is_none() {
        (watch.tell)(Doing::Proving);
        // The graph is let go before stateright needs the room.
        let graph = found.graph.take();
        needs = graph.as_ref().map(|graph| proven(&scope.world, graph));
        let hash = graph.as_ref().map(Graph::hash);
        pin = Some(Pin::new(found.states, found.edges, found.stays, hash));
        drop(graph);
        if explicit {
            let left = settings.time.map(|time| time.saturating_sub(began.elapsed()));
            match second::count(&scope.world, watch, left) {
                Ok(counted) => second = Some(second::compare(&found, &counted)),
                Err(why) => cut = Some(word(why)),
            }
        }
    }
    let pins = match (&pin, pinned) {
        (Some(_), Some(None)) => Pins::Unpinned,
        (Some(pin), Some(Some(pinned))) if pin == pinned => Pins::Match,
        (Some(_), Some(Some(_))) => Pins::Differ,
        (None, _) | (_, None) => Pins::Skipped,
    };
    let differs = match (&pin, pinned) {
        (Some(pin), Some(Some(pinned))) => Some(pin.differences(pinned)).filter(|words| !words.is_empty()),
        _ => None,
    };
    let wanted =
        |law: usize| settings.laws.is_empty() || settings.laws.iter().any(|name| W::LAWS[law].name == name);
    let fallen = found.broken.iter().filter(|broken| wanted(broken.law));
    ScopeReport {
        world: W::NAME,
        scope: scope.name,
        group: scope.group,
        states: found.states,
        edges: found.edges,
        stays: found.stays,
        depth: found.depth,
        seconds: found.took.as_secs_f64(),
        peak_bytes: found.bytes,
        complete: cut.is_none(),
        cut,
        second,
        laws: (0..W::LAWS.len())
            .filter(|law| wanted(*law))
            .map(|law| report(law, &found, needs.as_ref()))
            .collect(),
        pins,
        differs,
        pin,
        falls: fallen.map(|broken| Told::way(scope, broken.law, &broken.way)).collect(),
    }
}

/// Most states of a scope in which kinds of actions are left out one by one.
const SMALL: usize = 2_000;

/// What the twins need; where that is nothing on the way to them, what must be tried where they are.
fn proven<W: World>(world: &W, graph: &Graph<W>) -> Needs {
    let mut needs = Needs::of(graph);
    if graph.states() <= SMALL {
        for (number, twin) in needs.twins.iter_mut().enumerate() {
            let excused = judge::NO_SINGLE_NEED.iter().any(|(name, _)| *name == W::LAWS[number].name);
            if twin.depth.is_some() && twin.needs.is_empty() && !excused {
                twin.needs.extend(needs::tried(world, graph, number));
            }
        }
    }
    needs
}

fn report<W: World>(number: usize, found: &Found<W>, needs: Option<&Needs>) -> LawReport {
    let law = &W::LAWS[number];
    let broken = found.broken.iter().find(|broken| broken.law == number);
    let reached = found.reached.get(number).copied().unwrap_or_default();
    let verdict = match (broken, reached) {
        (Some(_), _) => LawVerdict::Broken,
        (None, true) => LawVerdict::Holds,
        (None, false) => LawVerdict::Idle,
    };
    let twin = needs.and_then(|needs| needs.twins.get(number)).filter(|_| reached);
    LawReport {
        name: law.name,
        rule: law.rule(),
        twin: law.twin,
        verdict,
        twin_depth: twin.and_then(|twin| twin.depth),
        needs: twin.map(|twin| twin.needs.clone()).unwrap_or_default(),
        steps: broken.map(|broken| broken.way.len()),
        way: broken.map(|broken| broken.way.iter().map(value::<W>).collect()),
    }
}

/// Why a search was cut, in a word.
const fn word(cut: Cut) -> &'static str {
    match cut {
        Cut::States => "states",
        Cut::Memory => "memory",
        Cut::Time => "time",
        Cut::Stopped => "stopped",
        Cut::Fell => "fell",
    }
}
