//! What a waker's steps mean for the rows of the wake daemon's store.

use awakener_kernel::machine::OutcomeOf;
use awakener_kernel::receipt::{self, Detail, Key, Receipt};
use awakener_kernel::values::{FlightEnd, Question};
use awakener_kernel::waker::{Flight, Input, Record, Waker};
use awakener_spec::ReceiptKind;
use rusqlite::OptionalExtension as _;

use crate::store::persist::{Persist, Rows};
use crate::store::{Parties, receipts};

impl Persist for Waker {
    const NAME: &'static str = "waker";

    /// A refusal is always the class of a hint, and those are folded (VER-4).
    fn auditable(_: &Input, _: &OutcomeOf<Self>) -> bool {
        false
    }

    fn parties(input: &Input) -> Parties {
        let mut parties = Parties::default();
        match input {
            Input::Hint(hint) => {
                parties.identities.router = Some(hint.key);
                parties.correlation.wake = Some(hint.wake);
                parties.correlation.message = Some(hint.message);
            }
            Input::Answer { .. }
            | Input::AskFailed { .. }
            | Input::Dispatched { .. }
            | Input::Probed { .. }
            | Input::FlightEnded { .. }
            | Input::InboxRead { .. }
            | Input::Pause
            | Input::Resume
            | Input::Capability(_)
            | Input::Reconnect
            | Input::Swept { .. }
            | Input::Fire => {}
        }
        parties
    }

    fn project(rows: &Rows<'_>, records: &[Record]) -> rusqlite::Result<()> {
        for record in records {
            project(rows, record)?;
        }
        Ok(())
    }
}

fn project(rows: &Rows<'_>, record: &Record) -> rusqlite::Result<()> {
    match record {
        Record::Accepted { hint, .. } => {
            let question = Question { wake: hint.wake, message: hint.message, token: hint.token };
            let key = Key::Wake(question.wake);
            let kind = ReceiptKind::WakeAccepted;
            receipts::insert(rows, &Receipt { kind, key, message: Some(question.message), detail: None })
        }
        Record::DispatchAttempted { attempt, wake, message, fence, .. } => {
            let open = serde_json::json!([attempt, wake, message, fence]);
            rows.conn
                .prepare_cached(
                    "INSERT INTO meta (key, value) VALUES (?1, ?2)
                     ON CONFLICT (key) DO UPDATE SET value = excluded.value",
                )?
                .execute([key_of(rows), open.to_string()])?;
            of_flight(rows, *attempt, ReceiptKind::DispatchAttempted, None)
        }
        Record::Dispatched { attempt, outcome } => {
            of_flight(rows, *attempt, receipt::dispatch(*outcome), Some(Detail::Dispatch(*outcome)))
        }
        Record::FlightEnded { attempt, end: FlightEnd::Expired } => {
            of_flight(rows, *attempt, ReceiptKind::FlightExpired, None)
        }
        Record::Booted { .. }
        | Record::FoundAlive { .. }
        | Record::InboxRead { .. }
        | Record::FlightEnded { .. }
        | Record::Dropped { .. } => Ok(()),
    }
}

/// Later records name a flight by its attempt alone; wake, alert and permit stand in a row of the target.
fn of_flight(
    rows: &Rows<'_>,
    attempt: u64,
    kind: ReceiptKind,
    detail: Option<Detail>,
) -> rusqlite::Result<()> {
    let stored: Option<String> = rows
        .conn
        .prepare_cached("SELECT value FROM meta WHERE key = ?1")?
        .query_row([key_of(rows)], |row| row.get(0))
        .optional()?;
    let open: Option<(u64, _, _, _)> = stored.and_then(|text| serde_json::from_str(&text).ok());
    let Some((number, wake, message, fence)) = open else { return Ok(()) };
    if attempt != number {
        return Ok(());
    }
    receipts::insert(rows, &Receipt { kind, key: Key::Attempt(wake, fence), message: Some(message), detail })
}

fn key_of(rows: &Rows<'_>) -> String {
    format!("flight {}", rows.focus.target)
}

/// The flight as its target's image has it, for displays.
pub(super) fn shown(flight: &Flight) -> serde_json::Value {
    serde_json::json!({
        "attempt": flight.attempt, "wake": flight.wake, "message": flight.message,
        "started": flight.started.utc(), "notice": flight.notice, "read": flight.read,
    })
}
