//! What is known of one agent, by where it comes from; and that something is not known, which is never the same as
//! nothing.
//!
//! Values only: projections of what plane, wake daemon, station and state directory say (AUD-8). Not here: how it is
//! asked for (`ask`, `files`), and what follows from it (`judge`).

use awakener_kernel::fuse::Reading;
use awakener_kernel::ids::{MessageId, Target};
use awakener_kernel::station::{LatchCause, PhaseName, RefusedCause};
use awakener_kernel::time::Wall;
use awakener_kernel::values::DispatchOutcome;
use awakener_kernel::waker::{Capability, Notice, Phase};
use serde::Deserialize;
use serde_json::Value;

use crate::http::wire::status::TargetStatus;
use crate::http::wire::utc;

/// What a source says, or that it does not.
#[derive(Clone, Debug, PartialEq)]
pub enum Source<T> {
    /// It said this.
    Known(T),
    /// Nobody listens where it should be.
    Silent,
    /// It could not be read, and why.
    Unread(String),
    /// There is none: not configured, or a part of a plane that does not run.
    Absent,
}

impl<T> Source<T> {
    /// What it said, if it did.
    pub const fn known(&self) -> Option<&T> {
        match self {
            Self::Known(known) => Some(known),
            Self::Silent | Self::Unread(_) | Self::Absent => None,
        }
    }

    /// Why it is not known, if it should be.
    pub fn missing(&self) -> Option<&str> {
        match self {
            Self::Known(_) | Self::Absent => None,
            Self::Silent => Some("nothing listens at its address"),
            Self::Unread(why) => Some(why),
        }
    }
}

/// Everything about one agent.
#[derive(Clone, Debug)]
pub struct Facts {
    /// Which.
    pub target: Target,
    /// By the clock of whoever looks.
    pub now: Wall,
    /// What the plane has.
    pub plane: Source<PlaneFacts>,
    /// What lies in the state directory.
    pub files: Source<FileFacts>,
    /// What the wake daemon has.
    pub wake: Source<WakeFacts>,
    /// What its hosted station has; absent if none is configured here.
    pub station: Source<StationFacts>,
}

/// Why Tier-0 is closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shut {
    /// The plane's start is not on record yet.
    NotStarted,
    /// The manifest was refused.
    ManifestRefused,
    /// The audit chain does not verify.
    ChainBroken,
    /// The audit chain is still being walked.
    ChainWalked,
    /// The clock stepped back.
    ClockBehind,
}

/// What the roster means for this target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RosterFact {
    /// There is none.
    Absent,
    /// It cannot be used.
    Malformed,
    /// It is over, since then.
    Expired(Wall),
    /// It names others.
    NotListed,
    /// It names this target.
    Listed,
}

/// The plane's part.
#[derive(Clone, Debug, PartialEq)]
pub struct PlaneFacts {
    /// Whether it runs; if not, this was read from its store.
    pub running: bool,
    /// Why Tier-0 is closed; `None` = open.
    pub shut: Option<Shut>,
    /// Whether everything is stopped.
    pub stopped: bool,
    /// The end of a pause of all, if one holds.
    pub fleet_pause: Option<Wall>,
    /// The end of its own pause, if one holds.
    pub pause: Option<Wall>,
    /// The end of its grant, past or to come.
    pub grant: Option<Wall>,
    /// The roster.
    pub roster: RosterFact,
    /// Whether a valid ACK key is registered for it.
    pub can_ack: bool,
    /// What its mailbox holds.
    pub mail: TargetStatus,
    /// Unfinished messages that nobody read yet.
    pub unread: u64,
    /// An outstanding alert with a recorded result.
    pub answered: Option<MessageId>,
    /// Attempts before quarantine (INB-8).
    pub attempts_limit: u32,
    /// Hints on schedule, the first included (EMT-3).
    pub emissions_limit: u32,
}

/// What lies in the state directory about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileFacts {
    /// The directory, for commands that name it.
    pub state: String,
    /// Whatever lies at its latch path (FUS-6).
    pub latch: Option<LatchFact>,
    /// Whether `stop-all` holds.
    pub stop_all: bool,
    /// Whether its own pause file holds.
    pub pause: bool,
}

