//! What happens to the station, and what its ports do: one task after the other, a poll and a turn beside them.

use std::rc::Rc;

use awakener_kernel::ids::{MessageId, Seq};
use awakener_kernel::machine::{Outcome, OutcomeOf};
use awakener_kernel::station::{
    Answer, Claim, Effect, Event, Evidence, Exit, Hand, Input, Output, Run, Station, Stop, Tokens,
};
use awakener_kernel::values::{AckOutcome, By, Finish};

use super::act::{Act, Ending, Who};
use super::nodes::{Desk, Job, Running};
use super::say::{FORGED, number, response};
use super::seen::Broken;
use super::tried::{self, Done, Named as _};
use super::{Edges, State, World, beyond, change, to, vain};
use crate::names;
use crate::process::{FAILURES, Fate};
use crate::world::Label;

pub(super) type Judged = Rc<Done<Station, (), u8>>;

/// No message.
pub(super) const NOTHING: u8 = 9;

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
}

impl Desk {
    /// The process is gone; what is on disk and at the latch path stays.
    pub(super) fn falls(&mut self) {
        let mut process = self.process.clone();
        process.crash();
        *self = Self { process, latch: self.latch, ..Self::default() };
    }
}

/// Whether the inbox shows other work than this.
fn work_for(state: &State, skip: &[MessageId]) -> bool {
    let plane = &state.plane.process;
    !plane.is_down() && plane.disk().rows.has_work(skip)
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
