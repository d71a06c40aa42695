//! The durable facts of a mailbox, as a closed list.
//!
//! Receipts are a projection of these ([`crate::receipt`]), the image their sum ([`super::image::Image`]), and
//! [`Record::row`] says which message row each of them touches. Rules: INB-1, AUD-2, RCP-1.

use serde::{Deserialize, Serialize};

use super::entry::{Closed, Entry, Finished};
use super::image::{Granted, Lease};
use crate::ids::{Fence, MessageId, Nonce, Principal, Seq, Token, TurnId, WakeId};
use crate::time::Wall;
use crate::values::{Finish, FlightEnd, FlightReport, Response};
use awakener_spec::Reason;

/// One durable fact of a mailbox.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Record {
    /// A message, and for Tier-0 its witness (INB-1, ACK-1).
    Admitted {
        /// Its place.
        seq: Seq,
        /// The row.
        entry: Entry,
    },
    /// The emitter started anew (EMT-2).
    EpochStarted {
        /// Above everything known.
        epoch: u32,
    },
    /// A token was allocated for a hint (EMT-1).
    Minted {
        /// The alert.
        seq: Seq,
        /// The alert's id.
        message: MessageId,
        /// The hint's id.
        wake: WakeId,
        /// The hint's nonce.
        nonce: Nonce,
        /// Its freshness.
        token: Token,
        /// When.
        at: Wall,
        /// Whether it uses up the schedule (EMT-3) or answers a sweep (DSP-11).
        scheduled: bool,
    },
    /// A scheduled emission was used up without a hint (EMT-3).
    EmissionRefused {
        /// The alert.
        seq: Seq,
        /// When.
        at: Wall,
        /// Why.
        why: Reason,
    },
    /// What became of a hint at the broker client (EMT-4).
    Published {
        /// The hint.
        wake: WakeId,
        /// Handed over, or failed.
        handed_over: bool,
    },
    /// A permit was granted (DSP-7).
    PermitGranted {
        /// The permit.
        granted: Granted,
    },
    /// What a wake daemon reported of a flight.
    FlightReported {
        /// The wake.
        wake: WakeId,
        /// Under which permit.
        fence: Fence,
        /// The alert.
        message: MessageId,
        /// What.
        report: FlightReport,
        /// When.
        at: Wall,
    },
    /// An attempt was used up by a flight that ended without `inbox_read` (DSP-2).
    AttemptWithoutRead {
        /// The alert.
        seq: Seq,
        /// How the flight ended.
        end: FlightEnd,
    },
    /// Work was taken (INB-7).
    Leased {
        /// The lease.
        lease: Lease,
    },
    /// The lease lives on.
    Renewed {
        /// When.
        at: Wall,
    },
    /// The lease is over.
    LeaseEnded {
        /// Which.
        fence: Fence,
        /// Whether its time ran out.
        expired: bool,
    },
    /// `inbox_read`: claimed work was read for the first time under this lease (INB-8).
    Read {
        /// The message.
        seq: Seq,
        /// Its id.
        message: MessageId,
    },
    /// A turn ended (OBS-1).
    TurnFinished {
        /// The message.
        seq: Seq,
        /// Its id.
        message: MessageId,
        /// The turn.
        turn: TurnId,
        /// How.
        finish: Finish,
    },
    /// A result was recorded (STN-6).
    Responded {
        /// The message.
        seq: Seq,
        /// Its id.
        message: MessageId,
        /// The turn.
        turn: TurnId,
        /// What.
        response: Response,
    },
    /// A witness was closed (ACK-3, ACK-9).
    WitnessClosed {
        /// The alert.
        seq: Seq,
        /// Its id.
        message: MessageId,
        /// How.
        closed: Closed,
    },
    /// Nothing more is owed (INB-3).
    Finished {
        /// The message.
        seq: Seq,
        /// Its id.
        message: MessageId,
        /// Its sender.
        principal: Principal,
        /// How.
        how: Finished,
    },
    /// Everything up to here is finished (INB-4, ACK-10).
    CursorAdvanced {
        /// The new cursor.
        to: Seq,
    },
    /// Set aside for the operator (INB-8). Never closes a witness.
    Quarantined {
        /// The message.
        seq: Seq,
        /// Its id.
        message: MessageId,
    },
    /// Given back by an operator, with fresh attempts.
    QuarantineReleased {
        /// The message.
        seq: Seq,
        /// Its id.
        message: MessageId,
    },
    /// The operator is to be told (ACK-9).
    Escalated {
        /// The alert.
        seq: Seq,
        /// Its id.
        message: MessageId,
    },
}

/// What a record does to the message rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowChange<'a> {
    /// No row is touched.
    None,
    /// A new row.
    Insert(Seq, &'a Entry),
    /// [`Entry::apply`] must run on this row.
    Update(Seq),
}

impl Record {
    /// What this record does to the message rows.
    pub const fn row(&self) -> RowChange<'_> {
        match self {
            Self::Admitted { seq, entry } => RowChange::Insert(*seq, entry),
            Self::Read { seq, .. }
            | Self::TurnFinished { seq, .. }
            | Self::Responded { seq, .. }
            | Self::WitnessClosed { seq, .. }
            | Self::Finished { seq, .. }
            | Self::Quarantined { seq, .. }
            | Self::QuarantineReleased { seq, .. } => RowChange::Update(*seq),
            Self::EpochStarted { .. }
            | Self::Minted { .. }
            | Self::EmissionRefused { .. }
            | Self::Published { .. }
            | Self::PermitGranted { .. }
            | Self::FlightReported { .. }
            | Self::AttemptWithoutRead { .. }
            | Self::Leased { .. }
            | Self::Renewed { .. }
            | Self::LeaseEnded { .. }
            | Self::CursorAdvanced { .. }
            | Self::Escalated { .. } => RowChange::None,
        }
    }
}
