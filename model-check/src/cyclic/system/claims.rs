//! What must follow in the cyclic system, and under which conditions.

use super::World;
use super::act::{Act, Ending, Job, Way, Who};
use super::scope::Powers;
use crate::liveness::{Fair, Leads, Strength};

type State = <World as crate::world::World>::State;

macro_rules! fair {
    ($const:ident, $name:literal, $takes:expr, $why:expr) => {
        const $const: Fair<World> =
            Fair { name: $name, strength: Strength::Strong, takes: $takes, why: $why };
    };
}

const SUPERVISED: &str = "a supervisor does it; the adversary may crash it again at once";
const LIKEWISE: &str = "as for the plane";
const OWED: &str = "its driver owes it";
const PORT: &str = "the port works some time; each single call and answer may be lost";
const PORTS: &str = "its ports work some time; each single call and answer may be lost";

const CALM: Fair<World> = Fair {
    name: "crashes and losses end some time",
    strength: Strength::Weak,
    takes: |action, _| *action == Act::Calm,
    why: "what dies for ever, or is never heard, serves nobody; when and how often until then is the adversary's",
};
fair!(TIME, "time passes", |action, _| *action == Act::Tick, "no adversary stops a clock");
fair!(PLANE_BOOTS, "the plane is started again", |action, _| *action == Act::Boot(Who::Plane), SUPERVISED);
fair!(DAEMON_BOOTS, "the daemon is started again", |action, _| *action == Act::Boot(Who::Daemon), LIKEWISE);
fair!(
    STATION_BOOTS,
    "the station is started again",
    |action, _| *action == Act::Boot(Who::Station),
    LIKEWISE
);
fair!(PLANE_FIRES, "what is due at the plane is fired", |action, _| *action == Act::Fire(Who::Plane), OWED);
fair!(
    DAEMON_FIRES,
    "what is due at the daemon is fired",
    |action, _| *action == Act::Fire(Who::Daemon),
    OWED
);
fair!(
    STATION_FIRES,
    "what is due at the station is fired",
    |action, _| *action == Act::Fire(Who::Station),
    OWED
);
fair!(
    PLANE_WORKS,
    "what the plane wants done is done",
    |action, _| matches!(action, Act::Perform(Who::Plane, ..)),
    "its ports work; what becomes of a hint after that is the adversary's"
);
fair!(
    ASKS,
    "questions of the daemon are answered some time",
    |action, _| *action == Act::Perform(Who::Daemon, Job::Ask, Way::Heard),
    PORT
);
fair!(
    SWEEPS,
    "sweeps of the daemon are answered some time",
    |action, _| *action == Act::Perform(Who::Daemon, Job::Sweep, Way::Heard),
    PORT
);
fair!(
    DAEMON_WORKS,
    "whatever else the daemon wants done is done some time",
    |action, _| match action {
        Act::Perform(Who::Daemon, job, Way::Heard) => !matches!(job, Job::Ask | Job::Sweep),
        _ => false,
    },
    PORTS
);
fair!(
    READS,
    "the station reaches the inbox some time",
    |action, _| *action == Act::Perform(Who::Station, Job::ReadInbox, Way::Heard),
    PORT
);
fair!(
    CLAIMS,
    "claims of the station are answered some time",
    |action, _| *action == Act::Perform(Who::Station, Job::Claim, Way::Heard),
    PORT
);
fair!(
    STATION_WORKS,
    "whatever else the station wants done is done some time",
    |action, _| match action {
        Act::Perform(Who::Station, job, Way::Heard) => !matches!(job, Job::ReadInbox | Job::Claim),
        _ => false,
    },
    PORTS
);
fair!(
    HINTS,
    "hints that are under way arrive or are lost",
    |action, _| matches!(action, Act::Hint | Act::LoseHint),
    "only that nothing hangs in the air for ever while time waits for it"
);
fair!(
    POLLS,
    "the poll finds work that is there",
    |action, _| *action == Act::Poll,
    "it asks again and again"
);
fair!(
    COMPLETES,
    "turns are completed",
    |action, _| *action == Act::TurnEnds(Ending::Complete),
    "a fair station: its model completes some turn if it is tried again and again"
);
fair!(TURNS, "turns end", |action, _| matches!(action, Act::TurnEnds(_)), "a turn ends, in whatever way");

