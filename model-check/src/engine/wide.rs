//! The search that keeps the graph: level by level, each level by all threads.
//!
//! Between two levels one thread makes their notes part of the graph ([`super::merge`]); that costs a few nanoseconds
//! per edge, and everything is the same whatever the number of threads.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard};

use super::crew::Crew;
use super::graph::Graph;
use super::merge::{Merge, number};
use super::table::{Map, Shared};
use super::watch::Watch;
use super::worker::{BLOCK, Blocks, Level, Worker};
use super::{Broken, Cut, Found, MAX_THREADS, Options};
use crate::world::{World, fingerprint};

/// Levels smaller than this are not worth the start of a thread.
const ALONE: usize = 4 * BLOCK;

pub(super) fn search<W: World>(world: &W, options: &Options<W>) -> Found<W> {
    let watch = Watch::new(options);
    let threads = options.threads.clamp(1, MAX_THREADS);
    let table = Shared::<Map>::with(options.expected.unwrap_or(0));
    let mut graph = Graph::<W>::new();
    let mut merge = Merge::new(threads);
    let workers: Vec<Mutex<Worker<'_, W>>> =
        (0..threads).map(|w| Mutex::new(Worker::new(number(w), world, options, &watch))).collect();
    let mut blocks = begin(world, &mut graph, &table);
    watch.states.store(graph.states() as u64, Ordering::Relaxed);
    let mut fallen: Vec<Option<u32>> = vec![None; W::LAWS.len()];
    let level = Level {
        blocks: Mutex::default(),
        base: AtomicU32::new(0),
        fallen: AtomicU64::new(0),
        held: AtomicU64::new(0),
        threads,
        table: &table,
        watch: &watch,
    };
    let crew = Crew::default();
    // Where the level ends that was worked on last.
    let mut end = 0;
    std::thread::scope(|scope| {
        let (crew, level) = (&crew, &level);
        for worker in workers.iter().skip(1) {
            scope.spawn(move || crew.serve(|| lock(worker).run(level)));
        }
        let crew = crew.lead();
        while !blocks.is_empty() && watch.halted().is_none() {
            let base = graph.expanded;
            let count = graph.states() - base as usize;
            let falls = (0..fallen.len()).filter(|law| fallen[*law].is_some());
            level.base.store(base, Ordering::Relaxed);
            level.fallen.store(falls.fold(0, |all, law| all | 1 << law), Ordering::Relaxed);
            let held = graph.bytes() + (count * size_of::<W::State>()) as u64;
            level.held.store(held, Ordering::Relaxed);
            *lock(&level.blocks) = std::mem::take(&mut blocks).into_iter().enumerate();
            // Few states are not worth waking anybody.
            let others = if count < ALONE { 0 } else { threads - 1 };
            crew.work(others, || lock(&workers[0]).run(level));
            let left = lock(&level.blocks).len();
            let done = if left == 0 { count } else { count.next_multiple_of(BLOCK) - left * BLOCK };
            let mut workers: Vec<_> = workers.iter().map(lock).collect();
            let next = merge.level(&mut graph, &mut workers, done);
            for (law, state) in workers.iter_mut().flat_map(|worker| worker.fell.drain(..)) {
                fallen[law] = Some(fallen[law].map_or(state, |known: u32| known.min(state)));
            }
            if options.until.is_some_and(|law| fallen.get(law).is_some_and(Option::is_some)) {
                watch.halt(Cut::Fell);
            }
            graph.levels.push(base);
            end = base as usize + count;
            if done < count {
                // What was found of the next level is known, but nobody looks at it.
                break;
            }
            renumber(&table, &graph, threads, end);
            for worker in &mut workers {
                worker.notes.clear();
                worker.prints.clear();
            }
            blocks = next;
            if !blocks.is_empty() {
                watch.depth.fetch_add(1, Ordering::Relaxed);
            }
        }
    });
    if graph.states() > end {
        graph.levels.push(number(end));
    }
    let cut = watch.halted().filter(|_| (graph.expanded as usize) < graph.states());
    let most = watch.most().max(graph.bytes() + table.bytes());
    drop((level, blocks, workers));
    drop(table);
    graph.fill(&mut merge);
    let all = graph.met.iter().fold(0, |all, met| all | met);
    let broken = fallen.into_iter().enumerate().filter_map(|(law, state)| Some((law, state?)));
    Found {
        states: graph.states() as u64,
        judged: u64::from(graph.expanded),
        edges: graph.out.len() as u64,
        stays: watch.stays.load(Ordering::Relaxed),
        depth: watch.depth.load(Ordering::Relaxed),
        cut,
        reached: (0..W::LAWS.len()).map(|i| all >> i & 1 == 1).collect(),
        broken: broken.map(|(law, state)| Broken { law, way: graph.way(state) }).collect(),
        shortest: true,
        took: watch.took(),
        bytes: most,
        graph: Some(graph),
    }
}

/// A worker's or the level's; a thread that panicked with it makes the search panic.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().expect("a thread of the search panicked")
}

/// The first level.
fn begin<W: World>(world: &W, graph: &mut Graph<W>, table: &Shared<Map>) -> Blocks<W> {
    let mut states = Vec::new();
    for state in world.init() {
        let (print, number) = (fingerprint(&state), number(states.len()));
        if table.room(1).claim(print, number).is_none() {
            graph.prints.push(print);
            graph.from.push(number);
            graph.init.push(number);
            states.push(state);
        } else {
            table.settle(1);
        }
    }
    let mut states = states.into_iter().peekable();
    let mut blocks = Vec::new();
    while states.peek().is_some() {
        blocks.push(states.by_ref().take(BLOCK).collect());
    }
    blocks
}

/// Writes the numbers of the graph beside the fingerprints of the states from `first` on.
fn renumber<W: World>(table: &Shared<Map>, graph: &Graph<W>, threads: usize, first: usize) {
    let prints = &graph.prints[first..];
    let part = |from: usize, prints: &[u64]| {
        let map = table.read();
        for (i, print) in prints.iter().enumerate() {
            map.renumber(*print, number(from + i));
        }
    };
    if prints.len() < ALONE || threads == 1 {
        return part(first, prints);
    }
    let size = prints.len().div_ceil(threads);
    std::thread::scope(|scope| {
        for (i, prints) in prints.chunks(size).enumerate() {
            scope.spawn(move || part(first + i * size, prints));
        }
    });
}
