//! One station, its mailbox, its runner and its latch path, and an adversary that loses, repeats, delays and crashes.
//!
//! Reading order: [`act`] (what can happen) → [`alphabet`] (what it is given), [`host`] (its process), [`perform`] (its
//! effects; [`post`] and [`runner`]) → [`outside`] and [`seen`] (what there is and what was seen of it), [`learn`] →
//! [`laws`] → [`bounds`] and [`scope`]. Not here: liveness, two stations for one target (the lease of the mailbox
//! decides between them). Rules: STN-1…9, OBS-1…3, FUS-1, FUS-2, FUS-4…7.

pub mod act;
pub mod alphabet;
pub mod bounds;
pub mod gaps;
pub mod host;
pub mod laws;
pub mod learn;
mod memo;
mod odd;
pub mod outside;
pub mod perform;
pub mod post;
pub mod runner;
pub mod scope;
pub mod seen;
pub mod table;
pub mod values;

use std::collections::VecDeque;

use awakener_kernel::config::Config;
use awakener_kernel::station::{Input, Station};

use crate::process::{self, FAILURES};
use crate::world::{Edge, Label, Law, Next, Scope, Verdict, fingerprint};
use act::{Act, End, Way};
use bounds::{BEGIN, Bounds, HOUR};
use outside::{Lying, Out, Outside};
use seen::{Asked, Broken, Seen};
use values::{OTHER_TURN, PRIOR_TURN};

/// The process of a station.
pub type Process = process::Process<Station, (), Asked>;

/// A station under the adversary of one scope.
#[derive(Clone, Debug)]
pub struct World {
    /// What it may do.
    pub bounds: Bounds,
    config: Config,
    /// Tells one world from another.
    print: u64,
}

/// Whether the process is there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Up {
    /// It is not.
    #[default]
    Dead,
    /// It is on its way.
    Starting,
    /// It is.
    Up,
}

/// One state; behind a pointer, since edges are moved far more often than they are looked into.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct State(Box<Scene>);

impl std::ops::Deref for State {
    type Target = Scene;
    fn deref(&self) -> &Scene {
        &self.0
    }
}

/// What a state is made of.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Scene {
    station: Process,
    up: Up,
    /// Ticks that really passed.
    clock: u32,
    /// When this process began.
    born: u32,
    /// What the wall clock shows, in ticks.
    wall: u32,
    /// Wakings of the machine.
    boots: u8,
    /// Starts of the process.
    starts: u8,
    /// The grant that the operator's plane tells, and since when it holds.
    standing: Option<(u8, u32)>,
    outbox: VecDeque<Out>,
    /// Completions on their way back.
    inbox: VecDeque<Input>,
    outside: Outside,
    spent: Spent,
    seen: Seen,
}

/// What the adversary has used up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
struct Spent {
    nothings: u8,
    hints: u8,
    founds: u8,
    grants: u8,
    disarms: u8,
    ticks: u8,
    hours: u8,
    sets: u8,
    crashes: u8,
    failures: u8,
    distortions: u8,
    refusals: u8,
    lapses: u8,
    releases: u8,
    others: u8,
    blind: u8,
    invalid: u8,
    owns: u8,
    tails: u8,
    meddles: u8,
    clears: u8,
}

/// The name of one variant, as it is serialised.
pub fn name<T: serde::Serialize>(value: &T) -> &'static str {
    serde_variant::to_variant_name(value).expect("an enum")
}

impl Scene {
    /// What an edge leads to.
    fn next(self) -> Next<State> {
        Next::To(State(Box::new(self)))
    }

    /// The station, if it is in a state that is on disk.
    pub fn live(&self) -> Option<&Station> {
        self.station.live()
    }
}

impl World {
    /// A world of these bounds.
    pub fn new(bounds: Bounds) -> Self {
        let config = bounds.config();
        let print = fingerprint(&format!("{bounds:?}"));
        Self { bounds, config, print }
    }

    /// One more state, if the adversary may.
    fn go(state: &Scene, edges: &mut Vec<Edge<Self>>, act: Act, free: bool, change: impl FnOnce(&mut Scene)) {
        let next = if free {
            let mut next = state.clone();
            change(&mut next);
            next.next()
        } else {
            Next::Beyond
        };
        edges.push(Edge { action: act, label: Label::OUTSIDE, next });
    }

