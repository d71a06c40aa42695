//! The search of a world, and what is said of it.

pub mod graph;

use std::collections::{HashMap, VecDeque};
use std::time::{Duration, Instant};

use crate::world::{Condition, Label, Next, World, fingerprint};
use graph::{Graph, Out};

/// How a search is done.
#[derive(Clone, Debug)]
pub struct Options<W: World> {
    /// Threads that search.
    pub threads: usize,
    /// Whether the graph is kept; else only fingerprints are.
    pub graph: bool,
    /// Further conditions that the graph remembers of each state; at most 64.
    pub marks: Vec<Condition<W>>,
    /// Most states.
    pub states: Option<u64>,
    /// Most bytes.
    pub memory: Option<u64>,
    /// Most time.
    pub time: Option<Duration>,
}

impl<W: World> Default for Options<W> {
    fn default() -> Self {
        Self { threads: 2, graph: true, marks: Vec::new(), states: None, memory: None, time: None }
    }
}

/// Why a search ended before everything was seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cut {
    /// Too many states.
    States,
    /// Too much memory.
    Memory,
    /// Too much time.
    Time,
    /// Somebody stopped it.
    Stopped,
}

/// A law that does not hold.
#[derive(Clone, Debug)]
pub struct Broken<W: World> {
    /// Which, in [`World::LAWS`].
    pub law: usize,
    /// A shortest way to a state where it does not.
    pub way: Vec<W::Action>,
}

/// What a search found.
#[derive(Clone, Debug)]
pub struct Found<W: World> {
    /// Different states.
    pub states: u64,
    /// Edges that lead to a state, self-loops not counted.
    pub edges: u64,
    /// Inputs that were refused or absorbed without a trace.
    pub stays: u64,
    /// The longest of all shortest ways.
    pub depth: u32,
    /// Why it ended too early, if it did.
    pub cut: Option<Cut>,
    /// By law: whether its twin was reached.
    pub reached: Vec<bool>,
    /// Laws that do not hold.
    pub broken: Vec<Broken<W>>,
    /// How long it took.
    pub took: Duration,
    /// The graph, if it was kept.
    pub graph: Option<Graph<W>>,
}

/// Searches a world.
pub fn explore<W: World>(world: &W, options: &Options<W>) -> Found<W> {
    let began = Instant::now();
    let mut graph = Graph::<W> {
        labels: Vec::new(),
        init: Vec::new(),
        offsets: vec![0],
        out: Vec::new(),
        stays: Vec::new(),
        refusals: Vec::new(),
        prints: Vec::new(),
        met: Vec::new(),
        marks: Vec::new(),
    };
    let (mut numbers, mut labels, mut sets) = (HashMap::new(), HashMap::new(), HashMap::new());
    let (mut queue, mut from): (VecDeque<(W::State, u32)>, Vec<Option<(u32, u32)>>) = Default::default();
    let mut broken: Vec<Broken<W>> = Vec::new();
    let (mut depth, mut stayed) = (0, 0);
    for state in world.init() {
        let number = u32::try_from(graph.prints.len()).expect("models are small");
        if numbers.insert(fingerprint(&state), number).is_none() {
            graph.prints.push(fingerprint(&state));
            graph.init.push(number);
            from.push(None);
            queue.push_back((state, 0));
        }
    }
    let mut edges = Vec::new();
    let mut here = 0_u32;
    while let Some((state, deep)) = queue.pop_front() {
        depth = depth.max(deep);
        edges.clear();
        world.steps(&state, &mut edges);
        let (mut met, mut marks, mut set) = (0, 0, Vec::new());
        for (i, law) in W::LAWS.iter().enumerate() {
            met |= u64::from((law.reached)(world, &state, &edges)) << i;
            if !(law.holds)(world, &state, &edges) && broken.iter().all(|known| known.law != i) {
                let (mut way, mut at) = (Vec::new(), here);
                while let Some((earlier, label)) = from[at as usize] {
                    let (action, _): &(W::Action, Label) = &graph.labels[label as usize];
                    way.push(action.clone());
                    at = earlier;
                }
                way.reverse();
                broken.push(Broken { law: i, way });
            }
        }
        for (i, mark) in options.marks.iter().enumerate() {
            marks |= u64::from(mark(world, &state, &edges)) << i;
        }
        for edge in edges.drain(..) {
            let key = (edge.action, edge.label);
            let next = u32::try_from(graph.labels.len()).expect("models are small");
            let label = *labels.entry(key.clone()).or_insert_with(|| {
                graph.labels.push(key);
                next
            });
            match edge.next {
                Next::To(state) => {
                    let next = u32::try_from(graph.prints.len()).expect("models are small");
                    let print = fingerprint(&state);
                    let to = *numbers.entry(print).or_insert(next);
                    if to == next {
                        graph.prints.push(print);
                        from.push(Some((here, label)));
                        queue.push_back((state, deep + 1));
                    }
                    graph.out.push(Out { label, to });
                }
                Next::Stays | Next::LeftTrace => set.push(label),
                Next::Beyond => {}
            }
        }
        stayed += set.len() as u64;
        set.sort_unstable();
        let next = u32::try_from(graph.refusals.len()).expect("models are small");
        graph.stays.push(*sets.entry(set.clone()).or_insert_with(|| {
            graph.refusals.push(set);
            next
        }));
        graph.offsets.push(graph.out.len());
        graph.met.push(met);
        graph.marks.push(marks);
        here += 1;
    }
    let all = graph.met.iter().fold(0, |all, met| all | met);
    Found {
        states: graph.prints.len() as u64,
        edges: graph.out.len() as u64,
        stays: stayed,
        depth,
        cut: None,
        reached: (0..W::LAWS.len()).map(|i| all >> i & 1 == 1).collect(),
        broken,
        took: began.elapsed(),
        graph: options.graph.then_some(graph),
    }
}
