//! The finished messages beyond the cursor, as disjoint ranges (INB-4).
//!
//! Memory grows with the number of gaps, not with the number of messages.

use alloc::collections::BTreeMap;

use crate::ids::Seq;

/// A set of sequences, kept as maximal ranges `start..=end`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(transparent)]
pub struct Ranges(BTreeMap<Seq, Seq>);

impl Ranges {
    /// Whether `seq` is in the set.
    pub fn contains(&self, seq: Seq) -> bool {
        self.0.range(..=seq).next_back().is_some_and(|(_, end)| *end >= seq)
    }

    /// Adds `seq`, joining its neighbours.
    pub fn insert(&mut self, seq: Seq) {
        if self.contains(seq) {
            return;
        }
        let mut start = seq;
        let mut end = seq;
        if let Some(before) = seq.previous()
            && let Some((s, _)) = self.0.range(..=before).next_back().filter(|(_, e)| **e == before)
        {
            start = *s;
        }
        if let Some(e) = self.0.remove(&seq.next()) {
            end = e;
        }
        self.0.insert(start, end);
    }

    /// Removes the range that starts at `start` and returns its end.
    pub fn take_from(&mut self, start: Seq) -> Option<Seq> {
        self.0.remove(&start)
    }

    /// The smallest member.
    pub fn first(&self) -> Option<Seq> {
        self.0.keys().next().copied()
    }

    /// The ranges in order.
    pub fn iter(&self) -> impl Iterator<Item = (Seq, Seq)> + '_ {
        self.0.iter().map(|(s, e)| (*s, *e))
    }

    /// Number of ranges, which is what memory grows with.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}
