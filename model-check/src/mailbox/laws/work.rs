//! Laws of leases, turns, results, attempts and quarantine.

use awakener_kernel::ids::Tier;
use awakener_kernel::values::Finish;

use super::super::World;
use super::super::act::Call;
use super::super::outside::bit;
use super::super::seen::Broken;
use super::{advances, alerts, is_first, rows, tried};
use crate::names;
use crate::world::Law;

pub const ONE_LEASE: Law<World> = Law {
    name: "INB-7 no unfinished message is under two leases that their holders may rely on",
    holds: |_, state, _| {
        let time = state.time();
        rows(state).all(|(_, n, row)| {
            let covers =
                |lease: &&super::super::seen::Lease| lease.is_valid(time) && lease.covers & bit::<u8>(n) != 0;
            row.finished.is_some() || state.seen.store.leases.iter().filter(covers).count() <= 1
        })
    },
    twin: "a lease is valid, and it is not the first",
    reached: |_, state, _| {
        let leases = &state.seen.store.leases;
        leases.len() > 1 && leases.iter().any(|lease| lease.is_valid(state.time()))
    },
};

pub const FENCES: Law<World> = Law {
    name: "INB-7 the fences of leases only rise",
    holds: |_, state, _| state.seen.intact(Broken::LeaseFence),
    twin: "there were two leases",
    reached: |_, state, _| state.seen.store.leases.len() > 1,
};

pub const STALE: Law<World> = Law {
    name: "INB-7 a stale fence has no power",
    holds: |_, state, edges| {
        let clock = &state.outside.clock;
        let stale =
            state.seen.store.stale(clock.time, clock.stepped).fold(0_u16, |all, f| all | bit::<u16>(f));
        // A copy of the disk has forgotten fences that it gives again: then the old ones cannot be told from the new.
        !is_first(state)
            || stale == 0
            || tried(edges).all(|(call, edge)| {
                call.fence().is_none_or(|fence| stale & bit::<u16>(fence) == 0) || !advances(edge)
            })
    },
    twin: "a stale fence is tried while another lease is valid",
    reached: |_, state, edges| {
        let clock = &state.outside.clock;
        let stale = state.seen.store.stale(clock.time, clock.stepped).next();
        stale.is_some_and(|stale| tried(edges).any(|(call, _)| call.fence() == Some(stale)))
            && state.seen.store.leases.iter().any(|lease| lease.is_valid(clock.time))
    },
};

pub const ON_DISK: Law<World> = Law {
    name: "INB-7 a lease that was answered is on disk",
    holds: |_, state, _| {
        let last = state.plane.disk().image.lease_fence.0;
        state.seen.store.leases.iter().all(|lease| u64::from(lease.fence) <= last)
    },
    twin: "a lease was answered, and the machine is down",
    reached: |_, state, _| state.plane.is_down() && !state.seen.store.leases.is_empty(),
};

pub const LEASED: Law<World> = Law {
    name: "INB-7 nothing is read, ended or answered but under a live lease on it",
    holds: |_, state, _| !is_first(state) || state.seen.intact(Broken::Unleased),
    twin: "a read message is answered again or late",
    reached: |_, state, edges| {
        tried(edges).any(|(call, edge)| {
            matches!(call, Call::Respond(_, n) if state.seen.store.mail(n).read) && !advances(edge)
        })
    },
};

pub const ONE_REPLY: Law<World> = Law {
    name: "STN-6 no message is answered twice",
    holds: |_, state, edges| {
        let answered = |n: u8| state.seen.store.mail(n).responded;
        state.seen.intact(Broken::RepliedTwice)
            && (state.plane.is_staged()
                || tried(edges).all(|(call, edge)| {
                    !matches!(call, Call::Respond(_, n) if answered(n)) || !advances(edge)
                }))
    },
    twin: "an answered alert is claimed again",
    reached: |_, state, _| {
        let lease = state.seen.store.leases.last().filter(|lease| lease.fence > 1);
        lease.is_some_and(|lease| {
            state.seen.store.numbered().any(|(n, mail)| mail.responded && lease.covers & bit::<u8>(n) != 0)
        })
    },
};

