//! What can happen to the registry and what comes of it. Types only; the judgement is in `step`.

use alloc::string::String;
use alloc::vec::Vec;

use awakener_spec::Reason;
use serde::{Deserialize, Serialize};

use super::image::Running;
use crate::ids::{CommandId, KeyId, MessageId, OperatorName, PlaneName, PublicKey, Target};
use crate::operator::{ActName, Denial, Outside, Presented, Roster};
use crate::time::Wall;

/// What can happen.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Input {
    /// The store is made: the plane's name, the first operator key with every scope, the audit key, and the router key
    /// that this process signs hints with, if it does (IDN-7). Once.
    Enrol {
        /// The plane.
        plane: PlaneName,
        /// Who holds the key.
        operator: OperatorName,
        /// The key.
        key: PublicKey,
        /// The key that signs checkpoints.
        audit: PublicKey,
        /// The key that signs hints.
        router: Option<PublicKey>,
    },
    /// The process starts, before it serves anyone (OPR-2, ADM-5).
    Start {
        /// What is started.
        running: Running,
        /// What the stored roster command says now that its signature was verified; `None` if it does not verify or
        /// does not parse.
        roster: Option<(KeyId, Roster)>,
    },
    /// An operator command.
    Command(Presented),
    /// One entry of the deny file, read at a boot or a recovery (OPR-2).
    Deny(Denial),
    /// The capability manifest was accepted or refused (CAP-2).
    Manifest {
        /// Accepted.
        accepted: bool,
    },
    /// The audit chain was verified (AUD-5).
    Chain {
        /// Without a break, or anchored anew after one.
        intact: bool,
    },
    /// The wall clock was read; `now` is what the store holds (EMT-6).
    Clock {
        /// What it showed.
        observed: Wall,
    },
}

/// What must be known before an input can be judged.
pub type Query = Option<Outside>;

/// What happened.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Event {
    /// The plane has a name and an operator.
    Enrolled,
    /// The process may serve.
    Started {
        /// Whether binary or configuration differ from the last start.
        changed: bool,
        /// Whether there is no roster or its stored command still holds.
        roster_sound: bool,
    },
    /// A command took effect.
    Enacted {
        /// Its id.
        id: CommandId,
        /// What it did.
        act: ActName,
    },
    /// An act from the deny file took effect.
    Denied {
        /// What it did.
        act: ActName,
    },
    /// The verdict on the manifest is noted.
    ManifestNoted,
    /// The verdict on the chain is noted.
    ChainNoted,
    /// Tier-0 is closed until the clock has caught up or an operator accepts it.
    ClockSteppedBack,
    /// The clock has caught up.
    ClockCaughtUp,
}

/// What should happen outside once the step is durable.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Effect {
    /// Tell the station of this target that it has a grant.
    Grant {
        /// Whose.
        target: Target,
        /// Until when.
        until: Wall,
    },
    /// Tell the station of this target that its grant is gone.
    Withdraw {
        /// Whose.
        target: Target,
    },
    /// Hand an authorised resolution to the mailbox (ACK-9).
    Resolve {
        /// Whose inbox.
        target: Target,
        /// Which alert.
        message: MessageId,
    },
    /// Hand an authorised release to the mailbox (INB-8).
    ReleaseQuarantine {
        /// Whose inbox.
        target: Target,
        /// Which message.
        message: MessageId,
    },
    /// Hand an authorised clear to the station, with the command that asks for it (FUS-7).
    ClearLatch {
        /// Whose.
        target: Target,
        /// The command.
        command: CommandId,
        /// Its reason, for the incident.
        reason: String,
    },
    /// Hold the store's time at this instant from now on, although it is earlier (EMT-6).
    SetClock(Wall),
    /// Start a new segment of the audit chain that names the break (AUD-5), then report with [`Input::Chain`].
    Reanchor,
    /// Tell verifiers about the router keys (HAF-3).
    PublishRing(u64),
}

/// Several effects.
pub(super) type Effects = Vec<Effect>;

/// Why nothing happened.
pub type Refusal = Reason;
