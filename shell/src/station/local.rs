//! The `local-runner`: a program that is started for each turn, and judged by what it documents (STN-8, OBS-1).
//!
//! The directive goes in through standard input, or through a file where a program reads no input; the command line
//! has identifiers only. One preset for each runtime knows its arguments and its contract. What runs is written down
//! before it is started, so that a station that was killed finds it again, ends it, and never has two. Reading order:
//! [`Preset`] → [`seen`] → one of `codex`, `gemini`, `openhands`, `generic` → here. Rules: STN-8, OBS-1 to OBS-3, COL-1,
//! SPW-1 to SPW-3, SPW-6, DSP-6.

mod codex;
mod gemini;
mod generic;
mod note;
mod openhands;
mod preset;
pub mod seen;

use std::ffi::OsString;
use std::fs;
use std::path::PathBuf;
use std::sync::Arc;

use awakener_kernel::ids::{ContentHash, Target};
use awakener_kernel::station::{Answer, Evidence, Exit, Output, Run, Stopped};
use awakener_kernel::values::{AckOutcome, Response};
use awakener_spec::rule;

use super::directive::{FAILED, SILENCE, prompt};
use super::runner::{Finished, Runner, Task};
use crate::broker::Later;
use crate::spawn::{self, Bounds, Ended, Environment, Input, Mark, Program, Secrets, Streams};
use note::{Note, end_noted, write};
pub use preset::Preset;
use seen::Seen;

/// What a local runner is made from.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The runtime.
    pub preset: Preset,
    /// The program and arguments of the operator; may be empty but for [`Preset::Generic`]. `{name}`, `{folder}` and
    /// `{directive}` are replaced within each argument.
    pub argv: Vec<String>,
    /// The agent's folder; absolute.
    pub folder: PathBuf,
    /// Variables that this agent gets beside those of every child.
    pub env: Vec<String>,
    /// Whose inbox.
    pub target: Target,
    /// The model, by the name that the runtime knows it by.
    pub model: String,
    /// Tokens that one turn may use; more is `budget_exceeded`.
    pub budget: u32,
    /// The most bytes of a reply that the plane takes.
    pub longest: usize,
    /// Time and output.
    pub bounds: Bounds,
    /// The state directory.
    pub state: PathBuf,
    /// What no child may see.
    pub secrets: Arc<Secrets>,
}

/// Starts a program for each turn.
#[derive(Debug)]
pub struct Local {
    settings: Settings,
    /// What runs now, for the next boot.
    note: PathBuf,
    /// The directive, for programs that read it from a file.
    directive: PathBuf,
}

impl Local {
    /// A runner with these settings.
    pub fn new(settings: Settings) -> Self {
        let own = |what: &str| settings.state.join(format!("{what}-{}", settings.target));
        Self { note: own("runner"), directive: own("directive"), settings }
    }

    /// The argument vector for a turn, each placeholder replaced once.
    fn argv(&self, task: &Task) -> Vec<OsString> {
        let Settings { preset, argv, model, target, folder, .. } = &self.settings;
        let named = if argv.is_empty() {
            preset.program().iter().map(|w| (*w).to_owned()).collect()
        } else {
            argv.clone()
        };
        let folder = folder.to_string_lossy();
        let directive = self.directive.to_string_lossy();
        let value = |name: &str| match name {
            "name" => Some(target.as_str()),
            "folder" => Some(folder.as_ref()),
            "directive" => Some(directive.as_ref()),
            _ => None,
        };
        named
            .iter()
            .chain(&preset.arguments(model, prompt(target, task.turn)))
            .map(|word| replaced(word, value).into())
            .collect()
    }

    fn by_file(&self) -> bool {
        self.settings.preset == Preset::Openhands
            || self.settings.argv.iter().any(|word| word.contains("{directive}"))
    }

    /// Plays a turn. `Err` is why none took place.
    async fn play(&self, task: &Task) -> Result<Finished, String> {
        let leftover = self.note.clone();
        let clear = tokio::task::spawn_blocking(move || end_noted(&leftover)).await;
        clear.map_err(|error| error.to_string())??;
        let input = if self.by_file() {
            write(&self.directive, task.directive.as_bytes()).map_err(|error| error.to_string())?;
            Input::Nothing
        } else {
            Input::Bytes(task.directive.clone().into_bytes())
        };
        let program = Program {
            argv: self.argv(task),
            folder: self.settings.folder.clone(),
            environment: Environment::without(Arc::clone(&self.settings.secrets)).with(&self.settings.env),
            input,
        };
        let mark = Mark::new();
        let mut note = Note { v: 1, mark: mark.clone(), identity: None };
        self.keep(&note)?;
        let running = match spawn::start_marked(&program, Streams::Kept, mark) {
            Ok(running) => running,
            Err(fault) => {
                self.forget();
                return Err(fault.to_string());
            }
        };
        note.identity = Some(running.identity().clone());
        // Without it the mark alone leads to what runs.
        if let Err(error) = self.keep(&note) {
            tracing::warn!(target = %self.settings.target, "what runs could not be noted: {error}");
        }
        let ended = running.finish(self.settings.bounds, std::future::pending()).await;
        if !ended.survived {
            self.forget();
        }
        Ok(self.judge(&ended))
    }

