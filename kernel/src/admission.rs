//! Whether a submission becomes a message: one pure function for every transport (ADM-1).
//!
//! The order of judgement is the contract's (ADM-2), first failure wins. The first part, [`screen`], needs no mailbox
//! (an unknown target has none); the second, [`judge`], runs inside the mailbox's step on facts read in the same
//! transaction. Not here: parsing, authentication, storage.

use awakener_spec::Reason;
use serde::{Deserialize, Serialize};

use crate::config::Config;
use crate::ids::{ContentHash, Fence, MessageId, Principal, SchemaRef, Seq, Tier};
use crate::time::Now;

/// A submission as the kernel sees it: identities and hash, never its text.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Submitted {
    /// Chosen by the sender, the idempotency key together with the principal (ADM-7).
    pub id: MessageId,
    /// From the credential.
    pub principal: Principal,
    /// Of the whole submission (ADM-7).
    pub content: ContentHash,
    /// What kind of message.
    pub schema: SchemaRef,
    /// The lease that the sender presents, if it works on something (ADM-12).
    pub fence: Option<Fence>,
}

/// What admission must know beside the submission, read inside the transaction.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct AdmitFacts {
    /// What was admitted before under the same (principal, id), in whatever target.
    pub prior: Option<Prior>,
    /// The schema's tier (RTE-1).
    pub tier: Tier,
    /// Whether the sender acts for this very target (ADM-13).
    pub acts_for_target: bool,
    /// Whether a valid ACK key of any `by` is registered for the target (ADM-13).
    pub can_ack: bool,
    /// What the roster says of (principal, schema, target) now (ADM-4, ADM-5).
    pub roster: RosterVerdict,
    /// Whether Tier-0 is open: manifest accepted, chain intact, clock sane.
    pub tier0_open: bool,
    /// What the sender is working on, if anything (ADM-12).
    pub cause: Option<Cause>,
    /// How often this sender sent this content lately, time and digits aside (FUS-1, `repeat_cap`).
    pub repeats: u32,
    /// Whether the store must shed load.
    pub overloaded: bool,
}

/// An earlier admission under the same key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Prior {
    /// Its content.
    pub content: ContentHash,
    /// Its place.
    pub seq: Seq,
}

/// The message that a sender holds while it submits (ADM-12).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Cause {
    /// Its id.
    pub message: MessageId,
    /// Its depth.
    pub depth: u32,
}

/// What the roster says (ADM-3…5).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RosterVerdict {
    /// There is none.
    Absent,
    /// It cannot be used; nobody is admitted.
    Malformed,
    /// Its time is over.
    Expired,
    /// It does not list this principal, schema and target.
    NotListed,
    /// It does.
    Listed,
}
