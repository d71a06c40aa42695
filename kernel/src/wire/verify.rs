//! Ed25519 (RFC 8032), strict, by ed25519-dalek (IDN-5).
//!
//! Strict: a signature has one encoding, and neither the key nor the commitment may be of small order. Keys come in
//! as bytes; whose they are and when they hold is decided by the caller. A key that verifies often is unpacked once
//! ([`Unpacked`]); what is accepted does not depend on that.

use core::fmt;

pub use ed25519_dalek::SigningKey;
use ed25519_dalek::{Signature, Signer as _, VerifyingKey};

use super::domain::SigningBytes;
use crate::ids::{PublicKey, SignatureBytes};

/// The signature does not belong to these bytes and this key, or the key is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BadSignature;

impl fmt::Display for BadSignature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the signature does not verify")
    }
}

impl core::error::Error for BadSignature {}

/// The public half of a signing key.
pub fn public_key(key: &SigningKey) -> PublicKey {
    PublicKey(key.verifying_key().to_bytes())
}

/// Signs what stands under a domain line.
pub fn sign(key: &SigningKey, bytes: &SigningBytes) -> SignatureBytes {
    SignatureBytes(key.sign(bytes.as_bytes()).to_bytes())
}

/// Verifies what stands under a domain line.
///
/// # Errors
/// [`BadSignature`], whatever the reason.
pub fn verify(key: &PublicKey, bytes: &SigningBytes, signature: &SignatureBytes) -> Result<(), BadSignature> {
    verify_raw(key, bytes.as_bytes(), signature)
}

/// Verifies bytes as they are, without a domain line: for public test vectors. Everything of ours goes through
/// [`verify`].
///
/// # Errors
/// [`BadSignature`], whatever the reason.
pub fn verify_raw(key: &PublicKey, message: &[u8], signature: &SignatureBytes) -> Result<(), BadSignature> {
    Unpacked::of(key).verify_raw(message, signature)
}

/// A public key as the point of the curve that its bytes stand for; finding that point costs a tenth of a
/// verification. Bytes that stand for none are a key that verifies nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unpacked(Option<VerifyingKey>);

impl Unpacked {
    /// Unpacks a key.
    pub fn of(key: &PublicKey) -> Self {
        Self(VerifyingKey::from_bytes(&key.0).ok())
    }

    /// As [`verify`].
    ///
    /// # Errors
    /// [`BadSignature`], whatever the reason.
    pub fn verify(&self, bytes: &SigningBytes, signature: &SignatureBytes) -> Result<(), BadSignature> {
        self.verify_raw(bytes.as_bytes(), signature)
    }

    fn verify_raw(&self, message: &[u8], signature: &SignatureBytes) -> Result<(), BadSignature> {
        let key = self.0.as_ref().ok_or(BadSignature)?;
        key.verify_strict(message, &Signature::from_bytes(&signature.0)).map_err(|_| BadSignature)
    }
}
