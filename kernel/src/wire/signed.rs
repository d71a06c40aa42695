//! A document with its signature: `{"<name>": {…}, "signature": "ed25519:…"}`.
//!
//! One implementation for ACKs, operator commands and checkpoints. The signature covers the document as it was
//! received, in canonical form under the domain line of its kind (IDN-5). Whether the key may say what it says is
//! decided by whoever holds the registered keys.

use alloc::string::ToString as _;
use alloc::vec::Vec;

use awakener_spec::Rule;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use serde_json::{Map, Value};

use super::domain::{Domain, SigningBytes};
use super::malformed::Malformed;
use super::members::Members;
use super::verify::{self, BadSignature, SigningKey};
use crate::ids::{Form, KeyId, PublicKey, SignatureBytes};
use crate::json::{self, Numbers};

/// A kind of document that is signed.
pub trait Document: Sized {
    /// The line that its signatures cover.
    const DOMAIN: Domain;
    /// The member of the envelope that holds it.
    const NAME: &'static str;
    /// The most bytes of an envelope with one.
    const MAX_BYTES: usize;
    /// The rule that fixes its form and its signature.
    const RULE: Rule;

    /// Reads its JSON value, strictly.
    ///
    /// # Errors
    /// The first way in which the value is not such a document.
    fn from_value(value: &Value) -> Result<Self, Malformed>;

    /// Its JSON value.
    fn to_value(&self) -> Value;

    /// The key that it says it is signed with.
    fn key_id(&self) -> KeyId;
}

/// A document and a signature that may or may not be one for it: see [`Signed::verify`].
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Signed<D> {
    document: D,
    received: Value,
    signature: SignatureBytes,
}

impl<D: Document> Signed<D> {
    /// Signs a document. The key must be the one that the document names, else it never verifies.
    pub fn sign(document: D, key: &SigningKey) -> Self {
        let received = document.to_value();
        let signature = verify::sign(key, &frame::<D>(&received));
        Self { document, received, signature }
    }

    /// Reads an envelope from bytes.
    ///
    /// # Errors
    /// The first way in which they are not such an envelope.
    pub fn parse(bytes: &[u8]) -> Result<Self, Malformed> {
        Self::from_value(&json::read(bytes, D::MAX_BYTES, Numbers::Integers)?)
    }

    /// Reads an envelope from a value that passed the JSON door with [`Numbers::Integers`].
    ///
    /// # Errors
    /// The first way in which it is not such an envelope.
    pub fn from_value(value: &Value) -> Result<Self, Malformed> {
        let envelope = Members::of("document", value)?.only(&[D::NAME, "signature"])?;
        let received = envelope.value(D::NAME)?;
        Ok(Self {
            document: D::from_value(received)?,
            signature: envelope.parsed("signature", Form::Signature, SignatureBytes::parse)?,
            received: received.clone(),
        })
    }

    /// The document, whether or not the signature holds.
    pub fn document(&self) -> &D {
        &self.document
    }

    /// The signature that came with it.
    pub fn signature(&self) -> &SignatureBytes {
        &self.signature
    }

    /// What the signature must cover.
    pub fn signing_bytes(&self) -> SigningBytes {
        frame::<D>(&self.received)
    }

    /// Whether this key is the one that the document names and made the signature.
    ///
    /// # Errors
    /// [`BadSignature`] if it is another key or the signature is wrong.
    pub fn verify(&self, key: &PublicKey) -> Result<&D, BadSignature> {
        let verdict = if key.key_id() == self.document.key_id() {
            verify::verify(key, &self.signing_bytes(), &self.signature)
        } else {
            Err(BadSignature)
        };
        awakener_spec::mark(D::RULE);
        verdict.map(|()| &self.document)
    }

    /// The envelope as a value; the document in it is as it was received.
    pub fn to_value(&self) -> Value {
        let mut envelope = Map::new();
        envelope.insert(D::NAME.into(), self.received.clone());
        envelope.insert("signature".into(), self.signature.to_string().into());
        Value::Object(envelope)
    }

    /// The envelope in canonical form.
    pub fn encode(&self) -> Vec<u8> {
        json::canonical(&self.to_value())
    }
}

fn frame<D: Document>(received: &Value) -> SigningBytes {
    D::DOMAIN.frame(&json::canonical(received))
}

impl<D: Document> Serialize for Signed<D> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.to_value().serialize(serializer)
    }
}

impl<'de, D: Document> Deserialize<'de> for Signed<D> {
    fn deserialize<E: Deserializer<'de>>(deserializer: E) -> Result<Self, E::Error> {
        Self::from_value(&Value::deserialize(deserializer)?).map_err(de::Error::custom)
    }
}

/// serde for a type whose JSON is written by hand, so that it has no second form. For our own records: bytes from
/// outside come in through the JSON door, which serde alone does not replace.
macro_rules! by_value {
    ($name:ident) => {
        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                self.to_value().serialize(serializer)
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let value = serde_json::Value::deserialize(deserializer)?;
                Self::from_value(&value).map_err(serde::de::Error::custom)
            }
        }
    };
}
pub(super) use by_value;
