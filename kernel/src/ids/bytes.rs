//! Values that are a fixed number of bytes, each with one textual form (IDN-4, SIG-4).
//!
//! Not secret: no private key has a type here.

use alloc::string::String;
use core::fmt;

use base64::Engine as _;
// This engine refuses padding and non-zero spare bits when it reads.
use base64::engine::general_purpose::URL_SAFE_NO_PAD as BASE64URL;
use sha2::{Digest as _, Sha256};

use super::form::{Form, FormError, by_text};

fn read_base64<const N: usize>(text: &str) -> Option<[u8; N]> {
    BASE64URL.decode(text).ok()?.try_into().ok()
}

fn write_base64(bytes: &[u8]) -> String {
    BASE64URL.encode(bytes)
}

fn read_hex(text: &str) -> Option<[u8; 32]> {
    let digits = text.as_bytes();
    let mut out = [0; 32];
    if digits.len() != 64 {
        return None;
    }
    for (byte, pair) in out.iter_mut().zip(digits.chunks_exact(2)) {
        let [high, low] = *pair else { return None };
        *byte = nibble(high)? << 4 | nibble(low)?;
    }
    Some(out)
}

fn nibble(digit: u8) -> Option<u8> {
    match digit {
        b'0'..=b'9' => Some(digit - b'0'),
        b'a'..=b'f' => Some(digit - b'a' + 10),
        _ => None,
    }
}

macro_rules! bytes {
    ($(#[$doc:meta])* $name:ident, $n:literal, $form:expr, $expected:literal, $read:expr, $write:expr) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(
            /// The raw bytes.
            pub [u8; $n],
        );

        impl $name {
            /// Reads the one textual form.
            ///
            /// # Errors
            /// The form that was expected.
            pub fn parse(text: &str) -> Result<Self, FormError> {
                let read: fn(&str) -> Option<[u8; $n]> = $read;
                read(text).map(Self).ok_or(FormError($form))
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                let write: fn(&[u8; $n], &mut fmt::Formatter<'_>) -> fmt::Result = $write;
                write(&self.0, f)
            }
        }

        by_text!($name, FormError, $expected);
    };
}

fn write_digest(bytes: &[u8; 32], f: &mut fmt::Formatter<'_>) -> fmt::Result {
    f.write_str("sha256:")?;
    write_hex(bytes, f)
}

fn write_hex(bytes: &[u8; 32], f: &mut fmt::Formatter<'_>) -> fmt::Result {
    bytes.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
}

bytes! {
    /// The id of a public key: SHA-256 of its 32 raw bytes, written `sha256:` + 64 hex digits (IDN-4).
    KeyId, 32, Form::Digest, "a key id", |text| read_hex(text.strip_prefix("sha256:")?), write_digest
}
bytes! {
    /// SHA-256 of some content, written `sha256:` + 64 hex digits; the `content_sha256` of a message (ADM-7).
    ContentHash, 32, Form::Digest, "a SHA-256", |text| read_hex(text.strip_prefix("sha256:")?), write_digest
}
bytes! {
    /// The 128 random bits of a hint, in base64url without padding.
    Nonce, 16, Form::Nonce, "a nonce", |text| read_base64(text), |bytes, f| f.write_str(&write_base64(bytes))
}
bytes! {
    /// An Ed25519 signature, written `ed25519:` + base64url without padding.
    SignatureBytes, 64, Form::Signature, "an Ed25519 signature",
    |text| read_base64(text.strip_prefix("ed25519:")?),
    |bytes, f| write!(f, "ed25519:{}", write_base64(bytes))
}
bytes! {
    /// An Ed25519 public key, in base64url without padding. Whether it is a point of the curve shows at verification.
    PublicKey, 32, Form::PublicKey, "an Ed25519 public key",
    |text| read_base64(text), |bytes, f| f.write_str(&write_base64(bytes))
}

impl KeyId {
    /// The id of a raw public key (IDN-4).
    pub fn of(public_key: &[u8; 32]) -> Self {
        awakener_spec::rule!(Idn4);
        Self(Sha256::digest(public_key).into())
    }

    /// The 64 hex digits alone, as they stand in the source of a hint (SIG-1).
    pub fn hex(&self) -> impl fmt::Display {
        Hex(self.0)
    }

    /// Reads the 64 hex digits alone.
    ///
    /// # Errors
    /// [`Form::Digest`] if they are not exactly that.
    pub fn parse_hex(text: &str) -> Result<Self, FormError> {
        read_hex(text).map(Self).ok_or(FormError(Form::Digest))
    }
}

struct Hex([u8; 32]);

impl fmt::Display for Hex {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_hex(&self.0, f)
    }
}

impl ContentHash {
    /// SHA-256 of bytes.
    pub fn of(bytes: &[u8]) -> Self {
        Self(Sha256::digest(bytes).into())
    }
}

impl PublicKey {
    /// The id of this key (IDN-4).
    pub fn key_id(&self) -> KeyId {
        KeyId::of(&self.0)
    }
}
