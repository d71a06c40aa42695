//! Trip, latch and clear (FUS-4…7).

use awakener_kernel::machine::{Machine as _, Outcome};
use awakener_kernel::station::{AUDIT_WITHIN, Effect, Event, Input, PhaseName, Station};
use awakener_kernel::time::Now;

use super::super::act::{Act, Say};
use super::super::outside::{Lying, Out};
use super::super::seen::Broken;
use super::super::{State, World};
use super::{begins, first, phase, refuses, said};
use crate::world::{Law, Verdict};

pub const STILL: Law<World> = Law {
    name: "FUS-4 nothing begins under a latch",
    holds: |_, state, edges| state.seen.latch.is_none() || !begins(edges),
    twin: "a hint is refused because of a latch",
    reached: |_, _, edges| refuses(edges, |act| *act == Act::Say(Say::Hint), "latched"),
};

/// A live machine under a latch waits for an answer, for two seconds, or for an operator who clears; never for nothing.
pub const GOES_ON: Law<World> = Law {
    name: "FUS-4 a station that trips goes on until its process is stopped",
    holds: |world, state, _| {
        let now = state.now();
        let later = Now { wall: now.wall + AUDIT_WITHIN, mono: now.mono + AUDIT_WITHIN };
        let goes_on = |machine: &Station| {
            let step = machine.clone().step(&world.config, later, Input::Fire, ());
            matches!(
                step.outcome(),
                Outcome::Advanced(Event::Relatching | Event::TripAudited(_) | Event::LatchSettled { .. })
            )
        };
        !waits(state) || state.live().is_none_or(goes_on)
    },
    twin: "nothing is under way, and the process of a latch is not stopped",
    reached: |_, state, _| state.live().is_some() && waits(state),
};

/// Whether a latch is there, no operator is about to clear it, and nothing is under way.
fn waits(state: &State) -> bool {
    let latched = state.seen.latch.is_some_and(|latch| !latch.clearing && !latch.kept);
    latched && state.outbox.is_empty() && state.inbox.is_empty()
}

pub const AUDIT_FIRST: Law<World> = Law {
    name: "FUS-4 the audit record of a trip is tried before its latch is written",
    holds: |_, state, _| state.seen.intact(Broken::LatchFirst),
    twin: "a latch is about to be written",
    reached: |_, state, _| matches!(first(state), Some(Effect::WriteLatch { .. })),
};

pub const LOUD: Law<World> = Law {
    name: "FUS-5 a latch names its audit record, or says loudly why there is none",
    holds: |_, state, _| state.seen.intact(Broken::Silent),
    twin: "a latch is about to be written without an audit record",
    reached: |_, state, _| {
        matches!(first(state), Some(Effect::WriteLatch { .. }))
            && state.seen.latch.is_some_and(|latch| latch.missing.is_some())
    },
};

pub const RECALLED: Law<World> = Law {
    name: "FUS-5 a latch names the audit record that its station knows of",
    holds: |_, state, _| state.seen.intact(Broken::Unnamed),
    twin: "a latch is about to be written whose audit record is known",
    reached: |_, state, _| {
        matches!(first(state), Some(Effect::WriteLatch { .. }))
            && state.seen.latch.is_some_and(|latch| latch.audited)
    },
};

pub const NAMED: Law<World> = Law {
    name: "FUS-5 the audit record of a trip names its latch",
    holds: |_, state, _| state.seen.intact(Broken::OtherLatch),
    twin: "the audit record of a trip is about to be appended",
    reached: |_, state, _| matches!(first(state), Some(Effect::AppendTripAudit { .. })),
};

pub const STOPS: Law<World> = Law {
    name: "FUS-4 a process stops only when its latch is written, or is known not to be",
    holds: |_, state, _| state.seen.intact(Broken::StoppedUnlatched),
    twin: "a process is about to stop without a latch",
    reached: |_, state, _| {
        matches!(first(state), Some(Effect::StopProcess))
            && state.seen.latch.is_some_and(|latch| latch.tripped && latch.unwritten)
    },
};

