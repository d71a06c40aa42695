//! What happens to the plane, and who hears its answers.

use std::rc::Rc;

use awakener_kernel::ids::Fence;
use awakener_kernel::machine::{Outcome, OutcomeOf};
use awakener_kernel::mailbox::Mailbox;
use awakener_kernel::mailbox::input::{Effect, Event, Input, Minted};
use awakener_kernel::station;
use awakener_kernel::values::{By, FlightEnd, Hint};

use super::act::{Act, Way, Who};
use super::nodes::Asked;
use super::say::{AGENTS_TURN, Flown, Say, number};
use super::seen::{Broken, Permit, Seen};
use super::tried::{self, Done, Named as _};
use super::{Edges, State, World, beyond, change, place, to, vain};
use crate::mailbox::rows::Rows;
use crate::names;
use crate::process::{FAILURES, Fate};
use crate::world::Label;

pub(super) type Judged = Rc<Done<Mailbox, Rows, Asked>>;

impl World {
    /// What the plane would make of it; `None` when it is down or busy.
    pub(super) fn judged(&self, state: &State, asked: Asked) -> Option<Judged> {
        let plane = &state.plane;
        plane.process.live()?;
        let rows = &plane.process.disk().rows;
        let input = asked.say.input(rows, unused(rows));
        let facts = |query| asked.say.facts(rows, plane.withdrawn, query);
        let world = (self.name.wrapping_add(u64::from(plane.withdrawn)), &self.config);
        tried::tried(world, &plane.process, state.now(plane.born), input, facts, asked)
    }

    /// Lets what was judged happen; the label is what is seen of it.
    pub(super) fn happens(&self, next: &mut State, asked: Asked, done: &Judged) -> Label {
        match (&done.committed, self.parts(Who::Plane)) {
            (Some(_), true) => {
                self.said(next, asked.say);
                next.on_plane(|plane| plane.process = done.staged.clone());
                done.label.clone()
            }
            (Some(committed), false) => {
                self.said(next, asked.say);
                next.on_plane(|plane| plane.process = committed.process.clone());
                Self::released(next, &committed.effects);
                self.answered(next, asked, &done.outcome);
                committed.label.clone()
            }
            (None, _) => {
                self.answered(next, asked, &done.outcome);
                done.label.clone()
            }
        }
    }

    /// What a speaker itself knows from then on.
    fn said(&self, next: &mut State, say: Say) {
        match say {
            Say::Ack(n, ..) => next.saw(|seen| seen.presented[usize::from(n)] = true),
            Say::Submit(n) => next.saw(|seen| seen.submitted[usize::from(n)] = true),
            Say::Resolve(n) => next.saw(|seen| seen.resolved[usize::from(n)] = true),
            _ => {}
        }
    }

    fn released(next: &mut State, effects: &[Effect]) {
        for effect in effects {
            match effect {
                Effect::Publish(minted) => next.on_plane(|plane| plane.outbox.push(*minted)),
                Effect::TellOperator(message) => {
                    next.saw(|seen| seen.told[usize::from(number(*message))] = true);
                }
            }
        }
    }

    /// An answer leaves the plane.
    fn answered(&self, next: &mut State, asked: Asked, outcome: &OutcomeOf<Mailbox>) {
        if matches!(outcome, Outcome::Advanced(_) | Outcome::Absorbed) {
            witnessed(next, asked.say, outcome);
        }
        if let (Say::Sweep(_), Outcome::Advanced(Event::Swept(minted))) = (asked.say, outcome) {
            next.on_net(|net| net.hints.push(hint(minted)));
        }
        match asked.from {
            Some(Who::Station) => self.station_answered(next, asked.say, outcome),
            Some(who @ (Who::First | Who::Second)) => Self::daemon_answered(next, who, asked.say, outcome),
            Some(Who::Plane) | None => {}
        }
    }

    /// Something said by nobody whom the world waits for: it advances only where the scope has room for it.
    fn anybody(&self, state: &State, say: Say, edges: &mut Edges) {
        let asked = Asked { say, from: None };
        let Some(done) = self.judged(state, asked) else { return };
        let act = Act::Say(say);
        let news = done.outcome == Outcome::Absorbed
            && matches!(say, Say::Submit(n) if !state.seen.admitted[usize::from(n)]);
        if !done.outcome.is_advanced() && !news {
            return vain(edges, act, done.label.clone(), done.left_trace);
        }
        let late = state.net.late.contains(&say);
        let allowed = late
            || match say {
                Say::Submit(n) => self.bounds.messages[usize::from(n)],
                Say::Ack(_, By::Agent, 0) => self.bounds.agent,
                Say::Resolve(_) => self.bounds.resolves,
                Say::Claim(1) => state.spent.claims < self.bounds.claims,
                Say::Read(fence, _)
                | Say::Release(fence)
                | Say::Finish(fence, _, AGENTS_TURN, _)
                | Say::Respond(fence, _, AGENTS_TURN) => state.seen.agent == Some(Fence(fence)),
                _ => false,
            };
        if !allowed {
            return beyond(edges, act, done.label.clone());
        }
        let mut next = state.clone();
        if late {
            next.on_net(|net| net.arrived(say));
        }
        next.spent.claims += u8::from(say == Say::Claim(1));
        let label = self.happens(&mut next, asked, &done);
        to(edges, act, label, next);
    }

