//! How much of everything the adversary of a mailbox world may do.
//!
//! Several narrow scopes, each with a few powers, find more per state than one wide one. All budgets are counts.

use awakener_kernel::config::Config;
use awakener_kernel::time::Millis;
use awakener_kernel::values::By;

/// Bounds of one search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scope {
    /// Its name.
    pub name: &'static str,
    /// The number of states, pinned: a search that saw another number was cut short or saw another machine.
    pub states: usize,
    /// How often each message is submitted: number 0 is an alert, number 1 is plain mail.
    pub submits: [u8; 2],
    /// How many holders work.
    pub holders: u8,
    /// How many claims succeed.
    pub claims: u8,
    /// How many renewals succeed.
    pub renews: u8,
    /// Whether holders do more with their work than read it.
    pub works: bool,
    /// Who acknowledges.
    pub acks: &'static [By],
    /// How many daemons hear hints.
    pub daemons: u8,
    /// How many permits are granted.
    pub asks: u8,
    /// How many sweeps bring a hint.
    pub sweeps: u8,
    /// How often the clock moves, by one millisecond.
    pub ticks: u8,
    /// How often the process crashes.
    pub crashes: u8,
    /// How often a commit fails.
    pub failures: u8,
    /// How often an answer or a hint on its way is lost or repeated.
    pub distortions: u8,
    /// Steps in one transaction.
    pub batch: u8,
    /// Attempts before quarantine.
    pub attempts: u32,
    /// Whether hints are minted on schedule.
    pub emits: bool,
    /// What is wrong with the process, on purpose.
    pub fault: Option<Fault>,
}

/// A planted fault; each has a law that names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// An ACK is answered when it is staged, not when it is on disk.
    AckAnsweredBeforeCommit,
}

const NONE: Scope = Scope {
    name: "",
    states: 0,
    submits: [1, 0],
    holders: 1,
    claims: 1,
    renews: 0,
    works: false,
    acks: &[],
    daemons: 0,
    asks: 0,
    sweeps: 0,
    ticks: 0,
    crashes: 1,
    failures: 1,
    distortions: 0,
    batch: 1,
    attempts: 5,
    emits: false,
    fault: None,
};

/// The scopes of `tiny`.
pub const TINY: [Scope; 6] = [
    Scope {
        name: "admit",
        states: 2_159,
        submits: [2, 2],
        holders: 0,
        crashes: 2,
        failures: 2,
        batch: 2,
        ..NONE
    },
    Scope {
        name: "ack",
        states: 38_318,
        submits: [1, 1],
        works: true,
        acks: &[By::Station, By::Agent],
        batch: 2,
        ..NONE
    },
    Scope {
        name: "lease",
        states: 43_466,
        submits: [1, 1],
        holders: 2,
        claims: 2,
        ticks: 1,
        attempts: 1,
        failures: 0,
        ..NONE
    },
    Scope {
        name: "renew",
        states: 83_047,
        holders: 2,
        claims: 2,
        renews: 1,
        ticks: 2,
        attempts: 2,
        distortions: 1,
        failures: 0,
        ..NONE
    },
    Scope {
        name: "hint",
        states: 22_788,
        emits: true,
        holders: 0,
        sweeps: 1,
        ticks: 1,
        distortions: 1,
        ..NONE
    },
    Scope {
        name: "permit",
        states: 45_752,
        emits: true,
        daemons: 2,
        asks: 2,
        ticks: 2,
        attempts: 1,
        holders: 0,
        failures: 0,
        ..NONE
    },
];

impl Scope {
    /// Limits small enough for the clock of a model.
    pub fn config(&self) -> Config {
        Config {
            lease: Millis(1),
            permit: Millis(1),
            flight_max: Millis(1),
            hint_ttl: Millis(1),
            re_emissions: 1,
            // One hint is enough where daemons ask about it.
            re_emission_base: Millis(if self.daemons == 0 { 1 } else { 9 }),
            attempts: self.attempts,
            ..Config::default()
        }
    }
}
