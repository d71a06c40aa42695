//! What can happen in the cyclic system. No action carries a number that grows.

use awakener_kernel::ids::{ContentHash, Fence, KeyId, WakeId};
use awakener_kernel::mailbox::input as mailbox;
use awakener_kernel::station;
use awakener_kernel::time::Wall;
use awakener_kernel::values::{Ack, AckOutcome, By, FlightEnd, Question};
use awakener_kernel::waker;
use serde::{Deserialize, Serialize};

use crate::names;

/// One of the three processes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Who {
    /// The message plane.
    Plane,
    /// The wake daemon.
    Daemon,
    /// The station.
    Station,
}

impl Who {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Plane, Self::Daemon, Self::Station];

    /// Its name.
    pub const fn party(self) -> &'static str {
        match self {
            Self::Plane => "plane",
            Self::Daemon => "daemon",
            Self::Station => "station",
        }
    }
}

/// What becomes of a call to the plane.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Way {
    /// It is answered.
    Heard,
    /// The plane does it, and the answer is lost.
    Unheard,
    /// The plane never hears of it.
    Lost,
}

/// What a process wants done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Job {
    /// The plane: a hint is handed to the broker.
    Publish,
    /// The plane: the operator is told.
    TellOperator,
    /// The daemon: a report of a flight.
    Report,
    /// The daemon: a question.
    Ask,
    /// The daemon: a sweep.
    Sweep,
    /// The daemon: a look for a flight.
    Probe,
    /// The daemon: a notice to the station.
    Dispatch,
    /// The station: the inbox is reached.
    ReadInbox,
    /// The station: work is claimed and read.
    Claim,
    /// The station: the lease is given back.
    Release,
    /// The station: the lease is kept.
    Renew,
    /// The station: the end of a turn.
    ReportTurn,
    /// The station: the result.
    RecordResult,
    /// The station: the ACK.
    SendAck,
    /// The station: the cleanup.
    CleanUp,
    /// The station: a step of a trip.
    Latch,
}

impl From<&mailbox::Effect> for Job {
    fn from(effect: &mailbox::Effect) -> Self {
        match effect {
            mailbox::Effect::Publish(_) => Self::Publish,
            mailbox::Effect::TellOperator(_) => Self::TellOperator,
        }
    }
}

impl From<&waker::Effect> for Job {
    fn from(effect: &waker::Effect) -> Self {
        match effect {
            waker::Effect::Ask { .. } => Self::Ask,
            waker::Effect::Dispatch { .. } => Self::Dispatch,
            waker::Effect::Probe { .. } => Self::Probe,
            waker::Effect::Sweep { .. } => Self::Sweep,
            waker::Effect::Report { .. } => Self::Report,
            waker::Effect::TellOperator(_) => Self::TellOperator,
        }
    }
}

impl From<&station::Effect> for Job {
    fn from(effect: &station::Effect) -> Self {
        use station::Effect;
        match effect {
            Effect::ReadInbox { .. } => Self::ReadInbox,
            Effect::Claim { .. } => Self::Claim,
            Effect::Release { .. } => Self::Release,
            Effect::Renew { .. } => Self::Renew,
            Effect::ReportTurn { .. } => Self::ReportTurn,
            Effect::RecordResult { .. } => Self::RecordResult,
            Effect::SendAck { .. } | Effect::ForwardAck { .. } => Self::SendAck,
            Effect::CleanUp { .. } => Self::CleanUp,
            Effect::AppendTripAudit { .. }
            | Effect::WriteLatch { .. }
            | Effect::StopProcess
            | Effect::ArchiveLatch { .. }
            | Effect::RemoveLatch { .. } => Self::Latch,
            Effect::TellOperator(_) | Effect::Poll { .. } | Effect::StartTurn { .. } => Self::TellOperator,
        }
    }
}

/// How a turn ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ending {
    /// Complete, with an answer.
    Complete,
    /// The model failed.
    Failed,
}

/// One action.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Act {
    /// The sender submits the alert (0) or a plain message (1).
    Submit(u8),
    /// A process wakes.
    Boot(Who),
    /// It loses everything that is not on disk.
    Crash(Who),
    /// It is fired.
    Fire(Who),
    /// Its first effect, which is this, is carried out.
    Perform(Who, Job, Way),
    /// The hint that is under way arrives.
    Hint,
    /// It is lost.
    LoseHint,
    /// It arrives, and will arrive again.
    HintTwice,
    /// The flight is seen to be over.
    Rest,
    /// The standing poll finds work.
    Poll,
    /// The turn that runs is over.
    TurnEnds(Ending),
    /// Something comes that nobody asked for.
    Stray(Stray),
    /// From here on nothing crashes and nothing is lost.
    Calm,
    /// A millisecond passes.
    Tick,
}

