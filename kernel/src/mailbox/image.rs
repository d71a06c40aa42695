//! The durable truth of one target's mailbox: a compact image, and one [`Entry`] per message kept as a row.
//!
//! The image holds only what decisions need at once: counters, cursor, outstanding witnesses, the lease, the permit,
//! and the progress of unfinished messages that somebody has touched. What a record means for rows stands here too
//! ([`Entry::apply`], [`Record::row`]), so that no store interprets records a second time.
//!
//! Not here: bodies, positions of readers (they present them), the audit chain. Rules: INB-1…4, ACK-1, ACK-2.

use alloc::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::ranges::Ranges;
use crate::config::Config;
use crate::ids::{ContentHash, DaemonName, Fence, Holder, KeyId, MessageId, Principal, SchemaRef, Seq, Tier};
use crate::ids::{Nonce, Token, TurnId, WakeId};
use crate::machine;
use crate::time::Wall;
use crate::values::{AckOutcome, By, Finish, FlightEnd, FlightReport, Response};
use awakener_spec::Reason;

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
    /// The recorded result.
    pub response: Option<(TurnId, Response)>,
    /// How its witness was closed; Tier-0 only.
    pub closed: Option<Closed>,
    /// How nothing more came to be owed (INB-3).
    pub finished: Option<Finished>,
    /// Set aside for the operator (INB-8).
    pub quarantined: bool,
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

/// An outstanding alert.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Witness {
    /// The alert.
    pub message: MessageId,
    /// When it was admitted.
    pub opened: Wall,
    /// Scheduled emissions used up, refused ones included (EMT-3).
    pub emissions: u32,
    /// When the last of them was used.
    pub last: Wall,
    /// Whether the operator was told of its age (ACK-9).
    pub escalated: bool,
}

/// What was done so far about an unfinished message.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Progress {
    /// Attempts used up (INB-8, DSP-2).
    pub attempts: u32,
    /// Whether it was ever read under a lease.
    pub read: bool,
    /// The last turn and how it ended.
    pub turn: Option<(TurnId, Finish)>,
    /// The recorded result.
    pub response: Option<(TurnId, Response)>,
    /// Set aside for the operator; for Tier-0 the witness stays open.
    pub quarantined: bool,
}

/// A message under a lease.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Claimed {
    /// Its id.
    pub message: MessageId,
    /// Its tier.
    pub tier: Tier,
    /// Its sender, for the queue count.
    pub principal: Principal,
    /// Depth of its causal chain, for ADM-12.
    pub depth: u32,
    /// Whether it was read under this lease.
    pub read: bool,
}

/// The right to work on claimed messages.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Lease {
    /// Its fencing token.
    pub fence: Fence,
    /// Who has it.
    pub holder: Holder,
    /// When it was taken or last renewed.
    pub at: Wall,
    /// What it covers.
    pub claimed: BTreeMap<Seq, Claimed>,
}

/// The one permit, or the flight that came of it.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Granted {
    /// Its fencing token.
    pub fence: Fence,
    /// The daemon that has it.
    pub daemon: DaemonName,
    /// The wake it was granted for.
    pub wake: WakeId,
    /// The alert.
    pub seq: Seq,
    /// When it was granted, or when the flight was reported.
    pub at: Wall,
    /// Whether a flight was reported under it.
    pub flying: bool,
    /// Whether work was read since.
    pub read: bool,
}

/// Everything durable that decisions need.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Image {
    /// The highest sequence in use; the next message gets the one after it (INB-2).
    pub last: Option<Seq>,
    /// Everything up to here is finished (INB-4).
    pub cursor: Option<Seq>,
    /// Finished messages beyond the cursor.
    pub ahead: Ranges,
    /// Outstanding alerts (ACK-1).
    pub witnesses: BTreeMap<Seq, Witness>,
    /// Unfinished messages that somebody touched.
    pub progress: BTreeMap<Seq, Progress>,
    /// Unfinished messages per sender (PRT-2).
    pub queued: BTreeMap<Principal, u32>,
    /// The live lease.
    pub lease: Option<Lease>,
    /// The last fencing token of a lease.
    pub lease_fence: Fence,
    /// The live permit.
    pub permit: Option<Granted>,
    /// The last fencing token of a permit.
    pub permit_fence: Fence,
    /// The last freshness token that was allocated (EMT-1); its epoch is the emitter's (EMT-2).
    pub token: Option<Token>,
    /// The epoch of the last emitter start.
    pub epoch: u32,
}

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
        /// The alert's id.
        message: MessageId,
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

