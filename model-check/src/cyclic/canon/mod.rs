//! The canonical form of a state: what is left of it when instants are seen from now and numbers that only grow are
//! seen in their order.
//!
//! The live part of a machine is private, and the kernel has no code for whoever checks it. What a machine does show
//! is its `Debug` text, every field of it. So the form is made of that text: it streams through a filter that knows
//! where it is (type and field), keeps everything but the numbers that a [`Rule`] names, and rewrites those once the
//! whole state was seen. Numbers of one sort keep their order and their equality, nothing else: a machine compares
//! fences, tokens and tickets, and never counts with them but for taking the next one.
//!
//! Whether that is so is not believed here: [`super::faithful`] checks it against the concrete world. Here: what rules
//! can say, and the form that is made of pieces; how text becomes pieces stands in `filter`.

mod filter;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::{self, Debug, Write};

use filter::Filter;

/// How a number is rewritten.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum How {
    /// An instant: seen from now, and no further back than this many milliseconds.
    Since(u64),
    /// A number of this sort: its place among all of its sort in the state. Zero means "none yet" and stays.
    Rank(u8),
    /// The first half of a pair, such as the boot of a ticket: as [`How::Rank`].
    Major(u8),
    /// The second half: its place among all of its sort that stand beside the same first half. The sort is that of the
    /// half before it.
    Minor(u8),
    /// A token: its epoch (sort) is a first half, its counter the second.
    Token(u8),
    /// A count that makes no difference from here on.
    Cap(u64),
    /// It is read by nobody, or follows from the rest.
    Nothing,
}

/// Which numbers are rewritten, and how: in this type (empty = anywhere), after this field (empty = the type's own
/// value, such as `Fence(3)`). The first that fits counts.
pub type Rule = (&'static str, &'static str, How);

/// An instant this far ahead is never reached: the limit that it belongs to is as good as switched off.
pub const NEVER: u64 = 1 << 40;

enum Piece {
    /// Text from here to there.
    Text(usize, usize),
    Number(u8, u64),
    Pair(u8, u64, u64),
}

/// Makes one form.
pub struct Canon {
    now: u64,
    text: String,
    pieces: Vec<Piece>,
    numbers: BTreeMap<u8, BTreeSet<u64>>,
    pairs: BTreeMap<(u8, u64), BTreeSet<u64>>,
}

impl Canon {
    /// A form as seen from `now`.
    pub fn new(now: u64) -> Self {
        let (pieces, numbers, pairs) = (Vec::new(), BTreeMap::new(), BTreeMap::new());
        Self { now, text: String::with_capacity(4096), pieces, numbers, pairs }
    }

    /// Adds a part of the state.
    pub fn part(&mut self, rules: &[Rule], value: &dyn Debug) {
        let mut filter = Filter::new(self, rules);
        write!(filter, "{value:?}").expect("a filter takes everything");
        filter.close();
    }

    /// Whether this text occurs in what was added so far, before any number was rewritten there.
    pub fn mentions(&self, text: &str) -> bool {
        self.text.contains(text)
    }

    /// The form.
    pub fn finish(self) -> String {
        let rank = |set: Option<&BTreeSet<u64>>, value: u64| match value {
            0 => 0,
            _ => set.map_or(0, |set| set.range(1..=value).count()),
        };
        let mut out = String::with_capacity(self.text.len());
        for piece in &self.pieces {
            match piece {
                Piece::Text(from, to) => out.push_str(&self.text[*from..*to]),
                Piece::Number(sort, value) => {
                    let rank = rank(self.numbers.get(sort), *value);
                    write!(out, "#{rank}").expect("a string takes everything");
                }
                Piece::Pair(sort, major, minor) => {
                    let first = rank(self.numbers.get(sort), *major);
                    let second = rank(self.pairs.get(&(*sort, *major)), *minor);
                    write!(out, "#{first}.{second}").expect("a string takes everything");
                }
            }
        }
        out
    }
}

impl Debug for Canon {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Canon").field("now", &self.now).finish_non_exhaustive()
    }
}
