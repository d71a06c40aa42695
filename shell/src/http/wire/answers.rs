//! Bodies of answers.

use awakener_kernel::ids::{
    ContentHash, Fence, KeyId, MessageId, Principal, PublicKey, SchemaRef, Target, ThreadId, Tier, TurnId,
    WakeId,
};
use awakener_kernel::operator::ActName;
use awakener_kernel::time::Wall;
use awakener_kernel::values::{AckOutcome, By, Finish};
use awakener_kernel::wire::{Priority, ResponseExpectation};
use awakener_spec::ReceiptKind;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

use super::requests::TurnRecord;
use super::{V1, utc};

/// An admitted message (ADM-7): the first result, also for a repeat.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Admitted {
    /// Always 1.
    #[schema(value_type = u32)]
    pub v: V1,
    /// As submitted.
    #[schema(value_type = String, format = Uuid)]
    pub id: MessageId,
    /// Whose inbox it is in.
    #[schema(value_type = String)]
    pub target: Target,
    /// Its place there, gapless from 1 (INB-2).
    #[schema(minimum = 1)]
    pub seq: u64,
    /// From its schema alone (RTE-1).
    #[schema(value_type = u32, maximum = 3)]
    pub tier: Tier,
    /// What its sender was working on (ADM-12).
    #[schema(value_type = Option<String>)]
    pub cause: Option<MessageId>,
    /// Length of the causal chain up to here.
    pub depth: u32,
    /// Its content hash (ADM-7).
    #[schema(value_type = String)]
    pub content_sha256: ContentHash,
    /// Whether it was admitted before, and nothing new was stored.
    pub repeat: bool,
}

/// Done, or done before.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Noted {
    /// Always 1.
    #[schema(value_type = u32)]
    pub v: V1,
    /// Whether the same was recorded before, and nothing changed.
    pub repeat: bool,
}

/// A message without its body.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Head {
    /// Its place in the inbox.
    #[schema(minimum = 1)]
    pub seq: u64,
    /// Its id.
    #[schema(value_type = String, format = Uuid)]
    pub id: MessageId,
    /// Whose inbox.
    #[schema(value_type = String)]
    pub target: Target,
    /// Who sent it, from its credential.
    #[schema(value_type = String)]
    pub principal: Principal,
    /// Its thread.
    #[schema(value_type = String, format = Uuid)]
    pub thread: ThreadId,
    /// The message that it answers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    pub in_reply_to: Option<MessageId>,
    /// What kind of message.
    #[schema(value_type = String)]
    pub schema: SchemaRef,
    /// From its schema alone.
    #[schema(value_type = u32, maximum = 3)]
    pub tier: Tier,
    /// How much it matters to the sender.
    #[schema(value_type = String)]
    pub priority: Priority,
    /// What the sender wants.
    pub intent: String,
    /// What the sender expects back.
    #[schema(value_type = String)]
    pub response_expectation: ResponseExpectation,
    /// A headline.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subject: Option<String>,
    /// When it was admitted.
    #[serde(with = "utc")]
    #[schema(value_type = String, format = DateTime)]
    pub admitted: Wall,
    /// Its content hash (ADM-7), which an ACK names.
    #[schema(value_type = String)]
    pub content_sha256: ContentHash,
    /// What its sender was working on (ADM-12).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    pub cause: Option<MessageId>,
    /// Length of its causal chain.
    pub depth: u32,
    /// What has become of it so far.
    pub state: State,
}

/// What has become of a message so far.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct State {
    /// Whether it was read under a lease.
    pub read: bool,
    /// The last turn and how it ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn: Option<TurnState>,
    /// The recorded result.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub response: Option<ResponseState>,
    /// How its witness was closed; Tier-0 only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub closed: Option<ClosedState>,
    /// How nothing more came to be owed: `witness_closed`, `responded`, `quarantined`, `expired` (INB-3).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub finished: Option<String>,
    /// Set aside for the operator (INB-8).
    pub quarantined: bool,
}

/// The last turn.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct TurnState {
    /// Its id.
    #[schema(value_type = String, format = Uuid)]
    pub id: TurnId,
    /// How it ended.
    #[schema(value_type = String)]
    pub finish: Finish,
    /// What it was run with (OBS-2), if that was reported; only with the whole message.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub record: Option<TurnRecord>,
}

/// A recorded result.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ResponseState {
    /// The turn that it came from.
    #[schema(value_type = String, format = Uuid)]
    pub turn: TurnId,
    /// `reply`, `silence` or `done`.
    pub kind: String,
    /// The text of the reply or the reason of the silence; only with the whole message.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub body: Option<String>,
}

