//! The three machines together: a plane, one or two wake daemons, a station, and everything between them.
//!
//! Each is the process of its own world; what crosses are values: hints through a broker, calls to the plane with their
//! answers, notices to the station. Every process crashes by itself, calls are lost, delayed and doubled, a poll runs
//! beside the hints, and anybody may say anything to anybody at any time. Reading order: `act` (what can happen) →
//! `say` (what can be said to the plane) → `nodes` (the processes and their ports) → `plane`, `answers`, `daemon`,
//! `runtime`, `station`, `tasks` (what comes of it) → `vain` (what is tried in vain) → `seen` (the ghost) → `laws`,
//! `ends` → `scope`. Rules: sections 4 to 8.

pub mod about;
pub mod act;
mod answers;
mod daemon;
mod ends;
pub mod laws;
pub mod nodes;
mod plane;
mod runtime;
pub mod say;
pub mod scope;
pub mod seen;
mod station;
mod tasks;
mod tried;
mod vain;

use std::hash::Hash;

use awakener_kernel::config::Config;
use awakener_kernel::time::{Mono, Now, Wall};

use crate::shared::Shared;
use crate::world::{self, Edge, Gap, Label, Law, Next, Scope, fingerprint};
use act::{Act, Who};
use nodes::{Daemon, Desk, Net, Plane};
use scope::Bounds;
use seen::Seen;

/// Three machines under the adversary of one scope.
#[derive(Clone, Debug)]
pub struct World {
    /// What it may do.
    pub bounds: Bounds,
    config: Config,
    /// Names the configuration, for what is remembered of steps.
    name: u64,
    /// Whether everything is tried, also in vain.
    tries: bool,
}

/// One state. Its parts are shared between states: most actions touch two of them.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct State {
    plane: Shared<Plane>,
    daemons: [Shared<Daemon>; 2],
    station: Shared<Desk>,
    net: Shared<Net>,
    seen: Shared<Seen>,
    clock: u8,
    spent: Spent,
}

/// What the adversary has used up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
struct Spent {
    posts: u8,
    own_ack: bool,
    failing: u8,
    plane_crashes: u8,
    daemon_crashes: u8,
    station_crashes: u8,
    unheard: u8,
    doubled: u8,
    lost_hints: u8,
    replays: u8,
    forged: u8,
    unknown: u8,
    claims: u8,
    failures: u8,
}

type Edges = Vec<Edge<World>>;

/// Changes a part of a state.
fn change<T: Clone + Hash, O>(part: &mut Shared<T>, with: impl FnOnce(&mut T) -> O) -> O {
    let mut value = T::clone(part);
    let out = with(&mut value);
    *part = Shared::new(value);
    out
}

const fn place(who: Who) -> usize {
    match who {
        Who::Second => 1,
        Who::Plane | Who::First | Who::Station => 0,
    }
}

impl World {
    /// A world of these bounds.
    pub fn new(bounds: Bounds) -> Self {
        let config = bounds.config();
        let name = fingerprint(&config);
        Self { bounds, config, name, tries: true }
    }

    /// Its daemons.
    fn daemons(&self) -> impl Iterator<Item = Who> + use<> {
        Who::DAEMONS.into_iter().take(usize::from(self.bounds.daemons))
    }

    fn parts(&self, who: Who) -> bool {
        self.bounds.parted.contains(&who)
    }
}

impl State {
    fn now(&self, born: u8) -> Now {
        Now { wall: Wall(u64::from(self.clock)), mono: Mono(u64::from(self.clock - born)) }
    }

    fn daemon(&self, who: Who) -> &Daemon {
        &self.daemons[place(who)]
    }

    fn on_daemon<O>(&mut self, who: Who, with: impl FnOnce(&mut Daemon) -> O) -> O {
        change(&mut self.daemons[place(who)], with)
    }

    fn on_plane<O>(&mut self, with: impl FnOnce(&mut Plane) -> O) -> O {
        change(&mut self.plane, with)
    }

    fn on_station<O>(&mut self, with: impl FnOnce(&mut Desk) -> O) -> O {
        change(&mut self.station, with)
    }

    fn on_net<O>(&mut self, with: impl FnOnce(&mut Net) -> O) -> O {
        change(&mut self.net, with)
    }

    fn saw<O>(&mut self, with: impl FnOnce(&mut Seen) -> O) -> O {
        change(&mut self.seen, with)
    }
}

fn to(edges: &mut Edges, action: Act, label: Label, next: State) {
    edges.push(Edge { action, label, next: Next::To(next) });
}

fn vain(edges: &mut Edges, action: Act, label: Label, left_trace: bool) {
    edges.push(Edge { action, label, next: if left_trace { Next::LeftTrace } else { Next::Stays } });
}

fn beyond(edges: &mut Edges, action: Act, label: Label) {
    edges.push(Edge { action, label, next: Next::Beyond });
}

impl world::World for World {
    type State = State;
    type Action = Act;

    const NAME: &'static str = "system";
    const LAWS: &'static [Law<Self>] = laws::LAWS;
    const ABSTRACTIONS: &'static [&'static str] = about::ABSTRACTIONS;
    const GAPS: &'static [Gap] = about::GAPS;

    fn scopes() -> Vec<Scope<Self>> {
        scope::scopes()
    }

    fn init(&self) -> Vec<State> {
        vec![self.settled()]
    }

    fn steps(&self, state: &State, edges: &mut Edges) {
        self.plane_steps(state, edges);
        for who in self.daemons() {
            self.daemon_steps(state, who, edges);
        }
        self.station_steps(state, edges);
        if state.clock < self.bounds.ticks {
            let mut next = state.clone();
            next.clock += 1;
            to(edges, Act::Tick, Label::OUTSIDE, next);
        }
    }

    fn parties(action: &Act) -> (&'static str, &'static str) {
        act::parties(action)
    }
}
