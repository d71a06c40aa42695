//! What the outside saw of a station: answers that were given, turns that ran, latches, alarms, and what was wrong at
//! the moment when it happened.
//!
//! A ghost: it never looks at the machine's image or records. What a commit made durable without telling anybody is
//! known to the adversary, and so it is known here. Not here: how answers become facts ([`super::learn`]), and what
//! should be true of all this ([`super::laws`]).

use awakener_kernel::station::{Input, LatchNote, MissingAudit, PhaseName, RefusedCause, Ticket};

use super::act::End;
use super::bounds::HOUR;

/// A law about one moment that was broken at that moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Broken {
    /// The machine refused to wake from an image that it had written.
    Boot,
    /// It woke in another phase than grant and latch allow.
    Awoke,
    /// It woke without a latch although one was on record.
    Unlatched,
    /// It woke without a latch although something lay at the latch path.
    Unheeded,
    /// A change of phase that the table does not have.
    Edge,
    /// A turn was decided after a complete one on the same message.
    Repeated,
    /// Two turns at once.
    Two,
    /// More turns than the fuse allows.
    Fuse,
    /// A turn on work that closes a circle, goes too deep, or is an echo.
    Circle,
    /// A trip although nothing was used up and nothing wrong.
    Groundless,
    /// A turn beyond the attempts.
    Attempts,
    /// A turn before the message had rested.
    Restless,
    /// A turn for a model that the map does not have.
    Unmapped,
    /// A cleanup was reported that nobody owed.
    Uncalled,
    /// A cleanup was reported while the turn ran or the lease was held.
    Dirty,
    /// A result of another turn than the one whose result the mailbox has.
    OtherResult,
    /// An ACK before its result.
    AckFirst,
    /// An ACK before the mailbox knows that its turn was complete.
    Unreported,
    /// An ACK for a turn that did not end complete.
    Unobserved,
    /// An ACK of a message that is no alert.
    WrongTier,
    /// A turn was reported complete that was not.
    FalseReport,
    /// The inbox was not read between an accepted hint and a claim.
    Unread,
    /// A latch was written that says nothing true of its audit record, or not loudly.
    Silent,
    /// A latch was written before its audit record was tried.
    LatchFirst,
    /// The audit record of a trip names another latch.
    OtherLatch,
    /// A commit failed that would have tripped, and no latch was announced.
    Unannounced,
    /// The process was told to stop and nobody knew of a latch or of its absence.
    StoppedUnlatched,
    /// A latch was removed that was not kept as an incident.
    NoIncident,
    /// A latch ended without an operator's clear.
    ClearedAlone,
    /// A latency was measured that is none, or the other way round.
    Latency,
    /// A message was called closed that its mailbox has not closed.
    Unclosed,
    /// A latch was written without the audit record that its station knew of.
    Unnamed,
    /// Something was written over a latch that was found.
    Overwritten,
}

/// A call as it is remembered until its commit.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Asked {
    /// Where the machine was.
    pub from: PhaseName,
    /// What it was given.
    pub input: Input,
    /// The latch that must be written even if the commit fails (FUS-6).
    pub precaution: Option<Box<LatchNote>>,
}

/// A turn that the station decided to start.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Turn {
    /// Its number.
    pub turn: u8,
    /// Its message.
    pub message: u8,
    /// When it was decided.
    pub at: u32,
    /// In which boot.
    pub boot: u8,
    /// Whether it really started.
    pub started: bool,
    /// How it really ended.
    pub end: Option<End>,
}

/// What has to be cleaned up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Owed {
    /// A pass without a turn; a crash forgets it.
    Pass,
    /// A pass with this turn.
    Turn(u8),
}

/// What became of a message so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Past {
    /// The turn whose complete end is on record.
    pub complete: Option<u8>,
    /// Turns since it was last given fresh attempts.
    pub tries: u8,
    /// How often it was given fresh attempts, as far as the station knows.
    pub released: u8,
    /// Passes with a turn that did not close it.
    pub fails: u8,
    /// When the last of them failed.
    pub failed: u32,
    /// Whether the operator was told that its attempts are used up.
    pub stuck: bool,
}