    /// Everything that can happen to the plane and be said to it.
    pub(super) fn plane_steps(&self, state: &State, edges: &mut Edges) {
        let plane = &state.plane;
        if plane.process.is_down() {
            if !state.seen.broken.contains(&Broken::Boot) {
                let mut next = state.clone();
                self.boot_plane(&mut next);
                to(edges, Act::Boot(Who::Plane), Label::OUTSIDE, next);
            }
        } else if state.spent.plane_crashes < self.bounds.plane_crashes {
            let mut next = state.clone();
            next.spent.plane_crashes += 1;
            self.plane_down(&mut next, |plane| plane.crash());
            next.on_plane(|plane| plane.outbox.clear());
            to(edges, Act::Crash(Who::Plane), Label::OUTSIDE, next);
        }
        if plane.process.is_staged() {
            self.plane_commits(state, edges);
        }
        self.plane_fires(state, edges);
        if self.bounds.withdraws && plane.process.live().is_some() && !plane.withdrawn {
            let mut next = state.clone();
            next.on_plane(|plane| plane.withdrawn = true);
            next.saw(|seen| seen.withdrawn = true);
            if !next.station.process.is_down() {
                next.on_station(|desk| desk.inbox.push(station::Input::Disarm));
            }
            to(edges, Act::Withdraw, Label::OUTSIDE, next);
        }
        if !plane.outbox.is_empty() {
            let mut next = state.clone();
            let minted = next.on_plane(|plane| plane.outbox.remove(0));
            let wake = names::wake_number(minted.fresh.wake);
            next.on_net(|net| {
                net.hints.push(hint(&minted));
                self.daemons().for_each(|who| net.air[place(who)].push(wake));
            });
            to(edges, Act::Publish, Label::OUTSIDE, next);
        }
        if self.tries {
            for say in self.sayable(state) {
                self.anybody(state, say, edges);
            }
        }
    }

    fn plane_fires(&self, state: &State, edges: &mut Edges) {
        let plane = &state.plane;
        if plane.process.live().is_none() {
            return;
        }
        let rows = &plane.process.disk().rows;
        let input = Input::Fire { fresh: super::say::fresh(unused(rows)) };
        // No call of its own: nobody hears an answer.
        let asked = Asked { say: Say::Start, from: None };
        let now = state.now(plane.born);
        let world = (self.name.wrapping_add(u64::from(plane.withdrawn)), &self.config);
        let facts = |query| asked.say.facts(rows, plane.withdrawn, query);
        let done = tried::tried(world, &plane.process, now, input, facts, asked);
        let Some(done) = done else { return };
        let act = Act::Fire(Who::Plane);
        if !done.outcome.is_advanced() {
            return vain(edges, act, done.label.clone(), done.left_trace);
        }
        let mut next = state.clone();
        let label = self.happens(&mut next, asked, &done);
        to(edges, act, label, next);
    }

    fn plane_commits(&self, state: &State, edges: &mut Edges) {
        let mut next = state.clone();
        let visible = next.on_plane(|plane| plane.process.commit(Fate::Durable));
        if let Some(visible) = visible {
            Self::released(&mut next, &visible.effects);
            for (asked, outcome) in visible.answers {
                self.answered(&mut next, asked, &outcome);
            }
            let effects = visible.effects.iter().map(Mailbox::effect).collect();
            to(edges, Act::Commit(Who::Plane), Label { effects, ..Label::OUTSIDE }, next);
        }
        if state.spent.failures < self.bounds.failures {
            for fate in FAILURES {
                let mut next = state.clone();
                next.spent.failures += 1;
                self.plane_down(&mut next, |plane| {
                    assert!(plane.commit(fate).is_none(), "a failed commit lets nothing out");
                });
                to(edges, Act::CommitFails(Who::Plane, fate), Label::OUTSIDE, next);
            }
        }
    }

    /// The machine is gone, and whoever waits for an answer hears none.
    fn plane_down(
        &self,
        next: &mut State,
        how: impl FnOnce(&mut crate::process::Process<Mailbox, Rows, Asked>),
    ) {
        let waiting: Vec<Asked> = next.plane.process.batch().to_vec();
        next.on_plane(|plane| {
            how(&mut plane.process);
            plane.born = 0;
        });
        for asked in waiting {
            if let Some(from) = asked.from {
                self.unheard(next, from, asked.say);
            }
        }
    }

    /// A caller gives up waiting.
    pub(super) fn unheard(&self, next: &mut State, from: Who, say: Say) {
        match from {
            Who::Station => self.station_unheard(next, say),
            Who::First | Who::Second => Self::daemon_unheard(next, from, say),
            Who::Plane => {}
        }
    }

