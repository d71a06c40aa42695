//! Laws of permits and flights.

use super::super::act::{Act, Call, Forgery};
use super::super::seen::{Broken, Permit};
use super::super::{State, World};
use super::{advances, all_refused, is_first, tried};
use crate::world::{Law, Next};

pub const ONE_PERMIT: Law<World> = Law {
    name: "DSP-7 two daemons never have permits together that they may use",
    holds: |_, state, _| {
        let usable = |permit: &&Permit| !permit.over && state.time() < permit.until;
        let mut all = state.seen.store.permits.iter().filter(usable);
        all.next().is_none_or(|first| all.all(|permit| permit.daemon == first.daemon))
    },
    twin: "both daemons had permits",
    reached: |_, state, _| {
        let permits = &state.seen.store.permits;
        permits.iter().any(|permit| permit.daemon != permits[0].daemon)
    },
};

pub const FENCES: Law<World> = Law {
    name: "DSP-7 the fences of permits only rise",
    holds: |_, state, _| state.seen.intact(Broken::PermitFence),
    twin: "there were two permits",
    reached: |_, state, _| state.seen.store.permits.len() > 1,
};

pub const ON_DISK: Law<World> = Law {
    name: "DSP-7 a permit that was answered is on disk",
    holds: |_, state, _| {
        let last = state.plane.disk().image.permit_fence.0;
        state.seen.store.permits.iter().all(|permit| u64::from(permit.fence) <= last)
    },
    twin: "a permit was answered, and the machine is down",
    reached: |_, state, _| state.plane.is_down() && !state.seen.store.permits.is_empty(),
};

pub const AUTHORISED: Law<World> = Law {
    name: "DSP-7 without authority nothing is permitted, whatever hint is shown",
    holds: |_, state, edges| {
        let authority = state.outside.authority();
        (authority.rostered && authority.armed && authority.open)
            || tried(edges).all(|(_, edge)| edge.label.what != "permitted")
    },
    twin: "a permit is withheld for a hint whose authority was withdrawn",
    reached: |_, _, edges| {
        tried(edges).any(|(_, edge)| matches!(edge.label.what, "authority_withdrawn" | "not_armed"))
    },
};

pub const STALE: Law<World> = Law {
    name: "DSP-7 a permit that was replaced or used has no power",
    holds: |_, state, edges| {
        let permits = &state.seen.store.permits;
        let latest = permits.iter().map(|permit| permit.fence).max().unwrap_or(0);
        let spent = |fence: u8| permits.iter().any(|permit| permit.fence == fence && permit.spent);
        // A copy of the disk gives fences again: then old ones cannot be told from new ones.
        !is_first(state)
            || tried(edges).all(|(call, edge)| match call {
                Call::Attempted(_, fence, _) | Call::Ended(_, fence, ..)
                    if fence < latest || spent(fence) =>
                {
                    !advances(edge)
                }
                // A late true fact is noted, and moves nothing.
                Call::Outcome(_, fence, ..) if fence < latest => match &edge.next {
                    Next::To(next) => next.plane.inside().image == state.plane.inside().image,
                    Next::Stays | Next::Beyond | Next::LeftTrace => true,
                },
                _ => true,
            })
    },
    twin: "a permit that was replaced is tried, and one that was used",
    reached: |_, state, edges| {
        let permits = &state.seen.store.permits;
        let tries = |fence: u8| {
            tried(edges).any(|(call, _)| matches!(call, Call::Attempted(_, known, _) if known == fence))
        };
        permits.len() > 1
            && tries(permits[0].fence)
            && permits.last().is_some_and(|last| last.spent && tries(last.fence))
    },
};

pub const ONE_FLIGHT: Law<World> = Law {
    name: "DSP-2 two flights never",
    holds: |_, state, _| {
        let flies = |flight: &&super::super::seen::Flight| !flight.over && state.time() < flight.until;
        state.seen.store.flights.iter().filter(flies).count() <= 1
    },
    twin: "there were two flights",
    reached: |_, state, _| state.seen.store.flights.len() > 1,
};

pub const PERMITTED: Law<World> = Law {
    name: "DSP-2 no permit during a flight",
    holds: |_, state, edges| {
        let flies = |flight: &super::super::seen::Flight| !flight.over && state.time() < flight.until;
        state.plane.live().is_none()
            || !state.seen.store.flights.iter().any(flies)
            || tried(edges).all(|(_, edge)| !matches!(edge.label.what, "permitted" | "swept"))
    },
    twin: "a permit is refused during a flight",
    reached: |_, state, edges| {
        !state.seen.store.flights.is_empty() && tried(edges).any(|(_, edge)| edge.label.what == "permit_held")
    },
};

/// Whoever has taken off and is never heard of again must not keep its target from being woken for ever.
pub const ENDS: Law<World> = Law {
    name: "DSP-2 a flight whose end nobody reports ends by itself",
    holds: |_, state, edges| {
        state.plane.live().is_none()
            || !lost(state)
            || tried(edges).all(|(call, edge)| call != Call::Fire || advances(edge))
    },
    twin: "a flight is as old as it may become, and nobody has reported its end",
    reached: |_, state, _| state.plane.live().is_some() && lost(state),
};

/// Whether a flight is on disk that should be over by the clock of the plane.
fn lost(state: &State) -> bool {
    let store = &state.seen.store;
    let ended = |fence: u8| store.permits.iter().any(|permit| permit.fence == fence && permit.spent);
    // A clock that stepped back makes the rest of a wait longer, up to its own length.
    let told = !state.outside.clock.stepped && is_first(state);
    told && store.flights.iter().any(|flight| flight.at_most <= state.time() && !ended(flight.fence))
}

pub const ONE_OUTCOME: Law<World> = Law {
    name: "RCP-2 no two final facts of one attempt contradict each other",
    holds: |_, state, _| state.seen.intact(Broken::Contradiction),
    twin: "a contradiction is refused",
    reached: |_, _, edges| tried(edges).any(|(_, edge)| edge.label.what == "receipt_contradiction"),
};

pub const OFFICE: Law<World> = Law {
    name: "OPR-1 acts on what does not exist are refused",
    holds: |_, _, edges| all_refused(edges, is_office),
    twin: "an operator resolves what does not exist",
    reached: |_, _, edges| {
        edges.iter().any(|edge| matches!(edge.action, Act::Call(Call::Forge(Forgery::ResolveUnknown))))
    },
};

const fn is_office(forgery: Forgery) -> bool {
    matches!(forgery, Forgery::ResolveUnknown | Forgery::ReleaseUnknown | Forgery::ExpireUnknown)
}
