//! The audit chain from a shell: fetched, exported, walked offline, held against kept checkpoints.
//!
//! An export is JSON lines `{"position", "hash", "entry"}`, as the plane gives them, and `raw` where the stored bytes
//! were altered. Verifying needs the export alone: each entry is put back into canonical form and walked by the kernel,
//! over the segments that operators anchored anew, and each stated hash must be the one that comes out. A chain that
//! lost its whole tail still verifies; only a kept checkpoint shows that, and the answer says so. Rules: AUD-1, AUD-3,
//! AUD-5.

mod checkpoint;
mod proof;
#[cfg(test)]
mod spoiled;

use std::fs::OpenOptions;
use std::io::Write as _;
use std::path::Path;

use awakener_kernel::audit::{self as chain, Break, BreakKind, Walk};
use awakener_kernel::ids::ContentHash;
use awakener_kernel::json::{self, FaultKind, Numbers};
use awakener_kernel::operator::{Act, Empty};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json as object};

use super::args::Audit;
use super::context::{Bearer, Context};
use super::out::Answer;
use super::plane::value;
use super::{offline, operator};
use crate::client::{Client, ClientError};
use crate::exit::{Exit, Failure};
use crate::http::wire::answers::AuditRow;
use awakener_spec::rule;
use checkpoint::Kept;

/// Entries asked for at once.
const PAGE: u32 = 1_000;

/// `audit …`.
pub fn audit(context: &Context, command: Audit) -> Result<Answer, Failure> {
    match command {
        Audit::Verify { file, since, audit_key, whole } => {
            let kept = since.as_deref().map(|file| Kept::load(file, audit_key)).transpose()?;
            match (&file, &kept) {
                (Some(file), _) => verify(&lines_of(file)?, &file.display().to_string(), kept.as_ref()),
                (None, Some(kept)) if !whole => proof::since(context, kept),
                (None, _) => verify(&fetch(context, 1)?, &context.url()?, kept.as_ref()),
            }
        }
        Audit::Prove { position, audit_key } => proof::prove(context, position, audit_key),
        Audit::Export { out, from } => export(context, &out, from),
        Audit::Checkpoint { out, newest } => checkpoint::fetch(context, out.as_deref(), newest),
        Audit::Reanchor { by } => operator::act(context, Act::Reanchor(Empty {}), &by),
    }
}

/// The chain of the plane; if none runs, of its store (INB-10).
fn fetch(context: &Context, from: u64) -> Result<Vec<Value>, Failure> {
    let plane = context.plane(Bearer::Observer)?;
    let asked = plane.ask(async |client| pages(client, from).await);
    let rows = offline::or_store(context, asked, |store| store.audit(from))?;
    Ok(rows.iter().map(value).collect())
}

async fn pages(client: &Client, mut from: u64) -> Result<Vec<AuditRow>, ClientError> {
    let mut all: Vec<AuditRow> = Vec::new();
    loop {
        let page = client.audit(from, PAGE).await?;
        let Some(last) = page.entries.last() else { return Ok(all) };
        if last.position < from {
            let what = "it hands out entries that were not asked for";
            return Err(ClientError::Malformed(what.to_owned()));
        }
        from = last.position.saturating_add(1);
        all.extend(page.entries);
    }
}

fn export(context: &Context, out: &Path, from: u64) -> Result<Answer, Failure> {
    let entries = fetch(context, from)?;
    let lines: String = entries.iter().map(|entry| entry.to_string() + "\n").collect();
    if out == Path::new("-") {
        return Ok(Answer::new(object!({ "entries": entries }), lines));
    }
    write_new(out, &lines)?;
    Ok(Answer::fields(object!({"file": out.display().to_string(), "entries": entries.len()})))
}

/// A file that was not there before.
fn write_new(file: &Path, text: &str) -> Result<(), Failure> {
    OpenOptions::new()
        .write(true)
        .create_new(true)
        .open(file)
        .and_then(|mut file| file.write_all(text.as_bytes()).and_then(|()| file.sync_all()))
        .map_err(|error| {
            Failure::new(Exit::Failed, format!("The file cannot be written: {error}."))
                .at(file.display())
                .then("Name a file that does not exist yet.")
        })
}

