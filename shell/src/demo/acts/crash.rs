//! Processes that die: the daemon before a replay, the plane between commit and publish.

use serde_json::{Value, json};

use super::Seen;
use super::hints::{classes, flights, started};
use crate::demo::stack::{SENDER, Stack, records, until};

/// An old hint, still in its life, presented to a daemon that was restarted since.
pub(super) async fn replayed(stack: &Stack) -> Seen {
    let message = stack.alert("again", "this hint will be replayed").await?;
    let before = stack.receipt(message, "tier0_acknowledged", 15).await?;
    let hint = stack.kit.network.seen("crash", "again").into_iter().next().ok_or("no hint")?;
    let process = stack.process("wake");
    let first = stack.kit.children.pid(&process);
    stack.kit.children.kill(&process)?;
    stack.start_wake().await?;
    let second = stack.kit.children.pid(&process);
    let judged = stack.kit.network.present("crash", &hint).await?;
    let receipts = stack.receipts(message).await?;
    let turns = records(&stack.audit("again").await?, &["turn_started"]);
    Ok(json!({
        "daemon": { "before": first, "after": second },
        "judged": judged,
        "audit": classes(stack, "replay").await?,
        "flights_before": flights(&before),
        "flights": flights(&receipts),
        "turns": started(&turns),
    }))
}

/// `kill -9` after the commit and before the hint went out.
pub(super) async fn killed(stack: &Stack) -> Seen {
    let process = stack.process("up");
    let file = |name: &str| stack.dir.join(name);
    std::fs::write(file("pause-now"), "").map_err(|error| error.to_string())?;
    let submission = stack.submission("crash", "interrupt-alert/1", "the plane will die under this")?;
    let message = submission.id;
    let answer = stack.submit(SENDER, &submission).await;
    let paused = until("the plane to reach the window", 10, async || {
        Ok(std::fs::read_to_string(file("paused")).ok().filter(|text| text.ends_with('\n')))
    })
    .await;
    // Whatever happened, nothing may stay paused.
    let killed = stack.kit.children.kill(&process);
    let _ = std::fs::remove_file(file("pause-now"));
    let _ = std::fs::remove_file(file("paused"));
    let (paused, exit) = (paused?, killed?);
    let sent_before = stack.kit.network.seen("crash", "crash").len();
    stack.start_plane().await?;
    let inbox = stack.inbox("crash").await?;
    let at_restart = stack.receipts(message).await?;
    let repeat = stack.submit(SENDER, &submission).await?;
    let receipts = stack.receipt(message, "tier0_acknowledged", 20).await?;
    let of = |kind: &str| -> Vec<Value> {
        let all = receipts.as_array().into_iter().flatten();
        all.filter(|receipt| receipt["kind"] == kind).cloned().collect()
    };
    Ok(json!({
        "window": paused.split_whitespace().last(),
        "exit": exit,
        "first_answer": answer.map_or_else(|error| json!({ "none": error }), |answer| answer.seen()),
        "hints_sent_before": sent_before,
        "inbox": inbox,
        "at_restart": at_restart,
        "repeat": repeat.seen(),
        "admitted": of("admitted"),
        "accepted": of("wake_accepted"),
        "receipts": receipts,
        "inbox_after": stack.inbox("crash").await?,
        "turns": started(&records(&stack.audit("crash").await?, &["turn_started"])),
    }))
}
