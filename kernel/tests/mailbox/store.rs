//! A disk in memory, with a switch for what the next commit does.

use std::collections::{BTreeMap, BTreeSet};

use awakener_kernel::ids::{Fence, MessageId, Seq, Token, WakeId};
use awakener_kernel::machine::{Image as _, OutcomeOf};
use awakener_kernel::mailbox::Mailbox;
use awakener_kernel::mailbox::entry::Entry;
use awakener_kernel::mailbox::image::Image;
use awakener_kernel::mailbox::input::{Facts, Input};
use awakener_kernel::mailbox::record::{Record, RowChange};
use awakener_kernel::open::{self, CommitError, Store, TxnId, Write};
use awakener_kernel::receipt::{self, Key};
use awakener_kernel::time::Now;
use awakener_spec::ReceiptKind;

/// A minted hint as the emitter remembers it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MintRow {
    pub seq: Seq,
    pub message: MessageId,
    pub token: Token,
}

/// Everything durable: the image as the fold of all records, the rows, the mints.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Disk {
    pub image: Image,
    pub rows: BTreeMap<Seq, Entry>,
    pub mints: BTreeMap<WakeId, MintRow>,
    /// Receipts of each attempt.
    pub told: BTreeMap<(WakeId, Fence), BTreeSet<ReceiptKind>>,
}

impl Disk {
    fn take(&mut self, record: &Record) {
        self.image.apply(record);
        match record.row() {
            RowChange::None => {}
            RowChange::Insert(seq, entry) => {
                let before = self.rows.insert(seq, entry.clone());
                assert_eq!(before, None, "a row is inserted once");
            }
            RowChange::Update(seq) => self.rows.get_mut(&seq).expect("a row to change").apply(record),
        }
        for receipt in receipt::of(record) {
            if let Key::Attempt(wake, fence) = receipt.key {
                self.told.entry((wake, fence)).or_default().insert(receipt.kind);
            }
        }
        if let Record::Minted { seq, message, wake, token, .. } = *record {
            self.mints.insert(wake, MintRow { seq, message, token });
        }
    }

    pub fn row(&self, message: MessageId) -> Option<(Seq, Entry)> {
        self.rows.iter().find(|(_, entry)| entry.id == message).map(|(seq, entry)| (*seq, entry.clone()))
    }
}

/// What the next commit does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Fate {
    #[default]
    Durable,
    /// It fails, and says so.
    NotDurable,
    /// Nobody can say, and it was lost.
    UnknownLost,
    /// Nobody can say, and it is on disk.
    UnknownKept,
    /// Already the first write fails.
    BadWrite,
}

/// One step as the store saw it.
#[derive(Clone, Debug)]
pub struct Written {
    pub now: Now,
    pub input: Option<Input>,
    pub facts: Option<Facts>,
    pub outcome: Option<OutcomeOf<Mailbox>>,
    pub records: Vec<Record>,
}

/// The store.
#[derive(Clone, Debug, Default)]
pub struct Memory {
    pub durable: Disk,
    pub staged: Option<Disk>,
    pub written: Vec<Written>,
    pub fate: Fate,
    txns: u64,
}

impl Memory {
    /// What a reader inside the transaction sees.
    pub fn view(&self) -> &Disk {
        self.staged.as_ref().unwrap_or(&self.durable)
    }
}

impl Store for Memory {
    type Error = &'static str;

    fn begin(&mut self) -> Result<TxnId, Self::Error> {
        self.txns += 1;
        self.staged = Some(self.durable.clone());
        self.written.clear();
        Ok(TxnId(self.txns))
    }

    fn commit(&mut self, _txn: TxnId) -> Result<(), CommitError<Self::Error>> {
        let staged = self.staged.take().expect("an open transaction");
        match std::mem::take(&mut self.fate) {
            Fate::Durable => self.durable = staged,
            Fate::NotDurable | Fate::BadWrite => return Err(CommitError::NotDurable("disk full")),
            Fate::UnknownLost => return Err(CommitError::Unknown("input/output error")),
            Fate::UnknownKept => {
                self.durable = staged;
                return Err(CommitError::Unknown("input/output error"));
            }
        }
        Ok(())
    }
}

impl Write<Mailbox> for Memory {
    fn write(&mut self, entry: open::Entry<'_, Mailbox>) -> Result<(), Self::Error> {
        if self.fate == Fate::BadWrite {
            return Err("disk full");
        }
        let staged = self.staged.as_mut().expect("an open transaction");
        entry.records.iter().for_each(|record| staged.take(record));
        self.written.push(Written {
            now: entry.now,
            input: entry.input.map(|(input, _)| input.clone()),
            facts: entry.input.map(|(_, facts)| facts.clone()),
            outcome: entry.outcome.cloned(),
            records: entry.records.to_vec(),
        });
        Ok(())
    }
}
