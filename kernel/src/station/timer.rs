//! When the station wants to be fired, and what it does then: deadlines are a function of the state.
//!
//! `Fire` does one thing that is due; what else is due keeps the deadline due. Rules: STN-2, STN-9, FUS-4.

use super::leaf::Leaf;
use super::phase::{LatchStage, Phase};
use super::step::on_grant_end;
use super::work::GrantEnd;
use super::{Effect, Event, Station};
use crate::config::Config;
use crate::machine::Step;
use crate::time::{Mono, Now};

impl Station {
    pub(super) fn next_deadline(&self, _: &Config) -> Option<Mono> {
        let cleaning = self.live.cleaning.map(|cleaning| cleaning.again);
        [self.phase_deadline(), self.live.grant_ends, cleaning].into_iter().flatten().min()
    }

    fn phase_deadline(&self) -> Option<Mono> {
        match &self.live.phase {
            // The look waits for the cleanup.
            Phase::Armed(_) if self.owes_cleanup() => None,
            Phase::Armed(armed) => Some(armed.look),
            Phase::Waking(waking) => Some(waking.until),
            Phase::Reading(reading) => Some(reading.until),
            Phase::Cognizing(cognizing) => Some(cognizing.until.min(cognizing.renew)),
            Phase::Acking(acking) => Some(acking.until),
            Phase::LatchedDown(latched) => match latched.stage {
                LatchStage::Owed(at) | LatchStage::Auditing(_, at) | LatchStage::Writing(_, at) => Some(at),
                LatchStage::Down | LatchStage::Archiving(..) | LatchStage::Removing(..) => None,
            },
            // The cleanup is what SYNCED waits for.
            Phase::Dark | Phase::Synced(_) | Phase::Refused(_) => None,
        }
    }

    /// The latch first, since nothing is more urgent; then the end of the grant, the cleanup, the phase.
    pub(super) fn fire(self, config: &Config, now: Now) -> Step<Self> {
        let due = |at: Option<Mono>| at.is_some_and(|at| at <= now.mono);
        let phase_due = due(self.phase_deadline());
        let (grant_due, cleaning_due) =
            (due(self.live.grant_ends), due(self.live.cleaning.map(|cleaning| cleaning.again)));
        let leaf = |station| Leaf::new(station, config, now);
        if let (true, Phase::LatchedDown(latched)) = (phase_due, &self.live.phase) {
            let stage = latched.stage;
            return leaf(self).latch_due(stage);
        }
        if grant_due {
            return on_grant_end(leaf(self), GrantEnd::Expired);
        }
        if cleaning_due {
            return leaf(self).clean_again();
        }
        if phase_due {
            let phase = self.live.phase.clone();
            return leaf(self).phase_due(phase);
        }
        Step::absorbed(self)
    }
}

impl Leaf<'_> {
    fn clean_again(mut self) -> Step<Station> {
        self.clean_up();
        self.done(Event::CleaningUp)
    }

    fn latch_due(self, stage: LatchStage) -> Step<Station> {
        match stage {
            LatchStage::Owed(_) => self.relatch(),
            LatchStage::Auditing(..) => self.audit_late(),
            LatchStage::Writing(..) => self.latch_settled(false),
            LatchStage::Down | LatchStage::Archiving(..) | LatchStage::Removing(..) => {
                Step::absorbed(self.draft.machine)
            }
        }
    }

    fn phase_due(self, phase: Phase) -> Step<Station> {
        match phase {
            Phase::Armed(_) => self.look(),
            Phase::Waking(_) => self.dispatch_failed(),
            Phase::Reading(_) => self.nothing_new(),
            Phase::Cognizing(c) if c.until <= self.now.mono => self.time_out_turn(c.pass),
            Phase::Cognizing(c) => self.renew(c),
            Phase::Acking(a) => self.still_outstanding(a.closing, None),
            Phase::Dark | Phase::Synced(_) | Phase::Refused(_) | Phase::LatchedDown(_) => {
                Step::absorbed(self.draft.machine)
            }
        }
    }

    fn look(mut self) -> Step<Station> {
        self.arm(self.config.sweep);
        let skip = self.skip();
        self.effect(Effect::Poll { skip });
        self.done(Event::Looked)
    }
}
