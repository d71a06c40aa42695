//! What goes wrong at a station: a cut turn, a backlog, a runaway, and an audit that fails at the worst moment.

use std::path::Path;
use std::time::Duration;

use awakener_kernel::operator::{Act, TargetName};
use serde_json::{Value, json};

use super::Seen;
use crate::demo::network::Policy;
use crate::demo::stack::{SENDER, Stack, records, target, until};

/// How long a station may take to stop by itself.
const STOPS: Duration = Duration::from_secs(15);

/// The alert stays; a plain message with the same kind of turn is done with, and still was not observed.
pub(super) async fn truncated(stack: &Stack) -> Seen {
    let mail = stack.submission("cut", "message/1", "plain mail for a model that is cut off")?;
    let alert = stack.alert("cut", "an alert for a model that is cut off").await?;
    let sent = stack.submit(SENDER, &mail).await?;
    let of_alert = stack.receipt(alert, "cognition_truncated", 15).await?;
    let of_mail = stack.receipt(mail.id, "response_recorded", 15).await?;
    let trace = stack.ask(&format!("/v1/trace/{}", mail.id)).await?;
    Ok(json!({
        "sent": sent.status,
        "alert": alert.to_string(),
        "of_alert": of_alert,
        "of_mail": of_mail,
        "mail_finished": trace["message"]["state"]["finished"],
        "inbox": stack.inbox("cut").await?,
    }))
}

/// What lay there before the station knew its tail is backlog; what comes after it is measured.
pub(super) async fn backlog(stack: &Stack) -> Seen {
    stack.kit.network.set("main", "backlog", Policy::Lose);
    let old = stack.alert("backlog", "I was here before you").await?;
    stack.launch_station("backlog")?;
    stack.station_armed("backlog").await?;
    stack.receipt(old, "tier0_acknowledged", 15).await?;
    let tail = stack.station_status("backlog").await?["tail"].clone();
    // The station is at rest before the measured one comes.
    until("the station to be at rest", 10, async || {
        let status = stack.station_status("backlog").await?;
        Ok((status["phase"] == "armed").then_some(()))
    })
    .await?;
    stack.kit.network.set("main", "backlog", Policy::Forward);
    let new = stack.alert("backlog", "I came after your tail").await?;
    stack.receipt(new, "tier0_acknowledged", 15).await?;
    let latencies = until("both latencies", 10, async || {
        let entries = stack.audit("backlog").await?;
        let found: Vec<Value> = entries
            .iter()
            .filter_map(|entry| {
                let synced = entry["entry"]["outcome"]["advanced"].get("synced")?;
                Some(json!({ "position": entry["position"], "hash": entry["hash"], "latency": synced }))
            })
            .collect();
        Ok((found.len() >= 2).then_some(found))
    })
    .await?;
    Ok(json!({ "tail": tail, "latencies": latencies, "inbox": stack.inbox("backlog").await? }))
}

fn read(path: &Path) -> Value {
    let text = std::fs::read_to_string(path).unwrap_or_default();
    serde_json::from_str(&text).unwrap_or(Value::Null)
}

fn incidents(stack: &Stack, target: &str) -> Vec<Value> {
    let found = std::fs::read_dir(stack.dir.join("incidents"));
    let files = found.into_iter().flatten().flatten().map(|entry| entry.path());
    let own = files.filter(|path| {
        path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(&format!("{target}-")))
    });
    own.map(|path| read(&path)).collect()
}

/// The model sends its own input to itself again. Latched, refused at boot, cleared by the operator alone.
pub(super) async fn runaway(stack: &Stack) -> Seen {
    let alert = stack.alert("parrot", "polly wants to say it again").await?;
    let process = stack.process("parrot");
    let exit = stack.kit.children.exit(&process, STOPS).await?;
    let latch = read(&stack.dir.join("latch-parrot"));
    stack.launch_station("parrot")?;
    let boot = stack.kit.children.exit(&process, STOPS).await?;
    // The operator takes the grant first: what is cleared comes back dark, not armed.
    stack.enact(Act::Disarm(TargetName { target: target("parrot")? })).await?;
    let unsigned = stack.cli(&["latch", "clear", "parrot"]).await?;
    let key = stack.operator_file();
    let latch_still = stack.dir.join("latch-parrot").exists();
    let clear = stack.cli(&["latch", "clear", "parrot", "--operator-key", &key]).await?;
    let latch_after = stack.dir.join("latch-parrot").exists();
    let kept = incidents(stack, "parrot");
    stack.launch_station("parrot")?;
    stack.serves_station("parrot").await?;
    let entries = stack.audit("parrot").await?;
    let trips: Vec<Value> = entries
        .iter()
        .filter_map(|entry| {
            let trip = entry["entry"]["outcome"].get("trip")?;
            Some(json!({ "position": entry["position"], "hash": entry["hash"], "trip": trip }))
        })
        .collect();
    let story =
        records(&entries, &["latched", "trip_audited", "latch_written", "latch_archived", "latch_cleared"]);
    Ok(json!({
        "exit": exit,
        "latch": latch,
        "boot_exit": boot,
        "unsigned_clear": unsigned.seen(),
        "latch_still": latch_still,
        "clear": clear.seen(),
        "latch_after_clear": latch_after,
        "incidents_after_clear": kept,
        "phase_after": stack.station_status("parrot").await?["phase"],
        "incidents_after_restart": incidents(stack, "parrot"),
        "audit": { "trips": trips, "story": story },
        "alert": stack.receipts(alert).await?,
    }))
}

/// Somebody else holds the lock of the station's store at the instant of the trip, so that nothing can be recorded.
pub(super) async fn audit_fails(stack: &Stack) -> Seen {
    let proxy = stack.proxies.get("mute").ok_or("no proxy")?;
    let first = stack.alert("mute", "the only turn that this boot may have").await?;
    stack.receipt(first, "tier0_acknowledged", 15).await?;
    until("the station to be at rest", 10, async || {
        let status = stack.station_status("mute").await?;
        Ok((status["phase"] == "armed").then_some(()))
    })
    .await?;
    let (hold, held) = std::sync::mpsc::channel::<()>();
    let (took, taken) = std::sync::mpsc::channel::<bool>();
    let database = stack.dir.join("station-mute.db");
    proxy.before_claim(move || {
        let (locked, wait) = std::sync::mpsc::channel::<()>();
        std::thread::spawn(move || {
            let lock = rusqlite::Connection::open(&database)
                .and_then(|db| db.execute_batch("PRAGMA busy_timeout = 5000; BEGIN IMMEDIATE").map(|()| db));
            let _ = took.send(lock.is_ok());
            let _ = locked.send(());
            // Until the station has stopped.
            let _ = held.recv_timeout(STOPS);
            drop(lock);
        });
        let _ = wait.recv_timeout(Duration::from_secs(5));
    });
    let second = stack.alert("mute", "one turn too many").await?;
    let process = stack.process("mute");
    let exit = stack.kit.children.exit(&process, STOPS).await?;
    let locked = taken.try_recv().unwrap_or(false);
    let latch = read(&stack.dir.join("latch-mute"));
    drop(hold);
    let log = stack.kit.children.log(&process);
    let loud: Vec<&str> = log.lines().filter(|line| line.contains("MISSING")).collect();
    stack.launch_station("mute")?;
    let boot = stack.kit.children.exit(&process, STOPS).await?;
    Ok(json!({
        "store_locked": locked,
        "exit": exit,
        "latch": latch,
        "loud": loud,
        "boot_exit": boot,
        "second": stack.receipts(second).await?,
        "inbox": stack.inbox("mute").await?,
    }))
}
