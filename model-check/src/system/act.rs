//! What can happen in a system world, and who does it to whom.
//!
//! Names only; what comes of them is in [`super::plane`], [`super::daemon`] and [`super::station`].

use serde::{Deserialize, Serialize};

use super::say::Say;
use crate::process::Fate;

/// A process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Who {
    /// The message plane.
    Plane,
    /// A wake daemon.
    First,
    /// Another one, for the same target.
    Second,
    /// The station.
    Station,
}

impl Who {
    /// The daemons.
    pub const DAEMONS: [Self; 2] = [Self::First, Self::Second];

    const fn party(self) -> &'static str {
        match self {
            Self::Plane => "plane",
            Self::First => "first daemon",
            Self::Second => "second daemon",
            Self::Station => "station",
        }
    }
}

/// How a call to the plane fares on its way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Way {
    /// It is heard and answered.
    Heard,
    /// The caller hears nothing; the call itself may still arrive, any time later or never.
    Unheard,
    /// It is heard and answered, and a copy may arrive once more.
    Doubled,
    /// Nobody is there.
    Unreachable,
}

/// What becomes of a dispatch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Told {
    /// Not a byte leaves: the permit is over, or the plane would not hear of the flight.
    NotAttempted,
    /// The station has the notice.
    Notified,
    /// The station is at work.
    Busy,
    /// Nobody listens.
    Unavailable,
    /// Bytes have left, and no answer comes; `arrived` only the adversary knows.
    Unknown {
        /// Whether the station has the notice.
        arrived: bool,
    },
}

/// How a turn ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ending {
    /// Whole, with something to say.
    Complete,
    /// On a tool that failed.
    Failed,
}

/// What a station carries out, one after the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Task {
    /// It reaches the inbox.
    ReadInbox,
    /// It claims.
    Claim,
    /// It reads what it has claimed.
    Read,
    /// It gives back a claim that brought nothing.
    Nothing,
    /// It gives back a claim that it does not want any more.
    Release,
    /// It runs the model.
    StartTurn,
    /// It keeps its lease.
    Renew,
    /// It says how the turn ended.
    ReportTurn,
    /// It says what the turn says.
    RecordResult,
    /// It acknowledges.
    SendAck,
    /// It takes the agent's own ACK for brought.
    ForwardAck,
    /// It leaves nothing behind.
    CleanUp,
    /// It notes a trip.
    AppendTripAudit,
    /// It writes the latch.
    WriteLatch,
    /// It stops.
    StopProcess,
}

/// One action.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Act {
    /// A process wakes from its disk, in a transaction with what its driver says first.
    Boot(Who),
    /// Its open transaction commits.
    Commit(Who),
    /// It does not, or nobody knows.
    CommitFails(Who, Fate),
    /// Everything of it that is not on disk is gone.
    Crash(Who),
    /// A millisecond passes for everybody.
    Tick,
    /// A deadline is due.
    Fire(Who),
    /// The plane hands its first hint to the broker.
    Publish,
    /// The broker loses a hint on its way to a daemon.
    LoseHint(Who, u8),
    /// A hint comes to a daemon: in any order, and the adversary's copies again and again.
    Come(Who, u8),
    /// The first completion comes to a daemon or station.
    Hear(Who),
    /// It comes, and will come again.
    HearTwice(Who),
    /// A daemon's first question goes to the plane.
    Ask(Who, Way),
    /// Its first sweep does.
    Sweep(Who, Way),
    /// Its first report does.
    Report(Who, Way),
    /// Its first dispatch goes to the station.
    Dispatch(Who, Told),
    /// It looks what became of a flight.
    Probe(Who),
    /// The runtime is at rest, and the daemon's flight over.
    Rest(Who),
    /// Somebody says something to the plane: a sender, an agent, a stranger, or a late copy.
    Say(Say),
    /// The station carries out its first task.
    Do(Task, Way),
    /// Its turn ends.
    TurnEnds(Ending),
    /// Its poll sees work.
    Poll,
    /// An operator takes the target's grant away, at the plane and then at the station.
    Withdraw,
    /// Somebody on its machine posts a notice to it.
    Post,
    /// It hears that the agent has acknowledged.
    OwnAck,
    /// It is given a completion that answers nothing: made up, of another boot, or repeated.
    Stray(Who, u8),
}

/// Who acts on whom.
pub const fn parties(act: &Act) -> (&'static str, &'static str) {
    match act {
        Act::Boot(who)
        | Act::Commit(who)
        | Act::CommitFails(who, _)
        | Act::Crash(who)
        | Act::Fire(who)
        | Act::Hear(who)
        | Act::HearTwice(who) => (who.party(), who.party()),
        Act::Tick => ("clock", "clock"),
        Act::Withdraw => ("operator", "plane"),
        Act::Publish => ("plane", "broker"),
        Act::LoseHint(..) => ("broker", "broker"),
        Act::Come(who, _) => ("broker", who.party()),
        Act::Ask(who, _) | Act::Sweep(who, _) | Act::Report(who, _) => (who.party(), "plane"),
        Act::Dispatch(who, _) | Act::Probe(who) => (who.party(), "station"),
        Act::Rest(who) => ("station", who.party()),
        Act::Say(say) => (say.speaker(), "plane"),
        Act::Do(task, _) => match task {
            Task::StartTurn => ("station", "runner"),
            Task::ForwardAck | Task::AppendTripAudit | Task::WriteLatch | Task::StopProcess => {
                ("station", "station")
            }
            Task::ReadInbox
            | Task::Claim
            | Task::Read
            | Task::Nothing
            | Task::Release
            | Task::Renew
            | Task::ReportTurn
            | Task::RecordResult
            | Task::SendAck
            | Task::CleanUp => ("station", "plane"),
        },
        Act::TurnEnds(_) => ("runner", "station"),
        Act::Poll => ("plane", "station"),
        Act::Post => ("stranger", "station"),
        Act::OwnAck => ("agent", "station"),
        Act::Stray(who, _) => ("stranger", who.party()),
    }
}
