//! The ACK statement: the only thing that closes a witness (ACK-3).
//!
//! Its form and its signature. Whether the key is registered for (target, by), whether the time is in bounds and the
//! alert outstanding is decided by the mailbox.

use awakener_spec::Rule;
use serde_json::{Value, json};

use super::domain::Domain;
use super::malformed::Malformed;
use super::members::Members;
use super::signed::{Document, by_value};
use crate::ids::{ContentHash, Form, KeyId, MessageId, Target};
use crate::time::Wall;
use crate::values::{Ack, AckOutcome, By};

/// What an ACK says. Its times have the textual form of SIG-4 in JSON.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AckStatement {
    /// Which alert.
    pub message_id: MessageId,
    /// The content that was read (ADM-7).
    pub content_sha256: ContentHash,
    /// Whose inbox.
    pub target: Target,
    /// What became of it.
    pub outcome: AckOutcome,
    /// In which role.
    pub by: By,
    /// The key that signs.
    pub key_id: KeyId,
    /// When, by the clock of who signs.
    pub time: Wall,
}

const MEMBERS: [&str; 8] = ["v", "message_id", "content_sha256", "target", "outcome", "by", "key_id", "time"];

impl Document for AckStatement {
    const DOMAIN: Domain = Domain::Ack;
    const NAME: &'static str = "statement";
    const RULE: Rule = Rule::Ack3;
    const MAX_BYTES: usize = 4096;

    fn from_value(value: &Value) -> Result<Self, Malformed> {
        let statement = Members::of(Self::NAME, value)?.only(&MEMBERS)?;
        statement.version_1()?;
        Ok(Self {
            message_id: statement.parsed("message_id", Form::Uuid, MessageId::parse)?,
            content_sha256: statement.parsed("content_sha256", Form::Digest, ContentHash::parse)?,
            target: statement.parsed("target", Form::Name, Target::parse)?,
            outcome: statement
                .one_of("outcome", AckOutcome::parse)
                .inspect_err(|_| awakener_spec::rule!(Ack4))?,
            by: statement.one_of("by", By::parse)?,
            key_id: statement.parsed("key_id", Form::Digest, KeyId::parse)?,
            time: statement.time("time")?,
        })
    }

    fn to_value(&self) -> Value {
        json!({
            "v": 1,
            "message_id": self.message_id,
            "content_sha256": self.content_sha256,
            "target": self.target,
            "outcome": self.outcome,
            "by": self.by,
            "key_id": self.key_id,
            "time": self.time.utc(),
        })
    }

    fn key_id(&self) -> KeyId {
        self.key_id
    }
}

by_value!(AckStatement);

impl AckStatement {
    /// What a mailbox judges of it; whose inbox it names is a fact beside it.
    pub const fn said(&self) -> Ack {
        Ack {
            message: self.message_id,
            content: self.content_sha256,
            outcome: self.outcome,
            by: self.by,
            key: self.key_id,
            time: self.time,
        }
    }
}
