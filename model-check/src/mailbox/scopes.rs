//! The table of scopes: what is searched when.
//!
//! Five subjects, each with the powers of the adversary that touch it: alone (`tiny`) and in pairs (`ci`). Then a few
//! that are wider than a pair. How many states each has stands in a manifest, not here.

use std::sync::LazyLock;

use awakener_kernel::ids::Tier::{Two, Zero};
use awakener_kernel::values::By::{Agent, Human, Station};
use awakener_kernel::values::Finish::{Complete, Truncated};

use super::World;
use super::act::Right;
use super::scope::{Bounds, NONE, Subject};
use crate::world::{Group, Scope};

/// Something that the adversary may do beyond what a subject needs.
struct Power {
    name: &'static str,
    with: fn(Bounds) -> Bounds,
}

macro_rules! powers {
    ($( $power:ident = $name:literal { $( $field:ident : $value:expr ),* } )*) => {
        $( const $power: Power = Power { name: $name, with: |b| Bounds { $( $field: $value, )* ..b } }; )*
    };
}

const RIGHTS: &[Right] = &[Right::Roster, Right::Armed, Right::Open];

powers! {
    CRASH = "crash" { crashes: 1 }
    FAIL = "fail" { failures: 1 }
    GROUP = "group" { batch: 2 }
    LATE = "late" { late: true, losses: 1 }
    RIGHTS_TURN = "rights" { rights: RIGHTS, changes: 2 }
    CLOCK = "clock" { steps_back: &[1, 2], backs: 1, accepts: 1 }
    RESTORE = "restore" { restores: 1 }
    OPERATOR = "operator" { acts: 2, attempts: 1, intruders: &[Subject::Office] }
    MAIL = "mail" { mail: &[Zero, Two], claims: 1 }
    OTHER_MAIL = "mail" { mail: &[Two, Zero], ticks: 1 }
    THREE = "three" { mail: &[Two, Zero, Zero] }
    SECOND = "second" { mail: &[Zero, Zero], claims: 1 }
    RENEW = "renew" { renews: 1 }
    TURNS = "turns" { finishes: &[Complete, Truncated], turns: 2 }
    DAEMONS = "daemons" { daemons: 2, asks: 2 }
    READ = "read" { holders: 1, acks: &[Agent] }
    SWEEP = "sweep" { sweeps: 1 }
    REPORT = "report" { reports: true }
    OUTCOME = "outcome" { outcomes: true }
    AGE = "age" { ages: true, ticks: 1, claims: 1, mail: &[Zero, Two] }
}

/// Mail comes in, also twice.
const ADMIT: Bounds = Bounds { mail: &[Zero, Two], submits: 2, intruders: &[Subject::Admission], ..NONE };

/// An alert is worked on and acknowledged.
const WORK: Bounds = Bounds {
    holders: 1,
    claims: 2,
    finishes: &[Complete],
    responds: true,
    acks: &[Station, Agent],
    intruders: &[Subject::Work],
    ..NONE
};

/// Two holders want the same work, and time passes.
const LEASE: Bounds = Bounds { holders: 2, claims: 2, ticks: 2, attempts: 2, ..NONE };

/// Hints are minted and sent.
const HINT: Bounds = Bounds { emits: true, ticks: 1, intruders: &[Subject::Wake], ..NONE };

/// A daemon asks and flies.
const PERMIT: Bounds =
    Bounds { emits: true, daemons: 1, asks: 2, ticks: 1, attempts: 1, intruders: &[Subject::Wake], ..NONE };

/// An alert from its admission over hint, permit and flight to its ACK.
const ALERT: Bounds =
    Bounds { holders: 1, responds: true, finishes: &[Complete], acks: &[Station], attempts: 2, ..PERMIT };

