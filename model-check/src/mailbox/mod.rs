//! One mailbox, its senders, holders and wake daemons, and an adversary that crashes, delays and distorts.
//!
//! Here: the state and its transitions. The laws are in [`laws`], the bounds in [`scope`], what the outside saw in
//! [`seen`]. An input that the machine refuses is no transition of this graph; that it leaves no trace is a law, tried
//! in every state. Rules: INB-1…8, ACK-1…7, EMT-1…3, DSP-2, DSP-7.

pub mod act;
mod calls;
mod hostile;
pub mod laws;
pub mod rows;
pub mod scope;
pub mod seen;

use std::collections::VecDeque;

use awakener_kernel::config::Config;
use awakener_kernel::ids::Fence;
use awakener_kernel::machine::Outcome;
use awakener_kernel::mailbox::Mailbox;
use awakener_kernel::mailbox::input::{Effect, Event, Minted};
use awakener_kernel::time::{Mono, Now, Wall};
use stateright::{Model, Property};

use crate::names;
use crate::process::{self, FAILURES, Fate, Visible};
use act::{Act, Call};
use rows::Rows;
use scope::{Fault, Scope};
use seen::{Asked, Broken, Seen};

/// The process of a message plane.
pub type Process = process::Process<Mailbox, Rows, Asked>;

/// A mailbox under the adversary of one scope.
#[derive(Clone, Debug)]
pub struct World {
    /// What it may do.
    pub scope: Scope,
    config: Config,
}

/// One state.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct State {
    plane: Process,
    clock: u8,
    /// When this boot's monotonic clock began.
    born: u8,
    outbox: VecDeque<Effect>,
    answers: VecDeque<Answer>,
    /// Hints that the daemons heard.
    hints: Vec<Minted>,
    /// The latest fence that each holder heard.
    holders: [Option<Fence>; 2],
    /// The latest permit that each daemon heard.
    permits: [Option<(Fence, Minted)>; 2],
    spent: Spent,
    seen: Seen,
}

/// An answer on its way to somebody who acts on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Answer {
    Lease(u8, Fence),
    Permit(u8, Fence, Minted),
    Hint(Minted),
}

/// What the adversary has used up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
struct Spent {
    submits: [u8; 2],
    claims: u8,
    renews: u8,
    asks: u8,
    sweeps: u8,
    crashes: u8,
    failures: u8,
    distortions: u8,
}

impl World {
    /// A world of this scope.
    pub fn new(scope: Scope) -> Self {
        Self { scope, config: scope.config() }
    }

    fn release(&self, state: &mut State, visible: Visible<Mailbox, Asked>) {
        for (asked, outcome) in visible.answers {
            state.seen.answered(asked, &outcome);
            let heard = match (asked.call, outcome) {
                (Call::Claim(h), Outcome::Advanced(_) | Outcome::Absorbed) => {
                    asked.lease.map(|lease| Answer::Lease(h, lease.fence))
                }
                (Call::Ask(d, hint), Outcome::Advanced(Event::Permitted(permit))) => {
                    Some(Answer::Permit(d, permit.fence, hint))
                }
                (Call::Sweep, Outcome::Advanced(Event::Swept(minted))) => Some(Answer::Hint(minted)),
                _ => None,
            };
            state.answers.extend(heard);
        }
        for effect in &visible.effects {
            if let Effect::Publish(minted) = effect {
                state.seen.allocated(*minted);
            }
        }
        state.outbox.extend(visible.effects);
        state.seen.read_cursor(state.plane.disk().image.cursor);
    }

    fn boot(&self, state: &mut State) {
        state.born = state.clock;
        let now = state.now();
        if state.plane.recover(&self.config, now).is_err() {
            state.seen.flag(true, Broken::Boot);
            return;
        }
        if self.scope.emits {
            let mut plane = state.plane.clone();
            self.stage(&mut plane, state, Call::Start);
            state.plane = plane;
        }
    }

    fn call(&self, state: &mut State, call: Call) {
        let (plane, outcome) = self.tried(state, call).expect("only what is up is called");
        state.plane = plane;
        state.seen.said(call, state.clock);
        if self.scope.fault == Some(Fault::AckAnsweredBeforeCommit) && matches!(call, Call::Ack(..)) {
            let asked = *state.plane.batch().last().expect("the call was staged");
            state.seen.answered(asked, &outcome);
        }
        let spent = &mut state.spent;
        match call {
            Call::Submit(n) => spent.submits[usize::from(n)] += 1,
            Call::Claim(_) => spent.claims += u8::from(outcome.is_advanced()),
            Call::Renew(_) => spent.renews += 1,
            Call::Ask(..) => spent.asks += 1,
            Call::Sweep => spent.sweeps += 1,
            _ => {}
        }
    }

