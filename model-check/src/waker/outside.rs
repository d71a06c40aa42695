//! The plane, the adapter and the runtime, as far as the adversary lets them: what can be done with an effect, and what
//! comes back.
//!
//! The plane never permits what it did not mint, and its permits run out by its own clock. The adapter asks before it
//! starts anything whether the permit is still the last one and has not run out, as the driver does. Rules: DSP-4,
//! DSP-7, DSP-12.

use awakener_kernel::ids::Fence;
use awakener_kernel::time::Millis;
use awakener_kernel::values::{Answer, DispatchOutcome, FlightEnd, Permit, Question};
use awakener_kernel::waker::{Effect, Fate, Input};
use awakener_spec::Class;

use super::act::{Act, Look, Told, Word};
use super::door::{Minted, token};
use super::limits::{PERMIT, TTL};
use super::seen::{Broken, Given, Span};
use super::steps::Steps;
use super::{Coming, EPOCH, Running, State};
use crate::names;

/// The ports of a daemon: each performs its effects in order.
const PORTS: [fn(&Effect) -> bool; 3] = [
    |effect| matches!(effect, Effect::Ask { .. }),
    |effect| matches!(effect, Effect::Sweep { .. }),
    |effect| matches!(effect, Effect::Dispatch { .. } | Effect::Probe { .. }),
];

impl Steps<'_> {
    /// Everything that happens between the daemon and the rest of the world.
    pub(super) fn outside(&mut self) {
        let outbox = &self.state.outbox;
        if self.world.budget.unordered {
            for port in PORTS {
                if let Some(place) = outbox.iter().position(port) {
                    self.perform(place);
                }
            }
        } else if !outbox.is_empty() {
            self.perform(0);
        }
        self.runtime();
    }

    /// One effect is performed; `how` gets what comes back.
    fn performs(&mut self, act: Act, place: usize, how: impl FnOnce(&mut State)) {
        let unordered = self.world.budget.unordered;
        self.happens(act, |next| {
            next.outbox.remove(place);
            how(next);
            if unordered {
                next.inbox.sort_unstable();
            }
        });
    }

    fn perform(&mut self, place: usize) {
        match self.state.outbox[place] {
            Effect::Ask { ticket, question } => self.plane(place, ticket, question),
            Effect::Dispatch { ticket, attempt, wake, fence, until, .. } => {
                let wake = names::wake_number(wake);
                let over = self.state.now().mono >= until || !self.state.is_last(fence);
                self.adapter(place, over, Start { ticket, attempt, wake });
            }
            Effect::Probe { ticket, attempt, .. } => {
                let runs = self.state.running.iter().any(|running| running.attempt == attempt);
                let truth = if runs { Fate::Alive } else { Fate::Gone };
                let unable = self.world.budget.cannot_tell.then_some(Fate::CannotTell);
                for fate in [truth].into_iter().chain(unable) {
                    self.performs(Act::Probe(fate), place, |next| next.comes(Input::Probed { ticket, fate }));
                }
            }
            Effect::Sweep { ticket } => self.sweep(place, ticket),
            Effect::Report { .. } | Effect::TellOperator(_) => {}
        }
    }

    fn plane(&mut self, place: usize, ticket: awakener_kernel::waker::Ticket, question: Question) {
        let withheld =
            |class| (Word::Withheld(class), Input::Answer { ticket, answer: Answer::Withheld(class) });
        if self.state.has_minted(question) {
            self.performs(Act::Plane(Word::Granted), place, |next| {
                let answer = Answer::Granted(next.grant(question));
                next.comes(Input::Answer { ticket, answer });
            });
            for (word, input) in self.world.budget.withheld.iter().map(|class| withheld(*class)) {
                self.performs(Act::Plane(word), place, |next| next.comes(input));
            }
        } else {
            let (word, input) = withheld(Class::Unminted);
            self.performs(Act::Plane(word), place, |next| next.comes(input));
        }
        if self.state.spent.outages < self.world.budget.outages {
            self.performs(Act::Plane(Word::Failed), place, |next| {
                next.spent.outages += 1;
                next.comes(Input::AskFailed { ticket });
            });
        }
    }

    fn sweep(&mut self, place: usize, ticket: awakener_kernel::waker::Ticket) {
        let (budget, spent) = (&self.world.budget, &self.state.spent);
        let (finds, fails) = (spent.found < budget.found, spent.outages < budget.outages);
        self.performs(Act::Sweep(Look::Nothing), place, |next| {
            next.comes(Input::Swept { ticket, any: false })
        });
        if finds {
            self.performs(Act::Sweep(Look::Hint), place, |next| {
                next.spent.found += 1;
                next.hints.push(Minted { at: EPOCH + next.ticks, life: TTL });
                let number = u8::try_from(next.hints.len()).expect("models are small");
                next.inbox.push(Coming::Hint(number));
                next.comes(Input::Swept { ticket, any: true });
            });
        }
        if fails {
            self.performs(Act::Sweep(Look::Failed), place, |next| {
                next.spent.outages += 1;
                next.comes(Input::AskFailed { ticket });
            });
        }
    }

    fn adapter(&mut self, place: usize, over: bool, start: Start) {
        let budget = self.world.budget;
        let Start { ticket, .. } = start;
        let says = |outcome| Input::Dispatched { ticket, outcome };
        if over {
            let outcome = DispatchOutcome::NotAttempted;
            self.performs(Act::Adapter(Told::Says(outcome)), place, |next| next.comes(says(outcome)));
            return;
        }
        for outcome in budget.outcomes {
            self.performs(Act::Adapter(Told::Says(*outcome)), place, |next| {
                next.dispatches(&start, !outcome.certainly_nothing());
                next.comes(says(*outcome));
            });
        }
        if budget.never {
            self.performs(Act::Adapter(Told::NeverStarted), place, |next| {
                next.dispatches(&start, false);
                next.comes(says(DispatchOutcome::OutcomeUnknown));
                next.comes(Input::FlightEnded { attempt: start.attempt, end: FlightEnd::NeverStarted });
            });
        }
        if self.state.spent.distortions < budget.distortions {
            self.performs(Act::Adapter(Told::Silent), place, |next| {
                next.spent.distortions += 1;
                next.dispatches(&start, true);
            });
        }
    }

    /// What runs reads its inbox, and ends.
    fn runtime(&mut self) {
        let budget = self.world.budget;
        let running = self.state.running.iter().map(|running| running.attempt);
        for attempt in running.collect::<Vec<_>>() {
            for end in budget.ends {
                self.happens(Act::End(attempt, *end), |next| {
                    next.running.retain(|running| running.attempt != attempt);
                    next.returns(budget.unordered, Input::FlightEnded { attempt, end: *end });
                });
            }
            if self.state.spent.reads < budget.reads {
                self.happens(Act::Read(attempt), |next| {
                    next.spent.reads += 1;
                    next.returns(budget.unordered, Input::InboxRead { attempt });
                });
            }
        }
    }
}

