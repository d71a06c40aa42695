//! AUD-3: heads and proofs of the tree, against published vectors and against the definitions of RFC 9162.
//!
//! The vectors are those of the Certificate Transparency project: eight leaves, the heads of their first one to eight,
//! and proofs (`merkle_tree_test` of its log, in several languages).

use std::convert::Infallible;

use awakener_kernel::audit::proof::{consistent, included};
use awakener_kernel::audit::tree::{Nodes, Tree, consistency, empty, head_at, inclusion, leaf, parent};
use awakener_kernel::ids::ContentHash;
use awakener_tools::enforces;
use proptest::prelude::*;

const LEAVES: [&[u8]; 8] = [
    b"",
    b"\x00",
    b"\x10",
    b"\x20\x21",
    b"\x30\x31",
    b"\x40\x41\x42\x43",
    b"\x50\x51\x52\x53\x54\x55\x56\x57",
    b"\x60\x61\x62\x63\x64\x65\x66\x67\x68\x69\x6a\x6b\x6c\x6d\x6e\x6f",
];

const HEADS: [&str; 9] = [
    "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
    "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
    "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77",
    "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
    "4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4",
    "76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef",
    "ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c",
    "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328",
];

const A: &str = "96a296d224f285c67bee93c30f8a309157f0daa35dc5b87e410b78630a09cfc7";
const B: &str = "5f083f0a1a33ca076a95279832580db3e0ef4584bdff1f54c8a360f50de3031e";
const C: &str = "6b47aaf29ee3c2af9af889bc1fb9254dabd31177f16232dd6aab035ca39bf6e4";
const D: &str = "bc1a0643b12e4d2d7c77918f44e0f4f79a838b6cf9ec5b5c283e1f4d88599e6b";
const E: &str = "ca854ea128ed050b41b35ffc1b87b8eb2bde461e9e3b5596ece6b9d5975a0ae0";
const F: &str = "0ebc5d3437fbe2db158b9f126a1d118e308181031d0a949f8dededebc558ef6a";

/// Leaf number from 1, size, path.
const INCLUSIONS: [(u64, u64, &[&str]); 5] = [
    (1, 1, &[]),
    (1, 8, &[A, B, C]),
    (6, 8, &[D, E, HEADS[4]]),
    (3, 3, &[HEADS[2]]),
    (2, 5, &[HEADS[1], B, D]),
];

/// First size, size, path.
const CONSISTENCIES: [(u64, u64, &[&str]); 4] =
    [(1, 1, &[]), (1, 8, &[A, B, C]), (6, 8, &[F, E, HEADS[4]]), (2, 5, &[B, D])];

fn hash(hex: &str) -> ContentHash {
    ContentHash::parse(&format!("sha256:{hex}")).unwrap()
}

fn hashes(hex: &[&str]) -> Vec<ContentHash> {
    hex.iter().map(|hex| hash(hex)).collect()
}

/// Leaves with everything computed from the definitions, one by one.
struct Naive(Vec<ContentHash>);

impl Naive {
    fn reference() -> Self {
        Self(LEAVES.iter().map(|data| leaf(data)).collect())
    }

    fn many(number: u64) -> Self {
        Self((0..number).map(|n| leaf(&n.to_be_bytes())).collect())
    }
}

impl Nodes for Naive {
    type Error = Infallible;

    fn full(&mut self, level: u32, index: u64) -> Result<ContentHash, Infallible> {
        let (from, len) = (usize::try_from(index << level).unwrap(), 1_usize << level);
        Ok(mth(&self.0[from..from + len]))
    }
}

/// Section 2.1.1.
fn mth(leaves: &[ContentHash]) -> ContentHash {
    match leaves {
        [] => empty(),
        [one] => *one,
        more => {
            let k = more.len().next_power_of_two() / 2;
            parent(&mth(&more[..k]), &mth(&more[k..]))
        }
    }
}

/// PATH of section 2.1.3.1.
fn path(m: usize, leaves: &[ContentHash]) -> Vec<ContentHash> {
    if leaves.len() == 1 {
        return Vec::new();
    }
    let k = leaves.len().next_power_of_two() / 2;
    let (mut proof, beside) = if m < k {
        (path(m, &leaves[..k]), mth(&leaves[k..]))
    } else {
        (path(m - k, &leaves[k..]), mth(&leaves[..k]))
    };
    proof.push(beside);
    proof
}

/// SUBPROOF of section 2.1.4.1.
fn subproof(m: usize, leaves: &[ContentHash], whole: bool) -> Vec<ContentHash> {
    if m == leaves.len() {
        return if whole { Vec::new() } else { vec![mth(leaves)] };
    }
    let k = leaves.len().next_power_of_two() / 2;
    let (mut proof, beside) = if m <= k {
        (subproof(m, &leaves[..k], whole), mth(&leaves[k..]))
    } else {
        (subproof(m - k, &leaves[k..], false), mth(&leaves[..k]))
    };
    proof.push(beside);
    proof
}

