//! The output of any other program: it must end with one line of JSON that says how its turn went.
//!
//! Exit code 0 and a text are no proof that anything was done, so a program that says nothing more is `unknown`. The
//! line is an object with `awakener` = 1 and `stop` (`end_turn`, `length`, `tool_calls` or `other`), and may have
//! `reply`, `error`, `turns`, `denials`, `input_tokens` and `output_tokens`; anything else makes it no such line. A
//! reply begins like that of every runner if it is a silence or a failure.

use awakener_kernel::station::{Claim, Output, Stop, Tokens};
use serde::Deserialize;

use super::seen::Seen;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Line {
    awakener: u32,
    stop: Word,
    #[serde(default)]
    reply: String,
    #[serde(default)]
    error: Option<String>,
    #[serde(default)]
    turns: Option<u32>,
    #[serde(default)]
    denials: u32,
    #[serde(default)]
    input_tokens: Option<u32>,
    #[serde(default)]
    output_tokens: Option<u32>,
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum Word {
    EndTurn,
    Length,
    ToolCalls,
    Other,
}

/// Reads a whole output.
pub(super) fn read(output: &str) -> Seen {
    let mut seen = Seen::default();
    let last = output.lines().rfind(|line| !line.trim().is_empty()).unwrap_or_default();
    let line = match serde_json::from_str::<Line>(last) {
        Ok(line) if line.awakener == 1 => line,
        Ok(_) => return seen,
        Err(error) => {
            let begun = last.trim_start().starts_with('{');
            seen.output = match (output.trim().is_empty(), begun && error.is_eof()) {
                (true, _) => Output::Empty,
                (false, true) => Output::Cut,
                (false, false) => Output::Whole,
            };
            return seen;
        }
    };
    seen.say(Some(&line.reply));
    seen.final_event = true;
    seen.model_failed = line.error.is_some();
    seen.claim = if line.error.is_some() { Claim::Failure } else { Claim::Success };
    seen.stop = match line.stop {
        Word::EndTurn => Stop::EndOfTurn,
        Word::Length => Stop::Length,
        Word::ToolCalls => Stop::ToolCalls,
        Word::Other => Stop::Other,
    };
    seen.turns = line.turns;
    seen.denials = line.denials;
    seen.tokens = Tokens { input: line.input_tokens, output: line.output_tokens, output_limit: None };
    seen
}
