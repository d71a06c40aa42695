//! What the station does, and how its effects are carried out.

use awakener_kernel::ids::{ContentHash, MessageId, TurnId};
use awakener_kernel::machine::{Outcome, OutcomeOf};
use awakener_kernel::mailbox::Mailbox;
use awakener_kernel::mailbox::input::{Input as Ask, Refusal};
use awakener_kernel::station::{
    Answer, Claim, CursorAfter, Effect, Evidence, Exit, Input, Lane, Mapped, Model, Output, Run, Station,
    Stop, Ticket, Tokens, Work,
};
use awakener_kernel::values::{AckOutcome, Response, TurnRef};
use awakener_spec::Reason;
use serde_variant::to_variant_name;

use super::act::{Ending, Way, statement};
use super::calls::said;
use super::seen::Broken;
use super::{Concrete, Desk, World};
use crate::names;
use crate::plane::{first, work};
use crate::process::Fate;
use crate::world::Label;

/// Which message this is.
pub(super) fn which(message: MessageId) -> usize {
    usize::from(message.as_bytes()[15] & 1)
}

fn station_said(outcome: &OutcomeOf<Station>) -> Label {
    said(outcome, |reason: Reason| reason.name())
}

fn why(outcome: &OutcomeOf<Mailbox>) -> Option<Reason> {
    match outcome {
        Outcome::Advanced(_) | Outcome::Absorbed => None,
        Outcome::Refused(Refusal::Because(reason)) => Some(*reason),
        Outcome::Refused(Refusal::Withheld(_)) => Some(Reason::FactsMissing),
    }
}

impl World {
    /// One step of the station, if it is up. What needs no queue is carried out at once.
    pub(super) fn tell_station(&self, state: &mut Concrete, input: Input) -> Label {
        if state.station.is_down() {
            return Label::OUTSIDE;
        }
        let tried = state.station.tried(&self.config, state.now(), input, (), |_| ());
        let mut label = station_said(&tried.outcome);
        if !tried.outcome.is_advanced() {
            state.seen.flag(!tried.stutters, Broken::Trace);
            return label;
        }
        state.station = tried.after;
        let visible = state.station.commit(Fate::Durable).expect("it is durable");
        label.effects = visible.effects.iter().map(|e| to_variant_name(e).unwrap_or("effect")).collect();
        for effect in visible.effects {
            match effect {
                Effect::Poll { skip } => state.desk.poll = Some(skip),
                Effect::TellOperator(_) => state.seen.told = true,
                Effect::StartTurn { ticket, turn, .. } => {
                    let again = state.seen.observed[which(turn.message)];
                    state.seen.flag(again, Broken::TurnTwice);
                    state.desk.turn = Some((ticket, turn));
                    state.desk.aged = false;
                }
                other => state.desk.jobs.push_back(other),
            }
        }
        label
    }

    /// The station's first effect; `None` if it cannot be carried out now.
    pub(super) fn perform_station(&self, state: &mut Concrete, way: Way) -> Option<Label> {
        let effect = state.desk.jobs.front().cloned()?;
        let unreachable = state.plane.is_down() || way == Way::Lost;
        let label = match effect {
            Effect::ReadInbox { ticket } => {
                let reached = !unreachable && way == Way::Heard;
                let input =
                    if reached { Input::InboxRead { ticket } } else { Input::DispatchFailed { ticket } };
                self.tell_station(state, input)
            }
            Effect::Claim { ticket, skip } => self.claim(state, ticket, &skip, way, unreachable),
            Effect::Release { .. } => {
                if let Some(fence) = state.desk.lease.take()
                    && !unreachable
                {
                    self.call(state, Ask::Release { fence });
                }
                Label::OUTSIDE
            }
            Effect::Renew { fence } => {
                let refused = !unreachable && why(&self.call(state, Ask::Renew { fence }).0).is_some();
                if refused && way == Way::Heard {
                    state.desk.lease = None;
                    self.tell_station(state, Input::LeaseLost { fence })
                } else {
                    Label::OUTSIDE
                }
            }
            Effect::ReportTurn { turn, fence, finish } => {
                let TurnRef { turn, message } = turn;
                self.insist(
                    state,
                    Ask::FinishTurn { fence, message, turn, finish },
                    way,
                    unreachable,
                    |_| None,
                )?
            }
            Effect::RecordResult { ticket, turn, fence, response } => {
                let TurnRef { turn, message } = turn;
                let input = Ask::Respond { fence, message, turn, response };
                self.insist(state, input, way, unreachable, |why| {
                    Some(match why {
                        None => Input::ResultRecorded { ticket },
                        Some(why) => Input::ResultRefused { ticket, why },
                    })
                })?
            }
            Effect::SendAck { ticket, content, fence, .. } => {
                let input = Ask::Ack { ack: statement(content), fence: Some(fence) };
                self.insist(state, input, way, unreachable, |why| {
                    Some(match why {
                        None => Input::AckAccepted { ticket },
                        Some(why) => Input::AckRefused { ticket, why },
                    })
                })?
            }
            Effect::CleanUp { ticket, turn } => {
                // It asks for the cursor until there is an answer.
                if unreachable || way == Way::Unheard {
                    return None;
                }
                state.desk.turn = None;
                let lease = state.desk.lease.take();
                if let Some(fence) = turn.map(|(_, fence)| fence).or(lease) {
                    self.call(state, Ask::Release { fence });
                }
                let moved = state.plane.disk().image.cursor.is_some();
                let cursor = if moved { CursorAfter::Moved } else { CursorAfter::Pinned };
                self.tell_station(state, Input::CleanupDone { ticket, cursor })
            }
            Effect::AppendTripAudit { ticket, .. } => {
                let heard = !unreachable && way == Way::Heard;
                let result = if heard { Ok(ContentHash([1; 32])) } else { Err(Reason::OutcomeUnknown) };
                self.tell_station(state, Input::TripAuditDone { ticket, result })
            }
            Effect::WriteLatch { ticket, .. } => {
                self.tell_station(state, Input::LatchWritten { ticket, ok: true })
            }
            Effect::StopProcess => {
                state.station.crash();
                state.desk = Desk { latched: true, turns: state.desk.turns, ..Desk::default() };
                return Some(Label::OUTSIDE);
            }
            Effect::ForwardAck { ticket, .. } => self.tell_station(state, Input::AckAccepted { ticket }),
            Effect::ArchiveLatch { .. }
            | Effect::RemoveLatch { .. }
            | Effect::Poll { .. }
            | Effect::StartTurn { .. }
            | Effect::TellOperator(_) => Label::OUTSIDE,
        };
        state.desk.jobs.pop_front();
        Some(label)
    }

