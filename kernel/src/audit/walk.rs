//! Walking a chain record by record, over the segments that were anchored anew (AUD-5).
//!
//! A chain that is broken stays broken: nothing repairs a record. What an operator can do is to begin a new segment,
//! whose first record names the break and seals everything that stands before it, as it stands: a digest over the
//! stored bytes of all records so far. From there on the walk goes on; whoever alters the sealed part afterwards
//! breaks the seal, and with it the chain again. Such a record counts only right behind the operator's command to
//! anchor. Not here: who may give that command (`operator`), and what closes with a broken chain (`registry`).

use alloc::vec::Vec;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use super::{Break, BreakKind, Head, follow};
use crate::ids::ContentHash;
use crate::wire::Domain;

/// The machine of records that begin a segment.
pub const MACHINE: &str = "chain";

/// What the first record of a new segment says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Reanchored {
    /// The first break before it that no segment had named.
    #[serde(rename = "break")]
    pub named: Break,
    /// The digest over all records before it.
    pub sealed: ContentHash,
}

impl Reanchored {
    /// The outcome of its record.
    pub fn outcome(&self) -> Value {
        json!({ "reanchored": self })
    }
}

/// A walk under way.
#[derive(Clone, Debug)]
pub struct Walk {
    head: Head,
    /// Over everything so far; `None` for a walk that began behind a trusted head and has not seen what is before.
    seal: Option<ContentHash>,
    /// The break that the walk is beyond.
    broken: Option<Break>,
    /// Whether the record before this one is a command to anchor anew.
    commanded: bool,
    segments: Vec<Break>,
}

/// What a walk found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Walked {
    /// The end of the last segment, up to the first break in it.
    pub head: Head,
    /// The breaks that new segments name, oldest first.
    pub segments: Vec<Break>,
    /// The break that none names.
    pub broken: Option<Break>,
    /// What a new segment has to seal; `None` for a walk that has not seen the whole chain.
    pub seal: Option<ContentHash>,
}

impl Default for Walk {
    fn default() -> Self {
        Self { seal: Some(Head::EMPTY.hash), ..Self::behind(Head::EMPTY) }
    }
}

impl Walk {
    /// A walk behind a head that is already trusted. It accepts no new segment, because it cannot judge a seal.
    pub const fn behind(head: Head) -> Self {
        Self { head, seal: None, broken: None, commanded: false, segments: Vec::new() }
    }

    /// Takes the next record: its stored bytes, the hash that is stated for it, if one is, and whether it is the last.
    pub fn record(&mut self, stored: &[u8], stated: Option<&ContentHash>, last: bool) {
        let followed = match self.broken {
            None => follow(&self.head, stored, last).and_then(|head| match stated {
                Some(stated) if *stated != head.hash => {
                    Err(Break { position: head.size, kind: BreakKind::Hash })
                }
                Some(_) | None => Ok(head),
            }),
            Some(found) => Err(found),
        };
        match followed {
            Ok(head) => self.head = head,
            Err(found) => match self.anchored(stored, stated) {
                Some((head, named)) => {
                    awakener_spec::rule!(Aud5);
                    self.head = head;
                    self.broken = None;
                    self.segments.push(named);
                }
                None => self.broken = Some(found),
            },
        }
        self.commanded = is_command(stored);
        self.seal = self.seal.map(|before| sealed(&before, stored));
    }

    /// What was found.
    pub fn end(self) -> Walked {
        let Self { head, seal, broken, segments, .. } = self;
        Walked { head, segments, broken, seal }
    }

    /// The head of the segment that this record begins, if it may.
    fn anchored(&self, stored: &[u8], stated: Option<&ContentHash>) -> Option<(Head, Break)> {
        let seal = self.seal.filter(|_| self.commanded)?;
        let hash = super::hash(stored);
        if stated.is_some_and(|stated| *stated != hash) {
            return None;
        }
        let record: Value = serde_json::from_slice(stored).ok()?;
        if record.get("machine").and_then(Value::as_str) != Some(MACHINE)
            || crate::json::canonical(&record) != stored
        {
            return None;
        }
        let said: Reanchored =
            serde_json::from_value(record.get("outcome")?.get("reanchored")?.clone()).ok()?;
        let size = record.get("position")?.as_u64()?;
        // Positions go on behind everything that was ever numbered, also when the tail is gone.
        (said.sealed == seal && size > self.head.size).then_some((Head { size, hash }, said.named))
    }
}

fn sealed(before: &ContentHash, stored: &[u8]) -> ContentHash {
    let line = Domain::Audit.line();
    let digest = Sha256::new().chain_update(line).chain_update(before.0).chain_update(stored);
    ContentHash(digest.finalize().into())
}

/// Whether a record is that of an operator's command to anchor anew.
fn is_command(stored: &[u8]) -> bool {
    // Most records are not, and a walk is long: what does not even have the word is not read.
    if !stored.windows(10).any(|part| part == b"\"reanchor\"") {
        return false;
    }
    let Ok(record) = serde_json::from_slice::<Value>(stored) else { return false };
    let act =
        |record: &Value| record.get("enacted")?.get("act")?.get("act")?.as_str().map(|act| act == "reanchor");
    record.get("machine").and_then(Value::as_str) == Some("registry")
        && record
            .get("records")
            .and_then(Value::as_array)
            .is_some_and(|records| records.iter().any(|record| act(record) == Some(true)))
}
