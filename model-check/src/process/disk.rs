//! The disk of a process: what is durable, and what an open transaction would make of it.
//!
//! It has no errors of its own; the fate of a commit is the adversary's choice. Not here: who writes to it
//! ([`super::Process`]). Rules: INB-1.

use std::fmt::Debug;
use std::hash::Hash;

use awakener_kernel::machine::{Image, Machine, OutcomeOf, RecordOf};
use awakener_kernel::open::{CommitError, Entry, Store, TxnId, Write};
use serde::{Deserialize, Serialize};

use crate::shared::Shared;

/// What a store keeps beside the image, as the kernel's records define it.
pub trait Rows<M: Machine>: Clone + Default + Eq + Hash + Debug {
    /// Makes one record part of the rows.
    fn keep(&mut self, record: &RecordOf<M>);
}

impl<M: Machine> Rows<M> for () {
    fn keep(&mut self, _: &RecordOf<M>) {}
}

/// What is, or would be, readable in a store.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Content<I, R> {
    /// The machine's image.
    pub image: I,
    /// Everything beside it.
    pub rows: R,
}

/// What becomes of a commit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Fate {
    /// It is on disk and known to be.
    Durable,
    /// It is not on disk and known not to be.
    NotDurable,
    /// Nobody knows; it is on disk if `written`.
    Unknown {
        /// Only the next recovery can tell.
        written: bool,
    },
}

/// The fates that the adversary may choose.
pub const FAILURES: [Fate; 3] =
    [Fate::NotDurable, Fate::Unknown { written: false }, Fate::Unknown { written: true }];

/// A disk with at most one open transaction.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Disk<M: Machine, R> {
    // Shared, because a search copies states far more often than it writes to disks.
    pub(super) durable: Shared<Content<M::Image, R>>,
    pub(super) working: Option<Shared<Content<M::Image, R>>>,
    pub(super) fate: Fate,
    /// What the step that was just written came to; taken out before anybody else looks.
    pub(super) outcome: Option<OutcomeOf<M>>,
}

/// The model's disk has no errors of its own; the fate of a commit is the adversary's choice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Failed;

impl<M: Machine, R: Rows<M>> Disk<M, R> {
    pub(super) fn empty() -> Self {
        Self { durable: Shared::default(), working: None, fate: Fate::Durable, outcome: None }
    }
}

impl<M: Machine, R: Rows<M>> Store for Disk<M, R> {
    type Error = Failed;

    fn begin(&mut self) -> Result<TxnId, Failed> {
        assert!(self.working.is_none(), "one transaction at a time");
        self.working = Some(self.durable.clone());
        // No two transactions of this disk are ever open together, so that one id does; numbers that grow would make
        // every path end in a state of its own.
        Ok(TxnId(0))
    }

    fn commit(&mut self, _txn: TxnId) -> Result<(), CommitError<Failed>> {
        let working = self.working.take();
        let fate = std::mem::replace(&mut self.fate, Fate::Durable);
        if let (Some(working), Fate::Durable | Fate::Unknown { written: true }) = (working, fate) {
            self.durable = working;
        }
        match fate {
            Fate::Durable => Ok(()),
            Fate::NotDurable => Err(CommitError::NotDurable(Failed)),
            Fate::Unknown { .. } => Err(CommitError::Unknown(Failed)),
        }
    }
}

impl<M: Machine, R: Rows<M>> Write<M> for Disk<M, R> {
    fn write(&mut self, entry: Entry<'_, M>) -> Result<(), Failed> {
        self.outcome = entry.outcome.cloned();
        if !entry.records.is_empty() {
            let mut working =
                self.working.take().expect("a step is written inside a transaction").into_inner();
            for record in entry.records {
                working.image.apply(record);
                working.rows.keep(record);
            }
            self.working = Some(Shared::new(working));
        }
        Ok(())
    }
}
