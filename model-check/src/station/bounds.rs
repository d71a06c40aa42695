//! How much of everything the adversary of a station world may do, and the limits that the station obeys.
//!
//! All budgets are counts. What stands in [`NONE`] is the least adversary; a scope says in what it differs.

use awakener_kernel::config::Config;
use awakener_kernel::ids::Tier;
use awakener_kernel::station::Hand;
use awakener_kernel::time::Millis;

use super::act::{End, LaneKind};

/// Milliseconds of a tick: as long as a trip waits for its audit record.
pub const TICK: u64 = 2_000;
/// Ticks of an hour.
pub const HOUR: u32 = 1_800;
/// When every world begins, in ticks of the wall clock.
pub const BEGIN: u32 = 10;
/// The length of a grant, in ticks; longer than any scope's clock runs unless the scope says otherwise.
pub const LIFE: u32 = 9;

/// A message of the mailbox.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Letter {
    /// Its tier.
    pub tier: Tier,
    /// What its causes say.
    pub cause: Cause,
}

/// What the fuse sees of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Cause {
    /// It comes from outside.
    Outside,
    /// It descends from the station's own output, and says something new.
    Own,
    /// It descends from the station's own output, and its chain is too long.
    Deep,
    /// Its chain comes back to itself.
    Loop,
    /// It descends from the station's own output, and says what all others of its kind say.
    Echo,
}

/// An alert from outside.
pub const ALERT: Letter = Letter { tier: Tier::Zero, cause: Cause::Outside };
/// Plain mail from outside.
pub const MAIL: Letter = Letter { tier: Tier::Two, cause: Cause::Outside };

/// Bounds of one search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// The messages; one or two.
    pub mail: &'static [Letter],
    /// A result of the first message that the mailbox has of a complete turn, and of which this store knows nothing.
    pub prior: bool,
    /// Who would run a turn, as the claim says.
    pub lanes: &'static [LaneKind],
    /// How turns end.
    pub ends: &'static [End],
    /// Claims that give work.
    pub claims: u8,
    /// Claims that give nothing although there is work: another holder has it.
    pub nothings: u8,
    /// Accepted wakes.
    pub hints: u8,
    /// Finds of work that no poll was out for.
    pub founds: u8,
    /// Grants.
    pub grants: u8,
    /// Ticks that a grant lasts, and may at most last.
    pub life: u32,
    /// Disarms and aborts.
    pub disarms: u8,
    /// Ticks.
    pub ticks: u8,
    /// Hours that pass at once.
    pub hours: u8,
    /// How often the wall clock is set, by one tick.
    pub sets: u8,
    /// Starts of the process and wakings of the machine, the first one included.
    pub boots: u8,
    /// Crashes.
    pub crashes: u8,
    /// Commits that fail.
    pub failures: u8,
    /// Completions that are lost or repeated.
    pub distortions: u8,
    /// Effects that are refused, fail, or are done without being said to be.
    pub refusals: u8,
    /// Leases that the mailbox takes away.
    pub lapses: u8,
    /// Fresh attempts that an operator gives.
    pub releases: u8,
    /// Results of another station.
    pub others: u8,
    /// Whether the audit can be unavailable, and how often it is found to be.
    pub blind: u8,
    /// The same of a configuration that is not valid.
    pub invalid: u8,
    /// Who acknowledges beside the station.
    pub hands: &'static [Hand],
    /// How often.
    pub owns: u8,
    /// How often the tail is marked.
    pub tails: u8,
    /// Things that appear at the latch path, or vanish from it.
    pub meddles: u8,
    /// Clears.
    pub clears: u8,
    /// Attempts on one message.
    pub attempts: u32,
    /// Turns an hour; twice as many a day.
    pub per_hour: u32,
    /// Turns a boot.
    pub per_boot: u32,
    /// Ticks of the longest turn.
    pub flight: u64,
    /// Ticks of a lease.
    pub lease: u64,
}

/// The least adversary.
pub const NONE: Bounds = Bounds {
    mail: &[ALERT],
    prior: false,
    lanes: &[LaneKind::Mapped],
    ends: &[End::Whole],
    claims: 1,
    nothings: 0,
    hints: 0,
    founds: 0,
    grants: 1,
    life: LIFE,
    disarms: 0,
    ticks: 0,
    hours: 0,
    sets: 0,
    boots: 1,
    crashes: 0,
    failures: 0,
    distortions: 0,
    refusals: 0,
    lapses: 0,
    releases: 0,
    others: 0,
    blind: 0,
    invalid: 0,
    hands: &[],
    owns: 0,
    tails: 0,
    meddles: 0,
    clears: 0,
    attempts: 2,
    per_hour: 9,
    per_boot: 9,
    flight: 2,
    lease: 4,
};

impl Bounds {
    /// Limits small enough for the clock of a model.
    pub fn config(&self) -> Config {
        Config {
            flight_max: Millis(self.flight * TICK),
            lease: Millis(self.lease * TICK),
            // A regular look must never be what saves a forgotten wake.
            sweep: Millis(1_000_000 * TICK),
            grant: Millis(u64::from(self.life) * TICK),
            attempts: self.attempts,
            turns_per_hour: self.per_hour,
            turns_per_day: 2 * self.per_hour,
            turns_per_boot: self.per_boot,
            causal_depth: 1,
            echo: 1,
            back_off_base: Millis(TICK),
            back_off_max: Millis(2 * TICK),
            ..Config::default()
        }
    }

    /// In what it differs from the least adversary.
    pub fn pairs(&self) -> Vec<(&'static str, String)> {
        let mut pairs = Vec::new();
        macro_rules! differ {
            ($($name:ident)*) => {
                $(if self.$name != NONE.$name {
                    pairs.push((stringify!($name), format!("{:?}", self.$name)));
                })*
            };
        }
        differ!(mail prior lanes ends claims nothings hints founds grants life disarms ticks hours sets boots crashes
            failures distortions refusals lapses releases others blind invalid hands owns tails meddles clears attempts
            per_hour per_boot flight lease);
        pairs
    }
}
