//! What happens to a wake daemon, and what its ports do, in the order and with the waits of the shell.

use std::rc::Rc;

use awakener_kernel::ids::Token;
use awakener_kernel::machine::{Outcome, OutcomeOf};
use awakener_kernel::mailbox::Mailbox;
use awakener_kernel::mailbox::input::{Event, Refusal};
use awakener_kernel::time::Wall;
use awakener_kernel::values::{Answer, FlightReport, Hint};
use awakener_kernel::waker::{self, Effect, Input, Waker};

use super::act::{Act, Who};
use super::nodes::Daemon;
use super::say::{FORGED, Say};
use super::scope::TTL;
use super::seen::Broken;
use super::tried::{self, Done, Named as _};
use super::{Edges, State, World, beyond, change, place, to, vain};
use crate::names;
use crate::plane::hint;
use crate::process::{FAILURES, Fate};
use crate::world::Label;

type Judged = Rc<Done<Waker, (), ()>>;

/// Whether an input that does not advance is gone all the same.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Gone {
    Yes,
    No,
}

impl World {
    pub(super) fn waker(&self, state: &State, who: Who, input: Input) -> Option<Judged> {
        let daemon = state.daemon(who);
        daemon.process.live()?;
        let now = state.now(daemon.born);
        tried::tried((self.name, &self.config), &daemon.process, now, input, |()| (), ())
    }

    fn waker_happens(&self, next: &mut State, who: Who, done: &Judged) -> Label {
        match (&done.committed, self.parts(who)) {
            (Some(_), true) => {
                next.on_daemon(who, |daemon| daemon.process = done.staged.clone());
                done.label.clone()
            }
            (Some(committed), false) => {
                next.on_daemon(who, |daemon| daemon.process = committed.process.clone());
                Self::waker_shows(next, who, &done.outcome, &committed.effects);
                committed.label.clone()
            }
            (None, _) => done.label.clone(),
        }
    }

    fn waker_shows(next: &mut State, who: Who, outcome: &OutcomeOf<Waker>, effects: &[Effect]) {
        match outcome {
            Outcome::Advanced(waker::Event::Accepted { wake, .. }) => {
                let wake = names::wake_number(*wake);
                next.saw(|seen| {
                    let known = &mut seen.accepted[place(who)];
                    let twice = known.contains(&wake);
                    known.push(wake);
                    seen.flag(twice, Broken::AcceptedTwice);
                });
            }
            Outcome::Advanced(waker::Event::Withheld { wake, .. })
                if names::wake_number(*wake) == FORGED && !next.seen.spurned =>
            {
                next.saw(|seen| seen.spurned = true);
            }
            _ => {}
        }
        if effects.iter().any(|effect| matches!(effect, Effect::Dispatch { .. })) {
            let clock = next.clock;
            next.saw(|seen| seen.took_off[place(who)] = clock);
        }
        let wanted = effects.iter().filter(|effect| !matches!(effect, Effect::TellOperator(_)));
        next.on_daemon(who, |daemon| daemon.outbox.extend(wanted));
    }

    /// Gives an input to a daemon; `fix` is what happens beside it.
    fn feed(
        &self,
        state: &State,
        (who, act, input): (Who, Act, Input),
        (allowed, gone): (bool, Gone),
        fix: impl FnOnce(&mut State),
        edges: &mut Edges,
    ) {
        let Some(done) = self.waker(state, who, input) else { return };
        let advances = done.outcome.is_advanced();
        if done.left_trace || (!advances && gone == Gone::No) {
            return vain(edges, act, done.label.clone(), done.left_trace);
        }
        if !allowed {
            return beyond(edges, act, done.label.clone());
        }
        let mut next = state.clone();
        fix(&mut next);
        let label = self.waker_happens(&mut next, who, &done);
        to(edges, act, label, next);
    }

