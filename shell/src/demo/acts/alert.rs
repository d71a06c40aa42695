//! One alert from intent to `cleanup_complete`, with its times, as it happens.

use std::time::Instant;

use awakener_kernel::time::Wall;
use serde_json::{Value, json};

use super::Seen;
use crate::demo::stack::{SENDER, Stack, about, kinds, records, until};

const TARGET: &str = "mataya-dyad";

pub(super) async fn one_alert(stack: &Stack, tell: &(dyn Fn(&str) + Sync)) -> Seen {
    let submission = stack.submission(TARGET, "interrupt-alert/1", "the build is red, look at once")?;
    let message = submission.id;
    let start = crate::clock::system();
    let begun = Instant::now();
    tell(&format!("alert {message} for {TARGET}, sent by {SENDER}"));
    let answer = stack.submit(SENDER, &submission).await?;
    let answered_ms = begun.elapsed().as_millis();
    tell(&rung(
        start,
        start.0 + u64::try_from(answered_ms).unwrap_or_default(),
        "answered",
        &format!("sender, status {}", answer.status),
    ));
    let mut told: Vec<String> = Vec::new();
    let receipts = until("the ladder's plane side", 15, async || {
        let receipts = stack.receipts(message).await?;
        for receipt in receipts.as_array().into_iter().flatten() {
            let kind = receipt["kind"].as_str().unwrap_or_default();
            if !told.iter().any(|known| known == kind) {
                told.push(kind.to_owned());
                tell(&rung(start, time(&receipt["at"]), kind, "plane, receipt"));
            }
        }
        let done = ["runtime_notified", "wake_emitted", "cursor_advanced"];
        Ok(done.iter().all(|kind| kinds(&receipts).contains(kind)).then_some(receipts))
    })
    .await?;
    let closing = until("the station's cleanup", 10, async || {
        let all =
            records(&stack.audit(TARGET).await?, &["turn_started", "turn_finished", "synced", "cleaned_up"]);
        Ok(all.iter().any(|record| record["name"] == "cleaned_up").then_some(all))
    })
    .await?;
    for record in closing.iter().filter(|record| record["name"] == "cleaned_up") {
        let at = record["at"].as_u64().unwrap_or_default();
        tell(&rung(start, at, "cleanup_complete", "station, audit export"));
    }
    let daemon = about(
        records(&stack.audit("wake").await?, &["accepted", "dispatch_attempted", "dispatched"]),
        message,
    );
    let trace = stack.ask(&format!("/v1/trace/{message}")).await?;
    let total = closing.iter().filter_map(|record| record["at"].as_u64()).max().unwrap_or_default();
    Ok(json!({
        "answer": answer.seen(),
        "receipts": receipts,
        "daemon": daemon,
        "station": closing,
        "stuck": trace["stuck"],
        "finished": trace["message"]["state"]["finished"],
        "inbox": stack.inbox(TARGET).await?,
        "total_ms": total.saturating_sub(start.0),
    }))
}

fn time(at: &Value) -> u64 {
    at.as_str().and_then(|text| Wall::parse_utc(text).ok()).map_or(0, |wall| wall.0)
}

fn rung(start: Wall, at: u64, what: &str, source: &str) -> String {
    format!("{:>6} ms  {what:<20} {source}", at.saturating_sub(start.0))
}
