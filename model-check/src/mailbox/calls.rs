//! Which calls are tried in a state (everybody's, also stale and senseless ones), and what comes of each.
//!
//! What was heard once can be said again at any time and in any order, so that duplicates and reorderings of calls
//! need no action of their own. Each try is one step of the machine.

use awakener_kernel::ids::Tier;
use awakener_kernel::machine::{Outcome, OutcomeOf};
use awakener_kernel::mailbox::Mailbox;
use awakener_kernel::mailbox::image::Lease;
use awakener_kernel::mailbox::input::Refusal;
use awakener_kernel::values::{By, DispatchOutcome, FlightEnd};
use serde_variant::to_variant_name;

use super::act::{Act, Call, Late};
use super::outside::{bit, bits};
use super::rows::Content;
use super::seen::{Asked, Leased};
use super::{Process, State, World};
use crate::names;
use crate::world::{Edge, Label, Next, Verdict};

impl World {
    /// Whether another call fits into the transaction. What recovers and what starts the emitter is on its own.
    pub(super) fn has_room(&self, state: &State) -> bool {
        let calls = state.plane.batch();
        let open = calls.first().is_some_and(|asked| asked.call != Call::Start)
            && calls.len() < usize::from(self.bounds.batch);
        state.plane.live().is_some() || open
    }

    /// Everything that anybody could say now.
    pub(super) fn calls(&self, state: &State, mut say: impl FnMut(Call)) {
        let bounds = &self.bounds;
        let mail = || 0..u8::try_from(bounds.mail.len()).expect("there are at most three");
        say(Call::Start);
        say(Call::Fire);
        mail().for_each(|n| say(Call::Submit(n)));
        (0..bounds.holders).for_each(|h| say(Call::Claim(h)));
        for fence in bits(state.outside.fences) {
            say(Call::Renew(fence));
            say(Call::Release(fence));
            mail().for_each(|n| self.work(fence, n, &mut say));
        }
        for n in mail().filter(|n| bounds.tier(*n) == Tier::Zero) {
            self.statements(state, n, &mut say);
        }
        for hint in bits(state.outside.hints) {
            (0..bounds.daemons).for_each(|d| say(Call::Ask(d, hint)));
        }
        for (d, fence, wake) in state.permits.iter().copied() {
            say(Call::Attempted(d, fence, wake));
            if bounds.outcomes {
                say(Call::Outcome(d, fence, wake, DispatchOutcome::NotifiedVerified));
                say(Call::Outcome(d, fence, wake, DispatchOutcome::Unavailable));
            }
            say(Call::Ended(d, fence, wake, FlightEnd::Idle));
            say(Call::Ended(d, fence, wake, FlightEnd::NeverStarted));
        }
        if bounds.sweeps > 0 {
            say(Call::Sweep);
        }
        state.owed.iter().for_each(|(wake, handed)| say(Call::Published(*wake, *handed)));
        if bounds.acts > 0 {
            mail().for_each(|n| say(Call::Resolve(n)));
            mail().for_each(|n| say(Call::ReleaseQuarantine(n)));
        }
        if bounds.ages {
            mail().for_each(|n| say(Call::Expire(n)));
        }
        for subject in bounds.intruders {
            self.forgeries(state, *subject, |forgery| say(Call::Forge(forgery)));
        }
    }

    fn work(&self, fence: u8, n: u8, say: &mut impl FnMut(Call)) {
        say(Call::Read(fence, n));
        for number in 0..self.bounds.turns {
            for finish in self.bounds.finishes {
                say(Call::Finish(fence, n, number, *finish));
            }
        }
        if self.bounds.responds {
            say(Call::Respond(fence, n));
            if self.bounds.tier(n) == Tier::Zero {
                say(Call::Shrug(fence, n));
            }
        }
    }

    fn statements(&self, state: &State, n: u8, say: &mut impl FnMut(Call)) {
        let clock = &state.outside.clock;
        for by in self.bounds.acks {
            match by {
                By::Station => {
                    bits(state.outside.fences).for_each(|fence| say(Call::Ack(n, *by, Some(fence))));
                }
                By::Agent | By::Human => {
                    say(Call::Ack(n, *by, None));
                    // With a lease that is not live the statement is worth nothing, although it needs none.
                    let stale = state.seen.store.stale(clock.time, clock.stepped);
                    stale.for_each(|fence| say(Call::Ack(n, *by, Some(fence))));
                }
            }
        }
    }

    /// Tries a call.
    pub(super) fn attempt(&self, state: &State, call: Call, edges: &mut Vec<Edge<Self>>) {
        let Some(input) = self.input(state, call) else { return };
        let Some(query) = state.plane.needs(&input) else { return };
        let facts = self.facts(state, state.plane.inside(), call, query);
        let now = state.outside.clock.now();
        let remember = |content: &Content| self.asked(state, call, content);
        let tried = state.plane.tried(&self.config, now, input, facts, remember);
        let next = match &tried.outcome {
            Outcome::Advanced(_) if self.is_beyond(state, call) => Next::Beyond,
            Outcome::Advanced(_) => Next::To(self.staged(state, call, tried.after, true)),
            Outcome::Absorbed | Outcome::Refused(_) if !tried.stutters => Next::LeftTrace,
            Outcome::Absorbed if self.tells(state, call) => {
                Next::To(self.staged(state, call, tried.after, false))
            }
            Outcome::Absorbed | Outcome::Refused(_) => Next::Stays,
        };
        edges.push(Edge { action: Act::Call(call), label: label(&tried.outcome), next });
    }

