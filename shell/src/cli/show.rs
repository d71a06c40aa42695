//! What people see of the plane's answers: aligned, short, and never raw JSON but for a message's own body.
//!
//! Functions from wire types to text; nothing is counted or concluded here (AUD-8). Ids that a next command takes are
//! whole, others are their last eight digits, which are chance. Rules: CON-1, WHY-1.

mod agents;
mod messages;
mod registry;
mod status;
mod way;

pub use agents::{rows, why};
pub use messages::{admitted, claimed, inbox, message, work};
pub use registry::{keys, principals, roster, targets};
pub use status::{latches, status};
pub use way::{receipts, trace};

use serde_json::Value;

use super::out::shown;

/// The last eight digits of an id.
fn short(id: &str) -> String {
    let digits = id.len().saturating_sub(8);
    id.get(digits..).unwrap_or(id).to_owned()
}

/// A length of time in one unit, rounded down: `840ms`, `12s`, `5m`, `3h`, `2d`.
fn span(ms: u64) -> String {
    match ms {
        0..1_000 => format!("{ms}ms"),
        1_000..60_000 => format!("{}s", ms / 1_000),
        60_000..3_600_000 => format!("{}m", ms / 60_000),
        3_600_000..86_400_000 => format!("{}h", ms / 3_600_000),
        _ => format!("{}d", ms / 86_400_000),
    }
}

/// A detail as words: `by=agent outcome=handled`; nested names are joined with dots.
fn said(detail: &Value) -> String {
    fn gather(name: &str, value: &Value, words: &mut Vec<String>) {
        match value {
            Value::Null => {}
            Value::Object(members) => {
                for (inner, value) in members {
                    let name = if name.is_empty() { inner.clone() } else { format!("{name}.{inner}") };
                    gather(&name, value, words);
                }
            }
            Value::Array(items) => {
                let items: Vec<String> = items.iter().map(shown).collect();
                gather(name, &items.join(",").into(), words);
            }
            Value::Bool(_) | Value::Number(_) | Value::String(_) if name.is_empty() => {
                words.push(shown(value));
            }
            Value::Bool(_) | Value::Number(_) | Value::String(_) => {
                words.push(format!("{name}={}", shown(value)));
            }
        }
    }
    let mut words = Vec::new();
    gather("", detail, &mut words);
    words.join(" ")
}

/// The name of a value of a closed list, as it stands on the wire.
fn word(of: impl serde::Serialize) -> String {
    serde_json::to_value(of).map(|value| said(&value)).unwrap_or_default()
}

/// Name and text, aligned, for the heads of longer answers; empty texts are left out.
fn head(lines: &[(&str, String)]) -> String {
    let width = lines.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
    let lines = lines.iter().filter(|(_, text)| !text.is_empty());
    lines.map(|(name, text)| format!("{name:width$}  {text}\n")).collect()
}

/// A table, or the words that say that there is nothing.
fn table(columns: &[&str], rows: &[Vec<String>], nothing: &str) -> String {
    if rows.is_empty() { format!("{nothing}\n") } else { super::out::table(columns, rows) }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn con_1_details_become_words_and_never_json() {
        assert_eq!(said(&json!(null)), "");
        assert_eq!(said(&json!("echo")), "echo");
        assert_eq!(
            said(&json!({"by": "agent", "at": {"n": 3}, "list": ["a", "b"]})),
            "at.n=3 by=agent list=a,b"
        );
    }

    #[test]
    fn con_1_a_span_has_one_unit() {
        let shown = [999, 1_000, 59_999, 60_000, 3_600_000, 86_400_000].map(span);
        assert_eq!(shown, ["999ms", "1s", "59s", "1m", "1h", "1d"]);
    }

    #[test]
    fn con_1_a_short_id_is_the_part_that_is_chance() {
        assert_eq!(short("019ae3c0-0000-7000-8000-00000abc0001"), "0abc0001");
        assert_eq!(short("abc"), "abc");
    }
}
