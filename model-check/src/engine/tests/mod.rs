//! Both modes on worlds that are known by arithmetic, against stateright and against a search that is naive.

mod naive;
mod services;
mod toys;

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use super::table::{Map, Set, Shared};
use super::*;
use crate::second;
use crate::world::fingerprint;
use crate::world::{Next, World};
use toys::{Act, Axis, Grid};

fn modes() -> impl Iterator<Item = Options<Grid>> {
    [(true, 1), (true, 2), (true, 3), (false, 1), (false, 2), (false, 3)]
        .into_iter()
        .map(|(graph, threads)| Options { threads, graph, ..Options::default() })
}

/// What arithmetic says of a grid: states, edges, inputs in vain, depth.
fn expected(side: u64, ring: bool) -> (u64, u64, u64, u64) {
    let states = (side + 1) * (side + 1);
    let edges = 2 * side * (side + 1) + if ring { states } else { 0 };
    (states, edges, 2 * (side + 1) + states, 2 * side)
}

#[test]
fn both_modes_count_as_arithmetic_and_stateright_do() {
    for (side, ring) in [(0, false), (1, true), (70, false), (70, true), (150, false)] {
        let world = Grid { ring, broken: Some((1, 1)), ..Grid::of(side) };
        let (states, edges, stays, depth) = expected(u64::from(side), ring);
        let second = second::count(world.clone());
        for options in modes() {
            let found = explore(&world, &options);
            let said = format!("{side} {ring} {options:?}");
            assert_eq!((found.states, found.judged), (states, states), "{said}");
            assert_eq!((found.edges, found.stays), (edges, stays), "{said}");
            assert_eq!(found.states, second.states, "{said}");
            // stateright also counts where it begins.
            assert_eq!(found.edges + 1, second.generated, "{said}");
            let broken: std::collections::BTreeSet<_> =
                found.broken.iter().map(|broken| broken.law).collect();
            assert_eq!(broken, second.broken, "{said}");
            let reached = (0..3).filter(|law| found.reached[*law]).collect();
            assert_eq!(second.reached, reached, "{said}");
            assert_eq!((found.cut, found.complete()), (None, true), "{said}");
            if options.graph {
                assert_eq!(u64::from(found.depth), depth, "{said}");
            }
        }
    }
}

#[test]
fn the_graph_is_that_of_a_naive_search_whatever_the_threads() {
    let world = Grid { ring: true, shortcut: Some((40, 41)), starts: 2, ..Grid::of(90) };
    let (states, told) = naive::search(&world);
    for threads in 1..=4 {
        let options = Options { threads, ..Options::default() };
        let graph = explore(&world, &options).graph.unwrap();
        assert_eq!(graph.prints, states.iter().map(fingerprint).collect::<Vec<_>>());
        let mut mine: Vec<naive::Told<Grid>> = Vec::new();
        for state in 0..u32::try_from(graph.states()).unwrap() {
            let told = |label: u32, to| {
                let (action, label) = graph.labels[label as usize].clone();
                (state, action, label, to)
            };
            mine.extend(graph.edges(state).iter().map(|out| told(out.label, Some(out.to))));
            mine.extend(graph.refused(state).iter().map(|label| told(*label, None)));
        }
        let sorted = |mut all: Vec<naive::Told<Grid>>| {
            all.sort();
            all
        };
        assert_eq!(sorted(mine), sorted(told.clone()), "{threads} threads");
    }
}

#[test]
fn a_graph_is_the_same_in_every_field_whatever_the_threads() {
    let world = Grid { ring: true, shortcut: Some((40, 41)), ..Grid::of(60) };
    let marks: Vec<crate::world::Condition<Grid>> =
        vec![|_, state, _| state.0 == 7, |_, _, edges| edges.len() > 5];
    let graphs: Vec<_> = (1..=3)
        .map(|threads| Options { threads, marks: marks.clone(), ..Options::default() })
        .map(|options| explore(&world, &options).graph.unwrap())
        .collect();
    for graph in &graphs {
        assert_eq!(format!("{graph:?}"), format!("{:?}", graphs[0]));
    }
    let marked = |bit: u64| graphs[0].marks.iter().filter(|marks| *marks & bit != 0).count();
    assert_eq!((marked(1), marked(2)), (61, 1));
}

