//! What must hold in every state of a mailbox world, each with a state that shows that it is not empty talk.
//!
//! By section of the contract: [`machine`] (any machine), [`admission`], [`work`], [`ack`], [`cursor`], [`emitter`],
//! [`flight`], [`repeats`]. Laws look at the ghost, at what lies on disk, and at the edges: what is tried in vain is an edge too.

mod ack;
mod admission;
mod cursor;
mod emitter;
mod flight;
mod machine;
mod repeats;
mod work;

use awakener_kernel::ids::{Seq, Tier};
use awakener_kernel::mailbox::entry::Entry;

use super::act::{Act, Call};
use super::{State, World};
use crate::names;
use crate::world::{Edge, Law, Verdict};

/// Every law.
pub const LAWS: &[Law<World>] = &[
    machine::STUTTERS,
    machine::INVARIANTS,
    machine::IMAGE,
    machine::WAKES,
    machine::FIRES,
    machine::WAITS,
    admission::ON_DISK,
    admission::GAPLESS,
    admission::ONCE,
    admission::AUTHORISED,
    admission::WITNESSED,
    admission::FORGED,
    admission::QUEUE,
    cursor::NEVER_BACK,
    cursor::GREATEST,
    cursor::BARRIER,
    cursor::REASONED,
    cursor::AGE,
    work::ONE_LEASE,
    work::FENCES,
    work::STALE,
    work::ON_DISK,
    work::LEASED,
    work::ONE_REPLY,
    work::REPLY_ON_DISK,
    work::SHRUG,
    work::ATTEMPTS,
    work::SET_ASIDE,
    work::TOLD,
    work::AGED,
    work::ONE_END,
    ack::ON_DISK,
    ack::ONLY_ACK,
    ack::GENUINE,
    ack::EARNED,
    ack::OBSERVED,
    ack::OPERATOR,
    ack::ONCE,
    ack::FORGED,
    emitter::RISE,
    emitter::RISE_AFTER_RESTORE,
    emitter::ON_DISK,
    emitter::STARTED,
    emitter::OUTSTANDING,
    emitter::BOUNDED,
    emitter::AUTHORISED,
    emitter::CLOCK,
    emitter::FORGED,
    emitter::ONE_FATE,
    flight::ONE_PERMIT,
    flight::FENCES,
    flight::ON_DISK,
    flight::AUTHORISED,
    flight::STALE,
    flight::ONE_FLIGHT,
    flight::PERMITTED,
    flight::ENDS,
    flight::ONE_OUTCOME,
    flight::OFFICE,
    repeats::CLAIM,
    repeats::RESULT,
    repeats::ACK,
    repeats::RESOLVED,
    repeats::UNREAD,
];

/// The calls that were tried, with what came of them.
fn tried(edges: &[Edge<World>]) -> impl Iterator<Item = (Call, &Edge<World>)> {
    edges.iter().filter_map(|edge| match edge.action {
        Act::Call(call) => Some((call, edge)),
        _ => None,
    })
}

/// Whether it moved the machine.
fn advances(edge: &Edge<World>) -> bool {
    edge.label.verdict == Verdict::Advanced
}

/// Whether every forgery of this kind is refused.
fn all_refused(edges: &[Edge<World>], of: fn(super::act::Forgery) -> bool) -> bool {
    tried(edges).all(|(call, edge)| {
        !matches!(call, Call::Forge(forgery) if of(forgery)) || edge.label.verdict == Verdict::Refused
    })
}

/// Whether this store has only ever gone on, and never been replaced by a copy.
fn is_first(state: &State) -> bool {
    state.seen.restored.is_none()
}

/// The rows on disk.
fn rows(state: &State) -> impl Iterator<Item = (Seq, u8, &Entry)> {
    let rows = state.plane.disk().rows.messages.iter();
    rows.map(|(seq, row)| (*seq, names::message_number(row.id), row))
}

/// The alerts among them.
fn alerts(state: &State) -> impl Iterator<Item = (Seq, u8, &Entry)> {
    rows(state).filter(|(_, _, row)| row.tier == Tier::Zero)
}

/// A place as the ghost knows it.
fn place(seq: Seq) -> u8 {
    u8::try_from(seq.get()).unwrap_or(u8::MAX)
}
