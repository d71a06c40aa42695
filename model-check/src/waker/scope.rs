//! How much of everything the adversary of a waker world may do, and the one table of all searches.
//!
//! All budgets are counts. Each power stands alone first, then in pairs; the powers that every scope has are hints out
//! of order, repeated and forged without a key, completions that come late, and inputs that nobody asked for.

use awakener_kernel::config::Config;
use awakener_kernel::time::Millis;
use awakener_kernel::values::{DispatchOutcome, FlightEnd};
use awakener_kernel::waker::{Capability, Missing};
use awakener_spec::Class;

use super::World;
use crate::world::{Gap, Group, Scope};

macro_rules! budget {
    ($( $(#[$doc:meta])* $name:ident : $kind:ty = $least:expr ),* $(,)?) => {
        /// What the adversary may do.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub struct Budget { $( $(#[$doc])* pub $name: $kind, )* }

        /// The least adversary.
        pub const NONE: Budget = Budget { $( $name: $least, )* };

        impl Budget {
            /// In what it differs from the least adversary.
            pub fn bounds(&self) -> Vec<(&'static str, String)> {
                let mut all = Vec::new();
                $( if self.$name != NONE.$name { all.push((stringify!($name), format!("{:?}", self.$name))); } )*
                all
            }
        }
    };
}

budget! {
    /// Lives of the hints that exist from the beginning, all for one alert.
    lives: &'static [u8] = &[TTL],
    /// How often a hint is presented and not refused.
    presents: u8 = 1,
    /// How often a hint under the stolen key is presented and not refused; without, the thief has no key.
    thefts: u8 = 0,
    /// How many further hints sweeps find.
    found: u8 = 0,
    /// What adapters answer.
    outcomes: &'static [DispatchOutcome] = &[DispatchOutcome::NotifiedVerified],
    /// Whether an adapter may learn late that nothing was started.
    never: bool = false,
    /// How flights end, as adapters and the plane see it.
    ends: &'static [FlightEnd] = &[FlightEnd::ProcessEnded],
    /// Why the plane withholds.
    withheld: &'static [Class] = &[],
    /// How often the plane cannot be reached.
    outages: u8 = 0,
    /// Whether probes may be unable to tell.
    cannot_tell: bool = false,
    /// How often the clocks move, by one millisecond.
    ticks: u8 = 2,
    /// How often the daemon's wall clock is set back.
    backs: u8 = 0,
    /// By how much.
    back_by: &'static [u8] = &[SKEW, SKEW + 2],
    /// How often it is set ahead.
    aheads: u8 = 0,
    /// How often the process crashes.
    crashes: u8 = 0,
    /// How often a commit fails.
    failures: u8 = 0,
    /// How often a completion is lost or repeated, or an adapter says nothing.
    distortions: u8 = 0,
    /// Whether completions come in any order, and each port of the daemon works by itself.
    unordered: bool = false,
    /// Steps in one transaction.
    batch: u8 = 1,
    /// How often a runtime reads its inbox.
    reads: u8 = 0,
    /// How often pause and manifest change.
    switches: u8 = 0,
    /// What the manifest may say.
    manifests: &'static [Capability] = &[Capability::Unattended],
    /// How often the connection to the plane comes back.
    reconnects: u8 = 0,
    /// Nonces that are remembered.
    history: u32 = 3,
}

/// How long a hint lives.
pub const TTL: u8 = 2;
/// How far clocks may disagree.
pub const SKEW: u8 = 1;
/// The pause between two starts.
pub const COOLDOWN: u8 = 2;
/// The longest flight.
pub const FLIGHT_MAX: u8 = 3;
/// The life of a permit.
pub const PERMIT: u8 = 2;
/// The longest back-off.
pub const BACK_OFF_MAX: u8 = 4;
/// Far beyond the clock of every scope: a regular sweep must never be what saves a forgotten wake.
pub const SWEEP: u64 = 1_000;

/// The pause after so many failures in a row, as the contract words it: a base that doubles, up to a cap.
pub fn back_off(failures: u8) -> u8 {
    match failures {
        0 => 0,
        n => 1_u8.checked_shl(u32::from(n) - 1).unwrap_or(BACK_OFF_MAX).min(BACK_OFF_MAX),
    }
}

impl Budget {
    /// Limits small enough for the clock of a model.
    pub fn config(&self) -> Config {
        let ms = |n: u8| Millis(u64::from(n));
        Config {
            hint_ttl: ms(TTL),
            skew: ms(SKEW),
            nonce_history: self.history,
            cooldown: ms(COOLDOWN),
            flight_max: ms(FLIGHT_MAX),
            permit: ms(PERMIT),
            sweep: Millis(SWEEP),
            back_off_base: Millis(1),
            back_off_max: ms(BACK_OFF_MAX),
            ..Config::default()
        }
    }

    /// Whether pauses and the manifest are told by themselves after a boot.
    pub const fn is_told_late(&self) -> bool {
        self.switches > 0
    }
}

const FAILURES: &[DispatchOutcome] = &[DispatchOutcome::Unavailable];
const UNSURE: &[DispatchOutcome] = &[DispatchOutcome::OutcomeUnknown];
const MIXED: &[DispatchOutcome] =
    &[DispatchOutcome::NotifiedVerified, DispatchOutcome::OutcomeUnknown, DispatchOutcome::Unavailable];
const ENDS: &[FlightEnd] =
    &[FlightEnd::ProcessEnded, FlightEnd::WorkFinished, FlightEnd::Idle, FlightEnd::NeverStarted];
const REFUSALS: &[Class] = &[Class::NotOutstanding, Class::PermitHeld];
const ALL_REFUSALS: &[Class] =
    &[Class::AuthorityWithdrawn, Class::NotArmed, Class::NotOutstanding, Class::PermitHeld];
const MANIFESTS: &[Capability] =
    &[Capability::Unattended, Capability::Attended, Capability::Missing(Missing::NoTier0Ack)];
const ONE_MISSING: &[Capability] = &[Capability::Unattended, Capability::Missing(Missing::NoAdapter)];

const TINY: &[(&str, Budget)] = &[
    ("least", NONE),
    ("replay", Budget { lives: &[TTL, TTL], presents: 2, ticks: 1, crashes: 1, ..NONE }),
    ("cooldown", Budget { lives: &[TTL, TTL], presents: 2, ticks: 2, crashes: 0, ..NONE }),
    ("thief", Budget { thefts: 1, ticks: 1, ..NONE }),
    ("thief_crash", Budget { thefts: 1, ticks: 1, crashes: 1, ..NONE }),
    ("outcomes", Budget { outcomes: &DispatchOutcome::ALL, ..NONE }),
    ("back", Budget { backs: 1, ..NONE }),
    ("ahead", Budget { aheads: 1, ..NONE }),
    ("crash", Budget { crashes: 1, ..NONE }),
    ("failure", Budget { failures: 1, ..NONE }),
    ("withheld", Budget { withheld: ALL_REFUSALS, ..NONE }),
    ("outage", Budget { outages: 1, ..NONE }),
    ("distort", Budget { distortions: 1, ..NONE }),
    ("unordered", Budget { unordered: true, ..NONE }),
    ("batch", Budget { batch: 2, ..NONE }),
    ("switch", Budget { switches: 1, manifests: ONE_MISSING, ..NONE }),
    ("reads", Budget { reads: 1, ends: ENDS, ..NONE }),
    ("reconnect", Budget { reconnects: 1, ..NONE }),
    ("found", Budget { found: 1, ..NONE }),
];
const CI: &[(&str, Budget)] = &[];
const DEEP: &[(&str, Budget)] = &[];

/// Every scope, in all groups.
pub fn all() -> Vec<Scope<World>> {
    let groups = [(Group::Tiny, TINY), (Group::Ci, CI), (Group::Deep, DEEP)];
    let listed = groups.into_iter().flat_map(|(group, list)| list.iter().map(move |scope| (group, scope)));
    let scope = |(group, (name, budget)): (Group, &(&'static str, Budget))| Scope {
        name,
        group,
        bounds: budget.bounds(),
        world: World::new(*budget),
    };
    listed.map(scope).collect()
}

/// What was simplified.
pub const ABSTRACTIONS: &[&str] = &[];

/// What is not modelled.
pub const GAPS: &[Gap] = &[];
