//! Everything that can be tried in a state of the cyclic system.

use awakener_kernel::admission::Submitted;
use awakener_kernel::machine::Outcome;
use awakener_kernel::mailbox::input::Input as Ask;
use awakener_kernel::station;
use awakener_kernel::waker::{self, Fate as Finding};

use super::act::{Act, Ending, Given, Stray, Way, Who};
use super::calls::{daemon_said, finding, fresh, looked_up, plane_said, tier};
use super::seen::Broken;
use super::{Concrete, Desk, ROOM, World};
use crate::cyclic::Cyclic;
use crate::names;
use crate::world::{Edge, Label, Next, Verdict};

impl World {
    /// The sender submits message `n`.
    pub(super) fn submit(&self, state: &mut Concrete, n: u8) -> Label {
        let submitted = Submitted {
            id: names::message(n),
            principal: names::sender(),
            content: names::content(n),
            schema: names::schema(tier(n)),
            fence: None,
        };
        let before = state.plane.disk().rows.messages.len();
        let (outcome, label) = self.call(state, Ask::Admit(submitted));
        let after = before + usize::from(outcome.is_advanced());
        // Were one used twice, the message that stood there would be lost.
        assert!(state.plane.disk().rows.messages.len() == after, "a place is used once");
        state.seen.sent[usize::from(n)] = true;
        state.seen.mid_run |= n == 1;
        label
    }
}

struct Tries<'a> {
    world: &'a World,
    state: &'a Concrete,
    edges: &'a mut Vec<Edge<World>>,
}

pub(super) fn all(world: &World, state: &Concrete, edges: &mut Vec<Edge<World>>) {
    let mut tries = Tries { world, state, edges };
    tries.sender();
    for who in Who::ALL {
        tries.process(who);
    }
    let busy = tries.performances();
    tries.hint();
    tries.station();
    for stray in Stray::ALL {
        tries.stray(stray);
    }
    let powers = &world.powers;
    if (powers.crashes.contains(&true) || powers.loses) && !state.calm {
        tries.to(Act::Calm, |after| {
            after.calm = true;
            Some(Label::OUTSIDE)
        });
    }
    let waits = !powers.slow && (busy || state.wire.hint.is_some());
    let held = !powers.lingers && state.desk.aged && state.desk.turn.is_some();
    if !(state.is_due(&world.config) || waits || held) {
        tries.to(Act::Tick, |after| {
            after.now += 1;
            after.desk.aged = after.desk.turn.is_some();
            Some(Label::OUTSIDE)
        });
    }
}

