//! The durable truth of one target's waker: what was accepted, what is owed for it, and the one flight.
//!
//! What need not survive is not here but in [`super::live`]: questions and sweeps that are out, deadlines on the
//! monotonic clock, pause and capability, and the look that is owed (after every recovery one is owed anyway,
//! DSP-11). Rules: VER-2, VER-3, DSP-1, DSP-2, DSP-12.

use alloc::vec::Vec;

use awakener_spec::Class;
use serde::{Deserialize, Serialize};

use super::window::{Seen, Window};
use crate::ids::{Fence, MessageId, Nonce, Token, WakeId};
use crate::machine;
use crate::time::Wall;
use crate::values::{DispatchOutcome, FlightEnd, Hint, Question};

/// One attempt to start or notify a runtime (DSP-2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Flight {
    /// Its number, never used twice for this target.
    pub attempt: u64,
    /// The accepted wake that it flies for.
    pub wake: WakeId,
    /// The alert.
    pub message: MessageId,
    /// The permit under which it was started (DSP-7).
    pub fence: Fence,
    /// When it was decided to start.
    pub started: Wall,
    /// What is known of its start.
    pub notice: Notice,
    /// Whether work was read under it (`inbox_read`).
    pub read: bool,
}

/// What is known of the start of a flight.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Notice {
    /// The adapter has not said anything yet.
    Attempting,
    /// The runtime (or a human) has the notice.
    Told,
    /// Neither success nor failure (DSP-5).
    Unknown,
}

/// Everything durable that decisions need.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Image {
    /// How often this waker was recovered; the epoch of its tickets.
    pub boot: u64,
    /// The accepted nonces (VER-3).
    pub window: Window,
    /// The greatest accepted token (VER-1).
    pub high_water: Option<Token>,
    /// The accepted wake whose start is still owed: at most one, the latest (DSP-1).
    pub pending: Option<Question>,
    /// The one flight (DSP-2).
    pub flight: Option<Flight>,
    /// The number of the last attempt; zero = none yet.
    pub attempts: u64,
    /// When it was last decided to start; the cooldown runs from here (DSP-1).
    pub last_start: Option<Wall>,
    /// Definite failures to dispatch in a row, for the back-off (DSP-3).
    pub failures: u32,
}

/// One durable fact of a waker.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Record {
    /// The waker was recovered; its tickets start anew under this epoch.
    Booted {
        /// The epoch.
        boot: u64,
        /// Expired nonces beyond the configured history, the first to expire first.
        evicted: Vec<Nonce>,
    },
    /// A hint was accepted (VER-2); its start is owed.
    Accepted {
        /// The hint.
        hint: Hint,
        /// Expired nonces that made room for it (VER-3).
        evicted: Vec<Nonce>,
    },
    /// A flight begins: written before the first byte or process (DSP-2).
    DispatchAttempted {
        /// Its number.
        attempt: u64,
        /// The accepted wake.
        wake: WakeId,
        /// The alert.
        message: MessageId,
        /// The permit.
        fence: Fence,
        /// When.
        at: Wall,
    },
    /// The adapter's answer (DSP-4).
    Dispatched {
        /// The attempt.
        attempt: u64,
        /// The answer.
        outcome: DispatchOutcome,
    },
    /// After a restart: the flight was found alive (DSP-12).
    FoundAlive {
        /// The attempt.
        attempt: u64,
    },
    /// Work was read under the flight.
    InboxRead {
        /// The attempt.
        attempt: u64,
    },
    /// The flight is over.
    FlightEnded {
        /// The attempt.
        attempt: u64,
        /// How.
        end: FlightEnd,
    },
    /// The plane does not permit the start that was owed (DSP-7).
    Dropped {
        /// The accepted wake.
        wake: WakeId,
        /// Why.
        class: Class,
    },
}

impl machine::Image for Image {
    type Record = Record;

    fn apply(&mut self, record: &Record) {
        match record {
            Record::Booted { boot, evicted } => {
                self.boot = *boot;
                self.evict(evicted);
            }
            Record::Accepted { hint, evicted } => self.accept(hint, evicted),
            Record::DispatchAttempted { attempt, wake, message, fence, at } => {
                let (attempt, wake, message, fence, started) = (*attempt, *wake, *message, *fence, *at);
                let notice = Notice::Attempting;
                self.flight = Some(Flight { attempt, wake, message, fence, started, notice, read: false });
                self.attempts = attempt;
                self.last_start = Some(started);
                self.pending = None;
            }
            Record::Dispatched { outcome, .. } => self.dispatched(*outcome),
            Record::FoundAlive { .. } => self.note(Notice::Told),
            Record::InboxRead { .. } => {
                if let Some(flight) = &mut self.flight {
                    flight.read = true;
                }
                self.failures = 0;
            }
            Record::FlightEnded { end, .. } => {
                self.flight = None;
                if *end == FlightEnd::NeverStarted {
                    self.failures = self.failures.saturating_add(1);
                }
            }
            Record::Dropped { .. } => self.pending = None,
        }
    }
}

/// The leaves of [`machine::Image::apply`].
impl Image {
    fn evict(&mut self, nonces: &[Nonce]) {
        nonces.iter().for_each(|nonce| self.window.remove(*nonce));
    }

    fn accept(&mut self, hint: &Hint, evicted: &[Nonce]) {
        self.evict(evicted);
        self.window.insert(Seen { expires: hint.expires, nonce: hint.nonce });
        self.high_water = Some(hint.token);
        self.pending = Some(Question { wake: hint.wake, message: hint.message, token: hint.token });
    }

    fn dispatched(&mut self, outcome: DispatchOutcome) {
        match outcome {
            DispatchOutcome::NotifiedVerified | DispatchOutcome::NotifiedHuman => {
                self.note(Notice::Told);
                self.failures = 0;
            }
            DispatchOutcome::OutcomeUnknown | DispatchOutcome::TypedUnverified => self.note(Notice::Unknown),
            // The end of the flight is a record of its own, in the same step.
            DispatchOutcome::NotAttempted | DispatchOutcome::RefusedBusy | DispatchOutcome::Unavailable => {}
        }
    }

    const fn note(&mut self, notice: Notice) {
        if let Some(flight) = &mut self.flight {
            flight.notice = notice;
        }
    }
}
