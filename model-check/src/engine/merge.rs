//! What the threads found on one level, made part of the graph in an order that does not depend on them.
//!
//! States are numbered as a search on one thread would: by the first edge, in the order of the graph, that leads to
//! them. Labels and sets of self-loops are numbered where they first occur in that order.

use std::collections::HashMap;
use std::sync::MutexGuard;

use super::graph::{Graph, Out};
use super::worker::{BLOCK, Blocks, Worker, fresh};
use crate::world::{Label, World};

/// Not numbered yet.
const NONE: u32 = u32::MAX;

/// What numbers of the threads mean in the graph.
#[derive(Debug)]
pub(super) struct Merge<W: World> {
    labels: HashMap<(W::Action, Label), u32>,
    sets: HashMap<Vec<u32>, u32>,
    /// By thread, by its number.
    of_labels: Vec<Vec<u32>>,
    of_sets: Vec<Vec<u32>>,
}

impl<W: World> Merge<W> {
    pub(super) fn new(threads: usize) -> Self {
        Self {
            labels: HashMap::new(),
            sets: HashMap::new(),
            of_labels: vec![Vec::new(); threads],
            of_sets: vec![Vec::new(); threads],
        }
    }

    /// Adds the first `states` states of a level. Gives the states of the next level.
    pub(super) fn level(
        &mut self,
        graph: &mut Graph<W>,
        workers: &mut [MutexGuard<'_, Worker<'_, W>>],
        states: usize,
    ) -> Blocks<W> {
        let mut owners = vec![0_usize; states.div_ceil(BLOCK)];
        for (w, worker) in workers.iter().enumerate() {
            for block in &worker.notes.blocks {
                owners[*block as usize] = w;
            }
            self.of_labels[w].resize(worker.labels.pairs.len(), NONE);
            self.of_sets[w].resize(worker.sets.len(), NONE);
        }
        let mut ranks: Vec<Vec<u32>> = workers.iter().map(|worker| vec![NONE; worker.fresh.len()]).collect();
        let mut found: Vec<Vec<Option<W::State>>> =
            workers.iter_mut().map(|worker| std::mem::take(&mut worker.fresh)).collect();
        let mut next: Blocks<W> = Vec::new();
        // How far each thread's notes are read: states and edges.
        let mut read = vec![(0, 0); workers.len()];
        for (block, w) in owners.into_iter().enumerate() {
            let notes = &workers[w].notes;
            let (first, mut edge) = read[w];
            let last = first + BLOCK.min(states - block * BLOCK);
            for state in first..last {
                let here = graph.expanded;
                let until = edge + notes.degrees[state] as usize;
                for out in &notes.out[edge..until] {
                    let label = self.label(graph, w, out.label, &workers[w]);
                    let to = match fresh(out.to) {
                        None => out.to,
                        Some((home, place)) => {
                            let rank = &mut ranks[home][place];
                            if *rank == NONE {
                                *rank = number(graph.prints.len());
                                graph.prints.push(workers[home].prints[place]);
                                graph.from.push(here);
                                append(&mut next, found[home][place].take());
                            }
                            *rank
                        }
                    };
                    graph.out.push(Out { label, to });
                }
                edge = until;
                let set = self.set(graph, w, notes.stays[state], &workers[w]);
                graph.stays.push(set);
                graph.offsets.push(graph.out.len());
                graph.expanded += 1;
            }
            graph.met.extend_from_slice(&notes.met[first..last]);
            graph.marks.extend_from_slice(&notes.marks[first..last]);
            read[w] = (last, edge);
        }
        next
    }

    #[inline]
    fn label(&mut self, graph: &mut Graph<W>, w: usize, local: u32, worker: &Worker<'_, W>) -> u32 {
        let known = self.of_labels[w][local as usize];
        if known == NONE { self.new_label(graph, w, local, worker) } else { known }
    }

    #[cold]
    fn new_label(&mut self, graph: &mut Graph<W>, w: usize, local: u32, worker: &Worker<'_, W>) -> u32 {
        let pair = &worker.labels.pairs[local as usize];
        let next = number(graph.labels.len());
        let label = *self.labels.entry(pair.clone()).or_insert_with(|| {
            graph.labels.push(pair.clone());
            next
        });
        self.of_labels[w][local as usize] = label;
        label
    }

    pub(super) fn set(&mut self, graph: &mut Graph<W>, w: usize, local: u32, worker: &Worker<'_, W>) -> u32 {
        let known = self.of_sets[w][local as usize];
        if known != NONE {
            return known;
        }
        let members = worker.sets.get(local).iter();
        let mut set: Vec<u32> = members.map(|local| self.label(graph, w, *local, worker)).collect();
        set.sort_unstable();
        let number = self.unlabelled(graph, set);
        self.of_sets[w][local as usize] = number;
        number
    }

    /// The number of a set of the graph's own labels.
    pub(super) fn unlabelled(&mut self, graph: &mut Graph<W>, set: Vec<u32>) -> u32 {
        if let Some(known) = self.sets.get(&set) {
            return *known;
        }
        let next = number(graph.refusals.len());
        graph.refusals.push(set.clone());
        self.sets.insert(set, next);
        next
    }
}

/// Adds a state to the last block, or begins one.
fn append<S>(blocks: &mut Vec<Vec<S>>, state: Option<S>) {
    match blocks.last_mut().filter(|block| block.len() < BLOCK) {
        Some(block) => block.extend(state),
        None => {
            let mut block = Vec::with_capacity(BLOCK);
            block.extend(state);
            blocks.push(block);
        }
    }
}

/// A number of the graph.
pub(super) fn number(at: usize) -> u32 {
    u32::try_from(at)
        .ok()
        .filter(|number| number >> 31 == 0)
        .expect("fewer than 2³¹ of everything in a graph")
}
