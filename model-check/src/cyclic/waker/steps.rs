//! Everything that can be tried in a state of a cyclic waker world, and how an input is given to the machine.
//!
//! Not here: what can become of an effect ([`super::ports`]).

use awakener_kernel::machine::{Outcome, OutcomeOf};
use awakener_kernel::values::FlightEnd;
use awakener_kernel::waker::{Capability, Effect, Event, Hold, Input, Next::Wait, Waker};
use serde_variant::to_variant_name;

use super::act::{Act, Port, Slot, Stray};
use super::ports::first;
use super::seen::{Broken, Landed};
use super::{Concrete, ROOM, World};
use crate::cyclic::Cyclic;
use crate::process::Fate;
use crate::world::{Edge, Label, Next, Verdict};

/// The fate of a commit that the adversary may choose. One that is not written goes on like a crash.
const FAILURES: [Fate; 1] = [Fate::Unknown { written: true }];

pub(super) struct Tries<'a> {
    pub(super) world: &'a World,
    pub(super) state: &'a Concrete,
    edges: &'a mut Vec<Edge<World>>,
}

pub(super) fn all(world: &World, state: &Concrete, edges: &mut Vec<Edge<World>>) {
    let mut tries = Tries { world, state, edges };
    if state.daemon.is_down() {
        if !state.seen.broken.contains(&Broken::Boot) {
            tries.boot();
        }
    } else {
        if state.out.len() < ROOM {
            tries.inputs();
        }
        if world.powers.crashes && !state.calm {
            tries.outside(Act::Crash, |after| {
                after.daemon.crash();
                after.out.clear();
                after.last = None;
            });
        }
    }
    if (world.powers.crashes || world.powers.fails || world.powers.withholds) && !state.calm {
        tries.outside(Act::Calm, |after| after.calm = true);
    }
    for slot in tries.slots() {
        tries.outside(Act::Mint(*slot), |after| after.hints[*slot as usize] = Some(after.mint()));
    }
    for at in [Port::Questions, Port::Sweeps, Port::Runtime].into_iter().filter_map(|port| first(state, port))
    {
        tries.performances(at);
    }
    if let Some(attempt) = state.running {
        let input = Input::FlightEnded { attempt, end: FlightEnd::ProcessEnded };
        tries.completion(Act::End, input, |after, _| after.running = None);
        if world.powers.loses || world.powers.crashes {
            tries.outside(Act::EndUnheard, |after| after.running = None);
        }
    }
    if !state.daemon.is_due(&world.config, state.now()) {
        tries.outside(Act::Tick, |after| after.now += 1);
    }
}