    /// From what a program wrote and how it ended to evidence and answer.
    fn judge(&self, ended: &Ended) -> Finished {
        let Settings { preset, target, budget, longest, .. } = &self.settings;
        // A cut may go through a character; what is no text is no contract either.
        let output = String::from_utf8_lossy(&ended.out.bytes);
        let seen = preset.read(&output, ended.exit);
        let used = seen.tokens.input.unwrap_or(0).saturating_add(seen.tokens.output.unwrap_or(0));
        let too_long = seen.text.as_ref().is_some_and(|text| text.len() > *longest);
        let stopped = match ended.stopped {
            Some(spawn::Stopped::Time) => Some(Stopped::Time),
            Some(spawn::Stopped::Cancelled) => Some(Stopped::Cancelled),
            _ if used > *budget => Some(Stopped::Budget),
            // Too much output is what was cut, below.
            Some(spawn::Stopped::Output) | None => None,
        };
        // Work that goes on behind a program's end is not done.
        let closed = ended.left == 0 && !ended.survived && ended.out.closed;
        let run = Run {
            exit: ended.exit.unwrap_or(Exit::Signal),
            stopped,
            claim: seen.claim,
            stop: seen.stop,
            output: if ended.out.cut || too_long { Output::Cut } else { seen.output },
            final_event: seen.final_event && closed,
            model_failed: seen.model_failed,
            tool_failed: seen.tool_failed,
            denials: seen.denials,
            turns: seen.turns,
            tokens: seen.tokens,
        };
        rule!(Obs1);
        tracing::info!(
            %target, ?run, left = ended.left, took = ?ended.took, complaints = ended.err.bytes.len(), "a turn has ended"
        );
        let answer = seen.text.filter(|text| text.len() <= *longest).map(|text| said(&text));
        Finished { evidence: Evidence::Ran(run), answer, echoes: false }
    }

    fn keep(&self, note: &Note) -> Result<(), String> {
        let text = serde_json::to_vec(note).map_err(|error| error.to_string())?;
        write(&self.note, &text).map_err(|error| format!("{}: {error}", self.note.display()))
    }

    fn forget(&self) {
        // What stays of them is found and overwritten or ended the next time.
        let _ = fs::remove_file(&self.note);
        let _ = fs::remove_file(&self.directive);
    }
}

impl Runner for Local {
    fn run<'a>(&'a self, task: &'a Task) -> Later<'a, Finished> {
        rule!(Stn8);
        Box::pin(async move {
            self.play(task).await.unwrap_or_else(|why| {
                tracing::error!(target = %self.settings.target, "no turn: {why}");
                let run = Run { exit: Exit::NotStarted, ..nothing() };
                Finished { evidence: Evidence::Ran(run), answer: None, echoes: false }
            })
        })
    }

    fn recover(&self) -> Result<(), String> {
        end_noted(&self.note)
    }

    fn reaches_ack_key(&self) -> bool {
        // It runs as the same user, whose files are open to it.
        rule!(Spw6);
        true
    }
}

/// Each `{word}` that stands for something, replaced once; what was put in is not looked at again.
fn replaced<'a>(text: &'a str, value: impl Fn(&str) -> Option<&'a str>) -> String {
    let mut result = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('{') {
        result.push_str(before);
        match after.split_once('}').and_then(|(word, rest)| Some((value(word)?, rest))) {
            Some((value, after)) => {
                result.push_str(value);
                rest = after;
            }
            None => {
                result.push('{');
                rest = after;
            }
        }
    }
    result + rest
}

/// What a last message comes to.
fn said(text: &str) -> (Answer, String) {
    let marked = |mark: &str| text.strip_prefix(mark).map(|rest| rest.trim().to_owned());
    let reply = |text: &str| Response::Reply(ContentHash::of(text.as_bytes()));
    if let Some(why) = marked(SILENCE) {
        let why = if why.is_empty() { "no reason given".to_owned() } else { why };
        return (Answer { response: Response::Silence, outcome: AckOutcome::Silence }, why);
    }
    let outcome = if text.starts_with(FAILED) { AckOutcome::Failed } else { AckOutcome::Handled };
    (Answer { response: reply(text), outcome }, text.to_owned())
}

fn nothing() -> Run {
    let seen = Seen::default();
    Run {
        exit: Exit::NotStarted,
        stopped: None,
        claim: seen.claim,
        stop: seen.stop,
        output: seen.output,
        final_event: false,
        model_failed: false,
        tool_failed: false,
        denials: 0,
        turns: None,
        tokens: seen.tokens,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn col_1_placeholders_are_replaced_within_an_argument_and_once() {
        let value = |name: &str| match name {
            "name" => Some("lotse"),
            "folder" => Some("/home/{name}"),
            _ => None,
        };
        assert_eq!(replaced("--in={folder}/{name}", value), "--in=/home/{name}/lotse");
        assert_eq!(replaced("{\"a\": {name}}", value), "{\"a\": lotse}");
        assert_eq!(replaced("no { brace ends", value), "no { brace ends");
    }

    #[test]
    fn ack_4_a_last_message_is_a_reply_a_silence_or_a_failure() {
        let outcome = |text: &str| (said(text).0.outcome, said(text).1);
        assert_eq!(outcome("done"), (AckOutcome::Handled, "done".to_owned()));
        assert_eq!(outcome("SILENCE: seen before"), (AckOutcome::Silence, "seen before".to_owned()));
        assert_eq!(outcome("FAILED: no crane").0, AckOutcome::Failed);
        assert_eq!(outcome("it FAILED: no").0, AckOutcome::Handled);
    }
}
