//! The few identities that the worlds know, made of small numbers.

use awakener_kernel::ids::{
    ContentHash, DaemonName, Holder, KeyId, MessageId, Nonce, Principal, SchemaRef, Tier, TurnId, WakeId,
};

/// Message number `n`.
pub const fn message(n: u8) -> MessageId {
    MessageId::from_u128(n as u128)
}

/// The number of a message.
pub const fn message_number(message: MessageId) -> u8 {
    message.as_bytes()[15]
}

/// Its content.
pub const fn content(n: u8) -> ContentHash {
    ContentHash([n; 32])
}

/// Wake number `n`.
pub const fn wake(n: u8) -> WakeId {
    WakeId::from_u128(n as u128)
}

/// Its nonce.
pub const fn nonce(n: u8) -> Nonce {
    Nonce([n; 16])
}

/// The number of a wake.
pub const fn wake_number(wake: WakeId) -> u8 {
    wake.as_bytes()[15]
}

/// Turn number `n`.
pub const fn turn(n: u8) -> TurnId {
    TurnId::from_u128(n as u128)
}

/// The only key of its kind.
pub const fn key() -> KeyId {
    KeyId([7; 32])
}

/// The only sender.
pub fn sender() -> Principal {
    Principal::parse("s").expect("a legal name")
}

/// Holder number `n`.
pub fn holder(n: u8) -> Holder {
    Holder::parse(["h0", "h1"][usize::from(n)]).expect("a legal name")
}

/// Daemon number `n`.
pub fn daemon(n: u8) -> DaemonName {
    DaemonName::parse(["d0", "d1"][usize::from(n)]).expect("a legal name")
}

/// The schema of a tier.
pub fn schema(tier: Tier) -> SchemaRef {
    let name = match tier {
        Tier::Zero => "interrupt-alert",
        Tier::One => "directive",
        Tier::Two => "message",
        Tier::Three => "observation",
    };
    SchemaRef::new(name, 1).expect("a legal schema")
}
