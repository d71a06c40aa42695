//! Drives machines of one kind over one store: facts → step → records and audit → commit → release.
//!
//! The only code of the shell that calls `step`. Nothing of a batch is visible before its commit, and after a commit
//! that failed nothing of it is left: the machines come back from disk. Not here: where inputs come from, what facts
//! are, what becomes of effects. Rules: architecture "laws of a step" 2 and 3; ADM-2, ADM-10, INB-1, AUD-2.

use std::collections::{BTreeMap, BTreeSet};

use awakener_kernel::machine::OutcomeOf;
use awakener_kernel::open::{CommitError, Open, RecoverError, Txn};
use awakener_kernel::time::{Mono, Now};
use awakener_spec::Reason;

use crate::pause::Point;
use crate::store::persist::Persist;
use crate::store::{Db, Focus, Statement, StoreFault};

/// Machines of one kind, by target.
#[derive(Debug)]
pub struct Host<M: Persist> {
    config: M::Config,
    /// Limits of single targets, where they differ.
    own: BTreeMap<String, M::Config>,
    live: BTreeMap<String, M>,
    /// Batches since the last snapshot, by target.
    since_snapshot: BTreeMap<String, u32>,
}

/// One input with what belongs to it.
#[derive(Clone, Debug)]
pub struct Item<M: Persist> {
    /// Which machine.
    pub target: String,
    /// What happened.
    pub input: M::Input,
    /// A text that no machine sees.
    pub statement: Option<Statement>,
}

/// The machines of the host while a batch is under way: most as they are on disk, some sealed.
#[derive(Debug)]
pub struct Peers<'a, M: Persist> {
    /// Not part of the batch so far.
    pub live: &'a BTreeMap<String, M>,
    /// Part of it; they answer facts about themselves and nothing else.
    pub open: &'a BTreeMap<String, Open<M>>,
}

/// What a commit set free.
#[derive(Debug)]
pub struct Done<M: Persist> {
    /// One per item, in order.
    pub outcomes: Vec<OutcomeOf<M>>,
    /// In order per target.
    pub effects: Vec<(String, M::Effect)>,
}

/// Why a batch has no outcome.
#[derive(Debug)]
pub enum Failed {
    /// Nothing of it is durable (`store_unavailable`).
    NotDurable(StoreFault),
    /// Nobody knows (`outcome_unknown`): the store must be opened anew.
    Unknown(StoreFault),
}

/// After this many batches an image is kept, so that recovery stays short.
const SNAPSHOT_EVERY: u32 = 512;

impl<M: Persist> Host<M> {
    /// Recovers every machine that the store knows of.
    ///
    /// # Errors
    /// `image_violation` when an image breaks an invariant: it must not boot; otherwise the store's own.
    pub fn boot(db: &mut Db, config: M::Config, now: Now) -> Result<Self, StoreFault> {
        Self::boot_each(db, config, BTreeMap::new(), now)
    }

    /// The same, with limits of their own for some targets.
    ///
    /// # Errors
    /// As [`Self::boot`].
    pub fn boot_each(
        db: &mut Db,
        config: M::Config,
        own: BTreeMap<String, M::Config>,
        now: Now,
    ) -> Result<Self, StoreFault> {
        let mut host = Self { config, own, live: BTreeMap::new(), since_snapshot: BTreeMap::new() };
        for target in db.targets::<M>()? {
            host.recover(db, &target, now)?;
        }
        db.reached(Point::InRecovery);
        Ok(host)
    }

    /// Makes sure that there is a machine for `target`.
    ///
    /// # Errors
    /// As [`Self::boot`].
    pub fn ensure(&mut self, db: &mut Db, target: &str, now: Now) -> Result<(), StoreFault> {
        if self.live.contains_key(target) { Ok(()) } else { self.recover(db, target, now) }
    }

    /// The limits in force where a target has none of its own.
    pub const fn config(&self) -> &M::Config {
        &self.config
    }

    /// The limits in force for one target.
    pub fn config_of(&self, target: &str) -> &M::Config {
        self.own.get(target).unwrap_or(&self.config)
    }

    /// One machine, as it is on disk.
    pub fn machine(&self, target: &str) -> Option<&M> {
        self.live.get(target)
    }

    /// All machines, as they are on disk.
    pub fn machines(&self) -> impl Iterator<Item = (&String, &M)> {
        self.live.iter()
    }

    /// When the next machine wants its `Fire`.
    pub fn deadline(&self) -> Option<Mono> {
        self.live.iter().filter_map(|(target, machine)| machine.deadline(self.config_of(target))).min()
    }

    /// The targets whose machines want a `Fire` now.
    pub fn due(&self, now: Now) -> Vec<String> {
        self.live
            .iter()
            .filter(|(target, machine)| {
                machine.deadline(self.config_of(target)).is_some_and(|at| at <= now.mono)
            })
            .map(|(target, _)| target.clone())
            .collect()
    }