/// Each line passes the JSON door, so that an entry means the same to whoever else reads the export.
fn lines_of(file: &Path) -> Result<Vec<Value>, Failure> {
    let bytes = std::fs::read(file).map_err(|error| {
        Failure::new(Exit::Failed, format!("The export cannot be read: {error}.")).at(file.display())
    })?;
    let (mut entries, mut position) = (Vec::new(), 0);
    for line in bytes.split_inclusive(|byte| *byte == b'\n') {
        position += 1;
        match json::read_carrier(line, usize::MAX, Numbers::Any) {
            Ok(entry) => entries.push(entry),
            Err(fault) => {
                // Only the last line has no end. A crash cuts anywhere, also within a character.
                let cut_short = match fault.kind {
                    FaultKind::Truncated => true,
                    FaultKind::Utf8 => {
                        std::str::from_utf8(line).is_err_and(|error| error.error_len().is_none())
                    }
                    _ => false,
                };
                let torn = cut_short && !line.ends_with(b"\n");
                let kind = if torn { BreakKind::Torn } else { BreakKind::Form };
                return Err(broken(Break { position, kind }, &format!("{}:{position}", file.display())));
            }
        }
    }
    Ok(entries)
}

/// The bytes of an entry as they were stored; `None` if what stands for them is no base64.
fn stored(line: &Value) -> Option<Vec<u8>> {
    match line.get("raw") {
        None => Some(json::canonical(line.get("entry").unwrap_or(&Value::Null))),
        Some(raw) => STANDARD.decode(raw.as_str()?).ok(),
    }
}

fn verify(lines: &[Value], place: &str, kept: Option<&Kept>) -> Result<Answer, Failure> {
    let mut walk = Walk::default();
    let mut records = Vec::with_capacity(lines.len());
    for (number, line) in (1..).zip(lines) {
        let form = || broken(Break { position: number, kind: BreakKind::Form }, place);
        let stored = stored(line).ok_or_else(form)?;
        let stated = line.get("hash").and_then(Value::as_str).and_then(|text| ContentHash::parse(text).ok());
        // A text that is no hash is surely not that of the entry, and neither is one that stands at another place.
        let at = |of: &Value| of.get("position").and_then(Value::as_u64);
        let placed =
            line.get("raw").is_some() || line.get("entry").is_some_and(|entry| at(entry) == at(line));
        let stated = stated.filter(|_| placed).unwrap_or(chain::Head::EMPTY.hash);
        walk.record(&stored, Some(&stated), number == lines.len() as u64);
        records.push(stored);
    }
    let walked = walk.end();
    if let Some(found) = walked.broken {
        return Err(broken(found, place));
    }
    let judged = kept.map(|kept| kept.over(&records, place)).transpose()?;
    rule!(Aud5);
    let (count, head) = (records.len(), walked.head.hash);
    let mut said = object!({ "ok": true, "records": count, "head": head, "anchored": walked.segments });
    let mut text = format!("{count} records, unbroken\nhead {head}\n");
    for found in &walked.segments {
        text += &format!(
            "a break at record {} ({}), anchored by an operator\n",
            found.position,
            kind(found.kind)
        );
    }
    let not_proved = match judged {
        Some(judged) => {
            text += &judged.text;
            said["comparison"] = "extends".into();
            said["checkpoint"] = judged.value;
            format!("that nothing later than the checkpoint was cut off{}", judged.but)
        }
        None => "that nothing was cut off at the end; compare with a kept checkpoint".to_owned(),
    };
    text += &format!("not proved: {not_proved}\n");
    said["not_proved"] = not_proved.into();
    Ok(Answer::new(said, text))
}

const fn kind(kind: BreakKind) -> &'static str {
    match kind {
        BreakKind::Torn => "cut short",
        BreakKind::Form => "form",
        BreakKind::Gap => "position",
        BreakKind::Hash => "hash",
    }
}

