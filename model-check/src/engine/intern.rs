//! What many edges share, held once: pairs of action and label, and sets of them. One interner per thread, so that
//! nobody waits; [`super::merge`] brings theirs together.

use std::collections::HashMap;
use std::hash::{BuildHasher, Hash};

use foldhash::fast::FixedState;

use crate::world::{Label, World};

const HASH: FixedState = FixedState::with_seed(1);

/// Places by hash, chained where hashes agree.
#[derive(Debug, Default)]
struct Index {
    first: HashMap<u64, u32, FixedState>,
    then: Vec<Option<u32>>,
}

impl Index {
    /// The place that `is` accepts among those of this hash.
    fn find(&self, hash: u64, is: impl Fn(usize) -> bool) -> Option<u32> {
        let mut at = self.first.get(&hash).copied();
        while let Some(place) = at {
            if is(place as usize) {
                return Some(place);
            }
            at = self.then[place as usize];
        }
        None
    }

    /// Adds the next place.
    fn add(&mut self, hash: u64) -> u32 {
        let place = u32::try_from(self.then.len()).expect("fewer than 2³² different labels");
        self.then.push(self.first.insert(hash, place));
        place
    }
}

/// Whether two labels are equal. Their texts are constants, so that nearly always the same text is at the same place;
/// and a comparison of empty texts byte by byte costs a hundred cycles on some machines, where it reads, masked, from
/// an address that is none.
fn same(a: &Label, b: &Label) -> bool {
    let text = |a: &str, b: &str| a.len() == b.len() && (a.is_empty() || std::ptr::eq(a, b) || a == b);
    a.verdict == b.verdict
        && text(a.what, b.what)
        && a.effects.len() == b.effects.len()
        && a.effects.iter().zip(&b.effects).all(|(a, b)| text(a, b))
}

/// Pairs of action and label.
#[derive(Debug)]
pub(super) struct Labels<W: World> {
    pub(super) pairs: Vec<(W::Action, Label)>,
    index: Index,
    /// By pair: which one came after it the last time. Alphabets have a fixed order, so that this is nearly always
    /// right, and an equality is cheaper than a hash.
    after: Vec<u32>,
    /// The same for the first one of a state.
    first: u32,
    /// The last one that was asked for.
    last: Option<u32>,
}

impl<W: World> Default for Labels<W> {
    fn default() -> Self {
        Self { pairs: Vec::new(), index: Index::default(), after: Vec::new(), first: 0, last: None }
    }
}

impl<W: World> Labels<W> {
    /// Another state begins.
    pub(super) fn begin(&mut self) {
        self.last = None;
    }

    /// The number of a pair.
    pub(super) fn of(&mut self, action: &W::Action, label: &Label) -> u32 {
        let guess = self.last.map_or(self.first, |last| self.after[last as usize]);
        let is = |pair: &(W::Action, Label)| pair.0 == *action && same(&pair.1, label);
        if self.pairs.get(guess as usize).is_some_and(is) {
            self.last = Some(guess);
            return guess;
        }
        let hash = HASH.hash_one((action, label));
        let number = self.index.find(hash, |at| is(&self.pairs[at])).unwrap_or_else(|| {
            self.pairs.push((action.clone(), label.clone()));
            self.after.push(0);
            self.index.add(hash)
        });
        match self.last {
            None => self.first = number,
            Some(last) => self.after[last as usize] = number,
        }
        self.last = Some(number);
        number
    }
}

/// Lists of numbers.
#[derive(Debug, Default)]
pub(super) struct Sets {
    items: Vec<u32>,
    ends: Vec<usize>,
    index: Index,
    last: u32,
}

impl Sets {
    pub(super) fn len(&self) -> usize {
        self.ends.len()
    }

    /// One list.
    pub(super) fn get(&self, number: u32) -> &[u32] {
        let at = number as usize;
        let from = if at == 0 { 0 } else { self.ends[at - 1] };
        &self.items[from..self.ends[at]]
    }

    /// The number of a list.
    pub(super) fn of(&mut self, list: &[u32]) -> u32 {
        let is = |known: &[u32]| known.len() == list.len() && (list.is_empty() || known == list);
        if self.len() > 0 && is(self.get(self.last)) {
            return self.last;
        }
        let hash = HASH.hash_one(Whole(list));
        let found = self.index.find(hash, |at| is(self.get(u32::try_from(at).unwrap_or_default())));
        self.last = found.unwrap_or_else(|| {
            self.items.extend_from_slice(list);
            self.ends.push(self.items.len());
            self.index.add(hash)
        });
        self.last
    }

    /// About how many bytes this takes.
    pub(super) fn bytes(&self) -> usize {
        self.items.capacity() * 4 + self.ends.capacity() * 40
    }
}

/// A list, hashed two numbers at a time.
struct Whole<'a>(&'a [u32]);

impl Hash for Whole<'_> {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        let (pairs, rest) = self.0.as_chunks::<2>();
        for [a, b] in pairs {
            state.write_u64(u64::from(*a) << 32 | u64::from(*b));
        }
        for last in rest {
            state.write_u32(*last);
        }
    }
}
