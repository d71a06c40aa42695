//! One waker, its plane and its runtime, and an adversary that replays, reorders, loses, delays and crashes.
//!
//! Here: the state and its transitions. The laws are in [`laws`], the bounds in [`scope`], what the outside saw in
//! [`seen`]. The plane and the runtime are the adversary's: they answer what they like, as long as a permit has a
//! fence of its own and a flight is `gone` only if it can never start any more. Rules: VER-1…5, DSP-1…5, DSP-7,
//! DSP-11, DSP-12.

pub mod laws;
pub mod outside;
pub mod scope;
pub mod seen;

use std::collections::VecDeque;

use awakener_kernel::config::Config;
use awakener_kernel::ids::Token;
use awakener_kernel::machine::{Outcome, OutcomeOf};
use awakener_kernel::time::{Mono, Now, Wall};
use awakener_kernel::values::{DispatchOutcome, FlightEnd, Hint};
use awakener_kernel::waker::{Capability, Effect, Event, Hold, Image, Input, Next, Waker, Window};
use stateright::{Model, Property};

use crate::names;
use crate::process::{self, FAILURES, Fate, Visible};
use outside::{Look, Word};
use scope::{Fault, Scope, TTL};
use seen::{Asked, Broken, Seen};

/// The process of a wake daemon.
pub type Process = process::Process<Waker, (), Asked>;

/// A waker under the adversary of one scope.
#[derive(Clone, Debug)]
pub struct World {
    /// What it may do.
    pub scope: Scope,
    config: Config,
}

/// One state.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct State {
    daemon: Process,
    clock: u8,
    /// When this boot's monotonic clock began.
    born: u8,
    outbox: VecDeque<Effect>,
    /// Completions on their way back.
    inbox: VecDeque<Input>,
    /// When each hint was minted; its number is its place, from one.
    hints: Vec<u8>,
    /// Flights that really run: attempt, and when it was decided to start.
    running: Vec<(u64, u8)>,
    spent: Spent,
    seen: Seen,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
struct Spent {
    presents: u8,
    found: u8,
    crashes: u8,
    failures: u8,
    distortions: u8,
}

/// One action.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Act {
    /// The process wakes and reads its manifest, in one transaction.
    Boot,
    /// The open transaction commits.
    Commit,
    /// It does not, or nobody knows.
    CommitFails(Fate),
    /// Everything that is not on disk is gone.
    Crash,
    /// A millisecond passes.
    Tick,
    /// A deadline is due.
    Fire,
    /// A hint comes: the first time, again, or out of order.
    Present(u8),
    /// The first completion comes.
    Complete,
    /// It comes, and will come again.
    CompleteTwice,
    /// It is lost.
    Lose,
    /// The first effect is a question: the plane's answer.
    Plane(Word),
    /// The first effect is a dispatch: the adapter's answer; `None` = it starts something and says nothing.
    Adapter(Option<DispatchOutcome>),
    /// The first effect is a probe.
    Probe(awakener_kernel::waker::Fate),
    /// The first effect is a sweep: what it finds.
    Sweep(Look),
    /// A flight ends.
    End(u64),
}

impl World {
    /// A world of this scope.
    pub fn new(scope: Scope) -> Self {
        Self { scope, config: scope.config() }
    }

    fn judged(&self, state: &State, input: Input) -> Option<OutcomeOf<Waker>> {
        state.daemon.judge(&self.config, state.now(), input, ())
    }

    fn stage(&self, state: &mut State, input: Input) {
        let (now, at) = (state.now(), state.clock);
        state.daemon.stage(&self.config, now, input, (), |_| Asked { input, at });
    }

    /// Gives an input, or drops it where the machine would not move: that this leaves no trace is a law.
    fn give(&self, state: &mut State, input: Input) {
        if self.judged(state, input).is_some_and(|outcome| outcome.is_advanced()) {
            self.stage(state, input);
        }
    }

    fn boot(&self, state: &mut State) {
        let mut image = state.daemon.disk().image.clone();
        if self.scope.fault == Some(Fault::HighWaterInMemory) {
            // Nothing else can be pending than what was accepted, so that it goes as well.
            image = Image { window: Window::default(), high_water: None, pending: None, ..image };
        }
        self.wake(state, image);
    }

    fn wake(&self, state: &mut State, image: Image) {
        state.born = state.clock;
        state.seen.swept = false;
        let now = state.now();
        if state.daemon.recover_from(&self.config, now, image).is_err() {
            state.seen.broken.insert(Broken::Boot);
            return;
        }
        self.stage(state, Input::Capability(Capability::Unattended));
    }

    fn release(&self, state: &mut State, visible: Visible<Waker, Asked>) {
        let mut forgets = false;
        for (asked, outcome) in visible.answers {
            state.seen.answered(asked, &outcome);
            forgets |= matches!(
                outcome,
                Outcome::Advanced(Event::Accepted { next: Next::Wait(Hold::Cooldown), .. })
            );
        }
        for effect in visible.effects {
            match effect {
                Effect::Report { .. } | Effect::TellOperator(_) => {}
                Effect::Sweep { .. } => {
                    state.seen.swept = true;
                    state.outbox.push_back(effect);
                }
                Effect::Ask { .. } | Effect::Dispatch { .. } | Effect::Probe { .. } => {
                    state.outbox.push_back(effect);
                }
            }
        }
        if forgets && self.scope.fault == Some(Fault::CooldownDrops) {
            // The seal has no way in, so that what is forgotten is forgotten by a machine that woke without it.
            state.daemon.crash();
            let image = Image { pending: None, ..state.daemon.disk().image.clone() };
            self.wake(state, image);
            state.daemon.commit(Fate::Durable);
        }
    }
}

