//! Graphs made by hand, whose answers are known.

use serde::{Deserialize, Serialize};

use super::{Fair, Leads, Strength, judge, marks, replay};
use crate::engine::{Options, explore};
use crate::world::{Edge, Gap, Label, Law, Next, Scope, World};

/// From, action, to. State 0 is the beginning; a state whose name is in `when` owes, one in `then` pays.
#[derive(Clone, Debug)]
struct Hand {
    edges: &'static [(u8, char, u8)],
    when: &'static [u8],
    then: &'static [u8],
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
struct Move(char, u8);

impl World for Hand {
    type State = u8;
    type Action = Move;
    const NAME: &'static str = "hand";
    const LAWS: &'static [Law<Self>] = &[];
    const ABSTRACTIONS: &'static [&'static str] = &[];
    const GAPS: &'static [Gap] = &[];

    fn scopes() -> Vec<Scope<Self>> {
        Vec::new()
    }

    fn init(&self) -> Vec<u8> {
        vec![0]
    }

    fn steps(&self, state: &u8, edges: &mut Vec<Edge<Self>>) {
        let here = self.edges.iter().filter(|(from, ..)| from == state);
        edges.extend(here.map(|(_, name, to)| Edge {
            action: Move(*name, *to),
            label: Label::OUTSIDE,
            // 99 lies beyond the bounds.
            next: if *to == 99 { Next::Beyond } else { Next::To(*to) },
        }));
    }

    fn parties(_: &Move) -> (&'static str, &'static str) {
        ("hand", "hand")
    }
}

macro_rules! fair {
    ($($strength:ident $name:literal),*) => {
        &[$(Fair {
            name: stringify!($name),
            strength: Strength::$strength,
            takes: |action, _| action.0 == $name,
            why: "made by hand",
        }),*]
    };
}

const fn leads(fair: &'static [Fair<Hand>]) -> Leads<Hand> {
    Leads {
        name: "FML-3 by hand",
        when: "p",
        from: |world, state, _| world.when.contains(state),
        then: "q",
        to: |world, state, _| world.then.contains(state),
        fair,
    }
}

fn judged(world: &Hand, fair: &'static [Fair<Hand>]) -> super::Judged<Hand> {
    let properties = [leads(fair)];
    let options = Options { marks: marks(&properties), ..Options::default() };
    let found = explore(world, &options);
    judge(world, &found.graph.expect("the graph is kept"), &properties, 0)
}

fn names(moves: &[Move]) -> String {
    moves.iter().map(|step| step.0).collect()
}

/// The lasso that breaks it, as text; none if it holds.
fn lasso(world: &Hand, fair: &'static [Fair<Hand>]) -> Option<(String, String)> {
    let judged = judged(world, fair);
    assert_eq!(judged.defects, Vec::<String>::new());
    judged.lasso.map(|lasso| (names(&lasso.stem), names(&lasso.cycle)))
}

fn some(stem: &str, cycle: &str) -> Option<(String, String)> {
    Some((stem.into(), cycle.into()))
}

/// `a` is possible without end in state 1.
const LINE: Hand = Hand { edges: &[(0, 'i', 1), (1, 'a', 2)], when: &[1], then: &[2] };

#[test]
fn fml_3_a_run_may_rest_where_nothing_has_to_happen() {
    assert_eq!(lasso(&LINE, &[]), some("i", ""));
    assert_eq!(lasso(&LINE, fair!(Weak 'a')), None);
    assert_eq!(lasso(&LINE, fair!(Strong 'a')), None);
    assert_eq!(lasso(&LINE, fair!(Weak 'i')), some("i", ""));
}

/// An end before the goal: no condition helps.
const END: Hand = Hand { edges: &[(0, 'i', 1), (1, 'a', 2), (1, 'b', 3)], when: &[1], then: &[2] };

#[test]
fn fml_3_an_end_is_a_rest_for_ever() {
    assert_eq!(lasso(&END, fair!(Weak 'a', Strong 'a')), some("ib", ""));
}

/// `a` is possible in 1 and not in 2, and the adversary goes to and fro.
const FLICKER: Hand =
    Hand { edges: &[(0, 'i', 1), (1, 'a', 9), (1, 'x', 2), (2, 'y', 1)], when: &[1, 2], then: &[9] };

#[test]
fn fml_3_what_is_possible_again_and_again_needs_strong_fairness() {
    let weak = judged(&FLICKER, fair!(Weak 'a', Weak 'y'));
    let found = weak.lasso.expect("weak fairness is not enough");
    assert_eq!((names(&found.stem).as_str(), names(&found.cycle).as_str()), ("i", "xy"));
    assert_eq!(weak.defects, Vec::<String>::new());
    assert_eq!(lasso(&FLICKER, fair!(Strong 'a', Weak 'y')), None);
    // Without `y` it rests in 2, where nothing strong is possible.
    assert_eq!(lasso(&FLICKER, fair!(Strong 'a')), some("ix", ""));
}