pub const LATCHES_AGAIN: Law<World> = Law {
    name: "FUS-6 a trip on record latches every boot until it is cleared",
    holds: |_, state, _| state.seen.intact(Broken::Unlatched),
    twin: "a station woke after a trip whose latch was never written",
    reached: |_, state, _| {
        state.live().is_some()
            && state.boots > 1
            && state.outside.path == Lying::Nothing
            && state.seen.latch.is_some_and(|latch| latch.tripped && !latch.written)
    },
};

pub const HEEDED: Law<World> = Law {
    name: "FUS-6 whatever lies at the latch path is a latch",
    holds: |_, state, _| state.seen.intact(Broken::Unheeded),
    twin: "a station woke over something that its store does not know of",
    reached: |_, state, _| {
        state.boots > 1 && state.live().is_some() && state.seen.latch.is_some_and(|latch| !latch.tripped)
    },
};

pub const FOUND: Law<World> = Law {
    name: "FUS-6 a latch that is found stops what is under way",
    holds: |_, state, edges| match phase(state) {
        Some(
            PhaseName::Armed
            | PhaseName::Waking
            | PhaseName::Reading
            | PhaseName::Cognizing
            | PhaseName::Acking
            | PhaseName::Synced,
        ) => said(edges, Act::Say(Say::LatchFound)) == Some(Verdict::Advanced),
        Some(PhaseName::Dark | PhaseName::Refused | PhaseName::LatchedDown) | None => true,
    },
    twin: "a turn runs while something lies at the latch path",
    reached: |_, state, _| phase(state) == Some(PhaseName::Cognizing) && state.outside.path != Lying::Nothing,
};

/// What lies there is evidence.
pub const KEPT: Law<World> = Law {
    name: "FUS-6 a latch that was found is not written over",
    holds: |_, state, _| state.seen.intact(Broken::Overwritten),
    twin: "a process that found a latch is about to stop",
    reached: |_, state, _| {
        matches!(first(state), Some(Effect::StopProcess))
            && state.seen.latch.is_some_and(|latch| !latch.tripped)
    },
};

pub const ANNOUNCED: Law<World> = Law {
    name: "FUS-6 a trip that cannot be committed is latched all the same",
    holds: |_, state, _| state.seen.intact(Broken::Unannounced),
    twin: "a latch is about to be written although its commit failed",
    reached: |_, state, _| matches!(state.outbox.front(), Some(Out::Precaution(_))),
};

pub const ARCHIVED_FIRST: Law<World> = Law {
    name: "FUS-7 a latch is kept as an incident before it is removed",
    holds: |_, state, _| state.seen.intact(Broken::NoIncident),
    twin: "a latch is about to be removed",
    reached: |_, state, _| matches!(first(state), Some(Effect::RemoveLatch { .. })),
};

pub const OUTLIVES: Law<World> = Law {
    name: "FUS-7 an incident outlives clear and restart",
    holds: |_, state, _| state.seen.cleared.is_none() || !state.outside.incidents.is_empty(),
    twin: "a station woke after a clear",
    reached: |_, state, _| {
        state.live().is_some() && state.seen.cleared.is_some_and(|boot| boot < state.boots)
    },
};

pub const CLEARED_BY_COMMAND: Law<World> = Law {
    name: "FUS-7 a latch ends by an operator's clear and by nothing else",
    holds: |_, state, _| state.seen.intact(Broken::ClearedAlone),
    twin: "a latch was cleared",
    reached: |_, state, _| state.seen.cleared.is_some(),
};

pub const CLEAR_REPEATS: Law<World> = Law {
    name: "FUS-7 a clear can be repeated until the latch is gone",
    holds: |_, state, edges| {
        let waits = state.seen.latch.is_some_and(|latch| latch.settled || !latch.tripped);
        state.live().is_none() || !waits || said(edges, Act::Say(Say::Clear)) == Some(Verdict::Advanced)
    },
    twin: "a station woke under a latch that was kept as an incident already",
    reached: |_, state, _| {
        state.live().is_some()
            && state
                .seen
                .latch
                .is_some_and(|latch| !latch.clearing && state.outside.incidents.contains(&latch.latch))
    },
};
