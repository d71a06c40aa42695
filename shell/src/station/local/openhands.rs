//! The output of `openhands --headless --json`: events as JSON values, one after the other, with other lines between.
//!
//! Complete is: the agent's finish action is its last one, nothing was rejected, and no error came after it. The exit
//! code is no documented contract; it is required to be 0 all the same. Two shapes are known: events of the SDK with a
//! `kind` (`openhands_cli/json_callback.py` of OpenHands/OpenHands-CLI), and lines with `type` and `action` (headless
//! mode in the documentation); both read 2026-12-01. Tokens and turns of the model are not in them.

use awakener_kernel::station::{Claim, Output, Stop};
use serde_json::Value;

use super::seen::Seen;

/// Reads a whole output.
pub(super) fn read(output: &str) -> Seen {
    let mut reader = Reader::default();
    let mut rest = output;
    let mut torn = false;
    while let Some(at) = next(rest) {
        rest = rest.get(at..).unwrap_or_default();
        let mut values = serde_json::Deserializer::from_str(rest).into_iter::<Value>();
        match values.next() {
            Some(Ok(event)) => {
                reader.event(&event);
                rest = rest.get(values.byte_offset()..).unwrap_or_default();
            }
            Some(Err(error)) => {
                torn |= error.is_eof();
                reader.broken |= !error.is_eof();
                // On with the next line.
                rest = rest.split_once('\n').map_or("", |(_, rest)| rest);
            }
            None => break,
        }
    }
    reader.end(torn)
}

/// Where the next line begins that is a value.
fn next(text: &str) -> Option<usize> {
    if text.starts_with('{') { Some(0) } else { text.find("\n{").map(|at| at + 1) }
}

#[derive(Default)]
struct Reader {
    seen: Seen,
    acts: u32,
    finish: Option<String>,
    failed_tool: bool,
    broken: bool,
}

impl Reader {
    fn event(&mut self, event: &Value) {
        let text = |path: &str| event.pointer(path).and_then(Value::as_str).unwrap_or_default();
        let kind =
            [text("/kind"), text("/type")].into_iter().find(|kind| !kind.is_empty()).unwrap_or_default();
        match kind {
            "ActionEvent" | "action" => {
                self.acts += 1;
                self.failed_tool = false;
                let finishes = text("/action/kind") == "FinishAction"
                    || text("/tool_name") == "finish"
                    || text("/action") == "finish";
                let words = ["/action/message", "/args/final_thought", "/args/message", "/message"];
                let said = words.into_iter().map(text).find(|words| !words.is_empty()).unwrap_or_default();
                self.finish = finishes.then(|| said.to_owned());
            }
            "MessageEvent" | "message" if text("/source") == "agent" => self.acts += 1,
            "AgentErrorEvent" => (self.failed_tool, self.finish) = (true, None),
            "UserRejectObservation" => self.seen.denials += 1,
            "PauseEvent" => (self.seen.stop, self.finish) = (Stop::Other, None),
            "ConversationErrorEvent" | "error" => {
                self.finish = None;
                let code = format!("{} {}", text("/code"), text("/message"));
                if code.contains("MaxIterations") {
                    self.seen.stop = Stop::Length;
                } else {
                    self.seen.model_failed = true;
                    self.seen.claim = Claim::Failure;
                }
            }
            // What the agent sees, and what changes around it.
            _ => {}
        }
    }

    fn end(mut self, torn: bool) -> Seen {
        self.seen.turns = (self.acts == 0 && !self.seen.model_failed).then_some(0);
        self.seen.tool_failed = self.failed_tool;
        self.seen.final_event = self.finish.is_some() && !self.broken;
        self.seen.say(self.finish.as_deref());
        if self.finish.is_some() {
            self.seen.claim = Claim::Success;
            if self.seen.stop == Stop::Unsaid {
                self.seen.stop = Stop::EndOfTurn;
            }
        }
        if torn {
            self.seen.output = Output::Cut;
        }
        self.seen
    }
}
