//! The questions that the station's step asks before it branches: tickets, gates, and what claimed work comes to.
//!
//! Pure answers about a state; they change nothing. Rules: STN-1, STN-4, STN-6, STN-9, OBS-2, FUS-1, FUS-6.

use awakener_spec::{Reason, rule};

use super::phase::{Phase, PhaseName};
use super::work::{LatchNote, MissingAudit, Ticket, TripAudit, Work};
use super::{Input, Lane, LatchCause, LatchId, Station};
use crate::config::Config;
use crate::fuse::{self, Trip};
use crate::ids::TurnId;
use crate::time::{Now, Wall};

/// Where a ticket stands.
pub(super) enum Place {
    Current,
    Late,
    Stale,
    Never,
}

/// What claimed work comes to.
pub(super) enum Verdict {
    Resume(TurnId, super::Answer),
    Exhausted,
    Resting,
    Unmapped,
    Trips(Trip),
    Start,
}

/// Whether work may begin.
pub(super) enum Gate {
    Open,
    Busy,
    Closed(Reason),
}

/// Only what is active works (STN-1).
fn closed(why: Reason) -> Gate {
    rule!(Stn1);
    Gate::Closed(why)
}

impl Station {
    pub(super) fn place(&self, ticket: Ticket) -> Place {
        if ticket.epoch < self.image.epoch {
            return Place::Stale;
        }
        if ticket.epoch > self.image.epoch || ticket.number == 0 || ticket.number > self.live.issued {
            return Place::Never;
        }
        let awaited = self.ticket() == Some(ticket) || self.cleaning() == Some(ticket);
        if awaited { Place::Current } else { Place::Late }
    }

    /// Whether a grant holds by the wall clock.
    pub(super) fn granted(&self, now: Wall) -> bool {
        self.image.grant.is_some_and(|grant| grant.until > now)
    }

    /// Whether something of an earlier pass may still run or be held. No new pass begins before it is gone.
    pub(super) const fn owes_cleanup(&self) -> bool {
        self.live.cleaning.is_some()
    }

    pub(super) fn gate(&self, now: Now) -> Gate {
        match self.phase().name() {
            PhaseName::Armed if !self.granted(now.wall) => Gate::Closed(Reason::NotArmed),
            // The look that is owed after the cleanup finds the work.
            PhaseName::Armed if self.owes_cleanup() => Gate::Busy,
            PhaseName::Armed => Gate::Open,
            PhaseName::Waking
            | PhaseName::Reading
            | PhaseName::Cognizing
            | PhaseName::Acking
            | PhaseName::Synced => Gate::Busy,
            PhaseName::Dark => closed(Reason::NotArmed),
            PhaseName::Refused => closed(Reason::OutOfPhase),
            PhaseName::LatchedDown => closed(Reason::Latched),
        }
    }

    /// A complete turn is never repeated, so it comes before everything that could forbid or allow a turn (STN-6).
    pub(super) fn verdict(&self, config: &Config, now: Now, work: &Work, lane: &Lane) -> Verdict {
        let message = work.message();
        let released = self.image.progress.get(&message).is_some_and(|p| work.released > p.released);
        if let Some((turn, answer)) = self.image.complete_turn(work) {
            return Verdict::Resume(turn, answer);
        }
        if !released && self.image.exhausted(config, message) {
            return Verdict::Exhausted;
        }
        if !released && self.live.rests.get(&message).is_some_and(|until| *until > now.mono) {
            return Verdict::Resting;
        }
        match lane {
            Lane::Hosted { mapped: None, .. } => {
                rule!(Obs2);
                return Verdict::Unmapped;
            }
            Lane::Hosted { mapped: Some(_), .. } | Lane::Attached => {}
        }
        match fuse::judge(config, &self.image.counters, now.wall, &work.cause) {
            Err(trip) => Verdict::Trips(trip),
            Ok(()) => Verdict::Start,
        }
    }

    /// The latch that this input would bring about, for a driver whose commit fails: the latch write is exempt from
    /// "durable before visible" (FUS-6). `None` for every input that does not trip the fuse.
    pub fn trip(&self, config: &Config, now: Now, input: &Input) -> Option<LatchNote> {
        let Input::Claimed { ticket, turn, lane, work: Some(work) } = input else { return None };
        let Phase::Reading(reading) = self.phase() else { return None };
        if reading.ticket != *ticket || !self.granted(now.wall) {
            return None;
        }
        let Verdict::Trips(trip) = self.verdict(config, now, work, lane) else { return None };
        let cause = LatchCause::Tripped { message: work.message(), trip };
        let audit = TripAudit::Missing(MissingAudit::Failed(Reason::StoreUnavailable));
        rule!(Fus6);
        Some(LatchNote { latch: LatchId(*turn), cause, at: now.wall, audit })
    }
}
