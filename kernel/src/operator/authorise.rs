//! The one order in which a command is judged (OPR-1): first failure wins, and nothing that follows is looked at.
//!
//! malformed, wrong plane, unknown key, bad signature, expired (or its end too far ahead), out of scope, replayed,
//! state conflict, unknown subject, bound exceeded. An act that narrows is judged by the same order.

use alloc::string::String;

use awakener_spec::Reason;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use smol_str::SmolStr;

use super::act::{Act, Scope};
use super::outside::{Found, Outside};
use crate::config::Config;
use crate::ids::{CommandId, KeyId, PlaneName, Target};
use crate::registry::{Image, Operator};
use crate::time::{Millis, Now, Wall};

/// A command whose form is right.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Command {
    /// Accepted once.
    pub id: CommandId,
    /// The plane that it is for.
    pub plane: PlaneName,
    /// The key that signs.
    pub key: KeyId,
    /// The last instant at which it may be accepted.
    pub not_after: Wall,
    /// The state that the subject must have ([`Image::state`]); `None` if it does not matter.
    pub expected_state: Option<SmolStr>,
    /// Why, for the audit chain.
    pub reason: String,
    /// What is to be done.
    pub act: Act,
}

impl Command {
    /// Reads the `expected_state` of a command: null, or a text.
    ///
    /// # Errors
    /// [`Reason::OperatorMalformed`] for anything else.
    pub fn expected(value: &Value) -> Result<Option<SmolStr>, Reason> {
        match value {
            Value::Null => Ok(None),
            Value::String(state) => Ok(Some(SmolStr::new(state))),
            Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => {
                Err(Reason::OperatorMalformed)
            }
        }
    }
}

/// A command as it came in.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Presented {
    /// What it says; `None` = it does not have the form of a command, or its act is none.
    pub command: Option<Command>,
    /// Whether the signature is that of the registered key of this id.
    pub signature_valid: bool,
    /// The signed bytes, for storage (ADM-5).
    pub raw: String,
}

/// Decides whether a command takes effect now.
///
/// # Errors
/// The first reason that applies, in the order at the top of this file; [`Reason::FactsMissing`] if `found` does not
/// answer what the act needs.
pub fn authorise<'a>(
    image: &Image,
    presented: &'a Presented,
    found: &Found,
    config: &Config,
    now: Now,
) -> Result<&'a Command, Reason> {
    let command = presented.command.as_ref().ok_or(Reason::OperatorMalformed)?;
    well_formed(&command.act)?;
    awakener_spec::rule!(Opr1);
    if image.plane.as_ref() != Some(&command.plane) {
        return Err(Reason::OperatorWrongPlane);
    }
    let signer = image.operators.get(&command.key).filter(|operator| operator.revoked.is_none());
    let signer = signer.ok_or(Reason::OperatorUnknownKey)?;
    if !presented.signature_valid {
        return Err(Reason::OperatorBadSignature);
    }
    let clock = clock(image, &command.act, found, now)?;
    timely(image, command.not_after, clock, config)?;
    in_scope(signer, &command.act)?;
    if image.commands.contains_key(&command.id) {
        return Err(Reason::OperatorReplayed);
    }
    as_expected(image, command, found)?;
    if !exists(image, &command.act, found)? {
        return Err(Reason::OperatorUnknownSubject);
    }
    bounded(&command.act, config, now)?;
    Ok(command)
}

/// What the types of the subjects cannot say.
#[expect(clippy::wildcard_enum_match_arm, reason = "the types say everything about the other acts")]
fn well_formed(act: &Act) -> Result<(), Reason> {
    let wrong = match act {
        Act::InstallRoster(roster) if roster.version != 1 || roster.entries.is_empty() => true,
        Act::RegisterAckKey(key) if key.not_before >= key.not_after => true,
        Act::RegisterRouterKey(key) | Act::RegisterAuditKey(key) if key.not_before >= key.not_after => true,
        Act::RegisterOperatorKey(key) if key.scopes.is_empty() => true,
        _ => false,
    };
    if wrong { Err(Reason::OperatorMalformed) } else { Ok(()) }
}

/// The clock that a command's end is held against. While the clock has stepped back the store holds the later time,
/// by which no command that accepts the earlier one could be in time: that act alone is judged by the clock itself.
fn clock(image: &Image, act: &Act, found: &Found, now: Now) -> Result<Wall, Reason> {
    match (act.outside(), found) {
        (Some(Outside::Clock), Found::Clock(observed)) if image.clock.is_some() => Ok(*observed),
        (Some(Outside::Clock), Found::Clock(_)) | (None, _) => Ok(now.wall),
        (Some(Outside::Clock), Found::Nothing | Found::Subject(_)) => Err(Reason::FactsMissing),
        (
            Some(Outside::Latch(_) | Outside::Witness(..) | Outside::Quarantined(..) | Outside::Break),
            found,
        ) => match found {
            Found::Subject(_) => Ok(now.wall),
            Found::Nothing | Found::Clock(_) => Err(Reason::FactsMissing),
        },
    }
}

