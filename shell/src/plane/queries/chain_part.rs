//! Parts of the audit chain for export, and the tree head over it (AUD-1, AUD-3).

use awakener_kernel::ids::ContentHash;
use awakener_spec::Reason;
use rusqlite::{Connection, OptionalExtension, params};

use super::readers::unreadable;
use super::tree::Tree;
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
                entry: serde_json::from_slice(&entry).map_err(|error| corrupt(&error))?,
            })
        })
        .collect::<Answer<_>>()?;
    Ok(Audit { v: V1, entries, head: head(conn)? })
}

/// How many entries there are, and the tree head (RFC 9162) over their hashes.
///
/// # Errors
/// `store_unavailable`, `store_corrupt`.
pub fn tree_head(conn: &Connection) -> Answer<(u64, ContentHash)> {
    let mut tree = Tree::default();
    let mut statement = conn
        .prepare_cached("SELECT hash FROM audit ORDER BY position")
        .map_err(|error| unreadable(&error))?;
    let mut rows = statement.query([]).map_err(|error| unreadable(&error))?;
    while let Some(row) = rows.next().map_err(|error| unreadable(&error))? {
        let hash: String = row.get(0).map_err(|error| unreadable(&error))?;
        tree.push(&ContentHash::parse(&hash).map_err(|error| corrupt(&error))?);
    }
    Ok((tree.size(), tree.head()))
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