    /// Everything that can happen to a daemon, and what its ports can do.
    pub(super) fn daemon_steps(&self, state: &State, who: Who, edges: &mut Edges) {
        let daemon = state.daemon(who);
        if daemon.process.is_down() {
            if !state.seen.broken.contains(&Broken::Boot) {
                let mut next = state.clone();
                self.boot_daemon(&mut next, who);
                to(edges, Act::Boot(who), Label::OUTSIDE, next);
            }
            return;
        }
        if state.spent.daemon_crashes < self.bounds.daemon_crashes {
            let mut next = state.clone();
            next.spent.daemon_crashes += 1;
            next.on_daemon(who, |daemon| {
                let mut process = daemon.process.clone();
                process.crash();
                *daemon = Daemon { process, ..Daemon::default() };
            });
            to(edges, Act::Crash(who), Label::OUTSIDE, next);
        }
        if daemon.process.is_staged() {
            self.waker_commits(state, who, edges);
        }
        self.feed(state, (who, Act::Fire(who), Input::Fire), (true, Gone::No), |_| (), edges);
        self.hints_come(state, who, edges);
        self.hears(state, who, edges);
        self.runtime(state, who, edges);
        self.says(state, who, edges);
        if self.tries {
            self.daemon_strays(state, who, edges);
        }
    }

    fn waker_commits(&self, state: &State, who: Who, edges: &mut Edges) {
        let mut next = state.clone();
        let visible = next.on_daemon(who, |daemon| daemon.process.commit(Fate::Durable));
        if let Some(visible) = visible {
            for ((), outcome) in &visible.answers {
                Self::waker_shows(&mut next, who, outcome, &[]);
            }
            let booted = Outcome::Absorbed;
            Self::waker_shows(&mut next, who, &booted, &visible.effects);
            let effects = visible.effects.iter().map(Waker::effect).collect();
            to(edges, Act::Commit(who), Label { effects, ..Label::OUTSIDE }, next);
        }
        if state.spent.failures < self.bounds.failures {
            for fate in FAILURES {
                let mut next = state.clone();
                next.spent.failures += 1;
                // The queues go on: what was let out before is done.
                next.on_daemon(who, |daemon| {
                    assert!(daemon.process.commit(fate).is_none(), "a failed commit lets nothing out");
                });
                to(edges, Act::CommitFails(who, fate), Label::OUTSIDE, next);
            }
        }
    }

    pub(super) fn boot_daemon(&self, next: &mut State, who: Who) {
        let clock = next.clock;
        let now = next.now(clock);
        let booted = change(&mut next.daemons[place(who)], |daemon| {
            daemon.born = clock;
            daemon.process.recover(&self.config, now)?;
            let unattended = Input::Capability(waker::Capability::Unattended);
            daemon.process.stage(&self.config, now, unattended, (), |_| ());
            if !self.parts(who) {
                daemon.process.commit(Fate::Durable);
            }
            Ok::<(), awakener_kernel::machine::Violation>(())
        });
        if booted.is_err() {
            next.saw(|seen| seen.flag(true, Broken::Boot));
        }
    }

    fn hints_come(&self, state: &State, who: Who, edges: &mut Edges) {
        for known in &state.net.hints {
            let number = names::wake_number(known.wake);
            let first = state.net.air[place(who)].contains(&number);
            let allowed = first || state.spent.replays < self.bounds.replays;
            let fix = |next: &mut State| {
                if first {
                    next.on_net(|net| net.air[place(who)].retain(|waits| *waits != number));
                } else {
                    next.spent.replays += 1;
                }
            };
            self.feed(
                state,
                (who, Act::Come(who, number), Input::Hint(*known)),
                (allowed, Gone::No),
                fix,
                edges,
            );
            if first && state.spent.lost_hints < self.bounds.lost_hints {
                let mut next = state.clone();
                next.spent.lost_hints += 1;
                next.on_net(|net| net.air[place(who)].retain(|waits| *waits != number));
                to(edges, Act::LoseHint(who, number), Label::OUTSIDE, next);
            }
        }
        let forged = forged(state.clock);
        let allowed = state.spent.forged < self.bounds.forged;
        let act = Act::Come(who, FORGED);
        self.feed(
            state,
            (who, act, Input::Hint(forged)),
            (allowed, Gone::No),
            |next| next.spent.forged += 1,
            edges,
        );
    }

    fn hears(&self, state: &State, who: Who, edges: &mut Edges) {
        let Some(first) = state.daemon(who).inbox.first().copied() else { return };
        let pop = |next: &mut State| {
            next.on_daemon(who, |daemon| daemon.inbox.remove(0));
        };
        self.feed(state, (who, Act::Hear(who), first), (true, Gone::Yes), pop, edges);
        if state.spent.doubled < self.bounds.doubled {
            let twice = |next: &mut State| next.spent.doubled += 1;
            self.feed(state, (who, Act::HearTwice(who), first), (true, Gone::No), twice, edges);
        }
    }

