//! The explicit labelled graph of a scope: states by number, edges with action, verdict and effects, refusals as sets.
//!
//! Numbers are canonical: those of a breadth-first search on one thread, so that a smaller number is never farther from
//! the beginning, and two searches of the same world are equal in every field. Plain data for whoever needs more than a
//! verdict: shortest ways, liveness, export, vectors. Not here: how it is found ([`super::wide`]).

use super::kind;
use super::merge::Merge;
use crate::world::{Label, World};

/// An edge that leads to another state. Eight bytes.
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
    /// By state: the state before it on a shortest way; where it begins, the state itself.
    pub from: Vec<u32>,
    /// By level: its first state.
    pub levels: Vec<u32>,
    /// How many states were looked at, the first ones. The others, if the search was cut, have no edges, no self-loops,
    /// no twins and no marks here, whatever they have in the world.
    pub expanded: u32,
}

impl<W: World> Graph<W> {
    pub(super) fn new() -> Self {
        Self {
            labels: Vec::new(),
            init: Vec::new(),
            offsets: vec![0],
            out: Vec::new(),
            stays: Vec::new(),
            refusals: Vec::new(),
            prints: Vec::new(),
            met: Vec::new(),
            marks: Vec::new(),
            from: Vec::new(),
            levels: Vec::new(),
            expanded: 0,
        }
    }

    /// How many states there are.
    pub fn states(&self) -> usize {
        self.prints.len()
    }

    /// The edges of a state.
    pub fn edges(&self, state: u32) -> &[Out] {
        let at = state as usize;
        &self.out[self.offsets[at]..self.offsets[at + 1]]
    }

    /// The labels of a state's self-loops, sorted.
    pub fn refused(&self, state: u32) -> &[u32] {
        &self.refusals[self.stays[state as usize] as usize]
    }

    /// A shortest way to a state: its states and labels, without the state where it begins.
    pub fn path(&self, state: u32) -> Vec<Out> {
        let (mut path, mut at) = (Vec::new(), state);
        loop {
            let before = self.from[at as usize];
            if before == at {
                path.reverse();
                return path;
            }
            path.extend(self.edges(before).iter().find(|out| out.to == at));
            at = before;
        }
    }

    /// A shortest way to a state: its actions. The same in every search.
    pub fn way(&self, state: u32) -> Vec<W::Action> {
        self.path(state).iter().map(|out| self.labels[out.label as usize].0.clone()).collect()
    }

    /// How many steps a state is from the beginning.
    pub fn depth(&self, state: u32) -> usize {
        self.levels.partition_point(|first| *first <= state).saturating_sub(1)
    }

    /// A state nearest to the beginning whose twins and marks are as asked for; the first of them.
    pub fn first(&self, is: impl Fn(u64, u64) -> bool) -> Option<u32> {
        let all = self.met.iter().zip(&self.marks);
        all.take(self.expanded as usize).position(|(met, marks)| is(*met, *marks)).map(super::merge::number)
    }

    /// As [`Self::first`], among what is reachable without actions of this kind ([`kind::is`]). The twins are those of
    /// the whole world: what a twin says of an edge that is left out, it still says.
    pub fn reachable_without(&self, without: &str, is: impl Fn(u64, u64) -> bool) -> Option<u32> {
        let omitted: Vec<bool> =
            self.labels.iter().map(|(action, _)| kind::is(&kind::of(action), without)).collect();
        let mut seen = vec![false; self.states()];
        let mut queue = self.init.clone();
        for state in &queue {
            seen[*state as usize] = true;
        }
        let mut at = 0;
        while let Some(state) = queue.get(at).copied() {
            if state < self.expanded && is(self.met[state as usize], self.marks[state as usize]) {
                return Some(state);
            }
            for out in self.edges(state) {
                if !omitted[out.label as usize] && !seen[out.to as usize] {
                    seen[out.to as usize] = true;
                    queue.push(out.to);
                }
            }
            at += 1;
        }
        None
    }

    /// Every kind of action that occurs, sorted.
    pub fn kinds(&self) -> Vec<String> {
        let all: std::collections::BTreeSet<_> =
            self.labels.iter().map(|(action, _)| kind::of(action)).collect();
        all.into_iter().collect()
    }

    /// About how many bytes this takes.
    pub fn bytes(&self) -> u64 {
        let words =
            self.offsets.len() + self.prints.len() + self.met.len() + self.marks.len() + self.out.len();
        let halves = self.stays.len() + self.from.len() + self.refusals.iter().map(Vec::len).sum::<usize>();
        (words * 8 + halves * 4 + self.refusals.len() * 24) as u64
    }

    /// Gives states that nobody looked at what they need to be in every list.
    pub(super) fn fill(&mut self, merge: &mut Merge<W>) {
        let states = self.states();
        self.offsets.resize(states + 1, self.out.len());
        if self.stays.len() < states {
            let none = merge.unlabelled(self, Vec::new());
            self.stays.resize(states, none);
        }
        self.met.resize(states, 0);
        self.marks.resize(states, 0);
    }
}