    /// Steps each item and commits once. `facts` answers what a machine must know, inside the transaction.
    ///
    /// # Errors
    /// [`Failed`].
    pub fn batch(
        &mut self,
        db: &mut Db,
        now: Now,
        items: Vec<Item<M>>,
        mut facts: impl FnMut(&Db, &Peers<'_, M>, &Item<M>, M::Query) -> Result<M::Facts, StoreFault>,
    ) -> Result<Done<M>, Failed> {
        let touched: BTreeSet<String> = items.iter().map(|item| item.target.clone()).collect();
        for target in &touched {
            self.ensure(db, target, now).map_err(Failed::NotDurable)?;
        }
        let txn = Txn::begin(db).map_err(Failed::NotDurable)?;
        let mut open: BTreeMap<String, Open<M>> = BTreeMap::new();
        let mut order = Vec::with_capacity(items.len());
        let staged = self.stage(db, &txn, now, items, &mut open, &mut order, &mut facts);
        let result = match staged {
            Err(fault) => {
                drop(txn);
                db.abort();
                awakener_spec::rule!(Adm10);
                Err(Failed::NotDurable(fault))
            }
            Ok(()) => match txn.commit(db) {
                Err(CommitError::NotDurable(fault)) => {
                    db.abort();
                    Err(Failed::NotDurable(fault))
                }
                Err(CommitError::Unknown(fault)) => Err(Failed::Unknown(fault)),
                Ok(committed) => Ok(committed),
            },
        };
        match result {
            Ok(committed) => {
                for target in &touched {
                    *self.since_snapshot.entry(target.clone()).or_default() += 1;
                }
                Ok(self.release(&committed, open, order))
            }
            Err(failed) => {
                // What was open is gone; the disk says what is true. With an unknown fate the caller boots anew.
                if matches!(failed, Failed::NotDurable(_)) {
                    for target in &touched {
                        // Absent until the store can be read; the next input for it tries again.
                        let _ = self.ensure(db, target, now);
                    }
                }
                Err(failed)
            }
        }
    }

    /// Keeps the image of each machine that has moved enough since the last time, or of all.
    ///
    /// # Errors
    /// `store_unavailable`; nothing is lost but time at the next start.
    pub fn snapshot(&mut self, db: &mut Db, all: bool) -> Result<(), StoreFault> {
        for (target, steps) in &mut self.since_snapshot {
            if (all && *steps > 0) || *steps >= SNAPSHOT_EVERY {
                if let Some(machine) = self.live.get(target) {
                    db.snapshot::<M>(target, machine.image())?;
                }
                *steps = 0;
            }
        }
        Ok(())
    }

    fn recover(&mut self, db: &mut Db, target: &str, now: Now) -> Result<(), StoreFault> {
        let image = db.image::<M>(target)?;
        let txn = Txn::begin(db)?;
        db.focus(Focus { target: target.to_owned(), statement: None });
        let opened = match Open::recover(db, &txn, self.config_of(target), now, image) {
            Ok(opened) => opened,
            Err(RecoverError::Store(fault)) => {
                db.abort();
                return Err(fault);
            }
            Err(RecoverError::Violation(violation)) => {
                db.abort();
                let said = format!("{} {target:?}: not so: {}", M::NAME, violation.invariant);
                return Err(db.fault(Reason::ImageViolation, &said));
            }
        };
        let committed = txn.commit(db).map_err(|error| match error {
            CommitError::NotDurable(fault) | CommitError::Unknown(fault) => fault,
        })?;
        if let Ok(released) = opened.close(&committed) {
            self.live.insert(target.to_owned(), released.machine);
        }
        Ok(())
    }

    #[expect(clippy::too_many_arguments, reason = "the parts of one batch, borrowed apart")]
    fn stage(
        &mut self,
        db: &mut Db,
        txn: &Txn,
        now: Now,
        items: Vec<Item<M>>,
        open: &mut BTreeMap<String, Open<M>>,
        order: &mut Vec<String>,
        facts: &mut impl FnMut(&Db, &Peers<'_, M>, &Item<M>, M::Query) -> Result<M::Facts, StoreFault>,
    ) -> Result<(), StoreFault> {
        for item in items {
            if !open.contains_key(&item.target)
                && let Some(machine) = self.live.remove(&item.target)
            {
                open.insert(item.target.clone(), Open::new(machine, txn));
            }
            let Some(opened) = open.get(&item.target) else {
                return Err(db.fault(Reason::StoreUnavailable, &format!("no machine for {}", item.target)));
            };
            let query = opened.needs(&item.input);
            let known = facts(db, &Peers { live: &self.live, open }, &item, query)?;
            let Some(opened) = open.remove(&item.target) else { continue };
            db.focus(Focus { target: item.target.clone(), statement: item.statement });
            let config = self.own.get(&item.target).unwrap_or(&self.config);
            let stepped = opened.step(db, config, now, item.input, known)?;
            order.push(item.target.clone());
            open.insert(item.target, stepped);
        }
        Ok(())
    }

    fn release(
        &mut self,
        committed: &awakener_kernel::open::Committed,
        open: BTreeMap<String, Open<M>>,
        order: Vec<String>,
    ) -> Done<M> {
        let mut outcomes = BTreeMap::new();
        let mut effects = Vec::new();
        for (target, opened) in open {
            let Ok(released) = opened.close(committed) else { continue };
            effects.extend(released.effects.into_iter().map(|effect| (target.clone(), effect)));
            outcomes.insert(target.clone(), released.outcomes.into_iter());
            self.live.insert(target, released.machine);
        }
        let in_order = order
            .into_iter()
            .filter_map(|target| outcomes.get_mut(&target).and_then(Iterator::next))
            .collect();
        Done { outcomes: in_order, effects }
    }
}

#[cfg(test)]
mod tests;
