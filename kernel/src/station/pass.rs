//! From a wake to the end of a turn: WAKING, READING, COGNIZING (STN-3, STN-5, STN-9, OBS-1…3).

use awakener_spec::{Reason, rule};

use super::evidence::{Evidence, Stopped, conclude};
use super::leaf::Leaf;
use super::phase::{Cognizing, Phase, Reading, Waking};
use super::work::{Answer, Lane, Pass, Tail, Work};
use super::{Effect, Event, Image, Record, Station};
use crate::ids::{MessageId, Tier, TurnId};
use crate::machine::Step;
use crate::time::Millis;
use crate::values::{Finish, TurnRef};

impl Leaf<'_> {
    pub(super) fn mark_tail(mut self, tail: Tail) -> Step<Station> {
        self.record(Record::TailKnown { tail });
        self.done(Event::TailKnown)
    }

    /// The hint says no more than "look": what is worked on comes from the inbox.
    pub(super) fn wake(mut self) -> Step<Station> {
        let (ticket, until) = (self.issue(), self.now.mono + self.config.flight_max);
        self.go(Phase::Waking(Waking { ticket, until }));
        self.effect(Effect::ReadInbox { ticket });
        rule!(Stn5);
        self.done(Event::Woken)
    }

    pub(super) fn dispatch_failed(mut self) -> Step<Station> {
        self.arm(self.config.sweep);
        self.done(Event::DispatchFailed)
    }

    pub(super) fn read(mut self) -> Step<Station> {
        let (ticket, until) = (self.issue(), self.now.mono + self.config.lease);
        self.go(Phase::Reading(Reading { ticket, until }));
        let skip = self.skip();
        self.effect(Effect::Claim { ticket, skip });
        self.done(Event::ReadingStarted)
    }

    pub(super) fn nothing_new(mut self) -> Step<Station> {
        self.release_claim();
        self.arm(self.config.sweep);
        self.done(Event::NothingNew)
    }

    /// Work whose attempts are used up: the mailbox sets it aside (INB-8), the operator hears of it.
    pub(super) fn give_up(mut self, message: MessageId) -> Step<Station> {
        rule!(Stn9);
        let until = self.now.mono + self.config.back_off_max;
        self.live().rests.insert(message, until);
        self.tell(super::Alarm::Stuck(message));
        self.nothing_new()
    }

    pub(super) fn release_claim(&mut self) {
        if let Phase::Reading(reading) = *self.phase() {
            self.effect(Effect::Release { ticket: reading.ticket });
        }
    }

    /// The counters are raised by the same record that lets the turn start (FUS-2).
    pub(super) fn start_turn(mut self, work: Work, turn: TurnId, lane: Lane) -> Step<Station> {
        let pass = work.pass(turn);
        let (at, released, message) = (self.now.wall, work.released, work.message());
        self.record(Record::TurnStarted { pass, work: work.cause, lane: lane.clone(), released, at });
        rule!(Fus2);
        self.live().rests.remove(&message);
        let ticket = self.issue();
        let (until, renew) =
            (self.now.mono + self.config.flight_max, self.now.mono + renewal(self.config.lease));
        self.go(Phase::Cognizing(Cognizing { ticket, pass, until, renew }));
        rule!(Stn8);
        match lane {
            Lane::Hosted { .. } => self.effect(Effect::StartTurn { ticket, turn: pass.turn, lane }),
            // The agent is at work already.
            Lane::Attached => {}
        }
        self.done(Event::TurnStarted)
    }

    pub(super) fn renew(mut self, cognizing: Cognizing) -> Step<Station> {
        let renew = self.now.mono + renewal(self.config.lease);
        self.go(Phase::Cognizing(Cognizing { renew, ..cognizing }));
        self.effect(Effect::Renew { fence: cognizing.pass.fence });
        self.done(Event::Renewing)
    }

    pub(super) fn finish_turn(
        mut self,
        pass: Pass,
        evidence: Evidence,
        answer: Option<Answer>,
    ) -> Step<Station> {
        let finish = match (conclude(&evidence), answer) {
            // A complete turn that has nothing to say, not even silence, contradicts itself.
            (Finish::Complete, None) => Finish::Unknown,
            (finish, _) => finish,
        };
        self.end_turn(pass, finish, evidence, answer);
        if let Some(answer) = answer.filter(|_| finish.observed()) {
            self.begin_closing(pass, answer);
            return self.done(Event::TurnFinished(finish));
        }
        self.fail(pass.turn.message, None);
        if let (Finish::Truncated, Some(answer), true) = (finish, answer, pass.tier != Tier::Zero) {
            rule!(Obs3);
            let ticket = self.issue();
            self.effect(record_result(ticket, pass, answer));
        }
        self.clean_up();
        self.arm(Millis::ZERO);
        self.done(Event::TurnFinished(finish))
    }

    pub(super) fn time_out_turn(self, pass: Pass) -> Step<Station> {
        self.finish_turn(pass, Evidence::Stopped(Stopped::Time), None)
    }

    pub(super) fn lose_lease(self, pass: Pass) -> Step<Station> {
        self.finish_turn(pass, Evidence::Stopped(Stopped::Cancelled), None)
    }

    pub(super) fn end_turn(
        &mut self,
        pass: Pass,
        finish: Finish,
        evidence: Evidence,
        answer: Option<Answer>,
    ) {
        let (turn, at) = (pass.turn, self.now.wall);
        self.record(Record::TurnFinished { turn, finish, evidence, answer, at });
        rule!(Obs2);
        self.effect(Effect::ReportTurn { turn, fence: pass.fence, finish });
    }

    /// Leaves whatever is under way, for DARK, REFUSED or LATCHED_DOWN. A complete turn stays to be resumed.
    pub(super) fn abandon(&mut self) {
        match self.phase().clone() {
            Phase::Reading(_) => self.release_claim(),
            Phase::Cognizing(c) => {
                let evidence = Evidence::Stopped(Stopped::Cancelled);
                self.end_turn(c.pass, Finish::Cancelled, evidence, None);
                self.fail(c.pass.turn.message, Some(Reason::OutOfPhase));
                self.clean_up();
            }
            Phase::Acking(_) if self.image().turn.is_some() => self.clean_up(),
            Phase::Acking(_)
            | Phase::Dark
            | Phase::Armed(_)
            | Phase::Waking(_)
            | Phase::Synced(_)
            | Phase::Refused(_)
            | Phase::LatchedDown(_) => {}
        }
    }
}

/// A lease is renewed in the middle of its life.
fn renewal(lease: Millis) -> Millis {
    Millis((lease.0 / 2).max(1))
}

pub(super) const fn record_result(ticket: super::Ticket, pass: Pass, answer: Answer) -> Effect {
    Effect::RecordResult { ticket, turn: pass.turn, fence: pass.fence, response: answer.response }
}

impl Work {
    pub(super) const fn pass(&self, turn: TurnId) -> Pass {
        let turn = TurnRef { turn, message: self.cause.message };
        Pass { turn, seq: self.seq, tier: self.tier, content: self.content, fence: self.fence }
    }
}

impl Image {
    /// The complete turn that this message has had. If mailbox and station name different ones, the result that the
    /// mailbox already holds stands, since it would refuse another.
    pub(super) fn complete_turn(&self, work: &Work) -> Option<(TurnId, Answer)> {
        let own = self.progress.get(&work.message()).and_then(|p| p.finished);
        match (own, work.prior) {
            (Some((turn, _)), Some(prior)) if prior.turn != turn => Some((prior.turn, prior.into())),
            (Some(own), _) => Some(own),
            (None, Some(prior)) => Some((prior.turn, prior.into())),
            (None, None) => None,
        }
    }
}
