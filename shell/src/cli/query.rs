//! What a plane shows: receipts and one message's trace; and the latches of this machine.
//!
//! Projections only: nothing is counted or concluded here (AUD-8). Not here: the status (`agents`). Rules: RCP-4, AUD-8,
//! FUS-6.

use std::fs;
use std::time::{Duration, Instant};

use awakener_kernel::ids::{MessageId, Target};
use awakener_kernel::time::Millis;
use serde_json::{Value, json};

use super::args::Receipts;
use super::context::{Bearer, Context};
use super::out::{self, Answer};
use super::plane::value;
use super::show;
use crate::client::ReceiptFilter;
use crate::exit::{Exit, Failure};

/// Between two looks of a trace that waits.
const LOOK: Duration = Duration::from_millis(100);

/// `receipts`.
pub fn receipts(context: &Context, args: &Receipts) -> Result<Answer, Failure> {
    let filter = ReceiptFilter {
        message: args.message,
        wake: args.wake,
        thread: args.thread,
        target: args.target.clone(),
        kind: args.kind,
        since: args.since,
        after: args.after,
        limit: args.limit,
    };
    let found = context.plane(Bearer::Observer)?.ask(async |client| client.receipts(&filter).await)?;
    Ok(Answer::new(value(&found), show::receipts(&found)))
}

/// `trace`.
pub fn trace(context: &Context, message: MessageId, wait: Option<Millis>) -> Result<Answer, Failure> {
    let plane = context.plane(Bearer::Observer)?;
    let until = wait.map(|wait| Instant::now() + Duration::from_millis(wait.0));
    loop {
        let trace = plane.ask(async |client| client.trace(message).await)?;
        let late = until.is_none_or(|until| Instant::now() >= until);
        if trace.stuck.is_none() || late {
            let exit = if trace.stuck.is_some() && wait.is_some() { Exit::Failed.code() } else { 0 };
            return Ok(Answer { exit, ..Answer::new(value(&trace), show::trace(&trace)) });
        }
        std::thread::sleep(LOOK);
    }
}

/// `latch show`: whatever stands at a latch path is a latch, readable or not (FUS-6).
pub fn latches(context: &Context) -> Result<Answer, Failure> {
    let cannot = |error: std::io::Error| {
        Failure::new(Exit::Failed, format!("The state directory cannot be read: {error}."))
            .at(context.state.display())
    };
    let mut latches = Vec::new();
    for entry in fs::read_dir(&context.state).map_err(cannot)? {
        let entry = entry.map_err(cannot)?;
        let name = entry.file_name().to_string_lossy().into_owned();
        let Some(target) = name.strip_prefix("latch-").and_then(|name| Target::parse(name).ok()) else {
            continue;
        };
        let content = fs::read_to_string(entry.path())
            .map_or(Value::Null, |text| serde_json::from_str(&text).unwrap_or(Value::String(text)));
        awakener_spec::rule!(Fus6);
        latches.push(json!({"target": target, "file": entry.path().display().to_string(), "latch": content}));
    }
    let mut incidents: Vec<String> = match fs::read_dir(context.state.join("incidents")) {
        Ok(entries) => {
            entries.filter_map(|e| Some(e.ok()?.file_name().to_string_lossy().into_owned())).collect()
        }
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Vec::new(),
        Err(error) => return Err(cannot(error)),
    };
    incidents.sort();
    latches.sort_by_key(|latch| latch.get("target").map(out::shown));
    let value = json!({"latches": latches, "incidents": incidents});
    let mut text = show::latches(&latches);
    if !incidents.is_empty() {
        text += &format!("\nincidents\n{}\n", incidents.join("\n"));
    }
    Ok(Answer::new(value, text))
}
