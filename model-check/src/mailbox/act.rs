//! What can happen in a mailbox world: the alphabet, by name.
//!
//! Every word is small and plain data, so that a way through the world can be written down and walked again. Not here:
//! the input that each is to the machine ([`super::input`]), and when it is offered ([`super::calls`]).

use awakener_kernel::values::{By, DispatchOutcome, Finish, FlightEnd};
use serde::{Deserialize, Serialize};

use crate::process::Fate;

/// One action.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Act {
    /// The process wakes and, where hints are minted, its emitter starts in the same transaction.
    Boot,
    /// The open transaction commits.
    Commit,
    /// It does not, or nobody knows.
    CommitFails(Fate),
    /// Everything that is not on disk is gone.
    Crash,
    /// A millisecond passes.
    Tick,
    /// The wall clock steps back by this many milliseconds.
    StepBack(u8),
    /// An operator accepts the time that the clock shows (EMT-6).
    AcceptTime,
    /// A right is withdrawn (ADM-6).
    Withdraw(Right),
    /// It is given back.
    GiveBack(Right),
    /// What is on disk is copied.
    Backup,
    /// What was copied replaces what is on disk.
    Restore,
    /// Something on its way arrives; things overtake each other.
    Arrive(Late),
    /// It is lost.
    Lose(Late),
    /// The broker client does not take a hint (EMT-4).
    HandOverFails(u8),
    /// A call to the machine.
    Call(Call),
}

/// What an alert needs beside being outstanding (ADM-6, EMT-3).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Right {
    /// The roster lists its sender.
    Roster,
    /// Its target is armed.
    Armed,
    /// Tier-0 is open.
    Open,
}

/// Something on its way to somebody who acts on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Late {
    /// A hint that is not handed over yet, by the number of its wake.
    Hint(u8),
    /// A hint that answers a sweep.
    Swept(u8),
    /// A lease: its fence.
    Lease(u8),
    /// A permit: daemon, fence, wake.
    Permit(u8, u8, u8),
}

/// A call to the machine. Messages, holders, daemons, wakes and fences go by number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Call {
    /// The emitter starts.
    Start,
    /// A deadline is due.
    Fire,
    /// A message is submitted.
    Submit(u8),
    /// A holder wants work.
    Claim(u8),
    /// Whoever has this fence is still at work.
    Renew(u8),
    /// Gives the work back.
    Release(u8),
    /// Reads: fence, message.
    Read(u8, u8),
    /// Its turn number 0 or 1 ended: fence, message, turn, how.
    Finish(u8, u8, u8, Finish),
    /// Has a result: fence, message.
    Respond(u8, u8),
    /// Says `done` to an alert, which is no answer to one.
    Shrug(u8, u8),
    /// A signed statement: message, signer, the fence that is presented.
    Ack(u8, By, Option<u8>),
    /// A daemon asks about a hint.
    Ask(u8, u8),
    /// A daemon says that its flight began: daemon, fence, wake.
    Attempted(u8, u8, u8),
    /// It says what its adapter said.
    Outcome(u8, u8, u8, DispatchOutcome),
    /// It says that its flight is over.
    Ended(u8, u8, u8, FlightEnd),
    /// A daemon asks what is owed.
    Sweep,
    /// What became of a hint at the broker client.
    Published(u8, bool),
    /// An operator closes an alert.
    Resolve(u8),
    /// An operator gives a message back.
    ReleaseQuarantine(u8),
    /// The driver takes a message for too old.
    Expire(u8),
    /// Something that must come to nothing.
    Forge(Forgery),
}

