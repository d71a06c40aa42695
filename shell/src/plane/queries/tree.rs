//! The Merkle tree of RFC 9162 over the hashes of audit entries (AUD-3), grown one leaf at a time.
//!
//! Not here: proofs, and who signs the head.

use awakener_kernel::ids::ContentHash;
use sha2::{Digest as _, Sha256};

/// A tree by the heads of its full subtrees, the largest first.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tree {
    size: u64,
    full: Vec<[u8; 32]>,
}

impl Tree {
    /// Adds the leaf of one entry.
    pub(crate) fn push(&mut self, entry: &ContentHash) {
        let mut node: [u8; 32] = Sha256::new().chain_update([0]).chain_update(entry.0).finalize().into();
        // Each trailing one bit of the size is a full subtree as large as the one that now waits beside it.
        for _ in 0..self.size.trailing_ones() {
            if let Some(left) = self.full.pop() {
                node = parent(left, node);
            }
        }
        self.full.push(node);
        self.size += 1;
    }

    pub(crate) const fn size(&self) -> u64 {
        self.size
    }

    /// The head over all leaves; of no leaves, the hash of nothing.
    pub(crate) fn head(&self) -> ContentHash {
        let mut smaller = self.full.iter().rev().copied();
        ContentHash(match smaller.next() {
            None => Sha256::digest([]).into(),
            Some(last) => smaller.fold(last, |right, left| parent(left, right)),
        })
    }
}

fn parent(left: [u8; 32], right: [u8; 32]) -> [u8; 32] {
    Sha256::new().chain_update([1]).chain_update(left).chain_update(right).finalize().into()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The recursive definition of RFC 9162, section 2.1.1, word for word.
    fn defined(leaves: &[[u8; 32]]) -> [u8; 32] {
        match leaves {
            [] => Sha256::digest([]).into(),
            [one] => Sha256::new().chain_update([0]).chain_update(one).finalize().into(),
            more => {
                let mut k = 1;
                while k * 2 < more.len() {
                    k *= 2;
                }
                parent(defined(&more[..k]), defined(&more[k..]))
            }
        }
    }

    #[test]
    fn aud_3_a_growing_tree_has_the_head_of_the_definition() {
        let leaves: Vec<[u8; 32]> = (0..70_u8).map(|n| Sha256::digest([n]).into()).collect();
        let mut tree = Tree::default();
        for n in 0..=leaves.len() {
            assert_eq!(tree.head().0, defined(&leaves[..n]), "{n} leaves");
            assert_eq!(tree.size(), n as u64);
            if let Some(leaf) = leaves.get(n) {
                tree.push(&ContentHash(*leaf));
            }
        }
        // Control: an order is part of a head.
        let (mut one, mut other) = (Tree::default(), Tree::default());
        for (a, b) in [(0, 1), (1, 0)] {
            one.push(&ContentHash(leaves[a]));
            other.push(&ContentHash(leaves[b]));
        }
        assert_ne!(one.head(), other.head());
    }
}
