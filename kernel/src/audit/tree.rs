//! The Merkle tree of RFC 9162, section 2.1, over record hashes: its head, grown leaf by leaf, and its proofs (AUD-3).
//!
//! A proof is made from the hashes of full subtrees, which never change once they are full; who keeps them says how
//! they are found ([`Nodes`]). Not here: verification ([`super::proof`]), signatures, and where nodes are kept.

use alloc::vec::Vec;

use sha2::{Digest as _, Sha256};

use crate::ids::ContentHash;

/// The hash of a leaf. In the tree of a chain `entry` is the 32 bytes of a record's hash.
pub fn leaf(entry: &[u8]) -> ContentHash {
    ContentHash(Sha256::new().chain_update([0]).chain_update(entry).finalize().into())
}

/// The hash of an inner node.
pub fn parent(left: &ContentHash, right: &ContentHash) -> ContentHash {
    ContentHash(Sha256::new().chain_update([1]).chain_update(left.0).chain_update(right.0).finalize().into())
}

/// The head of the tree without leaves.
pub fn empty() -> ContentHash {
    ContentHash(Sha256::digest([]).into())
}

/// A growing tree, by the heads of its full subtrees, the largest first: 32 bytes for each bit of its size.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tree {
    size: u64,
    full: Vec<ContentHash>,
}

impl Tree {
    /// Adds the leaf of one record.
    pub fn push(&mut self, record: &ContentHash) {
        self.push_leaf(leaf(&record.0));
    }

    /// Adds a leaf by its hash.
    pub fn push_leaf(&mut self, leaf: ContentHash) {
        awakener_spec::rule!(Aud3);
        let mut node = leaf;
        // Each trailing one bit of the size is a full subtree as large as the one that now waits beside it.
        for _ in 0..self.size.trailing_ones() {
            if let Some(left) = self.full.pop() {
                node = parent(&left, &node);
            }
        }
        self.full.push(node);
        self.size = self.size.saturating_add(1);
    }

    /// How many leaves.
    pub const fn size(&self) -> u64 {
        self.size
    }

    /// The head over all leaves; of no leaves, the hash of nothing.
    pub fn head(&self) -> ContentHash {
        let mut smaller = self.full.iter().rev().copied();
        match smaller.next() {
            None => empty(),
            Some(last) => smaller.fold(last, |right, left| parent(&left, &right)),
        }
    }
}

/// Where the heads of full subtrees come from.
pub trait Nodes {
    /// Why one cannot be had.
    type Error;

    /// The head over the 2^`level` leaves from number `index` * 2^`level` on, counted from 0. Asked only for subtrees
    /// that are full in a tree of the size that the caller named.
    ///
    /// # Errors
    /// Where it cannot be had.
    fn full(&mut self, level: u32, index: u64) -> Result<ContentHash, Self::Error>;
}

/// The head of the tree over the first `size` leaves.
///
/// # Errors
/// Those of `nodes`.
pub fn head_at<N: Nodes>(nodes: &mut N, size: u64) -> Result<ContentHash, N::Error> {
    if size == 0 { Ok(empty()) } else { part(nodes, 0, size) }
}

/// The inclusion proof (section 2.1.3.1) of leaf number `index`, from 0, in the tree over the first `size` leaves;
/// `None` if that tree has no such leaf.
///
/// # Errors
/// Those of `nodes`.
pub fn inclusion<N: Nodes>(
    nodes: &mut N,
    index: u64,
    size: u64,
) -> Result<Option<Vec<ContentHash>>, N::Error> {
    if index >= size {
        return Ok(None);
    }
    let (mut from, mut len, mut path) = (0_u64, size, Vec::new());
    while len > 1 {
        let left = split(len);
        let right_from = from.saturating_add(left);
        let right = len.saturating_sub(left);
        if index < right_from {
            path.push(part(nodes, right_from, right)?);
            len = left;
        } else {
            path.push(part(nodes, from, left)?);
            (from, len) = (right_from, right);
        }
    }
    path.reverse();
    Ok(Some(path))
}

/// The consistency proof (section 2.1.4.1) between the trees over the first `first` and the first `size` leaves; empty
/// if the first is empty or the same, `None` if it is the larger one.
///
/// # Errors
/// Those of `nodes`.
pub fn consistency<N: Nodes>(
    nodes: &mut N,
    first: u64,
    size: u64,
) -> Result<Option<Vec<ContentHash>>, N::Error> {
    if first > size {
        return Ok(None);
    }
    if first == 0 || first == size {
        return Ok(Some(Vec::new()));
    }
    let (mut from, mut len, mut path, mut whole) = (0_u64, size, Vec::new(), true);
    while from.saturating_add(len) > first {
        let left = split(len);
        let right_from = from.saturating_add(left);
        let right = len.saturating_sub(left);
        if first <= right_from {
            path.push(part(nodes, right_from, right)?);
            len = left;
        } else {
            path.push(part(nodes, from, left)?);
            (from, len, whole) = (right_from, right, false);
        }
    }
    // The head of the first tree is known to whoever has it.
    if !whole {
        path.push(part(nodes, from, len)?);
    }
    path.reverse();
    Ok(Some(path))
}

/// The head over `len` leaves, at least one, from leaf `from` on, which begins a subtree of that size or larger.
fn part<N: Nodes>(nodes: &mut N, from: u64, len: u64) -> Result<ContentHash, N::Error> {
    let (mut from, mut len, mut lefts) = (from, len, Vec::new());
    while len > 1 && !len.is_power_of_two() {
        let left = split(len);
        lefts.push(full(nodes, from, left)?);
        (from, len) = (from.saturating_add(left), len.saturating_sub(left));
    }
    let last = full(nodes, from, len)?;
    Ok(lefts.iter().rev().fold(last, |right, left| parent(left, &right)))
}

fn full<N: Nodes>(nodes: &mut N, from: u64, len: u64) -> Result<ContentHash, N::Error> {
    let level = len.trailing_zeros();
    nodes.full(level, from.checked_shr(level).unwrap_or(0))
}

/// The largest power of two below `len`, for `len` above 1.
const fn split(len: u64) -> u64 {
    match len.saturating_sub(1).checked_ilog2() {
        Some(log) => 1 << log,
        None => 0,
    }
}
