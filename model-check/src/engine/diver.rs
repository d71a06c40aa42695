//! One thread of the search that keeps fingerprints only: it looks at states from the top of its stack, puts what they lead
//! to into the set, and keeps what is new on the stack; when its stack is empty it takes a part of another's.

use std::hint::black_box;
use std::sync::PoisonError;
use std::sync::atomic::Ordering;
use std::time::Duration;

use super::deep::{Common, Entry, lock};
use super::look::Look;
use super::path::Path;
use super::watch::Ticks;
use super::{Cut, worker};
use crate::world::{Edge, Next, World, fingerprint};

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
pub(super) struct Diver<'a, W: World> {
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

impl<W: World> Drop for Diver<'_, W> {
    /// A world that panics ends the search of the other threads, which would wait for this one for ever.
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.common.watch.halt(Cut::Stopped);
        }
    }
}

impl<'a, W: World> Diver<'a, W> {
    pub(super) fn new(world: &'a W, common: &'a Common<'a, W>, stack: Vec<Entry<W>>) -> Self {
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

    pub(super) fn run(&mut self, ticking: bool) {
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
