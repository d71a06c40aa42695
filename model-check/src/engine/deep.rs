//! The search that keeps fingerprints only: depth first, several threads that hand over parts of their stacks.
//!
//! Eleven to sixteen bytes per state, and the stacks. It says which laws fall and which twins are reached, with a way
//! for each that falls, the shortest that was met, which need not be the shortest there is; no graph, no marks.

use std::hint::black_box;
use std::sync::atomic::{AtomicU32, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::look::Look;
use super::path::{Path, actions};
use super::table::{Set, Shared};
use super::watch::{Ticks, Watch};
use super::{Broken, Cut, Found, MAX_THREADS, Options, worker};
use crate::world::{Edge, MAX_LAWS, Next, World, fingerprint};

/// A state that is known and not looked at.
#[derive(Debug)]
struct Entry<W: World> {
    state: W::State,
    path: Path,
    taken: u32,
    depth: u32,
}

/// What all threads share.
#[derive(Debug)]
struct Common<'a, W: World> {
    table: Shared<Set>,
    watch: &'a Watch<'a>,
    options: &'a Options<W>,
    threads: usize,
    waiting: Mutex<Waiting<W>>,
    bell: Condvar,
    /// Threads without work.
    hungry: AtomicUsize,
    reached: AtomicU64,
    /// By law: length of the way in `fell`.
    shortest: [AtomicU32; MAX_LAWS],
    fell: Mutex<Vec<Vec<u32>>>,
    /// Entries on all stacks.
    stacked: AtomicUsize,
}

#[derive(Debug)]
struct Waiting<W: World> {
    shares: Vec<Vec<Entry<W>>>,
    over: bool,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
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
            scope.spawn(move || Worker::new(world, common, Vec::new()).run(false));
        }
        Worker::new(world, common, stack).run(true);
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

/// An edge on its way into the table.
#[derive(Debug)]
struct Wanted {
    print: u64,
    state: u32,
    edge: u32,
}

/// Where an expanded state was.
#[derive(Debug)]
struct Place {
    path: Path,
    taken: u32,
    depth: u32,
}

#[derive(Debug)]
struct Worker<'a, W: World> {
    look: Look<'a, W>,
    common: &'a Common<'a, W>,
    stack: Vec<Entry<W>>,
    places: Vec<Place>,
    pool: Vec<Vec<Edge<W>>>,
    wanted: Vec<Wanted>,
    ticks: Ticks,
    /// What this stack adds to [`Common::stacked`].
    stacked: usize,
}

impl<W: World> Drop for Worker<'_, W> {
    /// A world that panics ends the search of the other threads, which would wait for this one for ever.
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.common.watch.halt(Cut::Stopped);
        }
    }
}

impl<'a, W: World> Worker<'a, W> {
    fn new(world: &'a W, common: &'a Common<'a, W>, stack: Vec<Entry<W>>) -> Self {
        Self {
            look: Look::new(world, common.options),
            common,
            stack,
            places: Vec::new(),
            pool: Vec::new(),
            wanted: Vec::new(),
            ticks: common.watch.ticks(),
            stacked: 0,
        }
    }

    fn run(&mut self, ticking: bool) {
        while self.common.watch.halted().is_none() {
            if self.stack.is_empty() {
                match self.receive(ticking) {
                    Some(share) => self.stack = share,
                    None => break,
                }
            }
            self.batch();
            if self.stack.len() > 1 && self.common.hungry.load(Ordering::Relaxed) > 0 {
                self.give();
            }
            if ticking {
                self.tick();
            }
        }
    }

    fn tick(&mut self) {
        let (common, watch) = (self.common, self.common.watch);
        watch.tick(&mut self.ticks, || {
            let entries = common.stacked.load(Ordering::Relaxed) * size_of::<Entry<W>>();
            (common.table.bytes() + entries as u64, common.table.next_growth())
        });
    }

