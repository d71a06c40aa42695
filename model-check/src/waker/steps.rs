//! Everything that can be tried in a state of a waker world, and what comes of it.
//!
//! Each input is given to a copy of the process, also in vain; what does not move the machine is a self-loop. Not here:
//! what plane, adapter and runtime can do ([`super::outside`]).

use awakener_kernel::ids::Fence;
use awakener_kernel::machine::{Outcome, OutcomeOf};
use awakener_kernel::time::Millis;
use awakener_kernel::values::{Answer, DispatchOutcome, FlightEnd, Permit};
use awakener_kernel::waker::{Effect, Fate as Finding, Input, Ticket, Waker};
use serde::Serialize;
use serde_variant::to_variant_name;

use super::act::{Act, Shown};
use super::seen::{Asked, Broken};
use super::{Coming, Spent, State, World};
use crate::process::{FAILURES, Tried};
use crate::world::{self, Label, Next, Verdict};

type Edge = world::Edge<World>;

pub(super) fn all(world: &World, state: &State, edges: &mut Vec<Edge>) {
    if [Broken::Restless, Broken::Impatient].iter().any(|broken| state.seen.broken.contains(broken)) {
        // The law has fallen, and the world would have no end: the daemon asks again and again.
        return;
    }
    let mut steps = Steps { world, state, edges };
    steps.process();
    steps.clocks();
    let room = !state.daemon.is_down() && state.daemon.batch().len() < usize::from(world.budget.batch);
    if room {
        steps.hints();
        steps.inputs();
        steps.invented();
    }
    steps.queue(room);
    steps.outside();
}

/// What can be tried in one state.
pub(super) struct Steps<'a> {
    pub(super) world: &'a World,
    pub(super) state: &'a State,
    edges: &'a mut Vec<Edge>,
}

/// The variant's name, as it is serialised.
pub(super) fn name(value: &impl Serialize) -> &'static str {
    to_variant_name(value).expect("it is an enum")
}

fn label(outcome: &OutcomeOf<Waker>) -> Label {
    match outcome {
        Outcome::Advanced(event) => Label::of(Verdict::Advanced, name(event)),
        Outcome::Absorbed => Label::of(Verdict::Absorbed, ""),
        Outcome::Refused(class) => Label::of(Verdict::Refused, class.name()),
    }
}

