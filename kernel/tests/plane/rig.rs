//! A machine on a disk in memory. Every step checks the laws of `machine.rs`.

use std::convert::Infallible;

use awakener_kernel::machine::{Image, Machine, OutcomeOf, RecordOf};
use awakener_kernel::open::{CommitError, Entry, Open, Store, Txn, TxnId, Write};
use awakener_kernel::time::Now;

struct Disk<M: Machine> {
    image: M::Image,
    staged: Vec<RecordOf<M>>,
    txn: u64,
}

impl<M: Machine> Store for Disk<M> {
    type Error = Infallible;

    fn begin(&mut self) -> Result<TxnId, Infallible> {
        self.txn += 1;
        Ok(TxnId(self.txn))
    }

    fn commit(&mut self, _txn: TxnId) -> Result<(), CommitError<Infallible>> {
        for record in self.staged.drain(..) {
            self.image.apply(&record);
        }
        Ok(())
    }
}

impl<M: Machine> Write<M> for Disk<M> {
    fn write(&mut self, entry: Entry<'_, M>) -> Result<(), Infallible> {
        self.staged.extend_from_slice(entry.records);
        Ok(())
    }
}

/// A machine and what is on disk of it.
pub struct Rig<M: Machine> {
    config: M::Config,
    pub machine: M,
    disk: Disk<M>,
}

impl<M: Machine> Rig<M> {
    pub fn new(config: M::Config, now: Now) -> Self {
        Self::on(config, now, M::Image::default())
    }

    fn on(config: M::Config, now: Now, image: M::Image) -> Self {
        let mut disk = Disk { image: image.clone(), staged: Vec::new(), txn: 0 };
        let txn = Txn::begin(&mut disk).unwrap();
        let open = Open::<M>::recover(&mut disk, &txn, &config, now, image).unwrap();
        let machine = open.close(&txn.commit(&mut disk).unwrap()).unwrap();
        assert!(machine.effects.is_empty(), "recovery has no effects");
        let machine = machine.machine;
        assert_eq!(machine.image(), &disk.image, "law 2 after recovery");
        Self { config, machine, disk }
    }

    /// Loses everything but the disk.
    pub fn crash(self, now: Now) -> Self {
        Self::on(self.config, now, self.disk.image)
    }

    /// One step in one transaction.
    pub fn step(&mut self, now: Now, input: M::Input, facts: M::Facts) -> (OutcomeOf<M>, Vec<M::Effect>) {
        let before = self.machine.clone();
        let (mut outcomes, effects) = self.commit(now, input, facts);
        let outcome = outcomes.pop().unwrap();
        self.machine.check(&self.config).unwrap();
        assert_eq!(self.machine.image(), &self.disk.image, "law 2: the image is what is on disk");
        if !outcome.is_advanced() {
            assert_eq!(self.machine, before, "law 1: {outcome:?} is a stutter");
            assert!(effects.is_empty(), "law 1: {outcome:?} has no effects");
        }
        (outcome, effects)
    }

    fn commit(&mut self, now: Now, input: M::Input, facts: M::Facts) -> (Vec<OutcomeOf<M>>, Vec<M::Effect>) {
        let txn = Txn::begin(&mut self.disk).unwrap();
        let open = Open::new(self.machine.clone(), &txn);
        let open = open.step(&mut self.disk, &self.config, now, input, facts).unwrap();
        let advanced = open.last_advanced();
        assert!(advanced || self.disk.staged.is_empty(), "law 1: no records");
        let released = open.close(&txn.commit(&mut self.disk).unwrap()).unwrap();
        self.machine = released.machine;
        (released.outcomes, released.effects)
    }
}
