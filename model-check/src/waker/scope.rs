//! How much of everything the adversary of a waker world may do, and the one table of all searches.
//!
//! All budgets are counts. Each power stands alone first, then in pairs; the powers that every scope has are hints out
//! of order, repeated and forged without a key, completions that come late, and inputs that nobody asked for.

use awakener_kernel::values::{DispatchOutcome, FlightEnd};
use awakener_kernel::waker::{Capability, Missing};
use awakener_spec::Class;

use super::World;
use super::limits::{SKEW, TTL};
use crate::world::{Group, Scope};

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

impl Budget {
    /// Whether pauses and the manifest are told by themselves after a boot.
    pub const fn is_told_late(&self) -> bool {
        self.switches > 0
    }
}

const UNAVAILABLE: &[DispatchOutcome] = &[DispatchOutcome::Unavailable];
const UNKNOWN: &[DispatchOutcome] = &[DispatchOutcome::OutcomeUnknown];
const MIXED: &[DispatchOutcome] =
    &[DispatchOutcome::NotifiedVerified, DispatchOutcome::OutcomeUnknown, DispatchOutcome::Unavailable];
const ENDS: &[FlightEnd] =
    &[FlightEnd::ProcessEnded, FlightEnd::WorkFinished, FlightEnd::Idle, FlightEnd::NeverStarted];
const WORDS: &[Class] =
    &[Class::AuthorityWithdrawn, Class::NotArmed, Class::NotOutstanding, Class::PermitHeld];
const FEW: &[Class] = &[Class::NotOutstanding, Class::PermitHeld];
const MANIFESTS: &[Capability] =
    &[Capability::Unattended, Capability::Attended, Capability::Missing(Missing::NoTier0Ack)];
const ON_OFF: &[Capability] = &[Capability::Unattended, Capability::Missing(Missing::NoAdapter)];

/// Two hints, both of which are presented.
const TWO: Budget = Budget { lives: &[TTL, TTL], presents: 2, ..NONE };
/// Two hints, the second of which outlives a cooldown and a permit.
const LONG: Budget = Budget { lives: &[TTL, 4], presents: 2, ..NONE };
/// A history of one, and an older hint that lives longer.
const NARROW: Budget = Budget { lives: &[4, TTL], presents: 2, history: 1, ..NONE };
/// One hint, and one more that a sweep finds.
const FOUND: Budget = Budget { found: 1, ..NONE };
/// The router's key is stolen.
const THIEF: Budget = Budget { thefts: 1, ticks: 1, ..NONE };
/// The operator switches starts off and on.
const SWITCH: Budget = Budget { switches: 1, manifests: ON_OFF, ..NONE };

/// Seconds, all together.
const TINY: &[(&str, Budget)] = &[
    ("replay", Budget { crashes: 1, ticks: 1, ..TWO }),
    ("unknown", Budget { outcomes: UNKNOWN, ticks: 3, ..LONG }),
    ("fate_long", Budget { crashes: 1, cannot_tell: true, ..LONG }),
    ("window", NARROW),
    ("window_short", Budget { lives: &[1, 4], ..NARROW }),
    ("age", Budget { ticks: 5, ..NONE }),
    ("found", FOUND),
    ("failing", Budget { ticks: 3, outcomes: UNAVAILABLE, ..FOUND }),
    ("attended", Budget { manifests: &[Capability::Attended], ..NONE }),
    ("thief", THIEF),
    ("back", Budget { backs: 1, ..NONE }),
    ("ahead", Budget { aheads: 1, ..NONE }),
    ("fate", Budget { crashes: 1, cannot_tell: true, ticks: 3, ..NONE }),
    ("failure", Budget { failures: 1, ..NONE }),
    ("outcomes", Budget { outcomes: &DispatchOutcome::ALL, ..NONE }),
    ("ends", Budget { reads: 1, ends: ENDS, ..NONE }),
    ("withheld", Budget { withheld: WORDS, ..NONE }),
    ("outage", Budget { outages: 1, ..NONE }),
    ("distorted", Budget { distortions: 1, ..NONE }),
    ("unordered", Budget { unordered: true, ..NONE }),
    ("batch", Budget { batch: 2, ..NONE }),
    ("switch", SWITCH),
    ("reconnect", Budget { reconnects: 1, ..NONE }),
];

