//! A number for a whole graph: what a manifest pins.
//!
//! It is a sum over states where it begins, edges and self-loops, so that it does not depend on how states, labels or
//! threads are numbered. Labels count as their JSON. States count as their fingerprints, so that the number changes
//! whenever a field of a state does, and holds for machines of one word size.

use serde::Serialize;

use super::graph::Graph;
use crate::world::World;

/// FNV-1a of 128 bits, over JSON.
fn text(value: &impl Serialize) -> u128 {
    let json = serde_json::to_vec(value).unwrap_or_default();
    json.iter().fold(0x6c62_272e_07bb_0142_62b8_2175_6295_c58d, |hash, byte| {
        (hash ^ u128::from(*byte)).wrapping_mul(0x0000_0000_0100_0000_0000_0000_0000_013b)
    })
}

/// Mixes 64 bits well (the finish of splitmix64).
const fn mix(mut z: u64) -> u64 {
    z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ z >> 31
}

/// 128 bits of a tuple.
#[expect(clippy::cast_possible_truncation, reason = "halves")]
fn tuple(tag: u64, from: u64, label: u128, to: u64) -> u128 {
    let half = |seed: u64| {
        [from, label as u64, (label >> 64) as u64, to]
            .iter()
            .fold(mix(seed ^ tag), |hash, part| mix(hash.wrapping_add(0x9e37_79b9_7f4a_7c15) ^ part))
    };
    u128::from(half(1)) << 64 | u128::from(half(0x5bd1_e995))
}

impl<W: World> Graph<W> {
    /// The number of this graph; the same in every complete search of the same world.
    pub fn hash(&self) -> u128 {
        let labels: Vec<u128> = self.labels.iter().map(text).collect();
        let mut sum = self
            .init
            .iter()
            .fold(0_u128, |sum, state| sum.wrapping_add(tuple(1, self.prints[*state as usize], 0, 0)));
        for state in 0..super::merge::number(self.states()) {
            let from = self.prints[state as usize];
            for out in self.edges(state) {
                let to = self.prints[out.to as usize];
                sum = sum.wrapping_add(tuple(2, from, labels[out.label as usize], to));
            }
            for label in self.refused(state) {
                sum = sum.wrapping_add(tuple(3, from, labels[*label as usize], from));
            }
        }
        sum
    }
}
