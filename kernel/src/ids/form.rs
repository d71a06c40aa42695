//! The error of a text that does not have the one form its type has, and the shared way in and out of text.

use core::fmt;

/// Which form was expected.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Form {
    /// A name, see [`crate::ids::NameError`] for what is wrong with it.
    Name,
    /// A UUIDv7, lower case, with hyphens (IDN-3).
    Uuid,
    /// `sha256:` and 64 lower-case hex digits (IDN-4).
    Digest,
    /// 16 bytes in base64url without padding.
    Nonce,
    /// `ed25519:` and 64 bytes in base64url without padding.
    Signature,
    /// 32 bytes in base64url without padding.
    PublicKey,
    /// An integer from 1 to 2^53-1.
    Token,
    /// An integer from 1 on.
    Seq,
    /// `name/version`, version from 1 on without leading zeros.
    Schema,
    /// An integer from 0 to 3.
    Tier,
    /// `YYYY-MM-DDTHH:MM:SS[.mmm]Z`.
    Time,
}

/// A text or number that does not have the form of its type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FormError(
    /// What was expected instead.
    pub Form,
);

impl fmt::Display for Form {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Name => "a name of 1 to 64 of a-z, 0-9, _ and -, starting with a letter or digit",
            Self::Uuid => "a lower-case UUIDv7 with hyphens",
            Self::Digest => "sha256: and 64 lower-case hex digits",
            Self::Nonce => "16 bytes in base64url without padding",
            Self::Signature => "ed25519: and 64 bytes in base64url without padding",
            Self::PublicKey => "32 bytes in base64url without padding",
            Self::Token => "an integer from 1 to 9007199254740991",
            Self::Seq => "an integer from 1 on",
            Self::Schema => "a schema such as message/1",
            Self::Tier => "a tier from 0 to 3",
            Self::Time => "a time as YYYY-MM-DDTHH:MM:SS[.mmm]Z",
        })
    }
}

impl fmt::Display for FormError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "expected {}", self.0)
    }
}

impl core::error::Error for FormError {}

/// Debug, FromStr and serde by way of `Display` and `parse`.
macro_rules! by_text {
    ($name:ident, $error:ty, $expected:literal) => {
        impl core::fmt::Debug for $name {
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                write!(f, concat!(stringify!($name), "({})"), self)
            }
        }

        impl core::str::FromStr for $name {
            type Err = $error;
            fn from_str(text: &str) -> Result<Self, Self::Err> {
                Self::parse(text)
            }
        }

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                struct Text;
                impl serde::de::Visitor<'_> for Text {
                    type Value = $name;
                    fn expecting(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                        f.write_str($expected)
                    }
                    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<$name, E> {
                        $name::parse(text).map_err(E::custom)
                    }
                }
                deserializer.deserialize_str(Text)
            }
        }
    };
}
pub(super) use by_text;
