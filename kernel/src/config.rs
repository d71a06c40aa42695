//! The limits that the machines obey (contract §16).
//!
//! A [`Config`] may hold any value ≥ 1, so that models can use tiny ones. [`Config::checked`] is the only way for a
//! shell to get one: it enforces the compiled floors and ceilings, so configuration can lower a brake but never lift
//! it (FUS-3).

use crate::time::Millis;

macro_rules! limits {
    ($( $(#[$doc:meta])* $name:ident : $kind:ident = $default:expr, $floor:expr ; $ceiling:expr ),* $(,)?) => {
        /// Every limit of the kernel.
        #[derive(Clone, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
        #[serde(default, deny_unknown_fields)]
        pub struct Config { $( $(#[$doc])* pub $name: limits!(@type $kind), )* }

        impl Default for Config {
            fn default() -> Self { Self { $( $name: limits!(@make $kind $default), )* } }
        }

        impl Config {
            /// Name, value, floor and ceiling of each limit, in plain units (milliseconds, bytes, counts).
            pub fn table(&self) -> alloc::vec::Vec<Limit> {
                alloc::vec![ $( Limit {
                    name: stringify!($name),
                    value: limits!(@plain $kind self.$name),
                    floor: $floor,
                    ceiling: $ceiling,
                }, )* ]
            }
        }
    };
    (@type ms) => { Millis };
    (@type n) => { u32 };
    (@make ms $v:expr) => { Millis($v) };
    (@make n $v:expr) => { $v };
    (@plain ms $v:expr) => { $v.0 };
    (@plain n $v:expr) => { u64::from($v) };
}

const SECOND: u64 = 1_000;
const MINUTE: u64 = 60 * SECOND;
const HOUR: u64 = 60 * MINUTE;
const DAY: u64 = 24 * HOUR;

limits! {
    /// Life of a hint, milliseconds (SIG-5).
    hint_ttl: ms = 30 * SECOND, SECOND; 30 * SECOND,
    /// How far clocks may disagree, milliseconds (VER-1).
    skew: ms = 2 * SECOND, 1; 5 * SECOND,
    /// Nonces remembered per target (VER-3).
    nonce_history: n = 1_024, 1_024; 65_536,
    /// Pause between two starts of a target, milliseconds (DSP-1).
    cooldown: ms = 30 * SECOND, 1; HOUR,
    /// Longest flight, milliseconds (DSP-2).
    flight_max: ms = 15 * MINUTE, 1; 4 * HOUR,
    /// Scheduled hints per alert (EMT-3).
    re_emissions: n = 5, 1; 5,
    /// Pause before the first re-emission, doubled each time, milliseconds (EMT-3).
    re_emission_base: ms = 30 * SECOND, 1; 30 * SECOND,
    /// Pause between two sweeps, milliseconds (DSP-11).
    sweep: ms = MINUTE, 1; MINUTE,
    /// Starts at the same time on one host (DSP-10).
    host_starts: n = 4, 1; 64,
    /// Life of a lease, milliseconds (INB-7).
    lease: ms = MINUTE, 1; HOUR,
    /// Attempts before quarantine (INB-8).
    attempts: n = 5, 1; 20,
    /// Bytes of a submission's body (ADM-2).
    body_bytes: n = 65_536, 1; 1_048_576,
    /// Unfinished messages per (recipient, sender) (PRT-2).
    queue: n = 10_000, 1; 10_000_000,
    /// Places beyond `queue` that only Tier-0 may use (PRT-2).
    tier0_reserve: n = 1_000, 1; 1_000,
    /// Submissions a minute per principal (PRT-2).
    rate_per_minute: n = 600, 1; 1_000_000,
    /// Messages on a page (INB-6).
    page: n = 50, 1; 1_000,
    /// Longest long poll, milliseconds (LSN-1).
    long_poll: ms = 30 * SECOND, 1; 55 * SECOND,
    /// Turns an hour per station (FUS-1).
    turns_per_hour: n = 30, 1; 120,
    /// Turns a day per station (FUS-1).
    turns_per_day: n = 200, 1; 1_000,
    /// Turns per boot of a station (FUS-1).
    turns_per_boot: n = 100, 1; 500,
    /// Depth of a causal chain (FUS-1); also the reply-loop cap (ADM-2 `repeat_cap`).
    causal_depth: n = 8, 1; 32,
    /// Equal contents in a row (FUS-1).
    echo: n = 3, 1; 10,
    /// Life of a roster, milliseconds (ADM-5).
    roster: ms = DAY, 1; 7 * DAY,
    /// Life of an arming grant, milliseconds (STN-2).
    grant: ms = 30 * DAY, 1; 90 * DAY,
    /// Age of an outstanding alert at which the operator is told, milliseconds (ACK-9).
    escalate: ms = 15 * MINUTE, 1; 15 * MINUTE,
    /// Age of a message id beyond which it is `too_old`, milliseconds (ADM-8).
    dedup_horizon: ms = 30 * DAY, 1; 30 * DAY,
    /// Age at which an unfinished message of tier 1-3 expires, milliseconds (INB-3).
    message_age: ms = 30 * DAY, 1; 365 * DAY,
    /// How far ahead of our clock a message id may be, milliseconds (ADM-8).
    id_ahead: ms = 5 * MINUTE, 1; 5 * MINUTE,
    /// Records between two checkpoints (AUD-3).
    checkpoint_records: n = 1_000, 1; 1_000,
    /// Milliseconds between two checkpoints (AUD-3).
    checkpoint_age: ms = MINUTE, 1; MINUTE,
    /// Life of an operator command, milliseconds (OPR-1).
    command: ms = 10 * MINUTE, 1; 10 * MINUTE,
    /// Time for a graceful stop, milliseconds.
    graceful_stop: ms = 10 * SECOND, 1; 10 * SECOND,
    /// Life of a permit, milliseconds (DSP-7).
    permit: ms = 30 * SECOND, 1; 30 * SECOND,
    /// One read in this many serves a starving lower tier (RTE-3).
    starvation: n = 8, 2; 8,
    /// First pause of an adapter's back-off, doubled each time, milliseconds (DSP-3).
    back_off_base: ms = 30 * SECOND, 1; 30 * SECOND,
    /// Longest pause of an adapter's back-off, milliseconds (DSP-3).
    back_off_max: ms = 15 * MINUTE, 1; 15 * MINUTE,
    /// Starts on plain mail an hour.
    local_starts_per_hour: n = 12, 1; 60,
}

/// One line of the table of limits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limit {
    /// Its name, also its key in configuration files.
    pub name: &'static str,
    /// The value in force.
    pub value: u64,
    /// The smallest value that a shell may use.
    pub floor: u64,
    /// The largest value that a shell may use; compiled in.
    pub ceiling: u64,
}

/// A configuration whose every value lies between floor and ceiling.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Checked(Config);

impl Checked {
    /// The limits.
    pub const fn get(&self) -> &Config {
        &self.0
    }
}

impl core::ops::Deref for Checked {
    type Target = Config;
    fn deref(&self) -> &Config {
        &self.0
    }
}

impl Config {
    /// Enforces floors and ceilings.
    ///
    /// # Errors
    /// The first [`Limit`] that is out of bounds.
    pub fn checked(self) -> Result<Checked, Limit> {
        match self.table().into_iter().find(|l| l.value < l.floor || l.value > l.ceiling) {
            Some(limit) => Err(limit),
            None => Ok(Checked(self)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fus_3_defaults_pass_and_each_bound_refuses_one_step_beyond() {
        assert!(Config::default().checked().is_ok());
        for limit in Config::default().table() {
            assert!(limit.floor <= limit.value && limit.value <= limit.ceiling, "{limit:?}");
            for beyond in [limit.floor - 1, limit.ceiling + 1] {
                let mut json = serde_json::to_value(Config::default()).unwrap();
                json[limit.name] = beyond.into();
                let refused = serde_json::from_value::<Config>(json).unwrap().checked().unwrap_err();
                assert_eq!((refused.name, refused.value), (limit.name, beyond));
            }
        }
    }

    #[test]
    fn con_1_an_unknown_limit_is_an_error() {
        assert!(serde_json::from_str::<Config>(r#"{"cooldwn":1}"#).is_err());
    }
}
