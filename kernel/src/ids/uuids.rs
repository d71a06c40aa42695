//! Ids of things (IDN-3): UUIDv7 in one spelling. The time inside is what the maker claimed, not a trusted time.

use core::fmt;

use uuid::{Builder, Uuid, Variant};

use super::form::{Form, FormError, by_text};

fn parse(text: &str) -> Result<Uuid, FormError> {
    let wrong = FormError(Form::Uuid);
    // The crate also reads upper case, braces, URNs and the form without hyphens: writing it back shows them.
    let uuid = Uuid::try_parse(text).map_err(|_| wrong)?;
    let mut again = Uuid::encode_buffer();
    let same = uuid.hyphenated().encode_lower(&mut again) == text;
    let seven = uuid.get_version_num() == 7 && uuid.get_variant() == Variant::RFC4122;
    if same && seven {
        Ok(uuid)
    } else {
        awakener_spec::rule!(Idn3);
        Err(wrong)
    }
}

macro_rules! uuid7 {
    ($(#[$doc:meta])* $name:ident, $expected:literal) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(Uuid);

        impl $name {
            /// Reads a lower-case UUIDv7 with hyphens.
            ///
            /// # Errors
            /// [`Form::Uuid`] for every other version, variant or spelling.
            pub fn parse(text: &str) -> Result<Self, FormError> {
                parse(text).map(Self)
            }

            /// Makes an id from a time in milliseconds since 1970 (its lower 48 bits) and chance drawn by the caller.
            pub const fn from_parts(unix_ms: u64, rand: [u8; 10]) -> Self {
                Self(Builder::from_unix_timestamp_millis(unix_ms, &rand).into_uuid())
            }

            /// For models and tests, which count ids: any number, without the bits that make a UUIDv7.
            pub const fn from_u128(number: u128) -> Self {
                Self(Uuid::from_u128(number))
            }

            /// The milliseconds since 1970 that the id claims.
            pub const fn unix_ms(self) -> u64 {
                let (high, _) = self.0.as_u64_pair();
                high >> 16
            }

            /// The 16 bytes, for a key column.
            pub const fn as_bytes(&self) -> &[u8; 16] {
                self.0.as_bytes()
            }

            /// Back from the 16 bytes of [`Self::as_bytes`].
            ///
            /// # Errors
            /// [`Form::Uuid`] if they are not a UUIDv7.
            pub fn from_bytes(bytes: [u8; 16]) -> Result<Self, FormError> {
                let uuid = Uuid::from_bytes(bytes);
                let seven = uuid.get_version_num() == 7 && uuid.get_variant() == Variant::RFC4122;
                if seven { Ok(Self(uuid)) } else { Err(FormError(Form::Uuid)) }
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::LowerHex::fmt(self.0.as_hyphenated(), f)
            }
        }

        by_text!($name, FormError, $expected);
    };
}

uuid7! {
    /// A message; with its principal the idempotency key of a submission.
    MessageId, "the UUIDv7 of a message"
}
uuid7! {
    /// A thread of messages.
    ThreadId, "the UUIDv7 of a thread"
}
uuid7! {
    /// One minted hint.
    WakeId, "the UUIDv7 of a wake"
}
uuid7! {
    /// One run of a model on one claimed piece of work.
    TurnId, "the UUIDv7 of a turn"
}
uuid7! {
    /// One lease on claimed messages.
    LeaseId, "the UUIDv7 of a lease"
}
uuid7! {
    /// One operator command; accepted once.
    CommandId, "the UUIDv7 of an operator command"
}
