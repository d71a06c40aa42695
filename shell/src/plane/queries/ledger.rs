//! Receipts, and the way of one message through them (RCP-4, WHY-1).

use std::collections::BTreeSet;

use awakener_kernel::ids::{MessageId, Principal, Target, ThreadId, WakeId};
use awakener_kernel::time::Wall;
use awakener_spec::{Reason, ReceiptKind};
use rusqlite::types::Value as Sql;
use rusqlite::{Connection, Row, params_from_iter};

use super::messages::Found;
use super::readers::unreadable;
use crate::http::wire::V1;
use crate::http::wire::answers::{Receipt, Receipts, Rung, Stuck, Trace};
use crate::plane::Refused;

type Answer<T> = Result<T, Refused>;

/// Whose receipts may be seen.
#[derive(Clone, Debug)]
pub enum Scope {
    /// All.
    All,
    /// Those of the targets that a principal may read, and of the messages that it sent.
    Of(Principal, BTreeSet<Target>),
}

/// Which receipts; all conditions must hold.
#[derive(Clone, Debug, Default)]
pub struct ReceiptQuery {
    /// Of one message.
    pub message: Option<MessageId>,
    /// Of one hint.
    pub wake: Option<WakeId>,
    /// Of one thread.
    pub thread: Option<ThreadId>,
    /// Of one target.
    pub target: Option<Target>,
    /// Of one kind.
    pub kind: Option<ReceiptKind>,
    /// Not before this time.
    pub since: Option<Wall>,
    /// Only those with a greater number.
    pub after: u64,
    /// At most this many.
    pub limit: u32,
}

/// The receipts that match, oldest first.
///
/// # Errors
/// `store_unavailable`, `store_corrupt`.
pub fn receipts(conn: &Connection, query: &ReceiptQuery, scope: &Scope) -> Answer<Receipts> {
    let mut clauses = vec!["number > ?".to_owned()];
    let mut values = vec![Sql::Integer(signed(query.after))];
    let mut add = |clause: &str, value: String| {
        clauses.push(clause.to_owned());
        values.push(Sql::Text(value));
    };
    if let Some(id) = &query.message {
        add("message = ?", id.to_string());
    }
    if let Some(id) = &query.wake {
        add("wake = ?", id.to_string());
    }
    if let Some(id) = &query.thread {
        add(
            "message IN (SELECT id FROM message WHERE json_extract(submission, '$.thread') = ?)",
            id.to_string(),
        );
    }
    if let Some(target) = &query.target {
        // A message or a wake has few receipts, a target has all: the plus keeps its index out of the plan.
        let few = query.message.is_some() || query.wake.is_some();
        add(if few { "+target = ?" } else { "target = ?" }, target.to_string());
    }
    if let Some(kind) = query.kind {
        add("kind = ?", kind.name().to_owned());
    }
    if let Some(since) = query.since {
        clauses.push("at >= ?".to_owned());
        values.push(Sql::Integer(signed(since.0)));
    }
    if let Scope::Of(principal, targets) = scope {
        let marks = vec!["?"; targets.len()].join(", ");
        // An id is one only together with its sender and inbox, so the receipt must be of the sender's own message.
        clauses.push(format!(
            "(target IN ({marks}) OR EXISTS (SELECT 1 FROM message AS own WHERE own.principal = ?
              AND own.id = receipt.message AND own.target = receipt.target))"
        ));
        values.extend(targets.iter().map(|target| Sql::Text(target.to_string())));
        values.push(Sql::Text(principal.to_string()));
    }
    values.push(Sql::Integer(i64::from(query.limit) + 1));
    let sql = format!(
        "SELECT number, position, kind, target, message, wake, attempt, turn, at, detail FROM receipt
         WHERE {} ORDER BY number LIMIT ?",
        clauses.join(" AND ")
    );
    let rows: Vec<Stored> = conn
        .prepare_cached(&sql)
        .and_then(|mut statement| statement.query_map(params_from_iter(values), Stored::of)?.collect())
        .map_err(|error| unreadable(&error))?;
    let limit = usize::try_from(query.limit).unwrap_or(usize::MAX);
    let more = rows.len() > limit;
    let receipts = rows.into_iter().take(limit).map(Stored::receipt).collect::<Answer<_>>()?;
    Ok(Receipts { v: V1, receipts, more })
}

/// Everything that is known of one message, in order, and where it waits.
///
/// # Errors
/// `store_unavailable`, `store_corrupt`.
pub fn trace(conn: &Connection, found: &Found, now: Wall) -> Answer<Trace> {
    let query = ReceiptQuery {
        message: Some(found.entry.id),
        target: Some(found.target.clone()),
        limit: u32::MAX,
        ..ReceiptQuery::default()
    };
    let receipts = receipts(conn, &query, &Scope::All)?.receipts;
    awakener_spec::rule!(Rcp4);
    let admitted = found.entry.admitted;
    let mut before = admitted;
    let mut ladder = Vec::with_capacity(receipts.len());
    for receipt in receipts {
        let rung = Rung {
            after_ms: receipt.at.saturating_since(before).0,
            since_admission_ms: receipt.at.saturating_since(admitted).0,
            receipt,
        };
        before = rung.receipt.at;
        ladder.push(rung);
    }
    let stuck = match (&found.entry.finished, reached(&ladder)) {
        (None, Some(last)) => Some(Stuck {
            after: last.receipt.kind,
            since: last.receipt.at,
            for_ms: now.saturating_since(last.receipt.at).0,
            waits_for: waits_for(found, last.receipt.kind).to_owned(),
        }),
        (Some(_), _) | (None, None) => None,
    };
    Ok(Trace { v: V1, message: super::head_of(found), ladder, stuck })
}

