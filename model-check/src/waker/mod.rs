//! One waker, its plane and its runtime, and an adversary that forges, steals, replays, reorders, loses, delays, steps
//! clocks and crashes.
//!
//! Here: the state. Reading order: [`act`] (what can be tried) → [`door`] (what hints look like) → [`steps`] (what comes
//! of it) → [`outside`] (plane, adapter, runtime) → [`seen`] and [`heard`] (the ghost) → [`laws`] → [`scope`]. Plane and
//! runtime are the adversary's: they answer what they like, as long as a permit has a fence of its own and is for a wake
//! that was minted, and a flight is `gone` only if it can never start any more. Rules: VER-1…5, DSP-1…5, DSP-7, DSP-8,
//! DSP-10…12.

pub mod act;
pub mod door;
pub mod gaps;
pub mod heard;
pub mod laws;
mod life;
pub mod limits;
pub mod outside;
pub mod scope;
pub mod seen;
pub mod steps;

use awakener_kernel::config::Config;
use awakener_kernel::ids::Target;
use awakener_kernel::time::{Mono, Now, Wall};
use awakener_kernel::waker::{Effect, Input, Waker};

use crate::process;
use crate::world::{Edge, Gap, Law, Scope};
use act::Act;
use door::Minted;
use scope::Budget;
use seen::{Asked, Seen, Span};

/// The process of a wake daemon.
pub type Process = process::Process<Waker, (), Asked>;

/// Where the clocks begin: late enough to be set back.
pub const EPOCH: u8 = 20;

/// A waker under the adversary of one scope.
#[derive(Clone, Debug)]
pub struct World {
    /// What it may do.
    pub budget: Budget,
    config: Config,
    served: Target,
    others: Target,
}

/// Something that is on its way to the machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Coming {
    /// A completion.
    Input(Input),
    /// A hint that a sweep brought; it has to pass the door like any other.
    Hint(u8),
}

/// Something that really runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Running {
    /// Under which attempt.
    pub attempt: u64,
    /// Since the decision to start it.
    pub span: Span,
}

/// One state.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct State {
    daemon: Process,
    /// Milliseconds that have really passed.
    ticks: u8,
    /// The daemon's wall clock.
    wall: u8,
    /// Its monotonic clock: zero when it begins, and while there is no process.
    mono: u8,
    /// There is no process, and not only no machine.
    dead: bool,
    outbox: Vec<Effect>,
    inbox: Vec<Coming>,
    /// What the plane has minted; a hint's number is its place, from one.
    hints: Vec<Minted>,
    running: Vec<Running>,
    spent: Spent,
    seen: Seen,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
struct Spent {
    presents: u8,
    thefts: u8,
    found: u8,
    outages: u8,
    backs: u8,
    aheads: u8,
    crashes: u8,
    failures: u8,
    distortions: u8,
    reads: u8,
    switches: u8,
    reconnects: u8,
}

impl World {
    /// A world of this scope.
    pub fn new(budget: Budget) -> Self {
        let name = |name| Target::parse(name).expect("a legal name");
        Self { budget, config: budget.config(), served: name("t"), others: name("u") }
    }

    fn first(&self) -> State {
        State {
            daemon: Process::default(),
            ticks: 0,
            wall: EPOCH,
            mono: 0,
            dead: true,
            outbox: Vec::new(),
            inbox: Vec::new(),
            hints: self.budget.lives.iter().map(|life| Minted { at: EPOCH, life: *life }).collect(),
            running: Vec::new(),
            spent: Spent::default(),
            seen: Seen::default(),
        }
    }
}

impl State {
    fn now(&self) -> Now {
        Now { wall: Wall(u64::from(self.wall)), mono: Mono(u64::from(self.mono)) }
    }

    /// What the ghost would have seen if the open transaction were committed.
    fn inside(&self, world: &World) -> std::borrow::Cow<'_, Seen> {
        if !self.daemon.is_staged() {
            return std::borrow::Cow::Borrowed(&self.seen);
        }
        let mut seen = self.seen.clone();
        for (asked, outcome) in self.daemon.batch().iter().zip(&self.daemon.peek()) {
            seen.answered(world.budget.history, asked, outcome);
        }
        std::borrow::Cow::Owned(seen)
    }
}

impl crate::world::World for World {
    type State = State;
    type Action = Act;

    const NAME: &'static str = "waker";
    const LAWS: &'static [Law<Self>] = laws::LAWS;
    const ABSTRACTIONS: &'static [&'static str] = gaps::ABSTRACTIONS;
    const GAPS: &'static [Gap] = gaps::GAPS;

    fn scopes() -> Vec<Scope<Self>> {
        scope::all()
    }

    fn init(&self) -> Vec<State> {
        vec![self.first()]
    }

    fn steps(&self, state: &State, edges: &mut Vec<Edge<Self>>) {
        steps::all(self, state, edges);
    }

    fn parties(act: &Act) -> (&'static str, &'static str) {
        act::parties(act)
    }
}
