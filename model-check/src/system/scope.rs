//! How much of everything the adversary of a system world may do. All budgets are counts.
//!
//! Narrow scopes, each power alone and some in pairs: three machines make a product, and one wide scope would see
//! little of it.

use awakener_kernel::config::Config;
use awakener_kernel::time::Millis;

use super::World;
use super::act::Who;
use crate::world::{self, Group};

macro_rules! bounds {
    ($( $(#[$doc:meta])* $name:ident : $type:ty = $none:expr ),* $(,)?) => {
        /// Bounds of one search.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub struct Bounds { $( $(#[$doc])* pub $name: $type, )* }

        /// The least adversary: one daemon, one alert, nothing goes wrong, and no time passes.
        pub const NONE: Bounds = Bounds { $( $name: $none, )* };

        impl Bounds {
            /// In what it differs from [`NONE`].
            pub fn differs(&self) -> Vec<(&'static str, String)> {
                let mut all = Vec::new();
                $( if self.$name != NONE.$name { all.push((stringify!($name), format!("{:?}", self.$name))); } )*
                all
            }
        }
    };
}

bounds! {
    /// How many wake daemons serve the target.
    daemons: u8 = 1,
    /// Which messages are submitted: an alert, plain mail, another alert.
    messages: [bool; 3] = [true, false, false],
    /// Whether the station's own poll sees work; else hints alone bring it.
    poller: bool = false,
    /// Whether the agent acknowledges with its own hand.
    agent: bool = false,
    /// How often the agent claims work with its own hand.
    claims: u8 = 0,
    /// Whether the operator closes the alert.
    resolves: bool = false,
    /// Whether the operator takes the grant away.
    withdraws: bool = false,
    /// How many notices somebody posts to the station.
    posts: u8 = 0,
    /// How many turns fail.
    failing: u8 = 0,
    /// Turns an hour, beyond which the fuse trips.
    turns: u32 = 30,
    /// Scheduled re-emissions of an alert's hint.
    emissions: u32 = 0,
    /// Attempts before quarantine.
    attempts: u32 = 5,
    /// How often the clock moves, by one millisecond.
    ticks: u8 = 0,
    /// How often the plane crashes.
    plane_crashes: u8 = 0,
    /// How often a daemon crashes.
    daemon_crashes: u8 = 0,
    /// How often the station crashes.
    station_crashes: u8 = 0,
    /// How many calls nobody hears or hears too late.
    unheard: u8 = 0,
    /// How many calls or completions come twice.
    doubled: u8 = 0,
    /// How many hints the broker loses.
    lost_hints: u8 = 0,
    /// How many hints come again that a daemon has taken already.
    replays: u8 = 0,
    /// How many hints come that a stolen key has signed.
    forged: u8 = 0,
    /// How many dispatches leave without an answer.
    unknown: u8 = 0,
    /// Whose transactions stay open between step and commit.
    parted: &'static [Who] = &[],
    /// How many commits fail.
    failures: u8 = 0,
}

/// How long a hint lives.
pub const TTL: u8 = 2;
/// The longest flight.
pub const FLIGHT_MAX: u8 = 4;
/// Beyond the clock of every scope: neither sweep nor look on schedule shall be what saves a message within it.
pub const SWEEP: u8 = 12;

impl Bounds {
    /// Limits small enough for the clock of a model.
    pub fn config(&self) -> Config {
        Config {
            hint_ttl: Millis(u64::from(TTL)),
            skew: Millis(1),
            nonce_history: 4,
            cooldown: Millis(1),
            flight_max: Millis(u64::from(FLIGHT_MAX)),
            permit: Millis(2),
            lease: Millis(2),
            sweep: Millis(u64::from(SWEEP)),
            back_off_base: Millis(1),
            back_off_max: Millis(4),
            re_emissions: self.emissions,
            re_emission_base: Millis(1),
            attempts: self.attempts,
            turns_per_hour: self.turns,
            ..Config::default()
        }
    }
}

const EVERYBODY: &[Who] = &[Who::Plane, Who::First, Who::Second, Who::Station];

/// Every scope.
pub const SCOPES: &[(&str, Group, Bounds)] = &[
    // Nothing goes wrong; hints and a poll race.
    ("alone", Group::Tiny, Bounds { poller: true, ..NONE }),
    ("time", Group::Tiny, Bounds { ticks: 2, ..NONE }),
    ("failing", Group::Tiny, Bounds { failing: 1, ticks: 1, attempts: 2, poller: true, ..NONE }),
    ("mail", Group::Tiny, Bounds { messages: [true, true, false], poller: true, ..NONE }),
    ("two_alerts", Group::Tiny, Bounds { messages: [true, false, true], ..NONE }),
    // Each power alone.
    ("loss", Group::Tiny, Bounds { unheard: 1, lost_hints: 1, ticks: 1, ..NONE }),
    ("double", Group::Tiny, Bounds { doubled: 1, replays: 1, ..NONE }),
    ("forged", Group::Tiny, Bounds { forged: 1, ticks: 1, ..NONE }),
    ("unknown", Group::Tiny, Bounds { unknown: 1, ticks: 1, ..NONE }),
    ("plane_crash", Group::Tiny, Bounds { plane_crashes: 1, ticks: 1, ..NONE }),
    ("daemon_crash", Group::Tiny, Bounds { daemon_crashes: 1, ..NONE }),
    ("station_crash", Group::Tiny, Bounds { station_crashes: 1, ticks: 1, ..NONE }),
    ("plane_commit", Group::Tiny, Bounds { parted: &[Who::Plane], failures: 1, agent: true, ..NONE }),
    ("daemon_commit", Group::Tiny, Bounds { parted: &[Who::First], failures: 1, ..NONE }),
    (
        "station_commit",
        Group::Tiny,
        Bounds { parted: &[Who::Station], failures: 1, failing: 1, ticks: 1, ..NONE },
    ),
    ("two_daemons", Group::Tiny, Bounds { daemons: 2, failing: 1, ticks: 1, ..NONE }),
    ("both", Group::Tiny, Bounds { daemons: 2, ..NONE }),
    ("agent", Group::Tiny, Bounds { agent: true, claims: 1, ..NONE }),
    ("operator", Group::Tiny, Bounds { resolves: true, withdraws: true, failing: 1, posts: 1, ..NONE }),
    ("latch", Group::Tiny, Bounds { failing: 1, turns: 1, ticks: 2, ..NONE }),
    ("unread", Group::Tiny, Bounds { unknown: 1, attempts: 1, ticks: 1, ..NONE }),
    ("again", Group::Tiny, Bounds { unknown: 1, replays: 1, ticks: 1, ..NONE }),
    // In pairs.
    ("expiry", Group::Ci, Bounds { ticks: 3, ..NONE }),
    ("schedule", Group::Ci, Bounds { emissions: 1, ticks: 2, ..NONE }),
    ("loss_time", Group::Ci, Bounds { unheard: 1, ticks: 2, ..NONE }),
    ("double_time", Group::Ci, Bounds { doubled: 1, ticks: 2, ..NONE }),
    ("loss_double", Group::Ci, Bounds { unheard: 1, doubled: 1, replays: 1, ..NONE }),
    ("plane_crash_time", Group::Ci, Bounds { plane_crashes: 1, ticks: 2, ..NONE }),
    ("daemon_crash_time", Group::Ci, Bounds { daemon_crashes: 1, unknown: 1, ticks: 1, ..NONE }),
    ("plane_and_daemon", Group::Ci, Bounds { plane_crashes: 1, daemon_crashes: 1, ..NONE }),
    ("plane_and_station", Group::Ci, Bounds { plane_crashes: 1, station_crashes: 1, ..NONE }),
    ("daemon_and_station", Group::Ci, Bounds { daemon_crashes: 1, station_crashes: 1, ..NONE }),
    ("station_crash_agent", Group::Ci, Bounds { station_crashes: 1, agent: true, ticks: 1, ..NONE }),
    ("two_hands", Group::Deep, Bounds { agent: true, claims: 1, ticks: 2, ..NONE }),
    ("daemons_crash", Group::Ci, Bounds { daemons: 2, daemon_crashes: 1, ..NONE }),
    ("daemons_time", Group::Ci, Bounds { daemons: 2, ticks: 2, ..NONE }),
    ("daemons_loss", Group::Ci, Bounds { daemons: 2, unheard: 1, failing: 1, ..NONE }),
    ("daemons_forged", Group::Ci, Bounds { daemons: 2, forged: 1, replays: 1, ..NONE }),
    ("poll_crash", Group::Ci, Bounds { poller: true, station_crashes: 1, ticks: 1, ..NONE }),
    ("commits", Group::Ci, Bounds { parted: EVERYBODY, failures: 1, ticks: 1, ..NONE }),
    ("latch_crash", Group::Ci, Bounds { failing: 1, turns: 1, ticks: 2, station_crashes: 1, ..NONE }),
    (
        "everything",
        Group::Deep,
        Bounds {
            daemons: 2,
            failing: 1,
            ticks: 2,
            daemon_crashes: 1,
            station_crashes: 1,
            plane_crashes: 1,
            ..NONE
        },
    ),
];

/// The scopes as worlds.
pub fn scopes() -> Vec<world::Scope<World>> {
    SCOPES
        .iter()
        .map(|(name, group, bounds)| world::Scope {
            name,
            group: *group,
            bounds: bounds.differs(),
            world: World::new(*bounds),
        })
        .collect()
}
