//! What must hold in every state of a waker world, each with a state that shows that it is not empty talk.

use awakener_kernel::ids::Fence;
use awakener_kernel::machine::{Machine, Outcome};
use awakener_kernel::time::{Millis, Mono, Now};
use awakener_kernel::values::{Answer, DispatchOutcome, FlightEnd, Permit};
use awakener_kernel::waker::{Effect, Fate as Finding, Input, Ticket};
use awakener_spec::Class;

use super::scope::{COOLDOWN, FLIGHT_MAX, SWEEP};
use super::seen::{Asked, Broken};
use super::{State, World};
use crate::explore::Law;
use crate::process::Fate;

/// The law that names [`super::scope::Fault::CooldownDrops`].
pub const NEVER_DROPPED: &str = "DSP-1 an accepted wake that was not started is asked about again";
/// The law that names [`super::scope::Fault::HighWaterInMemory`].
pub const TOKENS_RISE: &str = "VER-2 accepted tokens only rise";

/// Every law.
pub const LAWS: &[Law<World>] = &[
    Law {
        name: "VER-5 what is refused or absorbed leaves no trace",
        holds: |world, state| {
            !quiet(state)
                || everything(state).into_iter().all(|input| {
                    world.judged(state, input).is_none_or(|outcome| outcome.is_advanced())
                        || untouched(world, state, input)
                })
        },
        twin: "a hint is refused to a live machine",
        reached: |world, state| {
            state.daemon.live().is_some()
                && state.numbers().any(|n| {
                    matches!(world.judged(state, Input::Hint(state.hint(n))), Some(Outcome::Refused(_)))
                })
        },
    },
    Law {
        name: "FML-1 every invariant of the machine holds",
        holds: |world, state| state.daemon.check(&world.config),
        twin: "a machine is live",
        reached: |_, state| state.daemon.live().is_some(),
    },
    Law {
        name: "AUD-2 the image is what is on disk and what is staged",
        holds: |_, state| state.daemon.image_is_disk_and_staged(),
        twin: "what is staged differs from what is on disk",
        reached: |_, state| state.daemon.inside() != state.daemon.disk(),
    },
    Law {
        name: "FML-1 an image that was written can be woken",
        holds: |_, state| intact(state, Broken::Boot),
        twin: "a machine went down after it accepted a wake",
        reached: |_, state| state.daemon.is_down() && !state.seen.accepted.is_empty(),
    },
    Law {
        name: "FML-1 Fire advances if and only if something is due",
        holds: |world, state| state.daemon.fires_iff_due(&world.config, state.now(), Input::Fire, |()| ()),
        twin: "something is due",
        reached: |world, state| state.daemon.is_due(&world.config, state.now()),
    },
    Law {
        name: TOKENS_RISE,
        holds: |_, state| intact(state, Broken::Token),
        twin: "a wake was accepted, and the process died after it",
        reached: |_, state| {
            state.daemon.live().is_some() && state.spent.crashes > 0 && !state.seen.accepted.is_empty()
        },
    },
    Law {
        name: "VER-3 an accepted hint that comes again is a replay",
        holds: |world, state| {
            state.seen.accepted.iter().all(|(wake, _)| {
                let hint = state.hint(crate::names::wake_number(*wake));
                let class = if state.now().wall < hint.expires { Class::Replay } else { Class::Stale };
                world
                    .judged(state, Input::Hint(hint))
                    .is_none_or(|outcome| outcome == Outcome::Refused(class))
            })
        },
        twin: "an accepted hint could come again in time",
        reached: |_, state| {
            let fresh = |wake| state.now().wall < state.hint(crate::names::wake_number(wake)).expires;
            state.daemon.live().is_some() && state.seen.accepted.iter().any(|(wake, _)| fresh(*wake))
        },
    },
    Law {
        name: "DSP-2 no wake is dispatched twice",
        holds: |_, state| {
            unique(&state.seen.dispatched, |d| d.wake) && unique(&state.seen.dispatched, |d| d.attempt)
        },
        twin: "two wakes were dispatched",
        reached: |_, state| state.seen.dispatched.len() > 1,
    },
    Law {
        name: "DSP-7 one flight for a permit, and none without",
        holds: |_, state| {
            unique(&state.seen.dispatched, |d| d.fence)
                && state.seen.dispatched.iter().all(|d| state.seen.granted.contains(&(d.fence, d.wake)))
        },
        twin: "a permit was granted and a flight dispatched",
        reached: |_, state| !state.seen.dispatched.is_empty(),
    },
    Law {
        name: "DSP-2 the attempt is on disk before the dispatch leaves",
        holds: |_, state| intact(state, Broken::Attempt),
        twin: "something was dispatched, and the process died after it",
        reached: |_, state| state.daemon.is_down() && !state.seen.dispatched.is_empty(),
    },
    Law {
        name: "DSP-2 two flights never run together",
        holds: |_, state| {
            state.running.iter().filter(|(_, decided)| decided + FLIGHT_MAX > state.clock).count() <= 1
        },
        twin: "a flight runs while another wake is accepted",
        reached: |_, state| !state.running.is_empty() && state.seen.accepted.len() > 1,
    },
    Law {
        name: "DSP-1 the cooldown lies between two starts",
        holds: |_, state| {
            let decided = &state.seen.decided;
            decided.iter().zip(decided.iter().skip(1)).all(|((_, one), (_, next))| one + COOLDOWN <= *next)
        },
        twin: "there were two starts",
        reached: |_, state| state.seen.decided.len() > 1,
    },
    Law {
        name: NEVER_DROPPED,
        holds: |world, state| {
            !state.seen.owed
                || state.daemon.live().is_none()
                || under_way(state)
                || world.soon(state, |effect| matches!(effect, Effect::Ask { .. } | Effect::Sweep { .. }))
        },
        twin: "an accepted wake waits",
        reached: |_, state| state.seen.owed && state.daemon.live().is_some() && !under_way(state),
    },
    Law {
        name: "DSP-11 after every recovery a look is owed",
        holds: |world, state| {
            state.seen.swept
                || state.daemon.live().is_none()
                || world.soon(state, |effect| matches!(effect, Effect::Sweep { .. }))
        },
        twin: "a machine woke again and has not looked yet",
        reached: |_, state| !state.seen.swept && state.daemon.live().is_some() && state.spent.crashes > 0,
    },
];

