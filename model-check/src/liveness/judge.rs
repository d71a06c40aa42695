//! What is said of a property: whether it holds, which of its conditions it needs, and whether it says anything.

use super::fair::{Masks, refute};
use super::{Fair, Lasso, Leads, Strength, replay};
use crate::engine::graph::Graph;
use crate::world::World;

/// A condition, taken away alone.
#[derive(Clone, Debug, serde::Serialize)]
#[serde(bound = "")]
pub struct Needed<W: World> {
    /// Its name.
    pub name: &'static str,
    /// How strong it is.
    pub strength: Strength,
    /// Why it takes no power from the adversary.
    pub why: &'static str,
    /// A run that breaks the property without it; none = the condition is superfluous.
    pub without: Option<Lasso<W>>,
}

/// What is said of one property.
#[derive(Clone, Debug, serde::Serialize)]
#[serde(bound = "")]
pub struct Judged<W: World> {
    /// Its name.
    pub property: &'static str,
    /// A fair run that breaks it; none = it holds.
    pub lasso: Option<Lasso<W>>,
    /// Its conditions, each taken away alone; looked at only if it holds.
    pub needs: Vec<Needed<W>>,
    /// What it speaks of and is never met.
    pub idle: Vec<&'static str>,
    /// What is wrong with the search itself: a lasso that cannot be walked again, or a bound that was met.
    pub defects: Vec<String>,
}

impl<W: World> Judged<W> {
    /// Whether it holds, needs all of its conditions, and says something.
    pub fn is_clean(&self) -> bool {
        self.lasso.is_none()
            && self.idle.is_empty()
            && self.defects.is_empty()
            && self.needs.iter().all(|need| need.without.is_some())
    }
}

/// Judges property number `number` of `properties` on a graph that remembers [`super::marks`] of them.
pub fn judge<W: World>(world: &W, graph: &Graph<W>, properties: &[Leads<W>], number: usize) -> Judged<W> {
    let property = &properties[number];
    let (p, q, beyond) = (1_u64 << (2 * number), 2_u64 << (2 * number), 1_u64 << (2 * properties.len()));
    let mut defects = Vec::new();
    if graph.marks.iter().any(|marks| marks & beyond != 0) {
        defects.push(String::from("something lies beyond the bounds of the scope"));
    }
    let masks = Masks::new(graph, property.fair);
    let all = (0..property.fair.len()).fold(0_u64, |mask, i| mask | 1 << i);
    let mut refuted = |active: u64| {
        let lasso = refute(graph, p, q, &masks, active)?;
        let fair: Vec<Fair<W>> =
            (0..property.fair.len()).filter(|i| active >> i & 1 == 1).map(|i| property.fair[i]).collect();
        if let Err(wrong) = replay(world, property, &fair, &lasso) {
            defects.push(format!("a lasso cannot be walked again: {wrong}"));
        }
        Some(lasso)
    };
    let lasso = refuted(all);
    let mut needs = Vec::new();
    if lasso.is_none() {
        for (i, fair) in property.fair.iter().enumerate() {
            let Fair { name, strength, why, .. } = *fair;
            needs.push(Needed { name, strength, why, without: refuted(all & !(1 << i)) });
        }
    }
    Judged { property: property.name, lasso, needs, idle: idle(graph, property, p, q), defects }
}

/// What is never met: `p` while `q` is not there yet, and `q` as its consequence.
fn idle<W: World>(graph: &Graph<W>, property: &Leads<W>, p: u64, q: u64) -> Vec<&'static str> {
    // Without any condition, resting at once would do as a lasso: that is what tells whether `p` is ever met alone.
    let owed = |marks: &u64| marks & p != 0 && marks & q == 0;
    let mut idle = Vec::new();
    if !graph.marks.iter().any(owed) {
        idle.push(property.when);
    }
    // From the states where it is owed, in whatever way, to one where it holds.
    let mut seen: Vec<bool> = graph.marks.iter().map(owed).collect();
    let numbers = 0_u32..;
    let mut todo: Vec<u32> = numbers.zip(&seen).filter(|(_, owed)| **owed).map(|(state, _)| state).collect();
    let mut met = false;
    while let Some(state) = todo.pop() {
        met |= graph.marks[state as usize] & q != 0;
        for out in graph.edges(state) {
            if !std::mem::replace(&mut seen[out.to as usize], true) {
                todo.push(out.to);
            }
        }
    }
    if !met {
        idle.push(property.then);
    }
    idle
}
