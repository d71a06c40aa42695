//! The output of `gemini -p … --output-format json`: one JSON object at the end.
//!
//! Complete is: the object is whole, has a response, no `error` and no `warnings`, and the model was asked at least once
//! and answered. Contract: the headless mode reference and `packages/core/src/output/types.ts` of
//! google-gemini/gemini-cli (read 2026-12-01). Gemini does not report the model's own stop reason in this format.

use awakener_kernel::station::{Claim, Output, Stop};
use serde_json::{Map, Value};

use super::seen::{Seen, count};

/// Exit code: the input was refused, and no turn took place.
const INPUT: i32 = 42;
/// Exit code: as many turns as allowed, and not done.
const TURNS: i32 = 53;

/// Reads a whole output; `code` is the exit code, if there is one.
pub(super) fn read(output: &str, code: Option<i32>) -> Seen {
    let mut seen = Seen::default();
    match code {
        Some(INPUT) => seen.turns = Some(0),
        Some(TURNS) => seen.stop = Stop::Length,
        Some(_) | None => {}
    }
    let text = output.trim();
    let object = match serde_json::from_str::<Value>(text) {
        Ok(Value::Object(object)) => object,
        Ok(_) => return seen,
        Err(error) => {
            if error.is_eof() && text.starts_with('{') {
                seen.output = Output::Cut;
            }
            return seen;
        }
    };
    seen.say(object.get("response").and_then(Value::as_str));
    stats(&mut seen, object.get("stats").unwrap_or(&Value::Null));
    let error = object.get("error").filter(|error| !error.is_null());
    let warned =
        object.get("warnings").and_then(Value::as_array).is_some_and(|warnings| !warnings.is_empty());
    match error {
        Some(error) => {
            seen.claim = Claim::Failure;
            match error.get("type").and_then(Value::as_str).unwrap_or_default() {
                "FatalTurnLimitedError" => seen.stop = Stop::Length,
                "FatalToolExecutionError" => seen.tool_failed = true,
                "FatalInputError" => seen.turns = Some(0),
                _ => seen.model_failed = true,
            }
        }
        None => {
            seen.claim = Claim::Success;
            seen.final_event = true;
            if seen.stop == Stop::Unsaid {
                seen.stop = if warned { Stop::Other } else { Stop::EndOfTurn };
            }
        }
    }
    seen
}

/// Requests, tokens and decisions, over all models and tools.
fn stats(seen: &mut Seen, stats: &Value) {
    let empty = Map::new();
    let models = stats.get("models").and_then(Value::as_object).unwrap_or(&empty);
    let sum = |path: &str| {
        let counts: Vec<u32> = models.values().filter_map(|model| count(model.pointer(path))).collect();
        (!counts.is_empty()).then(|| counts.iter().fold(0_u32, |sum, count| sum.saturating_add(*count)))
    };
    let (asked, failed) = (sum("/api/totalRequests"), sum("/api/totalErrors"));
    if stats.get("models").is_some() && seen.turns.is_none() {
        seen.turns = Some(asked.unwrap_or(0));
    }
    seen.model_failed = asked.is_some_and(|asked| asked > 0 && failed == Some(asked));
    seen.tokens.input = sum("/tokens/prompt");
    seen.tokens.output = match (sum("/tokens/candidates"), sum("/tokens/thoughts")) {
        (None, None) => None,
        (said, thought) => Some(said.unwrap_or(0).saturating_add(thought.unwrap_or(0))),
    };
    seen.denials = count(stats.pointer("/tools/totalDecisions/reject")).unwrap_or(0);
}
