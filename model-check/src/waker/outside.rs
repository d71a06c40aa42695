//! The plane and the runtime, as far as the adversary lets them: what can be done with the first effect, and what
//! comes back.

use awakener_kernel::ids::Fence;
use awakener_kernel::time::Millis;
use awakener_kernel::values::{Answer, DispatchOutcome, Permit, Question};
use awakener_kernel::waker::{Effect, Fate, Input};
use awakener_spec::Class;

use super::seen::{Broken, Dispatch};
use super::{Act, State, World};

/// What the plane says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Word {
    /// Go.
    Granted,
    /// Do not.
    Withheld(Class),
    /// It cannot be reached.
    Failed,
}

/// What a sweep brings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Look {
    /// Nothing is outstanding.
    Nothing,
    /// A fresh hint.
    Hint,
    /// It could not be asked.
    Failed,
}

impl World {
    pub(super) fn plane(state: &mut State, word: Word) {
        let Some(Effect::Ask { ticket, question }) = state.outbox.pop_front() else { return };
        let completion = match word {
            Word::Granted => Input::Answer { ticket, answer: Answer::Granted(state.grant(question)) },
            Word::Withheld(class) => Input::Answer { ticket, answer: Answer::Withheld(class) },
            Word::Failed => Input::AskFailed { ticket },
        };
        state.inbox.push_back(completion);
    }

    pub(super) fn adapter(state: &mut State, outcome: Option<DispatchOutcome>) {
        let Some(Effect::Dispatch { ticket, attempt, wake, fence, until, .. }) = state.outbox.pop_front()
        else {
            return;
        };
        if state.now().mono >= until {
            // Not a byte leaves under a permit that has run out.
            state.inbox.push_back(Input::Dispatched { ticket, outcome: DispatchOutcome::NotAttempted });
            return;
        }
        let on_disk = &state.daemon.disk().image;
        if on_disk.attempts < attempt {
            state.seen.broken.insert(Broken::Attempt);
        }
        state.seen.dispatched.push(Dispatch { wake, attempt, fence });
        if outcome.is_none_or(|outcome| !outcome.certainly_nothing()) {
            let decided = state.seen.decided.iter().find(|(known, _)| *known == attempt);
            state.running.push(*decided.expect("what was released was seen"));
        }
        state.inbox.extend(outcome.map(|outcome| Input::Dispatched { ticket, outcome }));
    }

    pub(super) fn sweep(state: &mut State, look: Look) {
        let Some(Effect::Sweep { ticket }) = state.outbox.pop_front() else { return };
        match look {
            Look::Nothing => state.inbox.push_back(Input::Swept { ticket, any: false }),
            Look::Failed => state.inbox.push_back(Input::AskFailed { ticket }),
            Look::Hint => {
                state.spent.found += 1;
                state.hints.push(state.clock);
                let hint = state.hint(u8::try_from(state.hints.len()).expect("models are small"));
                state.inbox.extend([Input::Hint(hint), Input::Swept { ticket, any: true }]);
            }
        }
    }

    /// What can be done with the first effect.
    pub(super) fn performances(&self, state: &State, actions: &mut Vec<Act>) {
        let scope = &self.scope;
        let distorts = state.spent.distortions < scope.distortions;
        match state.outbox.front() {
            None => {}
            Some(Effect::Ask { .. }) => {
                actions.push(Act::Plane(Word::Granted));
                if scope.withholds {
                    let classes = [Class::NotOutstanding, Class::PermitHeld];
                    actions.extend(classes.map(|class| Act::Plane(Word::Withheld(class))));
                    actions.push(Act::Plane(Word::Failed));
                }
            }
            Some(Effect::Dispatch { .. }) => {
                actions.extend(scope.outcomes.iter().map(|outcome| Act::Adapter(Some(*outcome))));
                if distorts {
                    actions.push(Act::Adapter(None));
                }
            }
            Some(Effect::Probe { attempt, .. }) => {
                let runs = state.running.iter().any(|(running, _)| running == attempt);
                actions.push(Act::Probe(if runs { Fate::Alive } else { Fate::Gone }));
                if scope.withholds {
                    actions.push(Act::Probe(Fate::CannotTell));
                }
            }
            Some(Effect::Sweep { .. }) => {
                actions.push(Act::Sweep(Look::Nothing));
                if state.spent.found < scope.found {
                    actions.push(Act::Sweep(Look::Hint));
                }
                if scope.withholds {
                    actions.push(Act::Sweep(Look::Failed));
                }
            }
            Some(Effect::Report { .. } | Effect::TellOperator(_)) => {}
        }
    }
}

impl State {
    fn grant(&mut self, question: Question) -> Permit {
        let fence = self.seen.granted.last().map_or(Fence(1), |(fence, _)| fence.next());
        self.seen.granted.push((fence, question.wake));
        Permit { fence, life: Millis(2) }
    }
}
