//! What can happen to a mailbox, what it must know to judge it, and what comes of it.
//!
//! Types only; the judgement is in [`super::Mailbox`]. Answers to callers are made from the [`Event`], or, when a
//! repeat was absorbed, from the image and the rows.

use alloc::vec::Vec;

use awakener_spec::{Class, Reason, ReceiptKind};
use serde::{Deserialize, Serialize};

use super::entry::Entry;
use crate::admission::{AdmitFacts, Submitted};
use crate::ids::{DaemonName, Fence, Holder, MessageId, Nonce, Principal, Seq, Tier, Token, TurnId, WakeId};
use crate::time::Wall;
use crate::values::{Ack, AckOutcome, By, Finish, FlightReport, Permit, Question, Response};

/// What can happen.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Input {
    /// The emitter starts; `floor` is the highest epoch known outside: floor file, other targets, verifiers (EMT-2).
    Start {
        /// The new epoch will be above it.
        floor: u32,
    },
    /// A submission that passed the transport's own checks.
    Admit(Submitted),
    /// A holder wants work (INB-7).
    Claim {
        /// Who.
        holder: Holder,
        /// At most this many messages.
        max: u32,
    },
    /// The holder is still at work.
    Renew {
        /// Its token.
        fence: Fence,
    },
    /// The holder gives the rest back.
    Release {
        /// Its token.
        fence: Fence,
    },
    /// The holder reads claimed work (INB-8).
    Read {
        /// Its token.
        fence: Fence,
        /// What it reads.
        message: MessageId,
    },
    /// A turn ended (OBS-1).
    FinishTurn {
        /// The holder's token.
        fence: Fence,
        /// What the turn was about.
        message: MessageId,
        /// The turn.
        turn: TurnId,
        /// How.
        finish: Finish,
    },
    /// A result of a turn (STN-6, INB-9).
    Respond {
        /// The holder's token.
        fence: Fence,
        /// What it answers.
        message: MessageId,
        /// The turn.
        turn: TurnId,
        /// What.
        response: Response,
    },
    /// A well-formed ACK statement (ACK-3).
    Ack {
        /// The statement.
        ack: Ack,
        /// The lease that the signer presents; required for `by = station` (ACK-5).
        fence: Option<Fence>,
    },
    /// A wake daemon asks for a permit (DSP-7).
    Ask {
        /// Who asks.
        daemon: DaemonName,
        /// About which wake.
        question: Question,
    },
    /// A wake daemon reports of a flight.
    Report {
        /// Who reports.
        daemon: DaemonName,
        /// Its permit.
        fence: Fence,
        /// The wake.
        wake: WakeId,
        /// What happened.
        report: FlightReport,
    },
    /// A wake daemon asks what is owed (DSP-11).
    Sweep {
        /// Entropy for a hint.
        fresh: Fresh,
    },
    /// What became of a hint at the broker client (EMT-4).
    Published {
        /// The hint.
        wake: WakeId,
        /// Handed over, or failed.
        handed_over: bool,
    },
    /// An authorised operator closes an alert whose target is gone (ACK-9).
    Resolve {
        /// The alert.
        message: MessageId,
    },
    /// An authorised operator gives a quarantined message back.
    ReleaseQuarantine {
        /// The message.
        message: MessageId,
    },
    /// The driver found a message beyond the configured age (INB-3).
    Expire {
        /// The message.
        message: MessageId,
    },
    /// A deadline is due.
    Fire {
        /// Entropy, in case a hint is due.
        fresh: Fresh,
    },
}

/// Entropy for one hint.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Fresh {
    /// Id of the event.
    pub wake: WakeId,
    /// Its nonce.
    pub nonce: Nonce,
}

/// What must be read, inside the transaction, before an input can be judged.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Query {
    /// Nothing.
    None,
    /// Everything of [`AdmitFacts`].
    Admit {
        /// Who submits.
        principal: Principal,
        /// What.
        message: MessageId,
    },
    /// Unfinished messages that are not set aside, in the order of RTE-3.
    Candidates {
        /// At most this many.
        max: u32,
    },
    /// The row of one message of this target.
    Row(MessageId),
    /// Whether a hint for this alert may still be minted or used (ADM-6).
    Authority(MessageId),
    /// The same of each of these alerts, in this order.
    Authorities(Vec<MessageId>),
    /// The mint of a wake, the row of its alert, and its authority.
    Mint(WakeId),
    /// The same, and what was told of this attempt so far.
    Flight(WakeId, Fence),
    /// The row (whatever its target), and what is known of key and signature.
    Ack(Ack),
}

