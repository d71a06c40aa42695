//! One look at one state: everything that can be tried there, and what the laws say of it. Both modes look in this way.

use std::collections::HashMap;

use super::{Options, kind};
use crate::world::{Edge, Next, World};

/// Somebody who looks at states, with the kinds of actions that are left out.
#[derive(Debug)]
pub(super) struct Look<'a, W: World> {
    pub(super) world: &'a W,
    options: &'a Options<W>,
    /// By action: whether it is left out. Only asked where something is.
    omitted: HashMap<W::Action, bool>,
}

/// What is said of a state, one bit per law or mark.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Judged {
    /// Laws that do not hold here.
    pub(super) fell: u64,
    /// Twins that hold here.
    pub(super) met: u64,
    /// Marks that hold here.
    pub(super) marks: u64,
}

impl<'a, W: World> Look<'a, W> {
    pub(super) fn new(world: &'a W, options: &'a Options<W>) -> Self {
        Self { world, options, omitted: HashMap::new() }
    }

    /// Everything that can be tried.
    pub(super) fn expand(&mut self, state: &W::State, edges: &mut Vec<Edge<W>>) {
        edges.clear();
        self.world.steps(state, edges);
        let without = &self.options.without;
        if !without.is_empty() {
            edges.retain(|edge| {
                if let Some(omitted) = self.omitted.get(&edge.action) {
                    return !omitted;
                }
                let kind = kind::of(&edge.action);
                let omitted = without.iter().any(|of| kind::is(&kind, of));
                self.omitted.insert(edge.action.clone(), omitted);
                !omitted
            });
        }
    }

    /// What the laws say, except for those that need not be asked any more: laws in `fallen`, twins in `reached`.
    pub(super) fn judge(&self, state: &W::State, edges: &[Edge<W>], fallen: u64, reached: u64) -> Judged {
        let mut judged = Judged::default();
        for (i, law) in W::LAWS.iter().enumerate() {
            let bit = 1 << i;
            if fallen & bit == 0 && !(law.holds)(self.world, state, edges) {
                judged.fell |= bit;
            }
            if reached & bit == 0 && (law.reached)(self.world, state, edges) {
                judged.met |= bit;
            }
        }
        judged
    }

    /// Which marks hold.
    pub(super) fn mark(&self, state: &W::State, edges: &[Edge<W>]) -> u64 {
        let marks = self.options.marks.iter().enumerate();
        marks.map(|(i, mark)| u64::from(mark(self.world, state, edges)) << i).fold(0, |all, bit| all | bit)
    }

    /// How many edges lead to a state, and how many lead nowhere.
    pub(super) fn count(edges: &[Edge<W>]) -> (u64, u64) {
        let moves = edges.iter().filter(|edge| edge.moves()).count();
        let beyond = edges.iter().filter(|edge| matches!(edge.next, Next::Beyond)).count();
        (moves as u64, (edges.len() - moves - beyond) as u64)
    }
}
