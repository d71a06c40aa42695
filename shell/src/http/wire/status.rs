//! The status of a plane (AUD-8): projections of the one source of each number.
//!
//! What could not be read is absent and named in `could_not_read`; it is never shown as zero (CON-1).

use awakener_kernel::ids::{Fence, MessageId, Principal, Seq, Target, WakeId};
use awakener_kernel::mailbox::image::Image as Mailbox;
use awakener_kernel::registry::image::Image as Registry;
use awakener_kernel::time::{Mono, Now, Wall};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::answers::ChainHead;
use super::{V1, utc};
use crate::broker::Counters;

/// The status of a plane.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Status {
    /// Always 1.
    #[schema(value_type = u32)]
    pub v: V1,
    /// `trial` or `production` (CAP-5).
    pub mode: String,
    /// The plane's name; absent before the first operator key was enrolled.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plane: Option<String>,
    /// When, by the plane's clock.
    #[serde(with = "utc")]
    #[schema(value_type = String, format = DateTime)]
    pub now: Wall,
    /// Whether alerts may be admitted: manifest accepted, chain intact, clock sane.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tier0_open: Option<bool>,
    /// Whether everything is stopped, without an end (DSP-10).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stopped: Option<bool>,
    /// Until when the roster holds; absent when there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub roster_until: Option<String>,
    /// The end of the audit chain.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub head: Option<ChainHead>,
    /// The targets that the credential may see.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub targets: Option<Vec<TargetStatus>>,
    /// Requests that were refused before anybody was authenticated, since the start.
    pub refused_unauthenticated: u64,
    /// What takes the hints of this plane, since its start; for observers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub broker: Option<BrokerStatus>,
    /// What could not be read, and why.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub could_not_read: Vec<Unread>,
}

/// What the client of the plane's broker has counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct BrokerStatus {
    /// Hints that the client took; whether they arrived is another matter (EMT-4).
    pub handed_over: u64,
    /// Hints that it did not take.
    pub failed: u64,
    /// Hints that slow consumers of this process lost.
    pub lost: u64,
    /// Connections after the first one.
    pub reconnects: u64,
    /// Connections that the server refused for want of the right credentials.
    pub refused: u64,
    /// Whether there is a connection now; absent for brokers that have none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub connected: Option<bool>,
}

impl From<Counters> for BrokerStatus {
    fn from(counters: Counters) -> Self {
        let Counters { handed_over, failed, lost, reconnects, refused, connected } = counters;
        Self { handed_over, failed, lost, reconnects, refused, connected }
    }
}

/// A part of the status that could not be read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Unread {
    /// Which part.
    pub part: String,
    /// The refusal.
    #[schema(value_type = String)]
    pub reason: awakener_spec::Reason,
    /// For people.
    pub detail: String,
}

/// The status of one target.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct TargetStatus {
    /// Which.
    #[schema(value_type = String)]
    pub target: Target,
    /// The highest sequence; 0 before the first message.
    pub last: u64,
    /// Everything up to here is finished; 0 when nothing is (INB-4).
    pub cursor: u64,
    /// Outstanding alerts, oldest first.
    pub outstanding: Vec<OutstandingAlert>,
    /// The live lease.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lease: Option<LeaseStatus>,
    /// The permit, or the flight that came of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub permit: Option<PermitStatus>,
    /// Whether it may be woken: it has a grant and need not rest.
    pub armed: bool,
    /// Whether it must rest (DSP-10).
    pub paused: bool,
    /// Until when its grant holds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub granted_until: Option<String>,
    /// Unfinished messages per sender (PRT-2).
    pub queued: Vec<QueueStatus>,
}

/// An alert that nobody acknowledged yet.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct OutstandingAlert {
    /// Its place.
    pub seq: u64,
    /// Its id.
    #[schema(value_type = String, format = Uuid)]
    pub message: MessageId,
    /// Since when.
    #[serde(with = "utc")]
    #[schema(value_type = String, format = DateTime)]
    pub opened: Wall,
    /// Its age, milliseconds.
    pub age_ms: u64,
    /// Scheduled hints used up (EMT-3).
    pub emissions: u32,
    /// Attempts used up (INB-8).
    pub attempts: u32,
    /// Whether the operator was told (ACK-9).
    pub escalated: bool,
    /// Set aside for the operator.
    pub quarantined: bool,
}

/// A live lease.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct LeaseStatus {
    /// Who has it.
    pub holder: String,
    /// Its fencing token.
    #[schema(value_type = u64)]
    pub fence: Fence,
    /// When it was taken or last renewed.
    #[serde(with = "utc")]
    #[schema(value_type = String, format = DateTime)]
    pub at: Wall,
    /// How many messages it covers.
    pub claimed: u64,
}

/// A permit or a flight.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct PermitStatus {
    /// The daemon that has it.
    pub daemon: String,
    /// Its fencing token.
    #[schema(value_type = u64)]
    pub fence: Fence,
    /// For which hint.
    #[schema(value_type = String, format = Uuid)]
    pub wake: WakeId,
    /// Whether a flight was reported under it.
    pub flying: bool,
    /// Since when.
    #[serde(with = "utc")]
    #[schema(value_type = String, format = DateTime)]
    pub at: Wall,
}

/// What waits from one sender.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct QueueStatus {
    /// The sender.
    #[schema(value_type = String)]
    pub principal: Principal,
    /// How many of its messages are unfinished.
    pub unfinished: u32,
}

/// What is known of one target: what its mailbox holds, and what operators decided.
pub(crate) fn target_status(
    target: &Target,
    mailbox: &Mailbox,
    registry: &Registry,
    wall: Wall,
) -> TargetStatus {
    let now = Now { wall, mono: Mono(0) };
    let outstanding = mailbox
        .witnesses
        .iter()
        .map(|(seq, witness)| {
            let progress = mailbox.progress.get(seq).copied().unwrap_or_default();
            OutstandingAlert {
                seq: seq.get(),
                message: witness.message,
                opened: witness.opened,
                age_ms: wall.saturating_since(witness.opened).0,
                emissions: witness.emissions,
                attempts: progress.attempts,
                escalated: witness.escalated,
                quarantined: progress.quarantined,
            }
        })
        .collect();
    TargetStatus {
        target: target.clone(),
        last: mailbox.last.map_or(0, Seq::get),
        cursor: mailbox.cursor.map_or(0, Seq::get),
        outstanding,
        lease: mailbox.lease.as_ref().map(|lease| LeaseStatus {
            holder: lease.holder.to_string(),
            fence: lease.fence,
            at: lease.at,
            claimed: u64::try_from(lease.claimed.len()).unwrap_or(u64::MAX),
        }),
        permit: mailbox.permit.as_ref().map(|permit| PermitStatus {
            daemon: permit.daemon.to_string(),
            fence: permit.fence,
            wake: permit.wake,
            flying: permit.flying,
            at: permit.at,
        }),
        armed: registry.armed(target, now),
        paused: registry.paused(target, now),
        granted_until: registry.grants.get(target).map(|until| until.utc()),
        queued: mailbox
            .queued
            .iter()
            .map(|(principal, unfinished)| QueueStatus {
                principal: principal.clone(),
                unfinished: *unfinished,
            })
            .collect(),
    }
}
