//! What a mailbox waits for, on the monotonic clock.
//!
//! Volatile: after a crash each wait is rebuilt from the image, clamped to its own length, so that a wall clock which
//! moved can neither skip a wait nor make it endless. Not here: what happens when a wait is over. Rules: INB-7,
//! EMT-3, ACK-9, DSP-2.

use alloc::collections::BTreeMap;

use super::image::Image;
use crate::config::Config;
use crate::ids::Seq;
use crate::machine::Violation;
use crate::time::{Millis, Mono, Now, Wall};
use awakener_spec::Rule;

/// What is due next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Due {
    /// The lease runs out.
    Lease,
    /// A flight that its daemon never ended runs out.
    Flight,
    /// An alert is old enough for the operator to hear of it.
    Escalation(Seq),
    /// A hint is to be minted.
    Emission(Seq),
}

/// The waits of this boot.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Timers {
    pub(super) lease: Option<Mono>,
    pub(super) permit: Option<Mono>,
    /// Whether the permit became a flight: only then does its end want a `Fire`.
    pub(super) flying: bool,
    pub(super) escalations: BTreeMap<Seq, Mono>,
    pub(super) emissions: BTreeMap<Seq, Mono>,
}

impl Timers {
    pub(super) fn recover(config: &Config, now: Now, image: &Image) -> Self {
        let lease = image.lease.as_ref().map(|lease| resume(now, lease.at, config.lease));
        let mut timers = Self { lease, ..Self::default() };
        if let Some(permit) = &image.permit {
            timers.flying = permit.flying;
            let length = if permit.flying { config.flight_max } else { config.permit };
            timers.permit = Some(resume(now, permit.at, length));
        }
        for (seq, witness) in &image.witnesses {
            if !witness.escalated {
                timers.escalations.insert(*seq, resume(now, witness.opened, config.escalate));
            }
        }
        for (seq, witness) in image.workable(config) {
            if let Some(pause) = pause_before(config, witness.emissions) {
                timers.emissions.insert(seq, resume(now, witness.last, pause));
            }
        }
        timers
    }

    /// The earliest wait and what it is for.
    pub(super) fn next(&self, emitting: bool) -> Option<(Mono, Due)> {
        let earliest = |map: &BTreeMap<Seq, Mono>, due: fn(Seq) -> Due| {
            map.iter().map(|(seq, at)| (*at, due(*seq))).min()
        };
        let lease = self.lease.map(|at| (at, Due::Lease));
        let flight = self.permit.filter(|_| self.flying).map(|at| (at, Due::Flight));
        let escalation = earliest(&self.escalations, Due::Escalation);
        let emission = if emitting { earliest(&self.emissions, Due::Emission) } else { None };
        [lease, flight, escalation, emission].into_iter().flatten().min()
    }

    pub(super) fn check(&self, config: &Config, image: &Image) -> Result<(), Violation> {
        let fail = |invariant, rule| Err(Violation { invariant, rule });
        if self.lease.is_some() != image.lease.is_some() {
            return fail("a lease has a wait of its own, and nothing else has it", Rule::Inb7);
        }
        if self.permit.is_some() != image.permit.is_some() {
            return fail("a permit has a wait of its own, and nothing else has it", Rule::Dsp7);
        }
        let emissions = image
            .workable(config)
            .filter(|(_, witness)| pause_before(config, witness.emissions).is_some())
            .map(|(seq, _)| seq);
        if !emissions.eq(self.emissions.keys().copied()) {
            return fail("each workable alert with emissions left waits for the next one", Rule::Emt3);
        }
        let escalations = image.witnesses.iter().filter(|(_, w)| !w.escalated).map(|(seq, _)| *seq);
        if !escalations.eq(self.escalations.keys().copied()) {
            return fail("each alert that the operator has not heard of waits to be told", Rule::Ack9);
        }
        Ok(())
    }
}

/// The pause before emission number `used`, counted from the one before; `None` when the schedule is used up (EMT-3).
/// The first hint is no re-emission and is due at once.
pub(super) fn pause_before(config: &Config, used: u32) -> Option<Millis> {
    match used {
        0 => Some(Millis::ZERO),
        n if n <= config.re_emissions => {
            let factor = 1_u64.checked_shl(n - 1).unwrap_or(u64::MAX);
            Some(Millis(config.re_emission_base.0.saturating_mul(factor)))
        }
        _ => None,
    }
}

/// A durable wait, resumed: what is left of it, never less than nothing and never more than all.
fn resume(now: Now, since: Wall, length: Millis) -> Mono {
    let left = (since + length).saturating_since(now.wall);
    now.mono + Millis(left.0.min(length.0))
}
