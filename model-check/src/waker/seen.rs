//! What the outside saw of a waker: answers that were given, effects that left, flights that ran.
//!
//! A ghost: it never looks at the machine, its image or its records. After a commit of unknown fate it knows what the
//! adversary knows, namely what was written. What is wrong at one moment is noted at that moment ([`Broken`]). Not
//! here: what should be true of it ([`super::laws`]), and how each answer is taken in ([`super::heard`]).

use std::collections::BTreeSet;

use awakener_kernel::ids::{Fence, Token};
use awakener_kernel::values::{FlightEnd, FlightReport};
use awakener_kernel::waker::{Capability, Effect, Input, Ticket};

use super::door::Text;
use super::limits::SKEW;

/// A law about one moment that was broken at that moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Broken {
    /// The machine refused to wake from an image that it had written.
    Boot,
    /// A hint was accepted whose token is not above every accepted one.
    Token,
    /// Something was accepted or permitted without the plane's word about it.
    Unasked,
    /// A hint was accepted after its end.
    Late,
    /// A hint was accepted into a history full of hints that could still come again.
    Full,
    /// A hint that was asked about got another class than the first that applies.
    Class,
    /// The start of an accepted wake was given up without the plane's word, or because another has the permit.
    Dropped,
    /// A start for another wake than the latest accepted one.
    Superseded,
    /// A start within the cooldown.
    Cooldown,
    /// A start within the back-off.
    BackOff,
    /// A start during a flight.
    Second,
    /// A start while the outcome of the last one was unknown.
    Unsure,
    /// A start while the fate of a flight from before a restart was unknown.
    Resolving,
    /// A start while paused.
    Paused,
    /// A start of a runtime that may not be woken.
    Ineligible,
    /// A dispatch that says attended where no human is, or the other way round.
    Attended,
    /// A dispatch that leaves the process without the permit that was given last, or under one that was used.
    Permit,
    /// A dispatch that leaves the process without a report before it.
    Unreported,
    /// The end of a flight without a report.
    Silent,
    /// A flight ended in another way than was reported.
    Misreported,
    /// A flight of unknown fate ran out, and the operator was not told.
    Untold,
    /// A look that nothing owed, before a whole `sweep` was over since the last one.
    Restless,
    /// The plane was asked again at once after it had not answered, or had said that another has the permit.
    Impatient,
    /// A dispatch of a wake that the plane never minted.
    Unminted,
    /// A decision to start after the permit had run out by the plane's clock.
    Overdue,
    /// A dispatch after that.
    Spent,
    /// A dispatch while its attempt was not on disk.
    Attempt,
}

/// A call as it is remembered until its answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Asked {
    /// The input.
    pub input: Input,
    /// When it was judged.
    pub at: u8,
    /// The same by the daemon's wall clock.
    pub wall: u8,
}

/// An accepted hint.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Taken {
    /// What it said.
    pub text: Text,
    /// Whether its nonce is in the history as VER-3 words it.
    pub kept: bool,
}

/// A length of time that the daemon measures by its wall clock if it is restarted in between.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Span {
    /// When it began.
    pub at: u8,
    /// The wall clock was set ahead since.
    ahead: bool,
    /// The daemon was restarted after that: it is told less than the truth of how long it must wait.
    pub short: bool,
}

impl Span {
    /// It begins now.
    pub const fn from(at: u8) -> Self {
        Self { at, ahead: false, short: false }
    }

    /// The wall clock is set ahead.
    pub const fn clock_ahead(&mut self) {
        self.ahead = true;
    }

    /// The daemon wakes.
    pub const fn restart(&mut self) {
        self.short = self.short || self.ahead;
    }
}

/// The latest decision to start.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Start {
    /// Its number.
    pub attempt: u64,
    /// Since when.
    pub span: Span,
    /// Its flight has not ended.
    pub open: bool,
    /// The adapter could not tell what came of it.
    pub unsure: bool,
    /// Its fate is unknown since a restart.
    pub resolving: bool,
    /// A probe left the process since.
    pub probed: bool,
    /// There was a restart since.
    pub woken: bool,
    /// Whether a human was there when it was decided.
    pub attended: bool,
}

/// The permit that the plane gave last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Given {
    /// Its number.
    pub fence: Fence,
    /// For which wake.
    pub wake: u8,
    /// Its end by the plane's clock.
    pub until: u8,
    /// A dispatch left the process under it.
    pub used: bool,
}

