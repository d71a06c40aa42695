//! What stands around the plane: clocks, rights, the floor of epochs, and what its callers have heard.
//!
//! As in the shell, a step never gets a wall time below one that the store has
//! seen, except where an operator accepted it; waits run on a clock that never steps. Not here: the machine. Rules:
//! EMT-2, EMT-6, ADM-6.

use awakener_kernel::mailbox::input::Authority;
use awakener_kernel::time::{Mono, Now, Wall};

use super::act::Right;
use super::scope::SKEW;

/// Clocks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Clock {
    /// True time since the world began.
    pub time: u8,
    /// True time at the boot of this process.
    pub born: u8,
    /// What the wall clock shows.
    pub shown: u8,
    /// The latest wall time that a step of this process may have seen.
    pub held: u8,
    /// The latest wall time on disk; kept only where the clock steps back.
    pub stored: u8,
    /// Whether it ever stepped back.
    pub stepped: bool,
}

impl Clock {
    /// What a step gets.
    pub fn now(&self) -> Now {
        Now { wall: Wall(u64::from(self.held)), mono: Mono(u64::from(self.time - self.born)) }
    }

    /// Whether the clock lies further back than clocks may disagree (EMT-6).
    pub const fn is_beyond(&self) -> bool {
        self.held > self.shown + SKEW
    }

    /// A millisecond passes.
    pub fn tick(&mut self) {
        self.time += 1;
        self.shown += 1;
        self.held = self.held.max(self.shown);
    }

    /// A process is born. Its floor is what the disk has seen.
    pub fn boot(&mut self) {
        self.born = self.time;
    }

    /// The process dies, and with it what only it knew.
    pub fn die(&mut self) {
        self.held = self.stored.max(self.shown);
        self.born = 0;
    }
}

/// Everything around the plane that is small.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Outside {
    /// Clocks.
    pub clock: Clock,
    /// Rights that are withdrawn, by bit.
    pub withdrawn: u8,
    /// The floor of epochs in its file beside the store (EMT-2).
    pub file: u8,
    /// The floor of this boot.
    pub floor: u8,
    /// Whether the emitter's epoch of this boot is on disk (EMT-2).
    pub started: bool,
    /// Which fences of leases somebody heard, by bit.
    pub fences: u16,
    /// Which hints somebody heard, by bit.
    pub hints: u16,
    /// Of which alerts a genuine ACK was ever presented, by bit.
    pub presented: u8,
    /// On which messages an operator ever acted, by bit.
    pub operated: u8,
}

/// The bit of a number.
pub fn bit<T: From<u8> + std::ops::Shl<u8, Output = T>>(number: u8) -> T {
    T::from(1) << number
}

/// The numbers of the bits that are set, in order.
pub fn bits(set: u16) -> impl Iterator<Item = u8> {
    (0..16).filter(move |number| set & bit::<u16>(*number) != 0)
}

impl Outside {
    /// Whether nothing is withdrawn.
    pub const fn has(&self, right: Right) -> bool {
        self.withdrawn & (1 << right as u8) == 0
    }

    /// Withdraws a right, or gives it back.
    pub const fn turn(&mut self, right: Right) {
        self.withdrawn ^= 1 << right as u8;
    }

    /// What the registry says of every alert.
    pub const fn authority(&self) -> Authority {
        Authority {
            rostered: self.has(Right::Roster),
            armed: self.has(Right::Armed),
            open: self.has(Right::Open) && !self.clock.is_beyond(),
        }
    }
}