    /// Looks at states from the top of the stack, as many as make a batch of edges.
    fn batch(&mut self) {
        let (common, watch) = (self.common, self.common.watch);
        self.wanted.clear();
        self.places.clear();
        let (mut edges, mut stays, mut met, mut deepest) = (0, 0, 0, 0);
        let reached = common.reached.load(Ordering::Relaxed);
        while self.wanted.len() < const { worker::batch::<W>() } {
            let Some(entry) = self.stack.pop() else { break };
            let used = self.places.len();
            if self.pool.len() == used {
                self.pool.push(Vec::new());
            }
            self.look.expand(&entry.state, &mut self.pool[used]);
            let judged = self.look.judge(&entry.state, &self.pool[used], 0, reached | met);
            met |= judged.met;
            if judged.fell != 0 {
                self.fell(judged.fell, &entry);
            }
            let counted = Look::count(&self.pool[used]);
            (edges, stays) = (edges + counted.0, stays + counted.1);
            for (i, edge) in (0..).zip(&self.pool[used]) {
                if let Next::To(next) = &edge.next {
                    let state = u32::try_from(used).unwrap_or(u32::MAX);
                    self.wanted.push(Wanted { print: fingerprint(next), state, edge: i });
                }
            }
            deepest = deepest.max(entry.depth);
            self.places.push(Place { path: entry.path, taken: entry.taken, depth: entry.depth });
        }
        let new = self.put_in();
        if met != 0 {
            common.reached.fetch_or(met, Ordering::Relaxed);
        }
        watch.depth.fetch_max(deepest, Ordering::Relaxed);
        watch.states.fetch_add(new, Ordering::Relaxed);
        watch.judged.fetch_add(self.places.len() as u64, Ordering::Relaxed);
        watch.edges.fetch_add(edges, Ordering::Relaxed);
        watch.stays.fetch_add(stays, Ordering::Relaxed);
        let (before, after) = (self.stacked, self.stack.len());
        self.stacked = after;
        common.stacked.fetch_add(after.wrapping_sub(before), Ordering::Relaxed);
    }

    /// Puts the batch into the table, and what is new onto the stack; how many were new.
    fn put_in(&mut self) -> u64 {
        let table = &self.common.table;
        let set = table.room(self.wanted.len());
        let mut seen = 0;
        for wanted in &self.wanted {
            seen ^= set.touch(wanted.print);
        }
        black_box(seen);
        let (mut new, mut last) = (0, None);
        for wanted in &self.wanted {
            if !set.claim(wanted.print) {
                continue;
            }
            new += 1;
            let edge = &mut self.pool[wanted.state as usize][wanted.edge as usize];
            let Next::To(state) = std::mem::replace(&mut edge.next, Next::Beyond) else { continue };
            let place = &self.places[wanted.state as usize];
            let path = match last.take() {
                Some((of, path)) if of == wanted.state => path,
                _ => place.path.then(place.taken),
            };
            self.stack.push(Entry { state, path: path.clone(), taken: wanted.edge, depth: place.depth + 1 });
            last = Some((wanted.state, path));
        }
        drop(set);
        table.settle(self.wanted.len() - new);
        for edges in &mut self.pool[..self.places.len()] {
            edges.clear();
        }
        new as u64
    }

    /// Laws fell in a state.
    fn fell(&self, fell: u64, entry: &Entry<W>) {
        for law in (0..W::LAWS.len()).filter(|law| fell >> law & 1 == 1) {
            if self.common.shortest[law].fetch_min(entry.depth, Ordering::Relaxed) > entry.depth {
                let way = entry.path.then(entry.taken).steps();
                let known = &mut lock(&self.common.fell)[law];
                if known.is_empty() || known.len() > way.len() {
                    *known = way;
                }
            }
            if self.common.options.until == Some(law) {
                self.common.watch.halt(Cut::Fell);
            }
        }
    }

    /// Leaves the lower half of the stack, which is nearer to the beginning, to others.
    fn give(&mut self) {
        let mut waiting = lock(&self.common.waiting);
        if waiting.shares.len() < self.common.hungry.load(Ordering::Relaxed) {
            let upper = self.stack.split_off(self.stack.len().div_ceil(2));
            waiting.shares.push(std::mem::replace(&mut self.stack, upper));
            self.common.bell.notify_one();
        }
    }

    /// Waits for something to do; nothing if nobody has anything, or the search shall end.
    fn receive(&mut self, ticking: bool) -> Option<Vec<Entry<W>>> {
        let common = self.common;
        let mut waiting = lock(&common.waiting);
        let idle = common.hungry.fetch_add(1, Ordering::Relaxed) + 1;
        if idle == common.threads && waiting.shares.is_empty() {
            waiting.over = true;
            common.bell.notify_all();
        }
        loop {
            if let Some(share) = waiting.shares.pop() {
                common.hungry.fetch_sub(1, Ordering::Relaxed);
                return Some(share);
            }
            if waiting.over || common.watch.halted().is_some() {
                return None;
            }
            let pause = Duration::from_millis(20);
            waiting = common.bell.wait_timeout(waiting, pause).unwrap_or_else(PoisonError::into_inner).0;
            if ticking {
                drop(waiting);
                self.tick();
                waiting = lock(&common.waiting);
            }
        }
    }
}
