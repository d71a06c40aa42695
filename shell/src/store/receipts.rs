//! The receipt ledger and the signed statements as rows. Receipts are a projection of records (AUD-8); what a record
//! amounts to is the kernel's.

use awakener_kernel::ids::MessageId;
use awakener_kernel::mailbox::record::Record;
use awakener_kernel::receipt::{self, Key, Receipt};
use awakener_kernel::values::TurnRef;
use rusqlite::params;
use serde_json::Value;

use super::persist::Rows;

/// Adds the receipts of one step to the ledger.
///
/// # Errors
/// SQLite's own.
pub fn project(rows: &Rows<'_>, records: &[Record]) -> rusqlite::Result<()> {
    for receipt in records.iter().flat_map(receipt::of) {
        insert(rows, &receipt)?;
    }
    Ok(())
}

/// Adds one receipt.
///
/// # Errors
/// SQLite's own.
pub fn insert(rows: &Rows<'_>, receipt: &Receipt) -> rusqlite::Result<()> {
    let Receipt { kind, key, message, detail } = receipt;
    let (mut wake, mut attempt, mut turn) = (None, None, None);
    let mut message: Option<String> = message.as_ref().map(MessageId::to_string);
    match key {
        Key::Message(id) => message = Some(id.to_string()),
        Key::Place(seq) => message = at(rows, seq.get())?,
        Key::Wake(id) => wake = Some(id.to_string()),
        Key::Attempt(id, fence) => {
            wake = Some(id.to_string());
            attempt = Some(format!("{id}/{}", fence.0));
        }
        Key::Turn(id) => turn = Some(id.to_string()),
    }
    if message.is_none()
        && let Some(wake) = &wake
    {
        message = minted_for(rows, wake)?;
    }
    let detail = detail.map_or(Value::Null, |detail| serde_json::json!(detail));
    rows.conn
        .prepare_cached(
            "INSERT INTO receipt (position, kind, target, message, wake, attempt, turn, at, detail)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
        )?
        .execute(params![
            rows.position,
            kind.name(),
            rows.focus.target,
            message,
            wake,
            attempt,
            turn,
            i64::try_from(rows.at).unwrap_or(i64::MAX),
            detail.to_string()
        ])?;
    Ok(())
}

/// Keeps a signed statement beside the entry that it led to.
///
/// # Errors
/// SQLite's own.
pub fn statement(rows: &Rows<'_>, kind: &str, subject: &str, signed: &Value) -> rusqlite::Result<()> {
    rows.conn
        .prepare_cached("INSERT INTO statement (position, kind, subject, signed) VALUES (?1, ?2, ?3, ?4)")?
        .execute(params![rows.position, kind, subject, signed.to_string()])?;
    Ok(())
}

fn at(rows: &Rows<'_>, seq: u64) -> rusqlite::Result<Option<String>> {
    use rusqlite::OptionalExtension;
    rows.conn
        .prepare_cached("SELECT id FROM message WHERE target = ?1 AND seq = ?2")?
        .query_row(params![rows.focus.target, i64::try_from(seq).unwrap_or(i64::MAX)], |row| row.get(0))
        .optional()
}

fn minted_for(rows: &Rows<'_>, wake: &str) -> rusqlite::Result<Option<String>> {
    use rusqlite::OptionalExtension;
    rows.conn
        .prepare_cached("SELECT message FROM mint WHERE wake = ?1")?
        .query_row([wake], |row| row.get(0))
        .optional()
}

/// Keeps the text of a turn's answer.
///
/// # Errors
/// SQLite's own.
pub fn keep_answer(rows: &Rows<'_>, turn: TurnRef, kind: &str, body: &str) -> rusqlite::Result<()> {
    rows.conn
        .prepare_cached(
            "INSERT INTO answer (message, turn, target, kind, at, body) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
        )?
        .execute(params![
            turn.message.to_string(),
            turn.turn.to_string(),
            rows.focus.target,
            kind,
            i64::try_from(rows.at).unwrap_or(i64::MAX),
            body
        ])?;
    Ok(())
}

/// The text of a turn's answer.
///
/// # Errors
/// SQLite's own.
pub fn answer(conn: &rusqlite::Connection, turn: TurnRef) -> rusqlite::Result<Option<String>> {
    use rusqlite::OptionalExtension;
    conn.prepare_cached("SELECT body FROM answer WHERE message = ?1 AND turn = ?2")?
        .query_row([turn.message.to_string(), turn.turn.to_string()], |row| row.get(0))
        .optional()
}
