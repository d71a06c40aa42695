//! The durable truth of one station: grant, fuse counters, latch, the turn, and what unfinished work still owes.
//!
//! Not here: texts of directives and replies (rows), the latch file itself, the audit chain.
//! Rules: STN-2, STN-6, STN-7, STN-9, FUS-2, FUS-5, OBS-2.

use alloc::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::record::Record;
use super::work::{
    Answer, Grant, LatchCause, LatchId, LatchNote, Latency, MissingAudit, Tail, TripAudit, Unmeasured,
};
use crate::config::Config;
use crate::fuse::Counters;
use crate::ids::{CommandId, Fence, MessageId, Seq, TurnId};
use crate::machine;
use crate::time::Wall;
use crate::values::{Finish, TurnRef};

/// Most unfinished messages that are remembered; beyond it the one that was touched longest ago is forgotten.
pub const MAX_PROGRESS: usize = 1_024;

/// A turn from its start until it is cleaned up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Turn {
    /// The turn and its message.
    pub turn: TurnRef,
    /// When it started.
    pub started: Wall,
    /// Under which lease.
    pub fence: Fence,
    /// How it ended; `None` = it runs.
    pub finish: Option<Finish>,
}

/// What was done so far about an unfinished message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Progress {
    /// Passes that did not close it: unobserved turns, results not recorded, ACKs refused (STN-9).
    pub failures: u32,
    /// Until when it rests.
    pub rests_until: Wall,
    /// When it was last touched.
    pub touched: Wall,
    /// How often an operator had given it back.
    pub released: u32,
    /// Its complete turn, if it had one; the turn is never repeated (STN-6).
    pub finished: Option<(TurnId, Answer)>,
}

/// A latch as the store knows it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Latch {
    /// Its name.
    pub latch: LatchId,
    /// Why.
    pub cause: LatchCause,
    /// When.
    pub at: Wall,
    /// What became of its audit record; `None` = not known yet.
    pub audit: Option<TripAudit>,
    /// Whether the file is known to be written.
    pub written: bool,
    /// The last accepted command to clear it. It stays latched until it is gone.
    pub clearing: Option<CommandId>,
    /// Whether it is archived as an incident.
    pub archived: bool,
}

impl Latch {
    /// What stands in the file.
    pub fn note(&self) -> LatchNote {
        let audit = self.audit.unwrap_or(TripAudit::Missing(MissingAudit::Interrupted));
        LatchNote { latch: self.latch, cause: self.cause.clone(), at: self.at, audit }
    }
}

/// Everything durable.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Image {
    /// Boots so far; the epoch of tickets.
    pub epoch: u32,
    /// The grant, if it is armed.
    pub grant: Option<Grant>,
    /// The fuse counters.
    pub counters: Counters,
    /// The latch, from the trip to the end of its clearing.
    pub latch: Option<Latch>,
    /// The turn that runs or waits for its cleanup; there is never a second one.
    pub turn: Option<Turn>,
    /// Unfinished messages that were worked on.
    pub progress: BTreeMap<MessageId, Progress>,
    /// At or below it work is backlog; `None` = not recorded.
    pub tail: Option<Tail>,
}

impl Image {
    /// Whether the latency of a message counts (STN-7).
    pub fn latency(&self, seq: Seq) -> Latency {
        awakener_spec::rule!(Stn7);
        match self.tail {
            Some(tail) if seq.get() > tail.0 => Latency::Measured,
            Some(_) | None => Latency::Unmeasured(Unmeasured::Backlog),
        }
    }

    /// Whether a message has used up its attempts (STN-9). One with a complete turn needs no attempt any more.
    pub fn exhausted(&self, config: &Config, message: MessageId) -> bool {
        self.progress.get(&message).is_some_and(|p| p.finished.is_none() && p.failures >= config.attempts)
    }

    /// The record that a boot must apply before it recovers when something lies at the latch path but the store knows
    /// of no latch (FUS-6). Readable or not makes no difference.
    pub fn adopt(&self, found: LatchId, at: Wall) -> Option<Record> {
        match self.latch {
            Some(_) => None,
            None => Some(Record::Latched { latch: found, cause: LatchCause::Found, at }),
        }
    }

