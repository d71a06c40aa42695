//! What lies outside of a station: a small mailbox, a runner, the latch path, the log of trips.
//!
//! The mailbox is honest: a lease has a fence, results are idempotent by turn, a closed message is not given out. What
//! is hostile is the way there and back. Not here: how effects are carried out ([`super::perform`]).

use awakener_kernel::ids::{Fence, Tier};
use awakener_kernel::station::{Effect, Hand, LatchNote, Ticket};

use super::bounds::Letter;

/// What leaves the process, in order.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Out {
    /// An effect of a committed step.
    Effect(Box<Effect>),
    /// The latch of a trip whose step could not be committed (FUS-6).
    Precaution(Box<LatchNote>),
}

/// Whose ACK closed an alert.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Acked {
    /// The station's.
    Station,
    /// The agent's or a human's own.
    Own(Hand),
}

/// A message as the mailbox has it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Mailed {
    /// The turn whose result it has.
    pub result: Option<u8>,
    /// The turn that was reported complete.
    pub complete: Option<u8>,
    /// Who acknowledged.
    pub acked: Option<Acked>,
    /// How often an operator gave fresh attempts.
    pub released: u8,
}

/// A turn that really runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Run {
    /// Its number.
    pub turn: u8,
    /// What it answers with; `None` for an agent that works by itself.
    pub ticket: Option<Ticket>,
    /// Which start of the process started it.
    pub start: u8,
}

/// What lies at the latch path.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Lying {
    /// Nothing.
    #[default]
    Nothing,
    /// Something that cannot be read.
    Junk,
    /// The latch of this number.
    Latch(u8),
}

/// The outside.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Outside {
    /// The messages.
    pub mail: [Mailed; 2],
    /// The last fence that was given out.
    pub fence: u8,
    /// Whether the lease with that fence is held by this station.
    pub held: bool,
    /// The boot whose claim it answers, by its ticket.
    pub claimed: u32,
    /// Ids for turns that were given out.
    pub ids: u8,
    /// Turns that run.
    pub running: Vec<Run>,
    /// The skip list of the poll that is out, as bits.
    pub poll: Option<u8>,
    /// What lies at the latch path.
    pub path: Lying,
    /// Latches that were kept as incidents.
    pub incidents: Vec<u8>,
    /// Latches that the log of trips names.
    pub trips: Vec<u8>,
}

impl Outside {
    /// Whether a message is finished: an alert by an ACK, other mail by a result.
    pub fn closed(&self, letters: &[Letter], n: u8) -> bool {
        let mailed = self.mail[usize::from(n)];
        match letters[usize::from(n)].tier {
            Tier::Zero => mailed.acked.is_some(),
            Tier::One | Tier::Two | Tier::Three => mailed.result.is_some(),
        }
    }

    /// Messages that can be claimed, but for those of the skip list.
    pub fn open<'a>(&'a self, letters: &'a [Letter], skip: u8) -> impl Iterator<Item = u8> + 'a {
        let all = 0..u8::try_from(letters.len()).expect("models are small");
        all.filter(move |n| skip & (1 << n) == 0 && !self.closed(letters, *n))
    }

    /// Whether a lease with this fence is honoured.
    pub fn honours(&self, fence: Fence) -> bool {
        self.held && fence == Fence(u64::from(self.fence))
    }

    /// The lease that is held is given back, if it has this fence.
    pub fn give_back(&mut self, fence: Fence) {
        if self.honours(fence) {
            self.held = false;
        }
    }
}
