//! Where a run that breaks a property could stay for ever: components that are fair although `q` is never met.
//!
//! A component without an action of a weak condition that is possible in all of it is no home of a fair run, nor is
//! any part of it. One without an action of a strong condition that is possible somewhere in it may still have parts
//! that are: those where it is not possible. So these states go, and what is left is split again (this is how Streett
//! automata are emptied). Resting in a state is an edge of every state that no condition speaks of.

use std::collections::VecDeque;

use super::component::Components;
use super::{Fair, Lasso, Strength, lasso};
use crate::engine::graph::Graph;
use crate::world::World;

/// What the conditions say of a graph, one bit per condition.
#[derive(Clone, Debug)]
pub struct Masks {
    /// Of these labels the action belongs to the conditions of the mask.
    labels: Vec<u64>,
    /// In these states an action of the conditions of the mask is possible.
    enabled: Vec<u64>,
    /// Conditions that are weak.
    weak: u64,
}

impl Masks {
    /// Looks at every label and every state once.
    pub fn new<W: World>(graph: &Graph<W>, fair: &[Fair<W>]) -> Self {
        let bits = |yes: &dyn Fn(&Fair<W>) -> bool| {
            fair.iter().enumerate().fold(0, |mask, (i, fair)| mask | u64::from(yes(fair)) << i)
        };
        let labels: Vec<u64> =
            graph.labels.iter().map(|(action, label)| bits(&|fair| (fair.takes)(action, label))).collect();
        let states = 0..u32::try_from(graph.states()).expect("states have numbers of 32 bits");
        let of = |state| graph.edges(state).iter().fold(0, |mask, out| mask | labels[out.label as usize]);
        let enabled = states.map(of).collect();
        Self { labels, enabled, weak: bits(&|fair| fair.strength == Strength::Weak) }
    }

    pub(super) fn label(&self, label: u32) -> u64 {
        self.labels[label as usize]
    }

    pub(super) fn enabled(&self, state: u32) -> u64 {
        self.enabled[state as usize]
    }

    pub(super) const fn weak(&self) -> u64 {
        self.weak
    }
}

/// The states from which `q` is owed, and how they are reached.
#[derive(Debug)]
pub(super) struct Owing {
    /// By state and whether `q` is owed there (`2 * state + owed`): the state before, its debt and the label; itself
    /// at the beginning.
    from: Vec<Option<(u32, u32)>>,
    /// By the same number: the length of the shortest way.
    far: Vec<u32>,
    /// The states where it is owed, the nearest first.
    pub(super) states: Vec<u32>,
}

const fn node(state: u32, owed: bool) -> u32 {
    state * 2 + owed as u32
}

impl Owing {
    /// `p` and `q` as bits of the graph's marks.
    fn new<W: World>(graph: &Graph<W>, p: u64, q: u64) -> Self {
        let mut all = Self {
            from: vec![None; graph.states() * 2],
            far: vec![u32::MAX; graph.states() * 2],
            states: Vec::new(),
        };
        let owed = |state: u32, before: bool| {
            let marks = graph.marks[state as usize];
            marks & q == 0 && (before || marks & p != 0)
        };
        let mut queue = VecDeque::new();
        for state in &graph.init {
            let node = node(*state, owed(*state, false));
            if all.far[node as usize] == u32::MAX {
                all.far[node as usize] = 0;
                queue.push_back(node);
            }
        }
        while let Some(here) = queue.pop_front() {
            let (state, debt) = (here / 2, here % 2 == 1);
            if debt {
                all.states.push(state);
            }
            for out in graph.edges(state) {
                let next = node(out.to, owed(out.to, debt));
                if all.far[next as usize] == u32::MAX {
                    all.far[next as usize] = all.far[here as usize] + 1;
                    all.from[next as usize] = Some((here, out.label));
                    queue.push_back(next);
                }
            }
        }
        all
    }

    /// How far a state is at which `q` is owed.
    pub(super) fn distance(&self, state: u32) -> u32 {
        self.far[node(state, true) as usize]
    }

    /// The labels of a shortest way there.
    pub(super) fn way(&self, state: u32) -> Vec<u32> {
        let (mut way, mut at) = (Vec::new(), node(state, true));
        while let Some((before, label)) = self.from[at as usize] {
            way.push(label);
            at = before;
        }
        way.reverse();
        way
    }
}

/// A fair run that meets `p` and then never `q`, if there is one. `active` are the conditions that count.
pub fn refute<W: World>(graph: &Graph<W>, p: u64, q: u64, masks: &Masks, active: u64) -> Option<Lasso<W>> {
    awakener_spec::rule!(Fml3);
    let owing = Owing::new(graph, p, q);
    let homes = homes(graph, &owing, q, masks, active);
    lasso::shortest(graph, &owing, &homes, masks, active)
}

/// Every greatest component of states without `q` in which a fair run can stay.
fn homes<W: World>(graph: &Graph<W>, owing: &Owing, q: u64, masks: &Masks, active: u64) -> Vec<Vec<u32>> {
    let mut components = Components::new(graph.states());
    // Which part a state belongs to now; parts are disjoint, so that one list serves all of them.
    let mut part = vec![0_u32; graph.states()];
    for state in &owing.states {
        part[*state as usize] = 1;
    }
    let (mut todo, mut last, mut homes) = (vec![owing.states.clone()], 1, Vec::new());
    while let Some(states) = todo.pop() {
        let Some(number) = states.first().map(|state| part[*state as usize]) else { continue };
        let inside = |state: u32| part[state as usize] == number;
        for component in components.of(graph, &states, inside) {
            last += 1;
            for state in &component {
                part[*state as usize] = last;
            }
            let (mut always, mut ever, mut taken) = (active, 0, 0);
            for state in &component {
                debug_assert_eq!(graph.marks[*state as usize] & q, 0, "where q holds nothing is owed");
                always &= masks.enabled(*state);
                ever |= masks.enabled(*state);
                let inner = graph.edges(*state).iter().filter(|out| part[out.to as usize] == last);
                taken = inner.fold(taken, |taken, out| taken | masks.label(out.label));
            }
            if always & masks.weak() & !taken != 0 {
                continue;
            }
            let broken = ever & active & !masks.weak() & !taken;
            if broken == 0 {
                homes.push(component);
                continue;
            }
            let rest: Vec<u32> =
                component.into_iter().filter(|state| masks.enabled(*state) & broken == 0).collect();
            last += 1;
            for state in &rest {
                part[*state as usize] = last;
            }
            todo.push(rest);
        }
    }
    homes
}