/// An end not after that of a forgotten command counts as past, so that forgetting never lets a replay in, not even
/// when an operator has accepted an earlier time.
fn timely(image: &Image, not_after: Wall, clock: Wall, config: &Config) -> Result<(), Reason> {
    if not_after < clock || image.forgotten.is_some_and(|forgotten| not_after <= forgotten) {
        return Err(Reason::OperatorExpired);
    }
    if not_after > clock + config.command {
        return Err(Reason::OperatorBoundExceeded);
    }
    Ok(())
}

/// No scope grants another: a key can neither act beyond its scopes nor hand out one that it lacks.
fn in_scope(signer: &Operator, act: &Act) -> Result<(), Reason> {
    let handed_out = if let Act::RegisterOperatorKey(key) = act { key.scopes.as_slice() } else { &[] };
    let has = |scope: Scope| signer.scopes.contains(&scope);
    if has(act.scope()) && handed_out.iter().copied().all(has) {
        Ok(())
    } else {
        Err(Reason::OperatorOutOfScope)
    }
}

/// What the command expects, and what a registration always expects: that nothing of the kind is there.
#[expect(clippy::wildcard_enum_match_arm, reason = "the other acts register nothing")]
fn as_expected(image: &Image, command: &Command, found: &Found) -> Result<(), Reason> {
    let matches = command.expected_state.as_ref().is_none_or(|expected| match found {
        Found::Subject(state) => state.as_ref() == Some(expected),
        Found::Nothing | Found::Clock(_) => image.state(&command.act) == *expected,
    });
    let taken = match &command.act {
        Act::RegisterTarget(of) => image.targets.contains(&of.target),
        Act::RegisterPrincipal(of) => image.credentials.contains_key(&of.credential),
        Act::RegisterAckKey(of) => image.serves(&of.key.key_id(), Some(&of.target)),
        Act::RegisterRouterKey(of) | Act::RegisterAuditKey(of) => image.serves(&of.key.key_id(), None),
        Act::RegisterOperatorKey(of) => image.serves(&of.key.key_id(), None),
        _ => false,
    };
    if matches && !taken { Ok(()) } else { Err(Reason::OperatorStateConflict) }
}

/// Whether everything that the act names is there.
fn exists(image: &Image, act: &Act, found: &Found) -> Result<bool, Reason> {
    let target = |target: &Target| image.targets.contains(target);
    Ok(match act {
        Act::InstallRoster(roster) => image.knows_all_of(roster),
        Act::Arm(of) => target(&of.target),
        Act::Pause(of) => of.target.as_ref().is_none_or(target),
        Act::Resume(of) => of.target.as_ref().is_none_or(target),
        Act::Disarm(of) | Act::RemoveTarget(of) => target(&of.target),
        Act::RegisterPrincipal(of) => of.may_read.iter().chain(&of.acts_for).all(target),
        Act::RevokePrincipal(of) => match &of.credential {
            None => image.knows(&of.principal),
            Some(hash) => image.credentials.get(hash).is_some_and(|held| held.principal == of.principal),
        },
        Act::RegisterAckKey(of) => target(&of.target),
        Act::RevokeAckKey(of) => {
            image.ack_keys.get(&of.target).is_some_and(|keys| keys.contains_key(&of.key_id))
        }
        Act::RevokeRouterKey(of) => image.router_keys.contains_key(&of.key_id),
        Act::RevokeAuditKey(of) => image.audit_keys.contains_key(&of.key_id),
        Act::RevokeOperatorKey(of) => image.operators.contains_key(&of.key_id),
        Act::AcceptClock(_) => image.clock.is_some(),
        Act::ClearLatch(_) | Act::Resolve(_) | Act::ReleaseQuarantine(_) | Act::Reanchor(_) => match found {
            Found::Subject(state) => state.is_some(),
            Found::Nothing | Found::Clock(_) => return Err(Reason::FactsMissing),
        },
        Act::RemoveRoster(_)
        | Act::Abort(_)
        | Act::StopAll(_)
        | Act::RegisterTarget(_)
        | Act::RegisterRouterKey(_)
        | Act::RegisterAuditKey(_)
        | Act::RegisterOperatorKey(_) => true,
    })
}

/// Rosters and grants end by themselves, and not too late (ADM-5, STN-2).
fn bounded(act: &Act, config: &Config, now: Now) -> Result<(), Reason> {
    let within = |end: Wall, longest: Millis| {
        if end <= now.wall {
            Err(Reason::OperatorExpired)
        } else if end > now.wall + longest {
            Err(Reason::OperatorBoundExceeded)
        } else {
            Ok(())
        }
    };
    if let Act::InstallRoster(roster) = act {
        awakener_spec::rule!(Adm5);
        within(roster.not_after, config.roster)?;
    }
    if let Act::Arm(of) = act {
        awakener_spec::rule!(Stn2);
        within(of.until, config.grant)?;
    }
    Ok(())
}
