//! What a station works on, and the small values of a pass: ticket, turn, answer, latch.
//!
//! Values only. Not here: bodies, directives and reply texts (rows, known by their hashes). Rules: STN-6, OBS-2, FUS-5.

use awakener_spec::Reason;
use serde::{Deserialize, Serialize};
use smol_str::SmolStr;

use crate::fuse::{self, Trip};
use crate::ids::{CommandId, ContentHash, Fence, MessageId, Seq, Tier, TurnId};
use crate::time::Wall;
use crate::values::{AckOutcome, Response, TurnRef};

/// Names one act outside whose completion the station waits for; a late completion is told by it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Ticket {
    /// The boot that issued it.
    pub epoch: u32,
    /// Counted from 1 within the boot.
    pub number: u32,
}

/// Claimed work, under a lease that is held.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Work {
    /// Its place in the inbox.
    pub seq: Seq,
    /// Its tier.
    pub tier: Tier,
    /// SHA-256 of the whole submission; an ACK names it.
    pub content: ContentHash,
    /// The lease (INB-7).
    pub fence: Fence,
    /// How often an operator gave it back after quarantine; more than before means fresh attempts.
    pub released: u32,
    /// A complete turn whose result the mailbox has (STN-3, READING→ACKING).
    pub prior: Option<Prior>,
    /// The message and its causes, for the fuse.
    pub cause: fuse::Work,
}

impl Work {
    /// The message.
    pub const fn message(&self) -> MessageId {
        self.cause.message
    }
}

/// A complete turn with a recorded result, as the mailbox knows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Prior {
    /// The turn.
    pub turn: TurnId,
    /// Its result.
    pub response: Response,
}

/// What a complete turn has to say: the result that is recorded first, and the outcome that the ACK states after it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Answer {
    /// The result.
    pub response: Response,
    /// For the ACK of a Tier-0 message.
    pub outcome: AckOutcome,
}

impl From<Prior> for Answer {
    fn from(prior: Prior) -> Self {
        let outcome = match prior.response {
            Response::Reply(_) | Response::Done => AckOutcome::Handled,
            Response::Silence => AckOutcome::Silence,
        };
        Self { response: prior.response, outcome }
    }
}

/// A turn with everything that its ACK needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Pass {
    /// The turn and its message.
    pub turn: TurnRef,
    /// The message's place.
    pub seq: Seq,
    /// Its tier.
    pub tier: Tier,
    /// Its content.
    pub content: ContentHash,
    /// The lease.
    pub fence: Fence,
}

/// The name of a model as the configuration spells it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Model(pub SmolStr);

/// What the explicit map says of a model (OBS-2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Mapped {
    /// Context window in tokens.
    pub window: u32,
    /// Tokens that one turn may use.
    pub budget: u32,
}

/// Who runs the turn (STN-8).
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Lane {
    /// A runner of this station.
    Hosted {
        /// SHA-256 of the exact directive.
        directive: ContentHash,
        /// The model.
        model: Model,
        /// Its line in the map; `None` = there is none, and no turn starts.
        mapped: Option<Mapped>,
    },
    /// The agent itself, which does not report.
    Attached,
}

/// A hand other than the station's that signs an ACK (ACK-3).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Hand {
    /// The agent.
    Agent,
    /// A human.
    Human,
}

/// Whether the latency of a message may be measured (STN-7).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Latency {
    /// It came after the recorded tail.
    Measured,
    /// It may not.
    Unmeasured(Unmeasured),
}

/// The place of the last message that is backlog; 0 = the inbox was empty when the tail was recorded (STN-7).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Tail(pub u64);

/// Why a latency is not measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Unmeasured {
    /// It lies at or below the tail, or no tail was recorded.
    Backlog,
}

/// Names a latch. It is the id that the turn which the fuse forbade would have had.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct LatchId(pub TurnId);

/// Why a station is latched.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LatchCause {
    /// The fuse tripped before a turn on this message.
    Tripped {
        /// The message.
        message: MessageId,
        /// What tripped.
        trip: Trip,
    },
    /// Something was found at the latch path, readable or not (FUS-6).
    Found,
}

/// What became of the audit record of a trip (FUS-5).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TripAudit {
    /// Its hash.
    Recorded(ContentHash),
    /// It is missing, and why.
    Missing(MissingAudit),
}

/// Why the audit record of a trip is missing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MissingAudit {
    /// The append failed; the reason is the store's.
    Failed(Reason),
    /// No answer came within [`super::AUDIT_WITHIN`].
    Late,
    /// The process ended before an answer came.
    Interrupted,
    /// The latch was found, not written by this station's own trip.
    Found,
}

/// What is written at the latch path.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct LatchNote {
    /// The latch; the audit record of the trip names it.
    pub latch: LatchId,
    /// Why.
    pub cause: LatchCause,
    /// When.
    pub at: Wall,
    /// The audit record, or that it is missing and why.
    pub audit: TripAudit,
}

/// How a grant ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GrantEnd {
    /// By an operator.
    Disarmed,
    /// By an operator, at once.
    Aborted,
    /// By its own end.
    Expired,
    /// With the clearing of a latch: work starts again only by a new grant.
    Cleared,
}

/// A durable permission to work (STN-2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Grant {
    /// When it ends.
    pub until: Wall,
    /// The operator command that gave it.
    pub command: CommandId,
}

/// Why an armed station does nothing (REFUSED).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RefusedCause {
    /// Nothing can be recorded.
    AuditUnavailable,
    /// The configuration is not valid.
    ConfigInvalid,
}

/// Where the cursor stands after a cleanup.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CursorAfter {
    /// It moved.
    Moved,
    /// An earlier message pins it.
    Pinned,
}
