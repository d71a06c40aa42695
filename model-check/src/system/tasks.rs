//! What the station carries out, one task after the other, and what it hears of it.

use awakener_kernel::ids::{ContentHash, Fence, MessageId, TurnId};
use awakener_kernel::machine::{Outcome, OutcomeOf};
use awakener_kernel::mailbox::Mailbox;
use awakener_kernel::mailbox::input::Refusal;
use awakener_kernel::station::{CursorAfter, Effect, Input, Lane, Mapped, Model, Ticket};
use awakener_kernel::values::By;
use awakener_spec::Reason;

use super::act::{Act, Way, Who};
use super::nodes::{Job, Running};
use super::say::{Say, number};
use super::seen::Broken;
use super::station::NOTHING;
use super::{Edges, State, World, to};
use crate::names;
use crate::plane::{first, work};
use crate::world::Label;

impl World {
    /// The first task, on each way that it can go.
    pub(super) fn task(&self, state: &State, edges: &mut Edges) {
        let desk = &state.station;
        let Some((job, task)) = desk.jobs.first().and_then(|job| Some((job, job.task()?))) else { return };
        let act = |way| Act::Do(task, way);
        let call = match job {
            Job::Read(_, fence, message) => Some((Say::Read(fence.0, number(*message)), true)),
            Job::Nothing(_) => desk.lease.map(|fence| (Say::Release(fence.0), true)),
            Job::Effect(effect) => match effect {
                Effect::Claim { .. } => Some((Say::Claim(0), true)),
                Effect::Release { .. } => desk.lease.map(|fence| (Say::Release(fence.0), true)),
                Effect::Renew { fence } => Some((Say::Renew(fence.0), true)),
                Effect::ReportTurn { turn, fence, finish } => {
                    let (n, turn) = (number(turn.message), turn_number(turn.turn));
                    Some((Say::Finish(fence.0, n, turn, *finish), false))
                }
                Effect::RecordResult { turn, fence, .. } => {
                    Some((Say::Respond(fence.0, number(turn.message), turn_number(turn.turn)), false))
                }
                Effect::SendAck { turn, fence, .. } => {
                    Some((Say::Ack(number(turn.message), By::Station, fence.0), false))
                }
                Effect::CleanUp { turn, .. } => {
                    let fence = turn.map(|(_, fence)| fence).or(desk.lease);
                    fence.map(|fence| (Say::Release(fence.0), false))
                }
                _ => None,
            },
        };
        if let Some((say, gives_up)) = call {
            return self.call(state, (Who::Station, say, gives_up), act, edges);
        }
        let down = state.plane.process.is_down();
        let way = match job {
            Job::Effect(Effect::ReadInbox { .. }) if down => Way::Unreachable,
            // It asks for the cursor until there is an answer.
            Job::Effect(Effect::CleanUp { .. }) if down => return,
            Job::Effect(_) | Job::Nothing(_) | Job::Read(..) => Way::Heard,
        };
        let mut next = state.clone();
        by_itself(&mut next, way);
        to(edges, act(way), Label::OUTSIDE, next);
    }

    /// The plane has answered a call of the station.
    pub(super) fn station_answered(&self, next: &mut State, say: Say, outcome: &OutcomeOf<Mailbox>) {
        let Some(job) = next.station.jobs.first().cloned() else { return };
        let refused = match outcome {
            Outcome::Advanced(_) | Outcome::Absorbed => None,
            Outcome::Refused(Refusal::Because(reason)) => Some(*reason),
            Outcome::Refused(Refusal::Withheld(_)) => Some(Reason::FactsMissing),
        };
        let input = match (&job, say) {
            (Job::Effect(Effect::Claim { ticket, skip }), Say::Claim(_)) => {
                return claimed(next, *ticket, skip, refused.is_none());
            }
            (Job::Read(ticket, fence, message), Say::Read(..)) => match refused {
                None => Some(read(next, *ticket, *fence, *message)),
                Some(_) => return next.on_station(|desk| desk.jobs[0] = Job::Nothing(*ticket)),
            },
            (Job::Effect(Effect::Renew { fence }), Say::Renew(_)) => refused.map(|_| {
                next.on_station(|desk| desk.lease = None);
                Input::LeaseLost { fence: *fence }
            }),
            (Job::Effect(Effect::ReportTurn { .. }), Say::Finish(..)) => None,
            (Job::Effect(Effect::RecordResult { ticket, .. }), Say::Respond(..)) => Some(match refused {
                None => Input::ResultRecorded { ticket: *ticket },
                Some(why) => Input::ResultRefused { ticket: *ticket, why },
            }),
            (Job::Effect(Effect::SendAck { ticket, .. }), Say::Ack(..)) => Some(match refused {
                None => Input::AckAccepted { ticket: *ticket },
                Some(why) => Input::AckRefused { ticket: *ticket, why },
            }),
            (
                Job::Nothing(_) | Job::Effect(Effect::Release { .. } | Effect::CleanUp { .. }),
                Say::Release(_),
            ) => {
                return by_itself(next, Way::Heard);
            }
            // A call of an earlier process.
            (_, _) => return,
        };
        next.on_station(|desk| {
            desk.jobs.remove(0);
            desk.inbox.extend(input);
        });
    }

