//! Cyclic worlds: no budgets, no absolute clock, so that runs that never end are in the graph.
//!
//! A state here is a concrete one (the machines that ship, instants and all) together with its canonical form
//! ([`canon`], by the rules of [`rules`] and of each world); two states are one if their forms are. What the adversary
//! may do, it may do without end. That the form folds together only what behaves alike is checked, not believed
//! ([`faithful`]).
//!
//! What is common to these worlds:
//! - One clock for everything, wall and monotonic; it moves by a millisecond, and not before everything that is due at
//!   the present moment was fired. (Timers that fire late are in the bounded worlds.)
//! - Queues are bounded: who would put one more thing into a full one waits.
//! - Actions name roles ("the newest hint"), never numbers that grow.
//! - Ghosts are bits and last values, never histories.
//!
//! Not here: what is claimed of them beyond safety ([`crate::liveness`]). Rules: FML-2, FML-3.

pub mod canon;
pub mod faithful;
pub mod rules;
pub mod system;
pub mod waker;

use std::fmt::{self, Debug};
use std::hash::{BuildHasher, Hash, Hasher};
use std::sync::Arc;

use crate::liveness::Leads;
use crate::world::World;

/// A concrete state that equals every other one of the same form.
#[derive(Clone)]
pub struct Folded<T> {
    concrete: Arc<T>,
    /// 128 bits of a hash of the form stand for the form.
    form: (u64, u64),
}

impl<T> Folded<T> {
    /// Folds a state.
    pub fn new(concrete: T, form: &str) -> Self {
        let half = |seed| foldhash::quality::FixedState::with_seed(seed).hash_one(form);
        Self { concrete: Arc::new(concrete), form: (half(0x6665_726d), half(0x6f72_6d65)) }
    }

    /// Whether both are one object. Two of one form may differ in what numbers they use, and so in the order of what
    /// can be tried.
    pub fn same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.concrete, &other.concrete)
    }

    /// What stands for all of its form.
    pub const fn form(&self) -> (u64, u64) {
        self.form
    }
}

impl<T> std::ops::Deref for Folded<T> {
    type Target = T;
    fn deref(&self) -> &T {
        &self.concrete
    }
}

impl<T> PartialEq for Folded<T> {
    fn eq(&self, other: &Self) -> bool {
        self.form == other.form
    }
}

impl<T> Eq for Folded<T> {}

impl<T> Hash for Folded<T> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.form.hash(state);
    }
}

impl<T: Debug> Debug for Folded<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.concrete.fmt(f)
    }
}

/// A world whose states are folded.
pub trait Cyclic: World<State = Folded<Self::Concrete>> {
    /// What is folded.
    type Concrete: Clone + Eq + Hash + Debug + Send + Sync + 'static;

    /// The canonical form of a state.
    fn form(&self, concrete: &Self::Concrete) -> String;

    /// What is claimed of it.
    fn properties(&self) -> &'static [Leads<Self>];

    /// Folds a state.
    fn fold(&self, concrete: Self::Concrete) -> Folded<Self::Concrete> {
        let form = self.form(&concrete);
        Folded::new(concrete, &form)
    }
}