/// The step that a message has reached. Hints go on being sent on schedule while somebody works on it already, and say
/// nothing of where it stands then.
fn reached(ladder: &[Rung]) -> Option<&Rung> {
    let read = ladder.iter().rposition(|rung| rung.receipt.kind == ReceiptKind::InboxRead);
    let hint = |kind| {
        matches!(
            kind,
            ReceiptKind::WakeMinted
                | ReceiptKind::WakeEmitted
                | ReceiptKind::WakeEmitFailed
                | ReceiptKind::WakeAccepted
                | ReceiptKind::WakeRefused
        )
    };
    match read {
        Some(read) => ladder.get(read..).unwrap_or_default().iter().rfind(|rung| !hint(rung.receipt.kind)),
        None => ladder.last(),
    }
}

/// What a message that is not finished waits for, given the last thing that is known of it.
fn waits_for(found: &Found, last: ReceiptKind) -> &'static str {
    let entry = &found.entry;
    let alert = entry.tier == awakener_kernel::ids::Tier::Zero;
    if entry.quarantined {
        return "an operator: it was set aside after too many attempts";
    }
    if entry.response.is_some() && alert {
        return "a signed acknowledgement: a result is recorded, nobody acknowledged the alert";
    }
    match last {
        ReceiptKind::Persisted | ReceiptKind::Admitted if alert => {
            "a hint: none was minted yet (is the target armed and the roster in force?)"
        }
        ReceiptKind::WakeMinted => "the broker client: the hint was minted and not handed over yet",
        ReceiptKind::WakeEmitted => "a wake daemon: the hint was handed to the broker client",
        ReceiptKind::WakeEmitFailed => "the next hint: this one could not be handed over",
        ReceiptKind::WakeAccepted | ReceiptKind::DispatchAttempted => "what the adapter says of the start",
        ReceiptKind::RuntimeNotified | ReceiptKind::HumanNotified | ReceiptKind::DispatchUnknown => {
            "the runtime: it was told, and has not read its inbox"
        }
        ReceiptKind::RuntimeUnavailable => "the next start: its runtime could not be reached",
        ReceiptKind::Skipped => "the next start: its runtime took no notice this time",
        ReceiptKind::FlightExpired => "the next start: the last one ended without a read",
        ReceiptKind::InboxRead => "the end of a turn: the message was read",
        ReceiptKind::CognitionComplete => "a recorded reply, silence or done: the turn is complete",
        ReceiptKind::Escalated => "its target: the operator was told that the alert is old",
        _ => "its target: to read it and to record a result",
    }
}

/// One row as it is stored.
struct Stored {
    number: i64,
    position: i64,
    kind: String,
    target: String,
    message: Option<String>,
    wake: Option<String>,
    attempt: Option<String>,
    turn: Option<String>,
    at: i64,
    detail: String,
}

impl Stored {
    fn of(row: &Row<'_>) -> rusqlite::Result<Self> {
        Ok(Self {
            number: row.get(0)?,
            position: row.get(1)?,
            kind: row.get(2)?,
            target: row.get(3)?,
            message: row.get(4)?,
            wake: row.get(5)?,
            attempt: row.get(6)?,
            turn: row.get(7)?,
            at: row.get(8)?,
            detail: row.get(9)?,
        })
    }

    fn receipt(self) -> Answer<Receipt> {
        let unsigned = |number: i64| u64::try_from(number).map_err(|error| corrupt(&error));
        Ok(Receipt {
            number: unsigned(self.number)?,
            position: unsigned(self.position)?,
            kind: ReceiptKind::from_name(&self.kind).ok_or_else(|| corrupt(&self.kind))?,
            target: self.target,
            message: self.message.map(|id| id.parse()).transpose().map_err(|error| corrupt(&error))?,
            wake: self.wake.map(|id| id.parse()).transpose().map_err(|error| corrupt(&error))?,
            attempt: self.attempt,
            turn: self.turn.map(|id| id.parse()).transpose().map_err(|error| corrupt(&error))?,
            at: Wall(unsigned(self.at)?),
            detail: serde_json::from_str(&self.detail).map_err(|error| corrupt(&error))?,
        })
    }
}

fn corrupt(error: &dyn std::fmt::Display) -> Refused {
    Refused { reason: Reason::StoreCorrupt, detail: format!("a stored receipt cannot be read: {error}") }
}

fn signed(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}
