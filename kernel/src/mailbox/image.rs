//! The durable truth of one target's mailbox, compact enough to be copied.
//!
//! It holds only what decisions need at once: counters, cursor, outstanding witnesses, the lease, the permit, and the
//! progress of unfinished messages that somebody has touched. Everything else about a message is its row
//! ([`super::entry::Entry`]). Not here: bodies, positions of readers (they present them), the audit chain. Rules:
//! INB-2…4, INB-7, INB-8, ACK-1, ACK-2, EMT-1…3, DSP-7.

use alloc::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::ranges::Ranges;
use super::record::Record;
use crate::config::Config;
use crate::ids::{DaemonName, Fence, Holder, MessageId, Principal, Seq, Tier, Token, TurnId, WakeId};
use crate::machine;
use crate::time::Wall;
use crate::values::{Finish, FlightReport, Response};

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

impl Progress {
    /// Whether its attempts are used up, so that it is set aside when nobody works on it (INB-8). Work with a result
    /// waits for its ACK and has one attempt more for that, but not one after the other without end.
    pub fn spent(&self, config: &Config) -> bool {
        self.attempts >= config.attempts.saturating_add(u32::from(self.response.is_some()))
    }
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
    /// Its id.
    pub message: MessageId,
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
            Record::TurnFinished { seq, turn, finish, .. } => {
                self.touched(*seq).turn = Some((*turn, *finish))
            }
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
            Record::Quarantined { seq, .. } => {
                self.touched(*seq).quarantined = true;
                if let Some(lease) = &mut self.lease {
                    lease.claimed.remove(seq);
                }
            }
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