pub const REPLY_ON_DISK: Law<World> = Law {
    name: "INB-9 a result that was said to be recorded is on disk",
    holds: |_, state, _| {
        state.seen.store.numbered().all(|(n, mail)| {
            let row = state.plane.disk().rows.row(names::message(n));
            !mail.replied || row.is_some_and(|(_, row)| row.response.is_some())
        })
    },
    twin: "a result was said to be recorded, and the machine is down",
    reached: |_, state, _| state.plane.is_down() && state.seen.store.mail.iter().any(|mail| mail.replied),
};

pub const SHRUG: Law<World> = Law {
    name: "ACK-5 an alert is not answered with `done`",
    holds: |_, state, edges| {
        state.seen.intact(Broken::Shrugged)
            && tried(edges).all(|(call, edge)| !matches!(call, Call::Shrug(..)) || !advances(edge))
    },
    twin: "the answer `done` is refused to a read alert",
    reached: |_, state, edges| {
        tried(edges).any(|(call, edge)| {
            matches!(call, Call::Shrug(_, n) if state.seen.store.mail(n).read)
                && edge.label.what == "response_required"
        })
    },
};

pub const ATTEMPTS: Law<World> = Law {
    name: "INB-8 attempts are bounded until an operator gives the message back",
    holds: |world, state, _| {
        // Work with a result has one attempt more, for its ACK.
        let most = |mail: &super::super::seen::Mail| world.bounds.attempts + u32::from(mail.responded);
        state.seen.store.mail.iter().all(|mail| u32::from(mail.reads) <= most(mail))
    },
    twin: "all attempts are used up by reads",
    reached: |world, state, _| {
        let used_up = |mail: &super::super::seen::Mail| u32::from(mail.reads) >= world.bounds.attempts;
        state.seen.store.mail.iter().any(used_up)
    },
};

pub const SET_ASIDE: Law<World> = Law {
    name: "INB-8 quarantine never closes a witness, and what is set aside is not worked on",
    holds: |_, state, edges| {
        let image = &state.plane.disk().image;
        let aside = |n: u8| {
            let row = state.plane.inside().rows.row(names::message(n));
            row.is_some_and(|(_, row)| row.quarantined)
        };
        alerts(state).all(|(seq, n, row)| {
            let open = row.closed.is_none() && row.finished.is_none() && image.witnesses.contains_key(&seq);
            !row.quarantined || open || state.seen.store.mail(n).closed.is_some()
        }) && tried(edges).all(|(call, edge)| {
            let works =
                matches!(call, Call::Read(_, n) | Call::Finish(_, n, ..) | Call::Respond(_, n) if aside(n));
            !works || !advances(edge)
        })
    },
    twin: "an alert is set aside, and work on it is tried",
    reached: |_, state, edges| {
        alerts(state).any(|(_, _, row)| row.quarantined && row.closed.is_none())
            && tried(edges).any(|(call, _)| matches!(call, Call::Read(..)))
    },
};

pub const TOLD: Law<World> = Law {
    name: "INB-8 the commit that sets a message aside tells the operator",
    holds: |_, state, _| state.seen.intact(Broken::Untold),
    twin: "plain mail and an alert are set aside",
    reached: |_, state, _| {
        let aside =
            |zero: bool| rows(state).any(|(_, _, row)| row.quarantined && (row.tier == Tier::Zero) == zero);
        aside(true) && aside(false)
    },
};

pub const AGED: Law<World> = Law {
    name: "ACK-9 the age of an alert is told to the operator, once, and closes nothing",
    holds: |_, state, _| {
        let image = &state.plane.disk().image;
        state.seen.intact(Broken::Unescalated)
            && alerts(state).all(|(seq, n, _)| {
                state.seen.store.mail(n).closed.is_some() || image.witnesses.contains_key(&seq)
            })
    },
    twin: "an alert is old enough for the operator",
    reached: |_, _, edges| tried(edges).any(|(_, edge)| edge.label.what == "escalated"),
};

pub const ONE_END: Law<World> = Law {
    name: "RCP-2 a turn ends in one way only",
    holds: |_, state, _| state.seen.intact(Broken::TwoEnds),
    twin: "another end of a turn is refused",
    reached: |_, state, edges| {
        let complete = state.seen.store.turns.iter().any(|turn| turn.3 == Finish::Complete);
        complete && tried(edges).any(|(_, edge)| edge.label.what == "result_conflict")
    },
};
