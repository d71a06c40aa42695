//! Durable before visible, as types.
//!
//! A driver cannot show an effect, an answer, or even the next state of a machine before the transaction that made
//! them durable has been committed: all three are sealed in an [`Open`], and only the [`Committed`] of the same
//! transaction opens it. After a failed commit nothing is left but [`Machine::recover`]. The store of the shell and
//! the disk of the model are the two implementations of [`Store`].
//!
//! Not here: what a store writes, and what happens to effects. Rules: INB-1, ADM-10, EMT-1, VER-2, AUD-4, FML-1.

use alloc::vec::Vec;

use crate::machine::{Machine, Outcome, OutcomeOf, RecordOf, Step, Violation};
use crate::time::Now;

/// Identifies one transaction of one store.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TxnId(pub u64);

/// Why a commit did not give a [`Committed`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CommitError<E> {
    /// Nothing of the transaction is or will be on disk: callers may hear `store_unavailable` (ADM-2).
    NotDurable(E),
    /// It may be on disk or not: callers hear `outcome_unknown`, machines are recovered (ADM-2).
    Unknown(E),
}

/// Something that makes records durable, all of a transaction or none of it.
pub trait Store {
    /// What can go wrong.
    type Error;

    /// Starts a transaction. Ids of transactions that can be open at the same time differ.
    ///
    /// # Errors
    /// The store's own error; nothing has happened.
    fn begin(&mut self) -> Result<TxnId, Self::Error>;

    /// Makes this transaction durable, and no other.
    ///
    /// # Errors
    /// Says whether the fate is known. A transaction that is not the open one is not durable.
    fn commit(&mut self, txn: TxnId) -> Result<(), CommitError<Self::Error>>;
}

/// A store that can hold the steps of machine `M`.
pub trait Write<M: Machine>: Store {
    /// Stages one step: its records, and the audit entry from which it can be re-executed (AUD-2). Called for every
    /// step of the transaction, refused ones too; the store decides which refusals it folds (VER-4).
    ///
    /// # Errors
    /// The store's own error; the transaction must then be given up.
    fn write(&mut self, entry: Entry<'_, M>) -> Result<(), Self::Error>;
}

/// One step as a store sees it.
#[derive(Debug)]
pub struct Entry<'a, M: Machine> {
    /// When.
    pub now: Now,
    /// The input and the facts it was judged on; `None` for a recovery.
    pub input: Option<(&'a M::Input, &'a M::Facts)>,
    /// What happened; `None` for a recovery.
    pub outcome: Option<&'a OutcomeOf<M>>,
    /// What must become durable.
    pub records: &'a [RecordOf<M>],
}

/// An open transaction.
#[must_use = "a transaction does nothing until it is committed"]
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Txn {
    id: TxnId,
}

/// Proof that one transaction is durable.
#[derive(Debug)]
pub struct Committed {
    id: TxnId,
}

impl Txn {
    /// Starts a transaction in `store`.
    ///
    /// # Errors
    /// The store's own error.
    pub fn begin<S: Store>(store: &mut S) -> Result<Self, S::Error> {
        Ok(Self { id: store.begin()? })
    }

    /// Makes everything staged durable.
    ///
    /// # Errors
    /// [`CommitError`]; whatever was opened under this transaction stays sealed for ever.
    pub fn commit<S: Store>(self, store: &mut S) -> Result<Committed, CommitError<S::Error>> {
        store.commit(self.id).map(|()| Committed { id: self.id })
    }
}

