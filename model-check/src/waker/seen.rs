//! What the outside saw of a waker: answers that were given, dispatches that were performed, flights that ran.
//!
//! A ghost: it never looks at the machine, its image or its records. Not here: what should be true of it
//! ([`super::laws`]).

use std::collections::BTreeSet;

use awakener_kernel::ids::{Fence, Token, WakeId};
use awakener_kernel::machine::Outcome;
use awakener_kernel::waker::{Event, Input, Next};
use awakener_spec::Class;

/// A law about one moment that was broken at that moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Broken {
    /// A hint was accepted whose token is not above every accepted one.
    Token,
    /// The machine refused to wake from an image that it had written.
    Boot,
    /// A dispatch left the process while its attempt was not on disk.
    Attempt,
}

/// A call as it is remembered until its answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Asked {
    /// The input.
    pub input: Input,
    /// When it was judged.
    pub at: u8,
}

/// A dispatch that left the process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Dispatch {
    /// Its wake.
    pub wake: WakeId,
    /// Its number.
    pub attempt: u64,
    /// Its permit.
    pub fence: Fence,
}

/// What the outside saw.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Seen {
    /// Accepted wakes, in order, with their tokens.
    pub accepted: Vec<(WakeId, Token)>,
    /// Whether the latest accepted wake is still to be started, as far as anybody was told.
    pub owed: bool,
    /// When each seen decision to start was taken.
    pub decided: Vec<(u64, u8)>,
    /// What was dispatched.
    pub dispatched: Vec<Dispatch>,
    /// What the plane permitted.
    pub granted: Vec<(Fence, WakeId)>,
    /// Whether the plane was asked what is owed since the last recovery.
    pub swept: bool,
    /// What went wrong.
    pub broken: BTreeSet<Broken>,
}

impl Seen {
    /// An answer leaves the process.
    pub fn answered(&mut self, asked: Asked, outcome: &Outcome<Event, Class>) {
        let Outcome::Advanced(event) = outcome else { return };
        match *event {
            Event::Accepted { wake, next } => {
                let token =
                    Token::new(1, u32::from(crate::names::wake_number(wake))).expect("models are small");
                if self.accepted.iter().any(|(_, known)| *known >= token) {
                    self.broken.insert(Broken::Token);
                }
                self.accepted.push((wake, token));
                self.owed = true;
                self.follows(next, asked.at);
            }
            Event::Permitted { next, .. } => self.follows(next, asked.at),
            Event::Dropped { .. } => self.owed = false,
            Event::Booted
            | Event::Asked { .. }
            | Event::LookOwed
            | Event::Withheld { .. }
            | Event::AskFailed
            | Event::Dispatched { .. }
            | Event::Probing
            | Event::Probed(_)
            | Event::InboxRead
            | Event::FlightEnded { .. }
            | Event::Paused
            | Event::Resumed
            | Event::CapabilityChanged
            | Event::Reconnected
            | Event::Sweeping
            | Event::Swept { .. } => {}
        }
    }

    fn follows(&mut self, next: Next, at: u8) {
        match next {
            Next::Dispatch { attempt } => {
                self.owed = false;
                self.decided.push((attempt, at));
            }
            Next::Wait(_) => {}
        }
    }
}
