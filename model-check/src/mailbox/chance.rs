//! What happens without a call: the process, its disk, the clocks, the operators' rights, and everything on its way.

use awakener_kernel::mailbox::input::Minted;

use super::act::{Act, Call, Late};
use super::outside::bit;
use super::seen::{Asked, Broken};
use super::{Backup, State, World};
use crate::names;
use crate::process::FAILURES;
use crate::shared::Shared;
use crate::world::{Edge, Label, Next};

/// What a chance does to a state.
type Change<'a> = &'a dyn Fn(&mut State);

impl World {
    /// Every chance of this state, in a fixed order.
    pub(super) fn chances(&self, state: &State, edges: &mut Vec<Edge<Self>>) {
        let (bounds, spent) = (&self.bounds, &state.spent);
        if state.is_dead() {
            return;
        }
        let mut to = |action: Act, change: Change<'_>| {
            let mut next = state.clone();
            change(&mut next);
            edges.push(Edge { action, label: Label::OUTSIDE, next: Next::To(next) });
        };
        let clock = &state.outside.clock;
        if state.plane.is_down() {
            to(Act::Boot, &|next| self.boot(next));
            if state.backup.is_some() && spent.restores < bounds.restores {
                to(Act::Restore, &|next| next.restore());
            }
        } else if spent.crashes < bounds.crashes {
            to(Act::Crash, &|next| next.crash());
        }
        if state.plane.is_staged() && spent.failures < bounds.failures {
            for fate in FAILURES {
                to(Act::CommitFails(fate), &|next| self.commit_fails(next, fate));
            }
        }
        if clock.time < bounds.ticks {
            to(Act::Tick, &|next| next.outside.clock.tick());
        }
        self.on_its_way(state, &mut to);
        if !state.plane.is_staged() {
            self.offices(state, &mut to);
        }
        if state.plane.is_staged() {
            self.commit(state, edges);
        }
    }

    /// What takes part in the thread of the store, and therefore never falls into an open transaction.
    fn offices(&self, state: &State, to: &mut dyn FnMut(Act, Change<'_>)) {
        let (bounds, spent, clock) = (&self.bounds, &state.spent, &state.outside.clock);
        for right in bounds.rights.iter().copied().filter(|_| spent.changes < bounds.changes) {
            let has = state.outside.has(right);
            to(if has { Act::Withdraw(right) } else { Act::GiveBack(right) }, &|next| {
                next.spent.changes += 1;
                next.outside.turn(right);
            });
        }
        for by in bounds.steps_back.iter().copied().filter(|_| spent.backs < bounds.backs) {
            if clock.shown >= by {
                to(Act::StepBack(by), &|next| {
                    next.spent.backs += 1;
                    next.outside.clock.shown -= by;
                    next.outside.clock.stepped = true;
                });
            }
        }
        if clock.is_beyond() && spent.accepts < bounds.accepts {
            to(Act::AcceptTime, &|next| {
                next.spent.accepts += 1;
                next.outside.clock.held = next.outside.clock.shown;
            });
        }
        let worth_copying = !state.plane.disk().rows.messages.is_empty();
        if spent.restores < bounds.restores && state.backup.is_none() && worth_copying {
            to(Act::Backup, &|next| {
                let (content, store) = (next.plane.backup(), next.seen.store.clone());
                let stored = next.outside.clock.stored;
                next.backup = Some(Shared::new(Backup { content, store, stored }));
            });
        }
    }

    fn on_its_way(&self, state: &State, to: &mut dyn FnMut(Act, Change<'_>)) {
        let loses = state.spent.losses < self.bounds.losses;
        for hint in state.unsent.iter().copied() {
            let wake = names::wake_number(hint.fresh.wake);
            to(Act::Arrive(Late::Hint(wake)), &|next| self.hand_over(next, hint, true));
            if loses {
                to(Act::Lose(Late::Hint(wake)), &|next| {
                    next.spent.losses += 1;
                    self.hand_over(next, hint, false);
                });
                to(Act::HandOverFails(wake), &|next| {
                    next.spent.losses += 1;
                    next.unsent.retain(|known| *known != hint);
                    next.owe(self.bounds.reports, wake, false);
                });
            }
        }
        for late in state.late.iter().copied() {
            to(Act::Arrive(late), &|next| {
                next.late.retain(|known| *known != late);
                next.hear(late);
            });
            if loses {
                to(Act::Lose(late), &|next| {
                    next.spent.losses += 1;
                    next.late.retain(|known| *known != late);
                });
            }
        }
    }

    /// The broker client has a hint; whether a daemon ever hears it is another matter (EMT-4).
    pub(super) fn hand_over(&self, state: &mut State, hint: Minted, arrives: bool) {
        let wake = names::wake_number(hint.fresh.wake);
        state.unsent.retain(|known| *known != hint);
        state.learn(|seen| seen.left(hint));
        if arrives {
            state.outside.hints |= bit::<u16>(wake);
        }
        state.owe(self.bounds.reports, wake, true);
    }

    fn boot(&self, state: &mut State) {
        state.outside.clock.boot();
        let now = state.outside.clock.now();
        if state.plane.recover(&self.config, now).is_err() {
            state.learn(|seen| seen.flag(true, Broken::Boot));
            return;
        }
        if !self.bounds.emits {
            return;
        }
        // The file beside the store is raised first, and is durable before any token is (EMT-2).
        let epoch = u8::try_from(state.plane.disk().image.epoch).expect("models are small");
        state.outside.floor = state.outside.file.max(epoch);
        state.outside.file = state.outside.floor + 1;
        if self.bounds.late_start {
            return;
        }
        let input = self.input(state, Call::Start).expect("a start needs no hint");
        let query = state.plane.needs(&input).expect("the machine was just woken");
        let facts = self.facts(state, state.plane.inside(), Call::Start, query);
        let mut plane = state.plane.clone();
        plane.stage(&self.config, now, input, facts, |content| self.asked(state, Call::Start, content));
        state.plane = plane;
    }
}

impl State {
    fn crash(&mut self) {
        self.spent.crashes += 1;
        self.plane.crash();
        self.die();
    }

    fn die(&mut self) {
        self.unsent.clear();
        self.owed.clear();
        self.outside.started = false;
        self.outside.clock.die();
    }

    fn restore(&mut self) {
        let Some(backup) = self.backup.clone() else { return };
        self.spent.restores += 1;
        self.plane.restore(backup.content.clone());
        self.outside.clock.stored = backup.stored;
        self.die();
        self.learn(|seen| seen.restore(backup.store.clone()));
        self.backup = None;
    }

    /// The disk has seen the wall time of what was written.
    pub(super) fn keep_wall(&mut self, calls: &[Asked]) {
        if let Some(last) = calls.last() {
            self.outside.clock.stored = last.wall;
        }
    }

    pub(super) fn owe(&mut self, reports: bool, wake: u8, handed: bool) {
        if reports {
            self.owed.push((wake, handed));
            self.owed.sort_unstable();
        }
    }

    pub(super) fn hear(&mut self, late: Late) {
        match late {
            Late::Hint(wake) | Late::Swept(wake) => self.outside.hints |= bit::<u16>(wake),
            Late::Lease(fence) => self.outside.fences |= bit::<u16>(fence),
            Late::Permit(d, fence, wake) => {
                if !self.permits.contains(&(d, fence, wake)) {
                    self.permits.push((d, fence, wake));
                }
            }
        }
    }
}