    /// What is remembered of a call until its answer.
    pub(super) fn asked(&self, state: &State, call: Call, content: &Content) -> Asked {
        let clock = &state.outside.clock;
        let leased = |lease: &Lease| {
            let taken = u8::try_from(lease.at.0).unwrap_or(u8::MAX).saturating_sub(self.bounds.noon());
            let covers =
                lease.claimed.values().map(|claimed| bit::<u8>(names::message_number(claimed.message)));
            Leased {
                fence: u8::try_from(lease.fence.0).expect("models are small"),
                at: taken.min(clock.time),
                covers: covers.fold(0, |all, one| all | one),
            }
        };
        Asked {
            call,
            at: clock.time,
            wall: if self.bounds.backs > 0 { clock.held } else { 0 },
            place: match call {
                Call::Submit(n) => content
                    .rows
                    .row(names::message(n))
                    .map(|(seq, _)| u8::try_from(seq.get()).expect("models are small")),
                _ => None,
            },
            lease: match call {
                Call::Claim(_) => content.image.lease.as_ref().map(leased),
                _ => None,
            },
        }
    }

    /// Whether the scope has no more of this.
    const fn is_beyond(&self, state: &State, call: Call) -> bool {
        let (bounds, spent) = (&self.bounds, &state.spent);
        match call {
            // The emitter starts with its process; a second start would be another process.
            Call::Start => !bounds.late_start,
            Call::Submit(n) => spent.submits[n as usize] >= bounds.submits,
            Call::Claim(_) => spent.claims >= bounds.claims,
            Call::Renew(_) => spent.renews >= bounds.renews,
            Call::Ask(..) => spent.asks >= bounds.asks,
            Call::Sweep => spent.sweeps >= bounds.sweeps,
            Call::Resolve(_) | Call::ReleaseQuarantine(_) => spent.acts >= bounds.acts,
            _ => false,
        }
    }

    /// Whether the answer to a repeat tells its caller something.
    fn tells(&self, state: &State, call: Call) -> bool {
        match call {
            Call::Submit(n) => state.spent.submits[usize::from(n)] < self.bounds.submits,
            Call::Claim(_) => state.plane.inside().image.lease.as_ref().is_some_and(|lease| {
                let fence = u8::try_from(lease.fence.0).expect("models are small");
                let heard = state.outside.fences & bit::<u16>(fence) != 0;
                !heard && !state.late.contains(&Late::Lease(fence)) && !state.plane.is_staged()
            }),
            Call::Attempted(_, fence, _) => {
                let known = state.seen.store.flights.iter().any(|flight| flight.fence == fence);
                !known && !state.plane.is_staged()
            }
            _ => false,
        }
    }

    /// The state in which a call is staged.
    fn staged(&self, state: &State, call: Call, plane: Process, advanced: bool) -> State {
        let mut state = State { plane, ..state.clone() };
        let at = state.time();
        if matches!(call, Call::Release(_) | Call::Renew(_) | Call::Attempted(..) | Call::Ended(..)) {
            state.learn(|seen| seen.said(call, at));
        }
        let (spent, outside) = (&mut state.spent, &mut state.outside);
        match call {
            Call::Submit(n) => spent.submits[usize::from(n)] += 1,
            Call::Claim(_) => spent.claims += u8::from(advanced),
            Call::Renew(_) => spent.renews += 1,
            Call::Ask(..) => spent.asks += 1,
            Call::Sweep => spent.sweeps += 1,
            Call::Resolve(n) => {
                spent.acts += 1;
                outside.operated |= bit::<u8>(n);
            }
            Call::ReleaseQuarantine(_) => spent.acts += 1,
            Call::Ack(n, ..) => outside.presented |= bit::<u8>(n),
            Call::Published(wake, handed) => state.owed.retain(|owed| *owed != (wake, handed)),
            _ => {}
        }
        state
    }
}

/// What is written on the edge of a call.
fn label(outcome: &OutcomeOf<Mailbox>) -> Label {
    match outcome {
        Outcome::Advanced(event) => {
            Label::of(Verdict::Advanced, to_variant_name(event).expect("events are variants"))
        }
        Outcome::Absorbed => Label::of(Verdict::Absorbed, ""),
        Outcome::Refused(Refusal::Because(reason)) => Label::of(Verdict::Refused, reason.name()),
        Outcome::Refused(Refusal::Withheld(class)) => Label::of(Verdict::Refused, class.name()),
    }
}
