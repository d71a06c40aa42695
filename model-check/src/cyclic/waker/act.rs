//! What can happen in a cyclic waker world. No action carries a number that grows.

use awakener_kernel::ids::Fence;
use awakener_kernel::time::Millis;
use awakener_kernel::values::{Answer, DispatchOutcome, FlightEnd, Permit};
use awakener_kernel::waker::{self, Input, Ticket};
use serde::{Deserialize, Serialize};

use crate::process::Fate;

/// One action. A step of the machine is one transaction, and its commit has a [`Fate`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Act {
    /// The process wakes and reads its manifest.
    Boot(Fate),
    /// It is fired.
    Fire(Fate),
    /// The last completion comes once more.
    Again,
    /// The first effect of a port, or its completion, is lost.
    Lose(Port),
    /// A hint comes: the first time, again, or out of order.
    Present(Slot, Fate),
    /// The plane mints a hint; the one that was in this place is lost for ever.
    Mint(Slot),
    /// Something comes that nobody asked for.
    Stray(Stray),
    /// Everything that is not on disk is gone.
    Crash,
    /// From here on nothing crashes, no commit fails, and the plane can be reached.
    Calm,
    /// A millisecond passes.
    Tick,
    /// The plane answers the first question.
    Answer(Word, Fate),
    /// It answers the first sweep.
    Sweep(Look, Fate),
    /// The adapter carries a dispatch out, and answers; `None` = it starts something and says nothing.
    Adapter(Option<DispatchOutcome>, Fate),
    /// It looks for a flight.
    Probe(waker::Fate, Fate),
    /// What runs ends, and the daemon hears of it.
    End(Fate),
    /// What runs ends, and nobody hears of it.
    EndUnheard,
}

/// Whom effects go to, each in its own order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Port {
    /// Questions.
    Questions,
    /// Sweeps.
    Sweeps,
    /// Dispatches and probes.
    Runtime,
}

/// Where the adversary keeps a hint.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Slot {
    /// One place.
    Left,
    /// Another, so that hints can come out of order.
    Right,
}

/// What the plane says to a question.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Word {
    /// Go.
    Granted,
    /// Nothing is outstanding any more.
    NotOutstanding,
    /// Another daemon has the permit.
    PermitHeld,
    /// It cannot be reached.
    Failed,
}

/// What the plane says to a sweep.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Look {
    /// Nothing is outstanding.
    Nothing,
    /// Here is a fresh hint. It comes apart, and may be lost.
    Hint,
    /// It cannot be reached.
    Failed,
}

/// An input that nobody asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stray {
    /// A permit for a question that was never asked.
    Answer,
    /// A failure of it.
    AskFailed,
    /// The end of a dispatch that never was.
    Dispatched,
    /// What a probe found that never was.
    Probed,
    /// A sweep that never was.
    Swept,
    /// The end of an attempt that never was.
    FlightEnded,
    /// Work that was read under it.
    InboxRead,
    /// The end of a pause that never was.
    Resume,
}

impl Stray {
    pub(super) const ALL: [Self; 8] = [
        Self::Answer,
        Self::AskFailed,
        Self::Dispatched,
        Self::Probed,
        Self::Swept,
        Self::FlightEnded,
        Self::InboxRead,
        Self::Resume,
    ];

    pub(super) const fn input(self) -> Input {
        let ticket = Ticket { boot: u64::MAX, number: u64::MAX };
        match self {
            Self::Answer => {
                let permit = Permit { fence: Fence(u64::MAX), life: Millis(9) };
                Input::Answer { ticket, answer: Answer::Granted(permit) }
            }
            Self::AskFailed => Input::AskFailed { ticket },
            Self::Dispatched => Input::Dispatched { ticket, outcome: DispatchOutcome::Unavailable },
            Self::Probed => Input::Probed { ticket, fate: waker::Fate::Gone },
            Self::Swept => Input::Swept { ticket, any: true },
            Self::FlightEnded => Input::FlightEnded { attempt: u64::MAX, end: FlightEnd::ProcessEnded },
            Self::InboxRead => Input::InboxRead { attempt: u64::MAX },
            Self::Resume => Input::Resume,
        }
    }
}
