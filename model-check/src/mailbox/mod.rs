//! One mailbox, its senders, holders, operators and wake daemons, and an adversary that crashes, delays, distorts,
//! forges, turns clocks back and puts old disks in.
//!
//! Here: the state and what leads from one to the next. Reading order: [`act`] (the alphabet) → [`calls`] (when each
//! call is tried, and what comes of it; [`forgeries`] are calls too) → [`input`] (what it is to the machine; [`rows`] and
//! [`crate::plane`] are what it is told) → [`outside`], [`chance`] and [`release`] (what happens around the machine) →
//! [`seen`] and [`settle`] (what the outside saw) → [`laws`] → [`scope`] and [`scopes`]. Rules: INB-1…9, ACK-1…10,
//! EMT-1…6, ADM-6, ADM-7, DSP-2, DSP-7,
//! PRT-2.

pub mod act;
pub mod calls;
pub mod chance;
pub mod forgeries;
pub mod gaps;
pub mod input;
pub mod laws;
pub mod outside;
pub mod release;
pub mod rows;
pub mod scope;
pub mod scopes;
pub mod seen;
pub mod settle;

use awakener_kernel::config::Config;
use awakener_kernel::mailbox::Mailbox;
use awakener_kernel::mailbox::input::Minted;

use crate::names;
use crate::process;
use crate::shared::Shared;
use crate::world::{self, Edge, Gap, Law, Scope};
use act::{Act, Late};
use outside::{Clock, Outside};
use rows::{Content, Rows};
use scope::Bounds;
use seen::{Asked, Broken, Seen, Store};

/// The process of a message plane.
pub type Process = process::Process<Mailbox, Rows, Asked>;

/// A mailbox under the adversary of one scope.
#[derive(Clone, Debug)]
pub struct World {
    /// What it may do.
    pub bounds: Bounds,
    config: Config,
}

/// One state.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct State {
    plane: Process,
    outside: Outside,
    spent: Spent,
    /// Hints that a commit let go and that nobody has handed over yet; lost with the process.
    unsent: Vec<Minted>,
    /// Answers on their way.
    late: Vec<Late>,
    /// Fates of hints that the driver still has to tell.
    owed: Vec<(u8, bool)>,
    /// Permits that daemons heard of: daemon, fence, wake.
    permits: Vec<(u8, u8, u8)>,
    backup: Option<Shared<Backup>>,
    seen: Shared<Seen>,
}

/// A copy of the disk, and what the outside could hold it to.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Backup {
    content: Shared<Content>,
    store: Store,
    /// The latest wall time in it.
    stored: u8,
}

/// What the adversary has used up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
struct Spent {
    submits: [u8; 3],
    claims: u8,
    renews: u8,
    asks: u8,
    sweeps: u8,
    acts: u8,
    crashes: u8,
    failures: u8,
    losses: u8,
    changes: u8,
    backs: u8,
    accepts: u8,
    restores: u8,
}

impl World {
    /// A world with these bounds.
    pub fn new(bounds: Bounds) -> Self {
        Self { bounds, config: bounds.config() }
    }
}

impl State {
    /// A number for chance that nobody has seen and the disk does not hold.
    fn unused(&self) -> u8 {
        let seen = self.seen.hints.iter().map(|hint| names::wake_number(hint.fresh.wake)).max();
        seen.unwrap_or_default().max(self.plane.inside().rows.last_wake()) + 1
    }

    /// Lets the ghost learn something.
    fn learn<T>(&mut self, learns: impl FnOnce(&mut Seen) -> T) -> T {
        let mut seen = std::mem::take(&mut self.seen).into_inner();
        let learnt = learns(&mut seen);
        self.seen = Shared::new(seen);
        learnt
    }

    fn time(&self) -> u8 {
        self.outside.clock.time
    }
}

impl world::World for World {
    type State = State;
    type Action = Act;

    const NAME: &'static str = "mailbox";
    const LAWS: &'static [Law<Self>] = laws::LAWS;
    const ABSTRACTIONS: &'static [&'static str] = gaps::ABSTRACTIONS;
    const GAPS: &'static [Gap] = gaps::GAPS;

    fn scopes() -> Vec<Scope<Self>> {
        scopes::all()
    }

    fn init(&self) -> Vec<State> {
        let noon = self.bounds.noon();
        let clock = Clock { shown: noon, held: noon, ..Clock::default() };
        vec![State { outside: Outside { clock, ..Outside::default() }, ..State::default() }]
    }

    fn steps(&self, state: &State, edges: &mut Vec<Edge<Self>>) {
        if self.has_room(state) {
            self.calls(state, |call| self.attempt(state, call, edges));
        }
        self.chances(state, edges);
    }

    fn parties(action: &Act) -> (&'static str, &'static str) {
        act::parties(action)
    }
}

impl State {
    fn is_dead(&self) -> bool {
        !self.seen.intact(Broken::Boot)
    }
}