/// Every spoiled form of a path.
fn spoiled(path: &[ContentHash]) -> Vec<Vec<ContentHash>> {
    let mut all = vec![[path, &[empty()]].concat(), [&[empty()], path].concat()];
    for at in 0..path.len() {
        let mut other = path.to_vec();
        other[at].0[31] ^= 1;
        all.push(other);
        let mut less = path.to_vec();
        less.remove(at);
        all.push(less);
    }
    if path.len() > 1 && path[0] != path[1] {
        let mut swapped = path.to_vec();
        swapped.swap(0, 1);
        all.push(swapped);
    }
    all
}

enforces! {
    [Aud3]
    fn aud_3_the_published_heads_come_out(_seen) {
        let mut tree = Tree::default();
        for (size, head) in (0..).zip(HEADS) {
            assert_eq!((tree.size(), tree.head()), (size, hash(head)));
            assert_eq!(head_at(&mut Naive::reference(), size).unwrap(), hash(head));
            if let Some(data) = LEAVES.get(usize::try_from(size).unwrap()) {
                tree.push_leaf(leaf(data));
            }
        }
        // Control: the order is part of a head, and a leaf is no inner node.
        let mut swapped = Tree::default();
        [LEAVES[1], LEAVES[0]].iter().for_each(|data| swapped.push_leaf(leaf(data)));
        assert_ne!(swapped.head(), hash(HEADS[2]));
        assert_ne!(leaf(&[leaf(b"").0, leaf(b"\x00").0].concat()), hash(HEADS[2]));
        // A record is a leaf by its hash.
        let mut record = Tree::default();
        record.push(&hash(HEADS[0]));
        assert_eq!(record.head(), leaf(&hash(HEADS[0]).0));
    }

    [Aud3]
    fn aud_3_the_published_inclusion_proofs_are_made_and_verify(_seen) {
        for (number, size, proof) in INCLUSIONS {
            let proof = hashes(proof);
            let (index, at) = (number - 1, usize::try_from(number - 1).unwrap());
            assert_eq!(inclusion(&mut Naive::reference(), index, size).unwrap(), Some(proof.clone()));
            let head = hash(HEADS[usize::try_from(size).unwrap()]);
            let holds = |leaf, index, size, path: &[_], head| included(&leaf, index, size, path, &head);
            let data = leaf(LEAVES[at]);
            assert!(holds(data, index, size, &proof, head));
            assert!(!holds(leaf(b"WrongLeaf"), index, size, &proof, head));
            assert!(!holds(data, index, size, &proof, empty()));
            assert!(!holds(data, index + 1, size, &proof, head));
            assert!(!holds(data, index ^ 2, size, &proof, head));
            assert!(!holds(data, index, size * 2, &proof, head));
            assert!(!holds(data, index, size / 2, &proof, head));
            assert!(spoiled(&proof).iter().all(|path| !holds(data, index, size, path, head)));
        }
        assert_eq!(inclusion(&mut Naive::reference(), 8, 8).unwrap(), None);
        assert_eq!(inclusion(&mut Naive::reference(), 0, 0).unwrap(), None);
        assert!(!included(&leaf(b""), 0, 0, &[], &empty()));
    }

    [Aud3]
    fn aud_3_the_published_consistency_proofs_are_made_and_verify(_seen) {
        let head = |size: u64| HEADS.get(usize::try_from(size).unwrap()).map_or(empty(), |head| hash(head));
        for (first, size, proof) in CONSISTENCIES {
            let proof = hashes(proof);
            assert_eq!(consistency(&mut Naive::reference(), first, size).unwrap(), Some(proof.clone()));
            let (a, b) = (head(first), head(size));
            assert!(consistent(first, size, &a, &b, &proof));
            assert!(!consistent(first, size, &a, &empty(), &proof));
            assert!(!consistent(first, size, &empty(), &b, &proof));
            if first == size {
                assert!(spoiled(&proof).iter().all(|path| !consistent(first, size, &a, &b, path)));
                continue;
            }
            assert!(!consistent(first - 1, size, &a, &b, &proof));
            assert!(!consistent(first + 1, size, &a, &b, &proof));
            assert!(!consistent(first ^ 2, size, &a, &b, &proof));
            assert!(!consistent(first, size * 2, &a, &b, &proof));
            assert!(!consistent(first, size / 2, &a, &b, &proof));
            assert!(!consistent(first, size, &b, &a, &proof));
            assert!(!consistent(first, size, &a, &b, &[]));
            assert!(spoiled(&proof).iter().all(|path| !consistent(first, size, &a, &b, path)));
        }
        // Time does not go back, and everything begins with nothing.
        assert_eq!(consistency(&mut Naive::reference(), 2, 1).unwrap(), None);
        assert!(!consistent(2, 1, &head(2), &head(1), &[]));
        assert!(consistent(0, 5, &head(0), &head(5), &[]) && consistent(0, 0, &head(0), &head(0), &[]));
        assert!(!consistent(0, 5, &head(1), &head(5), &[]) && !consistent(0, 5, &head(0), &head(5), &[head(1)]));
    }
}