/// What the outside saw.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Seen {
    /// The hint before the plane.
    pub asking: Option<Text>,
    /// Whether the plane could not be reached about it.
    pub held: bool,
    /// Accepted hints, in order.
    pub accepted: Vec<Taken>,
    /// Whether the latest accepted wake is still to be started, as far as anybody was told.
    pub owed: bool,
    /// The latest decision to start.
    pub start: Option<Start>,
    /// Definite failures to start in a row.
    pub failures: u8,
    /// When the last of them was known.
    pub failed_at: u8,
    /// Wakes that were dispatched, with their attempts.
    pub flown: Vec<(u8, u64)>,
    /// The permit that was given last.
    pub permit: Option<Given>,
    /// When the machine woke last.
    pub woken: u8,
    /// Whether the plane was asked what is owed since the last recovery or reconnection.
    pub swept: bool,
    /// Whether it is to be asked, for whatever reason.
    pub look: bool,
    /// The last look, until its end was heard.
    pub sweep: Option<Ticket>,
    /// Until then a timer may not bring a question that has no new cause.
    pub not_before: u8,
    /// Whether the machine was told of a pause.
    pub paused: bool,
    /// What it was told of the manifest.
    pub manifest: Option<Capability>,
    /// What went wrong.
    pub broken: BTreeSet<Broken>,
}

/// What one transaction owes the outside.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Owes {
    /// Reports of ends.
    pub ends: Vec<FlightEnd>,
    /// Warnings for the operator.
    pub warnings: usize,
}

impl Seen {
    /// Notes that something is wrong, or not.
    pub fn note(&mut self, wrong: bool, what: Broken) {
        if wrong {
            self.broken.insert(what);
        }
    }

    /// The greatest accepted token.
    pub fn high(&self) -> Option<Token> {
        self.accepted.iter().map(|taken| taken.text.token).max()
    }

    /// The nonce that goes first when there is no room, and whether it may go.
    pub fn evictable(&self, history: u32, wall: u8) -> Option<(u8, bool)> {
        let kept = || self.accepted.iter().filter(|taken| taken.kept).map(|taken| taken.text);
        if kept().count() < history as usize {
            return None;
        }
        let first = kept().min_by_key(|text| (text.expires, text.nonce))?;
        Some((first.nonce, first.expires + SKEW <= wall))
    }

    /// Whether the runtime may be woken, as far as the machine was told.
    pub const fn eligible(&self) -> bool {
        matches!(self.manifest, Some(Capability::Unattended | Capability::Attended))
    }

    /// The machine wakes: what is volatile is gone, and a look is owed.
    pub fn booted(&mut self, at: u8) {
        (self.asking, self.held, self.sweep, self.not_before) = (None, false, None, 0);
        (self.swept, self.look, self.paused, self.manifest) = (false, true, false, None);
        self.woken = at;
        if let Some(start) = &mut self.start {
            (start.resolving, start.probed) = (start.open, false);
            start.woken = true;
            start.span.restart();
        }
    }

    /// Effects leave the process after a commit.
    pub fn released(&mut self, effects: &[Effect], owes: &Owes) {
        let (mut ends, mut warnings) = (Vec::new(), 0);
        for (i, effect) in effects.iter().enumerate() {
            match *effect {
                Effect::Dispatch { attempt, wake, fence, attended, .. } => {
                    let said = Effect::Report { fence, wake, report: FlightReport::Attempted };
                    self.note(i == 0 || effects[i - 1] != said, Broken::Unreported);
                    let human = self.start.is_some_and(|s| s.attempt == attempt && s.attended);
                    self.note(attended != human, Broken::Attended);
                    let wake = crate::names::wake_number(wake);
                    let good = |given: &Given| given.fence == fence && given.wake == wake && !given.used;
                    self.note(!self.permit.as_ref().is_some_and(good), Broken::Permit);
                    if let Some(given) = &mut self.permit {
                        given.used = true;
                    }
                }
                Effect::Sweep { ticket } => {
                    (self.swept, self.sweep) = (true, Some(ticket));
                }
                Effect::Report { report: FlightReport::Ended(end), .. } => ends.push(end),
                Effect::TellOperator(_) => warnings += 1,
                Effect::Probe { attempt, .. } => {
                    let looked_up = self.start.iter_mut().filter(|start| start.attempt == attempt);
                    looked_up.for_each(|start| start.probed = true);
                }
                Effect::Ask { .. } | Effect::Report { .. } => {}
            }
        }
        self.note(ends.len() != owes.ends.len(), Broken::Silent);
        self.note(ends.len() == owes.ends.len() && ends != owes.ends, Broken::Misreported);
        self.note(warnings != owes.warnings, Broken::Untold);
    }
}
