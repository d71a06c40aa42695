//! Operator commands: built, signed with a key file and handed to the plane.
//!
//! A shell on the machine is no authority: without the key nothing here has any effect. Rules: OPR-1, OPR-2, IDN-7,
//! IDN-6.

use awakener_kernel::ids::{CommandId, PublicKey};
use awakener_kernel::operator::{
    Act, AuthorityKey, Credential, KeyName, NewAckKey, NewOperatorKey, OldAckKey, OldPrincipal, TargetName,
};
use awakener_kernel::wire::{OperatorCommand, Signed};
use awakener_spec::Reason;
use serde_json::{Map, Value, json};

use super::args::{Keys, Operator, PrincipalCommand, Public, TargetCommand};
use super::context::{Bearer, Context};
use super::out::{self, Answer};
use super::plane::{self, Told};
use super::{init, registry};
use crate::clock;
use crate::exit::{Exit, Failure};
use crate::http::wire::answers::Enacted;
use crate::keys::{SecretKey, Token};

/// Signs an act and has the plane judge it.
pub fn act(context: &Context, act: Act, by: &Operator) -> Result<Answer, Failure> {
    Ok(command(context, &act, by)?.answer(|enacted| enacted_as(&enacted, &act, None)))
}

/// What took effect, on what, with what else there is to say.
fn enacted_as(enacted: &Enacted, act: &Act, extra: Option<(&str, Value)>) -> Answer {
    let mut shown = plane::value(enacted);
    if let (Value::Object(members), Some((name, said))) = (&mut shown, extra) {
        members.insert(name.into(), said);
    }
    let subject = subject(act).unwrap_or_default();
    let mut text = enacted.act.name().to_owned();
    for name in ["target", "principal", "operator", "by", "message", "key_id", "until", "not_after"] {
        if let Some(said) = subject.get(name) {
            text += &format!("  {name} {}", out::shown(said));
        }
    }
    text += &format!("\ncommand {}\n", enacted.id);
    if let Some(file) = shown.get("token_file") {
        text += &format!("token in {}\n", out::shown(file));
    }
    Answer::new(shown, text)
}

fn command(context: &Context, act: &Act, by: &Operator) -> Result<Told<Enacted>, Failure> {
    let Some(file) = &by.operator_key else {
        return Err(Failure::usage("This command needs an operator key.")
            .then("Say --operator-key FILE, or set AWAKENER_OPERATOR_KEY to the name of the file."));
    };
    let key = SecretKey::load(file)?;
    let now = clock::system();
    let command = OperatorCommand {
        id: CommandId::from_parts(now.0, init::chance()?),
        plane: context.config()?.plane.clone(),
        act: act.name().name().into(),
        subject: subject(act)?,
        expected_state: by.expect.clone().map_or(Value::Null, Value::String),
        reason: by.reason.clone(),
        not_after: now + by.valid,
        key_id: key.key_id(),
    };
    let id = command.id;
    let signed = Signed::sign(command, key.signing());
    // What this program itself would not read needs no journey.
    Signed::<OperatorCommand>::parse(&signed.encode())
        .map_err(|error| Failure::refused(Reason::OperatorMalformed).saying(format!("({error})")))?;
    context
        .plane(Bearer::Signed)?
        .tell(async |client| client.operator(&signed).await)
        .map_err(|failure| failure.saying(format!("(command {id})")))
}

/// `latch clear`: the plane authorises and records, then the latch goes (FUS-7).
pub fn clear_latch(
    context: &Context,
    target: awakener_kernel::ids::Target,
    by: &Operator,
) -> Result<Answer, Failure> {
    let act = Act::ClearLatch(TargetName { target: target.clone() });
    let told = command(context, &act, by)?;
    if let Told::Done(enacted) = &told {
        super::run::clear_latch(context, &target, enacted.id)?;
    }
    Ok(told.answer(|enacted| enacted_as(&enacted, &act, Some(("cleared", true.into())))))
}

