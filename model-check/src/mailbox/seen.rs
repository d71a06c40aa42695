//! What the outside saw of a mailbox: answers that were given, hints and permits that went out.
//!
//! A ghost: it never looks at the machine, its image or its records, only at what a commit let out and at what callers
//! themselves said. Not here: what should be true of it ([`super::laws`]).

use std::collections::BTreeSet;

use awakener_kernel::ids::{Fence, Seq, Token};
use awakener_kernel::machine::Outcome;
use awakener_kernel::mailbox::input::{Event, Minted, Refusal};
use awakener_kernel::values::{AckOutcome, By, FlightEnd};

use super::act::{Call, statement};

/// A law about one moment that was broken at that moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Broken {
    /// A lease got a fence that is not above every earlier one.
    LeaseFence,
    /// So did a permit.
    PermitFence,
    /// A hint got a token that is not above every earlier one.
    Token,
    /// One message was stored twice, acknowledged twice, or answered twice.
    Twice,
    /// The cursor went back.
    Cursor,
    /// The machine refused to wake from an image that it had written.
    Boot,
}

/// A lease as its holder knows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Lease {
    /// Its token.
    pub fence: Fence,
    /// Which messages it covers, as the answer said.
    pub covers: [bool; 2],
    /// Until when its holder may rely on it.
    pub until: u8,
    /// Until when it may live, if a renewal worked whose answer nobody heard.
    pub at_most: u8,
    /// Its holder gave it back, or asked to.
    pub over: bool,
}

/// A permit as its daemon knows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Permit {
    /// Its token.
    pub fence: Fence,
    /// Who has it.
    pub daemon: u8,
    /// For which hint.
    pub hint: Minted,
    /// Until when it may be used.
    pub until: u8,
    /// Its daemon gave it back, or asked to.
    pub over: bool,
}

/// A flight that the plane has confirmed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Flight {
    /// Its permit.
    pub fence: Fence,
    /// When it ends at the latest.
    pub until: u8,
    /// Its daemon said that it is over, or tried to.
    pub over: bool,
}

/// A lease as the answer to a claim shows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Leased {
    /// Its token.
    pub fence: Fence,
    /// When it was taken or renewed.
    pub at: u8,
    /// Which messages it covers.
    pub covers: [bool; 2],
}

/// A call as it is remembered until its answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Asked {
    /// The call.
    pub call: Call,
    /// When it was judged.
    pub at: u8,
    /// Where its message stood right after it, for the answer to a repeat.
    pub place: Option<Seq>,
    /// The lease right after it, for the answer to a claim.
    pub lease: Option<Leased>,
}

/// What the outside saw.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Seen {
    /// Per message: where it was said to stand.
    pub admitted: [Option<Seq>; 2],
    /// Per message: which ACK was said to be accepted.
    pub acked: [Option<(AckOutcome, By)>; 2],
    /// Per message: whether a genuine ACK was ever presented.
    pub presented: [bool; 2],
    /// Per message: whether a result was said to be recorded.
    pub responded: [bool; 2],
    /// Every lease.
    pub leases: Vec<Lease>,
    /// Every permit.
    pub permits: Vec<Permit>,
    /// Every flight.
    pub flights: Vec<Flight>,
    /// Every hint that left the process.
    pub hints: Vec<Minted>,
    /// The highest token that a commit let go.
    pub token: Option<Token>,
    /// The highest cursor that a reader could have read.
    pub cursor: Option<Seq>,
    /// What went wrong.
    pub broken: BTreeSet<Broken>,
}

const LIFE: u8 = 1;