/// How a witness was closed. An operator's resolution is never shown as the target's ACK (ACK-9).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(tag = "how", rename_all = "snake_case")]
pub enum ClosedState {
    /// By its target's signed ACK (ACK-3).
    Acknowledged {
        /// What is said of it.
        #[schema(value_type = String)]
        outcome: AckOutcome,
        /// By whom.
        #[schema(value_type = String)]
        by: By,
        /// With which key.
        #[schema(value_type = String)]
        key_id: KeyId,
    },
    /// By an operator, for a target that is gone.
    OperatorResolved,
}

/// A whole message.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Message {
    /// Everything but the body.
    #[serde(flatten)]
    pub head: Head,
    /// Any JSON value.
    #[schema(value_type = Object)]
    pub body: Value,
    /// W3C trace context as it came with the submission (AUD-6).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub traceparent: Option<String>,
}

/// One message.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct OneMessage {
    /// Always 1.
    #[schema(value_type = u32)]
    pub v: V1,
    /// The message.
    pub message: Message,
}

/// A page of an inbox (INB-6): ordered before it was cut.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Page {
    /// Always 1.
    #[schema(value_type = u32)]
    pub v: V1,
    /// Whose inbox.
    #[schema(value_type = String)]
    pub target: Target,
    /// The messages, Tier-0 first (RTE-3); whole ones are read under a lease or by id.
    pub items: Vec<Head>,
    /// What to present with the next read; that confirms this page (INB-5).
    pub position: String,
    /// Whether more waits beyond this page.
    pub more: bool,
    /// How much waited before this page, the page included.
    pub total: u64,
    /// Alerts that nobody acknowledged yet, handed over or not.
    pub outstanding: u64,
}

/// Work under a lease (INB-7).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Claimed {
    /// Always 1.
    #[schema(value_type = u32)]
    pub v: V1,
    /// The fencing token.
    #[schema(value_type = u64)]
    pub fence: Fence,
    /// How long the lease lasts from now on, milliseconds.
    pub lease_ms: u64,
    /// Whether this holder had the lease before.
    pub repeat: bool,
    /// What it covers, in order of their places.
    pub messages: Vec<Head>,
}

/// Claimed work that was read (INB-8).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct WorkRead {
    /// Always 1.
    #[schema(value_type = u32)]
    pub v: V1,
    /// Attempts used up, this one included; absent for a repeat.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attempt: Option<u32>,
    /// Whether it was read under this lease before.
    pub repeat: bool,
    /// The message.
    pub message: Message,
}

/// An operator's act that took effect (OPR-1).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Enacted {
    /// Always 1.
    #[schema(value_type = u32)]
    pub v: V1,
    /// The command.
    #[schema(value_type = String, format = Uuid)]
    pub id: awakener_kernel::ids::CommandId,
    /// What it did.
    #[schema(value_type = String)]
    pub act: ActName,
}

/// The right to start one flight (DSP-7).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Permitted {
    /// Always 1.
    #[schema(value_type = u32)]
    pub v: V1,
    /// Its fencing token.
    #[schema(value_type = u64)]
    pub fence: Fence,
    /// How long it may be used, milliseconds from the question.
    pub life_ms: u64,
}

/// What is owed to a sweeping daemon (DSP-11).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Swept {
    /// Always 1.
    #[schema(value_type = u32)]
    pub v: V1,
    /// Freshly minted hints, which are verified like any other.
    #[schema(value_type = Vec<Object>)]
    pub hints: Vec<Value>,
    /// Which of the targets that were asked about are armed now.
    #[schema(value_type = Vec<String>)]
    pub armed: Vec<Target>,
}

/// The router keys that hold now or will (HAF-3).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct RouterKeys {
    /// Always 1.
    #[schema(value_type = u32)]
    pub v: V1,
    /// Raised whenever the keys change, never back.
    pub ring: u64,
    /// The keys.
    pub keys: Vec<RouterKey>,
    /// The plane's time: a daemon whose clock stepped back goes back to it (EMT-6).
    #[serde(with = "utc", default)]
    #[schema(value_type = String, format = DateTime)]
    pub now: Wall,
}

/// One router key.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct RouterKey {
    /// Its id (IDN-4).
    #[schema(value_type = String)]
    pub key_id: KeyId,
    /// The public key.
    #[schema(value_type = String)]
    pub public: PublicKey,
    /// From when it holds.
    #[serde(with = "utc")]
    #[schema(value_type = String, format = DateTime)]
    pub valid_from: Wall,
    /// From when it no longer holds.
    #[serde(with = "utc")]
    #[schema(value_type = String, format = DateTime)]
    pub valid_until: Wall,
}