/// Each subject with the powers that touch it.
const SUBJECTS: &[(&str, Bounds, &[Power])] = &[
    ("admit", ADMIT, &[CRASH, FAIL, GROUP, RIGHTS_TURN, CLOCK, RESTORE]),
    ("work", WORK, &[CRASH, FAIL, GROUP, LATE, RESTORE, OPERATOR, TURNS, MAIL, SECOND, AGE]),
    ("lease", LEASE, &[CRASH, FAIL, GROUP, LATE, CLOCK, RESTORE, RENEW, OTHER_MAIL]),
    ("hint", HINT, &[CRASH, FAIL, GROUP, LATE, RIGHTS_TURN, CLOCK, RESTORE, THREE, SWEEP, REPORT, READ]),
    (
        "permit",
        PERMIT,
        &[CRASH, FAIL, GROUP, LATE, RIGHTS_TURN, CLOCK, RESTORE, DAEMONS, OUTCOME, OPERATOR, READ, SWEEP],
    ),
];

/// Pairs with too many states for every submission.
const MANY: &[&str] = &["work_turns_age", "work_restore_age"];

/// What is wider than a pair.
const WIDE: &[(&str, Group, Bounds)] = &[
    (
        "signers",
        Group::Tiny,
        Bounds { acks: &[Station, Agent, Human], mail: &[Two, Zero], claims: 1, ..WORK },
    ),
    ("lease_over_restart", Group::Tiny, Bounds { crashes: 1, steps_back: &[1, 2], backs: 1, ..LEASE }),
    (
        "lease_time_accepted",
        Group::Tiny,
        Bounds {
            crashes: 1,
            steps_back: &[2],
            backs: 1,
            accepts: 1,
            holders: 1,
            claims: 1,
            ticks: 1,
            ..LEASE
        },
    ),
    ("hint_after_restore", Group::Tiny, Bounds { crashes: 2, restores: 1, sweeps: 1, ..HINT }),
    (
        "hint_fates",
        Group::Tiny,
        Bounds { late: true, losses: 1, reports: true, crashes: 1, sweeps: 1, ..HINT },
    ),
    ("hint_late_start", Group::Tiny, Bounds { late_start: true, crashes: 1, sweeps: 1, ..HINT }),
    ("flight", Group::Tiny, Bounds { crashes: 1, ticks: 2, ..PERMIT }),
    (
        "queue",
        Group::Tiny,
        Bounds { mail: &[Two, Two, Zero], queue: 1, intruders: &[], acks: &[Agent], ..WORK },
    ),
    ("work_long", Group::Ci, Bounds { crashes: 1, mail: &[Zero, Zero], ..WORK }),
    ("alert_whole", Group::Deep, Bounds { crashes: 1, ..ALERT }),
    ("alert_whole_late", Group::Ci, Bounds { late: true, losses: 1, ..ALERT }),
    (
        "deep_work",
        Group::Deep,
        Bounds { crashes: 1, failures: 1, late: true, losses: 1, mail: &[Zero, Zero], ..WORK },
    ),
    (
        "deep_alert",
        Group::Deep,
        Bounds { crashes: 1, failures: 1, daemons: 2, sweeps: 1, rights: RIGHTS, changes: 2, ..ALERT },
    ),
];

static ALL: LazyLock<Vec<(&'static str, Group, Bounds)>> = LazyLock::new(|| {
    let mut all = Vec::new();
    for (subject, base, powers) in SUBJECTS {
        all.push((*subject, Group::Tiny, *base));
        for (i, one) in powers.iter().enumerate() {
            all.push((name(&[subject, one.name]), Group::Tiny, (one.with)(*base)));
            for other in &powers[i + 1..] {
                let both = (other.with)((one.with)(*base));
                // Some powers contain another one: then the pair is no scope of its own.
                if all.iter().all(|(_, _, known)| *known != both) {
                    let name = name(&[subject, one.name, other.name]);
                    let group = if MANY.contains(&name) { Group::Deep } else { Group::Ci };
                    all.push((name, group, both));
                }
            }
        }
    }
    all.extend_from_slice(WIDE);
    all
});

fn name(parts: &[&str]) -> &'static str {
    // Once per scope and process.
    parts.join("_").leak()
}

/// Every scope.
pub fn all() -> Vec<Scope<World>> {
    let scope = |(name, group, bounds): &(&'static str, Group, Bounds)| Scope {
        name,
        group: *group,
        bounds: bounds.differences(),
        world: World::new(*bounds),
    };
    ALL.iter().map(scope).collect()
}