/// Something that nobody asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stray {
    /// The plane: a renewal with a token that was never given.
    Renew,
    /// The plane: a statement with a key that is not registered.
    Ack,
    /// The plane: a question about a wake that was never minted.
    Ask,
    /// The daemon: the end of an attempt that never was.
    FlightEnded,
    /// The daemon: the answer to a sweep that never was.
    Swept,
    /// The station: a result that nobody asked for.
    ResultRecorded,
    /// The station: a cleanup that nobody asked for.
    CleanupDone,
}

/// A stray input of one of the machines.
pub(super) enum Given {
    Plane(mailbox::Input),
    Daemon(waker::Input),
    Station(station::Input),
}

impl Stray {
    pub(super) const ALL: [Self; 7] = [
        Self::Renew,
        Self::Ack,
        Self::Ask,
        Self::FlightEnded,
        Self::Swept,
        Self::ResultRecorded,
        Self::CleanupDone,
    ];

    pub(super) fn given(self) -> Given {
        let ticket = station::Ticket { epoch: u32::MAX, number: u32::MAX };
        match self {
            Self::Renew => Given::Plane(mailbox::Input::Renew { fence: Fence(u64::MAX) }),
            Self::Ack => {
                let ack = Ack { key: KeyId([9; 32]), ..statement(names::content(0)) };
                Given::Plane(mailbox::Input::Ack { ack, fence: None })
            }
            Self::Ask => {
                let token = awakener_kernel::ids::Token::from_u64(1).expect("1 is a token");
                let question =
                    Question { wake: WakeId::from_u128(u128::MAX), message: names::message(0), token };
                Given::Plane(mailbox::Input::Ask { daemon: names::daemon(0), question })
            }
            Self::FlightEnded => {
                Given::Daemon(waker::Input::FlightEnded { attempt: u64::MAX, end: FlightEnd::ProcessEnded })
            }
            Self::Swept => {
                let ticket = waker::Ticket { boot: u64::MAX, number: u64::MAX };
                Given::Daemon(waker::Input::Swept { ticket, any: true })
            }
            Self::ResultRecorded => Given::Station(station::Input::ResultRecorded { ticket }),
            Self::CleanupDone => {
                let cursor = station::CursorAfter::Moved;
                Given::Station(station::Input::CleanupDone { ticket, cursor })
            }
        }
    }

    /// Whom it is given to.
    pub const fn to(self) -> Who {
        match self {
            Self::Renew | Self::Ack | Self::Ask => Who::Plane,
            Self::FlightEnded | Self::Swept => Who::Daemon,
            Self::ResultRecorded | Self::CleanupDone => Who::Station,
        }
    }
}

/// What the station signs about the alert.
pub(super) const fn statement(content: ContentHash) -> Ack {
    Ack {
        message: names::message(0),
        content,
        outcome: AckOutcome::Handled,
        by: By::Station,
        key: names::key(),
        time: Wall(0),
    }
}

/// Who acts on whom.
pub(super) const fn parties(act: &Act) -> (&'static str, &'static str) {
    match act {
        Act::Submit(_) => ("sender", "plane"),
        Act::Boot(who) | Act::Crash(who) | Act::Fire(who) => (who.party(), who.party()),
        Act::Perform(Who::Plane, Job::TellOperator, _) => ("plane", "operator"),
        Act::Perform(Who::Plane, _, _) => ("plane", "broker"),
        Act::Perform(Who::Daemon, Job::Dispatch | Job::Probe, _) => ("daemon", "station"),
        Act::Perform(Who::Daemon, _, _) => ("daemon", "plane"),
        Act::Perform(Who::Station, _, _) => ("station", "plane"),
        Act::Hint | Act::LoseHint | Act::HintTwice => ("broker", "daemon"),
        Act::Rest => ("station", "daemon"),
        Act::Poll => ("plane", "station"),
        Act::TurnEnds(_) => ("model", "station"),
        Act::Stray(stray) => ("adversary", stray.to().party()),
        Act::Calm | Act::Tick => ("adversary", "adversary"),
    }
}
