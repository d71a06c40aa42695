//! Keys, a hint as the design shows it, and the small tools of these tests.

use awakener_kernel::ids::{KeyId, MessageId, Nonce, SignatureBytes, Target, Token, WakeId};
use awakener_kernel::time::Wall;
use awakener_kernel::wire::{self, Hint, ParsedHint, PublicKey, RouterKey, SigningKey, UnsignedHint};
use awakener_kernel::wire::{KeyWindow, Keyring, Presented};

/// The key of the router in these tests.
pub fn router() -> SigningKey {
    SigningKey::from_bytes(&[7; 32])
}

/// A key that nobody knows.
pub fn stranger() -> SigningKey {
    SigningKey::from_bytes(&[8; 32])
}

pub fn public(key: &SigningKey) -> PublicKey {
    wire::public_key(key)
}

pub fn id_of(key: &SigningKey) -> KeyId {
    public(key).key_id()
}

pub fn at(text: &str) -> Wall {
    Wall::parse_utc(text).unwrap()
}

pub fn target(name: &str) -> Target {
    Target::parse(name).unwrap()
}

/// What the hint of the design says, with its placeholders filled in.
pub fn sample() -> Hint {
    Hint {
        id: WakeId::parse("019f0a1b-2c3d-7e4f-8a5b-6c7d8e9fa0b1").unwrap(),
        message_id: MessageId::parse("019f0a1b-2c00-7abc-9def-0123456789ab").unwrap(),
        target: target("mataya-dyad"),
        nonce: Nonce([0xfb; 16]),
        freshness_token: Token::from_u64(42).unwrap(),
        time: at("2026-08-17T12:00:00Z"),
        expires_at: at("2026-08-17T12:00:30Z"),
        router_key_id: id_of(&router()),
    }
}

/// The same as a person might write it: members in the order of the design, with spaces, signed.
pub fn sample_text() -> String {
    let hint = sample();
    let unsigned = format!(
        r#"{{
    "specversion": "1.0",
    "type": "org.ming-qiao.agent.wake.requested.v1",
    "id": "019f0a1b-2c3d-7e4f-8a5b-6c7d8e9fa0b1",
    "source": "urn:ming-qiao:router:{key}",
    "subject": "agent/mataya-dyad",
    "time": "2026-08-17T12:00:00Z",
    "datacontenttype": "application/json",
    "data": {{
        "message_id": "019f0a1b-2c00-7abc-9def-0123456789ab",
        "target": "mataya-dyad",
        "nonce": "-_v7-_v7-_v7-_v7-_v7-w",
        "freshness_token": 42,
        "expires_at": "2026-08-17T12:00:30Z",
        "router_key_id": "sha256:{key}",
        "signature": "{signature}"
    }}
}}"#,
        key = hint.router_key_id.hex(),
        signature = SignatureBytes([0; 64]),
    );
    signed_by(&unsigned, &router())
}

/// Puts a key's signature in the place of the one that a hint has.
pub fn signed_by(text: &str, key: &SigningKey) -> String {
    let parsed = ParsedHint::parse(text.as_bytes()).unwrap();
    replace(text, &parsed.signature.to_string(), &wire::sign(key, parsed.signing_bytes()).to_string())
}

/// Replaces the only occurrence; a test that would change nothing, or too much, fails.
pub fn replace(text: &str, from: &str, to: &str) -> String {
    assert_eq!(text.matches(from).count(), 1, "{from:?} must occur once in {text}");
    text.replace(from, to)
}

pub fn encoded(hint: Hint) -> Vec<u8> {
    UnsignedHint::new(hint).unwrap().sign(&router())
}

/// A ring with the router alone, valid all day.
pub fn ring() -> Vec<RouterKey> {
    let window =
        KeyWindow { valid_from: at("2026-08-17T00:00:00Z"), valid_until: at("2026-08-18T00:00:00Z") };
    vec![RouterKey { public: public(&router()), window }]
}

pub fn presented(bytes: &[u8]) -> Presented {
    Presented::of(bytes, &Keyring::from(&ring()), |name| *name == target("mataya-dyad"))
}
