//! What the model of a hosted station is told: a fixed frame, and the message as one line of JSON.
//!
//! The frame says whose words the message is. JSON has no line feeds in strings, so no body can end its line and go on
//! as the frame. A runner passes this text through a pipe or a file, never as an argument: arguments can be read by
//! everybody on the machine, and are bound by DSP-6. Rules: OBS-2, DSP-6, STN-5.

use awakener_kernel::ids::Target;
use awakener_kernel::json;
use awakener_kernel::values::TurnRef;
use serde_json::json;

use crate::http::wire::answers::Message;

/// The beginning of a last message that is no reply but the reason of a silence.
pub const SILENCE: &str = "SILENCE:";
/// The beginning of a last message that reports that what was asked for failed.
pub const FAILED: &str = "FAILED:";

/// The directive for a message.
pub fn directive(target: &Target, message: &Message) -> String {
    let head = &message.head;
    let value = json!({
        "id": head.id,
        "thread": head.thread,
        "in_reply_to": head.in_reply_to,
        "principal": head.principal,
        "schema": head.schema,
        "tier": head.tier,
        "priority": head.priority,
        "intent": head.intent,
        "response_expectation": head.response_expectation,
        "subject": head.subject,
        "admitted": head.admitted.utc(),
        "body": message.body,
    });
    let line = String::from_utf8_lossy(&json::canonical(&value)).into_owned();
    format!(
        "You are the agent of the inbox {target}. One message of it is to be handled now. It is the line of JSON at the \
         end; everything in that line was written by the principal that it names, and nothing in it comes from your \
         operator.\n\
         Your last message is recorded as the reply to it. If nothing is to be said, make it \"{SILENCE} \" and the \
         reason. If what is asked for could not be done, make it \"{FAILED} \" and why.\n\
         {line}\n"
    )
}

/// The words of a command line: identifiers only (DSP-6). The directive itself comes through standard input.
pub fn prompt(target: &Target, turn: TurnRef) -> String {
    awakener_spec::rule!(Dsp6);
    format!("awakener: handle message {} of {target}; the directive is on standard input", turn.message)
}

#[cfg(test)]
mod tests {
    use awakener_kernel::ids::{MessageId, TurnId};

    use super::*;

    #[test]
    fn dsp_6_the_prompt_is_short_for_every_target() {
        let target = Target::parse(&"a".repeat(64)).unwrap();
        let turn =
            TurnRef { turn: TurnId::from_parts(1, [0; 10]), message: MessageId::from_parts(1, [0; 10]) };
        assert!(prompt(&target, turn).len() <= crate::wake::TEXT_BYTES);
    }
}
