//! Everything that can be tried in a waker world, as plain data: what traces hold and diagrams draw.
//!
//! Not here: what comes of it ([`super::steps`]), and what a hint looks like at the door ([`super::door`]).

use awakener_kernel::values::{DispatchOutcome, FlightEnd};
use awakener_kernel::waker::{Capability, Fate as Finding, Input};
use awakener_spec::Class;
use serde::{Deserialize, Serialize};

use crate::process::Fate;

/// One action.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Act {
    /// The process wakes; where nothing switches in this scope, its manifest is read in the same transaction.
    Boot,
    /// The open transaction commits.
    Commit,
    /// It does not, or nobody knows.
    CommitFails(Fate),
    /// Everything that is not on disk is gone.
    Crash,
    /// A millisecond passes.
    Tick,
    /// The daemon's wall clock is set back, by so many milliseconds.
    ClockBack(u8),
    /// It is set ahead.
    ClockAhead(u8),
    /// A timer rings, rightly or not.
    Fire,
    /// Bytes come that claim to be a hint.
    Present(Shown),
    /// The completion at this place of the queue comes.
    Complete(u8),
    /// It comes, and will come again.
    CompleteTwice(u8),
    /// It is lost.
    Lose(u8),
    /// A completion comes that nothing asked for.
    Invent(Input),
    /// The operator pauses all starts.
    Pause,
    /// The pause is over.
    Resume,
    /// The manifest says this from now on.
    Manifest(Capability),
    /// The connection to the plane is back.
    Reconnect,
    /// The plane's answer to a question.
    Plane(Word),
    /// The adapter's answer to a dispatch.
    Adapter(Told),
    /// What a probe finds.
    Probe(Finding),
    /// What a sweep finds.
    Sweep(Look),
    /// A runtime reads its inbox.
    Read(u64),
    /// What a flight started comes to an end.
    End(u64, FlightEnd),
}

/// Bytes that claim to be a hint. Each forgery has every later fault of VER-1's order as well that its kind can have,
/// so that the order of judgement shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Shown {
    /// A hint that the plane minted: the first time, again, or out of order.
    Minted(u8),
    /// Not a hint.
    Garbage,
    /// That hint, signed with a key that the ring does not have.
    Foreign(u8),
    /// Signed with a key of the ring that does not hold any more.
    Lapsed(u8),
    /// Its source names another key.
    Borrowed(u8),
    /// Changed after it was signed.
    Tampered(u8),
    /// Its subject names another target.
    Misaddressed(u8),
    /// For a target that is not served here.
    NotServed(u8),
    /// Well signed with the router's own key, which somebody stole.
    Stolen(Theft),
}

/// What a thief of the router's key signs. All are fresh by the daemon's own clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Theft {
    /// A wake that was never minted, with a token below every minted one.
    Low,
    /// With the token of the first minted hint.
    Equal,
    /// With a token between the first and the second minted one.
    Next,
    /// With the greatest token that there is.
    Far,
    /// The same, dated further ahead than the skew allows.
    Early,
    /// The same, with the nonce of that minted hint.
    Nonce(u8),
    /// That minted hint again, with a nonce and a life of the thief's own.
    Again(u8),
}

/// What the plane says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Word {
    /// Go.
    Granted,
    /// Do not.
    Withheld(Class),
    /// It cannot be reached.
    Failed,
}

/// What an adapter says, and what it did.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Told {
    /// This; something runs unless the answer excludes it.
    Says(DispatchOutcome),
    /// It starts something and says nothing.
    Silent,
    /// It cannot tell; nothing runs, which is found out and said a little later.
    NeverStarted,
}

/// What a sweep brings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Look {
    /// Nothing is outstanding.
    Nothing,
    /// A fresh hint.
    Hint,
    /// It could not be asked.
    Failed,
}

/// Who acts on whom.
pub const fn parties(act: &Act) -> (&'static str, &'static str) {
    match act {
        Act::Boot | Act::Fire => ("daemon", "waker"),
        Act::Commit | Act::CommitFails(_) => ("waker", "disk"),
        Act::Crash => ("adversary", "daemon"),
        Act::Tick | Act::ClockBack(_) | Act::ClockAhead(_) => ("clock", "daemon"),
        Act::Present(Shown::Minted(_)) => ("broker", "waker"),
        Act::Present(_) | Act::CompleteTwice(_) | Act::Lose(_) | Act::Invent(_) => ("adversary", "waker"),
        Act::Complete(_) => ("daemon", "waker"),
        Act::Pause | Act::Resume | Act::Manifest(_) => ("operator", "waker"),
        Act::Reconnect => ("broker", "waker"),
        Act::Plane(_) | Act::Sweep(_) => ("plane", "daemon"),
        Act::Adapter(_) | Act::Probe(_) => ("adapter", "daemon"),
        Act::Read(_) | Act::End(..) => ("runtime", "daemon"),
    }
}
