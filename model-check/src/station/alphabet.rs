//! Everything that can be given to a live station: each kind of input, in vain or not.
//!
//! What somebody outside may say stands under budgets; a completion takes effect only as the truth that an effect
//! brought back ([`Act::Take`]). All others carry tickets that nothing waits for, or not for this kind of answer
//! ([`Act::Odd`]). Rules: STN-4, VER-5.

use awakener_kernel::ids::{Fence, Tier};
use awakener_kernel::machine::{Outcome, OutcomeOf};
use awakener_kernel::station::{Hand, Input, RefusedCause, Station, Tail};
use awakener_kernel::time::Wall;

use super::act::{Act, Kind, Say, Which};
use super::bounds::TICK;
use super::memo::Memo;
use super::odd::{awaits, completion, ticket};
use super::outside::{Acked, Lying};
use super::values::{self, command};
use super::{Scene, World, name};
use crate::names;
use crate::world::{Edge, Label, Next, Verdict, fingerprint};

/// What the machine said.
pub fn label(outcome: &OutcomeOf<Station>) -> Label {
    match outcome {
        Outcome::Advanced(event) => Label::of(Verdict::Advanced, name(event)),
        Outcome::Absorbed => Label::of(Verdict::Absorbed, ""),
        Outcome::Refused(why) => Label::of(Verdict::Refused, why.name()),
    }
}

impl World {
    /// Tries an input. Where the machine advances and the adversary may, `change` is what happens outside.
    fn give(
        &self,
        state: &Scene,
        edges: &mut Vec<Edge<Self>>,
        act: Act,
        input: Input,
        change: Option<impl FnOnce(&mut Scene)>,
    ) {
        let Some(live) = state.station.live() else { return };
        let asked = self.asked(state, live, &input);
        let tried = state.station.tried(&self.config, state.now(), input, (), |_| asked);
        let label = label(&tried.outcome);
        let next = match change {
            _ if !tried.stutters => Next::LeftTrace,
            _ if label.verdict != Verdict::Advanced => Next::Stays,
            None => Next::Beyond,
            Some(change) => {
                let mut next = state.clone();
                next.station = tried.after;
                change(&mut next);
                next.next()
            }
        };
        edges.push(Edge { action: act, label, next });
    }

    /// Tries an input that is the same in all states with this machine and time.
    fn same(
        &self,
        at: (&Scene, &mut Memo),
        edges: &mut Vec<Edge<Self>>,
        act: Act,
        input: impl FnOnce() -> Input,
        change: Option<fn(&mut Scene)>,
    ) {
        let (state, memo) = at;
        if let Some((verdict, what)) = memo.next() {
            edges.push(Edge { action: act, label: Label::of(verdict, what), next: Next::Stays });
            return;
        }
        self.give(state, edges, act, input(), change);
        let known = edges.last().and_then(|edge| match edge.next {
            Next::Stays => Some((edge.label.verdict, edge.label.what)),
            Next::To(_) | Next::Beyond | Next::LeftTrace => None,
        });
        memo.learn(known);
    }

    /// Everything that can be given to a live station.
    pub(super) fn alphabet(&self, state: &Scene, edges: &mut Vec<Edge<Self>>) {
        let (Some(station), Some(print)) = (state.station.live(), state.station.live_print()) else { return };
        let mut memo = Memo::open(fingerprint(&(self.print, print, state.now())));
        self.same((state, &mut memo), edges, Act::Fire, || Input::Fire, Some(|_| {}));
        self.grants(state, edges);
        self.operators(state, &mut memo, edges);
        self.others(state, &mut memo, edges);
        self.own_acks(state, edges);
        self.completions(state, edges);
        self.oddities(state, station, &mut memo, edges);
        memo.close();
    }

    fn grants(&self, state: &Scene, edges: &mut Vec<Edge<Self>>) {
        let grant = |since: u32, number| Input::Grant {
            until: until(since + self.bounds.life),
            command: command(number),
        };
        let granted = |state: &mut Scene| {
            state.spent.grants += 1;
            state.standing = Some((state.spent.grants, state.wall));
        };
        let (free, number) = (state.spent.grants < self.bounds.grants, state.spent.grants + 1);
        self.give(state, edges, Act::Say(Say::Grant), grant(state.wall, number), free.then_some(granted));
        if let Some((number, since)) = state.standing {
            // All grants are of one length.
            self.give(
                state,
                edges,
                Act::Say(Say::GrantAgain),
                grant(since, number),
                Some(|_: &mut Scene| {}),
            );
        }
    }

    fn operators(&self, state: &Scene, memo: &mut Memo, edges: &mut Vec<Edge<Self>>) {
        let (spent, bounds, wall) = (&state.spent, &self.bounds, state.wall);
        let mut say = |say, input: &dyn Fn() -> Input, free: bool, change: fn(&mut Scene)| {
            self.same((state, memo), edges, Act::Say(say), input, free.then_some(change));
        };
        let too_long = Wall(until(wall + bounds.life).0 + 1);
        say(Say::GrantTooLong, &|| Input::Grant { until: too_long, command: command(99) }, false, |_| {});
        say(Say::GrantOver, &|| Input::Grant { until: until(wall), command: command(99) }, false, |_| {});
        let takes: fn(&mut Scene) = |state| {
            state.spent.disarms += 1;
            state.standing = None;
        };
        let disarms = spent.disarms < bounds.disarms;
        say(Say::Disarm, &|| Input::Disarm, disarms, takes);
        say(Say::Abort, &|| Input::Abort, disarms, takes);
        for n in 0..=u8::try_from(bounds.mail.len()).expect("models are small") {
            let tail = || Input::MarkTail { tail: Tail(u64::from(n)) };
            say(Say::MarkTail(n), &tail, spent.tails < bounds.tails, |state| state.spent.tails += 1);
        }
        let clear = || Input::Clear { command: command(50) };
        say(Say::Clear, &clear, spent.clears < bounds.clears, |state| state.spent.clears += 1);
    }

