//! Kept checkpoints, and proofs against the newest of them (AUD-3).
//!
//! Not here: when a checkpoint is signed (the store thread), and what a proof shows (the kernel's `audit::proof`).

use awakener_kernel::audit::{self, Comparison, tree};
use awakener_kernel::wire::{Checkpoint, Signed};
use awakener_spec::Reason;
use rusqlite::{Connection, OptionalExtension};
use serde_json::Value;

use super::readers::unreadable;
use super::tree::Forest;
use crate::http::wire::V1;
use crate::http::wire::answers::{Consistency, Inclusion};
use crate::plane::{Grown, Refused};

type Answer<T> = Result<T, Refused>;

/// The newest kept checkpoint.
///
/// # Errors
/// `store_unavailable` when it cannot be read or there is none yet, `store_corrupt`.
pub fn newest(conn: &Connection) -> Answer<Signed<Checkpoint>> {
    let kept: Option<String> = conn
        .prepare_cached("SELECT signed FROM checkpoint ORDER BY size DESC LIMIT 1")
        .and_then(|mut statement| statement.query_row([], |row| row.get(0)).optional())
        .map_err(|error| unreadable(&error))?;
    let kept = kept.ok_or_else(|| Refused {
        reason: Reason::StoreUnavailable,
        detail: "no checkpoint is signed yet; the chain is being walked".to_owned(),
    })?;
    Signed::parse(kept.as_bytes()).map_err(|error| Refused {
        reason: Reason::StoreCorrupt,
        detail: format!("the newest checkpoint cannot be read: {error}"),
    })
}

/// That the newest checkpoint has everything that one over `first` records had.
///
/// # Errors
/// As [`newest`].
pub fn consistency(conn: &Connection, grown: &Grown, first: u64) -> Answer<Consistency> {
    let kept = newest(conn)?;
    let size = kept.document().size;
    let path =
        with(conn, grown, kept.document(), |forest| tree::consistency(&mut forest.nodes(conn), first, size))?;
    Ok(Consistency { v: V1, first, path, checkpoint: kept.to_value() })
}

/// That the newest checkpoint covers the record at this position.
///
/// # Errors
/// As [`newest`].
pub fn inclusion(conn: &Connection, grown: &Grown, position: u64) -> Answer<Inclusion> {
    let kept = newest(conn)?;
    let size = kept.document().size;
    let (index, path) = with(conn, grown, kept.document(), |forest| {
        let index = forest.index(position).filter(|index| *index < size);
        let path = match index {
            Some(index) => tree::inclusion(&mut forest.nodes(conn), index, size)?,
            None => None,
        };
        Ok((index, path))
    })?;
    let stored: Option<Vec<u8>> = conn
        .prepare_cached("SELECT entry FROM audit WHERE position = ?1")
        .and_then(|mut statement| {
            statement.query_row([i64::try_from(position).unwrap_or(i64::MAX)], |row| row.get(0)).optional()
        })
        .map_err(|error| unreadable(&error))?;
    Ok(Inclusion {
        v: V1,
        position,
        hash: stored.as_deref().map(audit::hash),
        entry: stored.and_then(|stored| serde_json::from_slice::<Value>(&stored).ok()),
        index,
        path,
        checkpoint: kept.to_value(),
    })
}

/// What the chain is to a checkpoint that the plane has kept itself.
///
/// # Errors
/// SQLite's own.
pub fn matches(conn: &Connection, forest: &Forest, kept: &Checkpoint) -> rusqlite::Result<Comparison> {
    let size = forest.size();
    let head = match kept.size <= size {
        true => Some(tree::head_at(&mut forest.nodes(conn), kept.size)),
        false => None,
    };
    match head.transpose() {
        Ok(head) => Ok(kept.compare(&kept.plane, size, head.as_ref())),
        // Records that the tree has are gone from the file.
        Err(rusqlite::Error::QueryReturnedNoRows) => Ok(Comparison::Truncated),
        Err(error) => Err(error),
    }
}

fn with<T>(
    conn: &Connection,
    grown: &Grown,
    kept: &Checkpoint,
    question: impl FnOnce(&Forest) -> rusqlite::Result<T>,
) -> Answer<T> {
    let mut grown = grown.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let forest = grown.as_mut().ok_or_else(Grown::not_yet)?;
    if forest.size() < kept.size {
        forest.catch_up(conn).map_err(|error| unreadable(&error))?;
    }
    // What an earlier process signed is proved by only if it is still what is there.
    if matches(conn, forest, kept).map_err(|error| unreadable(&error))? != Comparison::Extends {
        return Err(Refused::because(Reason::CheckpointDiffers, "the newest that the plane itself has kept"));
    }
    question(forest).map_err(|error| match error {
        rusqlite::Error::QueryReturnedNoRows => Refused {
            reason: Reason::StoreCorrupt,
            detail: "records that a kept checkpoint covers are gone (AUD-3)".to_owned(),
        },
        error => unreadable(&error),
    })
}
