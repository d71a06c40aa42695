//! What the adversary of the cyclic system may do, and the limits of the machines. Nothing is counted.

use awakener_kernel::config::Config;
use awakener_kernel::time::Millis;

use super::World;
use crate::cyclic::canon::NEVER;
use crate::cyclic::rules::Fault;
use crate::world::{Group, Scope};

/// Powers of the adversary.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Powers {
    /// There is no daemon: it is never started, and hints go nowhere.
    pub no_daemon: bool,
    /// The station's polls never find anything.
    pub no_poll: bool,
    /// Hints are lost and come twice.
    pub hints: bool,
    /// Calls are lost, and answers.
    pub loses: bool,
    /// These processes crash: plane, daemon, station.
    pub crashes: [bool; 3],
    /// Turns fail.
    pub fails: bool,
    /// Turns last as long as they like.
    pub lingers: bool,
    /// Time passes while something is under way.
    pub slow: bool,
    /// There is a plain message, too.
    pub message: bool,
    /// One turn an hour: the second one trips the fuse.
    pub fuse: bool,
    /// The operator is told of age at all.
    pub escalates: bool,
    /// What is wrong with the form, on purpose.
    pub fault: Option<Fault>,
}

impl Powers {
    /// Whether everything works: no fault of any kind.
    pub fn is_calm(&self) -> bool {
        let Self { hints, loses, crashes, fails, lingers, slow, fuse, .. } = *self;
        !(hints || loses || crashes.contains(&true) || fails || lingers || slow || fuse)
    }
}

const NONE: Powers = Powers {
    no_daemon: false,
    no_poll: false,
    hints: false,
    loses: false,
    crashes: [false; 3],
    fails: false,
    lingers: false,
    slow: false,
    message: false,
    fuse: false,
    escalates: false,
    fault: None,
};

/// Every scope: its name and its powers.
pub const SCOPES: &[(&str, Powers)] = &[
    ("calm", Powers { escalates: true, message: true, ..NONE }),
    ("hints", Powers { hints: true, ..NONE }),
    ("daemon", Powers { crashes: [false, true, false], no_poll: true, ..NONE }),
    ("daemon-losses", Powers { loses: true, no_poll: true, ..NONE }),
    ("unfair", Powers { fails: true, lingers: true, no_daemon: true, ..NONE }),
    ("fuse", Powers { fails: true, fuse: true, no_daemon: true, ..NONE }),
    ("plane", Powers { crashes: [true, false, false], fails: true, no_daemon: true, ..NONE }),
    ("station", Powers { crashes: [false, false, true], no_daemon: true, ..NONE }),
    ("station-losses", Powers { loses: true, no_daemon: true, ..NONE }),
];

/// The scopes as the engine wants them.
pub fn all() -> Vec<Scope<World>> {
    let scopes = SCOPES.iter();
    scopes
        .map(|(name, powers)| {
            let Powers { hints, loses, crashes: [plane, daemon, station], fails, .. } = *powers;
            let Powers { lingers, slow, message, fuse, escalates, no_daemon, no_poll, .. } = *powers;
            let all = [
                ("no_daemon", no_daemon),
                ("no_poll", no_poll),
                ("hints", hints),
                ("loses", loses),
                ("plane_crashes", plane),
                ("daemon_crashes", daemon),
                ("station_crashes", station),
                ("fails", fails),
                ("lingers", lingers),
                ("slow", slow),
                ("message", message),
                ("fuse", fuse),
                ("escalates", escalates),
            ];
            let bounds =
                all.into_iter().filter(|(_, on)| *on).map(|(name, on)| (name, on.to_string())).collect();
            Scope { name, group: Group::Cyclic, bounds, world: World::new(*powers) }
        })
        .collect()
}

/// How long a hint lives.
pub const TTL: u64 = 1;
/// How far clocks may disagree.
pub const SKEW: u64 = 1;
/// The pause between two starts.
pub const COOLDOWN: u64 = 1;
/// The longest flight, and the longest turn.
pub const FLIGHT_MAX: u64 = 3;
/// The life of a permit.
pub const PERMIT: u64 = 1;
/// The life of a lease.
pub const LEASE: u64 = 2;
/// The pause before the only re-emission.
pub const RE_EMISSION: u64 = 2;
/// The pause between two looks.
pub const SWEEP: u64 = 3;
/// The longest pause after failures.
pub const BACK_OFF: u64 = 2;
/// The age at which the operator is told.
pub const ESCALATE: u64 = 5;

/// The limits.
pub fn config(powers: &Powers) -> Config {
    Config {
        hint_ttl: Millis(TTL),
        skew: Millis(SKEW),
        nonce_history: 2,
        cooldown: Millis(COOLDOWN),
        flight_max: Millis(FLIGHT_MAX),
        permit: Millis(PERMIT),
        lease: Millis(LEASE),
        re_emissions: 1,
        re_emission_base: Millis(RE_EMISSION),
        sweep: Millis(SWEEP),
        attempts: 2,
        escalate: Millis(if powers.escalates { ESCALATE } else { NEVER }),
        back_off_base: Millis(1),
        back_off_max: Millis(BACK_OFF),
        grant: Millis(NEVER),
        message_age: Millis(NEVER),
        dedup_horizon: Millis(NEVER),
        turns_per_hour: if powers.fuse { 1 } else { 1_000 },
        turns_per_day: 1_000,
        turns_per_boot: 1_000,
        ..Config::default()
    }
}
