//! One fair way on from a state: nobody crashes any more, every call is heard, time passes when nothing else can.
//!
//! It makes the first state of every scope (everybody is up and has looked once), and decides what a path that can go
//! no further is worth: whether what is owed would still be done. Not here: every fair way (that is liveness).

use awakener_kernel::ids::CommandId;
use awakener_kernel::station::{Input, PhaseName};
use awakener_kernel::time::Wall;

use super::act::{Act, Ending, Told, Way, Who};
use super::say::{MESSAGES, is_alert};
use super::scope::{Bounds, NONE, SWEEP};
use super::{Edges, State, World, change};
use crate::process::{Fate, Process};
use crate::shared::Shared;
use crate::world::Next;

/// Far beyond the clock of any scope.
const GRANT: u64 = 1_000;
/// Steps after which a way is no longer waited for.
const PATIENCE: usize = 600;

/// What brings the work to the station.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Help {
    /// Hints, sweeps and notices; the station's poll sees nothing.
    Wakes,
    /// The station's own poll; the daemons do nothing any more.
    Polls,
    /// Both.
    All,
}

/// Whether an action is one of the fair way.
const fn fair(help: Help, act: &Act) -> bool {
    let (wakes, polls) = (!matches!(help, Help::Polls), !matches!(help, Help::Wakes));
    match act {
        Act::Boot(who) | Act::Commit(who) | Act::Fire(who) | Act::Hear(who) => match who {
            Who::Plane | Who::Station => true,
            Who::First | Who::Second => wakes,
        },
        Act::Publish | Act::Do(_, Way::Heard) | Act::TurnEnds(Ending::Complete) => true,
        Act::Come(..)
        | Act::Ask(_, Way::Heard)
        | Act::Sweep(_, Way::Heard)
        | Act::Report(_, Way::Heard)
        | Act::Dispatch(_, Told::NotAttempted | Told::Notified | Told::Unavailable | Told::Unknown { .. })
        | Act::Probe(_)
        | Act::Rest(_) => wakes,
        Act::Poll => polls,
        Act::CommitFails(..)
        | Act::Crash(_)
        | Act::Tick
        | Act::LoseHint(..)
        | Act::HearTwice(_)
        | Act::Ask(..)
        | Act::Sweep(..)
        | Act::Report(..)
        | Act::Dispatch(..)
        | Act::Say(_)
        | Act::Do(..)
        | Act::TurnEnds(_)
        | Act::Withdraw
        | Act::Post
        | Act::OwnAck
        | Act::Stray(..) => false,
    }
}

impl World {
    /// The same configuration with an adversary that does nothing.
    fn fair(&self) -> Self {
        let bounds = Bounds { daemons: self.bounds.daemons, poller: true, ..NONE };
        Self { bounds, config: self.config.clone(), name: self.name, tries: false }
    }

    /// The next state on the fair way, without time.
    fn onward(&self, help: Help, state: &State, edges: &mut Edges) -> Option<State> {
        edges.clear();
        crate::world::World::steps(self, state, edges);
        let step = edges.drain(..).filter(|edge| fair(help, &edge.action)).find_map(|edge| match edge.next {
            Next::To(next) if next != *state => Some(next),
            Next::To(_) | Next::Stays | Next::Beyond | Next::LeftTrace => None,
        });
        edges.clear();
        step
    }

    /// Everybody is up, the station is armed, and each has looked once at an empty inbox.
    pub(super) fn settled(&self) -> State {
        let calm =
            Self { bounds: Bounds { poller: self.bounds.poller, ..self.fair().bounds }, ..self.fair() };
        let mut state = State::nothing();
        calm.boot_plane(&mut state);
        calm.daemons().for_each(|who| calm.boot_daemon(&mut state, who));
        calm.boot_station(&mut state);
        let now = state.now(0);
        let grant = Input::Grant { until: Wall(GRANT), command: CommandId::from_u128(1) };
        change(&mut state.station, |desk| {
            desk.process.stage(&self.config, now, grant, (), |_| 0);
            desk.process.commit(Fate::Durable);
        });
        let mut edges = Vec::new();
        while let Some(next) = calm.onward(Help::All, &state, &mut edges) {
            state = next;
        }
        state
    }

    /// Whether what was admitted is done in the end, or somebody was told, on the fair way from here. Wakes are for
    /// alerts alone.
    pub(super) fn done_in_the_end(&self, help: Help, state: &State) -> bool {
        let fair = self.fair();
        let (mut state, mut edges) = (state.clone(), Vec::new());
        for _ in 0..PATIENCE {
            if state.all_done(help) {
                return true;
            }
            state = match fair.onward(help, &state, &mut edges) {
                Some(next) => next,
                None => match fair.later(help, &state) {
                    Some(later) => later,
                    None => return false,
                },
            };
        }
        false
    }

    /// The same state when the next deadline is due.
    fn later(&self, help: Help, state: &State) -> Option<State> {
        fn due<M, R, C>(config: &M::Config, process: &Process<M, R, C>, born: u8) -> Option<u64>
        where
            M: awakener_kernel::machine::Machine,
            R: crate::process::Rows<M>,
            C: Clone + Eq + std::hash::Hash + std::fmt::Debug,
        {
            process.live()?.deadline(config).map(|at| u64::from(born).saturating_add(at.0))
        }
        let (plane, station) = (&state.plane, &state.station);
        let daemons = state
            .daemons
            .iter()
            .filter(|_| help != Help::Polls)
            .map(|daemon| due(&self.config, &daemon.process, daemon.born));
        let soonest = daemons
            .chain([due(&self.config, &plane.process, plane.born)])
            .chain([due(&self.config, &station.process, station.born)])
            .flatten()
            .min()?;
        // A way that outlasts the clock of a model is not waited for either.
        let clock = u8::try_from(soonest).ok().filter(|at| *at > state.clock && *at < u8::MAX - SWEEP)?;
        Some(State { clock, ..state.clone() })
    }
}

impl State {
    fn nothing() -> Self {
        Self {
            plane: Shared::default(),
            daemons: Default::default(),
            station: Shared::default(),
            net: Shared::default(),
            seen: Shared::default(),
            clock: 0,
            spent: super::Spent::default(),
        }
    }

    /// Whether nothing more is owed for message `n`, or its operator was told, or the station is latched and says so.
    fn all_done(&self, help: Help) -> bool {
        let rows = &self.plane.process.disk().rows;
        let latched = self
            .station
            .process
            .live()
            .is_some_and(|station| station.phase().name() == PhaseName::LatchedDown);
        let excused = self.seen.withdrawn || self.station.latch || (latched && self.seen.latched);
        MESSAGES.iter().filter(|n| help != Help::Wakes || is_alert(**n)).all(|n| {
            !self.seen.admitted[usize::from(*n)]
                || excused
                || self.seen.told[usize::from(*n)]
                || rows.find(crate::names::message(*n)).is_some_and(|(_, row)| row.finished.is_some())
        })
    }
}
