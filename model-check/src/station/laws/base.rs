//! What holds of every machine, and who may work at all (STN-1…4).

use awakener_kernel::machine::Machine as _;
use awakener_kernel::station::{Input, PhaseName};

use super::super::World;
use super::super::act::{Act, Say, Which};
use super::super::seen::Broken;
use super::{advances, begins, phase, refuses, said};
use crate::world::{self, Law, STUTTER, Verdict};

pub const STUTTERS: Law<World> =
    Law { name: STUTTER, holds: world::stutters, twin: "something is refused", reached: world::refuses };

pub const INVARIANTS: Law<World> = Law {
    name: "FML-1 every invariant of the machine holds",
    holds: |world, state, _| match state.live() {
        Some(machine) => machine.check(&world.config).is_ok(),
        None => state.station.check(&world.config),
    },
    twin: "a machine is live",
    reached: |_, state, _| state.live().is_some(),
};

pub const IMAGE: Law<World> = Law {
    name: "AUD-2 the image is what is on disk and what is staged",
    holds: |_, state, _| match state.live() {
        Some(machine) => *machine.image() == state.station.disk().image,
        None => state.station.image_is_disk_and_staged(),
    },
    twin: "what is staged differs from what is on disk",
    reached: |_, state, _| state.station.is_staged() && state.station.inside() != state.station.disk(),
};

pub const WAKES: Law<World> = Law {
    name: "FML-1 an image that was written can be woken",
    holds: |_, state, _| state.seen.intact(Broken::Boot),
    twin: "a station is down after a turn was decided",
    reached: |_, state, _| state.station.is_down() && !state.seen.turns.is_empty(),
};

pub const FIRES: Law<World> = Law {
    name: "FML-1 Fire advances if and only if something is due",
    holds: |world, state, edges| {
        let due = state.station.is_due(&world.config, state.now());
        said(edges, Act::Fire).is_none_or(|said| (said == Verdict::Advanced) == due)
    },
    twin: "something is due",
    reached: |world, state, _| state.station.is_due(&world.config, state.now()),
};

pub const EDGES: Law<World> = Law {
    name: "STN-3 the phase changes along the edges of the table and along no others",
    holds: |_, state, _| state.seen.intact(Broken::Edge),
    twin: "a complete turn is being closed",
    reached: |_, state, _| phase(state) == Some(PhaseName::Acking),
};

pub const AWOKE: Law<World> = Law {
    name: "STN-2 a crash returns to ARMED if grant and latch still allow, else to DARK",
    holds: |_, state, _| state.seen.intact(Broken::Awoke),
    twin: "a station woke again and is armed",
    reached: |_, state, _| state.boots > 1 && phase(state) == Some(PhaseName::Armed),
};

pub const GRANTED: Law<World> = Law {
    name: "STN-2 nothing begins without a grant",
    // What was woken in time still looks into the inbox; a turn is another matter.
    holds: |_, state, edges| {
        let armed = phase(state) == Some(PhaseName::Armed) && begins(edges);
        state.seen.granted(state.wall)
            || !(armed || advances(edges, &["woken", "turn_started", "turn_resumed"]))
    },
    twin: "a grant is over, and a hint is refused",
    reached: |_, state, edges| {
        state.spent.grants > 0
            && !state.seen.granted(state.wall)
            && refuses(edges, |act| *act == Act::Say(Say::Hint), "not_armed")
    },
};

pub const REFUSED: Law<World> = Law {
    name: "STN-3 nothing begins while something forbids work",
    holds: |_, state, edges| !(state.seen.blind || state.seen.invalid) || !begins(edges),
    twin: "found work is refused while something forbids work",
    reached: |_, _, edges| refuses(edges, |act| *act == Act::Say(Say::WorkFound), "out_of_phase"),
};

pub const BOUNDED: Law<World> = Law {
    name: "STN-2 no grant is longer than the limit, and none is over before it begins",
    holds: |_, _, edges| {
        [Say::GrantTooLong, Say::GrantOver]
            .iter()
            .all(|say| said(edges, Act::Say(*say)) != Some(Verdict::Advanced))
    },
    twin: "a grant would be accepted",
    reached: |_, _, edges| said(edges, Act::Say(Say::Grant)) == Some(Verdict::Advanced),
};

pub const POWERLESS: Law<World> = Law {
    name: "STN-4 a completion that nothing waits for moves nothing",
    holds: |_, _, edges| {
        edges
            .iter()
            .all(|edge| !matches!(edge.action, Act::Odd(..)) || edge.label.verdict != Verdict::Advanced)
    },
    twin: "a completion comes that is not waited for any more",
    reached: |_, state, edges| !state.inbox.is_empty() && said(edges, Act::Take) == Some(Verdict::Absorbed),
};

pub const ANSWERED: Law<World> = Law {
    name: "STN-4 a late completion is absorbed, a foreign one refused by name",
    holds: |_, _, edges| {
        edges.iter().all(|edge| match edge.action {
            Act::Odd(_, Which::Late) => edge.label.verdict == Verdict::Absorbed,
            Act::Odd(_, Which::Stale) => edge.label.what == "stale_ticket",
            Act::Odd(_, Which::Awaited | Which::Cleaning | Which::Unissued | Which::Future) => {
                edge.label.what == "out_of_phase"
            }
            _ => true,
        })
    },
    twin: "a completion of an earlier boot comes",
    reached: |_, _, edges| refuses(edges, |act| matches!(act, Act::Odd(_, Which::Stale)), "stale_ticket"),
};

pub const BUSY: Law<World> = Law {
    name: "STN-4 a hint to a station that is at work is absorbed",
    holds: |_, state, edges| match phase(state) {
        Some(
            PhaseName::Waking
            | PhaseName::Reading
            | PhaseName::Cognizing
            | PhaseName::Acking
            | PhaseName::Synced,
        ) => said(edges, Act::Say(Say::Hint)) == Some(Verdict::Absorbed),
        Some(PhaseName::Dark | PhaseName::Armed | PhaseName::Refused | PhaseName::LatchedDown) | None => true,
    },
    twin: "a turn runs and its end is on its way",
    reached: |_, state, edges| {
        matches!(state.inbox.front(), Some(Input::TurnFinished { .. })) && advances(edges, &["turn_finished"])
    },
};