/// A cycle in a cycle: 1-2 and 2-3. `a` leads out of 1, `b` out of 3. With both strong, 2 alone is no home, since
/// `x` leaves it.
const NESTED: Hand = Hand {
    edges: &[(0, 'i', 1), (1, 'a', 9), (1, 'x', 2), (2, 'x', 1), (2, 'x', 3), (3, 'b', 9), (3, 'x', 2)],
    when: &[1],
    then: &[9],
};

#[test]
fn fml_3_parts_of_components_are_searched_when_the_whole_is_not_fair() {
    // All of it is one component. Under strong `a` the part 2-3 is left, under strong `b` the part 1-2.
    let found = judged(&NESTED, fair!(Strong 'a', Weak 'x'));
    let found = found.lasso.expect("it goes to and fro between 2 and 3");
    assert_eq!(names(&found.cycle), "xx");
    assert!(found.stem.iter().chain(&found.cycle).any(|step| step.1 == 3));
    let found =
        judged(&NESTED, fair!(Strong 'b', Weak 'x')).lasso.expect("it goes to and fro between 1 and 2");
    assert!(found.stem.iter().chain(&found.cycle).all(|step| step.1 != 3));
    assert_eq!(lasso(&NESTED, fair!(Strong 'a', Strong 'b', Weak 'x')), None);
}

/// Two ways into the same state, one of which owes nothing: a search along paths that remembers states only would call
/// the second visit done.
const JOIN: Hand = Hand {
    edges: &[(0, 'n', 2), (0, 'p', 1), (1, 'j', 2), (2, 'c', 3), (3, 'c', 2)],
    when: &[1],
    then: &[9],
};

#[test]
fn fml_3_a_join_and_a_cycle_hide_nothing() {
    let found = judged(&JOIN, fair!(Weak 'c', Weak 'j')).lasso.expect("it owes for ever");
    assert_eq!((names(&found.stem).as_str(), names(&found.cycle).as_str()), ("pj", "cc"));
    let never = Hand { when: &[], ..JOIN };
    let idle = judged(&never, fair!(Weak 'c'));
    assert_eq!((idle.lasso.is_none(), idle.idle), (true, vec!["p", "q"]));
}

#[test]
fn fml_5_each_condition_alone_is_needed_or_said_to_be_superfluous() {
    let clean = judged(&FLICKER, fair!(Strong 'a', Weak 'y'));
    assert!(clean.is_clean());
    let cycles: Vec<_> =
        clean.needs.iter().map(|need| names(&need.without.as_ref().expect("needed").cycle)).collect();
    assert_eq!(cycles, ["", ""]);
    let too_many = judged(&FLICKER, fair!(Strong 'a', Weak 'y', Weak 'x'));
    let superfluous: Vec<_> =
        too_many.needs.iter().filter(|need| need.without.is_none()).map(|need| need.name).collect();
    assert_eq!((superfluous, too_many.is_clean()), (vec!["'x'"], false));
}

#[test]
fn fml_3_what_lies_beyond_the_bounds_is_no_end() {
    let cut = Hand { edges: &[(0, 'i', 1), (1, 'a', 2), (2, 'b', 99)], ..LINE };
    let judged = judged(&cut, fair!(Weak 'a'));
    assert_eq!((judged.lasso.is_none(), judged.defects.len(), judged.is_clean()), (true, 1, false));
}

/// A loop that is an action of its own: taking it is fair, however long.
const SPIN: Hand = Hand { edges: &[(0, 'i', 1), (1, 's', 1), (1, 'a', 2)], when: &[1], then: &[2] };

#[test]
fn fml_3_a_step_to_the_same_state_counts_as_taken() {
    assert_eq!(lasso(&SPIN, fair!(Strong 's')), some("i", "s"));
    assert_eq!(lasso(&SPIN, fair!(Strong 's', Weak 'a')), None);
}

#[test]
fn fml_3_a_lasso_is_walked_again_and_a_false_one_is_seen() {
    let property = leads(fair!(Weak 'a', Weak 'y'));
    let found = judged(&FLICKER, property.fair).lasso.expect("weak fairness is not enough");
    let again = |lasso: &super::Lasso<Hand>, fair| replay(&FLICKER, &property, fair, lasso);
    assert_eq!(again(&found, property.fair), Ok(()));
    let wrong = [
        // It does not come back, cannot be taken, rests where it must not, owes nothing, or is not fair enough.
        super::Lasso { cycle: vec![Move('x', 2)], ..found.clone() },
        super::Lasso { cycle: vec![Move('z', 2)], ..found.clone() },
        super::Lasso { cycle: Vec::new(), ..found.clone() },
        super::Lasso { stem: Vec::new(), cycle: Vec::new() },
    ];
    for lasso in &wrong {
        assert!(again(lasso, property.fair).is_err(), "{lasso:?}");
    }
    assert!(again(&found, fair!(Strong 'a')).is_err());
}
