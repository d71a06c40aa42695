//! What the outside saw of a cyclic waker world: last values and bits, no histories.
//!
//! A ghost: it looks at outcomes and performed effects only. A commit that is on disk counts as seen, also when nobody
//! was told, since what is claimed is about what happens and not about who knows.

use std::collections::BTreeSet;

use awakener_kernel::ids::{Fence, WakeId};
use awakener_kernel::machine::Outcome;
use awakener_kernel::time::Wall;
use awakener_kernel::values::FlightEnd;
use awakener_kernel::waker::{Event, Fate, Next};
use awakener_spec::Class;

use super::scope::COOLDOWN;

/// A law about one moment that was broken at that moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Broken {
    /// A hint was accepted whose token is not above the last accepted one.
    Token,
    /// The machine refused to wake from an image that it had written.
    Boot,
    /// A dispatch left the process while its attempt was not on disk.
    Attempt,
    /// A wake or an attempt was dispatched twice.
    Twice,
    /// A permit was used twice, or one that was never given.
    Permit,
    /// Something was started while something ran.
    Together,
    /// Something was started before the cooldown was over.
    Cooldown,
}

/// How far a hint that came in mid-flight has come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Landed {
    /// There is none.
    #[default]
    Not,
    /// The flight is still open.
    InFlight,
    /// The flight is over.
    After,
}

/// What was dispatched last.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Flown {
    /// Its attempt.
    pub attempt: u64,
    /// The number of its wake.
    pub wake: u64,
    /// Its permit.
    pub fence: Fence,
}

/// What the outside saw.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Seen {
    /// The number of the last accepted wake.
    pub accepted: u64,
    /// Whether an accepted wake waits for its start.
    pub waits: bool,
    /// When it was last decided to start.
    pub decided: Option<Wall>,
    /// Whether a flight is open.
    pub aloft: bool,
    /// A hint that came in mid-flight.
    pub landed: Landed,
    /// Whether the plane answered a sweep since the last recovery.
    pub looked: bool,
    /// What was dispatched last.
    pub flown: Flown,
    /// What went wrong.
    pub broken: BTreeSet<Broken>,
}

/// The number of a wake.
pub fn number(wake: WakeId) -> u64 {
    wake.as_bytes()[8..].iter().fold(0, |sum, byte| sum << 8 | u64::from(*byte))
}

impl Seen {
    /// A step is on disk.
    pub fn happened(&mut self, now: Wall, outcome: &Outcome<Event, Class>) {
        let Outcome::Advanced(event) = outcome else { return };
        match *event {
            Event::Accepted { wake, next } => {
                self.flag(self.accepted >= number(wake), Broken::Token);
                self.accepted = number(wake);
                self.waits = true;
                self.follows(now, next);
            }
            Event::Permitted { next, .. } => self.follows(now, next),
            Event::Dropped { .. } => self.waits = false,
            Event::Dispatched { outcome, .. } if outcome.certainly_nothing() => self.landed(),
            Event::FlightEnded { end, .. } => {
                let (FlightEnd::ProcessEnded
                | FlightEnd::WorkFinished
                | FlightEnd::Idle
                | FlightEnd::NeverStarted
                | FlightEnd::Expired) = end;
                self.landed();
            }
            Event::Probed(Fate::Gone) => self.landed(),
            Event::Booted
            | Event::Asked { .. }
            | Event::LookOwed
            | Event::Withheld { .. }
            | Event::AskFailed
            | Event::Dispatched { .. }
            | Event::Probing
            | Event::Probed(Fate::Alive | Fate::CannotTell)
            | Event::InboxRead
            | Event::Paused
            | Event::Resumed
            | Event::CapabilityChanged
            | Event::Reconnected
            | Event::Sweeping
            | Event::Swept { .. } => {}
        }
    }

    /// A hint came that is not refused.
    pub fn heard(&mut self) {
        if self.aloft {
            self.landed = Landed::InFlight;
        }
    }

    /// The plane answers something that was asked when it already was as it is.
    pub fn answered(&mut self, late: bool) {
        if late && self.landed == Landed::After {
            self.landed = Landed::Not;
        }
    }

    /// Notes what is wrong.
    pub fn flag(&mut self, wrong: bool, what: Broken) {
        if wrong {
            self.broken.insert(what);
        }
    }

    fn follows(&mut self, now: Wall, next: Next) {
        match next {
            Next::Dispatch { .. } => {
                let early = self.decided.is_some_and(|at| now.0 < at.0 + COOLDOWN);
                self.flag(early, Broken::Cooldown);
                self.decided = Some(now);
                self.waits = false;
                self.aloft = true;
                // The start of the wake that waited is the look.
                if self.landed == Landed::After {
                    self.landed = Landed::Not;
                }
            }
            Next::Wait(_) => {}
        }
    }

    fn landed(&mut self) {
        self.aloft = false;
        if self.landed == Landed::InFlight {
            self.landed = Landed::After;
        }
    }
}
