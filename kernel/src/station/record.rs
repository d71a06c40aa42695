//! The durable facts of a station; what they amount to is [`super::Image`].
//!
//! Rules: OBS-1 and OBS-2 (what is kept of a turn), FUS-2, FUS-5, STN-6, STN-7.

use awakener_spec::Reason;
use serde::{Deserialize, Serialize};

use super::evidence::Evidence;
use super::work::{Answer, Grant, GrantEnd, Lane, LatchCause, LatchId, Pass, Tail, TripAudit};
use crate::fuse;
use crate::ids::{CommandId, MessageId, TurnId};
use crate::time::Wall;
use crate::values::{Finish, TurnRef};

/// One durable fact of a station.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Record {
    /// A boot.
    Booted {
        /// Its number.
        epoch: u32,
    },
    /// An operator armed the target, or set another end.
    Granted {
        /// The grant.
        grant: Grant,
    },
    /// The grant is over.
    GrantEnded {
        /// How.
        end: GrantEnd,
    },
    /// The known tail (STN-7).
    TailKnown {
        /// The last sequence that is backlog.
        tail: Tail,
    },
    /// A turn is about to start; counted before it does (FUS-2).
    TurnStarted {
        /// What runs.
        pass: Pass,
        /// What the fuse judged.
        work: fuse::Work,
        /// Directive, model, window, budget (OBS-2).
        lane: Lane,
        /// How often an operator had given the message back.
        released: u32,
        /// When.
        at: Wall,
    },
    /// A turn is over; verdict and evidence, even where they disagree (OBS-1, OBS-2).
    TurnFinished {
        /// The turn.
        turn: TurnRef,
        /// The verdict.
        finish: Finish,
        /// The evidence.
        evidence: Evidence,
        /// What a complete turn has to say.
        answer: Option<Answer>,
        /// When.
        at: Wall,
    },
    /// A turn whose end nobody saw: the station crashed.
    TurnLost {
        /// The turn.
        turn: TurnRef,
        /// When that was found.
        at: Wall,
    },
    /// A complete turn is taken up again where its pass ended.
    TurnResumed {
        /// What is closed now.
        pass: Pass,
        /// What it has to say.
        answer: Answer,
        /// When.
        at: Wall,
    },
    /// A pass did not close its message, which now rests (STN-9).
    PassFailed {
        /// The message.
        message: MessageId,
        /// Why, if a reason was given.
        why: Option<Reason>,
        /// Until when.
        rests_until: Wall,
        /// When.
        at: Wall,
    },
    /// The result of a complete turn is in the mailbox.
    ResultRecorded {
        /// The turn.
        turn: TurnRef,
    },
    /// The message is closed.
    Synced {
        /// Which.
        message: MessageId,
    },
    /// The turn is cleaned up.
    CleanedUp {
        /// Which; `None` = a pass without a turn.
        turn: Option<TurnId>,
    },
    /// The fuse tripped, or something lay at the latch path. From here on no turn starts.
    Latched {
        /// The latch.
        latch: LatchId,
        /// Why.
        cause: LatchCause,
        /// When.
        at: Wall,
    },
    /// What became of the audit record of the trip.
    TripAudited {
        /// Its hash, or why there is none.
        audit: TripAudit,
    },
    /// The latch file is written.
    LatchWritten,
    /// A command to clear was accepted (FUS-7).
    ClearAccepted {
        /// Which.
        command: CommandId,
    },
    /// The latch is kept as an incident.
    LatchArchived,
    /// The latch is gone.
    LatchCleared {
        /// By which command.
        command: CommandId,
    },
}
