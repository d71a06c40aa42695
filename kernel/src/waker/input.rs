//! What can happen to a waker, what comes of it, and what it asks the outside to do.
//!
//! Types only; the judgement is in [`super::step`]. A hint comes here only after [`crate::wire`] has found nothing
//! wrong with it that needs no state. Rules: VER-1, DSP-4, DSP-7.

use awakener_spec::Class;
use serde::{Deserialize, Serialize};

use super::capability::{Capability, Missing};
use crate::ids::{Fence, MessageId, WakeId};
use crate::time::Mono;
use crate::values::{Answer, DispatchOutcome, FlightEnd, FlightReport, Hint, Question};

/// Names one thing that was asked of the outside, so that a late completion is recognised.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Ticket {
    /// The recovery under which it was issued.
    pub boot: u64,
    /// Its number within that.
    pub number: u64,
}

/// What can happen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Input {
    /// A hint that passed every check without state; from the broker or from a sweep.
    Hint(Hint),
    /// The plane's answer to a question (DSP-7).
    Answer {
        /// Which question.
        ticket: Ticket,
        /// The answer.
        answer: Answer,
    },
    /// The plane could not be reached for a question or a sweep.
    AskFailed {
        /// Which.
        ticket: Ticket,
    },
    /// The adapter's answer to a dispatch (DSP-4).
    Dispatched {
        /// Which dispatch.
        ticket: Ticket,
        /// The answer.
        outcome: DispatchOutcome,
    },
    /// What a probe found (DSP-12).
    Probed {
        /// Which probe.
        ticket: Ticket,
        /// The finding.
        fate: Fate,
    },
    /// A flight ended, as adapter or plane see it (DSP-2). [`FlightEnd::Expired`] is for the waker alone to say.
    FlightEnded {
        /// Which attempt: a name that outlives restarts, unlike a ticket.
        attempt: u64,
        /// How.
        end: FlightEnd,
    },
    /// Work was read under a flight.
    InboxRead {
        /// Which attempt.
        attempt: u64,
    },
    /// No start until further notice (DSP-10). A driver that finds a pause at boot says so before
    /// [`Input::Capability`].
    Pause,
    /// Starts are allowed again.
    Resume,
    /// What the manifest says of this runtime now. Until the first one nothing is started.
    Capability(Capability),
    /// The connection to the plane or the broker is back (DSP-11).
    Reconnect,
    /// A sweep is answered; the hints that it found come as [`Input::Hint`].
    Swept {
        /// Which sweep.
        ticket: Ticket,
        /// Whether it found any.
        any: bool,
    },
    /// A deadline is due.
    Fire,
}

/// What became of a flight of unknown fate (DSP-12).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Fate {
    /// It runs no more and can never start any more.
    Gone,
    /// Anything else that is not certain.
    CannotTell,
    /// It runs.
    Alive,
}

/// Why an accepted wake is not dispatched yet. It stays owed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Hold {
    /// A flight is open (DSP-2).
    Flight,
    /// This runtime may not be woken (DSP-3, DSP-8).
    Ineligible(Missing),
    /// Paused (DSP-10).
    Paused,
    /// The cooldown runs (DSP-1).
    Cooldown,
    /// The back-off after a definite failure runs (DSP-3).
    BackOff,
    /// Another daemon has the permit (DSP-7).
    PermitHeld,
    /// The permit ran out before its answer was here.
    PermitSpent,
}

/// What follows an acceptance or a renewed permit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Next {
    /// The flight begins.
    Dispatch {
        /// Its number.
        attempt: u64,
    },
    /// It waits.
    Wait(Hold),
}

/// What happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Event {
    /// Recovered.
    Booted,
    /// The plane is asked.
    Asked {
        /// About which wake.
        wake: WakeId,
    },
    /// A hint came while a question was out: it is not classified, a look is owed (DSP-7).
    LookOwed,
    /// `accepted` (VER-1).
    Accepted {
        /// The wake.
        wake: WakeId,
        /// What follows.
        next: Next,
    },
    /// The plane permits the start that was owed.
    Permitted {
        /// The wake.
        wake: WakeId,
        /// What follows.
        next: Next,
    },
    /// The hint is not accepted: this is its class (VER-1). Only the question is gone.
    Withheld {
        /// The wake.
        wake: WakeId,
        /// The class.
        class: Class,
    },
    /// The start that was owed is not permitted any more.
    Dropped {
        /// The wake.
        wake: WakeId,
        /// Why.
        class: Class,
    },
    /// No answer for now; what was asked is asked again.
    AskFailed,
    /// The adapter's answer is noted; a definite failure has ended the flight.
    Dispatched {
        /// The attempt.
        attempt: u64,
        /// The answer.
        outcome: DispatchOutcome,
    },
    /// The fate of a flight from before a restart is looked up (DSP-12).
    Probing,
    /// The finding is noted; `gone` has ended the flight.
    Probed(Fate),
    /// `inbox_read` under the flight.
    InboxRead,
    /// The flight is over.
    FlightEnded {
        /// The attempt.
        attempt: u64,
        /// How.
        end: FlightEnd,
    },
    /// No start until further notice.
    Paused,
    /// Starts are allowed again.
    Resumed,
    /// The manifest says something else now.
    CapabilityChanged,
    /// A look is owed at once.
    Reconnected,
    /// The plane is asked what is owed (DSP-11).
    Sweeping,
    /// It answered.
    Swept {
        /// Whether it found anything.
        any: bool,
    },
}

/// What should happen outside, in this order per target and port.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Effect {
    /// Ask the plane; report with [`Input::Answer`] or [`Input::AskFailed`].
    Ask {
        /// Names the question.
        ticket: Ticket,
        /// The question.
        question: Question,
    },
    /// Start or notify the runtime; report with [`Input::Dispatched`], later [`Input::FlightEnded`].
    Dispatch {
        /// Names the dispatch.
        ticket: Ticket,
        /// The attempt; also a good idempotency key.
        attempt: u64,
        /// The accepted wake.
        wake: WakeId,
        /// The alert.
        message: MessageId,
        /// The permit.
        fence: Fence,
        /// The permit's end: not a byte may leave from here on; answer `not_attempted` instead (DSP-7).
        until: Mono,
        /// Whether a human is there (DSP-8).
        attended: bool,
    },
    /// Find out what became of a flight; report with [`Input::Probed`] (DSP-12).
    Probe {
        /// Names the probe.
        ticket: Ticket,
        /// The attempt.
        attempt: u64,
        /// The accepted wake.
        wake: WakeId,
        /// The alert.
        message: MessageId,
        /// The permit.
        fence: Fence,
    },
    /// Ask the plane what is owed; report with [`Input::Hint`] each, then [`Input::Swept`], or
    /// [`Input::AskFailed`] (DSP-11).
    Sweep {
        /// Names the sweep.
        ticket: Ticket,
    },
    /// Tell the plane about a flight.
    Report {
        /// The permit.
        fence: Fence,
        /// The accepted wake.
        wake: WakeId,
        /// What.
        report: FlightReport,
    },
    /// Tell the operator.
    TellOperator(Warning),
}

/// What an operator is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Warning {
    /// A flight from before a restart ran out, and nobody could tell what became of it (DSP-12).
    FateUnknown {
        /// The attempt.
        attempt: u64,
        /// The accepted wake.
        wake: WakeId,
        /// The alert.
        message: MessageId,
    },
}
