//! Laws of the acknowledgement: what closes a witness, and what does not.

use awakener_kernel::mailbox::entry::Closed;
use awakener_kernel::values::{By, Finish};

use super::super::World;
use super::super::act::{Act, Call, Forgery};
use super::super::outside::bit;
use super::super::seen::{Broken, Closing};
use super::{advances, alerts, all_refused, rows, tried};
use crate::names;
use crate::world::{Law, Verdict};

pub const ON_DISK: Law<World> = Law {
    name: "ACK-3 a closing that was answered is on disk",
    holds: |_, state, _| {
        state.seen.store.numbered().all(|(n, mail)| {
            let closed = state.plane.disk().rows.row(names::message(n)).and_then(|(_, row)| row.closed);
            !mail.told
                || match (mail.closed, closed) {
                    (Some(Closing::Acked(outcome, by)), Some(Closed::Acknowledged(o, b, _))) => {
                        (outcome, by) == (o, b)
                    }
                    (Some(Closing::Resolved), Some(Closed::OperatorResolved)) => true,
                    (_, _) => false,
                }
        })
    },
    twin: "an ACK was answered, and the machine is down",
    reached: |_, state, _| state.plane.is_down() && state.seen.store.mail.iter().any(|mail| mail.told),
};

pub const ONLY_ACK: Law<World> = Law {
    name: "ACK-3 a witness is closed by an ACK or by an operator, never by a reply, by quarantine, or by age",
    holds: |_, state, _| {
        alerts(state).all(|(_, n, row)| row.closed.is_none() || state.seen.store.mail(n).closed.is_some())
    },
    twin: "an alert is answered and open",
    reached: |_, state, _| alerts(state).any(|(_, _, row)| row.response.is_some() && row.closed.is_none()),
};

pub const GENUINE: Law<World> = Law {
    name: "ACK-3 an ACK closes only what its target signed, an operator only what it was asked to",
    holds: |_, state, _| {
        rows(state).all(|(_, n, row)| {
            row.closed.is_none_or(|closed| match closed {
                Closed::Acknowledged(..) => state.outside.presented & bit::<u8>(n) != 0,
                Closed::OperatorResolved => state.outside.operated & bit::<u8>(n) != 0,
            })
        })
    },
    twin: "two alerts, and one of them is closed",
    reached: |_, state, _| {
        alerts(state).any(|(_, _, row)| row.closed.is_some())
            && alerts(state).any(|(_, _, row)| row.closed.is_none())
    },
};

pub const EARNED: Law<World> = Law {
    name: "ACK-5 an ACK is accepted only for what was done",
    holds: |_, state, _| state.seen.restored.is_some() || state.seen.intact(Broken::Unearned),
    twin: "an ACK is refused that its signer has not earned",
    reached: |_, _, edges| {
        tried(edges).any(|(call, edge)| {
            matches!(call, Call::Ack(..))
                && matches!(edge.label.what, "ack_not_read" | "ack_no_response" | "ack_not_complete")
        })
    },
};

pub const OBSERVED: Law<World> = Law {
    name: "OBS-1 no station acknowledges after a turn that is not complete",
    holds: |_, state, edges| {
        let incomplete = |n: u8| state.seen.store.mail(n).turn != Some(Finish::Complete);
        // In an open transaction the ghost does not know yet how turns ended.
        state.plane.live().is_none()
            || tried(edges).all(|(call, edge)| {
                !matches!(call, Call::Ack(n, By::Station, _) if incomplete(n)) || !advances(edge)
            })
    },
    twin: "a truncated turn has a result, and its station acknowledges",
    reached: |_, state, edges| {
        tried(edges).any(|(call, edge)| {
            edge.label.what == "ack_not_complete"
                && matches!(call, Call::Ack(n, By::Station, _) if {
                    let mail = state.seen.store.mail(n);
                    mail.responded && mail.turn == Some(Finish::Truncated)
                })
        })
    },
};

pub const OPERATOR: Law<World> = Law {
    name: "ACK-9 what an operator resolved is never shown as an ACK, and the other way round",
    holds: |_, state, _| {
        rows(state).all(|(_, n, row)| match (row.closed, state.seen.store.mail(n).closed) {
            (Some(Closed::Acknowledged(..)), Some(how)) => matches!(how, Closing::Acked(..)),
            (Some(Closed::OperatorResolved), Some(how)) => how == Closing::Resolved,
            (_, _) => true,
        })
    },
    twin: "an operator resolved an alert that its target acknowledges too",
    reached: |_, state, edges| {
        tried(edges).any(|(call, _)| {
            matches!(call, Call::Ack(n, ..) if state.seen.store.mail(n).closed == Some(Closing::Resolved))
        })
    },
};

pub const ONCE: Law<World> = Law {
    name: "ACK-7 a closed witness is not closed again",
    holds: |_, state, edges| {
        let closed =
            |n: u8| state.plane.disk().rows.row(names::message(n)).is_some_and(|(_, r)| r.closed.is_some());
        state.seen.intact(Broken::ClosedTwice)
            && tried(edges).all(|(call, edge)| {
                !matches!(call, Call::Ack(n, ..) | Call::Resolve(n) if closed(n)) || !advances(edge)
            })
    },
    twin: "an ACK with another outcome comes after the first",
    reached: |_, _, edges| {
        tried(edges)
            .any(|(call, edge)| matches!(call, Call::Ack(..)) && edge.label.what == "already_acknowledged")
            && tried(edges)
                .any(|(call, edge)| matches!(call, Call::Ack(..)) && edge.label.verdict == Verdict::Absorbed)
    },
};

pub const FORGED: Law<World> = Law {
    name: "ACK-6 forged and misplaced statements and work are refused",
    holds: |_, _, edges| all_refused(edges, is_work),
    twin: "an alert that was read is attacked",
    reached: |_, state, edges| {
        alerts(state).any(|(_, _, row)| row.read && row.closed.is_none())
            && edges
                .iter()
                .any(|edge| matches!(edge.action, Act::Call(Call::Forge(Forgery::AckBadSignature))))
    },
};

const fn is_work(forgery: Forgery) -> bool {
    matches!(
        forgery,
        Forgery::AckForeignKey(_)
            | Forgery::AckRevokedKey
            | Forgery::AckBadSignature
            | Forgery::AckOtherTarget
            | Forgery::AckOtherContent
            | Forgery::AckFuture
            | Forgery::AckOtherTier(_)
            | Forgery::AckUnknown
            | Forgery::AckWithoutLease
            | Forgery::ReadWithoutLease(_)
            | Forgery::RespondWithoutLease(_)
    )
}
