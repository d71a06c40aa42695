//! The nonces that were accepted, exactly (VER-3): which ones, and which of them may be forgotten first.
//!
//! Two indexes over one set, so that a look-up and an eviction both cost O(log n) however long the history is. Not
//! here: the freshness high-water, which alone already keeps an evicted hint out. Rule: VER-3.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use crate::ids::Nonce;
use crate::time::{Millis, Wall};

/// The nonce history of one target.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(from = "Vec<Seen>", into = "Vec<Seen>")]
pub struct Window {
    expiry: BTreeMap<Nonce, Wall>,
    order: BTreeSet<Seen>,
}

/// One accepted nonce; ordered by the end of its hint.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Seen {
    /// When its hint stops being one.
    pub expires: Wall,
    /// The nonce.
    pub nonce: Nonce,
}

impl Window {
    /// Whether the nonce was accepted and not evicted.
    pub fn contains(&self, nonce: Nonce) -> bool {
        self.expiry.contains_key(&nonce)
    }

    /// How many nonces are remembered.
    pub fn len(&self) -> usize {
        self.expiry.len()
    }

    /// Whether none is.
    pub fn is_empty(&self) -> bool {
        self.expiry.is_empty()
    }

    /// The remembered nonces, the first to expire first.
    pub fn iter(&self) -> impl Iterator<Item = Seen> + '_ {
        self.order.iter().copied()
    }

    /// Remembers a nonce.
    pub fn insert(&mut self, seen: Seen) {
        self.remove(seen.nonce);
        self.expiry.insert(seen.nonce, seen.expires);
        self.order.insert(seen);
    }

    /// Forgets a nonce.
    pub fn remove(&mut self, nonce: Nonce) {
        if let Some(expires) = self.expiry.remove(&nonce) {
            self.order.remove(&Seen { expires, nonce });
        }
    }

    /// Which nonces must go so that at most `keep` are left: the first to expire, and only such as expired at least
    /// `skew` before `wall`. `None` if that is not enough.
    pub fn surplus(&self, keep: usize, wall: Wall, skew: Millis) -> Option<Vec<Nonce>> {
        let many = self.len().saturating_sub(keep);
        awakener_spec::rule!(Ver3);
        let gone: Vec<_> =
            self.iter().take(many).take_while(|s| s.expires + skew <= wall).map(|s| s.nonce).collect();
        (gone.len() == many).then_some(gone)
    }

    /// Whether both indexes hold the same set.
    pub fn is_consistent(&self) -> bool {
        self.order.len() == self.expiry.len()
            && self.order.iter().all(|s| self.expiry.get(&s.nonce) == Some(&s.expires))
    }
}

impl From<Vec<Seen>> for Window {
    fn from(list: Vec<Seen>) -> Self {
        let mut window = Self::default();
        list.into_iter().for_each(|seen| window.insert(seen));
        window
    }
}

impl From<Window> for Vec<Seen> {
    fn from(window: Window) -> Self {
        window.order.into_iter().collect()
    }
}
