//! What must hold in every state of a mailbox world, each with a state that shows that it is not empty talk.

use awakener_kernel::ids::Tier;
use awakener_kernel::machine::Outcome;
use awakener_kernel::mailbox::input::Minted;
use awakener_kernel::values::FlightEnd;

use super::act::Call;
use super::hostile::{forged, replaced, stale, with_fence};
use super::seen::{Broken, Lease, Permit};
use super::{State, World};
use crate::explore::Law;
use crate::names;

/// The law that names [`super::scope::Fault::AckAnsweredBeforeCommit`].
pub const ACK_ON_DISK: &str = "ACK-3 an ACK that was answered is on disk";

/// Every law.
pub const LAWS: &[Law<World>] = &[
    Law {
        name: "VER-5 what is refused or absorbed leaves no trace",
        holds: |world, state| {
            !quiet(state)
                || world.everything(state).into_iter().all(|call| {
                    world.judged(state, call).is_none_or(|outcome| outcome.is_advanced())
                        || world
                            .tried(state, call)
                            .is_some_and(|(after, _)| after.stuttered_since(&state.plane))
                })
        },
        twin: "something is refused to a live machine",
        reached: |world, state| {
            state.plane.live().is_some()
                && world
                    .everything(state)
                    .into_iter()
                    .any(|call| matches!(world.judged(state, call), Some(Outcome::Refused(_))))
        },
    },
    Law {
        name: "FML-1 every invariant of the machine holds",
        holds: |world, state| state.plane.check(&world.config),
        twin: "a machine is live",
        reached: |_, state| state.plane.live().is_some(),
    },
    Law {
        name: "AUD-2 the image is what is on disk and what is staged",
        holds: |_, state| state.plane.image_is_disk_and_staged(),
        twin: "what is staged differs from what is on disk",
        reached: |_, state| state.plane.inside() != state.plane.disk(),
    },
    Law {
        name: "FML-1 an image that was written can be woken",
        holds: |_, state| intact(state, Broken::Boot),
        twin: "a machine crashed with mail on its disk",
        reached: |_, state| state.plane.is_down() && !state.plane.disk().rows.messages.is_empty(),
    },
    Law {
        name: "FML-1 Fire advances if and only if something is due",
        holds: |world, state| {
            let (fire, content) = (Call::Fire.input(state.unused()), state.plane.disk());
            state.plane.fires_iff_due(&world.config, state.now(), fire, |query| World::facts(content, query))
        },
        twin: "something is due",
        reached: |world, state| state.plane.is_due(&world.config, state.now()),
    },
    Law {
        name: "INB-1 what was answered as admitted is on disk",
        holds: |_, state| {
            let rows = &state.plane.disk().rows;
            numbered(&state.seen.admitted)
                .all(|(n, seq)| rows.messages.get(&seq).is_some_and(|row| row.id == names::message(n)))
        },
        twin: "an admitted message, and the machine is down",
        reached: |_, state| state.plane.is_down() && numbered(&state.seen.admitted).next().is_some(),
    },
    Law {
        name: ACK_ON_DISK,
        holds: |_, state| {
            let rows = &state.plane.disk().rows;
            numbered(&state.seen.acked).all(|(n, (outcome, by))| {
                use awakener_kernel::mailbox::entry::Closed;
                let closed = rows.find(names::message(n)).and_then(|(_, row)| row.closed);
                matches!(closed, Some(Closed::Acknowledged(o, b, _)) if (o, b) == (outcome, by))
            })
        },
        twin: "an answered ACK, and the machine is down",
        reached: |_, state| state.plane.is_down() && numbered(&state.seen.acked).next().is_some(),
    },
    Law {
        name: "ACK-2 the cursor never reaches an alert without a genuine ACK",
        holds: |_, state| {
            alert(state)
                .is_none_or(|(seq, _)| state.plane.disk().image.cursor < Some(seq) || state.seen.presented[0])
        },
        twin: "later mail is finished, and the alert pins the cursor",
        reached: |_, state| {
            let rows = &state.plane.disk().rows;
            alert(state).is_some_and(|(seq, closed)| {
                !closed && rows.messages.range(seq..).any(|(_, row)| row.finished.is_some())
            })
        },
    },
    Law {
        name: "INB-4 the cursor never goes back",
        holds: |_, state| intact(state, Broken::Cursor),
        twin: "the cursor moved",
        reached: |_, state| state.seen.cursor.is_some(),
    },
    Law {
        name: "INB-7 no unfinished message is under two valid leases",
        holds: |_, state| {
            [0, 1].into_iter().all(|n| {
                let covers = |lease: &&Lease| valid(state, lease) && lease.covers[usize::from(n)];
                let row = state.plane.disk().rows.find(names::message(n));
                row.is_none_or(|(_, row)| row.finished.is_some())
                    || state.seen.leases.iter().filter(covers).count() <= 1
            })
        },
        twin: "a lease is valid, and it is not the first",
        reached: |_, state| {
            state.seen.leases.len() > 1 && state.seen.leases.iter().any(|lease| valid(state, lease))
        },
    },
    Law {
        name: "INB-7 the fences of leases only rise",
        holds: |_, state| intact(state, Broken::LeaseFence),
        twin: "there were two leases",
        reached: |_, state| state.seen.leases.len() > 1,
    },
    Law {
        name: "INB-7 a stale fence has no power",
        holds: |world, state| {
            !quiet(state)
                || stale(state)
                    .flat_map(with_fence)
                    .all(|call| world.judged(state, call).is_none_or(|outcome| !outcome.is_advanced()))
        },
        twin: "a stale fence is at hand while a lease is valid",
        reached: |_, state| {
            state.plane.live().is_some()
                && stale(state).next().is_some()
                && state.seen.leases.iter().any(|lease| valid(state, lease))
        },
    },
    Law {
        name: "DSP-7 two daemons never have valid permits together",
        holds: |_, state| {
            let valid = |permit: &&Permit| !permit.over && state.clock < permit.until;
            let mut daemons: Vec<_> =
                state.seen.permits.iter().filter(valid).map(|permit| permit.daemon).collect();
            daemons.dedup();
            daemons.len() <= 1
        },
        twin: "both daemons had permits",
        reached: |_, state| {
            state.seen.permits.iter().any(|permit| permit.daemon != state.seen.permits[0].daemon)
        },
    },
    Law {
        name: "DSP-7 the fences of permits only rise",
        holds: |_, state| intact(state, Broken::PermitFence),
        twin: "there were two permits",
        reached: |_, state| state.seen.permits.len() > 1,
    },
    Law {
        name: "DSP-7 a stale permit has no power",
        holds: |world, state| {
            !quiet(state)
                || replaced(state).all(|permit| {
                    let moved = |call| {
                        let before = state.plane.inside();
                        world
                            .tried(state, call)
                            .is_some_and(|(after, _)| after.inside().image != before.image)
                    };
                    !moved(Call::Attempted(permit.daemon, permit.fence, permit.hint))
                        && !moved(Call::Ended(permit.daemon, permit.fence, permit.hint, FlightEnd::Idle))
                })
        },
        twin: "a replaced permit is at hand",
        reached: |_, state| state.plane.live().is_some() && replaced(state).next().is_some(),
    },
    Law {
        name: "DSP-2 two flights never",
        holds: |_, state| {
            state.seen.flights.iter().filter(|flight| !flight.over && state.clock < flight.until).count() <= 1
        },
        twin: "there were two flights",
        reached: |_, state| state.seen.flights.len() > 1,
    },
    Law {
        name: "EMT-1 tokens only rise",
        holds: |_, state| intact(state, Broken::Token),
        twin: "there were hints in two epochs",
        reached: |_, state| {
            let epoch = |hint: &Minted| hint.token.epoch();
            state.seen.hints.first().map(epoch) != state.seen.hints.last().map(epoch)
        },
    },
    Law {
        name: "EMT-3 every hint that went out is of an alert on disk",
        holds: |_, state| {
            state.seen.hints.iter().all(|hint| {
                state.plane.disk().rows.find(hint.message).is_some_and(|(_, row)| row.tier == Tier::Zero)
            })
        },
        twin: "a hint went out",
        reached: |_, state| !state.seen.hints.is_empty(),
    },
    Law {
        name: "ADM-7 nothing twice",
        holds: |world, state| {
            let rows = &state.plane.inside().rows;
            let once = |n| rows.messages.values().filter(|row| row.id == names::message(n)).count() <= 1;
            intact(state, Broken::Twice)
                && once(0)
                && once(1)
                && numbered(&state.seen.admitted).all(|(n, _)| {
                    world.judged(state, Call::Submit(n)).is_none_or(|outcome| outcome == Outcome::Absorbed)
                })
        },
        twin: "an admitted message was submitted again",
        reached: |_, state| {
            numbered(&state.seen.admitted).any(|(n, _)| state.spent.submits[usize::from(n)] > 1)
        },
    },
    Law {
        name: "INB-8 quarantine never closes a witness",
        holds: |_, state| {
            let quarantined =
                state.plane.disk().rows.find(names::message(0)).is_some_and(|(_, row)| row.quarantined);
            !quarantined
                || state.seen.presented[0]
                || alert(state).is_some_and(|(seq, closed)| {
                    !closed && state.plane.disk().image.witnesses.contains_key(&seq)
                })
        },
        twin: "an alert is in quarantine",
        reached: |_, state| {
            state
                .plane
                .disk()
                .rows
                .find(names::message(0))
                .is_some_and(|(_, row)| row.quarantined && row.closed.is_none())
        },
    },
    Law {
        name: "ACK-6 forged and misplaced statements are refused",
        holds: |world, state| {
            !quiet(state)
                || forged(state).into_iter().all(|input| {
                    world
                        .judged_input(state, input)
                        .is_none_or(|outcome| matches!(outcome, Outcome::Refused(_)))
                })
        },
        twin: "an alert is there to be attacked",
        reached: |_, state| state.plane.live().is_some() && alert(state).is_some_and(|(_, closed)| !closed),
    },
];

/// Whether a live machine has nothing under way. What is tried in vain is tried in such states only: hearing an answer
/// or performing an effect is always possible and does not touch the machine, so that each of its states is quiet
/// sooner or later.
fn quiet(state: &State) -> bool {
    state.plane.live().is_some() && state.outbox.is_empty() && state.answers.is_empty()
}

fn intact(state: &State, what: Broken) -> bool {
    !state.seen.broken.contains(&what)
}

fn numbered<T: Copy>(list: &[Option<T>; 2]) -> impl Iterator<Item = (u8, T)> + '_ {
    [0, 1].into_iter().zip(list).filter_map(|(n, item)| item.map(|item| (n, item)))
}

/// Where the alert is on disk, and whether it is closed.
fn alert(state: &State) -> Option<(awakener_kernel::ids::Seq, bool)> {
    state.plane.disk().rows.find(names::message(0)).map(|(seq, row)| (seq, row.closed.is_some()))
}

const fn valid(state: &State, lease: &Lease) -> bool {
    !lease.over && state.clock < lease.until
}
