//! Laws of admission: durable before it is said, once, gapless, with authority, with its witness.

use awakener_kernel::ids::Tier;

use super::super::World;
use super::super::act::{Act, Call, Forgery, Right};
use super::super::seen::Broken;
use super::{advances, alerts, all_refused, place, rows, tried};
use crate::names;
use crate::world::{Law, Verdict};

pub const ON_DISK: Law<World> = Law {
    name: "INB-1 what was answered as admitted is on disk",
    holds: |_, state, _| {
        state.seen.store.numbered().all(|(n, mail)| {
            mail.place.is_none_or(|said| rows(state).any(|(seq, row, _)| (place(seq), row) == (said, n)))
        })
    },
    twin: "a message was admitted, and the machine is down",
    reached: |_, state, _| {
        state.plane.is_down() && state.seen.store.mail.iter().any(|mail| mail.place.is_some())
    },
};

pub const GAPLESS: Law<World> = Law {
    name: "INB-2 places are gapless from 1",
    holds: |_, state, _| rows(state).zip(1..).all(|((seq, ..), awaited)| seq.get() == awaited),
    twin: "there are two messages",
    reached: |_, state, _| rows(state).count() > 1,
};

pub const ONCE: Law<World> = Law {
    name: "ADM-7 nothing is admitted twice, and a repeat hears the first result",
    holds: |_, state, edges| {
        let known = |n: u8| state.seen.store.mail(n).place.is_some();
        state.seen.intact(Broken::Twice)
            && tried(edges).all(|(call, edge)| {
                !matches!(call, Call::Submit(n) if known(n)) || edge.label.verdict == Verdict::Absorbed
            })
            && rows(state).all(|(seq, n, _)| rows(state).all(|(other, m, _)| seq == other || n != m))
    },
    twin: "an admitted message is submitted again",
    reached: |_, state, edges| {
        tried(edges)
            .any(|(call, _)| matches!(call, Call::Submit(n) if state.seen.store.mail(n).place.is_some()))
    },
};

pub const AUTHORISED: Law<World> = Law {
    name: "ADM-3 no alert is admitted that the roster does not list, or while Tier-0 is closed",
    holds: |world, state, edges| {
        let authority = state.outside.authority();
        (authority.rostered && authority.open)
            || tried(edges).all(|(call, edge)| {
                !matches!(call, Call::Submit(n) if world.bounds.tier(n) == Tier::Zero) || !advances(edge)
            })
    },
    twin: "an alert is refused that would be admitted otherwise",
    reached: |world, state, edges| {
        let withdrawn = !state.outside.has(Right::Roster) || !state.outside.authority().open;
        withdrawn
            && tried(edges).any(|(call, edge)| {
                matches!(call, Call::Submit(n) if world.bounds.tier(n) == Tier::Zero)
                    && edge.label.verdict == Verdict::Refused
            })
    },
};

pub const WITNESSED: Law<World> = Law {
    name: "ACK-1 an alert on disk has its witness until it is closed",
    holds: |_, state, _| {
        let image = &state.plane.disk().image;
        alerts(state).all(|(seq, n, row)| {
            let witness = image.witnesses.get(&seq);
            witness.is_some() == row.closed.is_none()
                && witness.is_none_or(|witness| witness.message == names::message(n))
        }) && image.witnesses.len() <= alerts(state).count()
    },
    twin: "an alert is on disk that nobody has read",
    reached: |_, state, _| alerts(state).any(|(_, _, row)| !row.read),
};

pub const QUEUE: Law<World> = Law {
    name: "PRT-2 a sender has as many unfinished messages as its queue holds, and no more",
    holds: |world, state, edges| {
        let rows = state.plane.inside().rows.messages.values();
        let unfinished = rows.filter(|row| row.finished.is_none()).count();
        tried(edges).all(|(call, edge)| {
            let Call::Submit(n) = call else { return true };
            // Alerts have places of their own beyond those of all mail.
            let alert = world.bounds.tier(n) == Tier::Zero;
            let room = world.bounds.queue.saturating_mul(1 + u32::from(alert));
            let full = u32::try_from(unfinished).is_ok_and(|unfinished| unfinished >= room);
            match edge.label.what {
                "admitted" => !full,
                "queue_full" => full,
                _ => true,
            }
        })
    },
    twin: "a message is refused because its sender's queue is full",
    reached: |_, _, edges| tried(edges).any(|(_, edge)| edge.label.what == "queue_full"),
};

pub const FORGED: Law<World> = Law {
    name: "ADM-2 a submission that must be refused is refused",
    holds: |_, _, edges| all_refused(edges, is_submission),
    twin: "a known message comes with other content",
    reached: |_, _, edges| {
        edges.iter().any(|edge| matches!(edge.action, Act::Call(Call::Forge(Forgery::SubmitOtherContent(_)))))
    },
};

const fn is_submission(forgery: Forgery) -> bool {
    matches!(
        forgery,
        Forgery::SubmitOtherContent(_)
            | Forgery::SubmitTakenId
            | Forgery::SubmitStranger
            | Forgery::SubmitWithoutRoster
            | Forgery::SubmitMalformedRoster
            | Forgery::SubmitExpiredRoster
            | Forgery::SubmitSelfWake
            | Forgery::SubmitCannotAck
            | Forgery::SubmitLostLease
            | Forgery::SubmitEcho
    )
}
