//! The phases of a station (STN-1), one struct each, and the rest of what a crash forgets.
//!
//! Nothing here is durable: after a crash only [`super::Image`] is left, and the phase follows from it.

use alloc::collections::{BTreeMap, BTreeSet};

use awakener_spec::Reason;
use serde::{Deserialize, Serialize};

use super::work::{Answer, Hand, Latency, Pass, RefusedCause, Ticket};
use crate::ids::{CommandId, MessageId, Seq};
use crate::time::Mono;

/// The phase with what belongs to it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Phase {
    /// No grant; the inbox still accumulates.
    Dark,
    /// Grant, configuration and latch allow work.
    Armed(Armed),
    /// A wake was accepted; the inbox is being reached.
    Waking(Waking),
    /// Work is being claimed.
    Reading(Reading),
    /// A turn runs.
    Cognizing(Cognizing),
    /// Result, then ACK.
    Acking(Acking),
    /// Everything is recorded; the turn is being cleaned up.
    Synced(Synced),
    /// Armed, but something forbids work.
    Refused(Refused),
    /// A latch holds.
    LatchedDown(LatchedDown),
}

/// ARMED.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Armed {
    /// When the inbox is looked at without being asked.
    pub look: Mono,
}

/// WAKING.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Waking {
    /// Of the inbox read.
    pub ticket: Ticket,
    /// When it is given up.
    pub until: Mono,
}

/// READING.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Reading {
    /// Of the claim.
    pub ticket: Ticket,
    /// When it is given up.
    pub until: Mono,
}

/// COGNIZING.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Cognizing {
    /// Of the turn.
    pub ticket: Ticket,
    /// What runs.
    pub pass: Pass,
    /// When it is stopped.
    pub until: Mono,
    /// When the lease is renewed.
    pub renew: Mono,
}

/// ACKING.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Acking {
    /// Of the step under way.
    pub ticket: Ticket,
    /// Which step it is.
    pub closing: Closing,
    /// When it is given up.
    pub until: Mono,
}

/// The steps by which a message is closed, in their order (STN-6).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Closing {
    /// The result is being recorded.
    Result(Pass, Answer),
    /// The station's own ACK is under way.
    Ack(Pass, Answer),
    /// The agent's or a human's ACK is under way; it needs no result.
    Own(MessageId, Seq, Hand),
}

impl Closing {
    /// The message that is being closed.
    pub const fn message(&self) -> MessageId {
        match self {
            Self::Result(pass, _) | Self::Ack(pass, _) => pass.turn.message,
            Self::Own(message, _, _) => *message,
        }
    }

    /// Its place.
    pub const fn seq(&self) -> Seq {
        match self {
            Self::Result(pass, _) | Self::Ack(pass, _) => pass.seq,
            Self::Own(_, seq, _) => *seq,
        }
    }
}

/// SYNCED.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Synced {
    /// What was closed.
    pub message: MessageId,
    /// Whether its latency counts.
    pub latency: Latency,
}

/// REFUSED.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Refused {
    /// Everything that forbids work now; never empty.
    pub causes: BTreeSet<RefusedCause>,
}

/// LATCHED_DOWN.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct LatchedDown {
    /// How far trip or clear have come.
    pub stage: LatchStage,
}

/// The order of a trip (FUS-4) and of a clear (FUS-7).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LatchStage {
    /// After a boot: the latch must be written again, whatever lies at its path.
    Owed(Mono),
    /// The audit record is being appended; at this moment it is late.
    Auditing(Ticket, Mono),
    /// The latch is being written; at this moment the process stops without an answer.
    Writing(Ticket, Mono),
    /// The process was told to stop.
    Down,
    /// The latch is being archived as an incident, by this command.
    Archiving(Ticket, CommandId),
    /// The archived latch is being removed.
    Removing(Ticket, CommandId),
}

/// The names of the phases (STN-1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PhaseName {
    /// No grant.
    Dark,
    /// Ready.
    Armed,
    /// Reaching the inbox.
    Waking,
    /// Claiming.
    Reading,
    /// Running a turn.
    Cognizing,
    /// Recording and acknowledging.
    Acking,
    /// Cleaning up.
    Synced,
    /// Forbidden for the moment.
    Refused,
    /// Latched.
    LatchedDown,
}

impl PhaseName {
    /// All phases in the order of STN-1.
    pub const ALL: [Self; 9] = [
        Self::Dark,
        Self::Armed,
        Self::Waking,
        Self::Reading,
        Self::Cognizing,
        Self::Acking,
        Self::Synced,
        Self::Refused,
        Self::LatchedDown,
    ];

    /// ARMED to SYNCED (STN-1).
    pub const fn is_active(self) -> bool {
        match self {
            Self::Armed | Self::Waking | Self::Reading | Self::Cognizing | Self::Acking | Self::Synced => {
                true
            }
            Self::Dark | Self::Refused | Self::LatchedDown => false,
        }
    }

    /// Why a phase that is not active does no work.
    pub const fn why_not(self) -> Option<Reason> {
        match self {
            Self::Dark => Some(Reason::NotArmed),
            Self::Refused => Some(Reason::OutOfPhase),
            Self::LatchedDown => Some(Reason::Latched),
            Self::Armed | Self::Waking | Self::Reading | Self::Cognizing | Self::Acking | Self::Synced => {
                None
            }
        }
    }
}

impl Phase {
    /// Its name.
    pub const fn name(&self) -> PhaseName {
        match self {
            Self::Dark => PhaseName::Dark,
            Self::Armed(_) => PhaseName::Armed,
            Self::Waking(_) => PhaseName::Waking,
            Self::Reading(_) => PhaseName::Reading,
            Self::Cognizing(_) => PhaseName::Cognizing,
            Self::Acking(_) => PhaseName::Acking,
            Self::Synced(_) => PhaseName::Synced,
            Self::Refused(_) => PhaseName::Refused,
            Self::LatchedDown(_) => PhaseName::LatchedDown,
        }
    }

    /// The ticket whose completion the phase waits for.
    pub const fn ticket(&self) -> Option<Ticket> {
        match self {
            Self::Waking(Waking { ticket, .. })
            | Self::Reading(Reading { ticket, .. })
            | Self::Cognizing(Cognizing { ticket, .. })
            | Self::Acking(Acking { ticket, .. })
            | Self::LatchedDown(LatchedDown {
                stage:
                    LatchStage::Auditing(ticket, _)
                    | LatchStage::Writing(ticket, _)
                    | LatchStage::Archiving(ticket, _)
                    | LatchStage::Removing(ticket, _),
            }) => Some(*ticket),
            Self::Dark
            | Self::Armed(_)
            | Self::Synced(_)
            | Self::Refused(_)
            | Self::LatchedDown(LatchedDown { stage: LatchStage::Owed(_) | LatchStage::Down }) => None,
        }
    }
}

/// A cleanup that was asked for, or that is owed since a boot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Cleaning {
    /// Its ticket.
    pub ticket: Ticket,
    /// When it is asked for again.
    pub again: Mono,
}

/// Everything that a crash forgets.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Live {
    /// The phase.
    pub phase: Phase,
    /// Tickets issued since the boot.
    pub issued: u32,
    /// When the grant ends on this boot's clock.
    pub grant_ends: Option<Mono>,
    /// Until when failed work rests.
    pub rests: BTreeMap<MessageId, Mono>,
    /// The cleanup under way.
    pub cleaning: Option<Cleaning>,
}