impl State {
    fn now(&self) -> Now {
        let (wall, mono) = (u64::from(self.clock), u64::from(self.clock - self.born));
        Now { wall: Wall(wall), mono: Mono(mono) }
    }

    /// Hint number `n`, from one.
    fn hint(&self, n: u8) -> Hint {
        let minted = self.hints[usize::from(n) - 1];
        Hint {
            wake: names::wake(n),
            message: names::message(0),
            nonce: names::nonce(n),
            token: Token::new(1, u32::from(n)).expect("models are small"),
            time: Wall(u64::from(minted)),
            expires: Wall(u64::from(minted + TTL)),
            key: names::key(),
        }
    }

    fn numbers(&self) -> impl Iterator<Item = u8> + use<> {
        1..=u8::try_from(self.hints.len()).expect("models are small")
    }
}

impl Model for World {
    type State = State;
    type Action = Act;

    fn init_states(&self) -> Vec<State> {
        vec![State { hints: vec![0; usize::from(self.scope.hints)], ..State::default() }]
    }

    fn actions(&self, state: &State, actions: &mut Vec<Act>) {
        let (scope, spent) = (&self.scope, &state.spent);
        let distorts = spent.distortions < scope.distortions;
        let room = !state.daemon.is_down() && state.daemon.batch().len() < usize::from(scope.batch);
        if state.daemon.is_down() {
            if !state.seen.broken.contains(&Broken::Boot) {
                actions.push(Act::Boot);
            }
        } else if spent.crashes < scope.crashes {
            actions.push(Act::Crash);
        }
        if state.daemon.is_staged() {
            actions.push(Act::Commit);
            if spent.failures < scope.failures {
                actions.extend(FAILURES.map(Act::CommitFails));
            }
        }
        if state.daemon.is_due(&self.config, state.now()) {
            actions.push(Act::Fire);
        }
        if room && spent.presents < scope.presents {
            let moves = |n: &u8| {
                let outcome = self.judged(state, Input::Hint(state.hint(*n)));
                outcome.is_some_and(|outcome| outcome.is_advanced())
            };
            actions.extend(state.numbers().filter(moves).map(Act::Present));
        }
        if !state.inbox.is_empty() {
            if room {
                actions.push(Act::Complete);
            }
            if distorts {
                if room {
                    actions.push(Act::CompleteTwice);
                }
                actions.push(Act::Lose);
            }
        }
        self.performances(state, actions);
        actions.extend(state.running.iter().map(|(attempt, _)| Act::End(*attempt)));
        if state.clock < scope.ticks {
            actions.push(Act::Tick);
        }
    }

    fn next_state(&self, last: &State, act: Act) -> Option<State> {
        let mut state = last.clone();
        match act {
            Act::Boot => self.boot(&mut state),
            Act::Commit => {
                let visible = state.daemon.commit(Fate::Durable)?;
                self.release(&mut state, visible);
            }
            Act::CommitFails(fate) => {
                state.spent.failures += 1;
                assert!(state.daemon.commit(fate).is_none(), "a failed commit lets nothing out");
                if fate == (Fate::Unknown { written: true }) {
                    // The adversary knows what nobody was told: a start may be on disk.
                    state.seen.owed = false;
                }
                state.born = 0;
            }
            Act::Crash => {
                state.spent.crashes += 1;
                state.daemon.crash();
                state.outbox.clear();
                state.born = 0;
            }
            Act::Tick => state.clock += 1,
            Act::Fire => self.stage(&mut state, Input::Fire),
            Act::Present(n) => {
                state.spent.presents += 1;
                let hint = Input::Hint(state.hint(n));
                self.stage(&mut state, hint);
            }
            Act::Complete => {
                let input = state.inbox.pop_front()?;
                self.give(&mut state, input);
            }
            Act::CompleteTwice => {
                state.spent.distortions += 1;
                let input = *state.inbox.front()?;
                self.give(&mut state, input);
            }
            Act::Lose => {
                state.spent.distortions += 1;
                state.inbox.pop_front();
            }
            Act::Plane(word) => Self::plane(&mut state, word),
            Act::Adapter(outcome) => {
                state.spent.distortions += u8::from(outcome.is_none());
                Self::adapter(&mut state, outcome);
            }
            Act::Probe(fate) => {
                let Some(Effect::Probe { ticket, .. }) = state.outbox.pop_front() else { return None };
                state.inbox.push_back(Input::Probed { ticket, fate });
            }
            Act::Sweep(look) => Self::sweep(&mut state, look),
            Act::End(attempt) => {
                state.running.retain(|(running, _)| *running != attempt);
                state.inbox.push_back(Input::FlightEnded { attempt, end: FlightEnd::ProcessEnded });
            }
        }
        Some(state)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        crate::explore::properties()
    }
}

impl crate::explore::Searched for World {
    const NAME: &'static str = "waker";
    const LAWS: &'static [crate::explore::Law<Self>] = laws::LAWS;

    fn tiny() -> Vec<(&'static str, usize, Self)> {
        scope::TINY.iter().map(|scope| (scope.name, scope.states, Self::new(*scope))).collect()
    }
}
