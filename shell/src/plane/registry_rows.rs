//! The registry in the plane's store: signed commands are kept beside the entries that they led to.

use awakener_kernel::machine::{Outcome, OutcomeOf};
use awakener_kernel::registry::{Input, Record, Registry};

use crate::store::persist::{Persist, Rows};
use crate::store::{Parties, Statement, receipts};

impl Persist for Registry {
    const NAME: &'static str = "registry";

    fn auditable(input: &Input, outcome: &OutcomeOf<Self>) -> bool {
        match input {
            // A command that is refused is accounted for, whoever sent it (OPR-1).
            Input::Command(_) | Input::Enrol { .. } => matches!(outcome, Outcome::Refused(_)),
            Input::Start { .. }
            | Input::Deny(_)
            | Input::Manifest { .. }
            | Input::Chain { .. }
            | Input::Clock { .. } => false,
        }
    }

    fn parties(input: &Input) -> Parties {
        let mut parties = Parties::default();
        match input {
            Input::Command(presented) => {
                if let Some(command) = &presented.command {
                    parties.correlation.command = Some(command.id);
                }
            }
            Input::Enrol { operator, .. } => parties.identities.operator = Some(operator.clone()),
            Input::Start { .. }
            | Input::Deny(_)
            | Input::Manifest { .. }
            | Input::Chain { .. }
            | Input::Clock { .. } => {}
        }
        parties
    }

    fn project(rows: &Rows<'_>, records: &[Record]) -> rusqlite::Result<()> {
        match &rows.focus.statement {
            Some(Statement::Signed { kind, subject, signed, .. }) if !records.is_empty() => {
                receipts::statement(rows, kind, subject, signed)
            }
            Some(
                Statement::Signed { .. }
                | Statement::Answer { .. }
                | Statement::Submission { .. }
                | Statement::AckKeyInReach,
            )
            | None => Ok(()),
        }
    }
}
