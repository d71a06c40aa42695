//! What can happen to a station.
//!
//! Types only; the judgement is in [`super::step`]. An input that answers an effect carries the effect's ticket.
//! Rules: STN-3, STN-4, STN-6, FUS-4, FUS-7.

use awakener_spec::Reason;
use serde::{Deserialize, Serialize};

#[cfg(doc)]
use super::effect::Effect;
use super::evidence::Evidence;
use super::work::{Answer, CursorAfter, Hand, Lane, LatchId, RefusedCause, Tail, Ticket, Work};
use crate::ids::{CommandId, ContentHash, Fence, MessageId, Seq, TurnId, WakeId};
use crate::time::Wall;

/// What can happen.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Input {
    /// An authorised operator arms the target, or moves the end of its grant.
    Grant {
        /// The new end.
        until: Wall,
        /// The command.
        command: CommandId,
    },
    /// An operator takes the grant away.
    Disarm,
    /// An operator takes the grant away and wants everything stopped.
    Abort,
    /// The operator records the tail before a measured test (STN-7).
    MarkTail {
        /// The last sequence that is backlog.
        tail: Tail,
    },
    /// An accepted wake. Its content is not work (STN-5).
    Hint {
        /// Which.
        wake: WakeId,
    },
    /// A poll or long poll saw work.
    WorkFound,
    /// The durable inbox was reached.
    InboxRead {
        /// Of [`Effect::ReadInbox`].
        ticket: Ticket,
    },
    /// The inbox could not be reached.
    DispatchFailed {
        /// Of [`Effect::ReadInbox`].
        ticket: Ticket,
    },
    /// What the claim gave.
    Claimed {
        /// Of [`Effect::Claim`].
        ticket: Ticket,
        /// The id for a turn, should one start.
        turn: TurnId,
        /// Who would run it.
        lane: Lane,
        /// Work under a held lease; `None` = nothing to claim, or the lease is another's.
        work: Option<Work>,
    },
    /// The mailbox no longer honours the lease.
    LeaseLost {
        /// Which.
        fence: Fence,
    },
    /// The turn is over.
    TurnFinished {
        /// Of [`Effect::StartTurn`], or of the pass.
        ticket: Ticket,
        /// What was seen of it.
        evidence: Evidence,
        /// What it has to say. Without it no turn is complete; a truncated one with it may be handled for the queue.
        answer: Option<Answer>,
    },
    /// The mailbox has the result.
    ResultRecorded {
        /// Of [`Effect::RecordResult`].
        ticket: Ticket,
    },
    /// The mailbox refused the result.
    ResultRefused {
        /// Of [`Effect::RecordResult`].
        ticket: Ticket,
        /// Why.
        why: Reason,
    },
    /// The mailbox accepted the ACK.
    AckAccepted {
        /// Of [`Effect::SendAck`] or [`Effect::ForwardAck`].
        ticket: Ticket,
    },
    /// The mailbox refused the ACK.
    AckRefused {
        /// Of [`Effect::SendAck`] or [`Effect::ForwardAck`].
        ticket: Ticket,
        /// Why.
        why: Reason,
    },
    /// The target's own valid ACK, signed by the agent or a human.
    OwnAck {
        /// Of which alert.
        message: MessageId,
        /// Its place.
        seq: Seq,
        /// By whom.
        by: Hand,
    },
    /// The turn is cleaned up (STN-9).
    CleanupDone {
        /// Of [`Effect::CleanUp`].
        ticket: Ticket,
        /// Where the cursor is now.
        cursor: CursorAfter,
    },
    /// Something forbids work.
    CauseFound {
        /// What.
        cause: RefusedCause,
    },
    /// It no longer does.
    CauseGone {
        /// What.
        cause: RefusedCause,
    },
    /// Something lies at the latch path (FUS-6).
    LatchFound {
        /// A name for it, if it has none that can be read.
        latch: LatchId,
    },
    /// What became of the audit record of a trip.
    TripAuditDone {
        /// Of [`Effect::AppendTripAudit`].
        ticket: Ticket,
        /// Its hash, or why it could not be appended.
        result: Result<ContentHash, Reason>,
    },
    /// What became of the latch file.
    LatchWritten {
        /// Of [`Effect::WriteLatch`].
        ticket: Ticket,
        /// Whether it is at its path and fsynced.
        ok: bool,
    },
    /// An authorised operator clears the latch (FUS-7).
    Clear {
        /// The command; its audit record exists.
        command: CommandId,
    },
    /// What became of the incident.
    LatchArchived {
        /// Of [`Effect::ArchiveLatch`].
        ticket: Ticket,
        /// Whether it is archived and fsynced.
        ok: bool,
    },
    /// What became of the latch file that was to go.
    LatchRemoved {
        /// Of [`Effect::RemoveLatch`].
        ticket: Ticket,
        /// Whether it is gone and its directory fsynced.
        ok: bool,
    },
    /// A deadline is due.
    Fire,
}

impl Input {
    /// The ticket that it answers, if it answers one.
    pub const fn ticket(&self) -> Option<Ticket> {
        match self {
            Self::InboxRead { ticket }
            | Self::DispatchFailed { ticket }
            | Self::Claimed { ticket, .. }
            | Self::TurnFinished { ticket, .. }
            | Self::ResultRecorded { ticket }
            | Self::ResultRefused { ticket, .. }
            | Self::AckAccepted { ticket }
            | Self::AckRefused { ticket, .. }
            | Self::CleanupDone { ticket, .. }
            | Self::TripAuditDone { ticket, .. }
            | Self::LatchWritten { ticket, .. }
            | Self::LatchArchived { ticket, .. }
            | Self::LatchRemoved { ticket, .. } => Some(*ticket),
            Self::Grant { .. }
            | Self::Disarm
            | Self::Abort
            | Self::MarkTail { .. }
            | Self::Hint { .. }
            | Self::WorkFound
            | Self::LeaseLost { .. }
            | Self::OwnAck { .. }
            | Self::CauseFound { .. }
            | Self::CauseGone { .. }
            | Self::LatchFound { .. }
            | Self::Clear { .. }
            | Self::Fire => None,
        }
    }
}
