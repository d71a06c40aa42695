//! How effects are carried out, one at a time and in order, and what comes back.
//!
//! Done, failed, or done without being said to be: the adversary chooses, within its budget. What is wrong at the
//! moment when an effect reaches the outside is noted here. Not here: what the mailbox makes of it ([`super::post`]), and
//! turns ([`super::runner`]). Rules: FUS-4…7, STN-9.

use awakener_kernel::ids::MessageId;
use awakener_kernel::station::{Alarm, CursorAfter, Effect, Input, LatchNote, MissingAudit, TripAudit};
use awakener_spec::Reason;

use super::act::{Act, Deed, How};
use super::outside::{Lying, Out};
use super::post::{acknowledge, record_result, report};
use super::seen::Broken;
use super::values::{latch_number, message_number, trip_hash, turn_number};
use super::{Scene, World};

/// The effect, by name.
pub const fn deed(effect: &Effect) -> Deed {
    match effect {
        Effect::ReadInbox { .. } => Deed::ReadInbox,
        Effect::Poll { .. } => Deed::Poll,
        Effect::Claim { .. } => Deed::Claim,
        Effect::Release { .. } => Deed::Release,
        Effect::StartTurn { .. } => Deed::StartTurn,
        Effect::Renew { .. } => Deed::Renew,
        Effect::ReportTurn { .. } => Deed::ReportTurn,
        Effect::RecordResult { .. } => Deed::RecordResult,
        Effect::SendAck { .. } => Deed::SendAck,
        Effect::ForwardAck { .. } => Deed::ForwardAck,
        Effect::CleanUp { .. } => Deed::CleanUp,
        Effect::AppendTripAudit { .. } => Deed::AppendTripAudit,
        Effect::WriteLatch { .. } => Deed::WriteLatch,
        Effect::StopProcess => Deed::StopProcess,
        Effect::ArchiveLatch { .. } => Deed::ArchiveLatch,
        Effect::RemoveLatch { .. } => Deed::RemoveLatch,
        Effect::TellOperator(_) => Deed::TellOperator,
    }
}

fn bits(skip: &[MessageId]) -> u8 {
    skip.iter().fold(0, |bits, message| bits | 1 << message_number(*message))
}

impl World {
    /// The ways in which the first effect can be carried out.
    pub(super) fn ways(&self, state: &Scene) -> Vec<(Act, bool)> {
        let Some(first) = state.outbox.front() else { return Vec::new() };
        let refusals = state.spent.refusals < self.bounds.refusals;
        let deed = match first {
            Out::Effect(effect) => deed(effect),
            Out::Precaution(_) => Deed::Precaution,
        };
        let mut ways = Vec::with_capacity(4);
        match first {
            Out::Effect(effect) => match &**effect {
                Effect::Claim { skip, .. } => {
                    let mut free = state.outside.ids < self.bounds.claims;
                    let mut any = false;
                    for n in state.outside.open(self.bounds.mail, bits(skip)) {
                        any = true;
                        ways.extend(
                            self.bounds
                                .lanes
                                .iter()
                                .map(|lane| (Act::Perform(deed, How::Gives(n, *lane)), free)),
                        );
                    }
                    free = !any || state.spent.nothings < self.bounds.nothings;
                    ways.push((Act::Perform(deed, How::Nothing), free));
                    return ways;
                }
                Effect::ReadInbox { .. }
                | Effect::RecordResult { .. }
                | Effect::SendAck { .. }
                | Effect::ForwardAck { .. }
                | Effect::CleanUp { .. } => ways.push((Act::Perform(deed, How::Fails), refusals)),
                Effect::AppendTripAudit { .. }
                | Effect::WriteLatch { .. }
                | Effect::ArchiveLatch { .. }
                | Effect::RemoveLatch { .. } => {
                    ways.push((Act::Perform(deed, How::Fails), refusals));
                    ways.push((Act::Perform(deed, How::Half), refusals));
                }
                Effect::Poll { .. }
                | Effect::Release { .. }
                | Effect::StartTurn { .. }
                | Effect::Renew { .. }
                | Effect::ReportTurn { .. }
                | Effect::StopProcess
                | Effect::TellOperator(_) => {}
            },
            Out::Precaution(_) => ways.push((Act::Perform(deed, How::Fails), refusals)),
        }
        ways.push((Act::Perform(deed, How::Done), true));
        ways
    }

    /// Carries the first effect out.
    pub(super) fn perform(&self, state: &mut Scene, how: How) {
        let Some(out) = state.outbox.pop_front() else { return };
        if matches!(how, How::Fails | How::Half) {
            state.spent.refusals += 1;
        }
        let done = !matches!(how, How::Fails);
        let said = matches!(how, How::Done);
        match out {
            Out::Precaution(note) => {
                if done {
                    written(state, &note);
                }
                state.dies();
            }
            Out::Effect(effect) => self.carry_out(state, *effect, how, done, said),
        }
        state.hear();
    }