impl Tries<'_> {
    const fn slots(&self) -> &'static [Slot] {
        if self.world.powers.reorders { &[Slot::Left, Slot::Right] } else { &[Slot::Left] }
    }

    /// Something happens outside of every machine.
    pub(super) fn outside(&mut self, action: Act, change: impl FnOnce(&mut Concrete)) {
        let mut after = self.state.clone();
        change(&mut after);
        self.edges.push(Edge { action, label: Label::OUTSIDE, next: Next::To(self.world.fold(after)) });
    }

    fn fates(&self) -> impl Iterator<Item = Fate> + use<> {
        let failures = if self.world.powers.fails && !self.state.calm { &FAILURES[..] } else { &[] };
        [Fate::Durable].into_iter().chain(failures.iter().copied())
    }

    /// The process wakes and reads its manifest, in one transaction.
    fn boot(&mut self) {
        for fate in self.fates() {
            let mut after = self.state.clone();
            let now = after.now();
            after.seen.looked = false;
            if after.daemon.recover(&self.world.config, now).is_err() {
                after.seen.flag(true, Broken::Boot);
            } else {
                let input = Input::Capability(Capability::Unattended);
                after.daemon.stage(&self.world.config, now, input, (), |_| ());
                settle(&mut after, None, fate);
            }
            let label = Label::of(Verdict::Advanced, "booted");
            self.edges.push(Edge { action: Act::Boot(fate), label, next: Next::To(self.world.fold(after)) });
        }
    }

    fn inputs(&mut self) {
        self.input(Act::Fire, Input::Fire, |_, _| ());
        for slot in self.slots() {
            if let Some(hint) = self.state.hints[*slot as usize] {
                self.input(|fate| Act::Present(*slot, fate), Input::Hint(hint), |_, _| ());
            }
        }
        if let Some(input) = self.state.last {
            self.input(|_| Act::Again, input, |_, _| ());
        }
        for stray in Stray::ALL {
            self.input(|_| Act::Stray(stray), stray.input(), |_, _| ());
        }
    }

    /// Gives an input to the machine: one step, one commit. `change` is what happens outside with it, knowing whether
    /// the machine moves.
    fn input(&mut self, action: impl Fn(Fate) -> Act, input: Input, change: impl Fn(&mut Concrete, bool)) {
        let state = self.state;
        let tried = state.daemon.tried(&self.world.config, state.now(), input, (), |_| ());
        let mut base = state.clone();
        change(&mut base, tried.outcome.is_advanced());
        if matches!((input, &tried.outcome), (Input::Hint(_), Outcome::Advanced(_) | Outcome::Absorbed)) {
            base.seen.heard();
        }
        if !tried.outcome.is_advanced() {
            // What the outside does, or notes, is no trace in the machine.
            let label = label(&tried.outcome, Vec::new());
            let next = match (tried.stutters, base != *state) {
                (false, _) => Next::LeftTrace,
                (true, true) => Next::To(self.world.fold(base)),
                (true, false) => Next::Stays,
            };
            self.edges.push(Edge { action: action(Fate::Durable), label, next });
            return;
        }
        for fate in self.fates() {
            let mut after = base.clone();
            after.daemon = tried.after.clone();
            let effects = settle(&mut after, Some(&tried.outcome), fate);
            let label = label(&tried.outcome, effects);
            self.edges.push(Edge { action: action(fate), label, next: Next::To(self.world.fold(after)) });
        }
    }

    /// Something comes back to the daemon; if it is down it comes to nobody.
    pub(super) fn completion(
        &mut self,
        action: impl Fn(Fate) -> Act,
        input: Input,
        change: impl Fn(&mut Concrete, bool),
    ) {
        if self.state.daemon.is_down() {
            self.outside(action(Fate::Durable), |after| change(after, false));
            return;
        }
        let remembers = self.world.powers.repeats;
        self.input(action, input, |after, advances| {
            change(after, advances);
            if remembers {
                after.last = Some(input);
            }
        });
    }
}

/// Commits what is staged; `outcome` is what the step came to. Returns the kinds of the effects that left.
fn settle(after: &mut Concrete, outcome: Option<&OutcomeOf<Waker>>, fate: Fate) -> Vec<&'static str> {
    let now = after.now().wall;
    let visible = after.daemon.commit(fate);
    if let (Some(outcome), Fate::Durable | Fate::Unknown { written: true }) = (outcome, fate) {
        after.seen.happened(now, outcome);
        if let Outcome::Advanced(Event::FlightEnded { end: FlightEnd::Expired, .. }) = outcome {
            // Whatever still runs counts as over from here on (DSP-2).
            after.running = None;
        }
    }
    let mut kinds = Vec::new();
    for effect in visible.map(|visible| visible.effects).unwrap_or_default() {
        kinds.push(to_variant_name(&effect).unwrap_or("effect"));
        match effect {
            Effect::Report { .. } | Effect::TellOperator(_) => {}
            Effect::Ask { .. } | Effect::Dispatch { .. } | Effect::Probe { .. } | Effect::Sweep { .. } => {
                after.out.push_back((effect, after.seen.landed == Landed::After));
            }
        }
    }
    kinds
}

fn label(outcome: &OutcomeOf<Waker>, effects: Vec<&'static str>) -> Label {
    let (verdict, what) = match outcome {
        // An answer that came too late for its own permit starts nothing, and is told apart.
        Outcome::Advanced(
            Event::Accepted { next: Wait(Hold::PermitSpent), .. }
            | Event::Permitted { next: Wait(Hold::PermitSpent), .. },
        ) => (Verdict::Advanced, "permit_spent"),
        Outcome::Advanced(event) => (Verdict::Advanced, to_variant_name(event).unwrap_or("event")),
        Outcome::Absorbed => (Verdict::Absorbed, ""),
        Outcome::Refused(class) => (Verdict::Refused, class.name()),
    };
    Label { verdict, what, effects }
}
