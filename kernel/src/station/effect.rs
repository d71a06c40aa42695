//! What should happen outside of a station, what an operator must hear, and what did happen.
//!
//! Types only. Every effect that asks for an answer has a ticket, and the answer comes back with it as a
//! [`super::Input`]. Rules: STN-3, STN-5, STN-6, STN-9, FUS-4, FUS-5, FUS-7.

use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

#[cfg(doc)]
use super::Input;
use super::work::{CursorAfter, GrantEnd, Hand, Lane, LatchCause, LatchId, LatchNote, Latency, MissingAudit};
use super::work::{Ticket, TripAudit};
use crate::ids::{ContentHash, Fence, MessageId};
use crate::time::Millis;
use crate::values::{AckOutcome, Finish, Response, TurnRef};

/// What should happen outside.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Effect {
    /// Reach the durable inbox (STN-5).
    ReadInbox {
        /// Answer with [`Input::InboxRead`] or [`Input::DispatchFailed`].
        ticket: Ticket,
    },
    /// Look, or keep looking by long poll, whether there is other work than this; [`Input::WorkFound`] if so.
    Poll {
        /// Work that rests or is given up.
        skip: Vec<MessageId>,
    },
    /// Claim one message and read it; answer with [`Input::Claimed`].
    Claim {
        /// For the answer.
        ticket: Ticket,
        /// Work that rests or is given up.
        skip: Vec<MessageId>,
    },
    /// Give back whatever the claim of this ticket took or may still take.
    Release {
        /// The claim's.
        ticket: Ticket,
    },
    /// Run the model. Nothing of a former run lives any more.
    StartTurn {
        /// Answer with [`Input::TurnFinished`].
        ticket: Ticket,
        /// The turn.
        turn: TurnRef,
        /// What is run.
        lane: Lane,
    },
    /// Keep the lease; [`Input::LeaseLost`] if that is refused.
    Renew {
        /// Which.
        fence: Fence,
    },
    /// Tell the mailbox how the turn ended (OBS-1).
    ReportTurn {
        /// The turn.
        turn: TurnRef,
        /// The lease.
        fence: Fence,
        /// How.
        finish: Finish,
    },
    /// Record the result in the mailbox, idempotent by turn (STN-6).
    RecordResult {
        /// Answer with [`Input::ResultRecorded`] or [`Input::ResultRefused`].
        ticket: Ticket,
        /// The turn.
        turn: TurnRef,
        /// The lease.
        fence: Fence,
        /// What.
        response: Response,
    },
    /// Sign and send the ACK `by = station`.
    SendAck {
        /// Answer with [`Input::AckAccepted`] or [`Input::AckRefused`].
        ticket: Ticket,
        /// The turn and the alert.
        turn: TurnRef,
        /// The alert's content.
        content: ContentHash,
        /// The outcome.
        outcome: AckOutcome,
        /// The lease.
        fence: Fence,
    },
    /// Bring the agent's or human's own statement to the mailbox, if it is not there already.
    ForwardAck {
        /// Answer with [`Input::AckAccepted`] or [`Input::AckRefused`].
        ticket: Ticket,
        /// The alert.
        message: MessageId,
        /// Who signed.
        by: Hand,
    },
    /// Stop what still runs of the turn, release the lease, close the flight, link receipts and audit (STN-9).
    /// Idempotent.
    CleanUp {
        /// Answer with [`Input::CleanupDone`].
        ticket: Ticket,
        /// The turn and its lease; `None` = a pass without a turn.
        turn: Option<(TurnRef, Fence)>,
    },
    /// Append the audit record of the trip, naming the latch (FUS-5).
    AppendTripAudit {
        /// Answer with [`Input::TripAuditDone`].
        ticket: Ticket,
        /// The latch.
        latch: LatchId,
        /// Why.
        cause: LatchCause,
        /// After this the answer is late.
        within: Millis,
    },
    /// Put the latch at its path: write under another name, fsync, rename, fsync the directory (FUS-4).
    WriteLatch {
        /// Answer with [`Input::LatchWritten`].
        ticket: Ticket,
        /// What stands in it.
        note: LatchNote,
    },
    /// Stop with [`super::EXIT_LATCHED`]; a process that hosts more unloads only this station.
    StopProcess,
    /// Keep the latch as an incident that outlives it (fsync).
    ArchiveLatch {
        /// Answer with [`Input::LatchArchived`].
        ticket: Ticket,
        /// What is kept.
        note: LatchNote,
    },
    /// Take the latch away (fsync the directory).
    RemoveLatch {
        /// Answer with [`Input::LatchRemoved`].
        ticket: Ticket,
        /// Which.
        latch: LatchId,
    },
    /// Say it loudly.
    TellOperator(Alarm),
}

/// What an operator must hear.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Alarm {
    /// A message has used up its attempts (STN-9).
    Stuck(MessageId),
    /// The station is latched down.
    Latched(LatchId),
    /// The audit record of a trip is missing (FUS-5).
    TripAuditMissing(LatchId, MissingAudit),
    /// The latch file could not be written; the trip record latches the next boot (FUS-6).
    LatchNotWritten(LatchId),
    /// A clear did not come to its end; the latch stays.
    ClearFailed(LatchId),
}

/// What did happen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Event {
    /// A boot.
    Recovered,
    /// A grant holds.
    Granted,
    /// The grant is over.
    GrantEnded(GrantEnd),
    /// The tail is known.
    TailKnown,
    /// ARMED→WAKING.
    Woken,
    /// →READING.
    ReadingStarted,
    /// WAKING→ARMED.
    DispatchFailed,
    /// READING→ARMED.
    NothingNew,
    /// READING→COGNIZING.
    TurnStarted,
    /// A complete turn is taken up again.
    TurnResumed,
    /// COGNIZING→ACKING or ARMED.
    TurnFinished(Finish),
    /// The result is recorded, the ACK is next.
    ResultRecorded,
    /// The target's own ACK is being closed.
    OwnAckSeen(Hand),
    /// ACKING→ARMED.
    StillOutstanding,
    /// ACKING→SYNCED.
    Synced(Latency),
    /// The turn is cleaned up: `cleanup_complete`.
    CleanedUp(CursorAfter),
    /// →REFUSED, or one more cause.
    CauseFound,
    /// One cause less.
    CauseGone,
    /// →LATCHED_DOWN.
    Latched(LatchId),
    /// The fate of the trip's audit record is known.
    TripAudited(TripAudit),
    /// The latch is written, or could not be.
    LatchSettled {
        /// Whether it is.
        written: bool,
    },
    /// A clear is under way.
    ClearAccepted,
    /// The incident is kept.
    LatchArchived,
    /// The clear failed; the latch stays.
    ClearFailed,
    /// LATCHED_DOWN→DARK.
    Cleared,
    /// The inbox is being looked at.
    Looked,
    /// The lease is being renewed.
    Renewing,
    /// A cleanup is asked for again.
    CleaningUp,
    /// The latch is written again after a boot.
    Relatching,
}
