//! Laws of what is said again: a repeat is absorbed, a contradiction refused, and nothing is skipped.
//!
//! They look at live machines only: in an open transaction the disk does not have what is repeated.

use awakener_kernel::mailbox::entry::{Closed, Entry};

use super::super::act::Call;
use super::super::input::{outcome, turn};
use super::super::{State, World};
use super::tried;
use crate::names;
use crate::world::{Edge, Law, Verdict};

/// The row of a message on disk, under a live machine.
fn row(state: &State, n: u8) -> Option<&Entry> {
    state.plane.live()?;
    state.plane.disk().rows.row(names::message(n)).map(|(_, row)| row)
}

/// Whether this claim repeats one whose lease its holder may rely on.
fn is_claimed(state: &State, call: Call) -> bool {
    let (Call::Claim(h), Some(_)) = (call, state.plane.live()) else { return false };
    state.plane.disk().image.lease.as_ref().is_some_and(|lease| {
        let valid = |known: &super::super::seen::Lease| {
            u64::from(known.fence) == lease.fence.0 && known.is_valid(state.time())
        };
        lease.holder == names::holder(h)
            && !lease.claimed.is_empty()
            && state.seen.store.leases.iter().any(valid)
    })
}

pub const CLAIM: Law<World> = Law {
    name: "INB-7 a holder that claims again has the same lease",
    holds: |_, state, edges| {
        tried(edges).all(|(call, edge)| !is_claimed(state, call) || edge.label.verdict == Verdict::Absorbed)
    },
    twin: "a holder claims what it holds",
    reached: |_, state, edges| tried(edges).any(|(call, _)| is_claimed(state, call)),
};

/// Whether this is the result that the message has.
fn is_recorded(state: &State, call: Call) -> bool {
    let Call::Respond(fence, n) = call else { return false };
    row(state, n).and_then(|row| row.response).is_some_and(|(known, _)| known == turn(fence, 0))
}

pub const RESULT: Law<World> = Law {
    name: "STN-6 a result that is said again is absorbed",
    holds: |_, state, edges| {
        tried(edges).all(|(call, edge)| !is_recorded(state, call) || edge.label.verdict == Verdict::Absorbed)
    },
    twin: "a recorded result is said again",
    reached: |_, state, edges| tried(edges).any(|(call, _)| is_recorded(state, call)),
};

/// What must come of a statement about a closed witness; `None` if it is open, or if this is no statement.
fn said_again(state: &State, call: Call) -> Option<Verdict> {
    let (n, same) = match call {
        Call::Ack(n, by, _) => (n, (outcome(by), by)),
        _ => return None,
    };
    let again = match row(state, n)?.closed? {
        Closed::Acknowledged(outcome, by, _) => (outcome, by) == same,
        Closed::OperatorResolved => false,
    };
    Some(if again { Verdict::Absorbed } else { Verdict::Refused })
}

/// The same of an operator's word.
fn resolved_again(state: &State, call: Call) -> Option<Verdict> {
    let Call::Resolve(n) = call else { return None };
    Some(match row(state, n)?.closed? {
        Closed::Acknowledged(..) => Verdict::Refused,
        Closed::OperatorResolved => Verdict::Absorbed,
    })
}

fn as_expected(state: &State, edges: &[Edge<World>], expected: fn(&State, Call) -> Option<Verdict>) -> bool {
    tried(edges).all(|(call, edge)| expected(state, call).is_none_or(|verdict| edge.label.verdict == verdict))
}

pub const ACK: Law<World> = Law {
    name: "ACK-7 an ACK that is said again is absorbed, and another one is refused",
    holds: |_, state, edges| as_expected(state, edges, said_again),
    twin: "the same ACK and another one come after the first",
    reached: |_, state, edges| {
        let expects = |verdict| tried(edges).any(|(call, _)| said_again(state, call) == Some(verdict));
        expects(Verdict::Absorbed) && expects(Verdict::Refused)
    },
};

pub const RESOLVED: Law<World> = Law {
    name: "ACK-9 an operator does not close what its target has acknowledged",
    holds: |_, state, edges| as_expected(state, edges, resolved_again),
    twin: "an operator would close what is acknowledged",
    reached: |_, state, edges| {
        tried(edges).any(|(call, _)| resolved_again(state, call) == Some(Verdict::Refused))
    },
};

/// The message whose turn or result this is, if it was never read.
fn is_unread(state: &State, call: Call) -> bool {
    let (Call::Finish(_, n, ..) | Call::Respond(_, n)) = call else { return false };
    row(state, n).is_some_and(|row| !row.read)
}

pub const UNREAD: Law<World> = Law {
    name: "INB-9 what was not read has no turn and no result",
    holds: |_, state, edges| {
        tried(edges).all(|(call, edge)| !is_unread(state, call) || edge.label.verdict == Verdict::Refused)
    },
    twin: "unread work under a lease is answered",
    reached: |_, state, edges| {
        tried(edges).any(|(call, edge)| is_unread(state, call) && edge.label.what == "not_claimed")
    },
};