    fn staged(&self, state: &Scene, edges: &mut Vec<Edge<Self>>) {
        let mut ends = |act, end: &dyn Fn(&mut Scene) -> Vec<&'static str>| {
            let mut next = state.clone();
            let effects = end(&mut next);
            edges.push(Edge {
                action: act,
                label: Label { verdict: Verdict::Outside, what: "", effects },
                next: next.next(),
            });
        };
        ends(Act::Commit, &|next| self.commit(next));
        if state.spent.failures < self.bounds.failures {
            for fate in FAILURES {
                ends(Act::CommitFails(fate), &|next| self.commit_fails(next, fate));
            }
        }
    }

    fn hosts(&self, state: &Scene, edges: &mut Vec<Edge<Self>>) {
        let bounds = &self.bounds;
        if state.station.is_down() && state.seen.intact(Broken::Boot) {
            Self::go(state, edges, Act::Boot, state.boots < bounds.boots, |next| self.boot(next));
        }
        if state.up != Up::Dead && state.spent.crashes < bounds.crashes {
            Self::go(state, edges, Act::Crash, true, |next| {
                next.spent.crashes += 1;
                next.dies();
            });
        }
    }

    fn clocks(&self, state: &Scene, edges: &mut Vec<Edge<Self>>) {
        let (spent, bounds) = (&state.spent, &self.bounds);
        if spent.ticks < bounds.ticks {
            Self::go(state, edges, Act::Tick, true, |next| {
                (next.spent.ticks, next.clock, next.wall) =
                    (spent.ticks + 1, state.clock + 1, state.wall + 1);
            });
        }
        if spent.hours < bounds.hours {
            Self::go(state, edges, Act::Hour, true, |next| {
                next.spent.hours += 1;
                (next.clock, next.wall) = (state.clock + HOUR + 1, state.wall + HOUR + 1);
            });
        }
        if spent.sets < bounds.sets {
            for (way, wall) in [(Way::Forward, state.wall + 1), (Way::Back, state.wall - 1)] {
                Self::go(state, edges, Act::Set(way), true, |next| {
                    (next.spent.sets, next.wall) = (spent.sets + 1, wall);
                });
            }
        }
    }

    fn outside(&self, state: &Scene, edges: &mut Vec<Edge<Self>>) {
        let (spent, bounds, outside) = (&state.spent, &self.bounds, &state.outside);
        for (act, free) in self.ways(state) {
            let Act::Perform(_, how) = act else { continue };
            Self::go(state, edges, act, free, |next| self.perform(next, how));
        }
        for run in &outside.running {
            let reports = run.start == state.starts && state.up == Up::Up;
            let agents = [End::Unreported];
            let ends = match (reports, run.ticket) {
                (false, _) => &[End::Unseen],
                (true, None) => &agents[..],
                (true, Some(_)) => bounds.ends,
            };
            for end in ends {
                Self::go(state, edges, Act::TurnEnds(run.turn, *end), true, |next| {
                    self.turn_ends(next, run.turn, *end);
                });
            }
        }
        if outside.held && spent.lapses < bounds.lapses {
            Self::go(state, edges, Act::Lapse, true, |next| {
                next.spent.lapses += 1;
                next.outside.held = false;
            });
        }
        if spent.releases < bounds.releases {
            for n in outside.open(bounds.mail, 0) {
                Self::go(state, edges, Act::Release(n), true, |next| {
                    next.spent.releases += 1;
                    next.outside.mail[usize::from(n)].released += 1;
                });
            }
        }
        if spent.others < bounds.others && !outside.held && outside.mail[0].result.is_none() {
            Self::go(state, edges, Act::Supplant, true, |next| {
                next.spent.others += 1;
                let first = &mut next.outside.mail[0];
                (first.result, first.complete) = (Some(OTHER_TURN), Some(OTHER_TURN));
            });
        }
        if spent.meddles < bounds.meddles {
            let (act, path) = match outside.path {
                Lying::Nothing => (Act::Plant, Lying::Junk),
                Lying::Junk | Lying::Latch(_) => (Act::Snatch, Lying::Nothing),
            };
            Self::go(state, edges, act, true, |next| {
                next.spent.meddles += 1;
                next.outside.path = path;
            });
        }
    }
}

impl crate::world::World for World {
    type State = State;
    type Action = Act;

    const NAME: &'static str = "station";
    const LAWS: &'static [Law<Self>] = laws::LAWS;
    const ABSTRACTIONS: &'static [&'static str] = gaps::ABSTRACTIONS;
    const GAPS: &'static [crate::world::Gap] = gaps::GAPS;

    fn scopes() -> Vec<Scope<Self>> {
        scope::scopes()
    }

    fn init(&self) -> Vec<State> {
        let mut scene = Scene { wall: BEGIN, ..Scene::default() };
        if self.bounds.prior {
            let first = &mut scene.outside.mail[0];
            (first.result, first.complete) = (Some(PRIOR_TURN), Some(PRIOR_TURN));
        }
        vec![State(Box::new(scene))]
    }

    /// While a transaction is open nothing else happens: the outside does not see it, and what it does meanwhile it
    /// does just as well before or after.
    fn steps(&self, state: &State, edges: &mut Vec<Edge<Self>>) {
        if state.station.is_staged() {
            self.staged(state, edges);
            self.hosts(state, edges);
            return;
        }
        self.alphabet(state, edges);
        self.hosts(state, edges);
        self.clocks(state, edges);
        self.outside(state, edges);
    }

    fn parties(action: &Act) -> (&'static str, &'static str) {
        act::parties(action)
    }
}
