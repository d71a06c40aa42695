//! What the outside saw of a mailbox: answers that were given, hints and permits that went out, and what a call that
//! is on disk was judged to be.
//!
//! A ghost: it never looks at the machine, its image or its records, only at calls, outcomes, fates of commits, and
//! what a commit let out. Not here: how it learns ([`super::settle`]), and what should be true of it
//! ([`super::laws`]).

use awakener_kernel::ids::Token;
use awakener_kernel::mailbox::input::Minted;
use awakener_kernel::values::{AckOutcome, By, DispatchOutcome, Finish};

use super::act::Call;
use super::scope::LIFE;
use crate::names;

/// A law about one moment that was broken at that moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Broken {
    /// A lease got a fence that is not above every earlier one.
    LeaseFence,
    /// So did a permit.
    PermitFence,
    /// A hint got a token that is not above every earlier one.
    Token,
    /// The same after a backup was restored.
    TokenAfterRestore,
    /// One message was stored twice, or its first result was not told again.
    Twice,
    /// One witness was closed twice.
    ClosedTwice,
    /// One message was answered twice.
    RepliedTwice,
    /// The cursor went back.
    Cursor,
    /// The machine refused to wake from an image that it had written.
    Boot,
    /// Work was done without a live lease on it.
    Unleased,
    /// An alert was answered with `done`.
    Shrugged,
    /// An ACK was accepted that was not earned.
    Unearned,
    /// A hint or a permit was about what is not outstanding.
    NotOutstanding,
    /// An alert ended by age.
    AlertExpired,
    /// A message was set aside, and its operator was not told.
    Untold,
    /// An alert was said to be brought before the operator, and was not.
    Unescalated,
    /// Two final facts of one attempt contradict each other.
    Contradiction,
    /// So do two ends of one turn.
    TwoEnds,
}

/// How a witness was closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Closing {
    /// By its target.
    Acked(AckOutcome, By),
    /// By an operator.
    Resolved,
}

/// One message.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Mail {
    /// Where it was said to stand.
    pub place: Option<u8>,
    /// Whether it is stored.
    pub stored: bool,
    /// Whether it was read.
    pub read: bool,
    /// How often since it was last given back.
    pub reads: u8,
    /// How its last turn ended.
    pub turn: Option<Finish>,
    /// Whether a result is stored.
    pub responded: bool,
    /// Whether that was said.
    pub replied: bool,
    /// How its witness was closed.
    pub closed: Option<Closing>,
    /// Whether that was said.
    pub told: bool,
    /// Whether it grew too old.
    pub expired: bool,
    /// How often it was given back by an operator.
    pub returns: u8,
}

/// A lease as its holder knows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Lease {
    /// Its token.
    pub fence: u8,
    /// Which messages it covers, as the answer said, by bit.
    pub covers: u8,
    /// Until when its holder may rely on it.
    pub until: u8,
    /// Until when it may live, if a renewal worked whose answer nobody heard.
    pub at_most: u8,
    /// Its holder gave it back, or asked to.
    pub over: bool,
    /// It is on disk that it gave it back.
    pub released: bool,
}

/// A permit as its daemon knows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Permit {
    /// Its token.
    pub fence: u8,
    /// Who has it.
    pub daemon: u8,
    /// For which hint.
    pub wake: u8,
    /// Until when it may be used.
    pub until: u8,
    /// When its daemon first said that it starts.
    pub attempted: Option<u8>,
    /// Its daemon gave it back, or asked to.
    pub over: bool,
    /// It is on disk that its flight is over.
    pub spent: bool,
}

/// A flight that the plane has confirmed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Flight {
    /// Its permit.
    pub fence: u8,
    /// When it ends at the latest, as its daemon counts.
    pub until: u8,
    /// The same as the plane counts.
    pub at_most: u8,
    /// Its daemon said that it is over, or tried to.
    pub over: bool,
}

/// A lease as the answer to a claim shows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Leased {
    /// Its token.
    pub fence: u8,
    /// When it was taken or renewed, in true time at the latest.
    pub at: u8,
    /// Which messages it covers, by bit.
    pub covers: u8,
}

/// A call as it is remembered until its answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Asked {
    /// The call.
    pub call: Call,
    /// When it was judged, in true time.
    pub at: u8,
    /// The wall time that its record has; kept only where the clock steps back.
    pub wall: u8,
    /// Where its message stood right after it, for the answer to a repeat.
    pub place: Option<u8>,
    /// The lease right after it, for the answer to a claim.
    pub lease: Option<Leased>,
}