    /// Nobody has answered it.
    pub(super) fn station_unheard(&self, next: &mut State, say: Say) {
        let Some(job) = next.station.jobs.first().cloned() else { return };
        match (job, say) {
            (Job::Effect(Effect::Claim { ticket, .. }), Say::Claim(_)) | (Job::Read(ticket, ..), _) => {
                next.on_station(|desk| desk.jobs[0] = Job::Nothing(ticket));
            }
            (
                Job::Nothing(_)
                | Job::Effect(Effect::Release { .. } | Effect::CleanUp { .. } | Effect::Renew { .. }),
                _,
            ) => by_itself(next, Way::Unheard),
            // It is said until it is heard.
            (_, _) => {}
        }
    }
}

/// The claim is answered: what it gave is read next, or it gave nothing.
fn claimed(next: &mut State, ticket: Ticket, skip: &[MessageId], granted: bool) {
    let lease = next.plane.process.disk().image.lease.clone().filter(|_| granted);
    let first = lease.as_ref().and_then(|lease| first(lease, skip));
    if let Some(message) = first {
        let n = usize::from(number(message));
        let owed = next.seen.submitted[n] && next.seen.acked[n].is_none() && !next.seen.resolved[n];
        next.saw(|seen| seen.flag(!owed, Broken::Work));
    }
    next.on_station(|desk| {
        if let Some(lease) = &lease {
            desk.lease = Some(lease.fence);
        }
        desk.jobs[0] = match (&lease, first) {
            (Some(lease), Some(message)) => Job::Read(ticket, lease.fence, message),
            (_, _) => Job::Nothing(ticket),
        };
    });
}

/// What was read, with a turn's name should one start.
fn read(next: &State, ticket: Ticket, fence: Fence, message: MessageId) -> Input {
    let work = work(&next.plane.process.disk().rows, fence, message);
    let mapped = Some(Mapped { window: 1, budget: 1 });
    let lane = Lane::Hosted { directive: ContentHash([0; 32]), model: Model("m".into()), mapped };
    // As many as were counted: the disk of the station is what makes it new.
    let turns = next.station.process.disk().image.counters.len();
    let turn = names::turn(u8::try_from(turns + 1).expect("models are small"));
    Input::Claimed { ticket, turn, lane, work }
}

/// The first task, where it needs no answer of the plane, or has had it.
fn by_itself(next: &mut State, way: Way) {
    let Some(Job::Nothing(ticket)) = next.station.jobs.first().cloned() else { return effect(next, way) };
    let (lane, turn) = (Lane::Attached, names::turn(NOTHING));
    next.on_station(|desk| {
        desk.jobs.remove(0);
        desk.lease = None;
        desk.inbox.push(Input::Claimed { ticket, turn, lane, work: None });
    });
}

fn effect(next: &mut State, way: Way) {
    let Some(Job::Effect(effect)) = next.station.jobs.first().cloned() else { return };
    let moved = next.plane.process.disk().image.cursor.is_some();
    if let Effect::StartTurn { turn, .. } = &effect {
        let n = usize::from(number(turn.message));
        next.saw(|seen| {
            seen.flag(seen.observed[n], Broken::TurnTwice);
            seen.flag(seen.latched, Broken::TurnLatched);
        });
    }
    next.on_station(|desk| {
        desk.jobs.remove(0);
        match effect {
            Effect::ReadInbox { ticket } => desk.inbox.push(match way {
                Way::Heard | Way::Doubled => Input::InboxRead { ticket },
                Way::Unheard | Way::Unreachable => Input::DispatchFailed { ticket },
            }),
            Effect::Release { .. } => desk.lease = None,
            Effect::StartTurn { ticket, turn, .. } => desk.turn = Some(Running { ticket, turn }),
            Effect::ForwardAck { ticket, .. } => desk.inbox.push(Input::AckAccepted { ticket }),
            Effect::CleanUp { ticket, .. } => {
                (desk.turn, desk.lease) = (None, None);
                let cursor = if moved { CursorAfter::Moved } else { CursorAfter::Pinned };
                desk.inbox.push(Input::CleanupDone { ticket, cursor });
            }
            Effect::AppendTripAudit { ticket, .. } => {
                desk.inbox.push(Input::TripAuditDone { ticket, result: Ok(ContentHash([1; 32])) });
            }
            Effect::WriteLatch { ticket, .. } => {
                desk.latch = true;
                desk.inbox.push(Input::LatchWritten { ticket, ok: true });
            }
            Effect::StopProcess => desk.falls(),
            _ => {}
        }
    });
}

const fn turn_number(turn: TurnId) -> u8 {
    turn.as_bytes()[15]
}
