//! Hints, permits and flights: what the mailbox does so that its target wakes (EMT-1…4, DSP-2, DSP-7, DSP-11).
//!
//! A token is allocated by the record that mints, so a crash can skip tokens but never use one twice. Signing and
//! sending are effects. Not here: what a daemon makes of a hint (`waker`).

use alloc::vec::Vec;

use awakener_spec::{Class, Reason, ReceiptKind, rule};

use super::image::Granted;
use super::input::{Authority, Effect, Event, Fresh, Mint, Minted, Refusal};
use super::record::Record;
use super::timers::pause_before;
use super::{DraftOf, Mailbox, StepOf};
use crate::config::Config;
use crate::ids::{DaemonName, Fence, MessageId, Seq, Token, WakeId};
use crate::machine::{Draft, Step};
use crate::receipt;
use crate::time::Now;
use crate::values::{FlightEnd, FlightReport, Permit, Question};

impl Mailbox {
    pub(super) fn start(self, _config: &Config, _now: Now, floor: u32) -> StepOf {
        if self.emitting && floor < self.image.epoch {
            return Step::absorbed(self);
        }
        let epoch = self.image.epoch.max(floor).saturating_add(1);
        if epoch > Token::MAX_EPOCH {
            return self.refuse(Reason::Tier0Closed);
        }
        let mut draft: DraftOf = Draft::new(self);
        draft.record(Record::EpochStarted { epoch });
        draft.machine.emitting = true;
        rule!(Emt2);
        draft.advanced(Event::Started)
    }

    /// One scheduled emission: a hint, or one emission used up (EMT-3).
    pub(super) fn emit(
        self,
        config: &Config,
        now: Now,
        seq: Seq,
        fresh: Fresh,
        authority: Authority,
    ) -> StepOf {
        let Some(message) = self.image.witnesses.get(&seq).map(|witness| witness.message) else {
            return self.refuse(Reason::FactsMissing);
        };
        let allowed = withheld(authority);
        let mut draft: DraftOf = Draft::new(self);
        let event = match (allowed, draft.machine.allocate()) {
            (Ok(()), Some(token)) => {
                let minted = draft.mint(config, now, seq, message, fresh, token, true);
                draft.effect(Effect::Publish(minted));
                Event::Minted
            }
            (Err(why), _) => draft.refuse_emission(now, seq, why),
            (Ok(()), None) => draft.refuse_emission(now, seq, Reason::Tier0Closed),
        };
        let used = draft.machine.image.witnesses.get(&seq).map_or(0, |witness| witness.emissions);
        match pause_before(config, used) {
            Some(pause) => draft.machine.timers.emissions.insert(seq, now.mono + pause),
            None => draft.machine.timers.emissions.remove(&seq),
        };
        rule!(Emt3);
        draft.advanced(event)
    }

    /// Whether a sweep is answered at all: not before the emitter's epoch, and not during a flight (DSP-11).
    pub(super) fn may_sweep(&self) -> Result<(), Refusal> {
        if !self.emitting {
            return Err(Reason::Tier0Closed.into());
        }
        match &self.image.permit {
            Some(permit) if permit.flying => Err(Class::PermitHeld.into()),
            Some(_) | None => Ok(()),
        }
    }

    /// The alerts that a sweep may be about, oldest first. Attempts are judged by the step, which has the limits.
    pub(super) fn open_alerts(&self) -> Vec<MessageId> {
        let open = |seq: &Seq| self.image.progress.get(seq).is_none_or(|p| !p.quarantined);
        self.image.witnesses.iter().filter(|(seq, _)| open(seq)).map(|(_, witness)| witness.message).collect()
    }

    /// A hint for the oldest alert that may still wake its target: one that may not never stands in the way of the
    /// next.
    pub(super) fn sweep(
        self,
        config: &Config,
        now: Now,
        fresh: Fresh,
        known: &[(MessageId, Authority)],
    ) -> StepOf {
        if let Err(refusal) = self.may_sweep() {
            return self.refuse(refusal);
        }
        if !self.open_alerts().iter().eq(known.iter().map(|(message, _)| message)) {
            return self.refuse(Reason::FactsMissing);
        }
        let authority = |message: MessageId| known.iter().find(|(m, _)| *m == message).map(|(_, a)| *a);
        let mut refusal = Class::NotOutstanding;
        let mut found = None;
        for (seq, witness) in self.image.workable(config) {
            match authority(witness.message).map(withheld) {
                Some(Ok(())) => {
                    found = Some((seq, witness.message));
                    break;
                }
                // The oldest alert's refusal is the one to tell.
                Some(Err(why)) if refusal == Class::NotOutstanding => refusal = withheld_as(why),
                Some(Err(_)) | None => {}
            }
        }
        let Some((seq, message)) = found else { return self.refuse(refusal) };
        let Some(token) = self.allocate() else { return self.refuse(Reason::Tier0Closed) };
        let mut draft: DraftOf = Draft::new(self);
        let minted = draft.mint(config, now, seq, message, fresh, token, false);
        rule!(Dsp11);
        draft.advanced(Event::Swept(minted))
    }

