//! One message as a row, and what a record does to it.
//!
//! The meaning of records for rows stands here, so that no store interprets records a second time. Not here: subject
//! and body, which no machine sees. Rules: ADM-11, INB-3, INB-8.

use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use super::record::Record;
use crate::ids::{ContentHash, KeyId, MessageId, Principal, SchemaRef, Tier, TurnId};
use crate::time::Wall;
use crate::values::{AckOutcome, By, Finish, Response};

/// One message as a row, without subject and body.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Entry {
    /// Chosen by the sender.
    pub id: MessageId,
    /// Who sent it, from its credential.
    pub principal: Principal,
    /// SHA-256 of the whole submission (ADM-7).
    pub content: ContentHash,
    /// From the schema (RTE-1).
    pub tier: Tier,
    /// What kind of message it is.
    pub schema: SchemaRef,
    /// When it was admitted.
    pub admitted: Wall,
    /// What its sender was working on (ADM-12).
    pub cause: Option<MessageId>,
    /// Length of the causal chain up to here (ADM-12).
    pub depth: u32,
    /// Whether work on it was ever read under a lease.
    pub read: bool,
    /// The last turn and how it ended.
    pub turn: Option<(TurnId, Finish)>,
    /// Every turn that ended, with its one end (RCP-2); grows with the turns that holders report.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ended: Vec<(TurnId, Finish)>,
    /// The recorded result.
    pub response: Option<(TurnId, Response)>,
    /// How its witness was closed; Tier-0 only.
    pub closed: Option<Closed>,
    /// How nothing more came to be owed (INB-3).
    pub finished: Option<Finished>,
    /// Set aside for the operator (INB-8).
    pub quarantined: bool,
    /// How often an operator gave it back.
    pub released: u32,
}

/// How a witness was closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Closed {
    /// By its target's signed ACK (ACK-3).
    Acknowledged(AckOutcome, By, KeyId),
    /// By an operator, for a target that is gone (ACK-9). Never shown as the target's ACK.
    OperatorResolved,
}

/// How a message came to be finished (INB-3).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Finished {
    /// Tier-0: its witness is closed.
    WitnessClosed,
    /// Other tiers: a response, silence or `done` is recorded.
    Responded,
    /// Other tiers: set aside for the operator.
    Quarantined,
    /// Other tiers: older than the configured age.
    Expired,
}

impl Entry {
    /// Makes a record that names this row part of it. Other records change nothing.
    pub fn apply(&mut self, record: &Record) {
        match record {
            Record::Read { .. } => self.read = true,
            Record::TurnFinished { turn, finish, .. } => {
                self.turn = Some((*turn, *finish));
                self.ended.push((*turn, *finish));
            }
            Record::Responded { turn, response, .. } => self.response = Some((*turn, *response)),
            Record::WitnessClosed { closed, .. } => self.closed = Some(*closed),
            Record::Finished { how, .. } => self.finished = Some(*how),
            Record::Quarantined { .. } => self.quarantined = true,
            Record::QuarantineReleased { .. } => {
                self.quarantined = false;
                self.released = self.released.saturating_add(1);
            }
            Record::Admitted { .. }
            | Record::EpochStarted { .. }
            | Record::Minted { .. }
            | Record::EmissionRefused { .. }
            | Record::Published { .. }
            | Record::PermitGranted { .. }
            | Record::FlightReported { .. }
            | Record::AttemptWithoutRead { .. }
            | Record::Leased { .. }
            | Record::Renewed { .. }
            | Record::LeaseEnded { .. }
            | Record::CursorAdvanced { .. }
            | Record::Escalated { .. } => {}
        }
    }
}