    /// A call that is repeated until it is answered; what changes something is idempotent by its ids.
    fn insist(
        &self,
        state: &mut Concrete,
        input: Ask,
        way: Way,
        unreachable: bool,
        hears: impl FnOnce(Option<Reason>) -> Option<Input>,
    ) -> Option<Label> {
        if unreachable {
            return None;
        }
        let responds = match &input {
            Ask::Respond { message, .. } => Some(which(*message)),
            _ => None,
        };
        let (outcome, label) = self.call(state, input);
        if let (Some(message), true) = (responds, outcome.is_advanced()) {
            let again = std::mem::replace(&mut state.seen.replied[message], true);
            state.seen.flag(again, Broken::ReplyTwice);
        }
        if way == Way::Unheard {
            // It stays first, to be said again.
            let first = state.desk.jobs.front().cloned();
            state.desk.jobs.extend(first);
            state.desk.jobs.rotate_right(1);
            return Some(label);
        }
        Some(hears(why(&outcome)).map_or(label, |input| self.tell_station(state, input)))
    }

    /// Claims and reads what comes first and does not rest.
    fn claim(
        &self,
        state: &mut Concrete,
        ticket: Ticket,
        skip: &[MessageId],
        way: Way,
        unreachable: bool,
    ) -> Label {
        let work = if unreachable { None } else { self.claimed(state, skip, way) };
        if work.is_none()
            && let Some(fence) = state.desk.lease.take()
            && !unreachable
        {
            self.call(state, Ask::Release { fence });
        }
        state.desk.turns += 1;
        let turn = TurnId::from_u128(u128::from(state.desk.turns));
        let mapped = Some(Mapped { window: 1, budget: 1 });
        let lane = Lane::Hosted { directive: ContentHash([0; 32]), model: Model("m".into()), mapped };
        self.tell_station(state, Input::Claimed { ticket, turn, lane, work })
    }

    fn claimed(&self, state: &mut Concrete, skip: &[MessageId], way: Way) -> Option<Work> {
        let (outcome, _) = self.call(state, Ask::Claim { holder: names::holder(0), max: 50 });
        if why(&outcome).is_some() || way == Way::Unheard {
            return None;
        }
        let lease = state.plane.disk().image.lease.clone()?;
        let fence = lease.fence;
        state.desk.lease = Some(fence);
        let message = first(&lease, skip)?;
        let (outcome, _) = self.call(state, Ask::Read { fence, message });
        if why(&outcome).is_some() {
            return None;
        }
        state.seen.read[which(message)] = true;
        Some(work(&state.plane.disk().rows, fence, message).expect("it was read"))
    }

    /// The turn that runs is over.
    pub(super) fn turn_ends(&self, state: &mut Concrete, ending: Ending) -> Label {
        let Some((ticket, turn)) = state.desk.turn.take() else { return Label::OUTSIDE };
        state.desk.aged = false;
        let complete = ending == Ending::Complete;
        let response = if which(turn.message) == 0 { Response::Silence } else { Response::Done };
        let answer = complete.then_some(Answer { response, outcome: AckOutcome::Handled });
        let label = self.tell_station(state, Input::TurnFinished { ticket, evidence: ran(complete), answer });
        state.seen.observed[which(turn.message)] |= complete && label.what == "turn_finished";
        label
    }
}

/// What the runner saw.
const fn ran(complete: bool) -> Evidence {
    Evidence::Ran(Run {
        exit: Exit::Code(0),
        stopped: None,
        claim: Claim::Success,
        stop: Stop::EndOfTurn,
        output: Output::Whole,
        final_event: true,
        model_failed: !complete,
        tool_failed: false,
        denials: 0,
        turns: Some(1),
        tokens: Tokens { input: None, output: None, output_limit: None },
    })
}
