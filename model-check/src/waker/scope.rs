//! How much of everything the adversary of a waker world may do. All budgets are counts.

use awakener_kernel::config::Config;
use awakener_kernel::time::Millis;
use awakener_kernel::values::DispatchOutcome;

/// Bounds of one search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scope {
    /// Its name.
    pub name: &'static str,
    /// The number of states, pinned.
    pub states: usize,
    /// Hints that exist from the beginning, all for one alert.
    pub hints: u8,
    /// How often one of them is presented and not refused, in any order.
    pub presents: u8,
    /// How many further hints sweeps find.
    pub found: u8,
    /// What adapters answer.
    pub outcomes: &'static [DispatchOutcome],
    /// Whether the plane also withholds and fails.
    pub withholds: bool,
    /// How often the clock moves, by one millisecond.
    pub ticks: u8,
    /// How often the process crashes.
    pub crashes: u8,
    /// How often a commit fails.
    pub failures: u8,
    /// How often something on its way is lost or repeated.
    pub distortions: u8,
    /// Steps in one transaction.
    pub batch: u8,
    /// What is wrong with the process, on purpose.
    pub fault: Option<Fault>,
}

/// A planted fault; each has a law that names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// What was accepted during a cooldown is forgotten.
    CooldownDrops,
    /// Nonces and high-water do not survive a recovery.
    HighWaterInMemory,
}

const NONE: Scope = Scope {
    name: "",
    states: 0,
    hints: 2,
    presents: 2,
    found: 0,
    outcomes: &[DispatchOutcome::NotifiedVerified],
    withholds: false,
    ticks: 2,
    crashes: 1,
    failures: 0,
    distortions: 0,
    batch: 1,
    fault: None,
};

const OUTCOMES: &[DispatchOutcome] =
    &[DispatchOutcome::NotifiedVerified, DispatchOutcome::OutcomeUnknown, DispatchOutcome::Unavailable];

/// The scopes of `tiny`.
pub const TINY: [Scope; 7] = [
    Scope { name: "replay", states: 107_282, hints: 2, presents: 3, ticks: 1, ..NONE },
    Scope { name: "reorder", states: 17_842, hints: 3, presents: 3, ticks: 1, crashes: 0, ..NONE },
    Scope { name: "cooldown", states: 110_146, hints: 2, presents: 2, ..NONE },
    Scope {
        name: "sweep",
        states: 34_850,
        hints: 1,
        presents: 1,
        found: 1,
        ticks: 3,
        crashes: 0,
        outcomes: OUTCOMES,
        ..NONE
    },
    Scope { name: "withheld", states: 35_833, hints: 1, presents: 1, withholds: true, ..NONE },
    Scope {
        name: "outcome",
        states: 52_694,
        hints: 1,
        presents: 1,
        outcomes: OUTCOMES,
        distortions: 1,
        ..NONE
    },
    Scope { name: "commit", states: 25_149, hints: 1, presents: 1, failures: 1, batch: 2, ticks: 1, ..NONE },
];

/// How long a hint lives.
pub const TTL: u8 = 2;
/// The pause between two starts.
pub const COOLDOWN: u8 = 2;
/// The longest flight.
pub const FLIGHT_MAX: u8 = 3;
/// Far beyond the clock of every scope: a regular sweep must never be what saves a forgotten wake.
pub const SWEEP: u64 = 1_000;

impl Scope {
    /// Limits small enough for the clock of a model.
    pub fn config(&self) -> Config {
        Config {
            hint_ttl: Millis(u64::from(TTL)),
            skew: Millis(1),
            nonce_history: 3,
            cooldown: Millis(u64::from(COOLDOWN)),
            flight_max: Millis(u64::from(FLIGHT_MAX)),
            permit: Millis(2),
            sweep: Millis(SWEEP),
            back_off_base: Millis(1),
            back_off_max: Millis(4),
            ..Config::default()
        }
    }
}
