//! What the machines say to each other: hint, question and permit, work, ACK.
//!
//! Values only; who carries them is a matter of the shell, who distorts them a matter of the model.

use awakener_spec::Class;
use serde::{Deserialize, Serialize};

use crate::ids::{ContentHash, Fence, KeyId, MessageId, Nonce, Token, TurnId, WakeId};
use crate::time::{Millis, Wall};
use crate::words::words;

/// A hint that has passed every check that needs no state (VER-1 up to `stale`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Hint {
    /// Id of the event.
    pub wake: WakeId,
    /// The alert that it points at.
    pub message: MessageId,
    /// Single-use number.
    pub nonce: Nonce,
    /// Freshness (EMT-1).
    pub token: Token,
    /// When it was minted.
    pub time: Wall,
    /// When it stops being one (SIG-5).
    pub expires: Wall,
    /// Which router key signed it.
    pub key: KeyId,
}

/// What a wake daemon asks the plane before state moves (DSP-7).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Question {
    /// The accepted wake.
    pub wake: WakeId,
    /// The alert it names.
    pub message: MessageId,
    /// Its token.
    pub token: Token,
}

/// The right to start one flight (DSP-7).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Permit {
    /// Fencing token: a later permit makes this one powerless.
    pub fence: Fence,
    /// How long it may be used from the moment it was asked for.
    pub life: Millis,
}

/// The plane's answer to a [`Question`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Answer {
    /// Go.
    Granted(Permit),
    /// Do not; the class says why (`unminted` … `permit_held`).
    Withheld(Class),
}

/// How a turn ended (OBS-1). Only `complete` is observation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Finish {
    /// The model finished the turn.
    Complete,
    /// Its output was cut.
    Truncated,
    /// The clock ran out.
    Timeout,
    /// The budget ran out.
    BudgetExceeded,
    /// A tool failed.
    ToolError,
    /// The model or its API failed.
    ModelError,
    /// A permission was denied.
    Denied,
    /// No turn took place although the runtime reports success.
    NoTurn,
    /// It was stopped.
    Cancelled,
    /// An attached agent, which does not report.
    Unreported,
    /// Evidence is absent or contradicts itself.
    Unknown,
}

impl Finish {
    /// Every finish reason.
    pub const ALL: [Self; 11] = [
        Self::Complete,
        Self::Truncated,
        Self::Timeout,
        Self::BudgetExceeded,
        Self::ToolError,
        Self::ModelError,
        Self::Denied,
        Self::NoTurn,
        Self::Cancelled,
        Self::Unreported,
        Self::Unknown,
    ];

    /// Whether the turn counts as observation (OBS-1).
    pub const fn observed(self) -> bool {
        matches!(self, Self::Complete)
    }
}

/// What was answered to a message (INB-3, INB-9).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Response {
    /// A reply, known by its hash; its text is a row, never kernel state.
    Reply(ContentHash),
    /// Deliberate silence; its reason is a row.
    Silence,
    /// Done without an answer.
    Done,
}

words! {
    /// Who signs an acknowledgement (ACK-3).
    By {
        /// The station that ran the turn.
        Station = "station",
        /// The agent itself.
        Agent = "agent",
        /// A human.
        Human = "human",
    }
}

words! {
    /// What is acknowledged (ACK-4).
    AckOutcome {
        /// The alert was dealt with.
        Handled = "handled",
        /// Dealt with, and nothing to say.
        Silence = "silence",
        /// Refused by the target.
        Declined = "declined",
        /// A completed turn that reports failure.
        Failed = "failed",
    }
}

/// The content of an ACK statement whose form is right; whether its signature verifies is a fact beside it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Ack {
    /// The alert.
    pub message: MessageId,
    /// Its content, so that a statement cannot be moved to other content.
    pub content: ContentHash,
    /// What is said of it.
    pub outcome: AckOutcome,
    /// By whom.
    pub by: By,
    /// With which key.
    pub key: KeyId,
    /// When, by the signer's clock.
    pub time: Wall,
}

/// Names one turn of one piece of work.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct TurnRef {
    /// The turn.
    pub turn: TurnId,
    /// The message that it works on.
    pub message: MessageId,
}

/// What came of an attempt to notify a runtime (DSP-4). None of these says that work was done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DispatchOutcome {
    /// Nothing was sent: no path, or not eligible.
    NotAttempted,
    /// The runtime said that it is busy.
    RefusedBusy,
    /// The runtime could not be reached; nothing was sent.
    Unavailable,
    /// Bytes were sent, then silence: neither success nor failure (DSP-5).
    OutcomeUnknown,
    /// Typed, without proof that it was submitted.
    TypedUnverified,
    /// The runtime has it.
    NotifiedVerified,
    /// A human was told.
    NotifiedHuman,
}

impl DispatchOutcome {
    /// Every outcome.
    pub const ALL: [Self; 7] = [
        Self::NotAttempted,
        Self::RefusedBusy,
        Self::Unavailable,
        Self::OutcomeUnknown,
        Self::TypedUnverified,
        Self::NotifiedVerified,
        Self::NotifiedHuman,
    ];

    /// Whether it is certain that no runtime was started or told.
    pub const fn certainly_nothing(self) -> bool {
        matches!(self, Self::NotAttempted | Self::RefusedBusy | Self::Unavailable)
    }
}

/// How a flight ended (DSP-2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FlightEnd {
    /// The started process ended.
    ProcessEnded,
    /// All claimed work is finished.
    WorkFinished,
    /// The runtime is idle after it was busy.
    Idle,
    /// It never started (a definite failure to dispatch).
    NeverStarted,
    /// `flight_max` passed; never a success.
    Expired,
}

/// What a wake daemon tells the plane about a flight.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FlightReport {
    /// The durable `dispatch_attempted` exists; bytes or a process may follow.
    Attempted,
    /// What the adapter said.
    Outcome(DispatchOutcome),
    /// The flight is over.
    Ended(FlightEnd),
}
