//! The search that keeps fingerprints only: depth first, several threads that hand over parts of their stacks.
//!
//! Eleven to sixteen bytes per state (while the set grows, up to 27), and the stacks. It says which laws fall and which twins are reached, with a way
//! for each that falls, the shortest that was met, which need not be the shortest there is; no graph, no marks.

use std::sync::atomic::{AtomicU32, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use super::diver::Diver;
use super::look::Look;
use super::path::{Path, actions};
use super::table::{Set, Shared};
use super::watch::Watch;
use super::{Broken, Found, MAX_THREADS, Options};
use crate::world::{MAX_LAWS, World, fingerprint};

/// A state that is known and not looked at.
#[derive(Debug)]
pub(super) struct Entry<W: World> {
    pub(super) state: W::State,
    pub(super) path: Path,
    pub(super) taken: u32,
    pub(super) depth: u32,
}

/// What all threads share.
#[derive(Debug)]
pub(super) struct Common<'a, W: World> {
    pub(super) table: Shared<Set>,
    pub(super) watch: &'a Watch<'a>,
    pub(super) options: &'a Options<W>,
    pub(super) threads: usize,
    pub(super) waiting: Mutex<Waiting<W>>,
    pub(super) bell: Condvar,
    /// Threads without work.
    pub(super) hungry: AtomicUsize,
    pub(super) reached: AtomicU64,
    /// By law: length of the way in `fell`.
    pub(super) shortest: [AtomicU32; MAX_LAWS],
    pub(super) fell: Mutex<Vec<Vec<u32>>>,
    /// Entries on all stacks.
    pub(super) stacked: AtomicUsize,
}

#[derive(Debug)]
pub(super) struct Waiting<W: World> {
    pub(super) shares: Vec<Vec<Entry<W>>>,
    pub(super) over: bool,
}

pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

pub(super) fn search<W: World>(world: &W, options: &Options<W>) -> Found<W> {
    let watch = Watch::new(options);
    let common = Common {
        table: Shared::with(options.expected.unwrap_or(0)),
        watch: &watch,
        options,
        threads: options.threads.clamp(1, MAX_THREADS),
        waiting: Mutex::new(Waiting { shares: Vec::new(), over: false }),
        bell: Condvar::new(),
        hungry: AtomicUsize::new(0),
        reached: AtomicU64::new(0),
        shortest: [const { AtomicU32::new(u32::MAX) }; MAX_LAWS],
        fell: Mutex::new(vec![Vec::new(); W::LAWS.len()]),
        stacked: AtomicUsize::new(0),
    };
    let mut stack = Vec::new();
    for (taken, state) in (0_u32..).zip(world.init()) {
        if common.table.room(1).claim(fingerprint(&state)) {
            stack.push(Entry { state, path: Path::default(), taken, depth: 0 });
        } else {
            common.table.settle(1);
        }
    }
    watch.states.store(stack.len() as u64, Ordering::Relaxed);
    std::thread::scope(|scope| {
        let common = &common;
        for _ in 1..common.threads {
            scope.spawn(move || Diver::new(world, common, Vec::new()).run(false));
        }
        Diver::new(world, common, stack).run(true);
    });
    let reached = common.reached.load(Ordering::Relaxed);
    let mut look = Look::new(world, options);
    let fell = std::mem::take(&mut *lock(&common.fell)).into_iter().enumerate();
    let fell = fell.filter(|(_, steps)| !steps.is_empty());
    let broken = fell.map(|(law, steps)| Broken { law, way: actions(&mut look, &steps) }).collect();
    let count = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
    Found {
        states: count(&watch.states),
        judged: count(&watch.judged),
        edges: count(&watch.edges),
        stays: count(&watch.stays),
        depth: watch.depth.load(Ordering::Relaxed),
        cut: watch.halted().filter(|_| count(&watch.judged) < count(&watch.states)),
        reached: (0..W::LAWS.len()).map(|i| reached >> i & 1 == 1).collect(),
        broken,
        shortest: false,
        took: watch.took(),
        bytes: watch.most().max(common.table.bytes()),
        graph: None,
    }
}
