//! The audit chain as pure values (AUD-1, AUD-2, AUD-5): what a record says, how it is hashed, how a chain is walked.
//!
//! A record's hash covers the domain line and the stored bytes, which are canonical JSON with the previous hash
//! inside. Not here: where records are stored, signatures of checkpoints, and the decision what closes when a chain is
//! broken (that is [`crate::registry`]). A chain that lost its tail as a whole still verifies: only somebody who kept a
//! [`crate::wire::Checkpoint`] can tell (AUD-3), by the whole chain or by a proof of its [`tree`].

pub mod proof;
pub mod tree;
mod walk;

use alloc::vec::Vec;

use awakener_spec::Reason;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest as _, Sha256};
use smol_str::SmolStr;

use crate::ids::{
    CommandId, ContentHash, DaemonName, KeyId, LeaseId, MessageId, OperatorName, Principal, Station, Target,
    ThreadId, TurnId, WakeId,
};
use crate::json;
use crate::time::Now;
use crate::wire::Domain;

pub use walk::{MACHINE, Reanchored, Walk, Walked};

/// The version of [`AuditEntry`].
const VERSION: u32 = 1;

/// Everybody who has to do with a record, each kind in its own member (IDN-1).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Identities {
    /// Who submitted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub principal: Option<Principal>,
    /// Whose inbox.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<Target>,
    /// Which router key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub router: Option<KeyId>,
    /// Which station.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub station: Option<Station>,
    /// Which wake daemon.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub daemon: Option<DaemonName>,
    /// Which operator.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub operator: Option<OperatorName>,
}

/// Ids that connect records; position never does (AUD-1).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Correlation {
    /// The request, as its caller or the transport named it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request: Option<SmolStr>,
    /// The message.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<MessageId>,
    /// Its thread.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thread: Option<ThreadId>,
    /// The hint.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wake: Option<WakeId>,
    /// The turn.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn: Option<TurnId>,
    /// The lease.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lease: Option<LeaseId>,
    /// The operator command.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<CommandId>,
}

/// W3C trace context, from the stored message (AUD-6).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Trace {
    /// `traceparent`.
    pub traceparent: SmolStr,
    /// `tracestate`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tracestate: Option<SmolStr>,
}

/// One record: enough to execute its step again (AUD-2). A recovery has no input, facts and outcome.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AuditEntry {
    /// Always 1; members may be added, never changed (AUD-6).
    pub v: u32,
    /// Its place in the chain, from 1 on; the order of appending, never of causes.
    pub position: u64,
    /// The hash of the record before it; 64 zeros for the first.
    pub prev: ContentHash,
    /// Which machine stepped.
    pub machine: SmolStr,
    /// Who has to do with it.
    pub identities: Identities,
    /// When.
    pub now: Now,
    /// SHA-256 of the configuration that the step obeyed.
    pub config: ContentHash,
    /// What happened to it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input: Option<Value>,
    /// What it knew.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub facts: Option<Value>,
    /// What came of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outcome: Option<Value>,
    /// What became durable.
    pub records: Vec<Value>,
    /// What it belongs to.
    pub correlation: Correlation,
    /// The trace that it is part of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trace: Option<Trace>,
}

impl AuditEntry {
    /// Puts the entry behind `head`: sets version, position and previous hash.
    #[must_use]
    pub fn behind(self, head: &Head) -> Self {
        awakener_spec::rule!(Aud1);
        Self { v: VERSION, position: head.size.saturating_add(1), prev: head.hash, ..self }
    }

    /// The bytes to store: canonical JSON.
    ///
    /// # Errors
    /// [`Reason::ChainBroken`] if a value has no canonical form; the step must then not be committed (ADM-10).
    pub fn stored(&self) -> Result<Vec<u8>, Reason> {
        awakener_spec::rule!(Idn1);
        let value = serde_json::to_value(self).map_err(|_| Reason::ChainBroken)?;
        Ok(json::canonical(&value))
    }
}

