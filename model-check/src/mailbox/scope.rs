//! How much of everything the adversary of a mailbox world may do.
//!
//! All budgets are counts; what is not budgeted ends by itself. The table of scopes is in [`super::scopes`].

use awakener_kernel::config::Config;
use awakener_kernel::ids::Tier;
use awakener_kernel::time::Millis;
use awakener_kernel::values::{By, Finish};

use super::act::Right;

macro_rules! bounds {
    ($( $(#[$doc:meta])* $name:ident : $of:ty = $none:expr ),* $(,)?) => {
        /// Bounds of one search.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub struct Bounds { $( $(#[$doc])* pub $name: $of, )* }

        /// The least adversary.
        pub const NONE: Bounds = Bounds { $( $name: $none, )* };

        impl Bounds {
            /// Everything in which these bounds differ from [`NONE`].
            pub fn differences(&self) -> Vec<(&'static str, String)> {
                let mut all = Vec::new();
                $( if self.$name != NONE.$name {
                    all.push((stringify!($name), format!("{:?}", self.$name)));
                } )*
                all
            }
        }
    };
}

bounds! {
    /// Which messages there are, at most three: their tiers.
    mail: &'static [Tier] = &[Tier::Zero],
    /// How often each of them is submitted.
    submits: u8 = 1,
    /// How many holders work.
    holders: u8 = 0,
    /// How many claims succeed.
    claims: u8 = 1,
    /// How many renewals succeed.
    renews: u8 = 0,
    /// How turns end; none if holders only read.
    finishes: &'static [Finish] = &[],
    /// How many turns a lease has.
    turns: u8 = 1,
    /// Whether holders have results.
    responds: bool = false,
    /// Who acknowledges.
    acks: &'static [By] = &[],
    /// How many daemons hear hints.
    daemons: u8 = 0,
    /// How many permits are granted.
    asks: u8 = 0,
    /// Whether daemons also say what their adapters said.
    outcomes: bool = false,
    /// How many sweeps bring a hint.
    sweeps: u8 = 0,
    /// Whether hints are minted.
    emits: bool = false,
    /// Whether the fate of each hint at the broker client is told.
    reports: bool = false,
    /// How many acts operators do.
    acts: u8 = 0,
    /// How often the clock moves, by one millisecond.
    ticks: u8 = 0,
    /// How often the process crashes.
    crashes: u8 = 0,
    /// How often a commit fails.
    failures: u8 = 0,
    /// Whether answers and hints are under way for a time, and overtake each other.
    late: bool = false,
    /// How many of them are lost.
    losses: u8 = 0,
    /// Which rights are withdrawn and given back.
    rights: &'static [Right] = &[],
    /// How often that happens.
    changes: u8 = 0,
    /// How far the wall clock steps back, by milliseconds; the skew is one.
    steps_back: &'static [u8] = &[],
    /// How often it does.
    backs: u8 = 0,
    /// How often an operator accepts its time.
    accepts: u8 = 0,
    /// How often a backup is restored.
    restores: u8 = 0,
    /// Steps in one transaction.
    batch: u8 = 1,
    /// Attempts before quarantine.
    attempts: u32 = 5,
    /// Scheduled hints after the first.
    re_emissions: u32 = 1,
    /// Whether mail expires and operators are told of the age of alerts, after a millisecond.
    ages: bool = false,
    /// Whether the emitter may start later than its process.
    late_start: bool = false,
    /// How many unfinished messages a sender may have; as many more alerts.
    queue: u32 = 10_000,
    /// What intruders say.
    intruders: &'static [Subject] = &[],
}

/// What a forgery is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Subject {
    /// Submissions.
    Admission,
    /// Work and ACKs.
    Work,
    /// Hints, permits, reports.
    Wake,
    /// Operators and drivers.
    Office,
}

/// How long leases, permits and flights live, in milliseconds of the model.
pub const LIFE: u8 = 1;

/// How far clocks may disagree.
pub const SKEW: u8 = 1;

impl Bounds {
    /// Limits small enough for the clock of a model.
    pub fn config(&self) -> Config {
        let life = Millis(u64::from(LIFE));
        let aged = |default: Millis| if self.ages { life } else { default };
        let default = Config::default();
        Config {
            lease: life,
            permit: life,
            flight_max: life,
            hint_ttl: life,
            skew: Millis(u64::from(SKEW)),
            re_emissions: self.re_emissions,
            // One hint is enough where daemons ask about it.
            re_emission_base: Millis(if self.daemons == 0 { 1 } else { 9 }),
            attempts: self.attempts,
            queue: self.queue,
            tier0_reserve: self.queue,
            message_age: aged(default.message_age),
            escalate: aged(default.escalate),
            ..default
        }
    }

    /// The tier of message `n`; what does not exist would be an alert.
    pub fn tier(&self, n: u8) -> Tier {
        self.mail.get(usize::from(n)).copied().unwrap_or(Tier::Zero)
    }

    /// When the wall clock begins: it needs room to step back.
    pub const fn noon(&self) -> u8 {
        if self.backs > 0 { 3 } else { 0 }
    }
}
