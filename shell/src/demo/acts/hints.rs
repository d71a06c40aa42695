//! What the network does to hints: loses, repeats, reorders, delays, changes and forges them.

use std::time::Duration;

use awakener_kernel::ids::MessageId;
use awakener_kernel::time::{Millis, Wall};
use awakener_kernel::wire::{ParsedHint, UnsignedHint};
use serde_json::{Value, json};

use super::Seen;
use crate::demo::network::Policy;
use crate::demo::stack::{Stack, chance, records, until};
use crate::keys::SecretKey;

/// The next hint that the plane sent for a target, kept back by the network.
async fn caught(stack: &Stack, target: &str, many: usize) -> Result<Vec<Vec<u8>>, String> {
    until(&format!("{many} hint(s) for {target}"), 10, async || {
        let seen = stack.kit.network.seen(stack.plan.name, target);
        Ok((seen.len() >= many).then_some(seen))
    })
    .await
}

fn parsed(bytes: &[u8]) -> Result<ParsedHint, String> {
    ParsedHint::parse(bytes).map_err(|malformed| malformed.to_string())
}

/// The daemon's audit lines for refused hints of one class (VER-4).
pub(super) async fn classes(stack: &Stack, class: &str) -> Result<Vec<Value>, String> {
    let entries = stack.audit("wake").await?;
    let lines = entries.iter().filter_map(|entry| {
        let line = &entry["entry"]["outcome"]["hints"];
        (line["class"] == class)
            .then(|| json!({ "position": entry["position"], "hash": entry["hash"], "line": line }))
    });
    Ok(lines.collect())
}

/// How many turns a station started on a message.
async fn turns(stack: &Stack, target: &str) -> Result<Vec<Value>, String> {
    Ok(records(&stack.audit(target).await?, &["turn_started", "turn_finished", "synced"]))
}

/// What is known of an alert once it is acknowledged.
async fn acknowledged(stack: &Stack, message: MessageId) -> Seen {
    stack.receipt(message, "tier0_acknowledged", 20).await
}

pub(super) async fn lost(stack: &Stack) -> Seen {
    stack.kit.network.set("loss", "lost", Policy::Lose);
    let message = stack.alert("lost", "this hint will be lost").await?;
    let lost = caught(stack, "lost", 1).await?;
    let receipts = acknowledged(stack, message).await?;
    let of = |kind: &str| -> Vec<Value> {
        let all = receipts.as_array().into_iter().flatten();
        all.filter(|receipt| receipt["kind"] == kind).map(|receipt| receipt["wake"].clone()).collect()
    };
    Ok(json!({
        "lost": lost.iter().map(|bytes| parsed(bytes).map(|hint| hint.hint.id.to_string())).collect::<Result<Vec<_>, _>>()?,
        "accepted": of("wake_accepted"),
        "receipts": receipts,
        "inbox": stack.inbox("lost").await?,
    }))
}