impl World {
    /// Whether the machine, left alone from here, asks for such an effect long before a regular sweep would.
    fn soon(&self, state: &State, wanted: impl Fn(&Effect) -> bool) -> bool {
        let mut daemon = state.daemon.clone();
        let mut now = state.now();
        let end = now.mono + Millis(SWEEP / 2);
        loop {
            let Some(due) = daemon.live().and_then(|machine| machine.deadline(&self.config)) else {
                return false;
            };
            if due > end {
                return false;
            }
            now = later(now, due);
            daemon.stage(&self.config, now, Input::Fire, (), |_| Asked { input: Input::Fire, at: 0 });
            let Some(visible) = daemon.commit(Fate::Durable) else { return false };
            if visible.effects.iter().any(&wanted) {
                return true;
            }
            if visible.answers.iter().any(|(_, outcome)| !outcome.is_advanced()) {
                return false;
            }
        }
    }
}

fn later(now: Now, due: Mono) -> Now {
    let wait = due.saturating_since(now.mono);
    Now { wall: now.wall + wait, mono: now.mono + wait }
}

/// Whether a live machine has nothing to perform. What is tried in vain is tried in such states only: performing is
/// always possible and does not touch the machine.
fn quiet(state: &State) -> bool {
    state.daemon.live().is_some() && state.outbox.is_empty()
}

/// Whether a question or a sweep waits to be performed.
fn under_way(state: &State) -> bool {
    state.outbox.iter().any(|effect| matches!(effect, Effect::Ask { .. } | Effect::Sweep { .. }))
}

fn intact(state: &State, what: Broken) -> bool {
    !state.seen.broken.contains(&what)
}

fn unique<T, K: Ord>(list: &[T], key: impl Fn(&T) -> K) -> bool {
    let mut keys: Vec<_> = list.iter().map(key).collect();
    keys.sort_unstable();
    keys.windows(2).all(|pair| pair[0] != pair[1])
}

fn untouched(world: &World, state: &State, input: Input) -> bool {
    let mut after = state.daemon.clone();
    after.stage(&world.config, state.now(), input, (), |_| Asked { input, at: 0 });
    after.stuttered_since(&state.daemon)
}

/// Everything that anybody could say to a waker, also out of place.
fn everything(state: &State) -> Vec<Input> {
    let mut all: Vec<_> = state.numbers().map(|n| Input::Hint(state.hint(n))).collect();
    let boot = state.daemon.disk().image.boot;
    let permit = Permit { fence: Fence(99), life: Millis(1) };
    for ticket in [Ticket { boot, number: 99 }, Ticket { boot: boot.saturating_sub(1), number: 1 }] {
        all.extend([
            Input::Answer { ticket, answer: Answer::Granted(permit) },
            Input::AskFailed { ticket },
            Input::Dispatched { ticket, outcome: DispatchOutcome::Unavailable },
            Input::Probed { ticket, fate: Finding::Gone },
            Input::Swept { ticket, any: false },
        ]);
    }
    for attempt in [0, 99] {
        all.push(Input::FlightEnded { attempt, end: FlightEnd::ProcessEnded });
    }
    all.extend([Input::FlightEnded { attempt: 1, end: FlightEnd::Expired }, Input::Resume, Input::Fire]);
    all.extend(state.inbox.iter().copied());
    all
}
