//! What happens to the station, and what its ports do: one task after the other, a poll and a turn beside them.

use std::rc::Rc;

use awakener_kernel::fuse;
use awakener_kernel::ids::{ContentHash, Fence, MessageId, Seq, TurnId};
use awakener_kernel::machine::{Outcome, OutcomeOf};
use awakener_kernel::mailbox::Mailbox;
use awakener_kernel::mailbox::input::Refusal;
use awakener_kernel::station::{
    Answer, Claim, CursorAfter, Effect, Event, Evidence, Exit, Hand, Input, Lane, Mapped, Model, Output,
    Prior, Run, Station, Stop, Ticket, Tokens, Work,
};
use awakener_kernel::values::{AckOutcome, By, Finish};
use awakener_spec::Reason;

use super::act::{Act, Ending, Way, Who};
use super::nodes::{Desk, Job, Running};
use super::say::{FORGED, Say, number, response};
use super::seen::Broken;
use super::tried::{self, Done, Named as _};
use super::{Edges, State, World, beyond, change, to, vain};
use crate::names;
use crate::process::{FAILURES, Fate};
use crate::world::Label;

pub(super) type Judged = Rc<Done<Station, (), u8>>;

/// No message.
const NOTHING: u8 = 9;

impl World {
    pub(super) fn desk(&self, state: &State, input: Input, about: u8) -> Option<Judged> {
        let desk = &state.station;
        desk.process.live()?;
        let now = state.now(desk.born);
        tried::tried((self.name, &self.config), &desk.process, now, input, |()| (), about)
    }

    fn desk_happens(&self, next: &mut State, about: u8, done: &Judged) -> Label {
        match (&done.committed, self.parts(Who::Station)) {
            (Some(_), true) => {
                next.on_station(|desk| desk.process = done.staged.clone());
                done.label.clone()
            }
            (Some(committed), false) => {
                next.on_station(|desk| desk.process = committed.process.clone());
                self.desk_shows(next, about, &done.outcome, &committed.effects);
                committed.label.clone()
            }
            (None, _) => done.label.clone(),
        }
    }

    fn desk_shows(&self, next: &mut State, about: u8, outcome: &OutcomeOf<Station>, effects: &[Effect]) {
        match outcome {
            Outcome::Advanced(Event::Latched(_)) => next.saw(|seen| seen.latched = true),
            Outcome::Advanced(Event::TurnFinished(Finish::Complete)) => {
                next.saw(|seen| seen.observed[usize::from(about)] = true);
            }
            _ => {}
        }
        let polls = self.bounds.poller;
        next.on_station(|desk| {
            for effect in effects {
                match effect {
                    Effect::Poll { skip } => desk.poll = polls.then(|| skip.clone()),
                    Effect::TellOperator(_) => {}
                    _ => desk.jobs.push(Job::Effect(effect.clone())),
                }
            }
        });
    }

    /// Gives an input to the station. `gone`: it is gone although it does not advance.
    fn give(
        &self,
        state: &State,
        (act, input, about): (Act, Input, u8),
        (allowed, gone): (bool, bool),
        fix: impl FnOnce(&mut State),
        edges: &mut Edges,
    ) {
        let Some(done) = self.desk(state, input, about) else { return };
        let advances = done.outcome.is_advanced();
        if done.left_trace || (!advances && !gone) {
            return vain(edges, act, done.label.clone(), done.left_trace);
        }
        if !allowed {
            return beyond(edges, act, done.label.clone());
        }
        let mut next = state.clone();
        fix(&mut next);
        let label = self.desk_happens(&mut next, about, &done);
        to(edges, act, label, next);
    }

    /// Everything that can happen to the station, and what its ports can do.
    pub(super) fn station_steps(&self, state: &State, edges: &mut Edges) {
        let desk = &state.station;
        if desk.process.is_down() {
            // What lies at the latch path refuses the boot.
            if !desk.latch && !state.seen.broken.contains(&Broken::Boot) {
                let mut next = state.clone();
                self.boot_station(&mut next);
                to(edges, Act::Boot(Who::Station), Label::OUTSIDE, next);
            }
            return;
        }
        if state.spent.station_crashes < self.bounds.station_crashes {
            let mut next = state.clone();
            next.spent.station_crashes += 1;
            next.on_station(Desk::falls);
            to(edges, Act::Crash(Who::Station), Label::OUTSIDE, next);
        }
        if desk.process.is_staged() {
            self.desk_commits(state, edges);
        }
        self.give(state, (Act::Fire(Who::Station), Input::Fire, NOTHING), (true, false), |_| (), edges);
        if let Some(first) = desk.inbox.first().cloned() {
            let pop = |next: &mut State| {
                next.on_station(|desk| desk.inbox.remove(0));
            };
            let hear = Act::Hear(Who::Station);
            self.give(state, (hear, first.clone(), NOTHING), (true, true), pop, edges);
            if state.spent.doubled < self.bounds.doubled {
                let again = Act::HearTwice(Who::Station);
                let twice = |next: &mut State| next.spent.doubled += 1;
                self.give(state, (again, first, NOTHING), (true, false), twice, edges);
            }
        }
        self.task(state, edges);
        self.turn_ends(state, edges);
        if desk.poll.as_ref().is_some_and(|skip| work_for(state, skip)) {
            let mut next = state.clone();
            next.on_station(|desk| {
                desk.poll = None;
                desk.inbox.push(Input::WorkFound);
            });
            to(edges, Act::Poll, Label::OUTSIDE, next);
        }
        let wake = names::wake(FORGED);
        let allowed = state.spent.posts < self.bounds.posts;
        let post = |next: &mut State| next.spent.posts += 1;
        self.give(state, (Act::Post, Input::Hint { wake }, NOTHING), (allowed, false), post, edges);
        if state.seen.acked[0] == Some(By::Agent) && !state.spent.own_ack {
            let own = Input::OwnAck { message: names::message(0), seq: Seq::FIRST, by: Hand::Agent };
            let heard = |next: &mut State| next.spent.own_ack = true;
            self.give(state, (Act::OwnAck, own, NOTHING), (true, false), heard, edges);
        }
        if self.tries {
            self.station_strays(state, edges);
        }
    }