/// The subject as it stands in a command; the kernel's own form of it.
fn subject(act: &Act) -> Result<Map<String, Value>, Failure> {
    match serde_json::to_value(act).ok().and_then(|mut value| Some(value.get_mut("subject")?.take())) {
        Some(Value::Object(subject)) => Ok(subject),
        _none => Err(Failure::new(Exit::Failed, "The act has no form.")),
    }
}

/// `target …`.
pub fn target(context: &Context, command: TargetCommand) -> Result<Answer, Failure> {
    match command {
        TargetCommand::Add { target, by } => act(context, Act::RegisterTarget(TargetName { target }), &by),
        TargetCommand::Remove { target, by } => act(context, Act::RemoveTarget(TargetName { target }), &by),
        TargetCommand::List => registry::targets(context),
    }
}

/// `principal …`.
pub fn principal(context: &Context, what: PrincipalCommand) -> Result<Answer, Failure> {
    match what {
        PrincipalCommand::Add { principal, may_read, acts_for, out, by } => {
            let file = out.unwrap_or_else(|| context.token_file(principal.as_str()));
            let token = Token::generate()?;
            let credential = Credential { principal, credential: token.hash(), may_read, acts_for };
            let act = Act::RegisterPrincipal(credential);
            if context.dry_run() {
                return self::act(context, act, &by);
            }
            // First the file: a credential that is registered and then lost helps nobody.
            token.create(&file)?;
            let told = command(context, &act, &by).inspect_err(|failure| {
                // It goes again, unless the plane may have accepted.
                if failure.reason != Some(Reason::OutcomeUnknown) {
                    let _ = std::fs::remove_file(&file);
                }
            })?;
            let place = file.display().to_string();
            Ok(told.answer(|enacted| enacted_as(&enacted, &act, Some(("token_file", place.into())))))
        }
        PrincipalCommand::Revoke { principal, credential, by } => {
            act(context, Act::RevokePrincipal(OldPrincipal { principal, credential }), &by)
        }
        PrincipalCommand::List => registry::principals(context),
    }
}

/// `keys …`.
pub fn keys(context: &Context, command: Keys) -> Result<Answer, Failure> {
    let not_before = clock::system();
    let authority = |key: &Public, length| {
        Ok::<_, Failure>(AuthorityKey { key: public(key)?, not_before, not_after: not_before + length })
    };
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
        Keys::List => registry::keys(context),
        Keys::AddAck { target, by_role, key, r#for, by } => {
            let key = public(&key)?;
            let not_after = not_before + r#for;
            let new = NewAckKey { target, by: by_role, key, not_before, not_after };
            act(context, Act::RegisterAckKey(new), &by)
        }
        Keys::RevokeAck { target, key_id, by } => {
            act(context, Act::RevokeAckKey(OldAckKey { target, key_id }), &by)
        }
        Keys::AddRouter { key, r#for, by } => {
            act(context, Act::RegisterRouterKey(authority(&key, r#for)?), &by)
        }
        Keys::RevokeRouter { key_id, by } => act(context, Act::RevokeRouterKey(KeyName { key_id }), &by),
        Keys::AddAudit { key, r#for, by } => {
            act(context, Act::RegisterAuditKey(authority(&key, r#for)?), &by)
        }
        Keys::RevokeAudit { key_id, by } => act(context, Act::RevokeAuditKey(KeyName { key_id }), &by),
        Keys::AddOperator { operator, scopes, key, by } => {
            let new = NewOperatorKey { operator, key: public(&key)?, scopes };
            act(context, Act::RegisterOperatorKey(new), &by)
        }
        Keys::RevokeOperator { key_id, by } => act(context, Act::RevokeOperatorKey(KeyName { key_id }), &by),
    }
}

fn public(key: &Public) -> Result<PublicKey, Failure> {
    match (&key.public, &key.key_file) {
        (Some(public), _) => Ok(*public),
        (None, Some(file)) => Ok(SecretKey::load(file)?.public()),
        (None, None) => Err(Failure::usage("No key is named.").then("Say --public KEY or --key-file FILE.")),
    }
}