#[test]
fn aud_3_every_small_tree_agrees_with_the_definitions() {
    for size in 0..=66_u64 {
        let mut naive = Naive::many(size);
        let leaves = naive.0.clone();
        let head = mth(&leaves);
        assert_eq!(head_at(&mut naive, size).unwrap(), head);
        for index in 0..size {
            let at = usize::try_from(index).unwrap();
            let proof = inclusion(&mut naive, index, size).unwrap().unwrap();
            assert_eq!(proof, path(at, &leaves), "leaf {index} of {size}");
            assert!(included(&leaves[at], index, size, &proof, &head));
        }
        for first in 1..=size {
            let at = usize::try_from(first).unwrap();
            let proof = consistency(&mut naive, first, size).unwrap().unwrap();
            assert_eq!(proof, subproof(at, &leaves, true), "{first} of {size}");
            assert!(consistent(first, size, &mth(&leaves[..at]), &head, &proof));
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// No proof of one tree is one of another: whatever single thing is changed, it does not verify.
    #[test]
    fn aud_3_a_proof_holds_for_its_own_tree_only(
        size in 2_u64..300, a in 0_u64..300, b in 0_u64..300, changed in 0_u64..300, bit in 0_usize..256,
    ) {
        let (index, first, changed) = (a % size, 1 + b % (size - 1), changed % size);
        let mut naive = Naive::many(size);
        let at = |n: u64| usize::try_from(n).unwrap();
        let (head, begun) = (mth(&naive.0), mth(&naive.0[..at(first)]));
        let leaf = naive.0[at(index)];
        let path = inclusion(&mut naive, index, size).unwrap().unwrap();
        let proof = consistency(&mut naive, first, size).unwrap().unwrap();
        prop_assert_eq!(&path, &self::path(at(index), &naive.0));
        prop_assert_eq!(&proof, &subproof(at(first), &naive.0, true));
        prop_assert!(included(&leaf, index, size, &path, &head));
        prop_assert!(consistent(first, size, &begun, &head, &proof));
        for other in (0..=size + 1).filter(|other| *other != index) {
            prop_assert!(!included(&leaf, other, size, &path, &head));
        }
        for other in (0..=size + 1).filter(|other| *other != first) {
            prop_assert!(!consistent(other, size, &begun, &head, &proof));
        }

        // A rewritten leaf: other heads, and what is behind it is consistent with the old one no more.
        let mut other = Naive(naive.0.clone());
        other.0[at(changed)].0[bit / 8] ^= 1 << (bit % 8);
        let (head, now) = (mth(&other.0), mth(&other.0[..at(first)]));
        let proof = consistency(&mut other, first, size).unwrap().unwrap();
        prop_assert!(consistent(first, size, &now, &head, &proof));
        prop_assert_eq!(consistent(first, size, &begun, &head, &proof), changed >= first);
        let path = inclusion(&mut other, index, size).unwrap().unwrap();
        prop_assert_eq!(included(&leaf, index, size, &path, &head), changed != index);
    }
}

/// Keeps count of what is asked for.
struct Counted(u64);

impl Nodes for Counted {
    type Error = Infallible;

    fn full(&mut self, level: u32, index: u64) -> Result<ContentHash, Infallible> {
        self.0 += 1;
        Ok(ContentHash([u8::try_from(level).unwrap() ^ index.to_le_bytes()[0]; 32]))
    }
}

#[test]
fn aud_3_a_proof_asks_for_few_nodes() {
    for size in [1_000_000_u64, (1 << 20) - 1, 1 << 20, (1 << 53) - 1] {
        let bound = 2 * u64::from(size.ilog2() + 1);
        for part in [0, 1, size / 3, size / 2, size - 1] {
            let mut counted = Counted(0);
            inclusion(&mut counted, part, size).unwrap().unwrap();
            assert!((1..=bound).contains(&counted.0), "{} nodes for {size}", counted.0);
            let mut counted = Counted(0);
            consistency(&mut counted, part, size).unwrap().unwrap();
            assert!(counted.0 <= bound, "{} nodes for {size}", counted.0);
        }
    }
}