    fn carry_out(&self, state: &mut Scene, effect: Effect, how: How, done: bool, said: bool) {
        let mut back = None;
        match effect {
            Effect::ReadInbox { ticket } => {
                state.seen.hinted = false;
                back =
                    Some(if done { Input::InboxRead { ticket } } else { Input::DispatchFailed { ticket } });
            }
            Effect::Poll { skip } => state.outside.poll = Some(bits(&skip)),
            Effect::Claim { ticket, .. } => back = Some(self.claim(state, ticket, how)),
            Effect::Release { .. } => state.outside.held = false,
            Effect::StartTurn { ticket, turn, .. } => {
                self.starts(state, turn_number(turn.turn), Some(ticket))
            }
            Effect::Renew { fence } => {
                if !state.outside.honours(fence) {
                    back = Some(Input::LeaseLost { fence });
                }
            }
            Effect::ReportTurn { turn, fence, finish } => report(state, turn, fence, finish),
            Effect::RecordResult { ticket, turn, fence, .. } => {
                back = Some(
                    match if done { record_result(state, turn, fence) } else { Err(Reason::FactsMissing) } {
                        Ok(()) => Input::ResultRecorded { ticket },
                        Err(why) => Input::ResultRefused { ticket, why },
                    },
                );
            }
            Effect::SendAck { ticket, turn, fence, .. } => {
                self.ack_sent(state, turn);
                back = Some(
                    match if done { acknowledge(state, turn, fence) } else { Err(Reason::FactsMissing) } {
                        Ok(()) => Input::AckAccepted { ticket },
                        Err(why) => Input::AckRefused { ticket, why },
                    },
                );
            }
            Effect::ForwardAck { ticket, .. } => {
                back = Some(if done {
                    Input::AckAccepted { ticket }
                } else {
                    Input::AckRefused { ticket, why: Reason::AckNotRead }
                });
            }
            Effect::CleanUp { ticket, turn } if done => {
                match turn {
                    Some((turn, fence)) => {
                        state.outside.running.retain(|run| run.turn != turn_number(turn.turn));
                        state.outside.give_back(fence);
                    }
                    None => state.outside.held = false,
                }
                back = Some(Input::CleanupDone { ticket, cursor: CursorAfter::Moved });
            }
            Effect::CleanUp { .. } => {}
            Effect::AppendTripAudit { ticket, latch, .. } => {
                let n = latch_number(latch);
                let same = state.seen.latch.is_some_and(|known| known.latch == n);
                state.seen.must(same, Broken::OtherLatch);
                state.seen.latch.iter_mut().for_each(|latch| latch.tried = true);
                if done && !state.outside.trips.contains(&n) {
                    state.outside.trips.push(n);
                }
                let result = if said { Ok(trip_hash(n)) } else { Err(Reason::StoreUnavailable) };
                back = Some(Input::TripAuditDone { ticket, result });
            }
            Effect::WriteLatch { ticket, note } => {
                let known = state.seen.latch;
                // Without a try only a boot or the time that was given for it may lie between trip and latch.
                let excused = known.is_some_and(|latch| match note.audit {
                    TripAudit::Missing(MissingAudit::Interrupted) => latch.boot < state.boots,
                    TripAudit::Missing(MissingAudit::Late) => latch.at < state.clock,
                    TripAudit::Missing(MissingAudit::Failed(_) | MissingAudit::Found)
                    | TripAudit::Recorded(_) => false,
                });
                let found = known.is_some_and(|latch| !latch.tripped);
                state.seen.must(!found, Broken::Overwritten);
                let tried = found || known.is_some_and(|latch| latch.tried);
                state.seen.must(excused || tried, Broken::LatchFirst);
                if let TripAudit::Missing(why) = note.audit {
                    state.seen.must(known.is_some_and(|latch| latch.missing == Some(why)), Broken::Silent);
                    state.seen.must(!known.is_some_and(|latch| latch.audited), Broken::Unnamed);
                }
                if done {
                    written(state, &note);
                }
                back = Some(Input::LatchWritten { ticket, ok: said });
            }
            Effect::StopProcess => {
                let known =
                    state.seen.latch.is_some_and(|latch| !latch.tripped || latch.written || latch.unwritten);
                state.seen.must(known, Broken::StoppedUnlatched);
                state.dies();
                state.seen.stopped = true;
                return;
            }
            Effect::ArchiveLatch { ticket, note } => {
                let n = latch_number(note.latch);
                if done && !state.outside.incidents.contains(&n) {
                    state.outside.incidents.push(n);
                }
                back = Some(Input::LatchArchived { ticket, ok: said });
            }
            Effect::RemoveLatch { ticket, latch } => {
                let kept = state.outside.incidents.contains(&latch_number(latch));
                state.seen.must(kept, Broken::NoIncident);
                if done {
                    state.outside.path = Lying::Nothing;
                }
                back = Some(Input::LatchRemoved { ticket, ok: said });
            }
            Effect::TellOperator(_) => {}
        }
        state.inbox.extend(back);
    }
}

/// A latch is at its path. What it says of its audit record must be true.
fn written(state: &mut Scene, note: &LatchNote) {
    let n = latch_number(note.latch);
    state.outside.path = Lying::Latch(n);
    state.seen.latch.iter_mut().filter(|latch| latch.latch == n).for_each(|latch| latch.written = true);
    if let TripAudit::Recorded(hash) = note.audit {
        state.seen.must(hash == trip_hash(n) && state.outside.trips.contains(&n), Broken::Silent);
    }
}

impl Scene {
    /// Alarms are heard as soon as everything before them is done.
    pub(super) fn hear(&mut self) {
        while let Some(Out::Effect(effect)) = self.outbox.front() {
            let Effect::TellOperator(alarm) = **effect else { return };
            match alarm {
                Alarm::TripAuditMissing(_, why) => {
                    self.seen.latch.iter_mut().for_each(|latch| latch.missing = Some(why));
                }
                Alarm::LatchNotWritten(_) => {
                    self.seen.latch.iter_mut().for_each(|latch| latch.unwritten = true);
                }
                Alarm::Stuck(message) => self.seen.past[usize::from(message_number(message))].stuck = true,
                Alarm::Latched(_) | Alarm::ClearFailed(_) => {}
            }
            self.outbox.pop_front();
        }
    }
}
