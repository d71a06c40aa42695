//! The search that nobody can get wrong: one thread, one queue, one map of whole states.

use std::collections::{HashMap, VecDeque};

use crate::world::{Next, World};

/// An edge as it is meant, without numbers of labels.
pub(crate) type Told<W> = (u32, <W as World>::Action, crate::world::Label, Option<u32>);

/// Numbers of states in the order in which they are found, and every edge with what it says.
pub(crate) fn search<W: World>(world: &W) -> (Vec<W::State>, Vec<Told<W>>) {
    let (mut numbers, mut states) = (HashMap::new(), Vec::new());
    let (mut queue, mut told) = (VecDeque::new(), Vec::new());
    for state in world.init() {
        numbers.entry(state.clone()).or_insert_with(|| {
            states.push(state.clone());
            queue.push_back(state);
            states.len() - 1
        });
    }
    let mut here = 0;
    while let Some(state) = queue.pop_front() {
        let mut edges = Vec::new();
        world.steps(&state, &mut edges);
        for edge in edges {
            let to = match edge.next {
                Next::To(next) => Some(*numbers.entry(next.clone()).or_insert_with(|| {
                    states.push(next.clone());
                    queue.push_back(next);
                    states.len() - 1
                })),
                Next::Stays | Next::LeftTrace => None,
                Next::Beyond => continue,
            };
            told.push((here, edge.action, edge.label, to.map(|to| u32::try_from(to).unwrap())));
        }
        here += 1;
    }
    (states, told)
}