    fn touch(&mut self, message: MessageId, at: Wall) -> &mut Progress {
        if !self.progress.contains_key(&message) && self.progress.len() >= MAX_PROGRESS {
            self.forget_one();
        }
        let fresh = Progress { failures: 0, rests_until: at, touched: at, released: 0, finished: None };
        let progress = self.progress.entry(message).or_insert(fresh);
        progress.touched = at;
        progress
    }

    /// One that waits for its ACK goes last, since forgetting it could repeat a turn.
    fn forget_one(&mut self) {
        let oldest =
            self.progress.iter().min_by_key(|(_, p)| (p.finished.is_some(), p.touched)).map(|(m, _)| *m);
        if let Some(message) = oldest {
            self.progress.remove(&message);
        }
    }
}

impl machine::Image for Image {
    type Record = Record;

    fn apply(&mut self, record: &Record) {
        match record {
            Record::Booted { epoch } => {
                self.epoch = *epoch;
                self.counters.booted();
            }
            Record::Granted { grant } => self.grant = Some(*grant),
            Record::GrantEnded { .. } => self.grant = None,
            Record::TailKnown { tail } => self.tail = Some(*tail),
            Record::TurnStarted { pass, work, released, at, lane: _ } => {
                self.counters.raise(*at, work);
                self.turn = Some(Turn { turn: pass.turn, started: *at, fence: pass.fence, finish: None });
                self.begin(pass.turn.message, *released, *at);
            }
            Record::TurnFinished { turn, finish, answer, at, evidence: _ } => {
                self.end_turn(*finish);
                if let (true, Some(answer)) = (finish.observed(), answer) {
                    self.touch(turn.message, *at).finished = Some((turn.turn, *answer));
                }
            }
            Record::TurnLost { .. } => self.end_turn(Finish::Unknown),
            Record::TurnResumed { pass, answer, at } => {
                let finish = Some(Finish::Complete);
                self.turn = Some(Turn { turn: pass.turn, started: *at, fence: pass.fence, finish });
                self.touch(pass.turn.message, *at).finished = Some((pass.turn.turn, *answer));
            }
            Record::PassFailed { message, rests_until, at, why: _ } => {
                let progress = self.touch(*message, *at);
                progress.failures = progress.failures.saturating_add(1);
                progress.rests_until = *rests_until;
            }
            // The mailbox has it; here it only says how far the pass came.
            Record::ResultRecorded { .. } => {}
            Record::Synced { message } => {
                self.progress.remove(message);
            }
            Record::CleanedUp { .. } => self.turn = None,
            Record::Latched { latch, cause, at } => self.latch(*latch, cause, *at),
            Record::TripAudited { audit } => self.on_latch(|latch| latch.audit = Some(*audit)),
            Record::LatchWritten => self.on_latch(|latch| latch.written = true),
            Record::ClearAccepted { command } => self.on_latch(|latch| latch.clearing = Some(*command)),
            Record::LatchArchived => self.on_latch(|latch| latch.archived = true),
            Record::LatchCleared { .. } => self.latch = None,
        }
    }
}

/// The leaves of [`machine::Image::apply`].
impl Image {
    fn begin(&mut self, message: MessageId, released: u32, at: Wall) {
        let progress = self.touch(message, at);
        if released > progress.released {
            progress.failures = 0;
            progress.released = released;
        }
    }

    const fn end_turn(&mut self, finish: Finish) {
        if let Some(turn) = &mut self.turn {
            turn.finish = Some(finish);
        }
    }

    fn latch(&mut self, latch: LatchId, cause: &LatchCause, at: Wall) {
        let (audit, written) = match cause {
            LatchCause::Tripped { .. } => (None, false),
            LatchCause::Found => (Some(TripAudit::Missing(MissingAudit::Found)), true),
        };
        let cause = cause.clone();
        self.latch = Some(Latch { latch, cause, at, audit, written, clearing: None, archived: false });
    }

    fn on_latch(&mut self, change: impl FnOnce(&mut Latch)) {
        if let Some(latch) = &mut self.latch {
            change(latch);
        }
    }
}