/// What an adapter needs to know of a dispatch.
#[derive(Clone, Copy, Debug)]
struct Start {
    ticket: awakener_kernel::waker::Ticket,
    attempt: u64,
    wake: u8,
}

impl State {
    fn comes(&mut self, input: Input) {
        self.inbox.push(Coming::Input(input));
    }

    fn returns(&mut self, unordered: bool, input: Input) {
        self.comes(input);
        if unordered {
            self.inbox.sort_unstable();
        }
    }

    /// Whether the plane has minted what it is asked about.
    pub(super) fn has_minted(&self, question: Question) -> bool {
        self.minted().any(|n| names::wake(n) == question.wake && token(n) == question.token)
    }

    fn is_last(&self, fence: Fence) -> bool {
        self.seen.permit.is_some_and(|given| given.fence == fence)
    }

    fn grant(&mut self, question: Question) -> Permit {
        let fence = self.seen.permit.map_or(Fence(1), |given| given.fence.next());
        let (wake, until) = (names::wake_number(question.wake), self.ticks + PERMIT);
        self.seen.permit = Some(Given { fence, wake, until, used: false });
        Permit { fence, life: Millis(u64::from(PERMIT)) }
    }

    /// A dispatch is performed.
    fn dispatches(&mut self, start: &Start, runs: bool) {
        let Start { attempt, wake, .. } = *start;
        let given = self.seen.permit.filter(|given| self.ticks < given.until);
        self.seen.note(given.is_none(), Broken::Spent);
        self.seen.note(!self.minted().any(|n| n == wake), Broken::Unminted);
        self.seen.note(self.daemon.disk().image.attempts < attempt, Broken::Attempt);
        self.seen.flown.push((wake, attempt));
        if runs {
            let known = self.seen.start.filter(|start| start.attempt == attempt);
            let span = known.map_or(Span::from(self.ticks), |start| start.span);
            self.running.push(Running { attempt, span });
        }
    }
}
