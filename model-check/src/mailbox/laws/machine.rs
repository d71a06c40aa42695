//! Laws of any machine: stutter, image, invariants, timers.

use awakener_kernel::machine::Machine as _;

use super::super::World;
use super::super::act::Call;
use super::super::scope::LIFE;
use super::super::seen::Broken;
use super::{advances, tried};
use crate::world::{Law, STUTTER, refuses, stutters};

pub const STUTTERS: Law<World> =
    Law { name: STUTTER, holds: stutters, twin: "something is refused", reached: refuses };

pub const INVARIANTS: Law<World> = Law {
    name: "FML-1 every invariant of the machine holds",
    // What is staged is looked at when it is live: each staged state has its durable commit.
    holds: |world, state, _| state.plane.live().is_none_or(|machine| machine.check(&world.config).is_ok()),
    twin: "a machine with mail is live",
    reached: |_, state, _| state.plane.live().is_some_and(|machine| machine.image().last.is_some()),
};

pub const IMAGE: Law<World> = Law {
    name: "AUD-2 the image is what is on disk and what is staged",
    holds: |_, state, _| state.plane.image_is_disk_and_staged(),
    twin: "what is staged differs from what is on disk",
    reached: |_, state, _| state.plane.inside() != state.plane.disk(),
};

pub const WAKES: Law<World> = Law {
    name: "FML-1 an image that was written can be woken",
    holds: |_, state, _| state.seen.intact(Broken::Boot),
    twin: "a machine is down with mail on its disk",
    reached: |_, state, _| state.plane.is_down() && !state.plane.disk().rows.messages.is_empty(),
};

pub const FIRES: Law<World> = Law {
    name: "FML-1 Fire advances if and only if something is due",
    holds: |world, state, edges| {
        let due = state.plane.is_due(&world.config, state.outside.clock.now());
        state.plane.live().is_none()
            || tried(edges).all(|(call, edge)| call != Call::Fire || advances(edge) == due)
    },
    twin: "something is due",
    reached: |world, state, _| state.plane.is_due(&world.config, state.outside.clock.now()),
};

pub const WAITS: Law<World> = Law {
    name: "EMT-6 no wait becomes longer than it is, whatever the wall clock did",
    holds: |world, state, _| {
        let longest = u64::from(LIFE).max(world.config.re_emission_base.0);
        let now = state.outside.clock.now().mono;
        let waits = |machine: &awakener_kernel::mailbox::Mailbox| {
            machine.deadline(&world.config).is_none_or(|at| {
                let left = at.0.saturating_sub(now.0);
                // Whatever is longer is the wait that began as the longest, within the few ticks that there are.
                let escalate = world.config.escalate.0;
                let longest_of_all = !world.bounds.ages && left <= escalate && left + 99 > escalate;
                left <= longest || longest_of_all
            })
        };
        state.plane.live().is_none_or(waits)
    },
    twin: "a wait goes on over a restart although the clock stepped back",
    reached: |world, state, _| {
        let clock = &state.outside.clock;
        let waits = |machine: &awakener_kernel::mailbox::Mailbox| {
            machine.deadline(&world.config).is_some_and(|at| at > clock.now().mono)
        };
        clock.stepped && state.spent.crashes > 0 && state.plane.live().is_some_and(waits)
    },
};
