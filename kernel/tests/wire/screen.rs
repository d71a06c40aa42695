//! The stateless classes of VER-1 and their order.

use awakener_kernel::time::{Millis, Wall};
use awakener_kernel::wire::{
    Claim, Hint, KeyWindow, Keyring, Presented, RouterKey, SigningKey, UnsignedHint,
};
use awakener_kernel::wire::{present, screen};
use awakener_spec::Class;

use crate::common::*;

const SKEW: Millis = Millis(2_000);

fn noon() -> Wall {
    at("2026-08-17T12:00:00Z")
}

fn class(bytes: &[u8], now: Wall) -> Result<Hint, Class> {
    present(bytes, &Keyring::from(&ring()), |name| *name == target("mataya-dyad"), now, SKEW)
}

#[test]
fn ver_1_a_good_hint_passes() {
    assert_eq!(class(sample_text().as_bytes(), noon()), Ok(sample()));
    assert_eq!(class(&encoded(sample()), noon()), Ok(sample()));
}

/// Each row breaks one more thing than the row above it, from the last class up to the first: whatever else is wrong,
/// the class that comes first is the one that is reported.
#[test]
fn ver_1_the_first_class_that_matches_wins() {
    let good = Claim {
        hint: Hint { time: Wall(10_000), expires_at: Wall(5_000), ..sample() },
        router: Some(KeyWindow { valid_from: Wall(0), valid_until: Wall(u64::MAX) }),
        source_agrees: true,
        signature_valid: true,
        subject_agrees: true,
        served: true,
    };
    let see = |now: u64, claim: &Claim| screen(Wall(now), SKEW, &Presented::Hint(Box::new(claim.clone())));
    // Such times cannot be parsed; here they let two classes match at once.
    let mut claim = good.clone();
    assert_eq!(see(8_000, &claim), Err(Class::Stale));
    assert_eq!(see(7_999, &claim), Err(Class::NotYetValid));
    claim.subject_agrees = false;
    assert_eq!(see(7_999, &claim), Err(Class::WrongTarget));
    claim.served = false;
    assert_eq!(see(7_999, &claim), Err(Class::WrongTarget));
    claim.signature_valid = false;
    assert_eq!(see(7_999, &claim), Err(Class::Tamper));
    claim.source_agrees = false;
    assert_eq!(see(7_999, &claim), Err(Class::WrongRouter));
    claim.router = None;
    assert_eq!(see(7_999, &claim), Err(Class::WrongRouter));
    let malformed = present(b"{}", &Keyring::default(), |_| false, Wall(0), SKEW);
    assert_eq!(malformed, Err(Class::Malformed));
}

#[test]
fn ver_1_these_are_the_first_classes_of_the_law_in_its_order() {
    use Class::*;
    assert_eq!(Class::ALL[..6], [Malformed, WrongRouter, Tamper, WrongTarget, NotYetValid, Stale]);
}

/// Every fault alone is seen, and is no other class.
#[test]
fn ver_1_each_fault_alone_has_its_class() {
    let base = Claim {
        hint: sample(),
        router: Some(ring()[0].window),
        source_agrees: true,
        signature_valid: true,
        subject_agrees: true,
        served: true,
    };
    let one = |change: &dyn Fn(&mut Claim)| {
        let mut claim = base.clone();
        change(&mut claim);
        screen(noon(), SKEW, &Presented::Hint(Box::new(claim))).map(|_| ())
    };
    assert_eq!(one(&|_| ()), Ok(()));
    assert_eq!(one(&|claim| claim.router = None), Err(Class::WrongRouter));
    assert_eq!(one(&|claim| claim.source_agrees = false), Err(Class::WrongRouter));
    assert_eq!(one(&|claim| claim.signature_valid = false), Err(Class::Tamper));
    assert_eq!(one(&|claim| claim.subject_agrees = false), Err(Class::WrongTarget));
    assert_eq!(one(&|claim| claim.served = false), Err(Class::WrongTarget));
}

