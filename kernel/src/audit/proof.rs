//! Verification of the proofs of RFC 9162, sections 2.1.3.2 and 2.1.4.2, from hashes alone (AUD-3).
//!
//! Whoever has two tree heads, or a head and a record, needs nothing else and no key. That a head is the one that was
//! signed is shown by its checkpoint. Not here: how proofs are made ([`super::tree`]).

use super::tree::{empty, parent};
use crate::ids::ContentHash;

/// Whether `path` shows that the leaf with this hash is number `index`, from 0, of the tree with `size` leaves and this
/// head.
#[must_use]
pub fn included(leaf: &ContentHash, index: u64, size: u64, path: &[ContentHash], head: &ContentHash) -> bool {
    awakener_spec::rule!(Aud3);
    if index >= size {
        return false;
    }
    let (mut at, mut last, mut node) = (index, size.saturating_sub(1), *leaf);
    for beside in path {
        if last == 0 {
            return false;
        }
        if at & 1 == 1 || at == last {
            node = parent(beside, &node);
            up_while_even(&mut at, &mut last);
        } else {
            node = parent(&node, beside);
        }
        (at, last) = (at >> 1, last >> 1);
    }
    last == 0 && node == *head
}

/// Whether `path` shows that the tree with `size` leaves begins with the leaves of the one with `first` leaves. Every
/// tree begins with the empty one, and is its own beginning; both are shown by an empty path.
#[must_use]
pub fn consistent(
    first: u64,
    size: u64,
    first_head: &ContentHash,
    head: &ContentHash,
    path: &[ContentHash],
) -> bool {
    awakener_spec::rule!(Aud3);
    if first > size {
        return false;
    }
    if first == size {
        return path.is_empty() && first_head == head;
    }
    if first == 0 {
        return path.is_empty() && *first_head == empty();
    }
    // A first tree that is one full subtree is its own first node; it is not sent.
    let mut rest = path.iter();
    let begin = if first.is_power_of_two() { Some(first_head) } else { rest.next() };
    let Some(begin) = begin else { return false };
    let (mut at, mut last) = (first.saturating_sub(1), size.saturating_sub(1));
    while at & 1 == 1 {
        (at, last) = (at >> 1, last >> 1);
    }
    let (mut of_first, mut of_second) = (*begin, *begin);
    for beside in rest {
        if last == 0 {
            return false;
        }
        if at & 1 == 1 || at == last {
            of_first = parent(beside, &of_first);
            of_second = parent(beside, &of_second);
            up_while_even(&mut at, &mut last);
        } else {
            of_second = parent(&of_second, beside);
        }
        (at, last) = (at >> 1, last >> 1);
    }
    last == 0 && of_first == *first_head && of_second == *head
}

/// A node without a right neighbour goes up as it is until it is one itself.
const fn up_while_even(at: &mut u64, last: &mut u64) {
    while *at & 1 == 0 && *at != 0 {
        *at >>= 1;
        *last >>= 1;
    }
}