    pub(super) fn boot_plane(&self, next: &mut State) {
        let born = next.clock;
        let now = next.now(born);
        let booted = change(&mut next.plane, |plane| {
            plane.born = born;
            plane.process.recover(&self.config, now)?;
            let asked = Asked { say: Say::Start, from: None };
            let input = Say::Start.input(&Rows::default(), 0);
            let facts = awakener_kernel::mailbox::input::Facts::None;
            plane.process.stage(&self.config, now, input, facts, |_| asked);
            if !self.parts(Who::Plane) {
                plane.process.commit(Fate::Durable);
            }
            Ok::<(), awakener_kernel::machine::Violation>(())
        });
        if booted.is_err() {
            next.saw(|seen| seen.flag(true, Broken::Boot));
        }
    }

    /// A call of a daemon or of the station, on each way that it can go. `gives_up` = it is not repeated by itself.
    pub(super) fn call(
        &self,
        state: &State,
        (from, say, gives_up): (Who, Say, bool),
        act: impl Fn(Way) -> Act,
        edges: &mut Edges,
    ) {
        let asked = Asked { say, from: Some(from) };
        if state.plane.process.batch().iter().any(|waiting| waiting.from == Some(from)) {
            return;
        }
        if state.plane.process.is_down() && gives_up {
            let mut next = state.clone();
            self.unheard(&mut next, from, say);
            to(edges, act(Way::Unreachable), Label::OUTSIDE, next);
        }
        if let Some(done) = self.judged(state, asked) {
            let mut next = state.clone();
            let label = self.happens(&mut next, asked, &done);
            if state.spent.doubled < self.bounds.doubled {
                let mut twice = next.clone();
                twice.spent.doubled += 1;
                twice.on_net(|net| net.stray(say));
                to(edges, act(Way::Doubled), label.clone(), twice);
            }
            to(edges, act(Way::Heard), label, next);
        }
        if state.spent.unheard < self.bounds.unheard {
            let mut next = state.clone();
            next.spent.unheard += 1;
            next.on_net(|net| net.stray(say));
            self.unheard(&mut next, from, say);
            to(edges, act(Way::Unheard), Label::OUTSIDE, next);
        }
    }
}

/// Chance that the disk does not hold; what is not on disk was never seen.
pub(super) fn unused(rows: &Rows) -> u8 {
    u8::try_from(rows.mints.len() + 1).expect("models are small")
}

/// A hint as it comes out of the verifier.
pub(super) fn hint(minted: &Minted) -> Hint {
    Hint {
        wake: minted.fresh.wake,
        message: minted.message,
        nonce: minted.fresh.nonce,
        token: minted.token,
        time: minted.time,
        expires: minted.expires,
        key: names::key(),
    }
}

/// The ghost hears an answer.
fn witnessed(next: &mut State, say: Say, outcome: &OutcomeOf<Mailbox>) {
    let advanced = outcome.is_advanced();
    if *outcome == Outcome::Advanced(Event::FlightExpired) {
        next.saw(Seen::flight_over);
    }
    match say {
        Say::Submit(n) => next.saw(|seen| seen.admitted[usize::from(n)] = true),
        Say::Respond(_, n, _) => next.saw(|seen| {
            let known = &mut seen.replied[usize::from(n)];
            let twice = advanced && std::mem::replace(known, true);
            seen.flag(twice, Broken::ReplyTwice);
            seen.replied[usize::from(n)] = true;
        }),
        Say::Ack(n, by, _) => next.saw(|seen| {
            let n = usize::from(n);
            seen.flag(advanced && seen.acked[n].is_some(), Broken::AckTwice);
            seen.flag(by == By::Station && !seen.replied[n], Broken::AckFirst);
            seen.acked[n] = seen.acked[n].or(Some(by));
        }),
        Say::Claim(holder) => {
            if let Outcome::Advanced(Event::Leased { fence }) = outcome {
                next.saw(|seen| {
                    seen.lease = seen.lease.max(*fence);
                    seen.agent = if holder == 1 { Some(*fence) } else { seen.agent };
                });
            }
        }
        Say::Ask(who, wake) => {
            if let Outcome::Advanced(Event::Permitted(permit)) = outcome {
                let about = next.net.hint(wake).map(|hint| number(hint.message));
                next.saw(|seen| {
                    seen.unread = about;
                    seen.flag(seen.withdrawn, Broken::Withdrawn);
                    seen.permits.push(Permit { who, fence: permit.fence, wake });
                });
            }
        }
        Say::Read(_, n) if advanced => next.saw(|seen| seen.read(n)),
        Say::Report(.., Flown::Ended(FlightEnd::NeverStarted)) if advanced => {
            next.saw(|seen| seen.unread = None);
        }
        Say::Report(.., Flown::Ended(_)) if advanced => next.saw(Seen::flight_over),
        Say::Start
        | Say::Intrude
        | Say::Resolve(_)
        | Say::Renew(_)
        | Say::Release(_)
        | Say::Read(..)
        | Say::Finish(..)
        | Say::Forge(..)
        | Say::Report(..)
        | Say::Sweep(_) => {}
    }
}
