//! A submission: what a principal writes, before the server adds anything (ADM-11), and its content hash (ADM-7).
//!
//! Its form. Who may submit what is decided by `admission`. It has no principal: a `from` in it is compared with the
//! credential and otherwise ignored.

use alloc::string::{String, ToString as _};

use serde_json::{Map, Value};

use super::malformed::Malformed;
use super::members::Members;
use super::signed::by_value;
use crate::ids::{ContentHash, Form, MessageId, Principal, SchemaRef, Target, ThreadId};
use crate::json::{self, Numbers};
use crate::words::words;

/// The longest intent, in bytes.
const LONGEST_INTENT: usize = 128;
/// The longest subject, in bytes.
const LONGEST_SUBJECT: usize = 256;

words! {
    /// How much it matters to the sender; never changes the tier.
    Priority {
        /// Can wait.
        Low = "low",
        /// As usual.
        Normal = "normal",
        /// Before others.
        High = "high",
        /// Before all others.
        Urgent = "urgent",
    }
}

words! {
    /// What the sender expects back.
    ResponseExpectation {
        /// An answer.
        Reply = "reply",
        /// An answer or a recorded silence.
        SilenceOk = "silence_ok",
        /// Nothing.
        None = "none",
    }
}

/// What a principal submits for one target.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Submission {
    /// With the principal the idempotency key.
    pub id: MessageId,
    /// The thread that it belongs to.
    pub thread: ThreadId,
    /// The message that it answers.
    pub in_reply_to: Option<MessageId>,
    /// Whose inbox.
    pub target: Target,
    /// What kind of message; decides the tier.
    pub schema: SchemaRef,
    /// How much it matters to the sender.
    pub priority: Priority,
    /// What the sender wants, in a few words: 1 to 128 bytes.
    pub intent: String,
    /// What the sender expects back.
    pub response_expectation: ResponseExpectation,
    /// A headline: 1 to 256 bytes.
    pub subject: Option<String>,
    /// Any JSON value with [`Numbers::Portable`].
    pub body: Value,
    /// Whom the sender says to be; not part of the message.
    pub from: Option<Principal>,
}

const MEMBERS: [&str; 11] = [
    "id",
    "thread",
    "in_reply_to",
    "target",
    "schema",
    "priority",
    "intent",
    "response_expectation",
    "subject",
    "body",
    "from",
];

impl Submission {
    /// Reads bytes of at most `limit`.
    ///
    /// # Errors
    /// The first way in which they are not a submission; [`json::FaultKind::TooLarge`] above the limit.
    pub fn parse(bytes: &[u8], limit: usize) -> Result<Self, Malformed> {
        Self::from_value(&json::read(bytes, limit, Numbers::Portable)?)
    }

    /// Reads a value that passed the JSON door with [`Numbers::Portable`]. Absent members are absent, not null.
    ///
    /// # Errors
    /// The first way in which it is not a submission.
    pub fn from_value(value: &Value) -> Result<Self, Malformed> {
        Self::read(value).inspect_err(|_| awakener_spec::rule!(Adm11))
    }

    fn read(value: &Value) -> Result<Self, Malformed> {
        let submission = Members::of("document", value)?.only(&MEMBERS)?;
        let subject = match submission.maybe("subject") {
            Some(_) => Some(submission.bounded("subject", LONGEST_SUBJECT)?.into()),
            None => None,
        };
        Ok(Self {
            id: submission.parsed("id", Form::Uuid, MessageId::parse)?,
            thread: submission.parsed("thread", Form::Uuid, ThreadId::parse)?,
            in_reply_to: submission.maybe_parsed("in_reply_to", Form::Uuid, MessageId::parse)?,
            target: submission.parsed("target", Form::Name, Target::parse)?,
            schema: submission.parsed("schema", Form::Schema, SchemaRef::parse)?,
            priority: submission.one_of("priority", Priority::parse)?,
            intent: submission.bounded("intent", LONGEST_INTENT)?.into(),
            response_expectation: submission.one_of("response_expectation", ResponseExpectation::parse)?,
            subject,
            body: submission.value("body")?.clone(),
            from: submission.maybe_parsed("from", Form::Name, Principal::parse)?,
        })
    }

    /// Its JSON value.
    pub fn to_value(&self) -> Value {
        let mut object = self.content();
        object.insert("id".into(), self.id.to_string().into());
        if let Some(from) = &self.from {
            object.insert("from".into(), from.to_string().into());
        }
        Value::Object(object)
    }

    /// SHA-256 over the canonical form of everything but `id` and `from` (ADM-7): the `content_sha256`.
    pub fn content_hash(&self) -> ContentHash {
        awakener_spec::rule!(Adm7);
        ContentHash::of(&json::canonical(&Value::Object(self.content())))
    }

    fn content(&self) -> Map<String, Value> {
        let mut object = Map::new();
        let mut put = |name: &str, value: Value| object.insert(name.into(), value);
        put("thread", self.thread.to_string().into());
        put("target", self.target.to_string().into());
        put("schema", self.schema.to_string().into());
        put("priority", self.priority.as_str().into());
        put("intent", self.intent.clone().into());
        put("response_expectation", self.response_expectation.as_str().into());
        put("body", self.body.clone());
        if let Some(message) = &self.in_reply_to {
            put("in_reply_to", message.to_string().into());
        }
        if let Some(subject) = &self.subject {
            put("subject", subject.clone().into());
        }
        object
    }
}

by_value!(Submission);
