//! One process of any world: a machine, its disk, and the transaction between them.
//!
//! It uses the kernel's own seal ([`awakener_kernel::open`]), so that what the model lets out is what a driver could
//! let out: nothing before the commit, nothing after a failed one. Reading order: `disk` → here → `laws`. Not here: what
//! the world does with that, and what it thinks of it. Rules: INB-1, VER-2, EMT-1 (laws 1 to 4 of a step).

mod disk;
mod laws;

use std::fmt::Debug;
use std::hash::Hash;

use awakener_kernel::machine::{Image, Machine, Outcome, OutcomeOf, RecordOf, Violation};
use awakener_kernel::open::{Open, RecoverError, Released, Txn};
use awakener_kernel::time::Now;

use crate::shared::Shared;

pub use disk::{Content, Disk, FAILURES, Failed, Fate, Rows};

/// What the process is doing. `C` is what the world wants to know again when a call is answered.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Phase<M: Machine, C> {
    Down,
    Live(Shared<M>),
    Staged(Shared<Staged<M, C>>),
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Staged<M: Machine, C> {
    open: Open<M>,
    txn: Txn,
    calls: Vec<C>,
}

/// A machine, its disk, and the transaction between them.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Process<M: Machine, R, C> {
    phase: Phase<M, C>,
    disk: Disk<M, R>,
}

/// A step that was tried.
#[derive(Clone, Debug)]
pub struct Tried<M: Machine, R, C> {
    /// The process with the step staged; as it was, if the step was refused.
    pub after: Process<M, R, C>,
    /// What it came to.
    pub outcome: OutcomeOf<M>,
    /// Whether a step that did not advance left everything as it was; true for one that did advance.
    pub stutters: bool,
}

/// What a commit lets out.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Visible<M: Machine, C> {
    /// Each call of the transaction with its outcome, in order.
    pub answers: Vec<(C, OutcomeOf<M>)>,
    /// What to do now, in order.
    pub effects: Vec<M::Effect>,
}

impl<M: Machine, R: Rows<M>, C: Clone + Eq + Hash + Debug> Default for Process<M, R, C> {
    fn default() -> Self {
        Self { phase: Phase::Down, disk: Disk::empty() }
    }
}

impl<M: Machine, R: Rows<M>, C: Clone + Eq + Hash + Debug> Process<M, R, C> {
    /// Whether there is no machine: never booted, crashed, or given up after a failed commit.
    pub const fn is_down(&self) -> bool {
        matches!(self.phase, Phase::Down)
    }

    /// Whether a transaction is open.
    pub const fn is_staged(&self) -> bool {
        matches!(self.phase, Phase::Staged(_))
    }

    /// The machine, if it is in a state that is on disk.
    pub fn live(&self) -> Option<&M> {
        match &self.phase {
            Phase::Live(machine) => Some(machine),
            Phase::Down | Phase::Staged(_) => None,
        }
    }

    /// A fingerprint of the live machine, which is computed once for all states that share it.
    pub fn live_print(&self) -> Option<u64> {
        match &self.phase {
            Phase::Live(machine) => Some(machine.print()),
            Phase::Down | Phase::Staged(_) => None,
        }
    }

    /// Calls of the open transaction.
    pub fn batch(&self) -> &[C] {
        match &self.phase {
            Phase::Staged(staged) => staged.calls.as_slice(),
            Phase::Down | Phase::Live(_) => &[],
        }
    }

    /// What is on disk.
    pub fn disk(&self) -> &Content<M::Image, R> {
        &self.disk.durable
    }

    /// A copy of what is on disk.
    pub fn backup(&self) -> Shared<Content<M::Image, R>> {
        self.disk.durable.clone()
    }

    /// Puts a copy in the place of what is on disk.
    pub fn restore(&mut self, content: Shared<Content<M::Image, R>>) {
        assert!(self.is_down(), "only under a process that is down disks are changed");
        self.disk.durable = content;
    }

    /// What a reader inside the open transaction sees.
    pub fn inside(&self) -> &Content<M::Image, R> {
        self.disk.working.as_ref().unwrap_or(&self.disk.durable)
    }

    /// The machine as it would be if a commit succeeded now.
    pub fn machine(&self) -> Option<M> {
        match &self.phase {
            Phase::Down => None,
            Phase::Live(machine) => Some(M::clone(machine)),
            Phase::Staged(_) => self.released().map(|released| released.machine),
        }
    }

    /// What a commit would release, found out by one on a copy of the disk.
    fn released(&self) -> Option<Released<M>> {
        let Phase::Staged(staged) = &self.phase else { return None };
        let committed = staged.txn.clone().commit(&mut self.disk.clone()).ok()?;
        staged.open.clone().close(&committed).ok()
    }

    /// Wakes the machine from what is on disk, in a transaction that is left open.
    ///
    /// # Errors
    /// What the machine says against its image; the process stays down.
    pub fn recover(&mut self, config: &M::Config, now: Now) -> Result<(), Violation> {
        let image = self.disk().image.clone();
        self.recover_from(config, now, image)
    }

    /// Wakes the machine from another image: only planted faults do that.
    ///
    /// # Errors
    /// As [`Self::recover`].
    pub fn recover_from(&mut self, config: &M::Config, now: Now, image: M::Image) -> Result<(), Violation> {
        assert!(self.is_down(), "only what is down recovers");
        let txn = Txn::begin(&mut self.disk).expect("the model's disk always begins");
        match Open::recover(&mut self.disk, &txn, config, now, image) {
            Ok(open) => {
                self.phase = Phase::Staged(Shared::new(Staged { open, txn, calls: Vec::new() }));
                Ok(())
            }
            Err(RecoverError::Violation(violation)) => {
                self.disk.working = None;
                Err(violation)
            }
            Err(RecoverError::Store(Failed)) => unreachable!("the model's disk writes always"),
        }
    }