#[test]
fn ways_with_a_graph_are_shortest_and_those_without_are_ways() {
    let world = Grid { broken: Some((30, 31)), shortcut: Some((30, 30)), ..Grid::of(60) };
    for options in modes() {
        let found = explore(&world, &options);
        let [broken] = found.broken.as_slice() else { panic!("one law falls") };
        assert_eq!(broken.law, 1);
        let end = broken.way.iter().fold((0, 0), |(x, y), act| match act {
            Act::Raise(Axis::X) => (x + 1, y),
            Act::Raise(Axis::Y) => (x, y + 1),
            Act::Jump => (30, 30),
            Act::Reset | Act::Probe { .. } => panic!("no step of this world"),
        });
        assert_eq!(end, (30, 31), "{options:?}");
        assert_eq!(found.shortest, options.graph);
        if options.graph {
            assert_eq!(broken.way, [Act::Jump, Act::Raise(Axis::Y)]);
        }
    }
}

#[test]
fn a_law_that_falls_where_it_begins_falls_on_an_empty_way() {
    let world = Grid { broken: Some((0, 0)), starts: 3, ..Grid::of(3) };
    for options in modes() {
        let found = explore(&world, &options);
        assert_eq!(
            found.broken.iter().map(|broken| broken.way.len()).collect::<Vec<_>>(),
            [0],
            "{options:?}"
        );
    }
}

#[test]
fn a_search_that_is_cut_says_why_and_how_far_it_came() {
    let world = Grid { broken: Some((900, 900)), ..Grid::of(900) };
    let stopped = Arc::new(AtomicBool::new(true));
    let cuts = |options: Options<Grid>| {
        [
            (Cut::States, Options { states: Some(5_000), ..options.clone() }),
            (Cut::Memory, Options { memory: Some(1 << 16), ..options.clone() }),
            (Cut::Time, Options { time: Some(Duration::ZERO), ..options.clone() }),
            (Cut::Stopped, Options { stop: Some(stopped.clone()), ..options }),
        ]
    };
    for (cut, options) in modes().flat_map(cuts) {
        let found = explore(&world, &options);
        assert_eq!((found.cut, found.complete()), (Some(cut), false), "{options:?}");
        assert!(found.judged < found.states && found.states < 901 * 901, "{options:?}");
        assert!(found.broken.is_empty() && !found.reached[1], "{options:?}");
        assert!(cut != Cut::States || found.states > 5_000, "{options:?}");
        let Some(graph) = found.graph else { continue };
        let states = graph.states();
        assert_eq!(u64::from(graph.expanded), found.judged);
        let lists = [
            graph.offsets.len() - 1,
            graph.stays.len(),
            graph.met.len(),
            graph.marks.len(),
            graph.from.len(),
        ];
        assert_eq!(lists, [states; 5]);
        let last = u32::try_from(states - 1).unwrap();
        assert!(graph.edges(last).is_empty() && graph.refused(last).is_empty());
        assert_eq!(graph.path(last).len(), graph.depth(last));
    }
}

#[test]
fn bounds_that_are_not_reached_cut_nothing() {
    let world = Grid::of(50);
    for options in modes() {
        let bounded = Options {
            states: Some(51 * 51),
            memory: Some(1 << 40),
            time: Some(Duration::from_secs(600)),
            stop: Some(Arc::default()),
            until: Some(1),
            ..options
        };
        assert_eq!(explore(&world, &bounded).cut, None, "{bounded:?}");
        let one_less = Options { states: Some(51 * 51 - 200), ..bounded };
        assert_eq!(explore(&world, &one_less).cut, Some(Cut::States));
    }
}

#[test]
fn until_ends_at_the_law_that_it_names_and_no_other() {
    let world = Grid { broken: Some((2, 3)), ..Grid::of(400) };
    for options in modes() {
        let found = explore(&world, &Options { until: Some(1), ..options.clone() });
        assert_eq!(found.cut, Some(Cut::Fell), "{options:?}");
        assert_eq!(found.broken.len(), 1);
        assert!(!options.graph || (found.broken[0].way.len() == 5 && found.depth == 6), "{options:?}");
        let other = explore(&world, &Options { until: Some(2), ..options });
        assert_eq!((other.cut, other.states), (None, 401 * 401));
    }
}

#[test]
fn kinds_that_are_left_out_are_not_tried_and_not_seen_by_laws() {
    let world = Grid { ring: true, shortcut: Some((3, 3)), ..Grid::of(20) };
    for options in modes() {
        let without = |kinds: &[&str]| {
            let without = kinds.iter().map(|kind| (*kind).to_owned()).collect();
            explore(&world, &Options { without, ..options.clone() })
        };
        assert_eq!(without(&["raise.y", "jump"]).states, 21);
        assert_eq!(without(&["raise"]).states, 2, "the shortcut is left");
        assert_eq!(without(&["raise", "jump"]).states, 1);
        assert_eq!(without(&["rais"]).states, 441, "no kind, only its beginning");
        assert!(without(&["probe"]).reached[0] && !without(&["raise"]).reached[0], "who refuses is left out");
    }
}