/// A latch on record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Latched {
    /// Its number.
    pub latch: u8,
    /// When it came about.
    pub at: u32,
    /// In which boot.
    pub boot: u8,
    /// Whether the fuse tripped; else it was found.
    pub tripped: bool,
    /// Whether its audit record was tried.
    pub tried: bool,
    /// Whether the station has on record that there is one.
    pub audited: bool,
    /// What this process told the operator of a missing audit record.
    pub missing: Option<MissingAudit>,
    /// Whether this process put it at its path.
    pub written: bool,
    /// Whether this process told the operator that it could not.
    pub unwritten: bool,
    /// Whether the station knows whether it is written, in this boot.
    pub settled: bool,
    /// Whether a clear was accepted in this boot.
    pub clearing: bool,
    /// Whether one failed in this boot: then it waits for its operator.
    pub kept: bool,
}

impl Latched {
    /// A latch of which nothing is known but that it is there.
    pub const fn new(latch: u8, at: u32, boot: u8) -> Self {
        Self {
            latch,
            at,
            boot,
            tripped: false,
            tried: false,
            audited: false,
            missing: None,
            written: false,
            unwritten: false,
            settled: false,
            clearing: false,
            kept: false,
        }
    }
}

/// What the outside saw.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Seen {
    /// Turns that were decided, in order.
    pub turns: Vec<Turn>,
    /// The turn that was decided and of whose end nothing is on record.
    pub open: Option<u8>,
    /// What is to be cleaned up.
    pub owed: Option<Owed>,
    /// How that was first asked for in this boot.
    pub cleaning: Option<Ticket>,
    /// The message that is being closed.
    pub closing: Option<u8>,
    /// By message.
    pub past: [Past; 2],
    /// Until when a grant holds, in ticks of the wall clock.
    pub grant: Option<u32>,
    /// Whether the audit is unavailable, as far as the station was told.
    pub blind: bool,
    /// Whether the configuration is not valid, as far as the station was told.
    pub invalid: bool,
    /// The latch.
    pub latch: Option<Latched>,
    /// Whether a hint was accepted and the inbox was not read since.
    pub hinted: bool,
    /// What the station knows as tail.
    pub tail: Option<u8>,
    /// The last own words that were worked on, in which message, and how often in a row.
    pub echo: Option<(u8, u8, u8)>,
    /// Whether a latch was cleared, and in which boot.
    pub cleared: Option<u8>,
    /// Whether a message was closed, by number.
    pub closed: [bool; 2],
    /// Whether the process was told to stop since it started.
    pub stopped: bool,
    broken: u64,
}

impl Seen {
    /// A law was broken.
    pub const fn breaks(&mut self, what: Broken) {
        self.broken |= 1 << what as u64;
    }

    /// A law was broken, unless this holds.
    pub const fn must(&mut self, holds: bool, what: Broken) {
        if !holds {
            self.breaks(what);
        }
    }

    /// Whether this law was never broken.
    pub const fn intact(&self, what: Broken) -> bool {
        self.broken & (1 << what as u64) == 0
    }

    /// Whether a grant holds at this moment.
    pub fn granted(&self, wall: u32) -> bool {
        self.grant.is_some_and(|until| until > wall)
    }

    /// The turn of this number.
    pub fn turn(&self, turn: u8) -> Option<&Turn> {
        self.turns.iter().find(|known| known.turn == turn)
    }

    /// The turn of this number, to be changed.
    pub fn turn_mut(&mut self, turn: u8) -> Option<&mut Turn> {
        self.turns.iter_mut().find(|known| known.turn == turn)
    }

    /// How many of the turns that `which` picks began within the hour before `now`.
    pub fn in_hour(&self, now: u32, which: impl Fn(&Turn) -> bool) -> usize {
        self.turns.iter().filter(|turn| which(turn) && turn.at + HOUR > now).count()
    }

    /// How many of the turns that `which` picks began in this boot.
    pub fn in_boot(&self, boot: u8, which: impl Fn(&Turn) -> bool) -> usize {
        self.turns.iter().filter(|turn| which(turn) && turn.boot == boot).count()
    }

    /// Whether this cause is known to the station.
    pub const fn cause(&mut self, cause: RefusedCause) -> &mut bool {
        match cause {
            RefusedCause::AuditUnavailable => &mut self.blind,
            RefusedCause::ConfigInvalid => &mut self.invalid,
        }
    }

    /// How often in a row these words would be answered with this message.
    pub fn echo_with(&self, words: u8, message: u8) -> u8 {
        match self.echo {
            Some((_, last, run)) if last == message => run,
            Some((last, _, run)) if last == words => run + 1,
            Some(_) | None => 1,
        }
    }

    /// Whether the station may not work, as far as the outside knows.
    pub fn forbidden(&self, wall: u32) -> bool {
        !self.granted(wall) || self.latch.is_some() || self.blind || self.invalid
    }
}
