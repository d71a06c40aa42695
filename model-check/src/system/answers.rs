//! Calls to the plane on each way that they can go, and who hears what of the answers.

use awakener_kernel::machine::{Outcome, OutcomeOf};
use awakener_kernel::mailbox::Mailbox;
use awakener_kernel::mailbox::input::Event;
use awakener_kernel::values::{By, FlightEnd};

use super::act::{Act, Way, Who};
use super::nodes::Asked;
use super::say::{Flown, Say, number};
use super::seen::{Broken, Permit, Seen};
use super::{Edges, State, World, to};
use crate::plane::hint;
use crate::world::Label;

impl World {
    /// An answer leaves the plane.
    pub(super) fn answered(&self, next: &mut State, asked: Asked, outcome: &OutcomeOf<Mailbox>) {
        if matches!(outcome, Outcome::Advanced(_) | Outcome::Absorbed) {
            witnessed(next, asked.say, outcome);
        }
        if let (Say::Sweep(_), Outcome::Advanced(Event::Swept(minted))) = (asked.say, outcome) {
            next.on_net(|net| net.hints.push(hint(minted)));
        }
        match asked.from {
            Some(Who::Station) => self.station_answered(next, asked.say, outcome),
            Some(who @ (Who::First | Who::Second)) => Self::daemon_answered(next, who, asked.say, outcome),
            Some(Who::Plane) | None => {}
        }
    }

    /// A caller gives up waiting.
    pub(super) fn unheard(&self, next: &mut State, from: Who, say: Say) {
        match from {
            Who::Station => self.station_unheard(next, say),
            Who::First | Who::Second => Self::daemon_unheard(next, from, say),
            Who::Plane => {}
        }
    }

    /// A call of a daemon or of the station, on each way that it can go. `gives_up` = it is not repeated by itself.
    pub(super) fn call(
        &self,
        state: &State,
        (from, say, gives_up): (Who, Say, bool),
        act: impl Fn(Way) -> Act,
        edges: &mut Edges,
    ) {
        let asked = Asked { say, from: Some(from) };
        if state.plane.process.batch().iter().any(|waiting| waiting.from == Some(from)) {
            return;
        }
        if state.plane.process.is_down() && gives_up {
            let mut next = state.clone();
            self.unheard(&mut next, from, say);
            to(edges, act(Way::Unreachable), Label::OUTSIDE, next);
        }
        if let Some(done) = self.judged(state, asked) {
            let mut next = state.clone();
            let label = self.happens(&mut next, asked, &done);
            if state.spent.doubled < self.bounds.doubled {
                let mut twice = next.clone();
                twice.spent.doubled += 1;
                twice.on_net(|net| net.stray(say));
                to(edges, act(Way::Doubled), label.clone(), twice);
            }
            to(edges, act(Way::Heard), label, next);
        }
        if state.spent.unheard < self.bounds.unheard {
            let mut next = state.clone();
            next.spent.unheard += 1;
            next.on_net(|net| net.stray(say));
            self.unheard(&mut next, from, say);
            to(edges, act(Way::Unheard), Label::OUTSIDE, next);
        }
    }
}

/// The ghost hears an answer.
fn witnessed(next: &mut State, say: Say, outcome: &OutcomeOf<Mailbox>) {
    let advanced = outcome.is_advanced();
    if *outcome == Outcome::Advanced(Event::FlightExpired) {
        next.saw(Seen::flight_over);
    }
    match say {
        Say::Submit(n) => next.saw(|seen| seen.admitted[usize::from(n)] = true),
        Say::Respond(_, n, _) => next.saw(|seen| {
            let known = &mut seen.replied[usize::from(n)];
            let twice = advanced && std::mem::replace(known, true);
            seen.flag(twice, Broken::ReplyTwice);
            seen.replied[usize::from(n)] = true;
        }),
        Say::Ack(n, by, _) => next.saw(|seen| {
            let n = usize::from(n);
            seen.flag(advanced && seen.acked[n].is_some(), Broken::AckTwice);
            seen.flag(by == By::Station && !seen.replied[n], Broken::AckFirst);
            seen.acked[n] = seen.acked[n].or(Some(by));
        }),
        Say::Claim(holder) => {
            if let Outcome::Advanced(Event::Leased { fence }) = outcome {
                next.saw(|seen| {
                    seen.lease = seen.lease.max(*fence);
                    seen.agent = if holder == 1 { Some(*fence) } else { seen.agent };
                });
            }
        }
        Say::Ask(who, wake) => {
            if let Outcome::Advanced(Event::Permitted(permit)) = outcome {
                let about = next.net.hint(wake).map(|hint| number(hint.message));
                next.saw(|seen| {
                    seen.unread = about;
                    seen.flag(seen.withdrawn, Broken::Withdrawn);
                    seen.permits.push(Permit { who, fence: permit.fence, wake });
                });
            }
        }
        Say::Read(_, n) if advanced => next.saw(|seen| seen.read(n)),
        Say::Report(.., Flown::Ended(FlightEnd::NeverStarted)) if advanced => {
            next.saw(|seen| seen.unread = None);
        }
        Say::Report(.., Flown::Ended(_)) if advanced => next.saw(Seen::flight_over),
        Say::Start
        | Say::Intrude
        | Say::Resolve(_)
        | Say::Renew(_)
        | Say::Release(_)
        | Say::Read(..)
        | Say::Finish(..)
        | Say::Forge(..)
        | Say::Report(..)
        | Say::Sweep(_) => {}
    }
}