#[test]
fn a_long_way_overflows_no_stack() {
    let world = Grid { broken: Some((60_000, 0)), ..Grid::of(60_000) };
    for options in modes() {
        let found = explore(&world, &Options { without: vec!["raise.y".to_owned()], ..options });
        assert_eq!((found.states, found.broken[0].way.len()), (60_001, 60_000));
    }
}

#[test]
fn reports_come_and_count_up() {
    let told = Arc::new(std::sync::Mutex::new(Vec::new()));
    let listener = Report::new({
        let told = told.clone();
        move |progress| told.lock().unwrap().push(*progress)
    });
    let options = Options {
        progress: Some(listener),
        time: Some(Duration::from_millis(1_200)),
        states: Some(40_000_000),
        graph: false,
        ..Options::default()
    };
    explore(&Grid::of(20_000), &options);
    let told = told.lock().unwrap();
    assert!((1..=3).contains(&told.len()), "{told:?}");
    assert!(told.is_sorted_by_key(|progress| progress.states) && told[0].rate > 0.0 && told[0].bytes > 0);
}

#[test]
fn tables_grow_under_threads_and_lose_nothing() {
    let (map, set) = (Shared::<Map>::with(0), Shared::<Set>::with(0));
    let new: usize = std::thread::scope(|scope| {
        let claim = |offset: u64| {
            let mut new = 0;
            for batch in 0..2_000 {
                let prints = (0..50).map(|i| fingerprint(&(batch * 50 + i + offset)));
                let numbers = map.room(50);
                let before = new;
                new += prints.clone().filter(|print| numbers.claim(*print, 7).is_none()).count();
                drop(numbers);
                map.settle(50 - (new - before));
                let prints_only = set.room(50);
                let here = prints.filter(|print| prints_only.claim(*print)).count();
                drop(prints_only);
                set.settle(50 - here);
                new += here << 32;
            }
            new
        };
        let threads: Vec<_> = [0, 30_000].map(|offset| scope.spawn(move || claim(offset))).into();
        threads.into_iter().map(|thread| thread.join().unwrap()).sum()
    });
    assert_eq!((new & 0xffff_ffff, new >> 32), (130_000, 130_000));
    assert_eq!(map.room(1).claim(fingerprint(&129_999_u64), 9), Some(7));
    assert_eq!(map.read().claim(fingerprint(&130_000_u64), 9), None);
    map.read().renumber(fingerprint(&5_u64), 11);
    assert_eq!(map.room(1).claim(fingerprint(&5_u64), 9), Some(11));
}

/// A grid whose far corner panics.
#[derive(Clone, Debug)]
struct Trap(Grid);

impl World for Trap {
    type State = (u32, u32);
    type Action = Act;
    const NAME: &'static str = "trap";
    const LAWS: &'static [crate::world::Law<Self>] = &[];
    const ABSTRACTIONS: &'static [&'static str] = &[];
    const GAPS: &'static [crate::world::Gap] = &[];

    fn scopes() -> Vec<crate::world::Scope<Self>> {
        Vec::new()
    }

    fn init(&self) -> Vec<(u32, u32)> {
        self.0.init()
    }

    fn steps(&self, state: &(u32, u32), edges: &mut Vec<crate::world::Edge<Self>>) {
        assert!(state.0 < 500, "a trap");
        let mut inner = Vec::new();
        self.0.steps(state, &mut inner);
        edges.extend(inner.into_iter().map(|edge| crate::world::Edge {
            action: edge.action,
            label: edge.label,
            next: match edge.next {
                Next::To(state) => Next::To(state),
                Next::Stays => Next::Stays,
                Next::Beyond => Next::Beyond,
                Next::LeftTrace => Next::LeftTrace,
            },
        }));
    }

    fn parties(action: &Act) -> (&'static str, &'static str) {
        Grid::parties(action)
    }
}

#[test]
fn a_world_that_panics_ends_the_search_on_any_thread() {
    for (graph, threads) in [(true, 1), (true, 3), (false, 1), (false, 3)] {
        let options = Options::<Trap> { threads, graph, ..Options::default() };
        let ended = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            explore(&Trap(Grid::of(900)), &options);
        }));
        assert!(ended.is_err(), "{options:?}");
    }
}
