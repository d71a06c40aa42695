//! Acts of operators that a crash cut off between their command and the mailbox.
//!
//! A command is durable by itself, and its id is never accepted again, so whatever follows from it stays owed over a
//! restart. Nothing is stored for that: an act is owed if its command is recorded and what it acts on still stands as
//! it stood before. Rules: ACK-9, INB-8, OPR-1.

use awakener_kernel::ids::{MessageId, Target};
use awakener_kernel::machine::Machine as _;
use awakener_kernel::mailbox::Mailbox;
use awakener_kernel::mailbox::input::Input;
use awakener_kernel::operator::Act;
use awakener_kernel::wire::{OperatorCommand, Signed};
use awakener_spec::Reason;
use rusqlite::{Connection, params};
use serde_json::Value;

use crate::host::Host;
use crate::store::{Db, StoreFault};

/// What mailboxes are still owed, in the order of the commands.
///
/// # Errors
/// `store_unavailable`.
pub(super) fn owed(db: &Db, mailboxes: &Host<Mailbox>) -> Result<Vec<(Target, Input)>, StoreFault> {
    let outstanding = |target: &Target, message: &MessageId| {
        mailboxes
            .machine(target.as_str())
            .is_some_and(|mailbox| mailbox.image().witnesses.values().any(|w| w.message == *message))
    };
    let mut owed = Vec::new();
    let unreadable = |error: rusqlite::Error| db.fault(Reason::StoreUnavailable, &error);
    for (position, act) in commands(db.conn()).map_err(unreadable)? {
        let (alert, input) = match act {
            Act::Resolve(alert) if outstanding(&alert.target, &alert.message) => {
                let message = alert.message;
                (alert, Input::Resolve { message })
            }
            Act::ReleaseQuarantine(alert)
                if set_aside(db.conn(), &alert.target, alert.message, position).map_err(unreadable)? =>
            {
                let message = alert.message;
                (alert, Input::ReleaseQuarantine { message })
            }
            _ => continue,
        };
        tracing::warn!(target = %alert.target, message = %alert.message, "an operator's act was cut off, and is owed");
        owed.push((alert.target, input));
    }
    Ok(owed)
}

/// The recorded commands that act on mailboxes, with their positions. There are as many as operators gave.
fn commands(conn: &Connection) -> rusqlite::Result<Vec<(i64, Act)>> {
    let mut statement = conn.prepare_cached(
        "SELECT position, signed FROM statement
         WHERE kind = 'operator' AND subject IN ('resolve', 'release_quarantine') ORDER BY position",
    )?;
    let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get::<_, String>(1)?)))?;
    let mut commands = Vec::new();
    for row in rows {
        let (position, signed): (i64, String) = row?;
        // It was authorised when it was recorded, so it has a form.
        let Ok(signed) = Signed::<OperatorCommand>::parse(signed.as_bytes()) else { continue };
        let OperatorCommand { act, subject, .. } = signed.document();
        commands.extend(Act::parse(act, &Value::Object(subject.clone())).ok().map(|act| (position, act)));
    }
    Ok(commands)
}

/// Whether a message is set aside, and was so before this position of the chain.
fn set_aside(
    conn: &Connection,
    target: &Target,
    message: MessageId,
    position: i64,
) -> rusqlite::Result<bool> {
    conn.prepare_cached(
        "SELECT EXISTS (SELECT 1 FROM message WHERE id = ?1 AND target = ?2 AND finished = 0 AND set_aside = 1)
            AND coalesce((SELECT max(position) FROM receipt
                          WHERE message = ?1 AND target = ?2 AND kind = 'quarantined'), 0) < ?3",
    )?
    .query_row(params![message.to_string(), target.as_str(), position], |row| row.get(0))
}
