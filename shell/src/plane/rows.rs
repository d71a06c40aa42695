//! What a mailbox's records mean for the rows of the plane's store. The meaning is the kernel's; this is its SQL.

use awakener_kernel::ids::Station;
use awakener_kernel::machine::{Outcome, OutcomeOf};
use awakener_kernel::mailbox::Mailbox;
use awakener_kernel::mailbox::entry::Entry;
use awakener_kernel::mailbox::input::Input;
use awakener_kernel::mailbox::record::{Record, RowChange};
use awakener_kernel::values::TurnRef;
use rusqlite::params;

use crate::store::persist::{Persist, Rows};
use crate::store::receipts;
use crate::store::{Parties, Statement};

impl Persist for Mailbox {
    const NAME: &'static str = "mailbox";

    fn auditable(input: &Input, outcome: &OutcomeOf<Self>) -> bool {
        let refused = matches!(outcome, Outcome::Refused(_));
        match input {
            // Every refusal after authentication is accounted for (ADM-9, ACK-6, INB-7).
            Input::Admit(_)
            | Input::Ack { .. }
            | Input::Claim { .. }
            | Input::Renew { .. }
            | Input::Release { .. }
            | Input::Read { .. }
            | Input::FinishTurn { .. }
            | Input::Respond { .. }
            | Input::Ask { .. }
            | Input::Report { .. }
            | Input::Resolve { .. }
            | Input::ReleaseQuarantine { .. } => refused && !idle(outcome),
            Input::Start { .. }
            | Input::Sweep { .. }
            | Input::Published { .. }
            | Input::Expire { .. }
            | Input::Fire { .. } => false,
        }
    }

    fn parties(input: &Input) -> Parties {
        let mut parties = Parties::default();
        let Parties { identities, correlation } = &mut parties;
        match input {
            Input::Admit(submitted) => {
                identities.principal = Some(submitted.principal.clone());
                correlation.message = Some(submitted.id);
            }
            Input::Claim { holder, .. } => identities.station = Station::parse(holder.as_str()).ok(),
            Input::Ack { ack, .. } => correlation.message = Some(ack.message),
            Input::Ask { daemon, question } => {
                identities.daemon = Some(daemon.clone());
                correlation.wake = Some(question.wake);
                correlation.message = Some(question.message);
            }
            Input::Report { daemon, wake, .. } => {
                identities.daemon = Some(daemon.clone());
                correlation.wake = Some(*wake);
            }
            Input::Published { wake, .. } => correlation.wake = Some(*wake),
            Input::FinishTurn { message, turn, .. } | Input::Respond { message, turn, .. } => {
                correlation.message = Some(*message);
                correlation.turn = Some(*turn);
            }
            Input::Read { message, .. }
            | Input::Resolve { message }
            | Input::ReleaseQuarantine { message }
            | Input::Expire { message } => correlation.message = Some(*message),
            Input::Start { .. }
            | Input::Renew { .. }
            | Input::Release { .. }
            | Input::Sweep { .. }
            | Input::Fire { .. } => {}
        }
        parties
    }

    fn routed(records: &[Record]) -> bool {
        records.iter().any(|record| matches!(record, Record::Minted { .. } | Record::Published { .. }))
    }

    fn project(rows: &Rows<'_>, records: &[Record]) -> rusqlite::Result<()> {
        for record in records {
            match record.row() {
                RowChange::None => {}
                RowChange::Insert(seq, entry) => insert(rows, seq.get(), entry)?,
                RowChange::Update(seq) => update(rows, seq.get(), record)?,
            }
            if let Record::Minted { seq, message, wake, token, .. } = record {
                rows.conn
                    .prepare_cached(
                        "INSERT INTO mint (wake, target, seq, message, token) VALUES (?1, ?2, ?3, ?4, ?5)",
                    )?
                    .execute(params![
                        wake.to_string(),
                        rows.focus.target,
                        signed(seq.get()),
                        message.to_string(),
                        signed(token.get())
                    ])?;
            }
        }
        receipts::project(rows, records)?;
        statement(rows, records)
    }
}

/// A question that found nothing is no refusal worth an entry: stations ask for work all the time.
fn idle(outcome: &OutcomeOf<Mailbox>) -> bool {
    use awakener_kernel::mailbox::input::Refusal;
    matches!(outcome, Outcome::Refused(Refusal::Because(awakener_spec::Reason::NothingToClaim)))
}

fn insert(rows: &Rows<'_>, seq: u64, entry: &Entry) -> rusqlite::Result<()> {
    let (submission, normal, trace) = match &rows.focus.statement {
        Some(Statement::Submission { submission, normal, trace }) => {
            (submission.as_str(), normal.as_str(), trace.as_deref())
        }
        _ => ("null", "", None),
    };
    rows.conn
        .prepare_cached(
            "INSERT INTO message (target, seq, id, principal, tier, normal, admitted, entry, submission, trace)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)",
        )?
        .execute(params![
            rows.focus.target,
            signed(seq),
            entry.id.to_string(),
            entry.principal.as_str(),
            signed(entry.tier.get()),
            normal,
            signed(entry.admitted.0),
            text(entry)?,
            submission,
            trace
        ])?;
    Ok(())
}

fn update(rows: &Rows<'_>, seq: u64, record: &Record) -> rusqlite::Result<()> {
    let stored: String = rows
        .conn
        .prepare_cached("SELECT entry FROM message WHERE target = ?1 AND seq = ?2")?
        .query_row(params![rows.focus.target, signed(seq)], |row| row.get(0))?;
    let mut entry: Entry = serde_json::from_str(&stored).map_err(conversion)?;
    entry.apply(record);
    rows.conn
        .prepare_cached(
            "UPDATE message SET entry = ?3, finished = ?4, set_aside = ?5 WHERE target = ?1 AND seq = ?2",
        )?
        .execute(params![
            rows.focus.target,
            signed(seq),
            text(&entry)?,
            entry.finished.is_some(),
            entry.quarantined
        ])?;
    Ok(())
}

/// Texts and signed statements that came with the step.
fn statement(rows: &Rows<'_>, records: &[Record]) -> rusqlite::Result<()> {
    match &rows.focus.statement {
        Some(Statement::Answer { kind, body }) => {
            for record in records {
                if let Record::Responded { message, turn, .. } = record {
                    let turn = TurnRef { turn: *turn, message: *message };
                    receipts::keep_answer(rows, turn, kind, body)?;
                }
            }
            Ok(())
        }
        Some(Statement::Signed { kind, subject, signed, .. }) if !records.is_empty() => {
            receipts::statement(rows, kind, subject, signed)
        }
        Some(Statement::Signed { .. } | Statement::Submission { .. } | Statement::AckKeyInReach) | None => {
            Ok(())
        }
    }
}

/// SQLite keeps signed numbers; ours are far below their end.
fn signed(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

fn text(entry: &Entry) -> rusqlite::Result<String> {
    serde_json::to_string(entry).map_err(conversion)
}

fn conversion(error: serde_json::Error) -> rusqlite::Error {
    rusqlite::Error::FromSqlConversionFailure(0, rusqlite::types::Type::Text, Box::new(error))
}
