//! The table of scopes: what is searched when.
//!
//! Each power of the adversary alone (`tiny`), then in pairs (`ci`), upon four subjects: admission, work, hints,
//! permits. How many states each has stands in a manifest, not here.

use awakener_kernel::ids::Tier::{Two, Zero};
use awakener_kernel::values::By::{Agent, Station};
use awakener_kernel::values::Finish::{Complete, Truncated};

use super::World;
use super::act::Right;
use super::scope::{Bounds, NONE, Subject};
use crate::world::{Group, Scope};

/// Mail comes in.
const ADMIT: Bounds = Bounds { mail: &[Zero, Two], submits: 2, intruders: &[Subject::Admission], ..NONE };

/// An alert is worked on and acknowledged.
const WORK: Bounds = Bounds {
    holders: 1,
    finishes: &[Complete],
    responds: true,
    acks: &[Station, Agent],
    intruders: &[Subject::Work],
    ..NONE
};

/// A lease is all that matters.
const LEASE: Bounds = Bounds { holders: 2, claims: 2, ticks: 2, ..NONE };

/// Hints are minted and sent.
const HINT: Bounds = Bounds { emits: true, ticks: 1, intruders: &[Subject::Wake], ..NONE };

/// Daemons ask and fly.
const PERMIT: Bounds =
    Bounds { emits: true, daemons: 1, asks: 1, ticks: 1, attempts: 2, intruders: &[Subject::Wake], ..NONE };

const TABLE: &[(&str, Group, Bounds)] = &[
    // Admission.
    ("admit", Group::Tiny, Bounds { crashes: 1, failures: 1, ..ADMIT }),
    ("admit_group", Group::Tiny, Bounds { batch: 2, crashes: 2, failures: 2, ..ADMIT }),
    (
        "admit_rights",
        Group::Tiny,
        Bounds { rights: &[Right::Roster, Right::Open], changes: 3, crashes: 1, ..ADMIT },
    ),
    ("admit_restore", Group::Tiny, Bounds { restores: 1, crashes: 1, failures: 1, ..ADMIT }),
    (
        "admit_clock",
        Group::Tiny,
        Bounds { steps_back: &[1, 2], backs: 2, accepts: 1, ticks: 2, crashes: 1, ..ADMIT },
    ),
    // Work.
    ("work", Group::Tiny, WORK),
    ("work_crash", Group::Tiny, Bounds { crashes: 1, claims: 2, ..WORK }),
    ("work_fail", Group::Tiny, Bounds { failures: 1, claims: 2, ..WORK }),
    ("work_group", Group::Tiny, Bounds { batch: 2, ..WORK }),
    ("work_late", Group::Tiny, Bounds { late: true, losses: 1, claims: 2, ..WORK }),
    ("work_operator", Group::Tiny, Bounds { acts: 2, claims: 2, attempts: 1, ..WORK }),
    ("work_restore", Group::Tiny, Bounds { restores: 1, ..WORK }),
    ("work_mail", Group::Tiny, Bounds { mail: &[Zero, Two], ..WORK }),
    ("work_two", Group::Tiny, Bounds { mail: &[Zero, Zero], acks: &[Agent], ..WORK }),
    (
        "truncated",
        Group::Tiny,
        Bounds { finishes: &[Complete, Truncated], claims: 2, acks: &[Station], ..WORK },
    ),
    // Leases.
    ("lease", Group::Tiny, Bounds { renews: 1, attempts: 2, ..LEASE }),
    ("lease_mail", Group::Tiny, Bounds { mail: &[Zero, Two], attempts: 1, ..LEASE }),
    ("lease_crash", Group::Tiny, Bounds { crashes: 1, attempts: 2, ..LEASE }),
    ("lease_clock", Group::Tiny, Bounds { crashes: 1, steps_back: &[1, 2], backs: 1, ..LEASE }),
    (
        "age",
        Group::Tiny,
        Bounds { mail: &[Zero, Two], ages: true, ticks: 2, crashes: 1, acts: 1, holders: 1, ..NONE },
    ),
    // Hints.
    ("hint", Group::Tiny, HINT),
    ("hint_crash", Group::Tiny, Bounds { crashes: 2, ..HINT }),
    ("hint_fail", Group::Tiny, Bounds { failures: 2, ..HINT }),
    (
        "hint_late",
        Group::Tiny,
        Bounds { late: true, losses: 1, crashes: 1, reports: true, sweeps: 1, ..HINT },
    ),
    (
        "hint_rights",
        Group::Tiny,
        Bounds { rights: &[Right::Roster, Right::Armed, Right::Open], changes: 2, sweeps: 1, ..HINT },
    ),
    ("hint_restore", Group::Tiny, Bounds { restores: 1, crashes: 1, sweeps: 1, ..HINT }),
    (
        "hint_clock",
        Group::Tiny,
        Bounds { steps_back: &[1, 2], backs: 2, accepts: 1, ticks: 2, crashes: 1, ..HINT },
    ),
    ("hint_two", Group::Tiny, Bounds { mail: &[Zero, Zero], sweeps: 1, ..HINT }),
    ("hint_ack", Group::Tiny, Bounds { holders: 1, acks: &[Agent], sweeps: 1, ..HINT }),
    // Permits.
    ("permit", Group::Tiny, PERMIT),
    ("permit_two", Group::Tiny, Bounds { daemons: 2, asks: 2, ticks: 2, attempts: 1, ..PERMIT }),
    ("permit_crash", Group::Tiny, Bounds { crashes: 1, asks: 2, ..PERMIT }),
    ("permit_fail", Group::Tiny, Bounds { failures: 1, asks: 2, ..PERMIT }),
    ("permit_late", Group::Tiny, Bounds { late: true, losses: 1, asks: 2, ..PERMIT }),
    (
        "permit_rights",
        Group::Tiny,
        Bounds { rights: &[Right::Roster, Right::Armed, Right::Open], changes: 2, ..PERMIT },
    ),
    ("permit_outcome", Group::Tiny, Bounds { outcomes: true, asks: 2, ..PERMIT }),
    ("permit_read", Group::Tiny, Bounds { holders: 1, attempts: 1, acks: &[Agent], ..PERMIT }),
    ("permit_restore", Group::Tiny, Bounds { restores: 1, ..PERMIT }),
    (
        "permit_operator",
        Group::Tiny,
        Bounds { acts: 2, attempts: 1, asks: 2, intruders: &[Subject::Wake, Subject::Office], ..PERMIT },
    ),
];

/// Every scope.
pub fn all() -> Vec<Scope<World>> {
    let scope = |(name, group, bounds): &(&'static str, Group, Bounds)| Scope {
        name,
        group: *group,
        bounds: bounds.differences(),
        world: World::new(*bounds),
    };
    TABLE.iter().map(scope).collect()
}
