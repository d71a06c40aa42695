//! What the twins of a graph need: kinds of actions without which they cannot be reached.
//!
//! A law that forbids something must be able to fall for want of an action, else its twin says nothing. For every state
//! it is found out, for all kinds at once, which of them some way to it does without; a twin needs the kinds that no way
//! to any of its states does without. A kind also stands for everything below it (`call` for `call.ack`).
//!
//! A twin may speak of what can be tried in a state rather than of the way to it; then a kind is needed if nobody ever
//! trying it leaves the twin unreached ([`tried`]). That takes a search for each kind. Rules: FML-5.

use std::collections::{BTreeSet, VecDeque};

use crate::engine::graph::Graph;
use crate::engine::{Options, explore, kind};
use crate::world::World;

/// A twin in one graph.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Twin {
    /// After how many steps it is first reached.
    pub depth: Option<u32>,
    /// Kinds that it needs; of several, one of which is below the other, only the narrowest.
    pub needs: Vec<String>,
}

/// All twins of one graph.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Needs {
    /// By law.
    pub twins: Vec<Twin>,
}

/// Most kinds of one world.
pub const MAX_KINDS: usize = 128;

impl Needs {
    /// Finds them out.
    ///
    /// # Panics
    /// There are more than [`MAX_KINDS`] kinds.
    pub fn of<W: World>(graph: &Graph<W>) -> Self {
        let (kinds, labels) = by_label(graph);
        assert!(kinds.len() <= MAX_KINDS, "too many kinds of actions: {}", kinds.len());
        let without = spread(graph, &labels);
        let twins = (0..W::LAWS.len())
            .map(|law| {
                let met = || (0..graph.states()).filter(|state| graph.met[*state] >> law & 1 == 1);
                let spared = met().fold(0, |all, state| all | without[state]);
                let needed = |kind: &usize| spared >> kind & 1 == 0;
                let reached = met().next().is_some();
                let needs = (0..kinds.len()).filter(|_| reached).filter(needed);
                Twin {
                    depth: first(graph, law),
                    needs: narrowest(needs.map(|at| kinds[at].clone()).collect()),
                }
            })
            .collect();
        Self { twins }
    }
}

/// The first kind that nobody may try lest a twin be reached, if there is one; those that lead nowhere are looked at
/// first.
pub fn tried<W: World>(world: &W, graph: &Graph<W>, law: usize) -> Option<String> {
    let moves: BTreeSet<String> = graph
        .out
        .iter()
        .map(|out| out.label)
        .collect::<BTreeSet<_>>()
        .into_iter()
        .map(|label| name(graph, label))
        .collect();
    let mut kinds = graph.kinds();
    kinds.sort_by_key(|kind| moves.contains(kind));
    kinds.into_iter().find(|kind| {
        let options = Options { graph: false, threads: 1, without: vec![kind.clone()], ..Options::default() };
        let found = explore(world, &options);
        found.complete() && found.reached.get(law) == Some(&false)
    })
}

fn name<W: World>(graph: &Graph<W>, label: u32) -> String {
    kind::of(&graph.labels[label as usize].0)
}

/// All kinds, wider ones included, and for each label the kinds that its action is of.
fn by_label<W: World>(graph: &Graph<W>) -> (Vec<String>, Vec<u128>) {
    let names: Vec<String> = graph.labels.iter().map(|(action, _)| kind::of(action)).collect();
    let wider = |name: &String| {
        let dots = name.match_indices('.').map(|(at, _)| name[..at].to_owned());
        dots.chain([name.clone()]).collect::<Vec<_>>()
    };
    let mut kinds: Vec<String> = names.iter().flat_map(wider).collect();
    kinds.sort();
    kinds.dedup();
    let of = |name: &String| {
        let are = kinds.iter().enumerate().filter(|(_, known)| kind::is(name, known));
        are.fold(0, |all, (at, _)| {
            all | 1_u128.checked_shl(u32::try_from(at).unwrap_or(u32::MAX)).unwrap_or(0)
        })
    };
    let labels = names.iter().map(of).collect();
    (kinds, labels)
}

/// For each state the kinds that some way to it does without.
fn spread<W: World>(graph: &Graph<W>, labels: &[u128]) -> Vec<u128> {
    let mut without = vec![0_u128; graph.states()];
    let mut waits = vec![false; graph.states()];
    let mut queue = VecDeque::new();
    for init in &graph.init {
        without[*init as usize] = u128::MAX;
        waits[*init as usize] = true;
        queue.push_back(*init);
    }
    while let Some(state) = queue.pop_front() {
        waits[state as usize] = false;
        let here = without[state as usize];
        for edge in graph.edges(state) {
            let to = edge.to as usize;
            let more = without[to] | here & !labels[edge.label as usize];
            if more != without[to] {
                without[to] = more;
                if !waits[to] {
                    waits[to] = true;
                    queue.push_back(edge.to);
                }
            }
        }
    }
    without
}

/// After how many steps a twin is first reached.
fn first<W: World>(graph: &Graph<W>, law: usize) -> Option<u32> {
    let state = graph.first(|met, _| met >> law & 1 == 1)?;
    u32::try_from(graph.depth(state)).ok()
}

fn narrowest(kinds: Vec<String>) -> Vec<String> {
    let has_below = |wide: &String| kinds.iter().any(|kind| kind != wide && kind::is(kind, wide));
    kinds.iter().filter(|kind| !has_below(kind)).cloned().collect()
}