impl Steps<'_> {
    /// Something happens outside of the machine.
    pub(super) fn happens(&mut self, action: Act, how: impl FnOnce(&mut State)) {
        self.becomes(action, Label::OUTSIDE, how);
    }

    fn becomes(&mut self, action: Act, label: Label, how: impl FnOnce(&mut State)) {
        let mut next = self.state.clone();
        how(&mut next);
        self.edges.push(Edge { action, label, next: Next::To(next) });
    }

    fn tried(&self, input: Input) -> Tried<Waker, (), Asked> {
        let State { ticks: at, wall, daemon, .. } = self.state;
        let asked = Asked { input, at: *at, wall: *wall };
        daemon.tried(&self.world.config, self.state.now(), input, (), |_| asked)
    }

    /// The machine is given an input; `spend` counts it if it moves the machine, and says whether that is allowed.
    fn gives(&mut self, action: Act, input: Input, spend: impl FnOnce(&mut Spent) -> bool) {
        let Tried { after, outcome, stutters } = self.tried(input);
        let mut spent = self.state.spent;
        let next = match (outcome.is_advanced(), stutters) {
            (true, _) if spend(&mut spent) => Next::To(State { daemon: after, spent, ..self.state.clone() }),
            (true, _) => Next::Beyond,
            (false, true) => Next::Stays,
            (false, false) => Next::LeftTrace,
        };
        self.edges.push(Edge { action, label: label(&outcome), next });
    }

    /// Boots, commits and crashes.
    fn process(&mut self) {
        let (budget, state) = (&self.world.budget, self.state);
        if state.daemon.is_down() {
            if !state.seen.broken.contains(&Broken::Boot) {
                let booted = Label::of(Verdict::Advanced, "booted");
                self.becomes(Act::Boot, booted, |next| self.world.boot(next));
            }
        } else if state.spent.crashes < budget.crashes {
            self.happens(Act::Crash, |next| {
                next.spent.crashes += 1;
                next.daemon.crash();
                next.outbox.clear();
                (next.mono, next.dead) = (0, true);
            });
        }
        if state.daemon.is_staged() {
            let mut next = state.clone();
            let effects = self.world.commit(&mut next);
            let label = Label { effects, ..Label::OUTSIDE };
            self.edges.push(Edge { action: Act::Commit, label, next: Next::To(next) });
            if state.spent.failures < budget.failures {
                for fate in FAILURES {
                    self.happens(Act::CommitFails(fate), |next| self.world.commit_fails(next, fate));
                }
            }
        }
    }

    fn clocks(&mut self) {
        let (budget, spent) = (&self.world.budget, &self.state.spent);
        if self.state.ticks < budget.ticks {
            self.happens(Act::Tick, |next| {
                next.ticks += 1;
                next.wall += 1;
                next.mono += u8::from(!next.dead);
            });
        }
        if spent.backs < budget.backs {
            for by in budget.back_by {
                self.happens(Act::ClockBack(*by), |next| {
                    next.spent.backs += 1;
                    next.wall -= by;
                });
            }
        }
        if spent.aheads < budget.aheads {
            for by in budget.back_by {
                self.happens(Act::ClockAhead(*by), |next| {
                    next.spent.aheads += 1;
                    next.wall += by;
                    next.running.iter_mut().for_each(|running| running.span.clock_ahead());
                    next.seen.start.iter_mut().for_each(|start| start.span.clock_ahead());
                });
            }
        }
    }

    /// Whatever claims to be a hint, through the door.
    fn hints(&mut self) {
        let budget = self.world.budget;
        for shown in self.state.shown(budget.thefts > 0) {
            match self.world.screened(self.state, shown) {
                Err(class) => {
                    let label = Label::of(Verdict::Refused, class.name());
                    self.edges.push(Edge { action: Act::Present(shown), label, next: Next::Stays });
                }
                Ok(hint) => self.gives(Act::Present(shown), Input::Hint(hint), |spent| {
                    let (used, allowed) = match shown {
                        Shown::Stolen(_) => (&mut spent.thefts, budget.thefts),
                        _ => (&mut spent.presents, budget.presents),
                    };
                    *used += 1;
                    *used <= allowed
                }),
            }
        }
    }

    /// What the process and its operator can say by themselves.
    fn inputs(&mut self) {
        let (budget, seen) = (self.world.budget, &self.state.seen);
        self.gives(Act::Fire, Input::Fire, |_| true);
        let switch = |spent: &mut Spent| {
            spent.switches += 1;
            spent.switches <= budget.switches
        };
        self.gives(Act::Pause, Input::Pause, switch);
        // What was switched may be switched back.
        self.gives(Act::Resume, Input::Resume, |_| true);
        let untold = seen.manifest.is_none();
        for manifest in budget.manifests {
            // What is told after a boot is no change of the manifest.
            let free = untold || *manifest == budget.manifests[0];
            let spend = |spent: &mut Spent| free || switch(spent);
            self.gives(Act::Manifest(*manifest), Input::Capability(*manifest), spend);
        }
        self.gives(Act::Reconnect, Input::Reconnect, |spent| {
            spent.reconnects += 1;
            spent.reconnects <= budget.reconnects
        });
    }

    /// Completions under tickets of the past and of nobody, of the wrong kind, and ends that nobody but the waker may
    /// say.
    fn invented(&mut self) {
        let boot = self.state.daemon.inside().image.boot;
        let permit = Permit { fence: Fence(99), life: Millis(9) };
        let kinds = |ticket| {
            [
                Input::Answer { ticket, answer: Answer::Granted(permit) },
                Input::AskFailed { ticket },
                Input::Dispatched { ticket, outcome: DispatchOutcome::Unavailable },
                Input::Probed { ticket, fate: Finding::Gone },
                Input::Swept { ticket, any: false },
            ]
        };
        for ticket in [Ticket { boot, number: 99 }, Ticket { boot: boot.saturating_sub(1), number: 1 }] {
            kinds(ticket).into_iter().for_each(|input| self.invent(input));
        }
        if let Some((effect, ticket)) = self.state.outbox.first().and_then(|e| Some((e, under(e)?))) {
            let wrong = kinds(ticket).into_iter().filter(|input| !fits(effect, input));
            wrong.for_each(|input| self.invent(input));
        }
        for attempt in [0, 99] {
            self.invent(Input::FlightEnded { attempt, end: FlightEnd::ProcessEnded });
            self.invent(Input::InboxRead { attempt });
        }
        if let Some(start) = self.state.seen.start {
            self.invent(Input::FlightEnded { attempt: start.attempt, end: FlightEnd::Expired });
        }
    }

    fn invent(&mut self, input: Input) {
        self.gives(Act::Invent(input), input, |_| true);
    }

    /// What is on its way to the machine: it comes, comes twice, or is lost.
    fn queue(&mut self, room: bool) {
        let budget = &self.world.budget;
        let within = if budget.unordered { self.state.inbox.len() } else { 1 };
        let distorts = self.state.spent.distortions < budget.distortions;
        let coming: Vec<_> = self.state.inbox.iter().copied().take(within).collect();
        for (place, coming) in coming.into_iter().enumerate() {
            let at = u8::try_from(place).expect("models are small");
            if room {
                self.comes(Act::Complete(at), coming, |next| {
                    next.inbox.remove(place);
                });
                if distorts {
                    self.comes(Act::CompleteTwice(at), coming, |next| next.spent.distortions += 1);
                }
            }
            if distorts {
                self.happens(Act::Lose(at), |next| {
                    next.spent.distortions += 1;
                    next.inbox.remove(place);
                });
            }
        }
    }

    fn comes(&mut self, action: Act, coming: Coming, how: impl FnOnce(&mut State)) {
        let input = match coming {
            Coming::Input(input) => Ok(input),
            Coming::Hint(n) => self.world.screened(self.state, Shown::Minted(n)).map(Input::Hint),
        };
        match input.map(|input| self.tried(input)) {
            Err(class) => self.becomes(action, Label::of(Verdict::Refused, class.name()), how),
            Ok(Tried { outcome, stutters: false, .. }) => {
                self.edges.push(Edge { action, label: label(&outcome), next: Next::LeftTrace });
            }
            Ok(Tried { after, outcome, .. }) => self.becomes(action, label(&outcome), |next| {
                if outcome.is_advanced() {
                    next.daemon = after;
                }
                how(next);
            }),
        }
    }
}

/// The ticket of an effect that is answered.
const fn under(effect: &Effect) -> Option<Ticket> {
    match *effect {
        Effect::Ask { ticket, .. }
        | Effect::Sweep { ticket }
        | Effect::Dispatch { ticket, .. }
        | Effect::Probe { ticket, .. } => Some(ticket),
        Effect::Report { .. } | Effect::TellOperator(_) => None,
    }
}

/// Whether an effect may be answered like that.
const fn fits(effect: &Effect, input: &Input) -> bool {
    match effect {
        Effect::Ask { .. } => matches!(input, Input::Answer { .. } | Input::AskFailed { .. }),
        Effect::Sweep { .. } => matches!(input, Input::Swept { .. } | Input::AskFailed { .. }),
        Effect::Dispatch { .. } => matches!(input, Input::Dispatched { .. }),
        Effect::Probe { .. } => matches!(input, Input::Probed { .. }),
        Effect::Report { .. } | Effect::TellOperator(_) => false,
    }
}
