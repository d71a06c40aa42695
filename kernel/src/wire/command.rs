//! The operator command (OPR-1): what an operator key signs.
//!
//! Its form and its signature. Scopes, the one use of its id, `not_after` and what an act means for its subject are
//! decided by `operator`.

use alloc::string::String;

use awakener_spec::Rule;
use serde_json::{Map, Value, json};
use smol_str::SmolStr;

use super::domain::Domain;
use super::malformed::Malformed;
use super::members::Members;
use super::signed::{Document, by_value};
use crate::ids::{CommandId, Form, KeyId, PlaneName};
use crate::time::Wall;

/// The longest name of an act, in bytes.
const LONGEST_ACT: usize = 64;
/// The longest reason, in bytes.
const LONGEST_REASON: usize = 1024;

/// What an operator wants done, where and until when.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct OperatorCommand {
    /// Accepted once, durably.
    pub id: CommandId,
    /// The plane that it is for.
    pub plane: PlaneName,
    /// The name of the act: 1 to 64 of `a-z`, `0-9`, `_`, `-`.
    pub act: SmolStr,
    /// What the act needs to know.
    pub subject: Map<String, Value>,
    /// What the operator believes to hold now; null if it does not matter.
    pub expected_state: Value,
    /// Why, for the audit chain: 1 to 1024 bytes.
    pub reason: String,
    /// The last instant at which it may be accepted.
    pub not_after: Wall,
    /// The key that signs.
    pub key_id: KeyId,
}

const MEMBERS: [&str; 9] =
    ["v", "id", "plane", "act", "subject", "expected_state", "reason", "not_after", "key_id"];

impl Document for OperatorCommand {
    const DOMAIN: Domain = Domain::Operator;
    const NAME: &'static str = "command";
    const RULE: Rule = Rule::Opr1;
    /// A roster is the largest subject.
    const MAX_BYTES: usize = 1 << 20;

    fn from_value(value: &Value) -> Result<Self, Malformed> {
        let command = Members::of(Self::NAME, value)?.only(&MEMBERS)?;
        command.version_1()?;
        let act = command.bounded("act", LONGEST_ACT)?;
        if !act.bytes().all(|byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'_' | b'-')) {
            return Err(Malformed::Value("act"));
        }
        Ok(Self {
            id: command.parsed("id", Form::Uuid, CommandId::parse)?,
            plane: command.parsed("plane", Form::Name, PlaneName::parse)?,
            act: SmolStr::new(act),
            subject: command.value("subject")?.as_object().ok_or(Malformed::Type("subject"))?.clone(),
            expected_state: command.value("expected_state")?.clone(),
            reason: command.bounded("reason", LONGEST_REASON)?.into(),
            not_after: command.time("not_after")?,
            key_id: command.parsed("key_id", Form::Digest, KeyId::parse)?,
        })
    }

    fn to_value(&self) -> Value {
        json!({
            "v": 1,
            "id": self.id,
            "plane": self.plane,
            "act": self.act,
            "subject": self.subject,
            "expected_state": self.expected_state,
            "reason": self.reason,
            "not_after": self.not_after.utc(),
            "key_id": self.key_id,
        })
    }

    fn key_id(&self) -> KeyId {
        self.key_id
    }
}

by_value!(OperatorCommand);
