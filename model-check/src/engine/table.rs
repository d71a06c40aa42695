//! Two sets of fingerprints that several threads fill at once: with a number beside each, and without.
//!
//! Open addressing over atomics. A place is found from the high bits of the fingerprint, so that a larger table has its
//! entries in the same order and growing is one pass over both; nothing is ever taken out. Whoever fills announces
//! first how many entries it may need ([`Shared::room`]), so that there is always a free place and every search for
//! one ends. Rules: 0 is no fingerprint (`world::fingerprint` never gives it).

use std::sync::atomic::{AtomicU32, AtomicU64, AtomicUsize, Ordering};
use std::sync::{PoisonError, RwLock, RwLockReadGuard};

/// What a set needs beside being one.
pub(super) trait Table: Sized + Send + Sync {
    /// One with room for `entries`, all free.
    fn with(entries: usize) -> Self;
    /// How many entries there are places for.
    fn places(&self) -> usize;
    /// Bytes per place.
    const BYTES: f64;
    /// Copies everything from another one.
    fn fill_from(&self, other: &Self);
}

/// A table that grows, behind a lock that everybody holds for reading while a batch goes in.
#[derive(Debug)]
pub(super) struct Shared<T> {
    table: RwLock<T>,
    /// Entries, and promises of more.
    promised: AtomicUsize,
}

/// Most places of which entries may be made.
const fn most(places: usize) -> usize {
    places / 4 * 3
}

impl<T: Table> Shared<T> {
    pub(super) fn with(entries: u64) -> Self {
        let entries = usize::try_from(entries).unwrap_or(usize::MAX).max(1 << 12);
        Self { table: RwLock::new(T::with(entries / 3 * 4 + 8)), promised: AtomicUsize::new(0) }
    }

    pub(super) fn read(&self) -> RwLockReadGuard<'_, T> {
        self.table.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// The table, with room for `entries` more.
    pub(super) fn room(&self, entries: usize) -> RwLockReadGuard<'_, T> {
        let mut needed = self.promised.fetch_add(entries, Ordering::Relaxed) + entries;
        loop {
            let table = self.read();
            if needed <= most(table.places()) {
                return table;
            }
            drop(table);
            let mut table = self.table.write().unwrap_or_else(PoisonError::into_inner);
            needed = self.promised.load(Ordering::Relaxed).max(needed);
            if needed > most(table.places()) {
                // Twice as large, until that would hurt.
                let step = if table.places() < 1 << 26 { table.places() } else { table.places() / 2 };
                let larger = T::with((table.places() + step).max(needed * 2));
                larger.fill_from(&table);
                *table = larger;
            }
        }
    }

    /// Takes back what was promised and not needed.
    pub(super) fn settle(&self, unused: usize) {
        self.promised.fetch_sub(unused, Ordering::Relaxed);
    }

    #[expect(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a size"
    )]
    pub(super) fn bytes(&self) -> u64 {
        (self.read().places() as f64 * T::BYTES) as u64
    }

    /// How many more bytes the next growth needs while old and new table are there, if it is near; else 0.
    #[expect(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a size"
    )]
    pub(super) fn next_growth(&self) -> u64 {
        let places = self.read().places();
        let near = self.promised.load(Ordering::Relaxed) >= places / 16 * 11;
        if near { (places as f64 * T::BYTES * 1.5) as u64 } else { 0 }
    }
}

/// Where the search for a fingerprint begins, of `n` places.
#[expect(clippy::cast_possible_truncation, reason = "less than n")]
const fn place(print: u64, n: usize) -> usize {
    ((print as u128 * n as u128) >> 64) as usize
}

/// Fingerprints only.
#[derive(Debug)]
pub(super) struct Set(Box<[AtomicU64]>);

impl Table for Set {
    const BYTES: f64 = 8.0;

    fn with(entries: usize) -> Self {
        Self((0..entries).map(|_| AtomicU64::new(0)).collect())
    }

    fn places(&self) -> usize {
        self.0.len()
    }

