//! The explicit labelled graph of a scope: states by number, edges with action, verdict and effects, refusals as sets.
//!
//! Plain data for whoever needs more than a verdict: shortest ways, liveness, export, vectors. Not here: how it is
//! found ([`super`]).

use crate::world::{Label, World};

/// An edge that leads to another state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Out {
    /// Which action and label, in [`Graph::labels`].
    pub label: u32,
    /// Which state.
    pub to: u32,
}

/// A graph.
#[derive(Clone, Debug)]
pub struct Graph<W: World> {
    /// Different pairs of action and label.
    pub labels: Vec<(W::Action, Label)>,
    /// Where it begins.
    pub init: Vec<u32>,
    /// By state: where its edges begin in [`Self::out`]; one more than there are states.
    pub offsets: Vec<usize>,
    /// All edges.
    pub out: Vec<Out>,
    /// By state: which of [`Self::refusals`] are its self-loops.
    pub stays: Vec<u32>,
    /// Different sets of labels that lead nowhere, each sorted.
    pub refusals: Vec<Vec<u32>>,
    /// By state: fingerprint.
    pub prints: Vec<u64>,
    /// By state: bit `i` = the twin of law `i` holds here.
    pub met: Vec<u64>,
    /// By state: bit `i` = mark `i` of the options holds here.
    pub marks: Vec<u64>,
}

impl<W: World> Graph<W> {
    /// How many states there are.
    pub fn states(&self) -> usize {
        self.prints.len()
    }

    /// The edges of a state.
    pub fn edges(&self, state: u32) -> &[Out] {
        let at = state as usize;
        &self.out[self.offsets[at]..self.offsets[at + 1]]
    }
}