const OUTSTANDING: &str = "an alert is outstanding";
const ACKED: &str = "it is acknowledged";
const SETTLED: &str = "it is acknowledged, or the operator was told of it, or is shown it as escalated";

fn settled(state: &State) -> bool {
    state.seen.acked || state.seen.told || state.shown()
}

/// By way of the poll: the station alone.
const POLLED: &[Fair<World>] = &[STATION_FIRES, READS, CLAIMS, STATION_WORKS, POLLS, COMPLETES];

const ACKED_BY_WAKE: Leads<World> = Leads {
    name: "DSP-11 the alert is acknowledged by way of its wake, also if every hint is lost",
    when: OUTSTANDING,
    from: |_, state, _| state.outstanding(),
    then: ACKED,
    to: |_, state, _| state.seen.acked,
    fair: &[
        PLANE_FIRES,
        DAEMON_FIRES,
        PLANE_WORKS,
        ASKS,
        SWEEPS,
        DAEMON_WORKS,
        READS,
        CLAIMS,
        STATION_WORKS,
        HINTS,
        COMPLETES,
    ],
};

const ACKED_BY_POLL: Leads<World> = Leads {
    name: "STN-3 the alert is acknowledged by way of the poll, also without any daemon",
    when: OUTSTANDING,
    from: |_, state, _| state.outstanding(),
    then: ACKED,
    to: |_, state, _| state.seen.acked,
    fair: POLLED,
};

const READ: Leads<World> = Leads {
    name: "INB-5 a message that comes while a turn runs is read",
    when: "a plain message came while a turn ran",
    from: |_, state, _| state.seen.mid_run,
    then: "it is read",
    to: |_, state, _| state.seen.read[1],
    fair: POLLED,
};

const SETTLED_BY_POLL: Leads<World> = Leads {
    name: "ACK-9 the alert is acknowledged, or the operator is told",
    when: OUTSTANDING,
    from: |_, state, _| state.outstanding(),
    then: SETTLED,
    to: |_, state, _| settled(state),
    fair: &[
        CALM,
        TIME,
        PLANE_BOOTS,
        STATION_BOOTS,
        PLANE_FIRES,
        STATION_FIRES,
        PLANE_WORKS,
        CLAIMS,
        STATION_WORKS,
        POLLS,
        TURNS,
    ],
};

const SETTLED_BY_WAKE: Leads<World> = Leads {
    name: "ACK-9 the alert is acknowledged by way of its wake, or the operator is told",
    when: OUTSTANDING,
    from: |_, state, _| state.outstanding(),
    then: SETTLED,
    to: |_, state, _| settled(state),
    fair: &[
        TIME,
        DAEMON_BOOTS,
        PLANE_FIRES,
        DAEMON_FIRES,
        STATION_FIRES,
        PLANE_WORKS,
        ASKS,
        SWEEPS,
        DAEMON_WORKS,
        READS,
        CLAIMS,
        STATION_WORKS,
        HINTS,
        COMPLETES,
    ],
};

const CLEANED: Leads<World> = Leads {
    name: "STN-9 a cleanup that is owed is completed",
    when: "the station owes a cleanup",
    from: |_, state, _| state.station.live().is_some_and(|station| station.cleaning().is_some()),
    then: "it owes none",
    to: |_, state, _| state.station.live().is_some_and(|station| station.cleaning().is_none()),
    fair: &[PLANE_BOOTS, STATION_BOOTS, STATION_FIRES, STATION_WORKS],
};

const FAIR: &[Leads<World>] = &[ACKED_BY_WAKE, ACKED_BY_POLL, CLEANED];
const FAIR_WITH_MESSAGE: &[Leads<World>] = &[ACKED_BY_WAKE, ACKED_BY_POLL, CLEANED, READ];
const SETTLES_BY_WAKE: &[Leads<World>] = &[SETTLED_BY_WAKE, CLEANED];
const SETTLES: &[Leads<World>] = &[SETTLED_BY_POLL, CLEANED];

/// What is claimed under these powers.
pub(super) const fn of(powers: &Powers) -> &'static [Leads<World>] {
    match (powers.no_daemon, powers.no_poll, powers.message) {
        (true, _, _) => SETTLES,
        (false, true, _) => SETTLES_BY_WAKE,
        (false, false, true) => FAIR_WITH_MESSAGE,
        (false, false, false) => FAIR,
    }
}
