//! What a graph answers.

use serde::Serialize;

use super::*;

fn graph(world: &Grid, threads: usize) -> Graph<Grid> {
    explore(world, &Options { threads, ..Options::default() }).graph.unwrap()
}

#[test]
fn the_first_state_of_a_kind_is_nearest_and_reachable_without_what_it_does_not_need() {
    let graph = graph(&Grid { shortcut: Some((9, 9)), ..Grid::of(10) }, 2);
    let corner = graph.first(|met, _| met & 0b10 != 0).unwrap();
    assert_eq!(graph.way(corner), [Act::Jump, Act::Raise(Axis::X), Act::Raise(Axis::Y)]);
    assert_eq!((graph.depth(corner), graph.depth(0)), (3, 0));
    let reachable = |without| graph.reachable_without(without, |met, _| met & 0b10 != 0);
    assert_eq!(reachable("jump"), Some(corner));
    assert_eq!(reachable("raise.x"), None);
    assert_eq!(reachable("raise"), None);
    assert_eq!(graph.first(|met, _| met & 0b100 != 0), None);
    assert_eq!(graph.kinds(), ["jump", "probe", "raise.x", "raise.y"]);
}

#[test]
fn the_hash_is_of_the_graph_and_of_nothing_else() {
    let world = Grid { ring: true, ..Grid::of(25) };
    let hash = graph(&world, 1).hash();
    assert_eq!(hash, graph(&world, 3).hash());
    assert_ne!(hash, graph(&Grid::of(25), 1).hash());
    assert_ne!(hash, graph(&Grid { ring: true, ..Grid::of(26) }, 1).hash());
    let mut other = graph(&world, 1);
    let edge = other.out[0].label;
    other.labels[edge as usize].1.effects.push("more");
    assert_ne!(hash, other.hash());
    let mut other = graph(&world, 1);
    let full = other.refusals.iter().position(|set| !set.is_empty()).unwrap();
    other.refusals[full].pop();
    assert_ne!(hash, other.hash());
    let mut other = graph(&world, 1);
    other.init.pop();
    assert_ne!(hash, other.hash());
    // Pinned, lest the way of counting changes unseen.
    assert_eq!(format!("{:032x}", graph(&Grid::of(1), 1).hash()), "1f3a85fca4b567afa71036a10ab0f414");
}

#[test]
fn kinds_are_names_of_variants_and_of_what_is_only_wrapped() {
    #[derive(Serialize)]
    #[serde(rename_all = "snake_case")]
    enum Outer {
        Bare,
        Wraps(Axis),
        Twice(Box<Outer>),
        Holds(u8),
        Pair(Axis, Axis),
        Named { axis: Axis },
        Perhaps(Option<Axis>),
    }
    let all = [
        (Outer::Bare, "bare"),
        (Outer::Wraps(Axis::X), "wraps.x"),
        (Outer::Twice(Box::new(Outer::Wraps(Axis::Y))), "twice.wraps.y"),
        (Outer::Holds(3), "holds"),
        (Outer::Pair(Axis::X, Axis::Y), "pair"),
        (Outer::Named { axis: Axis::X }, "named"),
        (Outer::Perhaps(Some(Axis::X)), "perhaps"),
    ];
    for (action, kind) in all {
        assert_eq!(kind::of(&action), kind);
    }
    assert_eq!(kind::of(&5), "");
    assert!(kind::is("call.ack", "call") && kind::is("call.ack", "call.ack"));
    assert!(!kind::is("call.ack", "call.a") && !kind::is("call", "call.ack"));
}