    fn fill_from(&self, other: &Self) {
        for print in other.0.iter().map(|print| print.load(Ordering::Relaxed)).filter(|print| *print != 0) {
            self.claim(print);
        }
    }
}

impl Set {
    /// Reads where a search would begin, so that many such reads wait for memory at the same time.
    #[inline]
    pub(super) fn touch(&self, print: u64) -> u64 {
        self.0.get(place(print, self.0.len())).map_or(0, |at| at.load(Ordering::Relaxed))
    }

    /// Puts a fingerprint in; whether it was not there before.
    pub(super) fn claim(&self, print: u64) -> bool {
        let (before, from) = self.0.split_at(place(print, self.0.len()));
        for at in from.iter().chain(before) {
            let mut there = at.load(Ordering::Relaxed);
            if there == 0 {
                match at.compare_exchange(0, print, Ordering::Relaxed, Ordering::Relaxed) {
                    Ok(_) => return true,
                    Err(other) => there = other,
                }
            }
            if there == print {
                return false;
            }
        }
        unreachable!("room was promised")
    }
}

/// How many fingerprints and numbers fit a line of the cache.
const LINE: usize = 5;

/// A number that is not written yet: between the claim of a place and the number, a few instructions.
const UNWRITTEN: u32 = 0;

#[derive(Debug)]
#[repr(align(64))]
struct Line {
    prints: [AtomicU64; LINE],
    /// One more than the number.
    numbers: [AtomicU32; LINE],
}

/// Fingerprints with a number each, less than `u32::MAX`.
#[derive(Debug)]
pub(super) struct Map(Box<[Line]>);

impl Table for Map {
    const BYTES: f64 = 64.0 / LINE as f64;

    fn with(entries: usize) -> Self {
        let line = |_| Line {
            prints: [const { AtomicU64::new(0) }; LINE],
            numbers: [const { AtomicU32::new(UNWRITTEN) }; LINE],
        };
        Self((0..entries.div_ceil(LINE)).map(line).collect())
    }

    fn places(&self) -> usize {
        self.0.len() * LINE
    }

    fn fill_from(&self, other: &Self) {
        for line in &other.0 {
            for (print, number) in line.prints.iter().zip(&line.numbers) {
                let print = print.load(Ordering::Relaxed);
                if print != 0 {
                    self.claim(print, number.load(Ordering::Relaxed).wrapping_sub(1));
                }
            }
        }
    }
}

impl Map {
    /// As [`Set::touch`].
    #[inline]
    pub(super) fn touch(&self, print: u64) -> u64 {
        self.0.get(place(print, self.0.len())).map_or(0, |line| line.prints[0].load(Ordering::Relaxed))
    }

    /// Puts a fingerprint in with a number, unless it is there: then the number that it has.
    pub(super) fn claim(&self, print: u64, number: u32) -> Option<u32> {
        self.seek(print, |at, new| {
            if new {
                at.store(number + 1, Ordering::Release);
                return None;
            }
            loop {
                match at.load(Ordering::Acquire) {
                    UNWRITTEN => std::thread::yield_now(),
                    known => return Some(known - 1),
                }
            }
        })
    }

    /// Gives a fingerprint that is there another number.
    pub(super) fn renumber(&self, print: u64, number: u32) {
        self.seek(print, |at, _| at.store(number + 1, Ordering::Relaxed));
    }

    fn seek<T>(&self, print: u64, then: impl FnOnce(&AtomicU32, bool) -> T) -> T {
        let (before, from) = self.0.split_at(place(print, self.0.len()));
        for line in from.iter().chain(before) {
            for (at, number) in line.prints.iter().zip(&line.numbers) {
                let mut there = at.load(Ordering::Relaxed);
                if there == 0 {
                    match at.compare_exchange(0, print, Ordering::Relaxed, Ordering::Relaxed) {
                        Ok(_) => return then(number, true),
                        Err(other) => there = other,
                    }
                }
                if there == print {
                    return then(number, false);
                }
            }
        }
        unreachable!("room was promised")
    }
}