/// The same from bytes: what is broken in them, every class below still matching too.
#[test]
fn ver_1_the_order_holds_for_bytes() {
    let late = at("2026-08-17T13:00:00Z");
    let early = at("2026-08-17T11:00:00Z");
    let text = sample_text();
    let other_target = signed_by(&replace(&text, "agent/mataya", "agent/nataya"), &router());
    let forged = signed_by(&other_target, &stranger());
    let source = format!("router:{}", id_of(&router()).hex());
    let other_source = replace(&forged, &source, &format!("router:{}", id_of(&stranger()).hex()));
    let broken = replace(&other_source, "_token\": 42", "_token\": \"42\"");
    for now in [early, late] {
        let time = if now == early { Class::NotYetValid } else { Class::Stale };
        assert_eq!(class(text.as_bytes(), now), Err(time));
        assert_eq!(class(other_target.as_bytes(), now), Err(Class::WrongTarget));
        assert_eq!(class(forged.as_bytes(), now), Err(Class::Tamper));
        assert_eq!(class(other_source.as_bytes(), now), Err(Class::WrongRouter));
        assert_eq!(class(broken.as_bytes(), now), Err(Class::Malformed));
    }
    let unserved = present(text.as_bytes(), &Keyring::from(&ring()), |_| false, noon(), SKEW);
    assert_eq!(unserved, Err(Class::WrongTarget));
}

#[test]
fn ver_1_time_is_judged_to_the_millisecond() {
    let hint = encoded(sample());
    let issued = sample().time;
    let expires = sample().expires_at;
    assert_eq!(class(&hint, issued - SKEW), Ok(sample()));
    assert_eq!(class(&hint, issued - SKEW - Millis(1)), Err(Class::NotYetValid));
    assert_eq!(class(&hint, expires - Millis(1)), Ok(sample()));
    assert_eq!(class(&hint, expires), Err(Class::Stale), "the skew forgives no expiry");
}

#[test]
fn ver_1_a_router_key_holds_within_its_window_by_our_clock() {
    let hint = encoded(sample());
    let with = |from: Wall, until: Wall| {
        let window = KeyWindow { valid_from: from, valid_until: until };
        let ring = [RouterKey { public: public(&router()), window }];
        present(&hint, &Keyring::from(&ring), |_| true, noon(), SKEW).map(|_| ())
    };
    let (before, after) = (noon() - Millis(1), noon() + Millis(1));
    assert_eq!(with(noon(), after), Ok(()));
    assert_eq!(with(after, after + Millis(1)), Err(Class::WrongRouter));
    assert_eq!(with(before, noon()), Err(Class::WrongRouter));
    assert_eq!(
        present(&hint, &Keyring::default(), |_| true, noon(), SKEW).map(|_| ()),
        Err(Class::WrongRouter)
    );
}

#[test]
fn ver_1_a_ring_of_several_keys_uses_the_one_that_is_named() {
    let window = ring()[0].window;
    let both = |first: &SigningKey, second: &SigningKey| {
        [first, second].map(|key| RouterKey { public: public(key), window })
    };
    let hint = encoded(sample());
    for ring in [both(&router(), &stranger()), both(&stranger(), &router())] {
        let ring = Keyring::from(&ring);
        assert_eq!(present(&hint, &ring, |_| true, noon(), SKEW), Ok(sample()));
        // The other key of the ring is no excuse for a wrong signature.
        let forged = UnsignedHint::new(sample()).unwrap().sign(&stranger());
        assert_eq!(present(&forged, &ring, |_| true, noon(), SKEW), Err(Class::Tamper));
    }
}

#[test]
fn ver_1_what_is_presented_is_symbols_of_the_bytes() {
    let Presented::Hint(claim) = presented(sample_text().as_bytes()) else { panic!("well-formed") };
    let expected = Claim {
        hint: sample(),
        router: Some(ring()[0].window),
        source_agrees: true,
        signature_valid: true,
        subject_agrees: true,
        served: true,
    };
    assert_eq!(*claim, expected);
    // Each symbol is of its own thing: here the target that is served is the one in the data.
    let other = signed_by(&replace(&sample_text(), "agent/mataya", "agent/nataya"), &router());
    let Presented::Hint(claim) = presented(other.as_bytes()) else { panic!("well-formed") };
    assert_eq!(*claim, Claim { subject_agrees: false, ..expected });
    assert!(matches!(presented(b"{}"), Presented::Malformed(_)));
}
