//! The `fake` runtime: scripted turns for trials and tests. Named a fake because it is one (CAP-3: trial only); what it
//! shows of a turn goes through the same judgement as the output of any runtime.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use awakener_kernel::ids::ContentHash;
use awakener_kernel::station::{Answer, Claim, Evidence, Exit, Output, Run, Stop, Stopped, Tokens};
use awakener_kernel::values::{AckOutcome, Response};

use super::runner::{Finished, Runner, Task};
use crate::broker::Later;

/// How one scripted turn goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Turn {
    /// Complete, with a reply.
    Complete,
    /// Complete, and nothing to say.
    Silence,
    /// Complete, and reports that what was asked for failed.
    Failed,
    /// Cut at the output limit, although the runtime claims success.
    Truncated,
    /// Runs longer than it may.
    Timeout,
    /// Uses up its budget.
    BudgetExceeded,
    /// A tool fails.
    ToolError,
    /// The model's API fails, with exit code 0 and a claim of success.
    ModelError,
    /// A permission is denied.
    Denied,
    /// Success is claimed, and no turn took place.
    NoTurn,
    /// Success is claimed, and the process fails.
    Contradiction,
    /// Complete, and sends the same message to its own inbox again.
    Echo,
}

/// The runner that plays a script.
#[derive(Debug)]
pub struct Fake {
    script: Vec<Turn>,
    takes: Duration,
    played: AtomicUsize,
}

impl Fake {
    /// One whose turns go like these, the last one again and again, and take so long each.
    pub const fn new(script: Vec<Turn>, takes: Duration) -> Self {
        Self { script, takes, played: AtomicUsize::new(0) }
    }
}

impl Runner for Fake {
    fn run<'a>(&'a self, task: &'a Task) -> Later<'a, Finished> {
        let played = self.played.fetch_add(1, Ordering::Relaxed);
        let turn = self.script.get(played).or(self.script.last()).copied().unwrap_or(Turn::Complete);
        Box::pin(run(turn, &task.intent, self.takes))
    }

    fn recover(&self) -> Result<(), String> {
        Ok(())
    }

    fn reaches_ack_key(&self) -> bool {
        false
    }
}

/// A run that went as it should.
const WHOLE: Run = Run {
    exit: Exit::Code(0),
    stopped: None,
    claim: Claim::Success,
    stop: Stop::EndOfTurn,
    output: Output::Whole,
    final_event: true,
    model_failed: false,
    tool_failed: false,
    denials: 0,
    turns: Some(1),
    tokens: Tokens { input: Some(120), output: Some(24), output_limit: Some(1_024) },
};

/// Runs one scripted turn on `intent`.
pub async fn run(turn: Turn, intent: &str, pause: Duration) -> Finished {
    tokio::time::sleep(pause).await;
    let reply = format!("Read and handled: {intent}");
    let run = match turn {
        Turn::Complete | Turn::Silence | Turn::Failed | Turn::Echo => WHOLE,
        Turn::Truncated => Run {
            stop: Stop::Length,
            output: Output::Cut,
            tokens: Tokens { output: Some(1_024), ..WHOLE.tokens },
            ..WHOLE
        },
        Turn::Timeout => {
            Run { exit: Exit::Signal, stopped: Some(Stopped::Time), final_event: false, ..WHOLE }
        }
        Turn::BudgetExceeded => Run { stopped: Some(Stopped::Budget), ..WHOLE },
        Turn::ToolError => Run { tool_failed: true, claim: Claim::Failure, ..WHOLE },
        Turn::ModelError => Run { model_failed: true, ..WHOLE },
        Turn::Denied => Run { denials: 1, ..WHOLE },
        Turn::NoTurn => Run { turns: Some(0), output: Output::Empty, ..WHOLE },
        Turn::Contradiction => Run { exit: Exit::Code(1), ..WHOLE },
    };
    let says = |response, outcome, text: String| Some((Answer { response, outcome }, text));
    let answer = match turn {
        Turn::Silence => says(Response::Silence, AckOutcome::Silence, "nothing to say".to_owned()),
        Turn::Failed => {
            let text = format!("Could not be done: {intent}");
            says(Response::Reply(ContentHash::of(text.as_bytes())), AckOutcome::Failed, text)
        }
        Turn::NoTurn | Turn::Timeout => None,
        Turn::Complete
        | Turn::Truncated
        | Turn::BudgetExceeded
        | Turn::ToolError
        | Turn::ModelError
        | Turn::Denied
        | Turn::Contradiction
        | Turn::Echo => says(Response::Reply(ContentHash::of(reply.as_bytes())), AckOutcome::Handled, reply),
    };
    Finished { evidence: Evidence::Ran(run), answer, echoes: turn == Turn::Echo }
}
