//! One thread of the level-by-level search: it takes blocks of a level, looks at their states, and puts what they lead
//! to into the table. What it wrote down has numbers of its own until [`super::merge`] has read it.

use std::hint::black_box;
use std::iter::Enumerate;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::vec::IntoIter;

use super::graph::Out;
use super::intern::{Labels, Sets};
use super::look::Look;
use super::table::{Map, Shared};
use super::watch::{Ticks, Watch};
use super::{MAX_THREADS, Options};
use crate::world::{Edge, Next, World, fingerprint};

/// States that a thread takes at once.
pub(super) const BLOCK: usize = 64;

/// About how many edges go into the table together, so that their misses of the cache overlap; fewer where states are
/// so large that they would drive each other out of it.
pub(super) const fn batch<W: World>() -> usize {
    let fit = (8 << 10) / size_of::<Edge<W>>();
    if fit < 8 {
        8
    } else if fit > 64 {
        64
    } else {
        fit
    }
}

/// A number that a thread gave: this bit, then the thread, then its place among the thread's fresh states.
const TEMPORARY: u32 = 1 << 31;
const PLACE: u32 = 27;

/// Who found a fresh state, and which it is of theirs.
pub(super) const fn fresh(number: u32) -> Option<(usize, usize)> {
    if number & TEMPORARY == 0 {
        return None;
    }
    Some(((number >> PLACE) as usize % MAX_THREADS, (number & ((1 << PLACE) - 1)) as usize))
}

/// States of a level in the order of their numbers, in blocks. Whoever looks at a block takes it, so that a state is gone
/// as soon as it is not needed, and while it is still in the cache.
pub(super) type Blocks<W> = Vec<Vec<<W as World>::State>>;

/// What the threads share: the level on which they work.
#[derive(Debug)]
pub(super) struct Level<'a, W: World> {
    /// Blocks that nobody took.
    pub(super) blocks: Mutex<Enumerate<IntoIter<Vec<W::State>>>>,
    /// The number of the first state.
    pub(super) base: AtomicU32,
    /// Laws that fell on an earlier level.
    pub(super) fallen: AtomicU64,
    /// What the graph and the level take already.
    pub(super) held: AtomicU64,
    pub(super) threads: usize,
    pub(super) table: &'a Shared<Map>,
    pub(super) watch: &'a Watch<'a>,
}

/// What a thread found out about states, in the order in which it took them.
#[derive(Debug, Default)]
pub(super) struct Notes {
    /// Blocks, ascending.
    pub(super) blocks: Vec<u32>,
    pub(super) degrees: Vec<u32>,
    pub(super) out: Vec<Out>,
    pub(super) stays: Vec<u32>,
    pub(super) met: Vec<u64>,
    pub(super) marks: Vec<u64>,
}

/// An edge on its way into the table.
#[derive(Debug)]
struct Wanted {
    print: u64,
    label: u32,
    /// Which of the batch's states, and which of its edges.
    state: u32,
    edge: u32,
}

#[derive(Debug)]
pub(super) struct Worker<'a, W: World> {
    pub(super) number: u32,
    look: Look<'a, W>,
    marks: bool,
    pub(super) labels: Labels<W>,
    pub(super) sets: Sets,
    pub(super) notes: Notes,
    /// States that this thread was the first to see, and their fingerprints.
    pub(super) fresh: Vec<Option<W::State>>,
    pub(super) prints: Vec<u64>,
    /// Laws that fell on this level, and at which state.
    pub(super) fell: Vec<(usize, u32)>,
    pool: Vec<Vec<Edge<W>>>,
    wanted: Vec<Wanted>,
    set: Vec<u32>,
    ticks: Ticks,
}

impl<'a, W: World> Worker<'a, W> {
    pub(super) fn new(number: u32, world: &'a W, options: &'a Options<W>, watch: &Watch<'_>) -> Self {
        Self {
            number,
            look: Look::new(world, options),
            marks: !options.marks.is_empty(),
            labels: Labels::default(),
            sets: Sets::default(),
            notes: Notes::default(),
            fresh: Vec::new(),
            prints: Vec::new(),
            fell: Vec::new(),
            pool: Vec::new(),
            wanted: Vec::new(),
            set: Vec::new(),
            ticks: watch.ticks(),
        }
    }