impl Tries<'_> {
    /// Something happens, unless `change` says that it cannot now. What leaves everything as it was is no step.
    fn to(&mut self, action: Act, change: impl FnOnce(&mut Concrete) -> Option<Label>) -> bool {
        let mut after = self.state.clone();
        let Some(label) = change(&mut after) else { return false };
        let refused = matches!(label.verdict, Verdict::Refused | Verdict::Absorbed);
        let next =
            if after == *self.state && refused { Next::Stays } else { Next::To(self.world.fold(after)) };
        self.edges.push(Edge { action, label, next });
        true
    }

    /// The alert comes once at any time; the plain message once, while a turn on the alert runs.
    fn sender(&mut self) {
        if self.state.plane.is_down() {
            return;
        }
        let world = self.world;
        let running = self.state.desk.turn.is_some();
        for n in [0, 1] {
            let (sent, allowed) = (self.state.seen.sent, n == 0 || (world.powers.message && running));
            if !allowed && !sent[usize::from(n)] {
                continue;
            }
            self.to(Act::Submit(n), |after| Some(world.submit(after, n)));
        }
    }

    fn process(&mut self, who: Who) {
        let (world, state) = (self.world, self.state);
        if state.is_down(who) {
            let stopped = match who {
                Who::Plane => false,
                Who::Daemon => world.powers.no_daemon,
                Who::Station => state.desk.latched,
            };
            if !stopped && !state.seen.broken.contains(&Broken::Boot) {
                self.to(Act::Boot(who), |after| {
                    world.boot(after, who);
                    Some(Label::of(Verdict::Advanced, "booted"))
                });
            }
            return;
        }
        let crashes = world.powers.crashes[who as usize];
        if crashes && !state.calm {
            self.to(Act::Crash(who), |after| {
                match who {
                    Who::Plane => {
                        after.plane.crash();
                        after.wire.plane.clear();
                    }
                    Who::Daemon => {
                        after.daemon.crash();
                        after.wire.daemon.clear();
                        after.wire.watching = None;
                    }
                    Who::Station => {
                        after.station.crash();
                        after.desk = Desk { turns: after.desk.turns, ..Desk::default() };
                    }
                }
                Some(Label::OUTSIDE)
            });
        }
        let waiting = match who {
            Who::Plane => state.wire.plane.len(),
            Who::Daemon => state.wire.daemon.len(),
            Who::Station => state.desk.jobs.len(),
        };
        if waiting < ROOM {
            self.to(Act::Fire(who), |after| {
                Some(match who {
                    Who::Plane => {
                        let input = Ask::Fire { fresh: fresh(after.wire.wakes + 1) };
                        let (outcome, label) = world.call(after, input);
                        after.wire.wakes += u64::from(outcome.is_advanced());
                        label
                    }
                    Who::Daemon => world.tell_daemon(after, waker::Input::Fire),
                    Who::Station => world.tell_station(after, station::Input::Fire),
                })
            });
        }
    }

    /// The first effect of each process. Returns whether one of them can be carried out.
    fn performances(&mut self) -> bool {
        let (world, state) = (self.world, self.state);
        let mut busy = false;
        if let Some(effect) = state.wire.plane.front() {
            busy |= self.to(Act::Perform(Who::Plane, effect.into(), Way::Heard), |after| {
                world.perform_plane(after);
                Some(Label::OUTSIDE)
            });
        }
        let ways =
            if world.powers.loses { &[Way::Heard, Way::Unheard, Way::Lost][..] } else { &[Way::Heard] };
        for way in ways {
            let heard = *way == Way::Heard;
            if let Some(effect) = state.wire.daemon.front() {
                let act = Act::Perform(Who::Daemon, effect.into(), *way);
                busy |= self.to(act, |after| world.perform_daemon(after, *way)) && heard;
            }
            if let Some(effect) = state.desk.jobs.front() {
                let act = Act::Perform(Who::Station, effect.into(), *way);
                busy |= self.to(act, |after| world.perform_station(after, *way)) && heard;
            }
        }
        busy
    }

    fn hint(&mut self) {
        let (world, state) = (self.world, self.state);
        let Some(hint) = state.wire.hint else { return };
        if state.wire.daemon.len() < ROOM || state.daemon.is_down() {
            self.to(Act::Hint, |after| {
                after.wire.hint = None;
                Some(world.tell_daemon(after, waker::Input::Hint(hint)))
            });
        }
        if world.powers.hints {
            self.to(Act::LoseHint, |after| {
                after.wire.hint = None;
                Some(Label::OUTSIDE)
            });
            if state.wire.daemon.len() < ROOM && !state.daemon.is_down() {
                self.to(Act::HintTwice, |after| Some(world.tell_daemon(after, waker::Input::Hint(hint))));
            }
        }
    }

    fn station(&mut self) {
        let (world, state) = (self.world, self.state);
        if let (Some(attempt), Finding::CannotTell | Finding::Gone) = (state.wire.watching, finding(state)) {
            self.to(Act::Rest, |after| Some(world.rest(after, attempt)));
        }
        let finds = state.desk.poll.as_ref().is_some_and(|skip| state.plane.disk().rows.has_work(skip));
        if finds && !state.plane.is_down() && !world.powers.no_poll {
            self.to(Act::Poll, |after| {
                after.desk.poll = None;
                Some(world.tell_station(after, station::Input::WorkFound))
            });
        }
        if state.desk.turn.is_some() {
            self.to(Act::TurnEnds(Ending::Complete), |after| Some(world.turn_ends(after, Ending::Complete)));
            if world.powers.fails {
                self.to(Act::TurnEnds(Ending::Failed), |after| Some(world.turn_ends(after, Ending::Failed)));
            }
        }
    }

    /// What nobody asked for is refused or absorbed without a trace.
    fn stray(&mut self, stray: Stray) {
        let (world, state) = (self.world, self.state);
        if state.is_down(stray.to()) {
            return;
        }
        let now = state.now();
        let (label, stutters) = match stray.given() {
            Given::Plane(input) => {
                let query = state.plane.needs(&input).expect("the plane is up");
                let facts = looked_up(&state.plane.disk().rows, query);
                let tried = state.plane.tried(&world.config, now, input, facts, |_| ());
                (plane_said(&tried.outcome), tried.stutters && !tried.outcome.is_advanced())
            }
            Given::Daemon(input) => {
                let tried = state.daemon.tried(&world.config, now, input, (), |_| ());
                (daemon_said(&tried.outcome), tried.stutters && !tried.outcome.is_advanced())
            }
            Given::Station(input) => {
                let tried = state.station.tried(&world.config, now, input, (), |_| ());
                let label = match tried.outcome {
                    Outcome::Advanced(_) => Label::of(Verdict::Advanced, "stray"),
                    Outcome::Absorbed => Label::of(Verdict::Absorbed, ""),
                    Outcome::Refused(reason) => Label::of(Verdict::Refused, reason.name()),
                };
                (label, tried.stutters && !tried.outcome.is_advanced())
            }
        };
        let next = if stutters { Next::Stays } else { Next::LeftTrace };
        self.edges.push(Edge { action: Act::Stray(stray), label, next });
    }
}
