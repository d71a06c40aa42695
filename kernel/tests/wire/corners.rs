//! Ed25519 where verifiers disagree: points of small order, in encodings that are not theirs, and points of mixed order.
//!
//! Every pair of such a key and such a commitment, made anew here with curve25519-dalek. The flags have the names of the
//! CCTV set. Three verifiers judge each vector: the most lenient one (with the cofactor, any encoding), the plain one of
//! ed25519-dalek, and ours. The lenient one takes all of them, which shows that a vector is what it says.

use std::collections::BTreeMap;

use awakener_kernel::ids::{PublicKey, SignatureBytes};
use awakener_kernel::wire::{Domain, SigningBytes, verify};
use awakener_tools::enforces;
use curve25519_dalek::constants::EIGHT_TORSION;
use curve25519_dalek::edwards::{CompressedEdwardsY, EdwardsPoint};
use curve25519_dalek::scalar::Scalar;
use ed25519_dalek::{Signature, Verifier as _, VerifyingKey};
use sha2::{Digest as _, Sha512};

/// A key or a commitment, `scalar` times the base point plus a point of small order, and one of its encodings.
#[derive(Clone, Copy)]
struct Point {
    scalar: Scalar,
    /// So many times the generator of the points of small order.
    torsion: u8,
    canonical: [u8; 32],
    bytes: [u8; 32],
}

impl Point {
    fn new(scalar: Scalar, torsion: u8) -> Self {
        let point = EdwardsPoint::mul_base(&scalar) + EIGHT_TORSION[usize::from(torsion)];
        let bytes = point.compress().0;
        Self { scalar, torsion, canonical: bytes, bytes }
    }

    fn low_order(&self) -> bool {
        self.scalar == Scalar::ZERO
    }
}

/// The other encodings of a point of small order: its `y` plus the prime, and the sign of an `x` that is zero.
fn aliases(point: &Point) -> Vec<Point> {
    let sign = point.bytes[31] & 0x80;
    let mut magnitude = point.bytes;
    magnitude[31] &= 0x7f;
    let mut plus_prime = [0xff; 32];
    plus_prime[0] = 0xed + magnitude[0].min(1);
    plus_prime[31] = 0x7f;
    let small = magnitude[0] < 2 && magnitude[1..].iter().all(|byte| *byte == 0);
    let upright = matches!(point.torsion, 0 | 4);
    let ys = [Some(magnitude), small.then_some(plus_prime)];
    let signs = [Some(sign), upright.then_some(sign ^ 0x80)];
    let mut all = Vec::new();
    for mut bytes in ys.into_iter().flatten() {
        for sign in signs.into_iter().flatten() {
            bytes[31] = (bytes[31] & 0x7f) | sign;
            all.push(Point { bytes, ..*point });
        }
    }
    all.retain(|alias| alias.bytes != point.bytes);
    all
}

/// The 14 encodings of the 8 points of small order, then the same 8 added to one of prime order.
fn points(scalar: u64) -> Vec<Point> {
    let small: Vec<Point> = (0..8).map(|torsion| Point::new(Scalar::ZERO, torsion)).collect();
    let other: Vec<Point> = small.iter().flat_map(aliases).collect();
    let mixed: Vec<Point> = (0..8).map(|torsion| Point::new(Scalar::from(scalar), torsion)).collect();
    [small, other, mixed].concat()
}

fn challenge(commitment: &[u8; 32], key: &[u8; 32], message: &SigningBytes) -> Scalar {
    let hash = Sha512::new().chain_update(commitment).chain_update(key).chain_update(message.as_bytes());
    Scalar::from_bytes_mod_order_wide(&hash.finalize().into())
}

/// Whether a key, a commitment and a challenge leave a point of small order over, which a cofactor hides.
fn residue(key: &Point, commitment: &Point, k: Scalar) -> bool {
    !commitment.torsion.wrapping_add(key.torsion.wrapping_mul(k.to_bytes()[0])).is_multiple_of(8)
}

struct Vector {
    key: Point,
    commitment: Point,
    message: SigningBytes,
    response: Scalar,
    residue: bool,
    reencoded: bool,
}

impl Vector {
    /// The first message with which the vector is of that kind, if there is one.
    fn find(key: Point, commitment: Point, residue_wanted: bool, reencoded: bool) -> Option<Self> {
        (0..64_u8).find_map(|number| {
            let message = Domain::Ack.frame(&[number]);
            let real = challenge(&commitment.bytes, &key.bytes, &message);
            let k = match reencoded {
                true => challenge(&commitment.canonical, &key.canonical, &message),
                false => real,
            };
            let response = commitment.scalar + k * key.scalar;
            let left = residue(&key, &commitment, k);
            let differs =
                response != commitment.scalar + real * key.scalar || residue(&key, &commitment, real);
            (left == residue_wanted && (!reencoded || differs)).then_some(Self {
                key,
                commitment,
                message,
                response,
                residue: left,
                reencoded,
            })
        })
    }