    pub(super) fn published(self, wake: WakeId, handed_over: bool, mint: Option<Mint>) -> StepOf {
        if mint.is_none() {
            return self.refuse(Class::Unminted);
        }
        let mut draft: DraftOf = Draft::new(self);
        draft.record(Record::Published { wake, handed_over });
        rule!(Emt4);
        draft.advanced(Event::Published)
    }

    /// The plane's word before anything starts (DSP-7).
    pub(super) fn ask(
        self,
        config: &Config,
        now: Now,
        daemon: DaemonName,
        question: &Question,
        mint: Option<Mint>,
    ) -> StepOf {
        let seq = match self.permissible(config, now, &daemon, question, mint) {
            Ok(seq) => seq,
            Err(class) => return self.refuse(class),
        };
        let fence = self.image.permit_fence.next();
        let mut draft: DraftOf = Draft::new(self);
        let Question { wake, message, .. } = *question;
        let granted = Granted { fence, daemon, wake, seq, message, at: now.wall, flying: false, read: false };
        draft.record(Record::PermitGranted { granted });
        draft.machine.timers.permit = Some(now.mono + config.permit);
        draft.machine.timers.flying = false;
        rule!(Dsp7);
        draft.advanced(Event::Permitted(Permit { fence, life: config.permit }))
    }

    fn permissible(
        &self,
        config: &Config,
        now: Now,
        daemon: &DaemonName,
        question: &Question,
        mint: Option<Mint>,
    ) -> Result<Seq, Class> {
        let mint = mint
            .filter(|mint| (mint.message, mint.token) == (question.message, question.token))
            .ok_or(Class::Unminted)?;
        rule!(Adm6);
        if !mint.authority.rostered || !mint.authority.open {
            return Err(Class::AuthorityWithdrawn);
        }
        if !mint.authority.armed {
            return Err(Class::NotArmed);
        }
        if !self.image.workable(config).any(|(seq, _)| seq == mint.seq) {
            return Err(Class::NotOutstanding);
        }
        let live = self.timers.permit.is_some_and(|until| now.mono < until);
        match &self.image.permit {
            // A flight lasts until its end is recorded, or its attempt would never be counted. Before it flies the
            // same daemon may ask again: its answer may have been lost.
            Some(permit) if permit.flying || (live && permit.daemon != *daemon) => Err(Class::PermitHeld),
            Some(_) | None => Ok(mint.seq),
        }
    }

    /// What a daemon says of a flight. Only the live permit's report moves anything; a late true fact is noted once,
    /// and a second answer to a question that is closed is a contradiction (RCP-2).
    pub(super) fn report(
        self,
        config: &Config,
        now: Now,
        daemon: &DaemonName,
        (fence, wake): (Fence, WakeId),
        report: FlightReport,
        (mint, told): (Option<Mint>, &[ReceiptKind]),
    ) -> StepOf {
        let Some(mint) = mint else { return self.refuse(Class::Unminted) };
        let current = self.image.permit.as_ref().filter(|permit| permit.fence == fence).cloned();
        let never_given = fence == Fence::default() || fence > self.image.permit_fence;
        if never_given || current.as_ref().is_some_and(|permit| permit.wake != wake) {
            return self.refuse(Reason::StaleTicket);
        }
        if current.as_ref().is_some_and(|permit| permit.daemon != *daemon) {
            return self.refuse(Class::PermitHeld);
        }
        match (report, &current) {
            // A flight begins once, and never under a permit that another one has replaced.
            (FlightReport::Attempted, None) => return self.refuse(Reason::StaleTicket),
            (FlightReport::Attempted, Some(permit)) if permit.flying => return Step::absorbed(self),
            // What is no flight any more cannot end again.
            (FlightReport::Ended(_), None) => return Step::absorbed(self),
            (FlightReport::Outcome(outcome), _) => {
                let kind = receipt::dispatch(outcome);
                if told.contains(&kind) {
                    return Step::absorbed(self);
                }
                if let Err(reason) = receipt::allowed(told, &[], kind) {
                    return self.refuse(reason);
                }
            }
            (FlightReport::Attempted | FlightReport::Ended(_), Some(_)) => {}
        }
        let mut draft: DraftOf = Draft::new(self);
        let message = mint.message;
        draft.record(Record::FlightReported { wake, fence, message, report, at: now.wall });
        match (report, current) {
            (FlightReport::Attempted, _) => {
                draft.machine.timers.permit = Some(now.mono + config.flight_max);
                draft.machine.timers.flying = true;
                rule!(Dsp2);
            }
            (FlightReport::Ended(end), Some(permit)) => draft.end_flight(config, &permit, end),
            (FlightReport::Ended(_), None) | (FlightReport::Outcome(_), _) => {}
        }
        draft.advanced(Event::Reported)
    }

