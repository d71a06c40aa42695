//! What a station asks of the plane beside the inbox: what is still open, where a message came from, its own grant.
//!
//! Read-only, on any connection. Rules: ADM-12, FUS-1 (ancestry), STN-2 (grant), INB-3 (open).

use std::collections::BTreeSet;

use awakener_kernel::ids::{CommandId, MessageId, Principal, Target};
use awakener_kernel::mailbox::entry::Entry;
use awakener_kernel::operator::Act;
use awakener_kernel::wire::{OperatorCommand, Signed};
use rusqlite::{Connection, OptionalExtension, params};
use serde::{Deserialize, Serialize};

/// One open message.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OpenMessage {
    /// Its place.
    pub seq: u64,
    /// Its id.
    pub message: MessageId,
    /// Its tier.
    pub tier: u64,
}

/// One cause of a message.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ancestor {
    /// The message.
    pub message: MessageId,
    /// Whether it lies in this target's inbox.
    pub here: bool,
    /// Whether it was sent by a principal that acts for this target.
    pub own: bool,
    /// Hash of its normal form.
    pub normal: String,
}

/// Unfinished messages that are not set aside, in the order of tiers and sequences.
///
/// # Errors
/// SQLite's own.
pub fn open(conn: &Connection, target: &Target, limit: u32) -> rusqlite::Result<Vec<OpenMessage>> {
    conn.prepare_cached(
        "SELECT seq, id, tier FROM message INDEXED BY message_open
         WHERE target = ?1 AND finished = 0 AND set_aside = 0 ORDER BY tier, seq LIMIT ?2",
    )?
    .query_map(params![target.as_str(), limit], |row| {
        let (seq, id, tier): (i64, String, i64) = (row.get(0)?, row.get(1)?, row.get(2)?);
        Ok(OpenMessage { seq: number(seq)?, message: parsed(&id)?, tier: number(tier)? })
    })?
    .collect()
}

/// The cursor and the last place in use of an inbox; 0 where there is none. The cursor is the place before the first
/// message that is not finished (INB-4).
///
/// # Errors
/// SQLite's own.
pub fn edges(conn: &Connection, target: &Target) -> rusqlite::Result<(u64, u64)> {
    let last: Option<i64> = conn
        .prepare_cached("SELECT max(seq) FROM message WHERE target = ?1")?
        .query_row([target.as_str()], |row| row.get(0))?;
    let first_open: Option<i64> = conn
        .prepare_cached(
            "SELECT min(seq) FROM message INDEXED BY message_unfinished WHERE target = ?1 AND finished = 0",
        )?
        .query_row([target.as_str()], |row| row.get(0))?;
    let last = number(last.unwrap_or(0))?;
    let cursor = first_open.map(number).transpose()?.map_or(last, |first| first.saturating_sub(1));
    Ok((cursor, last))
}

/// How often an operator gave a message back.
///
/// # Errors
/// SQLite's own.
pub fn released(conn: &Connection, target: &Target, message: MessageId) -> rusqlite::Result<u32> {
    let entry: Option<String> = conn
        .prepare_cached("SELECT entry FROM message WHERE target = ?1 AND id = ?2")?
        .query_row(params![target.as_str(), message.to_string()], |row| row.get(0))
        .optional()?;
    match entry {
        None => Ok(0),
        Some(entry) => serde_json::from_str::<Entry>(&entry).map(|entry| entry.released).map_err(conversion),
    }
}

/// The message itself and its causes, the message first, at most `limit` of them. `acting` are the principals that act
/// for the target.
///
/// # Errors
/// SQLite's own, and a row that cannot be read: a chain with a hole in it is not a short chain.
pub fn ancestry(
    conn: &Connection,
    target: &Target,
    acting: &BTreeSet<Principal>,
    message: MessageId,
    limit: usize,
) -> rusqlite::Result<Vec<Ancestor>> {
    let mut found = Vec::new();
    let mut next = Some((message, Some(target.as_str().to_owned())));
    while let Some((id, place)) = next.take()
        && found.len() < limit
    {
        let row: Option<(String, String, String)> = conn
            .prepare_cached(
                "SELECT target, normal, entry FROM message WHERE id = ?1 AND (?2 IS NULL OR target = ?2)
                 ORDER BY target, seq LIMIT 1",
            )?
            .query_row(params![id.to_string(), place], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))
            .optional()?;
        let Some((at, normal, entry)) = row else { break };
        let entry: Entry = serde_json::from_str(&entry).map_err(conversion)?;
        found.push(Ancestor {
            message: id,
            here: at == target.as_str(),
            own: acting.contains(&entry.principal),
            normal,
        });
        next = entry.cause.map(|cause| (cause, None));
    }
    Ok(found)
}

/// The command of the latest `arm` of a target.
///
/// # Errors
/// SQLite's own.
pub fn arming(conn: &Connection, target: &Target) -> rusqlite::Result<Option<CommandId>> {
    let mut statement = conn.prepare_cached(
        "SELECT signed FROM statement WHERE kind = 'operator' AND subject = 'arm' ORDER BY position DESC",
    )?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let text: String = row.get(0)?;
        let Ok(signed) = Signed::<OperatorCommand>::parse(text.as_bytes()) else { continue };
        let subject = serde_json::Value::Object(signed.document().subject.clone());
        if let Ok(Act::Arm(arming)) = Act::parse(&signed.document().act, &subject)
            && arming.target == *target
        {
            return Ok(Some(signed.document().id));
        }
    }
    Ok(None)
}

fn number(value: i64) -> rusqlite::Result<u64> {
    u64::try_from(value).map_err(|_| rusqlite::Error::IntegralValueOutOfRange(0, value))
}

fn parsed(id: &str) -> rusqlite::Result<MessageId> {
    MessageId::parse(id).map_err(|error| {
        rusqlite::Error::FromSqlConversionFailure(1, rusqlite::types::Type::Text, Box::new(error))
    })
}

fn conversion(error: serde_json::Error) -> rusqlite::Error {
    rusqlite::Error::FromSqlConversionFailure(2, rusqlite::types::Type::Text, Box::new(error))
}
