//! What a hint costs beside the one thing that cannot be cheaper: a bare `verify_strict` of the same bytes with a key
//! that was parsed before.
//!
//! `cargo bench -p awakener-kernel --bench hint`. Both are measured in turns of a few milliseconds, so that whatever
//! else the machine does meets both; the ratio is that of each turn. Goal: 1.10. Without `--bench`, as in the tests, a
//! few calls show only that it still works. Not here: what a waker makes of a hint.

use std::hint::black_box;
use std::time::Instant;

use awakener_kernel::ids::{MessageId, Nonce, Target, Token, WakeId};
use awakener_kernel::time::{Millis, Wall};
use awakener_kernel::wire::{
    self, Hint, KeyWindow, Keyring, ParsedHint, RouterKey, SigningKey, UnsignedHint,
};
use ed25519_dalek::{Signature, VerifyingKey};

const NOW: Wall = Wall(1_786_968_000_000);
const GOAL: f64 = 1.10;

fn main() {
    let measured = std::env::args().any(|argument| argument == "--bench");
    let (rounds, calls) = if measured { (2_000, 50) } else { (3, 2) };

    let router = SigningKey::from_bytes(&[7; 32]);
    let public = wire::public_key(&router);
    let target = Target::parse("mataya-dyad").expect("a target");
    let hint = Hint {
        id: WakeId::from_parts(NOW.0, [1; 10]),
        message_id: MessageId::from_parts(NOW.0, [2; 10]),
        target: target.clone(),
        nonce: Nonce([0xfb; 16]),
        freshness_token: Token::from_u64(42).expect("a token"),
        time: NOW,
        expires_at: NOW + Millis::seconds(30),
        router_key_id: public.key_id(),
    };
    let bytes = UnsignedHint::new(hint).expect("a hint").sign(&router);
    let window = KeyWindow { valid_from: Wall(0), valid_until: Wall::LAST };
    let ring = Keyring::from(&[RouterKey { public, window }]);
    let parsed = ParsedHint::parse(&bytes).expect("what was just signed");
    let signed = parsed.signing_bytes().as_bytes().to_vec();
    let key = VerifyingKey::from_bytes(router.verifying_key().as_bytes()).expect("a key");
    let signature = Signature::from_bytes(&parsed.signature.0);

    // Every call must do the whole work: a refusal would be quick.
    let served = |known: &Target| *known == target;
    let bare = || assert!(key.verify_strict(black_box(&signed), black_box(&signature)).is_ok());
    let parse = || assert!(ParsedHint::parse(black_box(&bytes)).is_ok());
    let present = || assert!(wire::present(black_box(&bytes), &ring, served, NOW, Millis(2_000)).is_ok());

    let mut bares = Vec::new();
    let mut parses = Vec::new();
    let mut presents = Vec::new();
    let mut ratios = Vec::new();
    for round in 0..rounds {
        let (first, second) = if round % 2 == 0 {
            let bare = micros(calls, bare);
            (bare, micros(calls, present))
        } else {
            let present = micros(calls, present);
            (micros(calls, bare), present)
        };
        bares.push(first);
        presents.push(second);
        ratios.push(second / first);
        parses.push(micros(calls, parse));
    }
    if measured {
        println!(
            "bare verify_strict {:.1} us, parse {:.1} us, whole hint {:.1} us (medians of {rounds} turns)",
            share(&mut bares, 0.5),
            share(&mut parses, 0.5),
            share(&mut presents, 0.5),
        );
        println!(
            "ratio {:.3} [{:.3} to {:.3} in nine turns of ten], goal at most {GOAL:.2}",
            share(&mut ratios, 0.5),
            share(&mut ratios, 0.05),
            share(&mut ratios, 0.95),
        );
    }
}

/// Microseconds per call.
fn micros(calls: u32, call: impl Fn()) -> f64 {
    let start = Instant::now();
    for _ in 0..calls {
        call();
    }
    start.elapsed().as_secs_f64() * 1e6 / f64::from(calls)
}

/// The value below which this share of them lies.
fn share(values: &mut [f64], share: f64) -> f64 {
    values.sort_by(f64::total_cmp);
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        clippy::cast_precision_loss,
        reason = "an index between 0 and the last one"
    )]
    let at = ((values.len() - 1) as f64 * share).round() as usize;
    values[at]
}
