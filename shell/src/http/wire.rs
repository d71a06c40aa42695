//! What goes over HTTP as Rust types: bodies of requests and of answers, one place for server, client and OpenAPI.
//!
//! Names and times have the one textual form of the contract (IDN-2, IDN-3, SIG-4). A body that is read here has
//! passed the strict JSON door before (`door`). Not here: signed documents and submissions, whose form is
//! the kernel's. Rules: ADM-11, INB-6, AUD-6.

pub mod agents;
pub mod answers;
pub mod registry;
pub mod requests;
pub mod stations;
pub mod status;

/// An instant as the text of SIG-4.
pub mod utc {
    use std::borrow::Cow;

    use awakener_kernel::time::Wall;
    use serde::{Deserialize, Deserializer, Serializer, de};

    /// Writes the text.
    ///
    /// # Errors
    /// The serializer's own.
    pub fn serialize<S: Serializer>(wall: &Wall, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&wall.utc())
    }

    /// Reads the text.
    ///
    /// # Errors
    /// If it is not the one form of a time.
    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Wall, D::Error> {
        let text = Cow::<'de, str>::deserialize(deserializer)?;
        Wall::parse_utc(&text).map_err(de::Error::custom)
    }
}

/// The version of every body and every answer; any other is refused.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct V1;

impl serde::Serialize for V1 {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_u8(1)
    }
}

impl<'de> serde::Deserialize<'de> for V1 {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match u64::deserialize(deserializer)? {
            1 => Ok(Self),
            other => Err(serde::de::Error::custom(format_args!("v is {other}, must be 1"))),
        }
    }
}
