//! Operator commands: built, signed with a key file and handed to the plane.
//!
//! A shell on the machine is no authority: without the key nothing here has any effect. Rules: OPR-1, OPR-2, IDN-7,
//! IDN-6.

use awakener_kernel::ids::{CommandId, PublicKey, Target};
use awakener_kernel::time::Millis;
use awakener_kernel::wire::{OperatorCommand, Signed};
use awakener_spec::Reason;
use serde_json::{Value, json};

use super::acts::{self, Act};
use super::args::{Keys, Latch, Operator, PrincipalCommand, Public, TargetCommand};
use super::context::{Bearer, Context};
use super::out::{self, Answer};
use super::{init, query};
use crate::clock;
use crate::exit::Failure;
use crate::keys::{SecretKey, Token};

/// Signs an act and has the plane judge it.
pub fn act(context: &Context, act: &Act, by: &Operator) -> Result<Answer, Failure> {
    command(context, act, by).map(Answer::fields)
}

fn command(context: &Context, act: &Act, by: &Operator) -> Result<Value, Failure> {
    let Some(file) = &by.operator_key else {
        return Err(Failure::usage("This command needs an operator key.")
            .then("Say --operator-key FILE, or set AWAKENER_OPERATOR_KEY to the name of the file."));
    };
    let key = SecretKey::load(file)?;
    let now = clock::system();
    let command = OperatorCommand {
        id: CommandId::from_parts(now.0, init::chance()?),
        plane: context.config()?.plane.clone(),
        act: act.name.into(),
        subject: act.subject.clone(),
        expected_state: by.expect.clone().map_or(Value::Null, Value::String),
        reason: by.reason.clone(),
        not_after: now + by.valid,
        key_id: key.key_id(),
    };
    let id = command.id;
    let signed = Signed::sign(command, key.signing());
    let client = context.client(Bearer::Signed)?;
    client
        .post("/v1/operator", &signed.to_value(), None)
        .map_err(|failure| failure.saying(format!("(command {id})")))
}

/// `arm`.
pub fn arm(context: &Context, target: &Target, length: Millis, by: &Operator) -> Result<Answer, Failure> {
    act(context, &acts::arm(target, clock::system() + length), by)
}

/// `pause`.
pub fn pause(
    context: &Context,
    target: Option<&Target>,
    length: Millis,
    by: &Operator,
) -> Result<Answer, Failure> {
    act(context, &acts::pause(target, clock::system() + length), by)
}

/// `target …`.
pub fn target(context: &Context, command: TargetCommand) -> Result<Answer, Failure> {
    match command {
        TargetCommand::Add { target, by } => act(context, &acts::register_target(&target), &by),
        TargetCommand::Remove { target, by } => act(context, &acts::remove_target(&target), &by),
        TargetCommand::List => {
            query::part(context, "targets", &["target", "armed_until", "paused_until", "ack_keys"])
        }
    }
}

/// `principal …`.
pub fn principal(context: &Context, command: PrincipalCommand) -> Result<Answer, Failure> {
    match command {
        PrincipalCommand::Add { principal, may_read, acts_for, out, by } => {
            let file = out.unwrap_or_else(|| context.token_file(principal.as_str()));
            let token = Token::generate()?;
            let act = acts::register_principal(&principal, token.hash(), &may_read, acts_for.as_ref());
            if context.dry_run() {
                return self::act(context, &act, &by);
            }
            // First the file: a credential that is registered and then lost helps nobody.
            token.create(&file)?;
            let answer = command_or_forget(context, &act, &by, || std::fs::remove_file(&file))?;
            Ok(Answer::fields(with(answer, "token_file", file.display().to_string().into())))
        }
        PrincipalCommand::Revoke { principal, credential, by } => {
            act(context, &acts::revoke_principal(&principal, credential), &by)
        }
        PrincipalCommand::List => {
            query::part(context, "principals", &["principal", "credential", "may_read", "acts_for"])
        }
    }
}

/// Undoes what was prepared, but only when the plane surely did not accept.
fn command_or_forget(
    context: &Context,
    act: &Act,
    by: &Operator,
    forget: impl FnOnce() -> std::io::Result<()>,
) -> Result<Value, Failure> {
    command(context, act, by).inspect_err(|failure| {
        if failure.reason != Some(Reason::OutcomeUnknown) {
            let _ = forget();
        }
    })
}

fn with(mut value: Value, name: &str, member: Value) -> Value {
    if let Value::Object(members) = &mut value {
        members.insert(name.into(), member);
    }
    value
}

/// `latch …`.
pub fn latch(context: &Context, command: Latch) -> Result<Answer, Failure> {
    match command {
        Latch::Clear { target, by } => act(context, &acts::clear_latch(&target), &by),
        Latch::Show => query::latches(context),
    }
}

/// `keys …`.
pub fn keys(context: &Context, command: Keys) -> Result<Answer, Failure> {
    let now = clock::system();
    match command {
        Keys::New { file } => {
            let key = SecretKey::generate()?;
            key.create(&file)?;
            Ok(Answer::fields(json!({
                "file": file.display().to_string(),
                "key_id": key.key_id(),
                "public": key.public(),
            })))
        }
        Keys::List => {
            query::part(context, "keys", &["role", "key_id", "target", "by", "valid_from", "valid_until"])
        }
        Keys::AddAck { target, by_role, key, r#for, by } => {
            act(context, &acts::register_ack_key(&target, by_role, public(&key)?, now, now + r#for), &by)
        }
        Keys::RevokeAck { target, key_id, by } => act(context, &acts::revoke_ack_key(&target, key_id), &by),
        Keys::AddRouter { key, r#for, by } => {
            act(context, &acts::register_router_key(public(&key)?, now, now + r#for), &by)
        }
        Keys::RevokeRouter { key_id, by } => act(context, &acts::revoke_router_key(key_id), &by),
        Keys::AddAudit { key, r#for, by } => {
            act(context, &acts::register_audit_key(public(&key)?, now, now + r#for), &by)
        }
        Keys::RevokeAudit { key_id, by } => act(context, &acts::revoke_audit_key(key_id), &by),
        Keys::AddOperator { operator, scopes, key, by } => {
            act(context, &acts::register_operator_key(&operator, public(&key)?, &scopes), &by)
        }
        Keys::RevokeOperator { key_id, by } => act(context, &acts::revoke_operator_key(key_id), &by),
    }
}

fn public(key: &Public) -> Result<PublicKey, Failure> {
    match (&key.public, &key.key_file) {
        (Some(public), _) => Ok(*public),
        (None, Some(file)) => Ok(SecretKey::load(file)?.public()),
        (None, None) => Err(Failure::usage("No key is named.").then("Say --public KEY or --key-file FILE.")),
    }
}

/// `audit reanchor`.
pub fn reanchor(context: &Context, by: &Operator) -> Result<Answer, Failure> {
    act(context, &acts::reanchor(), by)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn opr_1_what_is_absent_is_not_null() {
        assert!(acts::pause(None, clock::system()).subject.get("target").is_none());
        assert!(out::shown(&Value::Null) == "-");
    }
}
