//! The line that stands before everything that is signed (IDN-5), so that a signature for one purpose is never one
//! for another.

use alloc::vec::Vec;

/// What a signature is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Domain {
    /// Hints.
    Wake,
    /// ACK statements.
    Ack,
    /// Operator commands, rosters and rotations among them.
    Operator,
    /// Signed tree heads of an audit chain.
    Checkpoint,
    /// Records of an audit chain.
    Audit,
}

impl Domain {
    /// All of them.
    pub const ALL: [Self; 5] = [Self::Wake, Self::Ack, Self::Operator, Self::Checkpoint, Self::Audit];

    /// The line, with its line feed.
    pub const fn line(self) -> &'static str {
        match self {
            Self::Wake => "awakener-wake-v1\n",
            Self::Ack => "awakener-ack-v1\n",
            Self::Operator => "awakener-operator-v1\n",
            Self::Checkpoint => "awakener-checkpoint-v1\n",
            Self::Audit => "awakener-audit-v1\n",
        }
    }

    /// The line and the content, ready to be signed, verified or hashed.
    pub fn frame(self, content: &[u8]) -> SigningBytes {
        awakener_spec::rule!(Idn5);
        SigningBytes([self.line().as_bytes(), content].concat())
    }

    /// The same for a content in parts.
    pub(super) fn frame_parts(self, content: &[&str]) -> SigningBytes {
        awakener_spec::rule!(Idn5);
        let length = content.iter().fold(self.line().len(), |sum, part| sum.saturating_add(part.len()));
        let mut bytes = Vec::with_capacity(length);
        bytes.extend_from_slice(self.line().as_bytes());
        content.iter().for_each(|part| bytes.extend_from_slice(part.as_bytes()));
        SigningBytes(bytes)
    }
}

/// Bytes under a domain line. Only [`Domain::frame`] makes them and only they can be signed.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SigningBytes(Vec<u8>);

impl SigningBytes {
    /// The line and the content.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }
}
