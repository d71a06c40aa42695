//! What must hold in every state of a station world, each with a state in which it has something to forbid.
//!
//! [`pass`]: one piece of work from a wake to its cleanup; [`turns`]: who may run a turn, and how often; [`latch`]: trip,
//! latch and clear; [`base`]: what holds of every machine, and who may work at all. What can only be judged at the
//! moment when it happens was judged then ([`super::seen::Broken`]).

mod base;
mod latch;
mod pass;
mod turns;

use awakener_kernel::station::{Effect, PhaseName};

use super::act::Act;
use super::outside::Out;
use super::{State, World};
use crate::world::{Edge, Law, Verdict};

type Edges = [Edge<World>];

/// Every law.
pub const LAWS: &[Law<World>] = &[
    base::STUTTERS,
    base::INVARIANTS,
    base::IMAGE,
    base::WAKES,
    base::FIRES,
    base::EDGES,
    base::AWOKE,
    base::GRANTED,
    base::REFUSED,
    base::BOUNDED,
    base::POWERLESS,
    base::ANSWERED,
    base::BUSY,
    pass::INBOX_READ,
    pass::RESULT_FIRST,
    pass::REPORT_FIRST,
    pass::NO_TURN_TWICE,
    pass::NO_REPLY_TWICE,
    pass::OBSERVED,
    pass::REPORTED,
    pass::TRUNCATED,
    pass::TIERS,
    pass::LATENCY,
    pass::CLOSED,
    pass::CLEANED_FIRST,
    pass::CLEANED_ONCE,
    pass::CLEANED_SOON,
    pass::CLEANED_WELL,
    pass::NOTHING_RUNS,
    pass::NOTHING_HELD,
    turns::ONE,
    turns::FUSE,
    turns::GROUNDS,
    turns::CIRCLE,
    turns::MAPPED,
    turns::ATTEMPTS,
    turns::RESTS,
    latch::STILL,
    latch::GOES_ON,
    latch::AUDIT_FIRST,
    latch::LOUD,
    latch::RECALLED,
    latch::NAMED,
    latch::STOPS,
    latch::LATCHES_AGAIN,
    latch::HEEDED,
    latch::FOUND,
    latch::KEPT,
    latch::ANNOUNCED,
    latch::ARCHIVED_FIRST,
    latch::OUTLIVES,
    latch::CLEARED_BY_COMMAND,
    latch::CLEAR_REPEATS,
];

/// Whether something here advances to one of these events.
fn advances(edges: &Edges, events: &[&str]) -> bool {
    edges.iter().any(|edge| edge.label.verdict == Verdict::Advanced && events.contains(&edge.label.what))
}

/// Whether work could begin here.
fn begins(edges: &Edges) -> bool {
    advances(edges, &["woken", "reading_started", "turn_started", "turn_resumed"])
}

/// Whether this is refused here, for this reason.
fn refuses(edges: &Edges, act: fn(&Act) -> bool, why: &str) -> bool {
    edges
        .iter()
        .any(|edge| edge.label.verdict == Verdict::Refused && edge.label.what == why && act(&edge.action))
}

/// What is said to this.
fn said(edges: &Edges, act: Act) -> Option<Verdict> {
    edges.iter().find(|edge| edge.action == act).map(|edge| edge.label.verdict)
}

/// Where the machine is.
fn phase(state: &State) -> Option<PhaseName> {
    state.live().map(|machine| machine.phase().name())
}

/// The effect that is carried out next.
fn first(state: &State) -> Option<&Effect> {
    match state.outbox.front() {
        Some(Out::Effect(effect)) => Some(effect),
        Some(Out::Precaution(_)) | None => None,
    }
}
