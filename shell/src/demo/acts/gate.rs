//! Who may raise an alert: the roster in every state, and targets that are none.

use std::time::Duration;

use awakener_kernel::operator::{Act, Empty, TargetName};
use awakener_kernel::time::{Millis, Wall};
use awakener_kernel::wire::{Hint, ParsedHint, SigningKey, Submission, UnsignedHint};
use serde_json::{Value, json};

use super::Seen;
use crate::demo::stack::{ROGUE, SENDER, Stack, target};
use crate::keys::SecretKey;

const TARGET: &str = "gate";
/// Stands in the body of every refused submission, and must stand in no record.
const BODY: &str = "nobody may keep this text";

pub(super) async fn missing(stack: &Stack) -> Seen {
    stack.enact(Act::RemoveRoster(Empty {})).await?;
    let refused = refusal(stack, SENDER, TARGET).await?;
    Ok(json!({ "refused": refused, "control": control(stack).await? }))
}

/// A roster that names a target which is gone admits nobody, for any target; and a file that is no roster is not even
/// sent.
pub(super) async fn malformed(stack: &Stack) -> Seen {
    stack.enact(Act::RegisterTarget(TargetName { target: target("ghost")? })).await?;
    stack.install_roster(&[TARGET, "ghost"], Millis(3_600_000)).await?;
    let before = submit(stack, SENDER, TARGET).await?;
    stack.enact(Act::RemoveTarget(TargetName { target: target("ghost")? })).await?;
    let refused = refusal(stack, SENDER, TARGET).await?;
    let file = stack.dir.join("roster.toml");
    let text = "version = 1\nvalid = \"1h\"\n[[entries]]\nprincipal = \"ops\"\nschema = \"interrupt-alert/1\"\ntraget = \"gate\"\n";
    std::fs::write(&file, text).map_err(|error| error.to_string())?;
    let (file, key) = (file.display().to_string(), stack.operator_file());
    let by_file = stack.cli(&["roster", "install", &file, "--operator-key", &key]).await?;
    Ok(json!({
        "before": before,
        "refused": refused,
        "file": by_file.seen(),
        "control": control(stack).await?,
    }))
}

pub(super) async fn expired(stack: &Stack) -> Seen {
    stack.install_roster(&[TARGET], Millis(900)).await?;
    let before = submit(stack, SENDER, TARGET).await?;
    tokio::time::sleep(Duration::from_millis(950)).await;
    let refused = refusal(stack, SENDER, TARGET).await?;
    Ok(json!({ "before": before, "refused": refused, "control": control(stack).await? }))
}

/// Authenticated is not authorised.
pub(super) async fn unauthorised(stack: &Stack) -> Seen {
    let control = control(stack).await?;
    let refused = refusal(stack, ROGUE, TARGET).await?;
    let url = format!("{}/v1/messages", stack.plane);
    let body = stack.submission(TARGET, "interrupt-alert/1", "let me in")?.to_value();
    let nobody = stack.kit.outside.post(&url, "no-such-token", &body).await?.seen();
    let mut forged = stack.submission(TARGET, "interrupt-alert/1", "let me in")?.to_value();
    forged["from"] = SENDER.into();
    let pretends = stack.kit.outside.post(&url, &stack.token(ROGUE)?, &forged).await?.seen();
    // A lower tier needs no roster: it is the wake that is guarded, not the inbox.
    let mail = stack.submission(TARGET, "message/1", "no alert")?;
    let mail = stack.submit(ROGUE, &mail).await?.seen();
    Ok(
        json!({ "refused": refused, "nobody": nobody, "pretends": pretends, "mail": mail, "control": control }),
    )
}

/// For a target that does not exist, that the roster does not list, and, as a hint, that the daemon does not serve.
pub(super) async fn wrong_target(stack: &Stack, main: &Stack) -> Seen {
    let control = control(stack).await?;
    let unlisted = refusal(stack, SENDER, "other").await?;
    let unknown = submit(stack, SENDER, "nobody").await?;
    let router = SecretKey::load(&main.dir.join("keys/router.key")).map_err(|error| error.to_string())?;
    let before = main.daemon_status().await?["refused"].clone();
    let stray = main.kit.network.present("main", &hint_for("nobody", router.signing())?).await?;
    let audit = super::hints::classes(main, "wrong_target").await?;
    Ok(json!({
        "unlisted": unlisted,
        "unknown": unknown,
        "hint": { "judged": stray, "before": before, "audit": audit },
        "control": control,
    }))
}

/// A hint with a good signature for any target, of nobody's minting.
pub(super) fn hint_for(name: &str, key: &SigningKey) -> Result<Vec<u8>, String> {
    let now = crate::clock::system();
    let hint = Hint {
        id: awakener_kernel::ids::WakeId::from_parts(now.0, crate::demo::stack::chance()?),
        message_id: crate::demo::stack::message_id()?,
        target: target(name)?,
        nonce: awakener_kernel::ids::Nonce(crate::demo::stack::chance()?),
        freshness_token: awakener_kernel::ids::Token::from_u64(1 << 40).ok_or("no token")?,
        time: now,
        expires_at: Wall(now.0 + 10_000),
        router_key_id: awakener_kernel::wire::public_key(key).key_id(),
    };
    let bytes = UnsignedHint::new(hint).map_err(|malformed| malformed.to_string())?.sign(key);
    ParsedHint::parse(&bytes).map_err(|malformed| malformed.to_string())?;
    Ok(bytes)
}

/// With a good roster the same sender gets through: the refusal was the roster's.
async fn control(stack: &Stack) -> Seen {
    stack.install_roster(&[TARGET], Millis(3_600_000)).await?;
    submit(stack, SENDER, TARGET).await
}

async fn submit(stack: &Stack, party: &str, to: &str) -> Seen {
    let submission = stack.submission(to, "interrupt-alert/1", "are you there?")?;
    Ok(stack.submit(party, &submission).await?.seen())
}

/// A submission that should be refused: the answer, what it left in the inbox, and what the audit chain says.
async fn refusal(stack: &Stack, party: &str, to: &str) -> Seen {
    let before = stack.inbox(to).await?["last"].clone();
    let submission = stack.submission(to, "interrupt-alert/1", "wake up")?;
    let submission = Submission { body: json!({ "text": BODY, "of": submission.body }), ..submission };
    let answer = stack.submit(party, &submission).await?;
    let export = stack.audit("plane").await?;
    let id = submission.id.to_string();
    let audit: Vec<Value> = export
        .iter()
        .filter(|entry| entry.to_string().contains(&id))
        .map(|entry| {
            let inner = &entry["entry"];
            json!({
                "position": entry["position"],
                "hash": entry["hash"],
                "identities": inner["identities"],
                "outcome": inner["outcome"],
                "records": inner["records"],
            })
        })
        .collect();
    Ok(json!({
        "status": answer.status,
        "answer": answer.body,
        "last_before": before,
        "last_after": stack.inbox(to).await?["last"],
        "audit": audit,
        "body_in_audit": export.iter().any(|entry| entry.to_string().contains(BODY)),
    }))
}
