//! The counters of the fuse: the one count that enforcement, logs, metrics and status all use (FUS-2).
//!
//! Durable, and raised before a turn starts. Memory is bounded: one instant per turn of the last day, at most the
//! compiled ceiling. Not here: the verdict.

use alloc::collections::VecDeque;

use serde::{Deserialize, Serialize};

use super::{DAY, HOUR, Work};
use crate::ids::{ContentHash, MessageId};
use crate::time::{Millis, Wall};

/// Most turns that are remembered: the compiled ceiling of `turns_per_day`. Older ones could change no verdict.
pub const MAX_TURNS: usize = 1_000;

/// What was counted so far.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Counters {
    /// When turns started, in the order of starting.
    turns: VecDeque<Wall>,
    /// Turns since the last boot.
    boot: u32,
    /// What the station heard of its own lately.
    echo: Option<EchoRun>,
}

/// Equal contents in a row, among inputs that descend from the station's own output.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct EchoRun {
    /// The last such message; another attempt on it is not another input.
    pub message: MessageId,
    /// Hash of its normal form.
    pub normal: ContentHash,
    /// How many in a row had it.
    pub run: u32,
}

/// The counts as they are judged; whoever shows a count of the fuse shows these (FUS-2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Reading {
    /// Turns within the last hour.
    pub hour: u32,
    /// Turns within the last day.
    pub day: u32,
    /// Turns since the last boot.
    pub boot: u32,
}

impl Counters {
    /// What the counters say now.
    pub fn reading(&self, now: Wall) -> Reading {
        awakener_spec::rule!(Fus2);
        Reading { hour: self.within(HOUR, now), day: self.within(DAY, now), boot: self.boot }
    }

    /// Turns that started within `window` before `now`. An instant ahead of `now` counts, so that a clock that was
    /// set back cannot hide turns.
    pub fn within(&self, window: Millis, now: Wall) -> u32 {
        let recent = self.turns.iter().filter(|at| now.saturating_since(**at) < window).count();
        u32::try_from(recent).unwrap_or(u32::MAX)
    }

    /// Turns since the last boot.
    pub const fn boot(&self) -> u32 {
        self.boot
    }

    /// The run of equal contents so far.
    pub const fn echo(&self) -> Option<EchoRun> {
        self.echo
    }

    /// How many instants are remembered, which is what memory grows with.
    pub fn len(&self) -> usize {
        self.turns.len()
    }

    /// Whether none is.
    pub fn is_empty(&self) -> bool {
        self.turns.is_empty()
    }

    /// How long the run would be with this work in it.
    pub(super) fn echo_with(&self, work: &Work) -> u32 {
        match self.echo {
            Some(last) if last.message == work.message => last.run,
            Some(last) if last.normal == work.normal => last.run.saturating_add(1),
            Some(_) | None => 1,
        }
    }

    /// Counts a turn that is about to start.
    pub fn raise(&mut self, at: Wall, work: &Work) {
        while self.turns.front().is_some_and(|first| at.saturating_since(*first) >= DAY)
            || self.turns.len() >= MAX_TURNS
        {
            self.turns.pop_front();
        }
        self.turns.push_back(at);
        self.boot = self.boot.saturating_add(1);
        if work.descends_from_own {
            let run = self.echo_with(work);
            self.echo = Some(EchoRun { message: work.message, normal: work.normal, run });
        }
    }

    /// Starts the count of a new boot; the windows on wall time go on.
    pub const fn booted(&mut self) {
        self.boot = 0;
    }
}
