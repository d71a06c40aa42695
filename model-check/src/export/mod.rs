//! A graph for other programs: the same text in every run, whatever order it was found in.
//!
//! States are numbered anew, breadth first from the beginning with edges in the order of their labels. Rules: FML-4.

mod formats;

use std::collections::VecDeque;
use std::fmt;

use serde_json::Value;

use crate::engine::graph::Graph;
use crate::trace::follow::value;
use crate::world::{Label, World};

/// A format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Graphviz.
    Dot,
    /// JSON, with refused inputs.
    Json,
    /// A Mermaid state diagram.
    Mermaid,
}

impl Format {
    /// Most states and edges that somebody can still use in this format.
    pub const fn most(self) -> (usize, usize) {
        match self {
            Self::Dot => (5_000, 50_000),
            Self::Json => (1_000_000, 20_000_000),
            // Mermaid itself draws no more than 500 edges.
            Self::Mermaid => (250, 500),
        }
    }

    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Dot => "dot",
            Self::Json => "json",
            Self::Mermaid => "mermaid",
        }
    }
}

/// A graph that is too large for a format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooLarge {
    /// The format.
    pub format: Format,
    /// States.
    pub states: usize,
    /// Edges.
    pub edges: usize,
}

impl fmt::Display for TooLarge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (states, edges) = self.format.most();
        let (is_states, is_edges) = (self.states, self.edges);
        let name = self.format.name();
        write!(
            f,
            "the graph has {is_states} states and {is_edges} edges; {name} is written up to {states} states and {edges} edges"
        )
    }
}

/// A graph in the order in which it is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plain {
    /// Its world.
    pub world: &'static str,
    /// Its scope.
    pub scope: &'static str,
    /// Number of states.
    pub states: usize,
    /// Where it begins.
    pub init: Vec<u32>,
    /// Actions with what is said of them, sorted.
    pub labels: Vec<(Value, Label)>,
    /// From, label, to; sorted.
    pub edges: Vec<(u32, u32, u32)>,
    /// By state: labels that lead nowhere, sorted.
    pub stays: Vec<Vec<u32>>,
    /// By state: its fingerprint.
    pub prints: Vec<u64>,
}

/// Writes a graph.
///
/// # Errors
/// [`TooLarge`].
pub fn write<W: World>(scope: &'static str, graph: &Graph<W>, format: Format) -> Result<String, TooLarge> {
    let (states, edges) = (graph.states(), graph.out.len());
    let (most_states, most_edges) = format.most();
    if states > most_states || edges > most_edges {
        return Err(TooLarge { format, states, edges });
    }
    let plain = Plain::of(scope, graph);
    Ok(match format {
        Format::Dot => formats::dot(&plain),
        Format::Json => formats::json(&plain),
        Format::Mermaid => formats::mermaid(&plain),
    })
}

impl Plain {
    /// Brings a graph into order.
    pub fn of<W: World>(scope: &'static str, graph: &Graph<W>) -> Self {
        let place = |at: usize| u32::try_from(at).expect("a graph has at most 2^32 of everything");
        let mut order: Vec<u32> = (0..place(graph.labels.len())).collect();
        order.sort_by(|a, b| graph.labels[*a as usize].cmp(&graph.labels[*b as usize]));
        let mut label = vec![0; order.len()];
        for (new, old) in order.iter().enumerate() {
            label[*old as usize] = place(new);
        }
        let sorted = |state: u32| {
            let mut edges: Vec<(u32, u64, u32)> = (graph.edges(state).iter())
                .map(|out| (label[out.label as usize], graph.prints[out.to as usize], out.to))
                .collect();
            edges.sort_unstable();
            edges
        };
        let (mut number, mut states) = (vec![u32::MAX; graph.states()], Vec::new());
        let mut queue = VecDeque::new();
        let mut init = graph.init.clone();
        init.sort_by_key(|state| graph.prints[*state as usize]);
        let mut reach = |state: u32, queue: &mut VecDeque<u32>, states: &mut Vec<u32>| {
            if number[state as usize] == u32::MAX {
                number[state as usize] = place(states.len());
                states.push(state);
                queue.push_back(state);
            }
            number[state as usize]
        };
        let init = init.into_iter().map(|state| reach(state, &mut queue, &mut states)).collect();
        let mut edges = Vec::new();
        while let Some(state) = queue.pop_front() {
            let from = reach(state, &mut queue, &mut states);
            for (label, _, to) in sorted(state) {
                edges.push((from, label, reach(to, &mut queue, &mut states)));
            }
        }
        let stays = |state: &u32| {
            let set = &graph.refusals[graph.stays[*state as usize] as usize];
            let mut stays: Vec<u32> = set.iter().map(|old| label[*old as usize]).collect();
            stays.sort_unstable();
            stays
        };
        let labels = order.iter().map(|old| &graph.labels[*old as usize]);
        Self {
            world: W::NAME,
            scope,
            states: states.len(),
            init,
            labels: labels.map(|(action, label)| (value::<W>(action), label.clone())).collect(),
            edges,
            stays: states.iter().map(stays).collect(),
            prints: states.iter().map(|state| graph.prints[*state as usize]).collect(),
        }
    }
}
