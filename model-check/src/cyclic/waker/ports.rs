//! What can become of an effect: the plane answers, an adapter starts something, a probe looks, or it is lost.
//!
//! Not here: when that is tried, and how a completion reaches the machine ([`super::steps`]).

use awakener_kernel::ids::Fence;
use awakener_kernel::time::Millis;
use awakener_kernel::values::{Answer, DispatchOutcome, Permit};
use awakener_kernel::waker::{Effect, Fate as Finding, Input, Ticket};
use awakener_spec::Class;

use super::Concrete;
use super::act::{Act, Look, Port, Slot, Word};
use super::scope::PERMIT;
use super::seen::{Broken, Flown, number};
use super::steps::Tries;
use crate::process::Fate;

/// Where the first effect of a port stands.
pub(super) fn first(state: &Concrete, port: Port) -> Option<usize> {
    state.out.iter().position(|(effect, _)| port_of(effect) == port)
}

const fn port_of(effect: &Effect) -> Port {
    match effect {
        Effect::Ask { .. } => Port::Questions,
        Effect::Sweep { .. } => Port::Sweeps,
        Effect::Dispatch { .. } | Effect::Probe { .. } | Effect::Report { .. } | Effect::TellOperator(_) => {
            Port::Runtime
        }
    }
}

impl Tries<'_> {
    /// What can be done with an effect.
    pub(super) fn performances(&mut self, at: usize) {
        let (effect, late) = self.state.out[at];
        match effect {
            Effect::Ask { ticket, .. } => self.asked(at, ticket),
            Effect::Sweep { ticket } => self.swept(at, ticket, late),
            Effect::Dispatch { ticket, attempt, wake, fence, until, .. } => {
                let flown = Flown { attempt, wake: number(wake), fence };
                let spent = self.state.now().mono >= until;
                self.dispatched(at, ticket, flown, spent);
            }
            Effect::Probe { ticket, attempt, .. } => {
                let runs = self.state.running == Some(attempt);
                for fate in [if runs { Finding::Alive } else { Finding::Gone }, Finding::CannotTell] {
                    let input = Input::Probed { ticket, fate };
                    self.completion(
                        |commit| Act::Probe(fate, commit),
                        input,
                        |after, _| {
                            after.out.remove(at);
                        },
                    );
                }
            }
            Effect::Report { .. } | Effect::TellOperator(_) => {}
        }
        if self.world.powers.loses {
            self.outside(Act::Lose(port_of(&effect)), |after| {
                after.out.remove(at);
            });
        }
    }

    fn asked(&mut self, at: usize, ticket: Ticket) {
        let fence = self.state.granted.next();
        let permit = Permit { fence, life: Millis(PERMIT) };
        let mut words = vec![
            (Word::Granted, Input::Answer { ticket, answer: Answer::Granted(permit) }),
            (Word::NotOutstanding, Input::Answer { ticket, answer: Answer::Withheld(Class::NotOutstanding) }),
        ];
        if self.world.powers.withholds && !self.state.calm {
            let held = Input::Answer { ticket, answer: Answer::Withheld(Class::PermitHeld) };
            words.extend([(Word::PermitHeld, held), (Word::Failed, Input::AskFailed { ticket })]);
        }
        for (word, input) in words {
            self.completion(
                |fate| Act::Answer(word, fate),
                input,
                |after, _| {
                    after.out.remove(at);
                    if word == Word::Granted {
                        after.granted = fence;
                    }
                },
            );
        }
    }

    fn swept(&mut self, at: usize, ticket: Ticket, late: bool) {
        let any = |any| Input::Swept { ticket, any };
        let mut looks = vec![(Look::Nothing, any(false)), (Look::Hint, any(true))];
        if self.world.powers.withholds && !self.state.calm {
            looks.push((Look::Failed, Input::AskFailed { ticket }));
        }
        for (look, input) in looks {
            self.completion(
                |fate| Act::Sweep(look, fate),
                input,
                |after, current| {
                    after.out.remove(at);
                    // The answer to a sweep of an earlier boot is no look.
                    if look != Look::Failed && current {
                        after.seen.looked = true;
                        after.seen.answered(late);
                    }
                    if look == Look::Hint {
                        after.hints[Slot::Left as usize] = Some(after.mint());
                    }
                },
            );
        }
    }

    fn dispatched(&mut self, at: usize, ticket: Ticket, flown: Flown, spent: bool) {
        let powers = &self.world.powers;
        // Not a byte leaves under a permit that has run out.
        let outcomes = if spent { &[DispatchOutcome::NotAttempted][..] } else { powers.outcomes };
        for outcome in outcomes {
            let input = Input::Dispatched { ticket, outcome: *outcome };
            self.completion(
                |fate| Act::Adapter(Some(*outcome), fate),
                input,
                |after, _| {
                    after.out.remove(at);
                    if !spent {
                        fly(after, flown, Some(*outcome));
                    }
                },
            );
        }
        if powers.loses && !spent {
            self.outside(Act::Adapter(None, Fate::Durable), |after| {
                after.out.remove(at);
                fly(after, flown, None);
            });
        }
    }
}

/// A dispatch leaves the process.
fn fly(after: &mut Concrete, flown: Flown, outcome: Option<DispatchOutcome>) {
    let Flown { attempt, wake, fence } = flown;
    let last = after.seen.flown;
    let (on_disk, granted) = (after.daemon.disk().image.attempts, after.granted);
    after.seen.flag(on_disk < attempt, Broken::Attempt);
    after.seen.flag(attempt <= last.attempt || wake <= last.wake, Broken::Twice);
    after.seen.flag(fence <= last.fence || fence > granted || fence == Fence(0), Broken::Permit);
    after.seen.flown = flown;
    if outcome.is_none_or(|outcome| !outcome.certainly_nothing()) {
        after.seen.flag(after.running.is_some(), Broken::Together);
        after.running = Some(attempt);
    }
}
