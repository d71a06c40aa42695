//! Liveness on the explicit graph of a cyclic world: `p leads to q` under listed fairness, with lassos as
//! counterexamples.
//!
//! A run is any infinite walk of the graph; a run may also rest in a state for ever. It is *fair* if it keeps every
//! listed condition. What is never listed is a power of the adversary: it may crash, lose and fail as often as it
//! likes, and it never has to. `p leads to q` falls if there is a fair run that meets `p` and from there on never `q`.
//! That is looked for in strongly connected components ([`fair`]), not along single paths, so that cycles and joins
//! cannot hide a run.
//!
//! What makes an answer worth something stands beside it ([`judge()`]): each condition taken away alone lets the
//! property fall; `p` and then `q` are really met; nothing lies beyond the bounds of the world; and each lasso is
//! walked again on the world itself by code that shares nothing with the search ([`mod@replay`]).
//!
//! Not here: the worlds ([`crate::cyclic`]), and the table of what is claimed of them. Rules: FML-3, FML-5.

pub mod all;
mod component;
pub mod fair;
pub mod judge;
mod lasso;
pub mod replay;
#[cfg(test)]
mod tests;
mod text;

use crate::world::{Condition, Edge, Label, Next, World};

pub use all::all;
pub use judge::{Judged, Needed, judge};
pub use replay::replay;

/// How long an action must be possible before a fair run takes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Strength {
    /// A run in which it is possible from some moment on without end takes it again and again.
    Weak,
    /// A run in which it is possible again and again takes it again and again, whatever comes between.
    Strong,
}

/// A fairness condition over a set of actions: what a run may not put off for ever.
///
/// An action counts as possible only if it leads somewhere ([`Next::To`]); one that leads back to the same state counts
/// as possible and as taken, which only adds fair runs.
#[derive(Debug)]
pub struct Fair<W: World> {
    /// Its name.
    pub name: &'static str,
    /// How strong it is.
    pub strength: Strength,
    /// Which actions it is about; the label tells what the machine made of them.
    pub takes: fn(&W::Action, &Label) -> bool,
    /// Why it takes no power from the adversary.
    pub why: &'static str,
}

impl<W: World> Clone for Fair<W> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<W: World> Copy for Fair<W> {}

/// A property: whenever `from` holds, `to` holds then or later, in every fair run.
#[derive(Debug)]
pub struct Leads<W: World> {
    /// Rule ids, a space, and what is promised.
    pub name: &'static str,
    /// In words, what it begins with.
    pub when: &'static str,
    /// That condition.
    pub from: Condition<W>,
    /// In words, what must follow.
    pub then: &'static str,
    /// That condition.
    pub to: Condition<W>,
    /// What it needs; at most 64.
    pub fair: &'static [Fair<W>],
}

/// A run that never ends: a way from the beginning, and a cycle that repeats without end. An empty cycle rests.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(bound = "")]
pub struct Lasso<W: World> {
    /// The way to the cycle.
    pub stem: Vec<W::Action>,
    /// The cycle.
    pub cycle: Vec<W::Action>,
}

/// The marks that a search must remember for these properties: two of each, in order, and one for what lies beyond the
/// bounds.
///
/// # Panics
/// If there are more than 31 properties.
pub fn marks<W: World>(properties: &[Leads<W>]) -> Vec<Condition<W>> {
    assert!(properties.len() < 32, "a graph remembers 64 marks of a state");
    let both = properties.iter().flat_map(|property| [property.from, property.to]);
    both.chain([beyond as Condition<W>]).collect()
}

/// Whether something would go on here that the scope cuts off: a run that ends at a bound is no run.
fn beyond<W: World>(_: &W, _: &W::State, edges: &[Edge<W>]) -> bool {
    edges.iter().any(|edge| edge.next == Next::Beyond)
}