    fn hear(state: &mut State, answer: Answer) {
        match answer {
            Answer::Lease(h, fence) => {
                let known = &mut state.holders[usize::from(h)];
                *known = (*known).max(Some(fence));
            }
            Answer::Permit(d, fence, hint) => {
                let known = &mut state.permits[usize::from(d)];
                if known.is_none_or(|(known, _)| known < fence) {
                    *known = Some((fence, hint));
                }
            }
            Answer::Hint(minted) => state.hint(minted),
        }
    }
}

impl State {
    fn now(&self) -> Now {
        let (wall, mono) = (u64::from(self.clock), u64::from(self.clock - self.born));
        Now { wall: Wall(wall), mono: Mono(mono) }
    }

    /// A number for chance that nobody has seen and the disk does not hold.
    fn unused(&self) -> u8 {
        let minted = self.plane.inside().rows.mints.keys().map(|wake| names::wake_number(*wake));
        let seen = self.seen.hints.iter().map(|hint| names::wake_number(hint.fresh.wake));
        minted.chain(seen).max().unwrap_or_default() + 1
    }

    fn hint(&mut self, minted: Minted) {
        if !self.hints.contains(&minted) {
            self.hints.push(minted);
        }
    }
}

impl Model for World {
    type State = State;
    type Action = Act;

    fn init_states(&self) -> Vec<State> {
        vec![State::default()]
    }

    fn actions(&self, state: &State, actions: &mut Vec<Act>) {
        let (scope, spent) = (&self.scope, &state.spent);
        let distorts = spent.distortions < scope.distortions;
        if state.plane.is_down() {
            if !state.seen.broken.contains(&Broken::Boot) {
                actions.push(Act::Boot);
            }
        } else {
            if state.plane.batch().len() < usize::from(scope.batch) {
                let calls = self.calls(state).into_iter().filter(|call| self.matters(state, *call));
                actions.extend(calls.map(Act::Call));
            }
            if spent.crashes < scope.crashes {
                actions.push(Act::Crash);
            }
        }
        if state.plane.is_staged() {
            actions.push(Act::Commit);
            if spent.failures < scope.failures {
                actions.extend(FAILURES.map(Act::CommitFails));
            }
        }
        if !state.outbox.is_empty() {
            actions.push(Act::Perform);
            if distorts && matches!(state.outbox.front(), Some(Effect::Publish(_))) {
                actions.push(Act::LoseHint);
            }
        }
        if !state.answers.is_empty() {
            actions.push(Act::Hear);
            if distorts {
                actions.extend([Act::HearTwice, Act::LoseAnswer]);
            }
        }
        if state.clock < scope.ticks {
            actions.push(Act::Tick);
        }
    }

    fn next_state(&self, last: &State, act: Act) -> Option<State> {
        let mut state = last.clone();
        match act {
            Act::Boot => self.boot(&mut state),
            Act::Commit => {
                let visible = state.plane.commit(Fate::Durable)?;
                self.release(&mut state, visible);
            }
            Act::CommitFails(fate) => {
                state.spent.failures += 1;
                assert!(state.plane.commit(fate).is_none(), "a failed commit lets nothing out");
                state.born = 0;
            }
            Act::Crash => {
                state.spent.crashes += 1;
                state.plane.crash();
                state.outbox.clear();
                state.born = 0;
            }
            Act::Tick => state.clock += 1,
            Act::Perform | Act::LoseHint => {
                if let Some(Effect::Publish(minted)) = state.outbox.pop_front() {
                    state.seen.hints.push(minted);
                    if act == Act::LoseHint {
                        state.spent.distortions += 1;
                    } else {
                        state.hint(minted);
                    }
                }
            }
            Act::Hear => {
                let answer = state.answers.pop_front()?;
                Self::hear(&mut state, answer);
            }
            Act::HearTwice => {
                state.spent.distortions += 1;
                let answer = *state.answers.front()?;
                Self::hear(&mut state, answer);
            }
            Act::LoseAnswer => {
                state.spent.distortions += 1;
                state.answers.pop_front();
            }
            Act::Call(call) => self.call(&mut state, call),
        }
        Some(state)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        crate::explore::properties()
    }
}

impl crate::explore::Searched for World {
    const NAME: &'static str = "mailbox";
    const LAWS: &'static [crate::explore::Law<Self>] = laws::LAWS;

    fn tiny() -> Vec<(&'static str, usize, Self)> {
        scope::TINY.iter().map(|scope| (scope.name, scope.states, Self::new(*scope))).collect()
    }
}