    /// Questions, sweeps and reports. A question or a sweep waits for the reports before it.
    fn says(&self, state: &State, who: Who, edges: &mut Edges) {
        let outbox = &state.daemon(who).outbox;
        let first = |wanted: fn(&Effect) -> bool| outbox.iter().find(|effect| wanted(effect));
        if let Some(Effect::Report { fence, wake, report }) = first(|e| matches!(e, Effect::Report { .. })) {
            let say = Say::Report(who, fence.0, names::wake_number(*wake), (*report).into());
            return self.call(state, (who, say, false), |way| Act::Report(who, way), edges);
        }
        if let Some(Effect::Ask { question, .. }) = first(|e| matches!(e, Effect::Ask { .. })) {
            let say = Say::Ask(who, names::wake_number(question.wake));
            self.call(state, (who, say, true), |way| Act::Ask(who, way), edges);
        }
        if first(|e| matches!(e, Effect::Sweep { .. })).is_some() {
            self.call(state, (who, Say::Sweep(who), true), |way| Act::Sweep(who, way), edges);
        }
    }

    /// The plane has answered a call of this daemon.
    pub(super) fn daemon_answered(next: &mut State, who: Who, say: Say, outcome: &OutcomeOf<Mailbox>) {
        next.on_daemon(who, |daemon| {
            let Some(effect) = daemon.said(say) else { return };
            match (effect, outcome) {
                (Effect::Ask { ticket, .. }, Outcome::Advanced(Event::Permitted(permit))) => {
                    daemon.inbox.push(Input::Answer { ticket, answer: Answer::Granted(*permit) });
                }
                (Effect::Ask { ticket, .. }, Outcome::Refused(Refusal::Withheld(class))) => {
                    daemon.inbox.push(Input::Answer { ticket, answer: Answer::Withheld(*class) });
                }
                (Effect::Ask { ticket, .. }, _) => daemon.inbox.push(Input::AskFailed { ticket }),
                (Effect::Sweep { ticket }, Outcome::Advanced(Event::Swept(minted))) => {
                    daemon.inbox.extend([Input::Hint(hint(minted)), Input::Swept { ticket, any: true }]);
                }
                (Effect::Sweep { ticket }, _) => daemon.inbox.push(Input::Swept { ticket, any: false }),
                (Effect::Report { fence, .. }, Outcome::Refused(_)) => daemon.refused = Some(fence),
                (_, _) => {}
            }
        });
    }

    /// Nobody has answered it.
    pub(super) fn daemon_unheard(next: &mut State, who: Who, say: Say) {
        if matches!(say, Say::Report(..)) {
            // It is said until it is heard.
            return;
        }
        next.on_daemon(who, |daemon| {
            if let Some(Effect::Ask { ticket, .. } | Effect::Sweep { ticket }) = daemon.said(say) {
                daemon.inbox.push(Input::AskFailed { ticket });
            }
        });
    }
}

impl Daemon {
    /// The effect that was this call, taken out of its queue.
    fn said(&mut self, say: Say) -> Option<Effect> {
        let at = self.outbox.iter().position(|effect| match (say, effect) {
            (Say::Ask(_, wake), Effect::Ask { question, .. }) => names::wake_number(question.wake) == wake,
            (Say::Sweep(_), Effect::Sweep { .. }) => true,
            (Say::Report(_, fence, _, flown), Effect::Report { fence: known, report, .. }) => {
                known.0 == fence && FlightReport::from(flown) == *report
            }
            (_, _) => false,
        })?;
        Some(self.outbox.remove(at))
    }

    /// The first effect that is wanted, taken out of its queue.
    pub(super) fn take(&mut self, wanted: &impl Fn(&&Effect) -> bool) -> Option<Effect> {
        let at = self.outbox.iter().position(|effect| wanted(&effect))?;
        Some(self.outbox.remove(at))
    }
}

/// A hint with a good signature that no plane has minted.
fn forged(clock: u8) -> Hint {
    Hint {
        wake: names::wake(FORGED),
        message: names::message(0),
        nonce: names::nonce(FORGED),
        token: Token::new(1, 999).expect("models are small"),
        time: Wall(u64::from(clock)),
        expires: Wall(u64::from(clock + TTL)),
        key: names::key(),
    }
}