impl Entry {
    /// Makes a record that names this row part of it. Other records change nothing.
    pub const fn apply(&mut self, record: &Record) {
        match record {
            Record::Read { .. } => self.read = true,
            Record::TurnFinished { turn, finish, .. } => self.turn = Some((*turn, *finish)),
            Record::Responded { turn, response, .. } => self.response = Some((*turn, *response)),
            Record::WitnessClosed { closed, .. } => self.closed = Some(*closed),
            Record::Finished { how, .. } => self.finished = Some(*how),
            Record::Quarantined { .. } => self.quarantined = true,
            Record::QuarantineReleased { .. } => self.quarantined = false,
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

impl Image {
    /// Whether nothing more is owed about `seq`.
    pub fn is_finished(&self, seq: Seq) -> bool {
        self.cursor.is_some_and(|c| seq <= c) || self.ahead.contains(seq)
    }

    /// The sequence that the next message gets.
    pub fn next(&self) -> Seq {
        self.last.map_or(Seq::FIRST, Seq::next)
    }

    /// The sequence that the cursor waits for.
    pub fn awaited(&self) -> Seq {
        self.cursor.map_or(Seq::FIRST, Seq::next)
    }

    /// Outstanding alerts that may still be worked on, oldest first (DSP-11).
    pub fn workable<'a>(&'a self, config: &'a Config) -> impl Iterator<Item = (Seq, &'a Witness)> + 'a {
        self.witnesses.iter().filter_map(|(seq, witness)| {
            let progress = self.progress.get(seq).copied().unwrap_or_default();
            (!progress.quarantined && progress.attempts < config.attempts).then_some((*seq, witness))
        })
    }

    fn touched(&mut self, seq: Seq) -> &mut Progress {
        self.progress.entry(seq).or_default()
    }
}

impl machine::Image for Image {
    type Record = Record;

    fn apply(&mut self, record: &Record) {
        match record {
            Record::Admitted { seq, entry } => {
                self.last = Some(*seq);
                let queued = self.queued.entry(entry.principal.clone()).or_default();
                *queued = queued.saturating_add(1);
                if entry.tier == Tier::Zero {
                    let (message, opened) = (entry.id, entry.admitted);
                    let witness = Witness { message, opened, emissions: 0, last: opened, escalated: false };
                    self.witnesses.insert(*seq, witness);
                }
            }
            Record::EpochStarted { epoch } => self.epoch = *epoch,
            Record::Minted { seq, token, at, scheduled, .. } => {
                self.token = Some(*token);
                if *scheduled {
                    self.use_emission(*seq, *at);
                }
            }
            Record::EmissionRefused { seq, at, .. } => self.use_emission(*seq, *at),
            Record::Published { .. } => {}
            Record::PermitGranted { granted, .. } => {
                self.permit_fence = granted.fence;
                self.permit = Some(granted.clone());
            }
            Record::FlightReported { fence, report, at, .. } => self.fly(*fence, *report, *at),
            Record::AttemptWithoutRead { seq, .. } => {
                let progress = self.touched(*seq);
                progress.attempts = progress.attempts.saturating_add(1);
            }
            Record::Leased { lease } => {
                self.lease_fence = lease.fence;
                self.lease = Some(lease.clone());
            }
            Record::Renewed { at } => {
                if let Some(lease) = &mut self.lease {
                    lease.at = *at;
                }
            }
            Record::LeaseEnded { .. } => self.lease = None,
            Record::Read { seq, .. } => self.read(*seq),
            Record::TurnFinished { seq, turn, finish, .. } => self.touched(*seq).turn = Some((*turn, *finish)),
            Record::Responded { seq, turn, response, .. } => {
                self.touched(*seq).response = Some((*turn, *response));
            }
            Record::WitnessClosed { seq, .. } => {
                self.witnesses.remove(seq);
            }
            Record::Finished { seq, principal, .. } => self.finish(*seq, principal),
            Record::CursorAdvanced { to } => {
                let awaited = self.awaited();
                self.ahead.take_from(awaited);
                self.cursor = Some(*to);
            }
            Record::Quarantined { seq, .. } => self.touched(*seq).quarantined = true,
            Record::QuarantineReleased { seq, .. } => {
                let progress = self.touched(*seq);
                progress.quarantined = false;
                progress.attempts = 0;
            }
            Record::Escalated { seq, .. } => {
                if let Some(witness) = self.witnesses.get_mut(seq) {
                    witness.escalated = true;
                }
            }
        }
    }
}

/// The leaves of [`machine::Image::apply`].
impl Image {
    fn use_emission(&mut self, seq: Seq, at: Wall) {
        if let Some(witness) = self.witnesses.get_mut(&seq) {
            witness.emissions = witness.emissions.saturating_add(1);
            witness.last = at;
        }
    }

    fn fly(&mut self, fence: Fence, report: FlightReport, at: Wall) {
        let Some(permit) = self.permit.as_mut().filter(|p| p.fence == fence) else { return };
        match report {
            FlightReport::Attempted => {
                permit.flying = true;
                permit.at = at;
            }
            FlightReport::Outcome(_) => {}
            FlightReport::Ended(_) => self.permit = None,
        }
    }

    fn read(&mut self, seq: Seq) {
        let progress = self.touched(seq);
        progress.attempts = progress.attempts.saturating_add(1);
        progress.read = true;
        if let Some(claimed) = self.lease.as_mut().and_then(|lease| lease.claimed.get_mut(&seq)) {
            claimed.read = true;
        }
        if let Some(permit) = &mut self.permit {
            permit.read = true;
        }
    }

    fn finish(&mut self, seq: Seq, principal: &Principal) {
        self.ahead.insert(seq);
        self.progress.remove(&seq);
        if let Some(lease) = &mut self.lease {
            lease.claimed.remove(&seq);
        }
        if let Some(queued) = self.queued.get_mut(principal) {
            *queued = queued.saturating_sub(1);
            if *queued == 0 {
                self.queued.remove(principal);
            }
        }
    }
}