fn broken(found: Break, place: &str) -> Failure {
    let kind = match found.kind {
        BreakKind::Torn => "is cut short",
        BreakKind::Form => "is not the canonical JSON of an entry",
        BreakKind::Gap => "does not have the position that follows the one before",
        BreakKind::Hash => {
            "does not carry the hash of what stands before it, or states another hash than its own"
        }
    };
    Failure::refused(found.reason()).saying(format!("(record {} {kind})", found.position)).at(place)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(position: u64, prev: &str) -> Value {
        let prev = ContentHash::parse(prev).unwrap();
        let entry =
            object!({"v": 1, "position": position, "prev": prev, "machine": "mailbox", "records": []});
        let hash = chain::hash(&json::canonical(&entry));
        object!({"position": position, "hash": hash, "entry": entry})
    }

    pub(super) fn three() -> Vec<Value> {
        let zero = ContentHash([0; 32]).to_string();
        let mut lines: Vec<Value> = Vec::new();
        for position in 1..=3 {
            let prev = lines.last().map_or(zero.clone(), |line| line["hash"].as_str().unwrap().into());
            lines.push(entry(position, &prev));
        }
        lines
    }

    pub(super) fn write(text: impl AsRef<[u8]>) -> Result<Answer, Failure> {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("chain.jsonl");
        std::fs::write(&file, text.as_ref()).unwrap();
        lines_of(&file).and_then(|lines| verify(&lines, "chain", None))
    }

    pub(super) fn text(lines: &[Value]) -> String {
        lines.iter().map(|line| line.to_string() + "\n").collect()
    }

    #[test]
    fn aud_5_an_export_verifies_and_every_change_shows_where() {
        let good = three();
        assert_eq!(write(text(&good)).unwrap().value["records"], 3);
        let mut edited = good.clone();
        edited[1]["entry"]["machine"] = "waker".into();
        let mut restated = edited.clone();
        restated[1]["hash"] = object!(chain::hash(&json::canonical(&restated[1]["entry"])));
        let mut moved = good.clone();
        moved.swap(0, 1);
        let gone = vec![good[0].clone(), good[2].clone()];
        let last = {
            let mut lines = good.clone();
            lines[2]["entry"]["machine"] = "waker".into();
            lines
        };
        for (lines, position) in [(edited, 2), (restated, 3), (moved, 1), (gone, 2), (last, 3)] {
            let failure = write(text(&lines)).unwrap_err();
            assert_eq!((failure.reason, failure.exit), (Some(awakener_spec::Reason::ChainBroken), 65));
            assert!(failure.what.contains(&format!("record {position} ")), "{failure}");
        }
    }

    #[test]
    fn aud_5_a_torn_tail_is_told_from_tampering() {
        let whole = text(&three());
        let torn = &whole[..whole.len() - 20];
        assert_eq!(write(torn).unwrap_err().reason, Some(awakener_spec::Reason::ChainTorn));
        let inside = whole.replacen("\"hash\"", "\"hash", 1);
        assert_eq!(write(&inside).unwrap_err().reason, Some(awakener_spec::Reason::ChainBroken));
    }
    #[test]
    fn aud_5_a_tail_that_is_torn_within_a_character_is_torn() {
        let mut lines = three();
        lines[2]["entry"]["machine"] = "\u{e9}".into();
        let whole = text(&lines);
        let at = whole.find('\u{e9}').unwrap() + 1;
        let reason = |bytes: &[u8]| write(bytes).map_err(|failure| failure.reason);
        assert_eq!(reason(&whole.as_bytes()[..at]).unwrap_err(), Some(awakener_spec::Reason::ChainTorn));
        let bad = [&whole.as_bytes()[..at], b"\n"].concat();
        assert_eq!(reason(&bad).unwrap_err(), Some(awakener_spec::Reason::ChainBroken));
    }

    #[test]
    fn aud_5_equal_keys_in_an_export_are_refused_and_deep_entries_are_not() {
        let good = three();
        let doubled = text(&good).replacen("\"machine\":", "\"machine\":\"waker\",\"machine\":", 1);
        assert_eq!(write(&doubled).unwrap_err().reason, Some(awakener_spec::Reason::ChainBroken));
        // A command that passed the door at its full depth stands in an entry, which stands in a line.
        let deep = |levels: usize| {
            let mut line = entry(1, &ContentHash([0; 32]).to_string());
            line["entry"]["records"] = (0..levels).fold(object!([]), |inner, _| object!([inner]));
            line["hash"] = object!(chain::hash(&json::canonical(&line["entry"])));
            write(text(&[line]))
        };
        assert_eq!(deep(40).unwrap().value["records"], 1);
        assert!(deep(60).is_err());
    }
}
