//! Ways that share their beginnings: a state on the stack of [`super::deep`] knows how it was reached, at the price of one
//! node per state that led to something new and is still the beginning of something on a stack.

use std::sync::Arc;

use super::look::Look;
use crate::world::{Next, World};

/// The beginning of a way, as places in [`World::init`] and [`World::steps`].
#[derive(Clone, Debug, Default)]
pub(super) struct Path(Option<Arc<Node>>);

#[derive(Debug)]
struct Node {
    before: Path,
    taken: u32,
}

impl Path {
    /// This one, and one step more.
    pub(super) fn then(&self, taken: u32) -> Self {
        Self(Some(Arc::new(Node { before: self.clone(), taken })))
    }

    /// All its steps.
    pub(super) fn steps(&self) -> Vec<u32> {
        let (mut steps, mut at) = (Vec::new(), self);
        while let Some(node) = &at.0 {
            steps.push(node.taken);
            at = &node.before;
        }
        steps.reverse();
        steps
    }
}

impl Drop for Node {
    /// Without recursion: a way may be longer than a thread's stack is deep.
    fn drop(&mut self) {
        let mut next = self.before.0.take();
        while let Some(mut node) = next.and_then(Arc::into_inner) {
            next = node.before.0.take();
        }
    }
}

/// The actions of a way.
pub(super) fn actions<W: World>(look: &mut Look<'_, W>, steps: &[u32]) -> Vec<W::Action> {
    let Some((first, steps)) = steps.split_first() else { return Vec::new() };
    let Some(mut state) = look.world.init().into_iter().nth(*first as usize) else { return Vec::new() };
    let (mut way, mut edges) = (Vec::new(), Vec::new());
    for step in steps {
        look.expand(&state, &mut edges);
        let edge = edges.swap_remove(*step as usize);
        way.push(edge.action);
        if let Next::To(next) = edge.next {
            state = next;
        }
    }
    way
}
