//! How messages come to be finished, set aside, or brought before the operator (INB-3, INB-4, INB-8, ACK-9, ACK-10).

use awakener_spec::{Reason, rule};

use super::entry::{Closed, Entry, Finished};
use super::input::{Effect, Event};
use super::record::Record;
use super::timers::pause_before;
use super::{DraftOf, Mailbox, StepOf};
use crate::config::Config;
use crate::ids::{MessageId, Principal, Seq, Tier};
use crate::machine::{Draft, Step};
use crate::time::Now;

type Row = Option<(Seq, Entry)>;

impl Mailbox {
    pub(super) fn resolve(self, message: MessageId, row: Row) -> StepOf {
        let Some((seq, entry)) = row else { return self.refuse(Reason::UnknownMessage) };
        match entry.closed {
            Some(Closed::OperatorResolved) => return Step::absorbed(self),
            Some(Closed::Acknowledged(..)) => return self.refuse(Reason::AlreadyAcknowledged),
            None => {}
        }
        if !self.image.witnesses.contains_key(&seq) {
            return self.refuse(Reason::AckWrongTier);
        }
        let mut draft: DraftOf = Draft::new(self);
        draft.close_witness(seq, message, entry.principal, Closed::OperatorResolved);
        rule!(Ack9);
        draft.advanced(Event::Resolved)
    }

    pub(super) fn release_quarantine(
        self,
        config: &Config,
        now: Now,
        message: MessageId,
        row: Row,
    ) -> StepOf {
        let Some((seq, _)) = row else { return self.refuse(Reason::UnknownMessage) };
        if self.image.is_finished(seq) {
            return self.refuse(Reason::AlreadyFinished);
        }
        if self.image.progress.get(&seq).is_none_or(|progress| !progress.quarantined) {
            return Step::absorbed(self);
        }
        let mut draft: DraftOf = Draft::new(self);
        draft.record(Record::QuarantineReleased { seq, message });
        if let Some(pause) =
            draft.machine.image.witnesses.get(&seq).and_then(|w| pause_before(config, w.emissions))
        {
            draft.machine.timers.emissions.insert(seq, now.mono + pause);
        }
        draft.advanced(Event::QuarantineReleased)
    }

    pub(super) fn expire(self, config: &Config, now: Now, message: MessageId, row: Row) -> StepOf {
        let Some((seq, entry)) = row else { return self.refuse(Reason::UnknownMessage) };
        if self.image.is_finished(seq) {
            return Step::absorbed(self);
        }
        if entry.tier == Tier::Zero {
            // An alert never ends by age; its age is told to the operator (ACK-9).
            return self.refuse(Reason::AckWrongTier);
        }
        if now.wall < entry.admitted + config.message_age || self.image.claimed(seq).is_some() {
            return Step::absorbed(self);
        }
        let mut draft: DraftOf = Draft::new(self);
        draft.finish(seq, message, entry.principal, Finished::Expired);
        draft.advanced(Event::Expired)
    }

    pub(super) fn escalate(self, seq: Seq) -> StepOf {
        let Some(message) = self.image.witnesses.get(&seq).map(|witness| witness.message) else {
            return self.refuse(Reason::FactsMissing);
        };
        let mut draft: DraftOf = Draft::new(self);
        draft.tell_operator(seq, message);
        draft.advanced(Event::Escalated)
    }
}

impl DraftOf {
    /// Nothing more is owed about `seq`; the cursor moves over everything that is finished now, in one step.
    pub(super) fn finish(&mut self, seq: Seq, message: MessageId, principal: Principal, how: Finished) {
        self.record(Record::Finished { seq, message, principal, how });
        rule!(Inb3);
        let awaited = self.machine.image.awaited();
        let reached = self.machine.image.ahead.iter().next().filter(|(start, _)| *start == awaited);
        if let Some((_, to)) = reached {
            self.record(Record::CursorAdvanced { to });
            rule!(Inb4);
            if to > seq {
                rule!(Ack10);
            }
        } else if !self.machine.image.witnesses.is_empty() {
            rule!(Ack2);
        }
    }

    /// Closes a witness; for Tier-0 that is what finishes the message.
    pub(super) fn close_witness(
        &mut self,
        seq: Seq,
        message: MessageId,
        principal: Principal,
        closed: Closed,
    ) {
        self.record(Record::WitnessClosed { seq, message, closed });
        self.machine.timers.emissions.remove(&seq);
        self.machine.timers.escalations.remove(&seq);
        self.finish(seq, message, principal, Finished::WitnessClosed);
    }

    /// Sets a message aside for the operator; other tiers are finished by it, a witness stays open. `claimed` names
    /// tier and sender where the message is not an outstanding alert.
    pub(super) fn quarantine(&mut self, seq: Seq, message: MessageId, claimed: Option<(Tier, Principal)>) {
        self.record(Record::Quarantined { seq, message });
        self.machine.timers.emissions.remove(&seq);
        rule!(Inb8);
        match claimed {
            Some((tier, principal)) if tier != Tier::Zero => {
                self.finish(seq, message, principal, Finished::Quarantined);
                self.effect(Effect::TellOperator(message));
            }
            Some(_) | None => self.tell_operator(seq, message),
        }
    }

    /// The operator hears of it now; once per alert by itself.
    pub(super) fn tell_operator(&mut self, seq: Seq, message: MessageId) {
        self.record(Record::Escalated { seq, message });
        self.machine.timers.escalations.remove(&seq);
        self.effect(Effect::TellOperator(message));
        rule!(Ack9);
    }

    /// An alert whose attempts are used up gets no more hints.
    pub(super) fn settle_emission(&mut self, config: &Config, seq: Seq) {
        let used_up = self.machine.image.progress.get(&seq).is_some_and(|p| p.attempts >= config.attempts);
        if used_up {
            self.machine.timers.emissions.remove(&seq);
        }
    }
}