/// What an intruder, a thief of words or a mistaken driver says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Forgery {
    /// An ACK with a key that is not registered.
    AckForeignKey(By),
    /// An ACK with a key that was revoked.
    AckRevokedKey,
    /// An ACK whose signature is not its key's.
    AckBadSignature,
    /// An ACK for another target.
    AckOtherTarget,
    /// An ACK that names other content.
    AckOtherContent,
    /// An ACK from the future.
    AckFuture,
    /// An ACK about plain mail.
    AckOtherTier(u8),
    /// An ACK about nothing.
    AckUnknown,
    /// A station's ACK without a lease.
    AckWithoutLease,
    /// A submission under a known id with other content.
    SubmitOtherContent(u8),
    /// A submission under somebody else's id.
    SubmitTakenId,
    /// An alert from a sender that the roster does not list.
    SubmitStranger,
    /// An alert while there is no roster.
    SubmitWithoutRoster,
    /// An alert while the roster cannot be used.
    SubmitMalformedRoster,
    /// An alert while the roster is over.
    SubmitExpiredRoster,
    /// An alert to oneself.
    SubmitSelfWake,
    /// An alert to a target that can acknowledge nothing.
    SubmitCannotAck,
    /// A submission with a lease that is not live.
    SubmitLostLease,
    /// A submission that repeats itself.
    SubmitEcho,
    /// A question about a wake that was never minted.
    AskUnminted,
    /// A question about a minted wake with another token.
    AskOtherToken(u8),
    /// A question about a minted wake with another message.
    AskOtherMessage(u8),
    /// A report under a permit that was never granted.
    ReportNeverGranted(u8),
    /// A report of a wake that was never minted.
    ReportUnminted,
    /// A report by another daemon than the permit's: fence, wake, the daemon that has it.
    ReportOtherDaemon(u8, u8, u8),
    /// The fate of a hint that was never minted.
    PublishedUnminted,
    /// Work with a fence that was never given.
    ReadWithoutLease(u8),
    /// A result of a turn without a lease.
    RespondWithoutLease(u8),
    /// An operator's word on a message that does not exist.
    ResolveUnknown,
    /// The same of giving it back.
    ReleaseUnknown,
    /// The same of its age.
    ExpireUnknown,
}

impl Call {
    /// The fence of a lease that it presents.
    pub const fn fence(self) -> Option<u8> {
        match self {
            Self::Renew(fence)
            | Self::Release(fence)
            | Self::Read(fence, _)
            | Self::Finish(fence, ..)
            | Self::Respond(fence, _)
            | Self::Shrug(fence, _) => Some(fence),
            Self::Ack(_, _, fence) => fence,
            Self::Start
            | Self::Fire
            | Self::Submit(_)
            | Self::Claim(_)
            | Self::Ask(..)
            | Self::Attempted(..)
            | Self::Outcome(..)
            | Self::Ended(..)
            | Self::Sweep
            | Self::Published(..)
            | Self::Resolve(_)
            | Self::ReleaseQuarantine(_)
            | Self::Expire(_)
            | Self::Forge(_) => None,
        }
    }
}

/// Who acts on whom.
pub const fn parties(act: &Act) -> (&'static str, &'static str) {
    match act {
        Act::Boot => ("driver", "plane"),
        Act::Commit | Act::CommitFails(_) => ("plane", "disk"),
        Act::Crash | Act::Restore => ("adversary", "plane"),
        Act::Backup => ("operator", "disk"),
        Act::Tick | Act::StepBack(_) => ("clock", "plane"),
        Act::AcceptTime | Act::Withdraw(_) | Act::GiveBack(_) => ("operator", "plane"),
        Act::Arrive(late) | Act::Lose(late) => match late {
            Late::Hint(_) => ("plane", "broker"),
            Late::Swept(_) | Late::Permit(..) => ("plane", "daemon"),
            Late::Lease(_) => ("plane", "holder"),
        },
        Act::HandOverFails(_) => ("plane", "broker"),
        Act::Call(call) => match call {
            Call::Start | Call::Fire | Call::Expire(_) => ("driver", "plane"),
            Call::Submit(_) => ("sender", "plane"),
            Call::Claim(_)
            | Call::Renew(_)
            | Call::Release(_)
            | Call::Read(..)
            | Call::Finish(..)
            | Call::Respond(..)
            | Call::Shrug(..)
            | Call::Ack(..) => ("holder", "plane"),
            Call::Ask(..) | Call::Attempted(..) | Call::Outcome(..) | Call::Ended(..) | Call::Sweep => {
                ("daemon", "plane")
            }
            Call::Published(..) => ("broker", "plane"),
            Call::Resolve(_) | Call::ReleaseQuarantine(_) => ("operator", "plane"),
            Call::Forge(_) => ("intruder", "plane"),
        },
    }
}
