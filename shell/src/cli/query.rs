//! What a plane shows: receipts, one message's trace, its status and the parts of it; and the latches of this machine.
//!
//! Projections only: nothing is counted or concluded here (AUD-8). Rules: RCP-4, AUD-8, FUS-6.

use std::fs;

use awakener_kernel::ids::{MessageId, Target};
use serde_json::{Value, json};

use super::args::Receipts;
use super::context::{Bearer, Context};
use super::out::{self, Answer};
use crate::exit::{Exit, Failure};

/// `receipts`.
pub fn receipts(context: &Context, args: &Receipts) -> Result<Answer, Failure> {
    let mut query = Vec::new();
    let mut put = |name, value: Option<String>| query.extend(value.map(|value| (name, value)));
    put("message", args.message.map(|id| id.to_string()));
    put("wake", args.wake.map(|id| id.to_string()));
    put("thread", args.thread.map(|id| id.to_string()));
    put("target", args.target.as_ref().map(ToString::to_string));
    put("kind", args.kind.map(|kind| kind.to_string()));
    put("since", args.since.map(|wall| wall.utc()));
    put("limit", args.limit.map(|n| n.to_string()));
    let value = context.client(Bearer::Observer)?.get("/v1/receipts", &query)?;
    let text = out::list(value.get("receipts"), &["time", "kind", "target", "message", "wake", "detail"]);
    Ok(Answer::new(value, text))
}

/// `trace`.
pub fn trace(context: &Context, message: MessageId) -> Result<Answer, Failure> {
    let value = context.client(Bearer::Observer)?.get(&format!("/v1/trace/{message}"), &[])?;
    let text = match value.get("receipts") {
        Some(receipts) => out::list(Some(receipts), &["time", "kind", "wake", "turn", "detail"]),
        None => out::fields(&value),
    };
    Ok(Answer::new(value, text))
}

/// `status`.
pub fn status(context: &Context) -> Result<Answer, Failure> {
    context.client(Bearer::Observer)?.get("/v1/status", &[]).map(Answer::fields)
}

/// One member of the status, as a table when it is a list.
pub fn part(context: &Context, member: &str, columns: &[&str]) -> Result<Answer, Failure> {
    let status = context.client(Bearer::Observer)?.get("/v1/status", &[])?;
    let Some(value) = status.get(member) else {
        return Err(Failure::new(Exit::Failed, format!("The plane's status does not show `{member}`.")));
    };
    let text = match value {
        Value::Array(_) => out::list(Some(value), columns),
        Value::Object(members) => match members.get("entries") {
            Some(entries) => {
                let end = members.get("not_after").map(out::shown).unwrap_or_default();
                format!("until {end}\n\n{}", out::list(Some(entries), columns))
            }
            None => out::fields(value),
        },
        Value::Null => "none\n".into(),
        Value::Bool(_) | Value::Number(_) | Value::String(_) => out::shown(value) + "\n",
    };
    Ok(Answer::new(json!({ "v": 1, member: value }), text))
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
    let mut text = out::list(value.get("latches"), &["target", "file"]);
    if !incidents.is_empty() {
        text += &format!("\nincidents\n{}\n", incidents.join("\n"));
    }
    Ok(Answer::new(value, text))
}
