//! Questions to the plane's store that change nothing; any connection may ask them.
//!
//! [`Readers`] lends read-only connections, so that a reader never waits for the store thread. Not here: who may ask
//! (the HTTP side decides on credentials), and what a record means (the kernel's). Rules: INB-6, RCP-4, AUD-1, AUD-3.

mod chain_part;
mod ledger;
mod messages;
mod readers;
mod tree;

pub use chain_part::{part, tree_head};
pub use ledger::{ReceiptQuery, Scope, receipts, trace};
pub use messages::{Found, admitted, head_of, heads, page, whole};
pub use readers::Readers;
pub(crate) use tree::Tree;

use std::collections::BTreeSet;

use awakener_kernel::audit::{self, Head};
use awakener_kernel::ids::{ContentHash, KeyId};
use awakener_kernel::operator::{Act, Roster};
use awakener_kernel::registry::Registry;
use awakener_kernel::wire::{OperatorCommand, Signed};
use rusqlite::Connection;

/// Walks the whole chain. A break that an operator has seen, so that a later entry names it, is the end of one segment
/// and the start of the next (AUD-5); another alteration at the same place has another name.
///
/// # Errors
/// What does not fit, and where, in words.
pub fn chain(conn: &Connection) -> Result<Head, String> {
    let said = |error: rusqlite::Error| error.to_string();
    let named = named_breaks(conn).map_err(said)?;
    let mut statement =
        conn.prepare("SELECT position, entry, hash FROM audit ORDER BY position").map_err(said)?;
    let mut rows = statement.query([]).map_err(said)?;
    let mut head = Head::EMPTY;
    while let Some(row) = rows.next().map_err(said)? {
        let (position, entry): (i64, Vec<u8>) = (row.get(0).map_err(said)?, row.get(1).map_err(said)?);
        let hash: String = row.get(2).map_err(said)?;
        let what = match audit::verify_from(head, [entry.as_slice()]) {
            Ok(next) if next.hash.to_string() == hash => {
                head = next;
                continue;
            }
            Ok(next) => format!("entry {}: its stored hash is not its hash", next.size),
            Err(broken) => format!("entry {}: {:?}", broken.position, broken.kind),
        };
        let found = format!("{what} (as found: {})", audit::hash(&entry));
        if !named.contains(&found) {
            return Err(found);
        }
        let size = u64::try_from(position).map_err(|error| error.to_string())?;
        head = Head { size, hash: ContentHash::parse(&hash).map_err(|error| error.to_string())? };
    }
    Ok(head)
}

/// The breaks that entries of the chain name.
fn named_breaks(conn: &Connection) -> rusqlite::Result<BTreeSet<String>> {
    let mut statement = conn.prepare("SELECT entry FROM audit WHERE machine = 'chain' ORDER BY position")?;
    let entries = statement.query_map([], |row| row.get::<_, Vec<u8>>(0))?;
    let mut named = BTreeSet::new();
    for entry in entries {
        let entry: serde_json::Value = serde_json::from_slice(&entry?).unwrap_or_default();
        let text = entry.pointer("/outcome/reanchored/break").and_then(serde_json::Value::as_str);
        named.extend(text.map(str::to_owned));
    }
    Ok(named)
}

/// Entries of a chain: position, hash, entry.
pub type ChainPart = Vec<(u64, String, serde_json::Value)>;

/// Entries of the chain from a position on.
///
/// # Errors
/// SQLite's own.
pub fn entries(conn: &Connection, from: u64, limit: u32) -> rusqlite::Result<ChainPart> {
    conn.prepare_cached(
        "SELECT position, hash, entry FROM audit WHERE position >= ?1 ORDER BY position LIMIT ?2",
    )?
    .query_map((i64::try_from(from).unwrap_or(i64::MAX), limit), |row| {
        let position: i64 = row.get(0)?;
        let entry: Vec<u8> = row.get(2)?;
        let entry = serde_json::from_slice(&entry).unwrap_or(serde_json::Value::Null);
        Ok((u64::try_from(position).unwrap_or(0), row.get(1)?, entry))
    })?
    .collect()
}

/// What a stored roster command says, if its signature still verifies (ADM-5).
pub fn verified_roster(registry: &Registry, raw: &str) -> Option<(KeyId, Roster)> {
    let signed: Signed<OperatorCommand> = Signed::parse(raw.as_bytes()).ok()?;
    let key = signed.document().key_id;
    signed.verify(registry.operator_key(&key)?).ok()?;
    let subject = serde_json::Value::Object(signed.document().subject.clone());
    match Act::parse(&signed.document().act, &subject).ok()? {
        Act::InstallRoster(roster) => Some((key, roster)),
        _ => None,
    }
}