/// A latch.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct LatchFact {
    /// When it tripped, if that can be read.
    #[serde(default)]
    pub at: Option<Wall>,
    /// Why, if that can be read.
    #[serde(default)]
    pub cause: Option<LatchCause>,
    /// Whether a command to clear it was accepted and has not come to its end.
    #[serde(default, deserialize_with = "present")]
    pub clearing: bool,
}

fn present<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<bool, D::Error> {
    Ok(Option::<Value>::deserialize(deserializer)?.is_some_and(|value| !value.is_null()))
}

/// The wake daemon's part.
#[derive(Clone, Debug, PartialEq)]
pub struct WakeFacts {
    /// Its name at the plane.
    pub daemon: String,
    /// Whether the plane answered it last time.
    pub plane_reachable: bool,
    /// The waker of this target; `None` = it serves others.
    pub waker: Option<WakerFacts>,
}

/// One waker, as its daemon shows it. Members that are not needed are not read.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct WakerFacts {
    /// Whose.
    pub target: Target,
    /// Where it stands.
    pub phase: Phase,
    /// Since when.
    #[serde(with = "utc")]
    pub since: Wall,
    /// What keeps an accepted wake from being dispatched, as it stands there.
    pub held_by: Option<Value>,
    /// What the manifest allows; absent for a target that it does not name.
    pub capability: Option<Capability>,
    /// Whether a pause file of the daemon's directory holds it.
    pub paused: bool,
    /// The open flight.
    pub flight: Option<FlightFacts>,
    /// How long cooldown and back-off last, milliseconds.
    pub rests_ms: u64,
    /// The whole cooldown, milliseconds.
    pub cooldown_ms: u64,
    /// Definite failures in a row.
    pub failures: u32,
    /// What the adapter said last.
    pub last_outcome: Option<DispatchOutcome>,
}

/// An open flight.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
pub struct FlightFacts {
    /// For which alert.
    pub message: MessageId,
    /// Since when.
    #[serde(with = "utc")]
    pub started: Wall,
    /// What is known of its start.
    pub notice: Notice,
    /// Whether work was read under it.
    pub read: bool,
}

/// The station's part, as it shows it.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct StationFacts {
    /// Whose.
    pub target: Target,
    /// Where it is.
    pub phase: PhaseName,
    /// Since when.
    #[serde(with = "utc")]
    pub since: Wall,
    /// What forbids work, in REFUSED.
    #[serde(default)]
    pub refused_by: Option<Vec<RefusedCause>>,
    /// Its latch.
    #[serde(default)]
    pub latch: Option<LatchFact>,
    /// The turn that runs or is cleaned up.
    #[serde(default)]
    pub turn: Option<TurnFacts>,
    /// The end of the shortest rest of failed work (STN-9).
    #[serde(default)]
    pub rests_until: Option<String>,
    /// What the fuse has counted (FUS-2).
    pub turns: Reading,
    /// What it judges by.
    pub limits: FuseLimits,
}

/// The limits of the count backstop in force (FUS-1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
pub struct FuseLimits {
    /// Turns an hour.
    pub turns_per_hour: u32,
    /// Turns a day.
    pub turns_per_day: u32,
    /// Turns a boot.
    pub turns_per_boot: u32,
}

/// A turn.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct TurnFacts {
    /// The turn and its message.
    pub turn: awakener_kernel::values::TurnRef,
}

impl Facts {
    /// The plane's part, if it is known.
    pub const fn plane(&self) -> Option<&PlaneFacts> {
        self.plane.known()
    }

    /// The station's part, if it is known.
    pub const fn station(&self) -> Option<&StationFacts> {
        self.station.known()
    }

    /// The waker, if it is known.
    pub fn waker(&self) -> Option<&WakerFacts> {
        self.wake.known().and_then(|wake| wake.waker.as_ref())
    }

    /// Whether a station is configured here.
    pub const fn hosted(&self) -> bool {
        !matches!(self.station, Source::Absent)
    }
}
