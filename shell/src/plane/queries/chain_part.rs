//! Parts of the audit chain for export (AUD-1).
//!
//! An entry is given as JSON. Where the stored bytes are not its canonical form, as after an alteration, they are given
//! as they are too, so that an export says the same as the store, seals of new segments included (AUD-5).

use awakener_kernel::ids::ContentHash;
use awakener_kernel::json::{self, Numbers};
use awakener_spec::Reason;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rusqlite::{Connection, OptionalExtension, params};
use serde_json::Value;

use super::readers::unreadable;
use crate::http::wire::V1;
use crate::http::wire::answers::{Audit, AuditRow, ChainHead};
use crate::plane::Refused;

type Answer<T> = Result<T, Refused>;

/// Entries from position `from` on, at most `limit`, and the end of the chain.
///
/// # Errors
/// `store_unavailable`, `store_corrupt`.
pub fn part(conn: &Connection, from: u64, limit: u32) -> Answer<Audit> {
    let from = i64::try_from(from).unwrap_or(i64::MAX);
    let rows: Vec<(i64, String, Vec<u8>)> = conn
        .prepare_cached(
            "SELECT position, hash, entry FROM audit WHERE position >= ?1 ORDER BY position LIMIT ?2",
        )
        .and_then(|mut statement| {
            statement
                .query_map(params![from, limit], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?
                .collect()
        })
        .map_err(|error| unreadable(&error))?;
    let entries = rows
        .into_iter()
        .map(|(position, hash, entry)| {
            Ok(AuditRow {
                position: u64::try_from(position).map_err(|error| corrupt(&error))?,
                hash: ContentHash::parse(&hash).map_err(|error| corrupt(&error))?,
                raw: raw(&entry),
                entry: serde_json::from_slice(&entry).unwrap_or(Value::Null),
            })
        })
        .collect::<Answer<_>>()?;
    Ok(Audit { v: V1, entries, head: head(conn)? })
}

/// The stored bytes, where the entry does not say them by itself.
fn raw(stored: &[u8]) -> Option<String> {
    let read = json::read_carrier(stored, usize::MAX, Numbers::Any);
    let same = read.is_ok_and(|entry| json::canonical(&entry) == stored);
    (!same).then(|| STANDARD.encode(stored))
}

fn head(conn: &Connection) -> Answer<ChainHead> {
    let last: Option<(i64, String)> = conn
        .prepare_cached("SELECT position, hash FROM audit ORDER BY position DESC LIMIT 1")
        .and_then(|mut statement| statement.query_row([], |row| Ok((row.get(0)?, row.get(1)?))).optional())
        .map_err(|error| unreadable(&error))?;
    match last {
        None => Ok(ChainHead { size: 0, hash: ContentHash([0; 32]) }),
        Some((position, hash)) => Ok(ChainHead {
            size: u64::try_from(position).map_err(|error| corrupt(&error))?,
            hash: ContentHash::parse(&hash).map_err(|error| corrupt(&error))?,
        }),
    }
}

fn corrupt(error: &dyn std::fmt::Display) -> Refused {
    Refused { reason: Reason::StoreCorrupt, detail: format!("the audit chain cannot be read: {error}") }
}
