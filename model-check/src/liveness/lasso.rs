//! From homes of fair runs to one run: the shortest way there, and a cycle that gives every condition its due.

use std::collections::{HashMap, HashSet, VecDeque};

use super::Lasso;
use super::fair::{Masks, Owing};
use crate::engine::graph::Graph;
use crate::world::World;

/// A short lasso through one of the homes. Rest is preferred to any cycle that is reached no earlier.
pub(super) fn shortest<W: World>(
    graph: &Graph<W>,
    owing: &Owing,
    homes: &[Vec<u32>],
    masks: &Masks,
    active: u64,
) -> Option<Lasso<W>> {
    let nearest =
        |states: &mut dyn Iterator<Item = u32>| states.min_by_key(|state| (owing.distance(*state), *state));
    let all = homes.iter().filter_map(|home| Some((nearest(&mut home.iter().copied())?, home)));
    let (entry, home) = all.min_by_key(|(entry, _)| (owing.distance(*entry), *entry))?;
    let resting =
        nearest(&mut homes.iter().flatten().copied().filter(|state| masks.enabled(*state) & active == 0));
    let (entry, cycle) = match resting {
        Some(state) if owing.distance(state) <= owing.distance(entry) => (state, Vec::new()),
        Some(_) | None => (entry, Cycle::new(graph, home, masks, active).through(entry)),
    };
    let actions =
        |labels: Vec<u32>| labels.into_iter().map(|label| graph.labels[label as usize].0.clone()).collect();
    Some(Lasso { stem: actions(owing.way(entry)), cycle: actions(cycle) })
}

struct Cycle<'a, W: World> {
    graph: &'a Graph<W>,
    home: HashSet<u32>,
    masks: &'a Masks,
    active: u64,
    /// Conditions that need an action: strong ones that are possible somewhere at home.
    must: u64,
}

impl<'a, W: World> Cycle<'a, W> {
    fn new(graph: &'a Graph<W>, home: &[u32], masks: &'a Masks, active: u64) -> Self {
        let ever = home.iter().fold(0, |mask, state| mask | masks.enabled(*state));
        let must = ever & active & !masks.weak();
        Self { graph, home: home.iter().copied().collect(), masks, active, must }
    }

    /// The labels of a cycle from `entry` to itself that every condition accepts.
    fn through(&self, entry: u32) -> Vec<u32> {
        let (mut way, mut at) = (Vec::new(), entry);
        let mut owed = self.must | (self.active & self.masks.weak() & self.masks.enabled(entry));
        while owed != 0 {
            // One more condition is content where its action is taken, or, if it is weak, is not possible.
            let pays = |label: u32, to: u32| {
                owed & (self.masks.label(label) | (self.masks.weak() & !self.masks.enabled(to))) != 0
            };
            let Some(step) = self.walk(at, pays) else {
                unreachable!("a home has what its conditions ask for")
            };
            for (label, to) in step {
                owed &= !(self.masks.label(label) | (self.masks.weak() & !self.masks.enabled(to)));
                way.push(label);
                at = to;
            }
        }
        if at != entry {
            let back = self.walk(at, |_, to| to == entry);
            way.extend(back.into_iter().flatten().map(|(label, _)| label));
        }
        way
    }

    /// A shortest walk at home whose last step is such a one.
    fn walk(&self, start: u32, last: impl Fn(u32, u32) -> bool) -> Option<Vec<(u32, u32)>> {
        let mut from: HashMap<u32, (u32, u32)> = HashMap::new();
        let mut queue = VecDeque::from([start]);
        while let Some(here) = queue.pop_front() {
            for out in self.graph.edges(here).iter().filter(|out| self.home.contains(&out.to)) {
                if last(out.label, out.to) {
                    let mut way = vec![(out.label, out.to)];
                    let mut at = here;
                    while at != start {
                        let (before, label) = from[&at];
                        way.push((label, at));
                        at = before;
                    }
                    way.reverse();
                    return Some(way);
                }
                if out.to != start && !from.contains_key(&out.to) {
                    from.insert(out.to, (here, out.label));
                    queue.push_back(out.to);
                }
            }
        }
        None
    }
}
