//! The closed lists of a row: its state, and why it is in it.
//!
//! Names as they stand in JSON. Not here: which one applies (`judge`), and how it is said (`words`).

use awakener_spec::Rule;
use serde::{Deserialize, Serialize};

/// What an agent is doing, for whoever has one look.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// It goes on only when a person acts.
    NeedsInput,
    /// Something broke; going on by itself is not to be expected.
    Failed,
    /// What would have to be known for any other word could not be read.
    Unknown,
    /// It works, or work waits that goes on by itself.
    Working,
    /// Nothing is under way and nothing waits that somebody would have to do.
    Idle,
}

impl State {
    /// Its words, for people.
    pub const fn words(self) -> &'static str {
        match self {
            Self::NeedsInput => "needs input",
            Self::Failed => "failed",
            Self::Unknown => "unknown",
            Self::Working => "working",
            Self::Idle => "idle",
        }
    }
}

macro_rules! causes {
    ($( $(#[$doc:meta])* $name:ident : $rule:ident ),* $(,)?) => {
        /// Why a row is as it is.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(rename_all = "snake_case")]
        pub enum Cause { $( $(#[$doc])* $name, )* }

        impl Cause {
            /// Every cause, in the order of the list.
            pub const ALL: &[Self] = &[ $( Self::$name, )* ];

            /// The rule behind it.
            pub const fn rule(self) -> Rule {
                match self { $( Self::$name => Rule::$rule, )* }
            }
        }
    };
}

causes! {
    /// The plane's part could not be read.
    PlaneUnread: Con1,
    /// The plane does not run.
    PlaneDown: Inb10,
    /// The state directory could not be read.
    FilesUnread: Con1,
    /// A latch lies there.
    Latched: Fus6,
    /// A clear was accepted and has not come to its end.
    LatchClearing: Fus7,
    /// The station refuses work: audit or configuration.
    StationRefused: Stn3,
    /// An alert was set aside.
    Quarantined: Inb8,
    /// The station works.
    AtWork: Stn1,
    /// An agent works under a lease.
    LeaseHeld: Inb7,
    /// A person was told and must submit.
    HumanTold: Dsp8,
    /// After a restart nobody knows what became of the flight.
    FateUnknown: Dsp12,
    /// Nobody knows whether the runtime has the notice.
    DispatchUnknown: Dsp5,
    /// The runtime was told, or is being told.
    FlightOpen: Dsp2,
    /// Everything is stopped.
    Stopped: Dsp10,
    /// All rest for a while.
    FleetPaused: Dsp10,
    /// It rests for a while.
    Paused: Dsp10,
    /// A pause file of a wake daemon with a state directory of its own holds it.
    DaemonPaused: Dsp10,
    /// It has no grant.
    NotArmed: Stn2,
    /// Its grant is over.
    GrantExpired: Stn2,
    /// The plane's start is not on record yet.
    NotStarted: Opr2,
    /// The manifest was refused, so no alert is admitted or hinted at.
    ManifestRefused: Cap2,
    /// The audit chain is broken, so no alert is admitted or hinted at.
    ChainBroken: Aud5,
    /// The audit chain is being walked.
    ChainWalked: Aud5,
    /// The clock stepped back, so no alert is admitted or hinted at.
    ClockBehind: Emt6,
    /// There is no roster.
    NoRoster: Adm4,
    /// The roster cannot be used.
    RosterMalformed: Adm4,
    /// The roster is over.
    RosterExpired: Adm5,
    /// The roster does not name it.
    NotOnRoster: Adm3,
    /// No valid key could acknowledge.
    CannotAck: Adm13,
    /// Its station does not run where it is configured.
    StationSilent: Stn8,
    /// Its station could not be read.
    StationUnread: Con1,
    /// Its station has used up its grant and waits for a new one.
    GrantSpent: Fus7,
    /// The next turn would trip the fuse.
    FuseUsedUp: Fus1,
    /// A result is recorded and nobody acknowledged.
    AckOwed: Ack3,
    /// No wake daemon runs where it is configured.
    WakeSilent: Dsp11,
    /// The wake daemon could not be read.
    WakeUnread: Con1,
    /// The wake daemon does not reach the plane.
    DaemonCutOff: Dsp7,
    /// The wake daemon does not serve it.
    NotServed: Cap1,
    /// Its runtime may not be woken.
    Ineligible: Dsp3,
    /// Its runtime cannot be reached.
    AdapterUnavailable: Dsp3,
    /// The alert is old and nobody works on it.
    Escalated: Ack9,
    /// Failed work rests before its next turn.
    Resting: Stn9,
    /// Its runtime is busy; it is told later.
    Busy: Dsp3,
    /// The pause after a failed dispatch.
    BackOff: Dsp3,
    /// The pause between two starts.
    Cooldown: Dsp1,
    /// Another daemon has the permit.
    PermitHeld: Dsp7,
    /// The plane is asked for a permit.
    PermitAsked: Dsp7,
    /// An accepted wake waits for its start, for a reason of the daemon.
    StartDue: Dsp1,
    /// A hint is to be minted.
    HintDue: Emt3,
    /// A hint is out, or the next one is due.
    HintOut: Emt4,
    /// All hints on schedule are used up; sweeps go on.
    SweepDue: Dsp11,
    /// Mail waits for the next look.
    MailWaits: Stn3,
    /// Nothing waits.
    AtRest: Inb3,
}