/// The answer to a [`Query`].
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Facts {
    /// Nothing was asked.
    None,
    /// For [`Query::Admit`].
    Admit(AdmitFacts),
    /// For [`Query::Candidates`].
    Candidates(Vec<Candidate>),
    /// For [`Query::Row`].
    Row(Option<(Seq, Entry)>),
    /// For [`Query::Authority`].
    Authority(Authority),
    /// For [`Query::Authorities`].
    Authorities(Vec<(MessageId, Authority)>),
    /// For [`Query::Mint`]; `None` = this emitter never minted it.
    Mint(Option<Mint>),
    /// For [`Query::Flight`]: the mint as in [`Facts::Mint`], and the receipts under this attempt (RCP-2).
    Flight(Option<Mint>, Vec<ReceiptKind>),
    /// For [`Query::Ack`].
    Ack(AckFacts),
}

/// A message that could be claimed.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Candidate {
    /// Its place.
    pub seq: Seq,
    /// Its id.
    pub message: MessageId,
    /// Its tier.
    pub tier: Tier,
    /// Its sender.
    pub principal: Principal,
    /// Depth of its causal chain.
    pub depth: u32,
}

/// Whether a hint may be minted or used now (ADM-6, EMT-3, EMT-6).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Authority {
    /// The roster still holds for principal, schema and target.
    pub rostered: bool,
    /// The target is armed.
    pub armed: bool,
    /// Tier-0 is open: manifest accepted, chain intact, clock sane.
    pub open: bool,
}

/// A hint that this emitter minted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Mint {
    /// The alert's place.
    pub seq: Seq,
    /// The alert.
    pub message: MessageId,
    /// Its token.
    pub token: Token,
    /// Whether the alert may still wake its target.
    pub authority: Authority,
}

/// What is known of an ACK beside its words.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct AckFacts {
    /// The registered key, judged for (this target, by) and the present moment.
    pub key: AckKey,
    /// Whether the signature is that key's.
    pub signature_valid: bool,
    /// Whether the statement names this target.
    pub this_target: bool,
    /// The message in this target's mailbox.
    pub row: Option<(Seq, Entry)>,
}

/// An ACK key as of now (ACK-3, IDN-7).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AckKey {
    /// Registered for this target and `by`, and valid now.
    Valid,
    /// Registered, but revoked or not valid now.
    Revoked,
    /// Not registered for this target and `by`.
    Wrong,
}

/// What happened.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Event {
    /// The emitter may mint.
    Started,
    /// The message is stored (INB-1).
    Admitted {
        /// Its place.
        seq: Seq,
        /// Its tier.
        tier: Tier,
        /// Its cause (ADM-12).
        cause: Option<MessageId>,
        /// Its depth.
        depth: u32,
    },
    /// Work was taken.
    Leased {
        /// Under which token.
        fence: Fence,
    },
    /// The lease lives on.
    Renewed,
    /// The lease is over.
    Released,
    /// `inbox_read`.
    Read {
        /// Attempts used up, this one included.
        attempt: u32,
    },
    /// The turn's end is known.
    TurnFinished,
    /// The result is known.
    Responded,
    /// The witness is closed.
    Acknowledged {
        /// With which outcome.
        outcome: AckOutcome,
        /// By whom.
        by: By,
    },
    /// A permit was granted.
    Permitted(Permit),
    /// The report is noted.
    Reported,
    /// A hint for a sweeping daemon.
    Swept(Minted),
    /// The fate of a publication is noted.
    Published,
    /// The operator closed the alert.
    Resolved,
    /// The operator gave the message back.
    QuarantineReleased,
    /// The message grew too old.
    Expired,
    /// A hint was minted on schedule.
    Minted,
    /// A scheduled emission was used up.
    EmissionRefused(Reason),
    /// The lease ran out.
    LeaseExpired,
    /// A flight that its daemon never ended ran out.
    FlightExpired,
    /// The operator is to be told.
    Escalated,
}

/// A hint before it is signed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Minted {
    /// The alert.
    pub message: MessageId,
    /// Id and nonce.
    pub fresh: Fresh,
    /// Freshness.
    pub token: Token,
    /// From when it holds.
    pub time: Wall,
    /// Until when.
    pub expires: Wall,
}

/// What should happen outside.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Effect {
    /// Sign this hint and hand it to the broker client; report with [`Input::Published`].
    Publish(Minted),
    /// Tell the operator about an alert that nobody acknowledges, or that was set aside (ACK-9, INB-8).
    TellOperator(MessageId),
}

/// Why nothing happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Refusal {
    /// A reason of the common list.
    Because(Reason),
    /// A permit is withheld (DSP-7).
    Withheld(Class),
}

impl From<Reason> for Refusal {
    fn from(reason: Reason) -> Self {
        Self::Because(reason)
    }
}

impl From<Class> for Refusal {
    fn from(class: Class) -> Self {
        Self::Withheld(class)
    }
}

impl Refusal {
    /// The rule that refuses.
    pub const fn rule(self) -> awakener_spec::Rule {
        match self {
            Self::Because(reason) => reason.rule(),
            Self::Withheld(class) => class.rule(),
        }
    }
}
