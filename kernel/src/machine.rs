//! What a machine is: a pure value that a step consumes and returns.
//!
//! Not here: who persists, when, and who performs the effects (that is a driver; [`crate::open`] is what keeps it
//! honest). The laws that each machine keeps, and that the tests and the model check:
//!
//! 1. a refused or absorbed step is a stutter: same machine, no records, no effects but answers (VER-5);
//! 2. the image changes only through [`Image::apply`], so `image() == disk + staged` at every moment (AUD-2);
//! 3. [`Machine::deadline`] is a function of the state: a timer can neither leak nor be lost;
//! 4. [`Machine::recover`] is the only way in, for a boot, a crash and the model alike, and it has no effects.

use alloc::vec::Vec;
use core::fmt::Debug;
use core::hash::Hash;

use crate::time::{Mono, Now};

/// Durable truth of one machine: what its records, applied in order, amount to.
pub trait Image: Clone + Default + Eq + Hash + Debug {
    /// One durable fact.
    type Record: Clone + Eq + Hash + Debug;

    /// Makes one fact part of the truth. Total: records come only from a machine's own step.
    fn apply(&mut self, record: &Self::Record);
}

/// The record type of a machine's image.
pub type RecordOf<M> = <<M as Machine>::Image as Image>::Record;

/// A pure state machine.
pub trait Machine: Sized + Clone + Eq + Hash + Debug {
    /// Limits and timings that the machine obeys.
    type Config: Debug;
    /// The durable part of the state.
    type Image: Image;
    /// What can happen to it.
    type Input: Clone + Eq + Hash + Debug;
    /// What it must know, read inside the transaction, before it can judge an input.
    type Query: Clone + Eq + Hash + Debug;
    /// The answer to [`Self::Query`].
    type Facts: Clone + Eq + Hash + Debug;
    /// What should happen outside once the step is durable.
    type Effect: Clone + Eq + Hash + Debug;
    /// What did happen, as a closed list of names.
    type Event: Clone + Eq + Hash + Debug;
    /// Why nothing happened, as a closed list of names.
    type Refusal: Copy + Eq + Hash + Debug;

    /// Wakes a machine from its durable image. Yields records (for instance a new epoch) but never effects; the
    /// first [`Self::deadline`] does the rest. An image that breaks [`Self::check`] does not boot.
    ///
    /// # Errors
    /// [`Violation`] names the broken invariant.
    fn recover(config: &Self::Config, now: Now, image: Self::Image) -> Result<Step<Self>, Violation>;

    /// What the driver must look up, inside the transaction, for this input.
    fn needs(&self, input: &Self::Input) -> Self::Query;

    /// Judges one input. Total: never panics, never blocks.
    fn step(self, config: &Self::Config, now: Now, input: Self::Input, facts: Self::Facts) -> Step<Self>;

    /// When the machine wants its `Fire` input, on the monotonic clock; `None` = it waits for others.
    fn deadline(&self, config: &Self::Config) -> Option<Mono>;

    /// The durable part; always equals what is on disk plus what is staged.
    fn image(&self) -> &Self::Image;

    /// Every internal invariant, stated once; used as debug assertion, model property, boot check and monitor.
    ///
    /// # Errors
    /// [`Violation`] names the broken invariant.
    fn check(&self, config: &Self::Config) -> Result<(), Violation>;
}

/// An internal invariant that does not hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Violation {
    /// The invariant in words.
    pub invariant: &'static str,
    /// The rule that it protects.
    pub rule: awakener_spec::Rule,
}

/// What a step did.
#[derive(Clone, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome<E, R> {
    /// The machine moved on; the records say how.
    Advanced(E),
    /// Legal, but nothing to do: late, repeated, or already so.
    Absorbed,
    /// Not legal here; nothing changed.
    Refused(R),
}

impl<E, R> Outcome<E, R> {
    /// Whether the machine moved.
    pub const fn is_advanced(&self) -> bool {
        matches!(self, Self::Advanced(_))
    }
}

/// The outcome type of a machine.
pub type OutcomeOf<M> = Outcome<<M as Machine>::Event, <M as Machine>::Refusal>;

/// The result of one step. Its parts are private: only [`crate::open::Open`] hands them out, after the commit.
///
/// What happened and what must become durable can be read:
///
/// ```
/// use awakener_kernel::{machine::Step, mailbox::Mailbox};
/// fn look(step: &Step<Mailbox>) -> usize {
///     let _ = step.outcome();
///     step.records().len()
/// }
/// ```
///
/// The machine and its effects cannot, before their commit:
///
/// ```compile_fail,E0616
/// use awakener_kernel::{machine::Step, mailbox::Mailbox};
/// fn take(step: Step<Mailbox>) -> Mailbox {
///     step.machine
/// }
/// ```
///
/// ```compile_fail,E0616
/// use awakener_kernel::{machine::Step, mailbox::Mailbox};
/// fn act(step: Step<Mailbox>) -> usize {
///     step.effects.len()
/// }
/// ```
#[must_use = "a step that is not entered into a transaction is lost"]
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Step<M: Machine> {
    pub(crate) machine: M,
    pub(crate) outcome: OutcomeOf<M>,
    pub(crate) records: Vec<RecordOf<M>>,
    pub(crate) effects: Vec<M::Effect>,
}

impl<M: Machine> Step<M> {
    /// What happened. Reading it is safe; acting on it before the commit is what [`crate::open::Open`] prevents.
    pub const fn outcome(&self) -> &OutcomeOf<M> {
        &self.outcome
    }

    /// The facts that must become durable.
    pub fn records(&self) -> &[RecordOf<M>] {
        &self.records
    }
}

/// A step under construction: the one place where a record meets the image, so that law 2 cannot be forgotten.
#[derive(Clone, Debug)]
pub(crate) struct Draft<M: Machine> {
    pub(crate) machine: M,
    records: Vec<RecordOf<M>>,
    effects: Vec<M::Effect>,
}

/// A machine that lets a [`Draft`] reach its image.
pub(crate) trait ImageMut: Machine {
    fn image_mut(&mut self) -> &mut Self::Image;
}

impl<M: ImageMut> Draft<M> {
    pub(crate) const fn new(machine: M) -> Self {
        Self { machine, records: Vec::new(), effects: Vec::new() }
    }

    /// Applies a record to the image and stages it.
    pub(crate) fn record(&mut self, record: RecordOf<M>) {
        self.machine.image_mut().apply(&record);
        self.records.push(record);
    }

    pub(crate) fn effect(&mut self, effect: M::Effect) {
        self.effects.push(effect);
    }

    pub(crate) fn advanced(self, event: M::Event) -> Step<M> {
        Step {
            machine: self.machine,
            outcome: Outcome::Advanced(event),
            records: self.records,
            effects: self.effects,
        }
    }
}

impl<M: Machine> Step<M> {
    /// Nothing to do.
    pub(crate) const fn absorbed(machine: M) -> Self {
        Self { machine, outcome: Outcome::Absorbed, records: Vec::new(), effects: Vec::new() }
    }

    /// Nothing may be done.
    pub(crate) const fn refused(machine: M, refusal: M::Refusal) -> Self {
        Self { machine, outcome: Outcome::Refused(refusal), records: Vec::new(), effects: Vec::new() }
    }
}