impl Seen {
    /// A caller says something; the caller itself knows that from now on.
    pub fn said(&mut self, call: Call, at: u8) {
        match call {
            Call::Ack(n, ..) => self.presented[usize::from(n)] = true,
            Call::Release(fence) => {
                self.leases.iter_mut().filter(|l| l.fence == fence).for_each(|l| l.over = true)
            }
            Call::Renew(fence) => {
                for lease in self.leases.iter_mut().filter(|l| l.fence == fence) {
                    lease.at_most = at + LIFE;
                }
            }
            Call::Ended(_, fence, _, end) => {
                assert_ne!(end, FlightEnd::Expired, "only the plane's clock says that");
                self.permits.iter_mut().filter(|p| p.fence == fence).for_each(|p| p.over = true);
                self.flights.iter_mut().filter(|f| f.fence == fence).for_each(|f| f.over = true);
            }
            Call::Start
            | Call::Fire
            | Call::Submit(_)
            | Call::Claim(_)
            | Call::Read(..)
            | Call::Finish(..)
            | Call::Respond(..)
            | Call::Ask(..)
            | Call::Attempted(..)
            | Call::Sweep => {}
        }
    }

    /// An answer leaves the process.
    pub fn answered(&mut self, asked: Asked, outcome: &Outcome<Event, Refusal>) {
        let at = asked.at;
        match (asked.call, outcome) {
            (Call::Submit(n), Outcome::Advanced(Event::Admitted { seq, .. })) => {
                self.flag(self.admitted[usize::from(n)].is_some(), Broken::Twice);
                self.admitted[usize::from(n)] = Some(*seq);
            }
            (Call::Submit(n), Outcome::Absorbed) => {
                let known = self.admitted[usize::from(n)];
                self.flag(asked.place.is_none() || known.is_some() && known != asked.place, Broken::Twice);
                self.admitted[usize::from(n)] = asked.place;
            }
            (Call::Ack(n, by, _), Outcome::Advanced(Event::Acknowledged { .. })) => {
                let accepted = (statement(n, by).outcome, by);
                self.flag(self.acked[usize::from(n)].is_some_and(|known| known != accepted), Broken::Twice);
                self.acked[usize::from(n)] = Some(accepted);
            }
            (Call::Respond(_, n), Outcome::Advanced(_)) => {
                self.flag(self.responded[usize::from(n)], Broken::Twice);
                self.responded[usize::from(n)] = true;
            }
            (Call::Claim(_), Outcome::Advanced(_) | Outcome::Absorbed) => {
                if let Some(lease) = asked.lease
                    && !(*outcome == Outcome::Absorbed && self.leases.iter().any(|l| l.fence == lease.fence))
                {
                    self.leased(lease);
                }
            }
            (Call::Renew(fence), Outcome::Advanced(_)) => {
                self.leases.iter_mut().filter(|l| l.fence == fence).for_each(|l| l.until = at + LIFE);
            }
            (Call::Ask(daemon, hint), Outcome::Advanced(Event::Permitted(permit))) => {
                let fence = permit.fence;
                self.flag(self.permits.iter().any(|known| known.fence >= fence), Broken::PermitFence);
                self.permits.push(Permit { fence, daemon, hint, until: at + LIFE, over: false });
            }
            (Call::Attempted(_, fence, _), Outcome::Advanced(_)) => {
                self.flights.push(Flight { fence, until: at + LIFE, over: false });
            }
            (Call::Sweep, Outcome::Advanced(Event::Swept(minted))) => {
                self.allocated(*minted);
                self.hints.push(*minted);
            }
            (_, Outcome::Advanced(_) | Outcome::Absorbed | Outcome::Refused(_)) => {}
        }
    }

    fn leased(&mut self, Leased { fence, at, covers }: Leased) {
        self.flag(self.leases.iter().any(|known| known.fence >= fence), Broken::LeaseFence);
        self.leases.push(Lease { fence, covers, until: at + LIFE, at_most: at + LIFE, over: false });
    }

    /// A commit lets a hint go. Only this order counts: a hint that waits for the broker client may be overtaken by one
    /// that answers a sweep.
    pub fn allocated(&mut self, minted: Minted) {
        self.flag(self.token >= Some(minted.token), Broken::Token);
        self.token = self.token.max(Some(minted.token));
    }

    /// Somebody could read the cursor.
    pub fn read_cursor(&mut self, cursor: Option<Seq>) {
        self.flag(cursor < self.cursor, Broken::Cursor);
        self.cursor = cursor;
    }

    /// Notes that something is broken.
    pub fn flag(&mut self, wrong: bool, what: Broken) {
        if wrong {
            self.broken.insert(what);
        }
    }
}