/// The hash of a record: SHA-256 over the domain line and the stored bytes (AUD-1).
pub fn hash(stored: &[u8]) -> ContentHash {
    awakener_spec::rule!(Aud1);
    ContentHash(Sha256::new().chain_update(Domain::Audit.line()).chain_update(stored).finalize().into())
}

/// How far a chain goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Head {
    /// How many records.
    pub size: u64,
    /// The hash of the last one.
    pub hash: ContentHash,
}

impl Head {
    /// The head of an empty chain.
    pub const EMPTY: Self = Self { size: 0, hash: ContentHash([0; 32]) };
}

/// How a chain is broken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BreakKind {
    /// The last record is cut short, as a crash leaves it: no sign of tampering.
    Torn,
    /// A record is not the canonical JSON of an entry, or it is cut short and not the last.
    Form,
    /// The positions are not consecutive: something is missing, doubled or moved.
    Gap,
    /// The previous hash is not that of the record before: one of the two was altered.
    Hash,
}

/// Where and how a chain is broken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Break {
    /// The place of the record that does not fit, counted from 1.
    pub position: u64,
    /// How.
    pub kind: BreakKind,
}

impl Break {
    /// The reason to give for it.
    pub const fn reason(self) -> Reason {
        match self.kind {
            BreakKind::Torn => Reason::ChainTorn,
            BreakKind::Form | BreakKind::Gap | BreakKind::Hash => Reason::ChainBroken,
        }
    }
}

/// Walks a whole chain, over the segments that were anchored anew.
///
/// # Errors
/// The first [`Break`] that no segment names.
pub fn verify<'a>(stored: impl IntoIterator<Item = &'a [u8]>) -> Result<Head, Break> {
    walk(Walk::default(), stored)
}

/// Walks the part of a chain that follows a head that is already trusted.
///
/// # Errors
/// The first [`Break`].
pub fn verify_from<'a>(head: Head, stored: impl IntoIterator<Item = &'a [u8]>) -> Result<Head, Break> {
    walk(Walk::behind(head), stored)
}

fn walk<'a>(mut walk: Walk, stored: impl IntoIterator<Item = &'a [u8]>) -> Result<Head, Break> {
    awakener_spec::rule!(Aud5);
    let mut records = stored.into_iter().peekable();
    while let Some(bytes) = records.next() {
        walk.record(bytes, None, records.peek().is_none());
    }
    let Walked { head, broken, .. } = walk.end();
    broken.map_or(Ok(head), Err)
}

/// What ties a record to its neighbours; later versions may have more members (AUD-6).
#[derive(Deserialize)]
struct Link {
    v: u32,
    position: u64,
    prev: ContentHash,
}

fn follow(head: &Head, bytes: &[u8], last: bool) -> Result<Head, Break> {
    let position = head.size.saturating_add(1);
    let broken = |kind| Break { position, kind };
    let entry: Value = serde_json::from_slice(bytes)
        .map_err(|error| broken(if error.is_eof() && last { BreakKind::Torn } else { BreakKind::Form }))?;
    awakener_spec::rule!(Aud6);
    let link = Link::deserialize(&entry).map_err(|_| broken(BreakKind::Form))?;
    if link.v != VERSION || json::canonical(&entry) != bytes {
        return Err(broken(BreakKind::Form));
    }
    if link.position != position {
        return Err(broken(BreakKind::Gap));
    }
    if link.prev != head.hash {
        return Err(broken(BreakKind::Hash));
    }
    Ok(Head { size: position, hash: hash(bytes) })
}

/// What a chain is to a kept checkpoint ([`crate::wire::Checkpoint::compare`]).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Comparison {
    /// It has these records, and maybe more.
    Extends,
    /// It has fewer records: the tail is missing.
    Truncated,
    /// It has as many and they are others.
    Differs,
    /// The checkpoint is of another plane.
    Foreign,
}
