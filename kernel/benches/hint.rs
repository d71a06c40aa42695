//! What a hint costs beside the one thing that cannot be cheaper: a bare `verify_strict` of the same bytes.
//!
//! `cargo bench -p awakener-kernel --bench hint`. The ratio to the bare verification of the same run stands at the end;
//! the goal is 1.10. Not here: what a waker makes of it.

use std::hint::black_box;
use std::path::Path;

use awakener_kernel::ids::{MessageId, Nonce, Target, Token, WakeId};
use awakener_kernel::time::{Millis, Wall};
use awakener_kernel::wire::{self, Hint, KeyWindow, ParsedHint, RouterKey, SigningKey, UnsignedHint};
use criterion::Criterion;
use ed25519_dalek::{Signature, VerifyingKey};

const NOW: Wall = Wall(1_786_968_000_000);

fn main() {
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
    let ring = [RouterKey { public, window }];
    let parsed = ParsedHint::parse(&bytes).expect("what was just signed");
    let signed = parsed.signing_bytes().as_bytes().to_vec();
    let key = VerifyingKey::from_bytes(router.verifying_key().as_bytes()).expect("a key");
    let signature = Signature::from_bytes(&parsed.signature.0);

    // Both must do the whole work: a refusal would be quick.
    let served = |known: &Target| *known == target;
    assert!(key.verify_strict(&signed, &signature).is_ok());
    assert!(wire::present(&bytes, &ring, served, NOW, Millis(2_000)).is_ok());

    let mut criterion = Criterion::default().configure_from_args();
    let mut group = criterion.benchmark_group("hint");
    group.bench_function("verify_strict", |bench| {
        bench.iter(|| key.verify_strict(black_box(&signed), black_box(&signature)).is_ok());
    });
    group.bench_function("parse", |bench| bench.iter(|| ParsedHint::parse(black_box(&bytes)).is_ok()));
    group.bench_function("present", |bench| {
        bench.iter(|| wire::present(black_box(&bytes), &ring, served, NOW, Millis(2_000)).is_ok());
    });
    group.finish();
    criterion.final_summary();
    report();
}

/// The ratio of the medians that criterion has just written; nothing if it only tested.
fn report() {
    let median = |name: &str| {
        let folder = std::env::var("CARGO_TARGET_DIR").unwrap_or_else(|_| "../target".to_owned());
        let file = Path::new(&folder).join("criterion/hint").join(name).join("new/estimates.json");
        let text = std::fs::read_to_string(file).ok()?;
        serde_json::from_str::<serde_json::Value>(&text).ok()?["median"]["point_estimate"].as_f64()
    };
    if let (Some(bare), Some(parse), Some(present)) =
        (median("verify_strict"), median("parse"), median("present"))
    {
        println!(
            "verify_strict {:.1} us, parse {:.1} us, present {:.1} us: {:.2} x bare verification (goal 1.10)",
            bare / 1e3,
            parse / 1e3,
            present / 1e3,
            present / bare
        );
    }
}
