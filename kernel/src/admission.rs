//! Whether a submission becomes a message: one pure function for every transport (ADM-1).
//!
//! The order of judgement is the contract's (ADM-2), first failure wins. The first part, [`screen`], needs no mailbox
//! (an unknown target has none); the second, [`judge`], runs inside the mailbox's step on facts read in the same
//! transaction. Not here: parsing, authentication, storage.

use awakener_spec::Reason;
use serde::{Deserialize, Serialize};

use crate::config::Config;
use crate::ids::{ContentHash, Fence, MessageId, Principal, SchemaRef, Seq, Tier};
use crate::time::{Now, Wall};

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
    /// Whether another sender has a message of this id. Ids name messages everywhere but here, so two senders cannot
    /// share one: an ACK or a reply could not say which it means.
    pub id_taken: bool,
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
    /// Whether it presents a lease that is not live (INB-7).
    pub lost_lease: bool,
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

/// A request as its transport sees it before any mailbox is asked: sizes and verdicts, never content.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Attempt {
    /// Bytes of the submission's body.
    pub body_bytes: u64,
    /// Whether a valid credential came with it.
    pub authenticated: bool,
    /// Whether the principal still has room in its rate (PRT-2).
    pub within_rate: bool,
    /// Whether it parses, every member in its one form.
    pub well_formed: bool,
    /// Whether the body names another sender than the credential does.
    pub other_sender: bool,
    /// Whether a tier is registered for the schema (RTE-1).
    pub schema_known: bool,
    /// Whether the target is registered (ADM-13).
    pub target_known: bool,
}

/// What [`judge`] says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// The same submission was admitted before: its first result is the answer again (ADM-7).
    Repeat(Prior),
    /// It becomes a message.
    Admit {
        /// From the schema alone (RTE-1).
        tier: Tier,
        /// What its sender was working on (ADM-12).
        cause: Option<MessageId>,
        /// Length of the causal chain up to here: the cause's plus one, or zero (ADM-12).
        depth: u32,
    },
    /// It does not.
    Refuse(Reason),
}

/// Judges what needs no mailbox: the head of ADM-2.
///
/// # Errors
/// The first reason that applies, in the order of ADM-2.
pub fn screen(attempt: &Attempt, config: &Config) -> Result<(), Reason> {
    awakener_spec::rule!(Adm2);
    first(&[
        (attempt.body_bytes > u64::from(config.body_bytes), Reason::TooLarge),
        (!attempt.authenticated, Reason::Unauthenticated),
        (!attempt.within_rate, Reason::RateLimited),
        (!attempt.well_formed, Reason::Malformed),
        (attempt.other_sender, Reason::PrincipalMismatch),
        (!attempt.schema_known, Reason::UnknownSchema),
        (!attempt.target_known, Reason::UnknownTarget),
    ])
}

/// Judges a submission on the facts of its mailbox: the rest of ADM-2. `queued` counts the unfinished messages of
/// this sender in this inbox. An id that lies too far ahead is `malformed` here and not in [`screen`], because what
/// was admitted before a clock stepped back must still be told as a repeat.
pub fn judge(submitted: &Submitted, facts: &AdmitFacts, queued: u32, config: &Config, now: Now) -> Verdict {
    if let Some(prior) = facts.prior {
        awakener_spec::rule!(Adm7);
        awakener_spec::rule!(Prt1);
        return if prior.content == submitted.content {
            Verdict::Repeat(prior)
        } else {
            Verdict::Refuse(Reason::DuplicateConflict)
        };
    }
    if facts.id_taken {
        return Verdict::Refuse(Reason::DuplicateConflict);
    }
    let depth = facts.cause.map_or(0, |cause| cause.depth.saturating_add(1));
    let checked = timely(submitted.id, config, now)
        .and_then(|()| first(&[(facts.lost_lease, Reason::LostLease)]))
        .and_then(|()| may_wake(facts))
        .and_then(|()| has_room(facts, depth, queued, config));
    awakener_spec::rule!(Adm2);
    match checked {
        Err(reason) => Verdict::Refuse(reason),
        Ok(()) => {
            awakener_spec::rule!(Adm12);
            Verdict::Admit { tier: facts.tier, cause: facts.cause.map(|cause| cause.message), depth }
        }
    }
}

/// ADM-8: outside these bounds a repeat could not be told from a first submission.
fn timely(id: MessageId, config: &Config, now: Now) -> Result<(), Reason> {
    let claimed = Wall(id.unix_ms());
    awakener_spec::rule!(Adm8);
    first(&[
        (claimed > now.wall + config.id_ahead, Reason::Malformed),
        (now.wall.saturating_since(claimed) > config.dedup_horizon, Reason::TooOld),
    ])
}

/// Whether a submission may open a witness and wake; other tiers pass (ADM-3, ADM-4, ADM-5, ADM-13).
fn may_wake(facts: &AdmitFacts) -> Result<(), Reason> {
    if facts.tier != Tier::Zero {
        return Ok(());
    }
    awakener_spec::rule!(Adm3);
    first(&[
        (facts.acts_for_target, Reason::SelfWake),
        (!facts.can_ack, Reason::TargetCannotAck),
        (facts.roster == RosterVerdict::Absent, Reason::RosterAbsent),
        (facts.roster == RosterVerdict::Malformed, Reason::RosterMalformed),
        (facts.roster == RosterVerdict::Expired, Reason::RosterExpired),
        (facts.roster != RosterVerdict::Listed, Reason::NotOnRoster),
        (!facts.tier0_open, Reason::Tier0Closed),
    ])
}

/// The brakes on how much comes in (FUS-1, PRT-2).
fn has_room(facts: &AdmitFacts, depth: u32, queued: u32, config: &Config) -> Result<(), Reason> {
    let room = match facts.tier {
        Tier::Zero => config.queue.saturating_add(config.tier0_reserve),
        Tier::One | Tier::Two | Tier::Three => config.queue,
    };
    awakener_spec::rule!(Fus1);
    awakener_spec::rule!(Prt2);
    first(&[
        (depth > config.causal_depth || facts.repeats >= config.echo, Reason::RepeatCap),
        (queued >= room, Reason::QueueFull),
        (facts.overloaded, Reason::Overloaded),
    ])
}

/// The first check that fails; the order of the list is the order of judgement.
fn first(checks: &[(bool, Reason)]) -> Result<(), Reason> {
    checks.iter().find(|(fails, _)| *fails).map_or(Ok(()), |(_, reason)| Err(*reason))
}
