//! Runtimes that are not there, and acknowledgements by who may not give them.

use awakener_kernel::ids::{ContentHash, MessageId};
use awakener_kernel::values::{AckOutcome, By};
use awakener_kernel::wire::{AckStatement, Signed};
use serde_json::{Value, json};

use super::Seen;
use super::hints::flights;
use crate::demo::network::Policy;
use crate::demo::stack::{Stack, kinds, target};
use crate::keys::SecretKey;

/// Nobody listens where the manifest says; later the station is there.
pub(super) async fn unavailable(stack: &Stack) -> Seen {
    let message = stack.alert("away", "is anybody there?").await?;
    let between = stack.receipt(message, "runtime_unavailable", 15).await?;
    let inbox = stack.inbox("away").await?;
    let kept = stack.ask(&format!("/v1/trace/{message}")).await?;
    stack.launch_station("away")?;
    stack.station_armed("away").await?;
    let receipts = stack.receipt(message, "tier0_acknowledged", 15).await?;
    Ok(json!({
        "between": between,
        "inbox": inbox,
        "state": kept["message"]["state"],
        "stuck": kept["stuck"],
        "receipts": receipts,
        "flights": flights(&receipts),
    }))
}

/// The manifest names a runtime that this build has no adapter for.
pub(super) async fn unknown(stack: &Stack) -> Seen {
    let message = stack.alert("unknown", "nobody can wake you").await?;
    let receipts = stack.receipt(message, "runtime_unavailable", 15).await?;
    let status = stack.daemon_status().await?;
    let all = status["targets"].as_array().cloned().unwrap_or_default();
    let own = all.into_iter().find(|of| of["target"] == "unknown").unwrap_or_default();
    Ok(json!({ "waker": own, "receipts": receipts, "inbox": stack.inbox("unknown").await? }))
}

/// The right alert, read by its own target, and statements by the wrong keys; last the right one.
pub(super) async fn ack_wrong_key(stack: &Stack) -> Seen {
    stack.kit.network.set("main", "keys", Policy::Lose);
    let message = stack.alert("keys", "only your own key counts").await?;
    let human = SecretKey::generate().map_err(|error| error.to_string())?;
    stack.add_ack_key(&target("keys")?, By::Human, &human).await?;
    let token = stack.token("keys")?;
    let inbox = format!("{}/v1/inbox/keys", stack.plane);
    let outside = &stack.kit.outside;
    let claim = outside
        .post(&format!("{inbox}/claim"), &token, &json!({ "v": 1, "holder": "keys", "max": 1 }))
        .await?;
    let fence = claim.body["fence"].clone();
    let content = claim.body["messages"][0]["content_sha256"].as_str().unwrap_or_default().to_owned();
    let content = ContentHash::parse(&content).map_err(|error| format!("{error}: {}", claim.body))?;
    let unread = ack(stack, &human, message, content, By::Human).await?;
    let read = json!({ "v": 1, "fence": fence, "message": message });
    let read = outside.post(&format!("{inbox}/read"), &token, &read).await?;
    let other = SecretKey::load(&stack.dir.join("keys/ack-order.key")).map_err(|error| error.to_string())?;
    let stranger = SecretKey::generate().map_err(|error| error.to_string())?;
    let refused = json!({
        "of_another_target": ack(stack, &other, message, content, By::Human).await?,
        "of_nobody": ack(stack, &stranger, message, content, By::Human).await?,
        "in_another_role": ack(stack, &human, message, content, By::Agent).await?,
        "of_another_content": ack(stack, &human, message, ContentHash([7; 32]), By::Human).await?,
    });
    let between = stack.inbox("keys").await?;
    let control = ack(stack, &human, message, content, By::Human).await?;
    Ok(json!({
        "read": read.status,
        "unread": unread,
        "refused": refused,
        "between": between,
        "control": control,
        "after": stack.inbox("keys").await?,
        "receipts": kinds(&stack.receipts(message).await?),
    }))
}

async fn ack(
    stack: &Stack,
    key: &SecretKey,
    message_id: MessageId,
    content_sha256: ContentHash,
    by: By,
) -> Result<Value, String> {
    let statement = AckStatement {
        message_id,
        content_sha256,
        target: target("keys")?,
        outcome: AckOutcome::Handled,
        by,
        key_id: key.key_id(),
        time: crate::clock::system(),
    };
    let signed = Signed::sign(statement, key.signing());
    let url = format!("{}/v1/acks", stack.plane);
    Ok(stack.kit.outside.post(&url, &stack.token("keys")?, &signed.to_value()).await?.seen())
}
