//! What the outside saw of the three machines: answers that were given, bytes that left, turns that ran.
//!
//! A ghost: it never looks at a machine, its image or its records. What it must remember of the past is as little as
//! the laws need; the rest is judged at its moment and kept as a mark. Not here: what should be true of it
//! ([`super::laws`]).

use std::collections::BTreeSet;

use awakener_kernel::ids::Fence;
use awakener_kernel::values::By;

use super::act::Who;

/// A law about one moment that was broken at that moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Broken {
    /// A process refused to wake from an image that it had written.
    Boot,
    /// A dispatch left for a wake that was never minted, or an alert that was never admitted.
    Unauthorised,
    /// A dispatch left without a permit of its own.
    Unpermitted,
    /// One daemon dispatched one wake twice.
    WakeTwice,
    /// Two dispatches left under one permit.
    PermitTwice,
    /// A daemon was permitted to start what an operator had forbidden.
    Withdrawn,
    /// A flight began beside another one.
    TwoFlights,
    /// A dispatch left before the plane knew of the attempt.
    Unheard,
    /// A daemon accepted one hint twice.
    AcceptedTwice,
    /// Work was claimed that was not admitted, or was finished already.
    Work,
    /// A turn ran on a message that had had a complete one.
    TurnTwice,
    /// A message was answered twice.
    ReplyTwice,
    /// A message was acknowledged twice.
    AckTwice,
    /// The station acknowledged what it had not answered.
    AckFirst,
    /// A turn started on a latched station.
    TurnLatched,
}

/// A permit as its daemon was told of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Permit {
    /// To whom.
    pub who: Who,
    /// Its token.
    pub fence: Fence,
    /// For which wake.
    pub wake: u8,
}

/// A flight that nobody has seen the end of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Flight {
    /// Whose.
    pub who: Who,
    /// When it was decided to start.
    pub since: u8,
}

/// What the outside saw.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Seen {
    /// By message: its sender submitted it, and was not refused.
    pub submitted: [bool; 3],
    /// By message: it was said to be admitted.
    pub admitted: [bool; 3],
    /// By message: a complete turn was seen.
    pub observed: [bool; 3],
    /// By message: its result was said to be recorded.
    pub replied: [bool; 3],
    /// By message: a genuine ACK was presented.
    pub presented: [bool; 3],
    /// By message: the operator closed it.
    pub resolved: [bool; 3],
    /// By message: an ACK was said to be accepted.
    pub acked: [Option<By>; 3],
    /// By message: the operator was told of it.
    pub told: [bool; 3],
    /// The highest lease that a holder was told of.
    pub lease: Fence,
    /// The agent's lease.
    pub agent: Option<Fence>,
    /// The operator took the grant away.
    pub withdrawn: bool,
    /// Permits that daemons were told of.
    pub permits: Vec<Permit>,
    /// The message of the last permit, until it is read or the flight is over.
    pub unread: Option<u8>,
    /// By message: flights that were over without anybody having read it.
    pub vain: [u8; 3],
    /// Permits under which a dispatch left, in order.
    pub dispatched: Vec<Permit>,
    /// Flights that may still run.
    pub flights: Vec<Flight>,
    /// Hints that each daemon accepted.
    pub accepted: [Vec<u8>; 2],
    /// By daemon: when it last decided to start.
    pub took_off: [u8; 2],
    /// A daemon withheld or refused a hint that nobody minted.
    pub spurned: bool,
    /// The station said that it is latched.
    pub latched: bool,
    /// What went wrong.
    pub broken: BTreeSet<Broken>,
}

impl Seen {
    /// A message is read.
    pub fn read(&mut self, n: u8) {
        self.unread = self.unread.filter(|unread| *unread != n);
    }

    /// The plane has noted the end of the flight.
    pub fn flight_over(&mut self) {
        if let Some(n) = self.unread.take() {
            self.vain[usize::from(n)] += 1;
        }
    }

    /// Notes that something is broken.
    pub fn flag(&mut self, wrong: bool, what: Broken) {
        if wrong {
            self.broken.insert(what);
        }
    }
}