    fn desk_commits(&self, state: &State, edges: &mut Edges) {
        let mut next = state.clone();
        let visible = next.on_station(|desk| desk.process.commit(Fate::Durable));
        if let Some(visible) = visible {
            for (about, outcome) in &visible.answers {
                self.desk_shows(&mut next, *about, outcome, &[]);
            }
            self.desk_shows(&mut next, NOTHING, &Outcome::Absorbed, &visible.effects);
            let effects = visible.effects.iter().map(Station::effect).collect();
            to(edges, Act::Commit(Who::Station), Label { effects, ..Label::OUTSIDE }, next);
        }
        if state.spent.failures < self.bounds.failures {
            for fate in FAILURES {
                let mut next = state.clone();
                next.spent.failures += 1;
                // The ports go on: what was let out before is done.
                next.on_station(|desk| {
                    assert!(desk.process.commit(fate).is_none(), "a failed commit lets nothing out");
                });
                to(edges, Act::CommitFails(Who::Station, fate), Label::OUTSIDE, next);
            }
        }
    }

    pub(super) fn boot_station(&self, next: &mut State) {
        let clock = next.clock;
        let now = next.now(clock);
        let booted = change(&mut next.station, |desk| {
            desk.born = clock;
            desk.process.recover(&self.config, now)?;
            if !self.parts(Who::Station) {
                desk.process.commit(Fate::Durable);
            }
            Ok::<(), awakener_kernel::machine::Violation>(())
        });
        if booted.is_err() {
            next.saw(|seen| seen.flag(true, Broken::Boot));
        }
    }

    /// The first task, on each way that it can go.
    fn task(&self, state: &State, edges: &mut Edges) {
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

    fn turn_ends(&self, state: &State, edges: &mut Edges) {
        let Some(Running { ticket, turn }) = state.station.turn else { return };
        let about = number(turn.message);
        for ending in [Ending::Complete, Ending::Failed] {
            let failed = ending == Ending::Failed;
            if failed && state.spent.failing >= self.bounds.failing {
                continue;
            }
            let answer = Answer { response: response(about), outcome: AckOutcome::Handled };
            let input =
                Input::TurnFinished { ticket, evidence: ran(failed), answer: (!failed).then_some(answer) };
            let over = |next: &mut State| {
                next.spent.failing += u8::from(failed);
                next.on_station(|desk| desk.turn = None);
            };
            self.give(state, (Act::TurnEnds(ending), input, about), (true, true), over, edges);
        }
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

impl Desk {
    /// The process is gone; what is on disk and at the latch path stays.
    pub(super) fn falls(&mut self) {
        let mut process = self.process.clone();
        process.crash();
        *self = Self { process, latch: self.latch, ..Self::default() };
    }
}

/// The claim is answered: what it gave is read next, or it gave nothing.
fn claimed(next: &mut State, ticket: Ticket, skip: &[MessageId], granted: bool) {
    let lease = next.plane.process.disk().image.lease.clone().filter(|_| granted);
    let first = lease.as_ref().and_then(|lease| {
        let open = lease.claimed.iter().filter(|(_, claimed)| !skip.contains(&claimed.message));
        open.min_by_key(|(seq, claimed)| (claimed.tier, **seq)).map(|(_, claimed)| claimed.message)
    });
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
    let work = next.plane.process.disk().rows.find(message).map(|(seq, row)| Work {
        seq,
        tier: row.tier,
        content: row.content,
        fence,
        released: row.released,
        prior: match (row.turn, row.response) {
            (Some((turn, Finish::Complete)), Some((by, response))) if turn == by => {
                Some(Prior { turn, response })
            }
            (_, _) => None,
        },
        cause: fuse::Work {
            message,
            normal: row.content,
            depth: row.depth,
            descends_from_own: false,
            ancestry: Vec::new(),
        },
    });
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

/// Whether the inbox shows other work than this.
fn work_for(state: &State, skip: &[MessageId]) -> bool {
    let plane = &state.plane.process;
    !plane.is_down()
        && plane
            .disk()
            .rows
            .messages
            .values()
            .any(|row| row.finished.is_none() && !row.quarantined && !skip.contains(&row.id))
}

const fn turn_number(turn: TurnId) -> u8 {
    turn.as_bytes()[15]
}

const fn ran(tool_failed: bool) -> Evidence {
    Evidence::Ran(Run {
        exit: Exit::Code(0),
        stopped: None,
        claim: Claim::Success,
        stop: Stop::EndOfTurn,
        output: Output::Whole,
        final_event: true,
        model_failed: false,
        tool_failed,
        denials: 0,
        turns: None,
        tokens: Tokens { input: None, output: None, output_limit: None },
    })
}
