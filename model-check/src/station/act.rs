//! What can happen in a station world, and who does it to whom.
//!
//! Names only: what each of them comes to stands in [`super::alphabet`] (inputs), [`super::host`] (the process) and
//! [`super::outside`] (effects). Their serialised form is what traces hold.

use awakener_kernel::station::Hand;
use serde::{Deserialize, Serialize};

use crate::process::Fate;

/// One action.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Act {
    /// The process starts, or its machine is woken again after a commit that failed.
    Boot,
    /// The open transaction commits.
    Commit,
    /// It does not, or nobody knows.
    CommitFails(Fate),
    /// Everything that is not on disk is gone; what was started outside may go on.
    Crash,
    /// Two seconds pass.
    Tick,
    /// The wall clock is set, forward or back.
    Set(Way),
    /// An hour passes, and a tick.
    Hour,
    /// A deadline is due.
    Fire,
    /// Somebody says something.
    Say(Say),
    /// The first completion comes.
    Take,
    /// It comes, and will come again.
    TakeTwice,
    /// It is lost.
    Lose,
    /// A completion comes that nobody produced, with a ticket that is not waited for, or not by this.
    Odd(Kind, Which),
    /// The first effect is carried out.
    Perform(Deed, How),
    /// A turn outside comes to its end.
    TurnEnds(u8, End),
    /// The mailbox no longer honours the lease.
    Lapse,
    /// An operator gives a message fresh attempts.
    Release(u8),
    /// Another station of this target records the result of its own complete turn on the first message.
    Supplant,
    /// Something appears at the latch path.
    Plant,
    /// What lies at the latch path is taken away, without a clear.
    Snatch,
}

/// Which way a clock is set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Way {
    /// Ahead.
    Forward,
    /// Back.
    Back,
}

/// What is said to a station without being asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Say {
    /// An operator arms it anew.
    Grant,
    /// The standing grant is told again.
    GrantAgain,
    /// A grant that is longer than any may be.
    GrantTooLong,
    /// A grant that is over.
    GrantOver,
    /// An operator takes the grant away.
    Disarm,
    /// An operator takes the grant away and wants everything stopped.
    Abort,
    /// The tail of the inbox is marked (STN-7).
    MarkTail(u8),
    /// A wake is accepted.
    Hint,
    /// A poll found work.
    WorkFound,
    /// The mailbox no longer honours the lease.
    LeaseLost,
    /// It no longer honours a lease that this station does not hold.
    LeaseLostOfAnother,
    /// The agent or a human acknowledges a message.
    OwnAck(u8, Hand),
    /// Nothing can be recorded.
    AuditUnavailable,
    /// Things can be recorded again.
    AuditAvailable,
    /// The configuration is not valid.
    ConfigInvalid,
    /// It is valid again.
    ConfigValid,
    /// Something lies at the latch path.
    LatchFound,
    /// An operator clears the latch.
    Clear,
}

/// Inputs that answer an effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "the names of the kernel's inputs")]
pub enum Kind {
    InboxRead,
    DispatchFailed,
    Claimed,
    ClaimedNothing,
    TurnFinished,
    ResultRecorded,
    ResultRefused,
    AckAccepted,
    AckRefused,
    CleanupDone,
    TripAuditDone,
    LatchWritten,
    LatchArchived,
    LatchRemoved,
}

impl Kind {
    /// Every kind.
    pub const ALL: [Self; 14] = [
        Self::InboxRead,
        Self::DispatchFailed,
        Self::Claimed,
        Self::ClaimedNothing,
        Self::TurnFinished,
        Self::ResultRecorded,
        Self::ResultRefused,
        Self::AckAccepted,
        Self::AckRefused,
        Self::CleanupDone,
        Self::TripAuditDone,
        Self::LatchWritten,
        Self::LatchArchived,
        Self::LatchRemoved,
    ];
}

/// Which ticket a completion carries that nobody produced.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Which {
    /// The one that the phase waits for, but not by this kind.
    Awaited,
    /// The one of the cleanup under way.
    Cleaning,
    /// One of this boot that nothing waits for any more.
    Late,
    /// One of an earlier boot.
    Stale,
    /// One that this boot has not issued.
    Unissued,
    /// One of a boot that has not been.
    Future,
}