    fn others(&self, state: &Scene, memo: &mut Memo, edges: &mut Vec<Edge<Self>>) {
        let (spent, bounds) = (&state.spent, &self.bounds);
        if !state.outside.held {
            let fence = Fence(u64::from(state.outside.fence));
            let lost = Input::LeaseLost { fence };
            self.give(state, edges, Act::Say(Say::LeaseLost), lost, Some(|_: &mut Scene| {}));
        }
        let mut say = |say, input: &dyn Fn() -> Input, free: bool, change: fn(&mut Scene)| {
            self.same((state, memo), edges, Act::Say(say), input, free.then_some(change));
        };
        say(Say::LeaseLostOfAnother, &|| Input::LeaseLost { fence: Fence(99) }, false, |_| {});
        let hint = || Input::Hint { wake: names::wake(1) };
        say(Say::Hint, &hint, spent.hints < bounds.hints, |state| state.spent.hints += 1);
        let polled =
            state.outside.poll.is_some_and(|skip| state.outside.open(bounds.mail, skip).next().is_some());
        let found: fn(&mut Scene) =
            if polled { |state| state.outside.poll = None } else { |state| state.spent.founds += 1 };
        say(Say::WorkFound, &|| Input::WorkFound, polled || spent.founds < bounds.founds, found);
        let (audit, config) = (RefusedCause::AuditUnavailable, RefusedCause::ConfigInvalid);
        let blind: fn(&mut Scene) = |state| state.spent.blind += 1;
        say(Say::AuditUnavailable, &|| Input::CauseFound { cause: audit }, spent.blind < bounds.blind, blind);
        say(Say::AuditAvailable, &|| Input::CauseGone { cause: audit }, true, |_| {});
        let invalid: fn(&mut Scene) = |state| state.spent.invalid += 1;
        say(
            Say::ConfigInvalid,
            &|| Input::CauseFound { cause: config },
            spent.invalid < bounds.invalid,
            invalid,
        );
        say(Say::ConfigValid, &|| Input::CauseGone { cause: config }, true, |_| {});
        let lies = || Input::LatchFound { latch: values::latch(values::FOUND) };
        say(Say::LatchFound, &lies, state.outside.path != Lying::Nothing, |_| {});
    }

    /// The agent or a human acknowledges: that takes effect in the mailbox, whatever the station makes of it.
    fn own_acks(&self, state: &Scene, edges: &mut Vec<Edge<Self>>) {
        for (n, _) in (0_u8..).zip(self.bounds.mail).filter(|(_, letter)| letter.tier == Tier::Zero) {
            for hand in [Hand::Agent, Hand::Human] {
                let acked = state.outside.mail[usize::from(n)].acked;
                let (first, again) = (acked.is_none(), acked == Some(Acked::Own(hand)));
                if !first && !again {
                    continue;
                }
                let free = self.bounds.hands.contains(&hand) && state.spent.owns < self.bounds.owns;
                let acks = move |state: &mut Scene| {
                    state.spent.owns += 1;
                    state.outside.mail[usize::from(n)].acked = Some(Acked::Own(hand));
                };
                let input = Input::OwnAck { message: names::message(n), seq: values::seq(n), by: hand };
                self.give(state, edges, Act::Say(Say::OwnAck(n, hand)), input, free.then_some(acks));
                if let Some(Edge { next: next @ Next::Stays, .. }) = edges.last_mut()
                    && first
                    && free
                {
                    let mut changed = state.clone();
                    acks(&mut changed);
                    *next = changed.next();
                }
            }
        }
    }

    /// The first completion, as it was brought back.
    fn completions(&self, state: &Scene, edges: &mut Vec<Edge<Self>>) {
        let Some(first) = state.inbox.front() else { return };
        let take = |state: &mut Scene| drop(state.inbox.pop_front());
        self.give(state, edges, Act::Take, first.clone(), Some(take));
        let Some(taken) = edges.last_mut() else { return };
        if let Next::Stays = taken.next {
            // It is gone all the same.
            let mut next = state.clone();
            take(&mut next);
            taken.next = next.next();
            return;
        }
        if state.spent.distortions < self.bounds.distortions {
            let distorts = |state: &mut Scene| state.spent.distortions += 1;
            self.give(state, edges, Act::TakeTwice, first.clone(), Some(distorts));
            let mut lost = state.clone();
            take(&mut lost);
            distorts(&mut lost);
            edges.push(Edge { action: Act::Lose, label: Label::OUTSIDE, next: lost.next() });
        }
    }

    fn oddities(&self, state: &Scene, station: &Station, memo: &mut Memo, edges: &mut Vec<Edge<Self>>) {
        for which in Which::ALL {
            let Some(ticket) = ticket(station, which) else { continue };
            for kind in Kind::ALL {
                let fits = match which {
                    Which::Awaited => awaits(station.phase(), kind),
                    Which::Cleaning => kind == Kind::CleanupDone,
                    Which::Late | Which::Stale | Which::Unissued | Which::Future => false,
                };
                if !fits {
                    self.same((state, memo), edges, Act::Odd(kind, which), || completion(kind, ticket), None);
                }
            }
        }
    }
}

/// An instant of the wall clock, from ticks.
fn until(ticks: u32) -> Wall {
    Wall(u64::from(ticks) * TICK)
}
