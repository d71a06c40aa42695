//! Strongly connected components of a part of a graph, by Tarjan's method without recursion.

use crate::engine::graph::Graph;
use crate::world::World;

const UNSEEN: u32 = u32::MAX;

/// Room for one search after another; a state's place in it is meaningless between searches.
#[derive(Debug)]
pub(super) struct Components {
    index: Vec<u32>,
    low: Vec<u32>,
    waiting: Vec<bool>,
}

impl Components {
    pub(super) fn new(states: usize) -> Self {
        Self { index: vec![UNSEEN; states], low: vec![0; states], waiting: vec![false; states] }
    }

    /// The components of the part of `graph` that `inside` holds, which is exactly the set of `states`.
    pub(super) fn of<W: World>(
        &mut self,
        graph: &Graph<W>,
        states: &[u32],
        inside: impl Fn(u32) -> bool,
    ) -> Vec<Vec<u32>> {
        for state in states {
            self.index[*state as usize] = UNSEEN;
        }
        let mut found = Vec::new();
        let (mut open, mut path): (Vec<u32>, Vec<(u32, usize)>) = (Vec::new(), Vec::new());
        let mut next = 0;
        for root in states {
            if self.index[*root as usize] != UNSEEN {
                continue;
            }
            self.enter(*root, &mut next, &mut open);
            path.push((*root, 0));
            while let Some((state, edge)) = path.last_mut() {
                let here = *state;
                let Some(out) = graph.edges(here).get(*edge) else {
                    path.pop();
                    if let Some((before, _)) = path.last() {
                        self.lower(*before, self.low[here as usize]);
                    }
                    if self.low[here as usize] == self.index[here as usize] {
                        found.push(self.close(here, &mut open));
                    }
                    continue;
                };
                *edge += 1;
                if !inside(out.to) {
                    continue;
                }
                if self.index[out.to as usize] == UNSEEN {
                    self.enter(out.to, &mut next, &mut open);
                    path.push((out.to, 0));
                } else if self.waiting[out.to as usize] {
                    self.lower(here, self.index[out.to as usize]);
                }
            }
        }
        found
    }

    fn enter(&mut self, state: u32, next: &mut u32, open: &mut Vec<u32>) {
        let at = state as usize;
        (self.index[at], self.low[at], self.waiting[at]) = (*next, *next, true);
        *next += 1;
        open.push(state);
    }

    fn lower(&mut self, state: u32, to: u32) {
        let low = &mut self.low[state as usize];
        *low = (*low).min(to);
    }

    fn close(&mut self, root: u32, open: &mut Vec<u32>) -> Vec<u32> {
        let mut component = Vec::new();
        while let Some(state) = open.pop() {
            self.waiting[state as usize] = false;
            component.push(state);
            if state == root {
                break;
            }
        }
        component
    }
}