impl Which {
    /// Every ticket.
    pub const ALL: [Self; 6] =
        [Self::Awaited, Self::Cleaning, Self::Late, Self::Stale, Self::Unissued, Self::Future];
}

/// The effects of a station, by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "the names of the kernel's effects")]
pub enum Deed {
    ReadInbox,
    Poll,
    Claim,
    Release,
    StartTurn,
    Renew,
    ReportTurn,
    RecordResult,
    SendAck,
    ForwardAck,
    CleanUp,
    AppendTripAudit,
    WriteLatch,
    StopProcess,
    ArchiveLatch,
    RemoveLatch,
    TellOperator,
    /// The latch of a trip whose step could not be committed (FUS-6).
    Precaution,
}

/// How an effect is carried out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum How {
    /// As it was meant; what comes back is the truth.
    Done,
    /// Not at all, and it is said so where an answer is owed.
    Fails,
    /// It was done, and what comes back says that it was not.
    Half,
    /// The claim gives this message, to be run so.
    Gives(u8, LaneKind),
    /// The claim gives nothing.
    Nothing,
}

/// Who would run a turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LaneKind {
    /// A runner, with a model of the map.
    Mapped,
    /// A runner, with a model that the map does not have.
    Unmapped,
    /// The agent itself.
    Attached,
}

/// How a turn really ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum End {
    /// It ran to its end and has something to say.
    Whole,
    /// It ran to its end and has nothing to say, not even silence.
    Mute,
    /// It was cut, with something to say.
    Cut,
    /// It claims success, and its process failed.
    Clash,
    /// The agent does not report.
    Unreported,
    /// Nobody saw it.
    Unseen,
}

/// Who acts on whom.
pub const fn parties(act: &Act) -> (&'static str, &'static str) {
    match act {
        Act::Boot | Act::Crash => ("host", "station"),
        Act::Commit | Act::CommitFails(_) => ("station", "store"),
        Act::Tick | Act::Set(_) | Act::Hour | Act::Fire => ("clock", "station"),
        Act::Take | Act::TakeTwice | Act::Lose | Act::Odd(..) => ("ports", "station"),
        Act::TurnEnds(..) => ("runner", "ports"),
        Act::Lapse => ("mailbox", "station"),
        Act::Release(_) => ("operator", "mailbox"),
        Act::Supplant => ("other_station", "mailbox"),
        Act::Plant | Act::Snatch => ("host", "latch_path"),
        Act::Say(say) => match say {
            Say::Grant
            | Say::GrantAgain
            | Say::GrantTooLong
            | Say::GrantOver
            | Say::Disarm
            | Say::Abort
            | Say::MarkTail(_)
            | Say::Clear => ("operator", "station"),
            Say::Hint => ("waker", "station"),
            Say::WorkFound | Say::LeaseLost | Say::LeaseLostOfAnother => ("mailbox", "station"),
            Say::OwnAck(..) => ("agent", "station"),
            Say::AuditUnavailable
            | Say::AuditAvailable
            | Say::ConfigInvalid
            | Say::ConfigValid
            | Say::LatchFound => ("host", "station"),
        },
        Act::Perform(deed, _) => match deed {
            Deed::ReadInbox
            | Deed::Poll
            | Deed::Claim
            | Deed::Release
            | Deed::Renew
            | Deed::ReportTurn
            | Deed::RecordResult
            | Deed::SendAck
            | Deed::ForwardAck
            | Deed::CleanUp => ("station", "mailbox"),
            Deed::StartTurn => ("station", "runner"),
            Deed::AppendTripAudit => ("station", "audit"),
            Deed::WriteLatch | Deed::ArchiveLatch | Deed::RemoveLatch | Deed::Precaution => {
                ("station", "latch_path")
            }
            Deed::StopProcess => ("station", "host"),
            Deed::TellOperator => ("station", "operator"),
        },
    }
}
