//! Walks a lasso again, on the world itself, and says whether it is what it claims: a fair run that breaks the
//! property. Nothing of the search is used: no graph, no marks, no components.

use std::collections::BTreeSet;

use super::{Fair, Lasso, Leads, Strength};
use crate::world::{Edge, Next, World};

/// Walks `lasso` again under the conditions that count.
///
/// # Errors
/// What is wrong with it, in words.
pub fn replay<W: World>(
    world: &W,
    property: &Leads<W>,
    fair: &[Fair<W>],
    lasso: &Lasso<W>,
) -> Result<(), String> {
    let mut why = String::from("there is no state to begin with");
    for state in world.init() {
        match walked(world, property, fair, lasso, state) {
            Ok(()) => return Ok(()),
            Err(wrong) => why = wrong,
        }
    }
    Err(why)
}

fn walked<W: World>(
    world: &W,
    property: &Leads<W>,
    fair: &[Fair<W>],
    lasso: &Lasso<W>,
    init: W::State,
) -> Result<(), String> {
    let mut owed = false;
    let mut state = init;
    let look = |state: &W::State, owed: &mut bool| -> Vec<Edge<W>> {
        let mut edges = Vec::new();
        world.steps(state, &mut edges);
        if (property.to)(world, state, &edges) {
            *owed = false;
        } else if (property.from)(world, state, &edges) {
            *owed = true;
        }
        edges
    };
    let mut edges = look(&state, &mut owed);
    for action in &lasso.stem {
        (state, _) = taken(edges, action)?;
        edges = look(&state, &mut owed);
    }
    if !owed {
        return Err(format!("where the cycle begins, \"{}\" is not owed", property.then));
    }
    let home = state.clone();
    let mut possible = vec![BTreeSet::new(); fair.len()];
    let mut done = vec![false; fair.len()];
    let note = |edges: &[Edge<W>], at: usize, possible: &mut Vec<BTreeSet<usize>>| {
        for (set, condition) in possible.iter_mut().zip(fair) {
            if edges.iter().any(|edge| edge.moves() && (condition.takes)(&edge.action, &edge.label)) {
                set.insert(at);
            }
        }
    };
    note(&edges, 0, &mut possible);
    for (i, action) in lasso.cycle.iter().enumerate() {
        let label;
        (state, label) = taken(edges, action)?;
        for (done, condition) in done.iter_mut().zip(fair) {
            *done |= (condition.takes)(action, &label);
        }
        edges = look(&state, &mut owed);
        if !owed {
            return Err(format!("\"{}\" holds on the cycle", property.then));
        }
        note(&edges, i + 1, &mut possible);
    }
    if state != home {
        return Err(String::from("the cycle does not come back"));
    }
    // The last state is the first one again.
    let many = lasso.cycle.len() + 1;
    for ((condition, possible), done) in fair.iter().zip(possible).zip(done) {
        let put_off = match condition.strength {
            Strength::Weak => possible.len() == many,
            Strength::Strong => !possible.is_empty(),
        };
        if put_off && !done {
            return Err(format!("\"{}\" is put off for ever", condition.name));
        }
    }
    Ok(())
}

fn taken<W: World>(
    edges: Vec<Edge<W>>,
    action: &W::Action,
) -> Result<(W::State, crate::world::Label), String> {
    let edge = edges.into_iter().find(|edge| edge.action == *action);
    match edge.map(|edge| (edge.next, edge.label)) {
        Some((Next::To(next), label)) => Ok((next, label)),
        Some((Next::Stays | Next::Beyond | Next::LeftTrace, _)) => Err(format!("{action:?} leads nowhere")),
        None => Err(format!("{action:?} cannot be tried")),
    }
}
