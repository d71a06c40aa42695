//! Who may run a turn, and how often (OBS-2, FUS-1, FUS-2, STN-9).

use super::super::World;
use super::super::act::Act;
use super::super::bounds::Cause;
use super::super::seen::Broken;
use super::{phase, refuses};
use crate::world::Law;
use awakener_kernel::station::PhaseName;

pub const ONE: Law<World> = Law {
    name: "STN-9 two turns never run at once",
    holds: |_, state, _| state.seen.intact(Broken::Two) && state.outside.running.len() < 2,
    twin: "a turn of an earlier boot still runs, and the station is armed",
    reached: |_, state, _| {
        phase(state) == Some(PhaseName::Armed)
            && state.outside.running.iter().any(|run| run.start != state.starts)
    },
};

pub const FUSE: Law<World> = Law {
    name: "FUS-2 no more turns start than the fuse allows",
    holds: |_, state, _| state.seen.intact(Broken::Fuse),
    twin: "as many turns have started as are allowed",
    reached: |world, state, _| {
        let started = state.seen.in_hour(state.clock, |turn| turn.started);
        let boot = state.seen.in_boot(state.boots, |turn| turn.started);
        let full = |count: usize, limit: u32| u32::try_from(count) == Ok(limit);
        full(started, world.bounds.per_hour) || full(boot, world.bounds.per_boot)
    },
};

pub const GROUNDS: Law<World> = Law {
    name: "FUS-1 the fuse trips on nothing but what it counts",
    holds: |_, state, _| state.seen.intact(Broken::Groundless),
    twin: "the fuse has tripped",
    reached: |_, state, _| state.seen.latch.is_some_and(|latch| latch.tripped),
};

pub const CIRCLE: Law<World> = Law {
    name: "FUS-1 no turn closes a circle, goes too deep, or answers an echo",
    holds: |_, state, _| state.seen.intact(Broken::Circle),
    twin: "the fuse has tripped on work that descends from the station's own",
    reached: |world, state, _| {
        let bad = |cause| matches!(cause, Cause::Deep | Cause::Loop | Cause::Echo);
        state.seen.latch.is_some_and(|latch| latch.tripped)
            && world.bounds.mail.iter().any(|mail| bad(mail.cause))
    },
};

pub const MAPPED: Law<World> = Law {
    name: "OBS-2 a model that is not mapped runs no turn",
    holds: |_, state, _| state.seen.intact(Broken::Unmapped),
    twin: "work is refused because its model is not mapped",
    reached: |_, _, edges| refuses(edges, |act| *act == Act::Take, "unmapped_model"),
};

pub const ATTEMPTS: Law<World> = Law {
    name: "STN-9 a message has no more turns than attempts",
    holds: |_, state, _| state.seen.intact(Broken::Attempts),
    twin: "attempts are used up, and the operator was told",
    reached: |world, state, _| {
        state.seen.past.iter().any(|past| past.stuck && u32::from(past.tries) == world.bounds.attempts)
    },
};

pub const RESTS: Law<World> = Law {
    name: "STN-9 a failed message rests, longer each time",
    holds: |_, state, _| state.seen.intact(Broken::Restless),
    twin: "a message rests while the station is armed",
    reached: |_, state, _| {
        phase(state) == Some(PhaseName::Armed)
            && state.seen.past.iter().any(|past| past.fails > 0 && past.failed == state.clock)
    },
};