    /// Works on a level until no block is left or the search shall end. What was taken is finished, so that the
    /// blocks that are done are the first ones.
    pub(super) fn run(&mut self, level: &Level<'_, W>) {
        let mut fallen = level.fallen.load(Ordering::Relaxed);
        let base = level.base.load(Ordering::Relaxed);
        while level.watch.halted().is_none() {
            let taken = level.blocks.lock().unwrap_or_else(PoisonError::into_inner).next();
            let Some((block, states)) = taken else { break };
            let (count, mut states) = (states.len(), states.into_iter());
            let mut state = base as usize + block * BLOCK;
            self.notes.blocks.push(u32::try_from(block).expect("fewer states than 2³¹"));
            let (known, edges, stays) = (self.fresh.len(), self.notes.out.len(), self.notes.stays.len());
            while states.len() > 0 {
                state += self.batch(level, &mut states, state, &mut fallen);
            }
            let stayed: usize = self.notes.stays[stays..].iter().map(|set| self.sets.get(*set).len()).sum();
            let watch = level.watch;
            watch.states.fetch_add((self.fresh.len() - known) as u64, Ordering::Relaxed);
            watch.judged.fetch_add(count as u64, Ordering::Relaxed);
            watch.edges.fetch_add((self.notes.out.len() - edges) as u64, Ordering::Relaxed);
            watch.stays.fetch_add(stayed as u64, Ordering::Relaxed);
            if self.number == 0 {
                // The others are about as far as this one.
                let mine = self.notes.bytes() + self.fresh.len() * size_of::<W::State>() + self.sets.bytes();
                let own = level.held.load(Ordering::Relaxed) + (mine * level.threads) as u64;
                let table = level.table;
                watch.tick(&mut self.ticks, || (own + table.bytes(), table.next_growth()));
            }
        }
    }

    /// Looks at the next of these states, as many as make a batch of edges; how many. `number` is that of the first.
    fn batch(
        &mut self,
        level: &Level<'_, W>,
        states: &mut IntoIter<W::State>,
        number: usize,
        fallen: &mut u64,
    ) -> usize {
        self.wanted.clear();
        let mut used = 0;
        while self.wanted.len() < const { batch::<W>() } {
            let Some(state) = states.next() else { break };
            if self.pool.len() == used {
                self.pool.push(Vec::new());
            }
            let edges = &mut self.pool[used];
            self.look.expand(&state, edges);
            let judged = self.look.judge(&state, edges, *fallen, 0);
            if judged.fell != 0 {
                *fallen |= judged.fell;
                let number = super::merge::number(number + used);
                let bits = (0..W::LAWS.len()).filter(|law| judged.fell >> law & 1 == 1);
                self.fell.extend(bits.map(|law| (law, number)));
            }
            self.notes.met.push(judged.met);
            self.notes.marks.push(if self.marks { self.look.mark(&state, edges) } else { 0 });
            drop(state);
            self.write_down(used);
            used += 1;
        }
        self.put_in(level.table);
        for edges in &mut self.pool[..used] {
            edges.clear();
        }
        used
    }

    /// Labels the edges of one of the batch's states.
    fn write_down(&mut self, used: usize) {
        self.set.clear();
        self.labels.begin();
        let before = self.wanted.len();
        for (i, edge) in self.pool[used].iter().enumerate() {
            match &edge.next {
                Next::To(next) => self.wanted.push(Wanted {
                    print: fingerprint(next),
                    label: self.labels.of(&edge.action, &edge.label),
                    state: u32::try_from(used).unwrap_or(u32::MAX),
                    edge: u32::try_from(i).unwrap_or(u32::MAX),
                }),
                Next::Stays | Next::LeftTrace => self.set.push(self.labels.of(&edge.action, &edge.label)),
                Next::Beyond => {}
            }
        }
        self.notes.degrees.push(u32::try_from(self.wanted.len() - before).unwrap_or(u32::MAX));
        self.notes.stays.push(self.sets.of(&self.set));
    }

    /// Puts the batch into the table.
    fn put_in(&mut self, table: &Shared<Map>) {
        let map = table.room(self.wanted.len());
        let mut seen = 0;
        for wanted in &self.wanted {
            seen ^= map.touch(wanted.print);
        }
        black_box(seen);
        let known = self.fresh.len();
        for wanted in &self.wanted {
            let place = u32::try_from(self.fresh.len()).unwrap_or(u32::MAX);
            assert!(place < (1 << PLACE) - 1, "fewer states on one level than 2²⁷ per thread");
            let mine = TEMPORARY | self.number << PLACE | place;
            let to = map.claim(wanted.print, mine).unwrap_or_else(|| {
                let edge = &mut self.pool[wanted.state as usize][wanted.edge as usize];
                if let Next::To(state) = std::mem::replace(&mut edge.next, Next::Beyond) {
                    self.fresh.push(Some(state));
                    self.prints.push(wanted.print);
                }
                mine
            });
            self.notes.out.push(Out { label: wanted.label, to });
        }
        drop(map);
        table.settle(self.wanted.len() - (self.fresh.len() - known));
    }
}

impl Notes {
    pub(super) fn clear(&mut self) {
        self.blocks.clear();
        self.degrees.clear();
        self.out.clear();
        self.stays.clear();
        self.met.clear();
        self.marks.clear();
    }

    fn bytes(&self) -> usize {
        self.out.capacity() * 8 + self.met.capacity() * 24
    }
}