/// Receipts, oldest first (RCP-4).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Receipts {
    /// Always 1.
    #[schema(value_type = u32)]
    pub v: V1,
    /// The receipts.
    pub receipts: Vec<Receipt>,
    /// Whether there are more after the last of these.
    pub more: bool,
}

/// One receipt (RCP-1).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Receipt {
    /// Its place in the ledger.
    pub number: u64,
    /// The audit entry that it follows from (AUD-8).
    pub position: u64,
    /// What is a fact.
    #[schema(value_type = String)]
    pub kind: ReceiptKind,
    /// In whose inbox.
    pub target: String,
    /// Of which message.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    pub message: Option<MessageId>,
    /// Of which hint.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    pub wake: Option<WakeId>,
    /// Of which flight.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attempt: Option<String>,
    /// Of which turn.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    pub turn: Option<TurnId>,
    /// When it became known.
    #[serde(with = "utc")]
    #[schema(value_type = String, format = DateTime)]
    pub at: Wall,
    /// What else is known; null if nothing.
    #[schema(value_type = Object)]
    pub detail: Value,
}

/// Everything that is known of one message, in order (RCP-4, WHY-1).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Trace {
    /// Always 1.
    #[schema(value_type = u32)]
    pub v: V1,
    /// The message.
    pub message: Head,
    /// Its receipts, oldest first, with the time between them.
    pub ladder: Vec<Rung>,
    /// Where it waits; absent when nothing more is owed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stuck: Option<Stuck>,
}

/// One step of a message's way.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Rung {
    /// The receipt.
    #[serde(flatten)]
    pub receipt: Receipt,
    /// Milliseconds since the step before.
    pub after_ms: u64,
    /// Milliseconds since the message was admitted.
    pub since_admission_ms: u64,
}

/// Where a message waits.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Stuck {
    /// The last step that it took.
    #[schema(value_type = String)]
    pub after: ReceiptKind,
    /// Since when.
    #[serde(with = "utc")]
    #[schema(value_type = String, format = DateTime)]
    pub since: Wall,
    /// Milliseconds since then.
    pub for_ms: u64,
    /// What it waits for, in words.
    pub waits_for: String,
}

/// A part of the audit chain (AUD-1).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Audit {
    /// Always 1.
    #[schema(value_type = u32)]
    pub v: V1,
    /// The entries, in order.
    pub entries: Vec<AuditRow>,
    /// The end of the chain.
    pub head: ChainHead,
}

/// One entry of the audit chain.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct AuditRow {
    /// Its place, from 1.
    pub position: u64,
    /// Its hash: SHA-256 over the domain line and the canonical JSON of `entry`.
    #[schema(value_type = String)]
    pub hash: ContentHash,
    /// What it says; the hashed bytes are its canonical form (RFC 8785).
    #[schema(value_type = Object)]
    pub entry: Value,
    /// The stored bytes in base64, where they are not the canonical form of `entry`: somebody altered them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub raw: Option<String>,
}

/// That the newest checkpoint has everything that an older one had (AUD-3; RFC 9162, section 2.1.4).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Consistency {
    /// Always 1.
    #[schema(value_type = u32)]
    pub v: V1,
    /// How many records the older one covers, as asked.
    pub first: u64,
    /// The nodes; null if the older one covers more than the newest.
    #[schema(value_type = Option<Vec<String>>)]
    pub path: Option<Vec<ContentHash>>,
    /// The newest checkpoint, signed.
    #[schema(value_type = Object)]
    pub checkpoint: Value,
}

/// That the newest checkpoint covers a record (AUD-3; RFC 9162, section 2.1.3).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Inclusion {
    /// Always 1.
    #[schema(value_type = u32)]
    pub v: V1,
    /// Where the record stands, as asked.
    pub position: u64,
    /// Its hash; null if there is no such record.
    #[schema(value_type = Option<String>)]
    pub hash: Option<ContentHash>,
    /// What it says.
    #[schema(value_type = Option<Object>)]
    pub entry: Option<Value>,
    /// The number of its leaf, from 0; null if the checkpoint does not cover it.
    pub index: Option<u64>,
    /// The nodes; null if the checkpoint does not cover it.
    #[schema(value_type = Option<Vec<String>>)]
    pub path: Option<Vec<ContentHash>>,
    /// The newest checkpoint, signed.
    #[schema(value_type = Object)]
    pub checkpoint: Value,
}

/// How far the chain goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ChainHead {
    /// How many entries.
    pub size: u64,
    /// The hash of the last one; 64 zeros when there is none.
    #[schema(value_type = String)]
    pub hash: ContentHash,
}
