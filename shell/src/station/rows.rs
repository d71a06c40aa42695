//! A station in its own store: its own chain, and receipts of what only it can see.

use awakener_kernel::machine::{Outcome, OutcomeOf};
use awakener_kernel::receipt::{Detail, Key, Receipt};
use awakener_kernel::station::{Input, Record, Station};
use awakener_spec::ReceiptKind;

use crate::store::persist::{Persist, Rows};
use crate::store::{Parties, Statement, receipts};

impl Persist for Station {
    const NAME: &'static str = "station";

    fn auditable(input: &Input, outcome: &OutcomeOf<Self>) -> bool {
        match input {
            // Whoever wants to change what the station may do is accounted for, also when it is refused.
            Input::Grant { .. }
            | Input::Disarm
            | Input::Abort
            | Input::Clear { .. }
            | Input::Claimed { .. } => {
                matches!(outcome, Outcome::Refused(_))
            }
            Input::MarkTail { .. }
            | Input::Hint { .. }
            | Input::WorkFound
            | Input::InboxRead { .. }
            | Input::DispatchFailed { .. }
            | Input::LeaseLost { .. }
            | Input::TurnFinished { .. }
            | Input::ResultRecorded { .. }
            | Input::ResultRefused { .. }
            | Input::AckAccepted { .. }
            | Input::AckRefused { .. }
            | Input::OwnAck { .. }
            | Input::CleanupDone { .. }
            | Input::CauseFound { .. }
            | Input::CauseGone { .. }
            | Input::LatchFound { .. }
            | Input::TripAuditDone { .. }
            | Input::LatchWritten { .. }
            | Input::LatchArchived { .. }
            | Input::LatchRemoved { .. }
            | Input::Fire => false,
        }
    }

    fn parties(input: &Input) -> Parties {
        let mut parties = Parties::default();
        match input {
            Input::Hint { wake } => parties.correlation.wake = Some(*wake),
            Input::Claimed { work: Some(work), .. } => parties.correlation.message = Some(work.message()),
            Input::OwnAck { message, .. } => parties.correlation.message = Some(*message),
            Input::Grant { command, .. } | Input::Clear { command } => {
                parties.correlation.command = Some(*command);
            }
            Input::Claimed { work: None, .. }
            | Input::Disarm
            | Input::Abort
            | Input::MarkTail { .. }
            | Input::WorkFound
            | Input::InboxRead { .. }
            | Input::DispatchFailed { .. }
            | Input::LeaseLost { .. }
            | Input::TurnFinished { .. }
            | Input::ResultRecorded { .. }
            | Input::ResultRefused { .. }
            | Input::AckAccepted { .. }
            | Input::AckRefused { .. }
            | Input::CleanupDone { .. }
            | Input::CauseFound { .. }
            | Input::CauseGone { .. }
            | Input::LatchFound { .. }
            | Input::TripAuditDone { .. }
            | Input::LatchWritten { .. }
            | Input::LatchArchived { .. }
            | Input::LatchRemoved { .. }
            | Input::Fire => {}
        }
        parties
    }

    fn project(rows: &Rows<'_>, records: &[Record]) -> rusqlite::Result<()> {
        for record in records {
            if let Record::TurnFinished { turn, .. } = record
                && let Some(Statement::Answer { kind, body }) = &rows.focus.statement
            {
                receipts::keep_answer(rows, *turn, kind, body)?;
            }
            // Cognition is a fact of the mailbox as well, which is told of it; the cleanup is this station's alone.
            if let Record::CleanedUp { turn: Some(turn) } = record {
                let reached = matches!(rows.focus.statement, Some(Statement::AckKeyInReach));
                let detail = reached.then_some(Detail::AckKeyInReach);
                let kind = ReceiptKind::CleanupComplete;
                receipts::insert(rows, &Receipt { kind, key: Key::Turn(*turn), message: None, detail })?;
            }
        }
        Ok(())
    }
}
