//! From what a runtime showed to how a turn ended (OBS-1).
//!
//! Pure, and suspicious: only evidence that is whole and agrees with itself is `complete`. What is recorded is the
//! evidence and the verdict, so that both sides of a contradiction are kept. Not here: reading a runtime's output.

use serde::{Deserialize, Serialize};

use awakener_spec::rule;

use crate::values::Finish;

/// What is known of a turn that is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Evidence {
    /// Nothing: an attached agent does not report (STN-8).
    Unreported,
    /// Nothing: the station ended the turn itself, and did not wait for more.
    Stopped(Stopped),
    /// What the runner saw.
    Ran(Run),
}

/// What the runner saw, one fact per field.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Run {
    /// How the process ended.
    pub exit: Exit,
    /// Whether we ended it.
    pub stopped: Option<Stopped>,
    /// What the runtime says of its own success.
    pub claim: Claim,
    /// Why the model stopped writing.
    pub stop: Stop,
    /// What came out.
    pub output: Output,
    /// Whether the event that closes a run came.
    pub final_event: bool,
    /// The model or its API reported an error.
    pub model_failed: bool,
    /// A tool failed and the turn ended on it.
    pub tool_failed: bool,
    /// Permissions that were denied.
    pub denials: u32,
    /// Model turns that the runtime counted; `None` = it does not count.
    pub turns: Option<u32>,
    /// Tokens.
    pub tokens: Tokens,
}

/// How the process ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Exit {
    /// With this code.
    Code(i32),
    /// By a signal.
    Signal,
    /// It could not be started.
    NotStarted,
    /// The runtime is no process of ours.
    Elsewhere,
}

/// How we ended a turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stopped {
    /// Its time was up.
    Time,
    /// Its budget was used up.
    Budget,
    /// It was no longer wanted.
    Cancelled,
}

/// What the runtime says of its own success.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Claim {
    /// It succeeded.
    Success,
    /// It failed.
    Failure,
    /// It says nothing.
    Unsaid,
}

/// Why the model stopped writing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stop {
    /// It had said everything.
    EndOfTurn,
    /// A length was reached.
    Length,
    /// It asked for a tool, which did not run any more.
    ToolCalls,
    /// Something else.
    Other,
    /// It was not said.
    Unsaid,
}

/// What came out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Output {
    /// Text that ends where it should.
    Whole,
    /// Text that ends in the middle.
    Cut,
    /// Nothing.
    Empty,
}

/// Tokens of a turn (OBS-2); `None` = not reported.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Tokens {
    /// Read by the model.
    pub input: Option<u32>,
    /// Written by the model.
    pub output: Option<u32>,
    /// The most that it may write in one go.
    pub output_limit: Option<u32>,
}

impl Tokens {
    const fn at_limit(self) -> bool {
        match (self.output, self.output_limit) {
            (Some(output), Some(limit)) => output >= limit,
            (None, _) | (Some(_), None) => false,
        }
    }
}

/// How a turn ended, judged from the evidence. What we did ourselves is certain and comes first; then what the
/// runtime admits, whatever success it claims beside; then every gap and contradiction is `unknown`.
pub fn conclude(evidence: &Evidence) -> Finish {
    rule!(Obs1);
    match evidence {
        Evidence::Unreported => Finish::Unreported,
        Evidence::Stopped(stopped) => ours(*stopped),
        Evidence::Ran(run) => run.stopped.map(ours).or_else(|| admitted(run)).unwrap_or_else(|| agreed(run)),
    }
}

const fn ours(stopped: Stopped) -> Finish {
    match stopped {
        Stopped::Time => Finish::Timeout,
        Stopped::Budget => Finish::BudgetExceeded,
        Stopped::Cancelled => Finish::Cancelled,
    }
}

fn admitted(run: &Run) -> Option<Finish> {
    let failed_claim = match run.claim {
        Claim::Failure => true,
        Claim::Success | Claim::Unsaid => false,
    };
    let cut = run.stop == Stop::Length || run.output == Output::Cut || run.tokens.at_limit();
    let none = run.exit == Exit::NotStarted || run.turns == Some(0);
    [
        (run.model_failed, Finish::ModelError),
        (none, Finish::NoTurn),
        (run.denials > 0, Finish::Denied),
        (cut, Finish::Truncated),
        (run.tool_failed, Finish::ToolError),
        (failed_claim, Finish::ModelError),
    ]
    .into_iter()
    .find_map(|(holds, finish)| holds.then_some(finish))
}

fn agreed(run: &Run) -> Finish {
    let ended_well = matches!(run.exit, Exit::Code(0) | Exit::Elsewhere);
    let said_all = run.stop == Stop::EndOfTurn && run.output == Output::Whole && run.final_event;
    if ended_well && said_all { Finish::Complete } else { Finish::Unknown }
}