/// Kept back until it is over, then presented: never a dispatch.
pub(super) async fn stale(stack: &Stack) -> Seen {
    stack.kit.network.set("loss", "late", Policy::Hold);
    let message = stack.alert("late", "this hint will be late").await?;
    let hints = caught(stack, "late", 1).await?;
    let bytes = hints.first().ok_or("no hint")?;
    let hint = parsed(bytes)?.hint;
    while crate::clock::system() <= hint.expires_at + Millis(20) {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let before = stack.daemon_status().await?["refused"].clone();
    let judged = stack.kit.network.present("loss", bytes).await?;
    let receipts = acknowledged(stack, message).await?;
    let wake = hint.id.to_string();
    let flights: Vec<&Value> = receipts
        .as_array()
        .into_iter()
        .flatten()
        .filter(|receipt| receipt["wake"] == wake.as_str() && receipt["kind"] == "dispatch_attempted")
        .collect();
    Ok(json!({
        "wake": wake,
        "judged": judged,
        "refused_before": before,
        "flights_of_it": flights,
        "audit": classes(stack, "stale").await?,
        "receipts": receipts,
    }))
}

pub(super) async fn duplicated(stack: &Stack) -> Seen {
    stack.kit.network.set("main", "twice", Policy::Hold);
    let message = stack.alert("twice", "this hint will come three times").await?;
    let hints = caught(stack, "twice", 1).await?;
    let bytes = hints.first().ok_or("no hint")?;
    let first = stack.kit.network.present("main", bytes).await?;
    stack.receipt(message, "wake_accepted", 10).await?;
    let second = stack.kit.network.present("main", bytes).await?;
    let receipts = acknowledged(stack, message).await?;
    let third = stack.kit.network.present("main", bytes).await?;
    Ok(json!({
        "judged": [first, second, third],
        "receipts": receipts,
        "flights": flights(&receipts),
        "turns": started(&turns(stack, "twice").await?),
        "audit": classes(stack, "replay").await?,
    }))
}

pub(super) async fn reordered(stack: &Stack) -> Seen {
    stack.kit.network.set("main", "order", Policy::Hold);
    let one = stack.alert("order", "the older alert").await?;
    let two = stack.alert("order", "the newer alert").await?;
    let hints = caught(stack, "order", 2).await?;
    let (first, second) = (hints.first().ok_or("no hint")?, hints.get(1).ok_or("no second hint")?);
    let newer = stack.kit.network.present("main", second).await?;
    until("the newer hint to be accepted", 10, async || {
        let daemon = stack.daemon_status().await?;
        let token = parsed(second)?.hint.freshness_token.get();
        let high = daemon["targets"].as_array().into_iter().flatten().find(|of| of["target"] == "order");
        Ok(high.is_some_and(|of| of["high_water"] == token).then_some(()))
    })
    .await?;
    let older = stack.kit.network.present("main", first).await?;
    Ok(json!({
        "tokens": [parsed(first)?.hint.freshness_token.get(), parsed(second)?.hint.freshness_token.get()],
        "newer": newer,
        "older": older,
        "receipts": [acknowledged(stack, one).await?, acknowledged(stack, two).await?],
        "audit": classes(stack, "freshness_regression").await?,
        "inbox": stack.inbox("order").await?,
    }))
}

pub(super) async fn tampered(stack: &Stack) -> Seen {
    guarded(stack, "tamper", "tamper", |genuine| {
        let mut event: Value = serde_json::from_slice(genuine).map_err(|error| error.to_string())?;
        let token = event["data"]["freshness_token"].as_u64().ok_or("no token")?;
        event["data"]["freshness_token"] = (token + 1).into();
        Ok(event.to_string().into_bytes())
    })
    .await
}

pub(super) async fn wrong_router(stack: &Stack) -> Seen {
    guarded(stack, "router", "wrong_router", |genuine| {
        let foreign = SecretKey::generate().map_err(|error| error.to_string())?;
        let hint = awakener_kernel::wire::Hint { router_key_id: foreign.key_id(), ..parsed(genuine)?.hint };
        Ok(UnsignedHint::new(hint).map_err(|error| error.to_string())?.sign(foreign.signing()))
    })
    .await
}

/// Signed with the plane's own key, which somebody stole; only the plane knows that it never minted it.
pub(super) async fn forged(stack: &Stack) -> Seen {
    let file = stack.dir.join("keys/router.key");
    guarded(stack, "forge", "unminted", |genuine| {
        let stolen = SecretKey::load(&file).map_err(|error| error.to_string())?;
        let now = crate::clock::system();
        let genuine = parsed(genuine)?.hint;
        let token = awakener_kernel::ids::Token::from_u64(genuine.freshness_token.get() + 1_000);
        let hint = awakener_kernel::wire::Hint {
            id: awakener_kernel::ids::WakeId::from_parts(now.0, chance()?),
            nonce: awakener_kernel::ids::Nonce(chance()?),
            freshness_token: token.ok_or("no token")?,
            time: now,
            expires_at: Wall(now.0 + 10_000),
            ..genuine
        };
        Ok(UnsignedHint::new(hint).map_err(|error| error.to_string())?.sign(stolen.signing()))
    })
    .await
}

/// Keeps a genuine hint back, presents a bad one made of it, looks that nothing moved, then lets the genuine one
/// through: the control.
async fn guarded(
    stack: &Stack,
    target: &str,
    class: &str,
    spoil: impl Fn(&[u8]) -> Result<Vec<u8>, String>,
) -> Seen {
    stack.kit.network.set("main", target, Policy::Hold);
    let message = stack.alert(target, "a hint on a bad road").await?;
    let hints = caught(stack, target, 1).await?;
    let genuine = hints.first().ok_or("no hint")?;
    let waker = async || {
        let status = stack.daemon_status().await?;
        let all = status["targets"].as_array().cloned().unwrap_or_default();
        let own = all.into_iter().find(|of| of["target"] == target).unwrap_or_default();
        Ok::<_, String>(
            json!({ "phase": own["phase"], "attempts": own["attempts"], "high_water": own["high_water"] }),
        )
    };
    let before = waker().await?;
    let judged = stack.kit.network.present("main", &spoil(genuine)?).await?;
    let audit = until(&format!("the audit line of {class}"), 10, async || {
        let lines = classes(stack, class).await?;
        Ok((!lines.is_empty()).then_some(lines))
    })
    .await?;
    let after = waker().await?;
    let between = stack.receipts(message).await?;
    let control = stack.kit.network.present("main", genuine).await?;
    let receipts = acknowledged(stack, message).await?;
    Ok(json!({
        "judged": judged,
        "audit": audit,
        "waker_before": before,
        "waker_after": after,
        "receipts_between": between,
        "genuine": control,
        "receipts": receipts,
        "flights": flights(&receipts),
    }))
}

pub(super) fn flights(receipts: &Value) -> Vec<Value> {
    let all = receipts.as_array().into_iter().flatten();
    all.filter(|receipt| receipt["kind"] == "dispatch_attempted").cloned().collect()
}

pub(super) fn started(turns: &[Value]) -> Vec<Value> {
    turns.iter().filter(|record| record["name"] == "turn_started").cloned().collect()
}
