//! The checkpoint of an audit chain (AUD-3): a tree head, its size and a time, signed by the audit key.
//!
//! Its form, its signature, and what a chain is to one that somebody kept; the tree is made and proved elsewhere.

use awakener_spec::Rule;
use serde_json::{Value, json};

use super::domain::Domain;
use super::malformed::Malformed;
use super::members::Members;
use super::signed::{Document, by_value};
use crate::audit::Comparison;
use crate::ids::{ContentHash, Form, KeyId, MAX_INTEGER, PlaneName};
use crate::time::Wall;

/// What a checkpoint says.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Checkpoint {
    /// Whose chain.
    pub plane: PlaneName,
    /// How many records the tree covers, from 0 to 2^53-1.
    pub size: u64,
    /// The tree head (RFC 9162) over the hashes of these records.
    pub head: ContentHash,
    /// When it was signed.
    pub time: Wall,
    /// The key that signs.
    pub key_id: KeyId,
}

impl Checkpoint {
    /// Compares the chain of `plane` with this checkpoint: `size` is its size now, `head_at` the tree head over the
    /// hashes of its first [`Checkpoint::size`] records, `None` if it has fewer. Says nothing of the signature.
    pub fn compare(&self, plane: &PlaneName, size: u64, head_at: Option<&ContentHash>) -> Comparison {
        awakener_spec::rule!(Aud3);
        if *plane != self.plane {
            return Comparison::Foreign;
        }
        match head_at {
            None => Comparison::Truncated,
            Some(_) if size < self.size => Comparison::Truncated,
            Some(head) if *head == self.head => Comparison::Extends,
            Some(_) => Comparison::Differs,
        }
    }
}

const MEMBERS: [&str; 6] = ["v", "plane", "size", "head", "time", "key_id"];

impl Document for Checkpoint {
    const DOMAIN: Domain = Domain::Checkpoint;
    const NAME: &'static str = "checkpoint";
    const RULE: Rule = Rule::Aud3;
    const MAX_BYTES: usize = 4096;

    fn from_value(value: &Value) -> Result<Self, Malformed> {
        let checkpoint = Members::of(Self::NAME, value)?.only(&MEMBERS)?;
        checkpoint.version_1()?;
        let size = checkpoint.integer("size")?;
        if size > MAX_INTEGER {
            return Err(Malformed::Value("size"));
        }
        Ok(Self {
            plane: checkpoint.parsed("plane", Form::Name, PlaneName::parse)?,
            size,
            head: checkpoint.parsed("head", Form::Digest, ContentHash::parse)?,
            time: checkpoint.time("time")?,
            key_id: checkpoint.parsed("key_id", Form::Digest, KeyId::parse)?,
        })
    }

    fn to_value(&self) -> Value {
        json!({
            "v": 1,
            "plane": self.plane,
            "size": self.size,
            "head": self.head,
            "time": self.time.utc(),
            "key_id": self.key_id,
        })
    }

    fn key_id(&self) -> KeyId {
        self.key_id
    }
}

by_value!(Checkpoint);
