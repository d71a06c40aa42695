//! The output of `codex exec --json`: one event of the thread on each line.
//!
//! Complete is: `turn.completed` is the last event, its items are closed, and the agent has said something. An `error`
//! event before a `turn.completed` is a contradiction and not a success. Contract: `codex-rs/exec/src/exec_events.rs` of
//! openai/codex (read 2026-12-01). Codex does not report why its model stopped beyond these events.

use std::collections::BTreeSet;

use awakener_kernel::station::{Claim, Output, Stop};
use serde_json::Value;

use super::seen::{Seen, count};

/// Reads a whole output.
pub(super) fn read(output: &str) -> Seen {
    let mut reader = Reader::default();
    for line in output.lines().filter(|line| !line.trim().is_empty()) {
        match serde_json::from_str::<Value>(line) {
            Ok(event) => reader.event(&event),
            Err(_) => reader.broken = true,
        }
    }
    reader.end(!output.is_empty() && !output.ends_with('\n'))
}

#[derive(Default)]
struct Reader {
    seen: Seen,
    turns: u32,
    /// Items that were started and not completed.
    open: BTreeSet<String>,
    /// Agents that this one has started and that still work.
    others: bool,
    message: Option<String>,
    error: bool,
    failed_tool: bool,
    items: u32,
    begun: bool,
    /// A line that is no event.
    broken: bool,
}

impl Reader {
    fn event(&mut self, event: &Value) {
        match event.get("type").and_then(Value::as_str).unwrap_or_default() {
            "thread.started" => self.begun = true,
            "turn.started" => {
                self.turns += 1;
                self.seen.final_event = false;
            }
            "turn.completed" => {
                self.seen.final_event = true;
                self.seen.claim = Claim::Success;
                let usage = |name: &str| count(event.pointer(&format!("/usage/{name}")));
                self.seen.tokens.input = usage("input_tokens");
                self.seen.tokens.output = usage("output_tokens");
            }
            "turn.failed" => {
                self.seen.model_failed = true;
                self.seen.claim = Claim::Failure;
            }
            "item.started" | "item.updated" | "item.completed" => {
                self.seen.final_event = false;
                self.item(event.get("item").unwrap_or(&Value::Null), event["type"] == "item.completed");
            }
            "item.plan.delta" => {}
            // Nobody is there to answer.
            "request_user_input" => self.seen.denials += 1,
            "error" => {
                self.error = true;
                self.seen.final_event = false;
            }
            _ => self.broken = true,
        }
    }

    fn item(&mut self, item: &Value, completed: bool) {
        let text = |name: &str| item.get(name).and_then(Value::as_str).unwrap_or_default();
        let id = text("id").to_owned();
        if completed {
            self.open.remove(&id);
            self.items += 1;
        } else {
            self.open.insert(id);
        }
        match text("type") {
            "agent_message" if completed => {
                self.message = Some(text("text").to_owned());
                self.failed_tool = false;
            }
            "command_execution" | "file_change" | "mcp_tool_call" | "collab_tool_call" => {
                self.message = None;
                match text("status") {
                    "declined" => self.seen.denials += 1,
                    status => self.failed_tool = status == "failed",
                }
                let states = item.get("agents_states").and_then(Value::as_object);
                self.others = states.into_iter().flat_map(|states| states.values()).any(|state| {
                    matches!(state.get("status").and_then(Value::as_str), Some("running" | "pending_init"))
                });
            }
            "todo_list" => {
                // Open as long as the turn is; its end closes it.
                self.open.remove(text("id"));
            }
            _ => {}
        }
    }

    fn end(mut self, torn: bool) -> Seen {
        self.seen.say(self.message.as_deref());
        if self.begun {
            self.seen.turns = Some(if self.items == 0 && !self.error { 0 } else { self.turns });
        }
        self.seen.tool_failed = self.failed_tool;
        let undone = self.broken || self.others || !self.open.is_empty();
        self.seen.final_event &= !undone;
        match (self.error, self.seen.claim) {
            (true, Claim::Success) => self.seen.stop = Stop::Other,
            (true, Claim::Failure | Claim::Unsaid) => self.seen.model_failed = true,
            (false, _) if self.seen.final_event => self.seen.stop = Stop::EndOfTurn,
            (false, _) => {}
        }
        if torn {
            self.seen.output = Output::Cut;
        }
        self.seen
    }
}
