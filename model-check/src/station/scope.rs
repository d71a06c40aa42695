//! The scopes: many narrow ones, each power of the adversary alone and in pairs.
//!
//! The bounds and what they mean stand in [`super::bounds`].

use awakener_kernel::ids::Tier;
use awakener_kernel::station::Hand;

use super::World;
use super::act::{End, LaneKind};
use super::bounds::{ALERT, Bounds, Cause, Letter, MAIL, NONE};
use crate::world::Group::{self, Tiny};
use crate::world::Scope;

const fn own(cause: Cause) -> Letter {
    Letter { tier: Tier::Two, cause }
}

const TRIPS: Bounds = Bounds { per_hour: 1, claims: 2, founds: 1, mail: &[ALERT, MAIL], boots: 2, ..NONE };

/// Every scope.
pub const TABLE: &[(&str, Group, Bounds)] = &[
    ("pass", Tiny, Bounds { hints: 1, ..NONE }),
    ("two", Tiny, Bounds { mail: &[ALERT, MAIL], claims: 2, tails: 1, ..NONE }),
    ("crash", Tiny, Bounds { claims: 2, crashes: 1, boots: 2, ticks: 1, ..NONE }),
    ("commit", Tiny, Bounds { claims: 2, failures: 1, boots: 2, ..NONE }),
    ("distort", Tiny, Bounds { hints: 1, claims: 2, distortions: 1, ticks: 2, lease: 2, ..NONE }),
    ("refuse", Tiny, Bounds { claims: 2, refusals: 1, ticks: 1, ..NONE }),
    ("lapse", Tiny, Bounds { claims: 2, lapses: 1, nothings: 1, ticks: 2, lease: 2, ..NONE }),
    ("disarm", Tiny, Bounds { grants: 2, disarms: 1, ..NONE }),
    ("expire", Tiny, Bounds { hints: 1, life: 1, ticks: 2, grants: 2, ..NONE }),
    ("blind", Tiny, Bounds { blind: 1, invalid: 1, ..NONE }),
    (
        "ends",
        Tiny,
        Bounds { claims: 2, ticks: 1, ends: &[End::Whole, End::Cut, End::Clash, End::Mute], ..NONE },
    ),
    ("cut_mail", Tiny, Bounds { mail: &[MAIL], claims: 2, ticks: 1, ends: &[End::Cut], ..NONE }),
    ("unmapped", Tiny, Bounds { lanes: &[LaneKind::Unmapped], ticks: 1, lease: 1, ..NONE }),
    (
        "attached",
        Tiny,
        Bounds { lanes: &[LaneKind::Attached], hands: &[Hand::Agent], owns: 1, claims: 2, ..NONE },
    ),
    ("own", Tiny, Bounds { hands: &[Hand::Agent, Hand::Human], owns: 1, refusals: 1, founds: 1, ..NONE }),
    ("prior", Tiny, Bounds { prior: true, crashes: 1, boots: 2, claims: 2, ..NONE }),
    ("attempts", Tiny, Bounds { claims: 3, ticks: 3, ends: &[End::Clash], releases: 1, ..NONE }),
    ("trip", Tiny, Bounds { ..TRIPS }),
    ("trip_late", Tiny, Bounds { ticks: 1, distortions: 1, ..TRIPS }),
    ("trip_refuse", Tiny, Bounds { refusals: 1, ..TRIPS }),
    ("trip_crash", Tiny, Bounds { crashes: 1, boots: 3, mail: &[own(Cause::Deep)], ..TRIPS }),
    ("trip_commit", Tiny, Bounds { failures: 1, boots: 3, mail: &[own(Cause::Deep)], ..TRIPS }),
    ("loop", Tiny, Bounds { mail: &[own(Cause::Loop)], ..TRIPS }),
    ("echo", Tiny, Bounds { mail: &[own(Cause::Echo), own(Cause::Echo)], per_hour: 9, ..TRIPS }),
    ("clear", Tiny, Bounds { clears: 2, boots: 3, grants: 2, mail: &[own(Cause::Deep)], ..TRIPS }),
    ("clear_crash", Tiny, Bounds { clears: 2, crashes: 1, boots: 3, mail: &[own(Cause::Deep)], ..TRIPS }),
    ("found", Tiny, Bounds { meddles: 2, boots: 3, clears: 1, crashes: 1, ..NONE }),
    ("hours", Tiny, Bounds { hours: 1, life: 4_000, ..TRIPS }),
    ("boots", Tiny, Bounds { per_hour: 9, per_boot: 1, crashes: 1, boots: 3, ..TRIPS }),
    ("clock", Tiny, Bounds { sets: 1, crashes: 1, boots: 2, life: 2, ticks: 1, ..NONE }),
];

/// As worlds.
pub fn scopes() -> Vec<Scope<World>> {
    let scope = |(name, group, bounds): &(&'static str, Group, Bounds)| Scope {
        name,
        group: *group,
        bounds: bounds.pairs(),
        world: World::new(*bounds),
    };
    TABLE.iter().map(scope).collect()
}
