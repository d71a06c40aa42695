//! What must hold in every state of the cyclic system, each with a state that shows that it is not empty talk.

use awakener_kernel::mailbox::input::Input as Ask;
use awakener_kernel::{station, waker};

use super::World;
use super::act::{Act, Way, Who};
use super::calls::{fresh, looked_up};
use super::seen::Broken;
use crate::world::{Edge, Law, STUTTER, refuses};

type State = <World as crate::world::World>::State;

fn intact(state: &State, what: Broken) -> bool {
    !state.seen.broken.contains(&what)
}

fn takes(edges: &[Edge<World>], wanted: impl Fn(&Act) -> bool) -> bool {
    edges.iter().any(|edge| edge.moves() && wanted(&edge.action))
}

/// Every law.
pub(super) const LAWS: &[Law<World>] = &[
    Law {
        name: STUTTER,
        holds: |world, state, edges| {
            intact(state, Broken::Trace) && crate::world::stutters(world, state, edges)
        },
        twin: "something is refused",
        reached: refuses::<World>,
    },
    Law {
        name: "FML-1 every invariant of the machines holds",
        holds: |world, state, _| {
            let config = &world.config;
            state.plane.check(config) && state.daemon.check(config) && state.station.check(config)
        },
        twin: "all three are live",
        reached: |_, state, _| Who::ALL.iter().all(|who| !state.is_down(*who)),
    },
    Law {
        name: "AUD-2 the images are what is on disk",
        holds: |_, state, _| {
            state.plane.image_is_disk_and_staged()
                && state.daemon.image_is_disk_and_staged()
                && state.station.image_is_disk_and_staged()
        },
        twin: "an alert is stored",
        reached: |_, state, _| state.seen.sent[0],
    },
    Law {
        name: "FML-1 images that were written can be woken",
        holds: |_, state, _| intact(state, Broken::Boot),
        twin: "a process wakes from an image with an alert in it",
        reached: |_, state, edges| state.seen.sent[0] && takes(edges, |act| matches!(act, Act::Boot(_))),
    },
    Law {
        name: "FML-1 Fire advances if and only if something is due",
        holds: |world, state, _| {
            let (config, now) = (&world.config, state.now());
            let fire = Ask::Fire { fresh: fresh(state.wire.wakes + 1) };
            state.plane.fires_iff_due(config, now, fire, |query| looked_up(&state.plane.disk().rows, query))
                && state.daemon.fires_iff_due(config, now, waker::Input::Fire, |()| ())
                && state.station.fires_iff_due(config, now, station::Input::Fire, |()| ())
        },
        twin: "something is due",
        reached: |world, state, _| state.is_due(&world.config),
    },
    Law {
        name: "ACK-2 the cursor never reaches an outstanding alert",
        holds: |_, state, _| intact(state, Broken::Cursor),
        twin: "an alert is outstanding",
        reached: |_, state, _| state.outstanding(),
    },
    Law {
        name: "ACK-3 only an ACK closes the alert",
        holds: |_, state, _| {
            let row = state.plane.disk().rows.row(crate::names::message(0));
            row.is_none_or(|(_, row)| row.closed.is_some() == state.seen.acked)
        },
        twin: "the alert is acknowledged",
        reached: |_, state, _| state.seen.acked,
    },
    Law {
        name: "DSP-7 nothing is dispatched that nobody asked for",
        holds: |_, state, _| intact(state, Broken::Unasked),
        twin: "something was dispatched",
        reached: |_, state, _| state.seen.flown.attempt > 0,
    },
    Law {
        name: "DSP-2 no wake and no attempt is dispatched twice",
        holds: |_, state, _| intact(state, Broken::DispatchTwice),
        twin: "something was dispatched, and the alert is outstanding",
        reached: |_, state, _| state.seen.flown.attempt > 0 && state.outstanding(),
    },
    Law {
        name: "DSP-7 one flight for a permit, and none without",
        holds: |_, state, _| intact(state, Broken::PermitTwice),
        twin: "a permit was used",
        reached: |_, state, _| state.seen.flown.permit > awakener_kernel::ids::Fence(0),
    },
    Law {
        name: "DSP-2 two flights are never open together",
        holds: |_, state, _| intact(state, Broken::Together),
        twin: "a flight is open",
        reached: |_, state, _| state.wire.watching.is_some(),
    },
    Law {
        name: "STN-6 no complete turn is repeated",
        holds: |_, state, _| intact(state, Broken::TurnTwice),
        twin: "a complete turn waits to be acknowledged",
        reached: |_, state, _| state.seen.observed[0] && !state.seen.acked,
    },
    Law {
        name: "STN-6 no result is recorded twice",
        holds: |_, state, _| intact(state, Broken::ReplyTwice),
        twin: "a result is recorded, and the alert is outstanding",
        reached: |_, state, _| state.seen.replied[0] && !state.seen.acked,
    },
    Law {
        name: "INB-7 a stale lease moves nothing",
        holds: |_, state, _| intact(state, Broken::StaleLease),
        twin: "the station waits to use a lease that is over",
        reached: |_, state, edges| {
            let stale = state.plane.disk().image.lease.is_none() && state.desk.lease.is_some();
            stale && takes(edges, |act| matches!(act, Act::Perform(Who::Station, _, Way::Heard)))
        },
    },
    Law {
        name: "OBS-1 an alert is acknowledged only after a complete turn with a result",
        holds: |_, state, _| !state.seen.acked || (state.seen.observed[0] && state.seen.replied[0]),
        twin: "the alert is acknowledged, and was read",
        reached: |_, state, _| state.seen.acked && state.seen.read[0],
    },
    Law {
        name: "ACK-9 where everything works in time the operator is not needed",
        holds: |world, state, _| !(world.powers.is_calm() && world.powers.escalates && state.seen.told),
        twin: "everything works, and the alert is acknowledged",
        reached: |world, state, _| world.powers.is_calm() && world.powers.escalates && state.seen.acked,
    },
];