/// What one store promised and holds. It goes back with the store when a backup is restored.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Store {
    /// Messages by number.
    pub mail: [Mail; 3],
    /// Every lease that somebody heard of.
    pub leases: Vec<Lease>,
    /// Every permit.
    pub permits: Vec<Permit>,
    /// Every flight.
    pub flights: Vec<Flight>,
    /// What adapters said, by permit.
    pub outcomes: Vec<(u8, DispatchOutcome)>,
    /// How turns ended: lease, message, number, end.
    pub turns: Vec<(u8, u8, u8, Finish)>,
    /// Scheduled emissions that were used up.
    pub emissions: u8,
    /// The highest cursor that a reader could have read.
    pub cursor: u8,
}

/// What the outside saw.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Seen {
    /// Of this store.
    pub store: Store,
    /// The highest token that a commit let go, ever.
    pub token: Option<Token>,
    /// Every hint that left the process.
    pub hints: Vec<Minted>,
    /// How many hints had left when a backup was restored.
    pub restored: Option<u8>,
    /// What went wrong, by bit.
    broken: u32,
}

impl Seen {
    /// Notes that something is broken.
    pub const fn flag(&mut self, wrong: bool, what: Broken) {
        if wrong {
            self.broken |= 1 << what as u32;
        }
    }

    /// Whether it is not broken.
    pub const fn intact(&self, what: Broken) -> bool {
        self.broken & (1 << what as u32) == 0
    }

    /// The hint of a wake, if it left the process.
    pub fn hint(&self, wake: u8) -> Option<&Minted> {
        self.hints.iter().find(|hint| names::wake_number(hint.fresh.wake) == wake)
    }

    /// A hint leaves the process.
    pub fn left(&mut self, hint: Minted) {
        if !self.hints.contains(&hint) {
            self.hints.push(hint);
        }
    }

    /// A commit lets a hint go. Only this order counts: a hint that waits for the broker client may be overtaken by one
    /// that answers a sweep.
    pub fn allocated(&mut self, minted: &Minted) {
        let what = if self.restored.is_some() { Broken::TokenAfterRestore } else { Broken::Token };
        self.flag(self.token >= Some(minted.token), what);
        self.token = self.token.max(Some(minted.token));
    }

    /// A backup takes the place of the store. What went out stays out; leases and permits of the lost store are worth
    /// nothing any more, whoever still holds them.
    pub fn restore(&mut self, store: Store) {
        self.store = store;
        self.restored = Some(u8::try_from(self.hints.len()).expect("models are small"));
    }
}

impl Store {
    /// Message `n`.
    pub const fn mail(&self, n: u8) -> &Mail {
        &self.mail[n as usize]
    }

    /// The messages with their numbers.
    pub fn numbered(&self) -> impl Iterator<Item = (u8, &Mail)> {
        (0..).zip(&self.mail)
    }

    /// One more scheduled emission is used up; far more than any schedule has are not told apart.
    pub fn emits(&mut self) {
        self.emissions = (self.emissions + 1).min(9);
    }

    /// The lease of a fence.
    pub fn lease(&self, fence: u8) -> Option<&Lease> {
        self.leases.iter().find(|lease| lease.fence == fence)
    }

    /// Whether a fence is certainly stale: replaced, or out of time whatever became of renewals. Across a restart the
    /// time of a lease runs on the wall clock; where that stepped back, nothing is certain.
    pub fn is_stale(&self, lease: &Lease, time: u8, stepped: bool) -> bool {
        let replaced = self.leases.last().is_some_and(|last| last.fence > lease.fence);
        replaced || (!stepped && lease.at_most <= time)
    }

    /// Fences that are certainly stale.
    pub fn stale(&self, time: u8, stepped: bool) -> impl Iterator<Item = u8> {
        self.leases.iter().filter(move |lease| self.is_stale(lease, time, stepped)).map(|lease| lease.fence)
    }
}

impl Lease {
    /// A lease as it was just heard of.
    pub const fn new(leased: &Leased) -> Self {
        let until = leased.at + LIFE;
        let (fence, covers) = (leased.fence, leased.covers);
        Self { fence, covers, until, at_most: until, over: false, released: false }
    }

    /// Whether its holder may rely on it.
    pub const fn is_valid(&self, time: u8) -> bool {
        !self.over && time < self.until
    }
}
