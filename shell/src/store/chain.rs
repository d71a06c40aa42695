//! The audit chain as rows (AUD-1, AUD-2): what one entry holds and how it is hashed.

use awakener_kernel::machine::OutcomeOf;
use awakener_kernel::open::Entry;
use serde_json::{Value, json};

use super::{Db, Persist};

/// The end of a chain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Head {
    /// Number of entries; the next position is one more.
    pub size: u64,
    /// Hash of the last entry, 64 hex digits; zeros when there is none.
    pub hash: String,
}

impl Default for Head {
    fn default() -> Self {
        Self { size: 0, hash: "0".repeat(64) }
    }
}

/// A text that belongs to a step but that no machine sees.
#[derive(Clone, Debug)]
pub enum Statement {
    /// A submission, body included, with the hash of its normal form and the trace context it came with.
    Submission { submission: Value, normal: String, trace: Option<String> },
    /// The text of a reply or the reason of a silence.
    Answer { kind: &'static str, body: String },
    /// A signed document as received.
    Signed { kind: &'static str, subject: String, signed: Value },
}

pub(super) fn head_of(last: Option<(i64, String)>) -> rusqlite::Result<Head> {
    Ok(match last {
        None => Head::default(),
        Some((position, hash)) => Head { size: u64::try_from(position).unwrap_or(0), hash },
    })
}

impl Db {
    /// The entry of one step, as it is hashed.
    pub(super) fn entry<M: Persist>(&self, entry: &Entry<'_, M>) -> serde_json::Result<Value> {
        let (input, facts, identities) = match entry.input {
            Some((input, facts)) => {
                (serde_json::to_value(input)?, serde_json::to_value(facts)?, M::identities(input))
            }
            None => (Value::Null, Value::Null, Value::Null),
        };
        let outcome = match entry.outcome {
            Some(outcome) => serde_json::to_value::<&OutcomeOf<M>>(outcome)?,
            None => json!("recovered"),
        };
        Ok(json!({
            "v": 1,
            "position": self.head.size + 1,
            "prev": self.head.hash,
            "machine": M::NAME,
            "target": self.focus.target,
            "identities": identities,
            "now": entry.now,
            "config": self.config_hash,
            "input": input,
            "facts": facts,
            "outcome": outcome,
            "records": entry.records.iter().map(serde_json::to_value).collect::<Result<Vec<_>, _>>()?,
        }))
    }
}

/// The bytes that are stored and hashed, and their hash in hex.
pub(super) fn seal(entry: &Value) -> (Vec<u8>, String) {
    let bytes = awakener_kernel::json::canonical(entry);
    let hash = awakener_kernel::wire::domain::Domain::Audit.frame(&bytes);
    (bytes, hex(&sha256(hash.as_bytes())))
}