    fn signature(&self) -> [u8; 64] {
        let mut bytes = [0; 64];
        bytes[..32].copy_from_slice(&self.commitment.bytes);
        bytes[32..].copy_from_slice(&self.response.to_bytes());
        bytes
    }

    /// With the cofactor, whatever the encodings, and with the challenge that the vector means.
    fn lenient(&self) -> bool {
        let read = |bytes| CompressedEdwardsY(bytes).decompress().unwrap();
        let (key, commitment) = (read(self.key.bytes), read(self.commitment.bytes));
        let k = match self.reencoded {
            true => challenge(&commitment.compress().0, &key.compress().0, &self.message),
            false => challenge(&self.commitment.bytes, &self.key.bytes, &self.message),
        };
        (EdwardsPoint::mul_base(&self.response) - commitment - key * k).is_small_order()
    }

    fn plain(&self) -> bool {
        let key = VerifyingKey::from_bytes(&self.key.bytes).unwrap();
        key.verify(self.message.as_bytes(), &Signature::from_bytes(&self.signature())).is_ok()
    }

    fn ours(&self) -> bool {
        verify(&PublicKey(self.key.bytes), &self.message, &SignatureBytes(self.signature())).is_ok()
    }

    fn flags(&self) -> Vec<&'static str> {
        let (a, r) = (&self.key, &self.commitment);
        let all = [
            ("low_order_a", a.low_order()),
            ("low_order_r", r.low_order()),
            ("low_order_component_a", a.torsion != 0),
            ("low_order_component_r", r.torsion != 0),
            ("non_canonical_a", a.bytes != a.canonical),
            ("non_canonical_r", r.bytes != r.canonical),
            ("low_order_residue", self.residue),
            ("reencoded_k", self.reencoded),
        ];
        let set: Vec<_> = all.iter().filter(|(_, set)| *set).map(|(flag, _)| *flag).collect();
        if set.is_empty() { vec!["none"] } else { set }
    }
}

fn vectors() -> Vec<Vector> {
    let mut all = Vec::new();
    for key in points(0x5eed) {
        for commitment in points(0xc0de) {
            for (residue, reencoded) in [(false, false), (true, false), (false, true), (true, true)] {
                all.extend(Vector::find(key, commitment, residue, reencoded));
            }
        }
    }
    all
}

#[test]
fn idn_5_the_points_of_small_order_are_eight_in_fourteen_encodings() {
    let small: Vec<Point> = points(1).into_iter().filter(Point::low_order).collect();
    let mut encodings: Vec<_> = small.iter().map(|point| point.bytes).collect();
    encodings.sort_unstable();
    encodings.dedup();
    assert_eq!((small.len(), encodings.len()), (14, 14));
    for point in small {
        assert_eq!(
            CompressedEdwardsY(point.bytes).decompress(),
            Some(EIGHT_TORSION[usize::from(point.torsion)])
        );
    }
}

enforces! {
    [Idn5]
    fn idn_5_what_verifiers_disagree_about_is_refused(_seen) {
        // Per flag: vectors (the lenient verifier takes each), taken by the plain one, taken by ours.
        let mut table: BTreeMap<&str, [u32; 3]> = BTreeMap::new();
        for vector in vectors() {
            let flags = vector.flags();
            assert!(vector.lenient(), "{flags:?}");
            let verdicts = [true, vector.plain(), vector.ours()];
            let small = vector.key.low_order() || vector.commitment.low_order();
            assert_eq!(verdicts[2], verdicts[1] && !small, "{flags:?}");
            for flag in flags {
                let row = table.entry(flag).or_default();
                row.iter_mut().zip(verdicts).for_each(|(count, verdict)| *count += u32::from(verdict));
            }
        }
        let table: Vec<_> = table.into_iter().map(|(flag, [all, plain, ours])| (flag, all, plain, ours)).collect();
        assert_eq!(table, TABLE);
    }
}

/// Plain verification itself refuses a commitment in another encoding, a residue, and a challenge over other encodings.
/// In every other row it takes what ours refuses. A component of small order beside one of prime order is no fault where
/// it leaves nothing over: ours takes it as plain verification does.
const TABLE: [(&str, u32, u32, u32); 9] = [
    ("low_order_a", 832, 112, 0),
    ("low_order_component_a", 1148, 188, 42),
    ("low_order_component_r", 1006, 154, 35),
    ("low_order_r", 895, 99, 0),
    ("low_order_residue", 918, 0, 0),
    ("non_canonical_a", 321, 26, 0),
    ("non_canonical_r", 444, 0, 0),
    ("none", 1, 1, 1),
    ("reencoded_k", 578, 0, 0),
];