    /// Writes records in a transaction of their own, while there is no machine: what a driver does with a fact that its
    /// machine must wake with.
    pub fn write_apart(&mut self, records: &[RecordOf<M>]) {
        assert!(self.is_down(), "a live machine writes its own records");
        let mut content = std::mem::take(&mut self.disk.durable).into_inner();
        for record in records {
            content.image.apply(record);
            content.rows.keep(record);
        }
        self.disk.durable = Shared::new(content);
    }

    /// What the machine must know about `input`; `None` if there is no machine.
    pub fn needs(&self, input: &M::Input) -> Option<M::Query> {
        match &self.phase {
            Phase::Down => None,
            Phase::Live(machine) => Some(machine.needs(input)),
            Phase::Staged(staged) => Some(staged.open.needs(input)),
        }
    }

    /// Takes one step in the open transaction, or in a new one. `call` is made of what a reader sees inside the
    /// transaction right after the step: an answer must not show what a later step of the batch did.
    pub fn stage(
        &mut self,
        config: &M::Config,
        now: Now,
        input: M::Input,
        facts: M::Facts,
        call: impl FnOnce(&Content<M::Image, R>) -> C,
    ) -> OutcomeOf<M> {
        let Staged { open, txn, mut calls } = match std::mem::replace(&mut self.phase, Phase::Down) {
            Phase::Down => panic!("nothing can be staged by what is down"),
            Phase::Live(machine) => {
                let txn = Txn::begin(&mut self.disk).expect("the model's disk always begins");
                Staged { open: Open::new(machine.into_inner(), &txn), txn, calls: Vec::new() }
            }
            Phase::Staged(staged) => staged.into_inner(),
        };
        let open =
            open.step(&mut self.disk, config, now, input, facts).expect("the model's disk always writes");
        calls.push(call(self.inside()));
        self.phase = Phase::Staged(Shared::new(Staged { open, txn, calls }));
        self.disk.outcome.take().expect("the step was written")
    }

    /// What a step would come to, tried on a copy, together with the law that every machine keeps: what does not
    /// advance is a stutter (law 1 of a step, VER-5).
    pub fn tried(
        &self,
        config: &M::Config,
        now: Now,
        input: M::Input,
        facts: M::Facts,
        call: impl FnOnce(&Content<M::Image, R>) -> C,
    ) -> Tried<M, R, C> {
        if let Phase::Live(machine) = &self.phase {
            return self.tried_live(machine, (config, now), (input, facts), call);
        }
        let mut after = self.clone();
        let outcome = after.stage(config, now, input, facts, call);
        let stutters = outcome.is_advanced() || after.stuttered_since(self);
        Tried { after, outcome, stutters }
    }

    /// The same for a machine that is live. Most of what is tried is refused: then nothing is kept, and nothing is
    /// copied but the machine that takes the step.
    fn tried_live(
        &self,
        machine: &Shared<M>,
        (config, now): (&M::Config, Now),
        (input, facts): (M::Input, M::Facts),
        call: impl FnOnce(&Content<M::Image, R>) -> C,
    ) -> Tried<M, R, C> {
        let mut disk = self.disk.clone();
        let txn = Txn::begin(&mut disk).expect("the model's disk always begins");
        let open = Open::new(M::clone(machine), &txn);
        let open = open.step(&mut disk, config, now, input, facts).expect("the model's disk always writes");
        let outcome = disk.outcome.take().expect("the step was written");
        if matches!(outcome, Outcome::Refused(_)) {
            let committed = txn.commit(&mut disk).expect("nobody chose another fate");
            let released = open.close(&committed).expect("the commit is of this transaction");
            let stutters = disk.durable == self.disk.durable
                && released.effects.is_empty()
                && released.machine == **machine;
            return Tried { after: self.clone(), outcome, stutters };
        }
        let calls = vec![call(disk.working.as_ref().unwrap_or(&disk.durable))];
        let after = Self { phase: Phase::Staged(Shared::new(Staged { open, txn, calls })), disk };
        let stutters = outcome.is_advanced() || after.stuttered_since(self);
        Tried { after, outcome, stutters }
    }

    /// Commits. A fate other than [`Fate::Durable`] leaves nothing but [`Self::recover`].
    pub fn commit(&mut self, fate: Fate) -> Option<Visible<M, C>> {
        let Phase::Staged(staged) = std::mem::replace(&mut self.phase, Phase::Down) else {
            panic!("only what is staged commits");
        };
        let Staged { open, txn, calls } = staged.into_inner();
        self.disk.fate = fate;
        let committed = txn.commit(&mut self.disk).ok()?;
        let released = open.close(&committed).expect("the commit is of this transaction");
        self.phase = Phase::Live(Shared::new(released.machine));
        let answers = calls.into_iter().zip(released.outcomes).collect();
        Some(Visible { answers, effects: released.effects })
    }

    /// Loses everything that is not on disk.
    pub fn crash(&mut self) {
        awakener_spec::rule!(Fml2);
        self.phase = Phase::Down;
        self.disk.working = None;
    }

    /// How the machine would judge an input now, whether it is live or staged; nothing is staged by it.
    pub fn judge(
        &self,
        config: &M::Config,
        now: Now,
        input: M::Input,
        facts: M::Facts,
    ) -> Option<OutcomeOf<M>> {
        Some(self.machine()?.step(config, now, input, facts).outcome().clone())
    }

    /// Outcomes of the open transaction before it is durable: only planted faults and the checks of a world look.
    pub fn peek(&self) -> Vec<OutcomeOf<M>> {
        self.released().map(|released| released.outcomes).unwrap_or_default()
    }
}
