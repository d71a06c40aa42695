//! Questions to the plane's store that change nothing; any connection may ask them.
//!
//! [`Readers`] lends read-only connections, so that a reader never waits for the store thread. Not here: who may ask
//! (the HTTP side decides on credentials), and what a record means (the kernel's). Rules: INB-6, RCP-4, AUD-1, AUD-3.

mod chain_part;
mod ledger;
mod messages;
mod proofs;
mod readers;
mod tree;

pub use chain_part::part;
pub use ledger::{ReceiptQuery, Scope, receipts, trace};
pub use messages::{Found, admitted, head_of, heads, page, whole};
pub use proofs::{consistency, inclusion, matches, newest};
pub use readers::Readers;
pub use tree::Forest;

use awakener_kernel::audit::{self, Head, Walk, Walked};
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
    judged(&walked(conn).map_err(|error| error.to_string())?.0)
}

/// What a walk has found, in words.
///
/// # Errors
/// What does not fit, and where.
pub fn judged(walked: &Walked) -> Result<Head, String> {
    match walked.broken {
        None => Ok(walked.head),
        Some(broken) => Err(format!("entry {}: {:?}", broken.position, broken.kind)),
    }
}

/// What a walk over the whole chain finds, the stated hash of each entry included, and the tree over what it read.
///
/// # Errors
/// SQLite's own.
pub fn walked(conn: &Connection) -> rusqlite::Result<(Walked, Forest)> {
    let end: Option<i64> = conn.query_row("SELECT max(position) FROM audit", [], |row| row.get(0))?;
    let mut statement = conn.prepare("SELECT position, entry, hash FROM audit ORDER BY position")?;
    let mut rows = statement.query([])?;
    let (mut walk, mut forest) = (Walk::default(), Forest::default());
    while let Some(row) = rows.next()? {
        let (position, entry, hash): (i64, Vec<u8>, String) = (row.get(0)?, row.get(1)?, row.get(2)?);
        // A text that is no hash is surely not that of the entry.
        let stated = ContentHash::parse(&hash).unwrap_or(Head::EMPTY.hash);
        walk.record(&entry, Some(&stated), Some(position) == end);
        forest.push(u64::try_from(position).unwrap_or(0), &audit::hash(&entry));
    }
    Ok((walk.end(), forest))
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
