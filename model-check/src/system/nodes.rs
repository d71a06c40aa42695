//! The processes with their ports, and what is between them.
//!
//! A port is what a driver does with effects: it keeps them in order and waits where the shell waits. All of it is lost
//! with its process. Not here: what happens to them ([`super::plane`], [`super::daemon`], [`super::station`]).

use awakener_kernel::ids::{Fence, MessageId};
use awakener_kernel::mailbox::Mailbox;
use awakener_kernel::mailbox::input::Minted;
use awakener_kernel::station::{self, Ticket};
use awakener_kernel::values::{Hint, TurnRef};
use awakener_kernel::waker::{self, Waker};

use super::act::{Task, Who};
use super::say::Say;
use crate::mailbox::rows::Rows;
use crate::process::Process;

/// A call as the plane remembers it until its answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Asked {
    /// What was said.
    pub say: Say,
    /// Who waits for the answer.
    pub from: Option<Who>,
}

/// The message plane.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Plane {
    /// Mailbox and store.
    pub process: Process<Mailbox, Rows, Asked>,
    /// When this boot's monotonic clock began.
    pub born: u8,
    /// Hints for the broker client.
    pub outbox: Vec<Minted>,
    /// Whether an operator has taken the grant away; on disk.
    pub withdrawn: bool,
}

/// A wake daemon.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Daemon {
    /// Waker and store.
    pub process: Process<Waker, (), ()>,
    /// When this boot's monotonic clock began.
    pub born: u8,
    /// What it wants done, in order; questions, sweeps, reports and the runtime have a queue each.
    pub outbox: Vec<waker::Effect>,
    /// Completions that it has not heard yet.
    pub inbox: Vec<waker::Input>,
    /// The permit whose flight the plane would not hear of.
    pub refused: Option<Fence>,
    /// The attempt whose end it watches for.
    pub watching: Option<u64>,
}

/// The station.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Desk {
    /// Station and store; a call is remembered by the message that it is about.
    pub process: Process<station::Station, (), u8>,
    /// When this boot's monotonic clock began.
    pub born: u8,
    /// What it carries out, one after the other.
    pub jobs: Vec<Job>,
    /// Inputs that it has not heard yet.
    pub inbox: Vec<station::Input>,
    /// The work that its poll does not look for, while it polls.
    pub poll: Option<Vec<MessageId>>,
    /// The turn that runs.
    pub turn: Option<Running>,
    /// The lease that its claim gave.
    pub lease: Option<Fence>,
    /// Whether something lies at the latch path; it outlives the process.
    pub latch: bool,
}

/// A turn of a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Running {
    /// For its end.
    pub ticket: Ticket,
    /// Which.
    pub turn: TurnRef,
}

/// Something that a station carries out.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Job {
    /// As the machine said.
    Effect(station::Effect),
    /// The second half of a claim: the message is read under the lease.
    Read(Ticket, Fence, MessageId),
    /// A claim that brought nothing: whatever it took is given back.
    Nothing(Ticket),
}

impl Job {
    /// Its name.
    pub const fn task(&self) -> Option<Task> {
        use station::Effect as E;
        Some(match self {
            Self::Read(..) => Task::Read,
            Self::Nothing(_) => Task::Nothing,
            Self::Effect(effect) => match effect {
                E::ReadInbox { .. } => Task::ReadInbox,
                E::Claim { .. } => Task::Claim,
                E::Release { .. } => Task::Release,
                E::StartTurn { .. } => Task::StartTurn,
                E::Renew { .. } => Task::Renew,
                E::ReportTurn { .. } => Task::ReportTurn,
                E::RecordResult { .. } => Task::RecordResult,
                E::SendAck { .. } => Task::SendAck,
                E::ForwardAck { .. } => Task::ForwardAck,
                E::CleanUp { .. } => Task::CleanUp,
                E::AppendTripAudit { .. } => Task::AppendTripAudit,
                E::WriteLatch { .. } => Task::WriteLatch,
                E::StopProcess => Task::StopProcess,
                E::Poll { .. } | E::ArchiveLatch { .. } | E::RemoveLatch { .. } | E::TellOperator(_) => {
                    return None;
                }
            },
        })
    }
}

/// What is between the processes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Net {
    /// Every hint that left the plane; its number is its place, from one.
    pub hints: Vec<Hint>,
    /// By daemon: hints that may come to it for the first time.
    pub air: [Vec<u8>; 2],
    /// Copies of calls that may still arrive.
    pub late: Vec<Say>,
}

impl Net {
    /// The hint of this number.
    pub fn hint(&self, number: u8) -> Option<&Hint> {
        self.hints.iter().find(|hint| crate::names::wake_number(hint.wake) == number)
    }

    /// A copy of a call goes its own way.
    pub fn stray(&mut self, say: Say) {
        let at = self.late.partition_point(|known| *known <= say);
        self.late.insert(at, say);
    }

    /// It arrives.
    pub fn arrived(&mut self, say: Say) {
        if let Some(at) = self.late.iter().position(|known| *known == say) {
            self.late.remove(at);
        }
    }
}
