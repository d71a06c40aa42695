//! What must hold in every state of a cyclic waker world, each with a state that shows that it is not empty talk.

use awakener_kernel::waker::Input;

use super::World;
use super::act::Act;
use super::seen::{Broken, Landed};
use crate::world::{Law, STUTTER, Verdict, refuses, stutters};

type State = <World as crate::world::World>::State;

fn intact(state: &State, what: Broken) -> bool {
    !state.seen.broken.contains(&what)
}

/// Every law.
pub(super) const LAWS: &[Law<World>] = &[
    Law { name: STUTTER, holds: stutters::<World>, twin: "something is refused", reached: refuses::<World> },
    Law {
        name: "FML-1 every invariant of the machine holds",
        holds: |world, state, _| state.daemon.check(&world.config),
        twin: "a machine is live",
        reached: |_, state, _| state.daemon.live().is_some(),
    },
    Law {
        name: "AUD-2 the image is what is on disk",
        holds: |_, state, _| state.daemon.image_is_disk_and_staged(),
        twin: "a flight was recorded",
        reached: |_, state, _| state.daemon.live().is_some() && state.daemon.disk().image.flight.is_some(),
    },
    Law {
        name: "FML-1 an image that was written can be woken",
        holds: |_, state, _| intact(state, Broken::Boot),
        twin: "a machine wakes from an image",
        reached: |_, _, edges| edges.iter().any(|edge| matches!(edge.action, Act::Boot(_))),
    },
    Law {
        name: "FML-1 Fire advances if and only if something is due",
        holds: |world, state, _| state.daemon.fires_iff_due(&world.config, state.now(), Input::Fire, |()| ()),
        twin: "something is due",
        reached: |world, state, _| state.daemon.is_due(&world.config, state.now()),
    },
    Law {
        name: "VER-2 accepted tokens only rise",
        holds: |_, state, _| intact(state, Broken::Token),
        twin: "one more hint is accepted",
        reached: |_, state, edges| {
            state.seen.accepted > 0 && edges.iter().any(|edge| edge.label.what == "accepted")
        },
    },
    Law {
        name: "VER-1 what was accepted is never accepted again",
        holds: |_, state, edges| {
            edges.iter().all(|edge| match edge.action {
                Act::Present(slot, _) => {
                    let hint = state.hints[slot as usize];
                    let old = hint.is_some_and(|hint| super::seen::number(hint.wake) <= state.seen.accepted);
                    !old || edge.label.verdict == Verdict::Refused
                }
                _ => true,
            })
        },
        twin: "an accepted hint comes again in time",
        reached: |_, state, edges| {
            edges.iter().any(|edge| {
                matches!(edge.action, Act::Present(..))
                    && edge.label.what == "replay"
                    && state.seen.accepted > 0
            })
        },
    },
    Law {
        name: "DSP-2 no wake and no attempt is dispatched twice",
        holds: |_, state, _| intact(state, Broken::Twice),
        twin: "a second dispatch leaves",
        reached: |_, state, edges| {
            state.seen.flown.attempt > 0 && edges.iter().any(|edge| matches!(edge.action, Act::Adapter(..)))
        },
    },
    Law {
        name: "DSP-7 one flight for a permit, and none without",
        holds: |_, state, _| intact(state, Broken::Permit),
        twin: "something was dispatched under a permit",
        reached: |_, state, _| state.seen.flown.attempt > 0,
    },
    Law {
        name: "DSP-2 the attempt is on disk before the dispatch leaves",
        holds: |_, state, _| intact(state, Broken::Attempt),
        twin: "a dispatch waits to leave",
        reached: |_, _, edges| edges.iter().any(|edge| matches!(edge.action, Act::Adapter(..))),
    },
    Law {
        name: "DSP-2 two flights never run together",
        holds: |_, state, _| intact(state, Broken::Together),
        twin: "a flight runs while an accepted wake waits",
        reached: |_, state, _| state.running.is_some() && state.seen.waits,
    },
    Law {
        name: "DSP-1 the cooldown lies between two starts",
        holds: |_, state, _| intact(state, Broken::Cooldown),
        twin: "an accepted wake waits after a start",
        reached: |_, state, _| state.seen.waits && state.seen.decided.is_some(),
    },
    Law {
        name: "DSP-7 a hint in mid-flight starts nothing by itself",
        holds: |_, state, edges| {
            let dispatches = |edge: &&crate::world::Edge<World>| {
                matches!(edge.action, Act::Present(..)) && edge.label.effects.contains(&"dispatch")
            };
            state.seen.landed == Landed::Not || edges.iter().find(dispatches).is_none()
        },
        twin: "a hint came in mid-flight",
        reached: |_, state, _| state.seen.landed != Landed::Not,
    },
];
