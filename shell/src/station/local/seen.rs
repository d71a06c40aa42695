//! What was seen of a turn in the output of a runtime, before the end of its process is added to it.

use awakener_kernel::station::{Claim, Output, Stop, Tokens};

/// The facts of an output. What it does not say is not assumed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seen {
    /// What the runtime says of its own success.
    pub claim: Claim,
    /// Why the model stopped writing.
    pub stop: Stop,
    /// What came out.
    pub output: Output,
    /// Whether the run was closed as its contract says.
    pub final_event: bool,
    /// The model or its API failed.
    pub model_failed: bool,
    /// The turn ended on a tool that failed.
    pub tool_failed: bool,
    /// Permissions that were denied, and questions that nobody was there to answer.
    pub denials: u32,
    /// Turns of the model; `None` = the runtime does not count them.
    pub turns: Option<u32>,
    /// Tokens.
    pub tokens: Tokens,
    /// Its last message.
    pub text: Option<String>,
}

impl Default for Seen {
    fn default() -> Self {
        Self {
            claim: Claim::Unsaid,
            stop: Stop::Unsaid,
            output: Output::Empty,
            final_event: false,
            model_failed: false,
            tool_failed: false,
            denials: 0,
            turns: None,
            tokens: Tokens::default(),
            text: None,
        }
    }
}

impl Seen {
    /// Takes a text as the last message; white space alone is none.
    pub(super) fn say(&mut self, text: Option<&str>) {
        self.text = text.map(str::trim).filter(|text| !text.is_empty()).map(str::to_owned);
        self.output = if self.text.is_some() { Output::Whole } else { Output::Empty };
    }
}

/// A count of the output; more than 32 bits hold is as much as they hold.
pub(super) fn count(value: Option<&serde_json::Value>) -> Option<u32> {
    value.and_then(serde_json::Value::as_u64).map(|count| u32::try_from(count).unwrap_or(u32::MAX))
}