/// A minute or two, all together.
const CI: &[(&str, Budget)] = &[
    ("window_three", Budget { lives: &[4, TTL, TTL], presents: 3, history: 2, ticks: 2, ..NONE }),
    ("window_crash", Budget { crashes: 1, ..NARROW }),
    ("window_back", Budget { backs: 1, ..NARROW }),
    ("window_back_crash", Budget { backs: 1, crashes: 1, ticks: 1, ..NARROW }),
    ("window_thief", Budget { thefts: 1, ticks: 1, ..NARROW }),
    ("outcomes_two", Budget { outcomes: &DispatchOutcome::ALL, ticks: 3, ..TWO }),
    ("outcomes_crash", Budget { outcomes: &DispatchOutcome::ALL, crashes: 1, ..NONE }),
    ("outcomes_found", Budget { outcomes: &DispatchOutcome::ALL, ..FOUND }),
    ("unknown_age", Budget { outcomes: UNKNOWN, ticks: 4, ..TWO }),
    ("found_age", Budget { ticks: 4, ..FOUND }),
    ("found_twice", Budget { found: 2, ticks: 3, ..NONE }),
    ("failing_crash", Budget { crashes: 1, ticks: 3, outcomes: UNAVAILABLE, ..FOUND }),
    ("failing_back", Budget { backs: 1, outcomes: UNAVAILABLE, ..FOUND }),
    ("never", Budget { never: true, ticks: 3, ..FOUND }),
    ("ends_two", Budget { ends: ENDS, ..TWO }),
    ("reads_found", Budget { reads: 1, outcomes: MIXED, ticks: 3, ..FOUND }),
    ("reads_crash", Budget { reads: 1, crashes: 1, ..NONE }),
    ("fate_two", Budget { crashes: 1, cannot_tell: true, ..TWO }),
    ("batch_two", Budget { batch: 2, ..TWO }),
    ("batch_three", Budget { batch: 3, ..NONE }),
    ("batch_crash", Budget { batch: 2, crashes: 1, ..NONE }),
    ("batch_failure", Budget { batch: 2, failures: 1, ..NONE }),
    ("batch_failure_two", Budget { batch: 2, failures: 1, ticks: 1, ..TWO }),
    ("batch_unordered", Budget { batch: 2, unordered: true, ..TWO }),
    ("batch_switch", Budget { batch: 2, ticks: 1, ..SWITCH }),
    ("batch_thief", Budget { batch: 2, ..THIEF }),
    ("thief_two", Budget { lives: &[TTL, TTL], presents: 2, ..THIEF }),
    ("thief_twice", Budget { thefts: 2, ..THIEF }),
    ("thief_crash", Budget { crashes: 1, ..THIEF }),
    ("thief_back", Budget { backs: 1, ..THIEF }),
    ("thief_failure", Budget { failures: 1, ..THIEF }),
    ("thief_withheld", Budget { withheld: FEW, ..THIEF }),
    ("thief_outage", Budget { outages: 1, ticks: 2, ..THIEF }),
    ("thief_unordered", Budget { unordered: true, ..THIEF }),
    ("thief_distorted", Budget { distortions: 1, ..THIEF }),
    ("thief_switch", Budget { switches: 1, manifests: ON_OFF, ..THIEF }),
    ("thief_reconnect", Budget { reconnects: 1, ..THIEF }),
    ("back_two", Budget { backs: 1, ticks: 1, ..TWO }),
    ("back_crash", Budget { backs: 1, crashes: 1, ..NONE }),
    ("ahead_crash", Budget { aheads: 1, crashes: 1, ..NONE }),
    ("back_ahead", Budget { backs: 1, aheads: 1, ..NONE }),
    ("crash_two", Budget { crashes: 1, ..TWO }),
    ("crash_twice", Budget { crashes: 2, ..NONE }),
    ("crash_found", Budget { crashes: 1, ..FOUND }),
    ("crash_failure", Budget { crashes: 1, failures: 1, ..NONE }),
    ("crash_withheld", Budget { crashes: 1, withheld: FEW, ..NONE }),
    ("crash_outage", Budget { crashes: 1, outages: 1, ..NONE }),
    ("failure_two", Budget { failures: 1, ticks: 1, ..TWO }),
    ("failure_twice", Budget { failures: 2, ticks: 1, ..NONE }),
    ("withheld_two", Budget { withheld: WORDS, ..TWO }),
    ("withheld_found", Budget { withheld: WORDS, ..FOUND }),
    ("outage_found", Budget { outages: 1, ..FOUND }),
    ("outage_withheld", Budget { outages: 2, withheld: FEW, ..NONE }),
    ("distorted_two", Budget { distortions: 1, ..TWO }),
    ("distorted_twice", Budget { distortions: 2, ..NONE }),
    ("distorted_crash", Budget { distortions: 1, crashes: 1, ..NONE }),
    ("unordered_two", Budget { unordered: true, ..TWO }),
    ("unordered_crash", Budget { unordered: true, crashes: 1, ..NONE }),
    ("unordered_distorted", Budget { unordered: true, distortions: 1, ..NONE }),
    ("switch_two", Budget { lives: &[TTL, TTL], presents: 2, ..SWITCH }),
    ("switch_twice", Budget { switches: 2, ..SWITCH }),
    ("switch_all", Budget { manifests: MANIFESTS, ..SWITCH }),
    ("switch_crash", Budget { crashes: 1, ticks: 1, ..SWITCH }),
    ("switch_withheld", Budget { withheld: FEW, ..SWITCH }),
    ("switch_reconnect", Budget { reconnects: 1, ticks: 1, ..SWITCH }),
    ("reconnect_crash", Budget { reconnects: 1, crashes: 1, ..NONE }),
    ("reconnect_outage", Budget { reconnects: 1, outages: 1, ..NONE }),
];

/// By hand.
const DEEP: &[(&str, Budget)] = &[
    ("failing_twice", Budget { found: 2, ticks: 7, outcomes: UNAVAILABLE, ..NONE }),
    ("deep_failures", Budget { found: 2, crashes: 1, ticks: 5, outcomes: MIXED, ..NONE }),
    ("deep_clocks", Budget { crashes: 1, backs: 1, aheads: 1, ..TWO }),
    ("deep_faults", Budget { crashes: 1, failures: 1, distortions: 1, found: 1, ..THIEF }),
];

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