    /// A daemon that never reported an end is taken to be gone (DSP-2); never a success.
    pub(super) fn flight_expired(self, config: &Config, now: Now) -> StepOf {
        let Some(permit) = self.image.permit.clone() else { return self.refuse(Reason::FactsMissing) };
        let Granted { fence, wake, message, .. } = permit;
        let end = FlightEnd::Expired;
        let mut draft: DraftOf = Draft::new(self);
        let report = FlightReport::Ended(end);
        draft.record(Record::FlightReported { wake, fence, message, report, at: now.wall });
        draft.end_flight(config, &permit, end);
        draft.advanced(Event::FlightExpired)
    }

    /// The next freshness token of this epoch.
    fn allocate(&self) -> Option<Token> {
        match self.image.token.filter(|token| token.epoch() == self.image.epoch) {
            Some(token) => token.next().filter(|next| next.epoch() == self.image.epoch),
            None => Token::new(self.image.epoch, 1),
        }
    }
}

/// Why a hint may not be minted now (EMT-3, ADM-6).
const fn withheld(authority: Authority) -> Result<(), Reason> {
    match authority {
        Authority { open: false, .. } => Err(Reason::Tier0Closed),
        Authority { rostered: false, .. } => Err(Reason::NotOnRoster),
        Authority { armed: false, .. } => Err(Reason::NotArmed),
        Authority { rostered: true, armed: true, open: true } => Ok(()),
    }
}

/// The same as a daemon hears it.
fn withheld_as(why: Reason) -> Class {
    if why == Reason::NotArmed { Class::NotArmed } else { Class::AuthorityWithdrawn }
}

impl DraftOf {
    #[expect(clippy::too_many_arguments, reason = "one value per field of the record")]
    fn mint(
        &mut self,
        config: &Config,
        now: Now,
        seq: Seq,
        message: MessageId,
        fresh: Fresh,
        token: Token,
        scheduled: bool,
    ) -> Minted {
        let Fresh { wake, nonce } = fresh;
        self.record(Record::Minted { seq, message, wake, nonce, token, at: now.wall, scheduled });
        rule!(Emt1);
        Minted { message, fresh, token, time: now.wall, expires: now.wall + config.hint_ttl }
    }

    fn refuse_emission(&mut self, now: Now, seq: Seq, why: Reason) -> Event {
        self.record(Record::EmissionRefused { seq, at: now.wall, why });
        rule!(Adm6);
        Event::EmissionRefused(why)
    }

    /// The flight is over; without `inbox_read` it has cost an attempt (DSP-2).
    fn end_flight(&mut self, config: &Config, permit: &Granted, end: FlightEnd) {
        self.machine.timers.permit = None;
        self.machine.timers.flying = false;
        let open = self.machine.image.witnesses.contains_key(&permit.seq);
        // An end proves that there was a flight, also when the report of its beginning was lost.
        if permit.read || !open || end == FlightEnd::NeverStarted {
            return;
        }
        self.record(Record::AttemptWithoutRead { seq: permit.seq, end });
        let progress = self.machine.image.progress.get(&permit.seq).copied().unwrap_or_default();
        // Whoever has read it is at work on it; the end of the lease will judge.
        let at_work = self.machine.image.claimed(permit.seq).is_some_and(|claimed| claimed.read);
        if progress.spent(config) && !progress.quarantined && !at_work {
            self.quarantine(permit.seq, permit.message, None);
        } else {
            self.settle_emission(config, permit.seq);
        }
    }
}
