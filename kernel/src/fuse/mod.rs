//! The fuse: whether one more turn may start (FUS-1, FUS-2, FUS-3).
//!
//! Pure: [`judge`] looks at durable counters and at one piece of work and says yes, or what tripped. A limit is what
//! is allowed; one more trips. Limits come from [`Config`], whose ceilings are compiled in (FUS-3).
//!
//! Not here: the latch and the order of a trip (the station machine), the repeat cap on outside senders (admission).

mod counters;
mod normal;

use alloc::vec::Vec;

use awakener_spec::{Reason, rule};
use serde::{Deserialize, Serialize};

pub use counters::{Counters, EchoRun, MAX_TURNS, Reading};
pub use normal::{normal_form, normal_hash};

use crate::config::Config;
use crate::ids::{ContentHash, MessageId};
use crate::time::{Millis, Wall};

/// One hour, the short window of the count backstop.
pub const HOUR: Millis = Millis::seconds(3_600);
/// One day, the long window of the count backstop.
pub const DAY: Millis = Millis::seconds(86_400);

/// What the fuse must know of a message before a turn on it starts.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Work {
    /// The message.
    pub message: MessageId,
    /// SHA-256 of its [`normal_form`].
    pub normal: ContentHash,
    /// Length of its causal chain (ADM-12).
    pub depth: u32,
    /// Whether the message itself or one of its causes was sent by this station. Loop and echo count nothing else.
    pub descends_from_own: bool,
    /// Its causes, the nearest first; at least as many as `causal_depth` allows, if there are that many.
    pub ancestry: Vec<Ancestor>,
}

/// One cause of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Ancestor {
    /// The message.
    pub message: MessageId,
    /// Whether it was in this station's own inbox.
    pub here: bool,
    /// SHA-256 of its normal form.
    pub normal: ContentHash,
}

/// What tripped, with the numbers that show it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Trip {
    /// The turns of one hour are used up.
    Hour {
        /// Turns within the window.
        turns: u32,
        /// As many are allowed.
        limit: u32,
    },
    /// The turns of one day are used up.
    Day {
        /// Turns within the window.
        turns: u32,
        /// As many are allowed.
        limit: u32,
    },
    /// The turns of this boot are used up.
    Boot {
        /// Turns since the boot.
        turns: u32,
        /// As many are allowed.
        limit: u32,
    },
    /// The causal chain came back to where it had been.
    Loop {
        /// The messages of the circle, from the newest back to the one that is met again.
        cycle: Vec<MessageId>,
    },
    /// The causal chain is too long.
    Depth {
        /// Its length.
        depth: u32,
        /// As long it may be.
        limit: u32,
    },
    /// The station hears its own words again and again.
    Echo {
        /// What it hears, as the hash of the normal form.
        normal: ContentHash,
        /// How often in a row, this one included.
        run: u32,
        /// As often is allowed.
        limit: u32,
    },
}

impl Trip {
    /// Its name in the common list of reasons.
    pub const fn reason(&self) -> Reason {
        match self {
            Self::Hour { .. } | Self::Day { .. } | Self::Boot { .. } => Reason::FuseCount,
            Self::Loop { .. } => Reason::FuseLoop,
            Self::Depth { .. } => Reason::FuseDepth,
            Self::Echo { .. } => Reason::FuseEcho,
        }
    }
}

/// Whether one more turn may start: count, then loop and depth, then echo (FUS-1). The latch comes before all of them;
/// a latched station never asks.
///
/// # Errors
/// The first [`Trip`] in that order.
pub fn judge(config: &Config, counters: &Counters, now: Wall, work: &Work) -> Result<(), Trip> {
    rule!(Fus1);
    count(config, counters, now)?;
    if work.descends_from_own {
        circle(work)?;
        depth(config, work)?;
        echo(config, counters, work)?;
    }
    Ok(())
}

fn count(config: &Config, counters: &Counters, now: Wall) -> Result<(), Trip> {
    let Reading { hour, day, boot } = counters.reading(now);
    if hour >= config.turns_per_hour {
        return Err(Trip::Hour { turns: hour, limit: config.turns_per_hour });
    }
    if day >= config.turns_per_day {
        return Err(Trip::Day { turns: day, limit: config.turns_per_day });
    }
    if boot >= config.turns_per_boot {
        return Err(Trip::Boot { turns: boot, limit: config.turns_per_boot });
    }
    Ok(())
}

/// A question and its answer already lead back to the asker, so a place alone closes no circle: it is closed when the
/// chain meets the same message again, or the same words in the same inbox.
fn circle(work: &Work) -> Result<(), Trip> {
    let met = |a: &Ancestor| a.message == work.message || (a.here && a.normal == work.normal);
    let Some(length) = work.ancestry.iter().position(met) else { return Ok(()) };
    let back = work.ancestry.iter().take(length.saturating_add(1)).map(|a| a.message);
    Err(Trip::Loop { cycle: core::iter::once(work.message).chain(back).collect() })
}

const fn depth(config: &Config, work: &Work) -> Result<(), Trip> {
    if work.depth > config.causal_depth {
        return Err(Trip::Depth { depth: work.depth, limit: config.causal_depth });
    }
    Ok(())
}

fn echo(config: &Config, counters: &Counters, work: &Work) -> Result<(), Trip> {
    let run = counters.echo_with(work);
    if run > config.echo {
        return Err(Trip::Echo { normal: work.normal, run, limit: config.echo });
    }
    Ok(())
}