/// A machine whose latest steps are not durable yet, with everything they would show.
///
/// The seal has no other way in or out, and nobody else can make a [`Committed`]:
///
/// ```compile_fail,E0616
/// use awakener_kernel::{mailbox::Mailbox, open::Open};
/// fn take(open: Open<Mailbox>) -> Mailbox {
///     open.machine
/// }
/// ```
///
/// ```compile_fail,E0451
/// use awakener_kernel::open::{Committed, TxnId};
/// let forged = Committed { id: TxnId(1) };
/// ```
///
/// What a commit releases is free:
///
/// ```
/// use awakener_kernel::{mailbox::Mailbox, open::{Committed, Open}};
/// fn take(open: Open<Mailbox>, committed: &Committed) -> Option<Mailbox> {
///     open.close(committed).ok().map(|released| released.machine)
/// }
/// ```
#[must_use = "an open machine must be closed by its commit or given up for recovery"]
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Open<M: Machine> {
    machine: M,
    outcomes: Vec<OutcomeOf<M>>,
    effects: Vec<M::Effect>,
    txn: TxnId,
}

/// What a commit sets free.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Released<M: Machine> {
    /// The machine, now in a state that is on disk.
    pub machine: M,
    /// One outcome per step, in order.
    pub outcomes: Vec<OutcomeOf<M>>,
    /// What to do now, in order.
    pub effects: Vec<M::Effect>,
}

impl<M: Machine> Open<M> {
    /// Takes a machine into a transaction.
    pub const fn new(machine: M, txn: &Txn) -> Self {
        Self { machine, outcomes: Vec::new(), effects: Vec::new(), txn: txn.id }
    }

    /// Wakes a machine from its image inside a transaction, so that what recovery records is durable before the
    /// machine can do anything.
    ///
    /// # Errors
    /// [`RecoverError`].
    pub fn recover<S: Write<M>>(
        store: &mut S,
        txn: &Txn,
        config: &M::Config,
        now: Now,
        image: M::Image,
    ) -> Result<Self, RecoverError<S::Error>> {
        let Step { machine, records, .. } =
            M::recover(config, now, image).map_err(RecoverError::Violation)?;
        store
            .write(Entry { now, input: None, outcome: None, records: &records })
            .map_err(RecoverError::Store)?;
        Ok(Self { machine, outcomes: Vec::new(), effects: Vec::new(), txn: txn.id })
    }

    /// What the machine must know about this input (read it inside the same transaction).
    pub fn needs(&self, input: &M::Input) -> M::Query {
        self.machine.needs(input)
    }

    /// Takes one step and stages it.
    ///
    /// # Errors
    /// The store's own error; give the transaction up and recover.
    pub fn step<S: Write<M>>(
        self,
        store: &mut S,
        config: &M::Config,
        now: Now,
        input: M::Input,
        facts: M::Facts,
    ) -> Result<Self, S::Error> {
        let Self { machine, mut outcomes, mut effects, txn } = self;
        let step = machine.step(config, now, input.clone(), facts.clone());
        // Model and shell have no other way to a step.
        awakener_spec::rule!(Fml1);
        debug_assert!(step.machine.check(config).is_ok(), "{:?}", step.machine.check(config));
        store.write(Entry {
            now,
            input: Some((&input, &facts)),
            outcome: Some(&step.outcome),
            records: &step.records,
        })?;
        outcomes.push(step.outcome);
        effects.extend(step.effects);
        Ok(Self { machine: step.machine, outcomes, effects, txn })
    }

    /// For facts that a machine computes about itself inside the transaction; never a way out.
    pub(crate) const fn sealed(&self) -> &M {
        &self.machine
    }

    /// Opens the seal.
    ///
    /// # Errors
    /// Gives itself back when `committed` belongs to another transaction.
    pub fn close(self, committed: &Committed) -> Result<Released<M>, Self> {
        awakener_spec::rule!(Aud4);
        if committed.id != self.txn {
            return Err(self);
        }
        Ok(Released { machine: self.machine, outcomes: self.outcomes, effects: self.effects })
    }

    /// The last outcome's name class, for a driver that must know whether to go on with a savepoint; it carries no
    /// content that could be shown.
    pub fn last_advanced(&self) -> bool {
        self.outcomes.last().is_some_and(Outcome::is_advanced)
    }
}

/// Why a machine could not be woken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecoverError<E> {
    /// Its image breaks an invariant: it must not boot.
    Violation(Violation),
    /// The store failed.
    Store(E),
}
