//! The scopes: each power of the adversary alone, every two of them together, and a few wide ones.
//!
//! The bounds and what they mean stand in [`super::bounds`]. What the powers have in common is [`BASE`]: one alert, one
//! hint about it, one grant.

use std::sync::OnceLock;

use awakener_kernel::ids::Tier;
use awakener_kernel::station::Hand;

use super::World;
use super::act::{End, LaneKind};
use super::bounds::{ALERT, Bounds, Cause, Letter, MAIL, NONE};
use crate::world::Group::{self, Ci, Deep, Tiny};
use crate::world::Scope;

/// What every power begins with.
pub const BASE: Bounds = Bounds { hints: 1, ..NONE };

/// One power of the adversary, as what it adds.
type Power = (&'static str, fn(&mut Bounds));

const fn own(cause: Cause) -> Letter {
    Letter { tier: Tier::Two, cause }
}

const ENDS: &[End] = &[End::Whole, End::Cut, End::Clash, End::Mute];
const BOTH: &[Letter] = &[ALERT, MAIL];
const DEEP: &[Letter] = &[own(Cause::Deep)];

/// Some time passes, so that what waits may give up.
fn waits(bounds: &mut Bounds) {
    bounds.ticks = bounds.ticks.max(1);
    bounds.lease = 2;
}

/// The powers. Where two of them say something about the same bound that cannot be added, the later one is right.
const POWERS: &[Power] = &[
    ("hint", |b| b.hints += 1),
    ("found", |b| b.founds += 1),
    ("mail", |b| (b.mail, b.claims) = (BOTH, b.claims + 1)),
    ("crash", |b| (b.crashes, b.boots, b.claims) = (b.crashes + 1, b.boots + 1, b.claims + 1)),
    ("commit", |b| (b.failures, b.boots, b.claims) = (b.failures + 1, b.boots + 1, b.claims + 1)),
    ("distort", |b| {
        b.distortions += 1;
        waits(b);
    }),
    ("refuse", |b| {
        (b.refusals, b.claims) = (b.refusals + 1, b.claims + 1);
        waits(b);
    }),
    ("lapse", |b| {
        (b.lapses, b.claims) = (b.lapses + 1, b.claims + 1);
        waits(b);
    }),
    ("other", |b| b.nothings += 1),
    ("disarm", |b| (b.disarms, b.grants) = (b.disarms + 1, b.grants + 1)),
    ("time", |b| (b.ticks, b.lease) = (2, 2)),
    ("clock", |b| (b.sets, b.life) = (b.sets + 1, 2)),
    ("blind", |b| b.blind += 1),
    ("invalid", |b| b.invalid += 1),
    ("own", |b| (b.owns, b.hands) = (b.owns + 1, &[Hand::Agent])),
    ("ends", |b| {
        (b.ends, b.claims) = (ENDS, b.claims + 1);
        waits(b);
    }),
    ("attached", |b| b.lanes = &[LaneKind::Mapped, LaneKind::Attached]),
    ("unmapped", |b| {
        b.lanes = &[LaneKind::Mapped, LaneKind::Unmapped];
        waits(b);
    }),
    ("retry", |b| {
        (b.attempts, b.releases, b.ends, b.claims) = (1, b.releases + 1, &[End::Clash], b.claims + 1);
        waits(b);
    }),
    ("tail", |b| b.tails += 1),
    ("prior", |b| b.prior = true),
    ("meddle", |b| (b.meddles, b.boots) = (b.meddles + 1, b.boots + 1)),
    ("trip", |b| (b.mail, b.per_hour, b.claims, b.boots) = (BOTH, 1, b.claims + 1, b.boots + 1)),
    ("clear", |b| (b.mail, b.clears, b.boots, b.grants) = (DEEP, b.clears + 1, b.boots + 1, b.grants + 1)),
];

const TRIPS: Bounds = Bounds { per_hour: 1, claims: 2, founds: 1, mail: BOTH, boots: 2, ..NONE };
const LATCH: Bounds = Bounds { mail: DEEP, claims: 2, boots: 3, clears: 1, ..NONE };
const WIDE: Bounds = Bounds { mail: BOTH, claims: 3, hints: 1, founds: 1, boots: 2, ..NONE };

/// Scopes beyond powers and pairs.
const TABLE: &[(&str, Group, Bounds)] = &[
    ("two", Tiny, Bounds { mail: BOTH, claims: 2, tails: 1, ..NONE }),
    ("expire", Tiny, Bounds { hints: 1, life: 1, ticks: 2, grants: 2, ..NONE }),
    ("cut_mail", Tiny, Bounds { mail: &[MAIL], claims: 2, ticks: 1, ends: &[End::Cut], ..NONE }),
    ("only_unmapped", Tiny, Bounds { lanes: &[LaneKind::Unmapped], ticks: 1, lease: 1, ..NONE }),
    (
        "only_attached",
        Tiny,
        Bounds {
            lanes: &[LaneKind::Attached],
            hands: &[Hand::Agent, Hand::Human],
            owns: 1,
            claims: 2,
            ticks: 1,
            ..NONE
        },
    ),
    ("attempts", Tiny, Bounds { claims: 3, ticks: 3, ends: &[End::Clash], releases: 1, ..NONE }),
    ("rests", Tiny, Bounds { claims: 3, ticks: 3, attempts: 3, ends: &[End::Clash], ..NONE }),
    ("supplant", Tiny, Bounds { lapses: 1, others: 1, claims: 2, ticks: 1, lease: 2, ..NONE }),
    ("trip_late", Tiny, Bounds { ticks: 1, distortions: 1, ..TRIPS }),
    ("trip_refuse", Tiny, Bounds { refusals: 1, ..TRIPS }),
    ("trip_boot", Tiny, Bounds { per_hour: 9, per_boot: 1, crashes: 1, boots: 3, ..TRIPS }),
    ("trip_hour", Tiny, Bounds { hours: 2, life: 4_000, claims: 3, ends: &[End::Clash], ..TRIPS }),
    ("loop", Tiny, Bounds { mail: &[own(Cause::Loop)], ..TRIPS }),
    ("echo", Tiny, Bounds { mail: &[own(Cause::Echo), own(Cause::Echo)], per_hour: 9, crashes: 1, ..TRIPS }),
    ("new_words", Tiny, Bounds { mail: &[own(Cause::Own), own(Cause::Own)], per_hour: 9, ..TRIPS }),
    ("latch_commit", Tiny, Bounds { failures: 2, boots: 4, ..LATCH }),
    ("latch_crash", Tiny, Bounds { crashes: 2, clears: 2, boots: 4, ..LATCH }),
    ("latch_found", Tiny, Bounds { mail: &[ALERT], meddles: 2, crashes: 1, ..LATCH }),
    ("latch_late", Ci, Bounds { crashes: 1, failures: 1, ticks: 1, distortions: 1, boots: 4, ..LATCH }),
    ("latch_refuse", Ci, Bounds { crashes: 1, failures: 1, refusals: 2, clears: 2, boots: 5, ..LATCH }),
    ("latch_meddle", Ci, Bounds { crashes: 1, failures: 1, meddles: 2, refusals: 1, boots: 4, ..LATCH }),
    ("wide_commit", Ci, Bounds { failures: 1, crashes: 1, ..WIDE }),
    ("wide_disarm", Ci, Bounds { crashes: 1, disarms: 1, grants: 2, ..WIDE }),
    ("wide_distort", Ci, Bounds { crashes: 1, distortions: 1, ticks: 1, lease: 2, ..WIDE }),
    ("wide_trip", Ci, Bounds { crashes: 1, failures: 1, boots: 3, per_hour: 1, ..WIDE }),
    ("wide_ends", Ci, Bounds { ends: ENDS, ticks: 1, ..WIDE }),
    ("deep_crash", Deep, Bounds { crashes: 2, boots: 3, lapses: 1, ticks: 1, ..WIDE }),
    (
        "deep_latch",
        Deep,
        Bounds {
            crashes: 2,
            failures: 1,
            refusals: 2,
            distortions: 1,
            meddles: 1,
            clears: 2,
            ticks: 1,
            boots: 5,
            ..LATCH
        },
    ),
];

fn scope(name: &'static str, group: Group, bounds: Bounds) -> Scope<World> {
    Scope { name, group, bounds: bounds.pairs(), world: World::new(bounds) }
}

/// Every scope: powers, the table, pairs.
fn all() -> Vec<Scope<World>> {
    let mut all = Vec::new();
    for (name, power) in POWERS {
        let mut bounds = BASE;
        power(&mut bounds);
        all.push(scope(name, Tiny, bounds));
    }
    all.extend(TABLE.iter().map(|(name, group, bounds)| scope(name, *group, *bounds)));
    for (i, (first, one)) in POWERS.iter().enumerate() {
        for (second, other) in POWERS.iter().skip(i + 1) {
            let mut bounds = BASE;
            one(&mut bounds);
            other(&mut bounds);
            if all.iter().any(|known: &Scope<World>| known.world.bounds == bounds) {
                continue;
            }
            // Names live as long as the program.
            all.push(scope(format!("{first}_{second}").leak(), Ci, bounds));
        }
    }
    all
}

/// Every scope, made once.
pub fn scopes() -> Vec<Scope<World>> {
    static ALL: OnceLock<Vec<Scope<World>>> = OnceLock::new();
    ALL.get_or_init(all).clone()
}
