//! What a store must know of a machine to keep it: its name, and what its records mean for rows and receipts.
//!
//! The meaning of records stands in the kernel; this file only moves it into SQL.

use awakener_kernel::machine::{Image, Machine, OutcomeOf, RecordOf};

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::{Focus, Parties};

/// A machine that a [`super::Db`] can hold.
pub trait Persist:
    Machine<
        Image: Serialize + DeserializeOwned + Image<Record: Serialize + DeserializeOwned>,
        Input: Serialize,
        Facts: Serialize,
        Event: Serialize,
        Refusal: Serialize,
    >
{
    /// Its name in the chain.
    const NAME: &'static str;

    /// Whether a step that did not advance must be in the chain all the same (ADM-9, ACK-6).
    fn auditable(input: &Self::Input, outcome: &OutcomeOf<Self>) -> bool;

    /// Who has to do with an input, each in its own member (IDN-1), and what it belongs to.
    fn parties(input: &Self::Input) -> Parties;

    /// Whether the router's key signs what these records say.
    fn routed(_records: &[RecordOf<Self>]) -> bool {
        false
    }

    /// Moves the meaning of records into rows.
    ///
    /// # Errors
    /// SQLite's own; the transaction is given up.
    fn project(rows: &Rows<'_>, records: &[RecordOf<Self>]) -> rusqlite::Result<()>;
}

/// The rows of one step.
#[derive(Debug)]
pub struct Rows<'a> {
    /// The open transaction.
    pub conn: &'a rusqlite::Connection,
    /// Where the step stands in the chain.
    pub position: i64,
    /// What the step is about.
    pub focus: &'a Focus,
    /// When, milliseconds since 1970.
    pub at: u64,
}
