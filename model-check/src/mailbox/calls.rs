//! Who could call the machine now, what it would say, and which calls make a transition.

use awakener_kernel::machine::{Outcome, OutcomeOf};
use awakener_kernel::mailbox::Mailbox;
use awakener_kernel::mailbox::image::Lease;
use awakener_kernel::mailbox::input::{Facts, Input, Query};
use awakener_kernel::values::{By, FlightEnd};

use super::act::Call;
use super::seen::{Asked, Leased};
use super::{Answer, Process, State, World, rows};
use crate::names;

impl World {
    pub(super) fn facts(content: &rows::Content, query: Query) -> Facts {
        content.rows.facts(query)
    }

    /// What the machine would answer to this call now; `None` when it is down.
    pub(super) fn tried(&self, state: &State, call: Call) -> Option<(Process, OutcomeOf<Mailbox>)> {
        let mut plane = state.plane.clone();
        self.stage(&mut plane, state, call).then(|| {
            let outcome = plane.peek().pop().expect("a step has an outcome");
            (plane, outcome)
        })
    }

    /// The outcome alone, which costs much less.
    pub(super) fn judged(&self, state: &State, call: Call) -> Option<OutcomeOf<Mailbox>> {
        self.judged_input(state, call.input(state.unused()))
    }

    pub(super) fn judged_input(&self, state: &State, input: Input) -> Option<OutcomeOf<Mailbox>> {
        let facts = Self::facts(state.plane.inside(), state.plane.needs(&input)?);
        state.plane.judge(&self.config, state.now(), input, facts)
    }

    pub(super) fn stage(&self, plane: &mut Process, state: &State, call: Call) -> bool {
        self.stage_input(plane, state, call, call.input(state.unused()))
    }

    pub(super) fn stage_input(&self, plane: &mut Process, state: &State, call: Call, input: Input) -> bool {
        let Some(query) = plane.needs(&input) else { return false };
        let facts = Self::facts(plane.inside(), query);
        let (at, now) = (state.clock, state.now());
        plane.stage(&self.config, now, input, facts, |content| Asked {
            call,
            at,
            place: match call {
                Call::Submit(n) => content.rows.find(names::message(n)).map(|(seq, _)| seq),
                _ => None,
            },
            lease: match call {
                Call::Claim(_) => content.image.lease.as_ref().map(leased),
                _ => None,
            },
        });
        true
    }

    /// Calls that somebody could make now.
    pub(super) fn calls(&self, state: &State) -> Vec<Call> {
        let (scope, spent) = (&self.scope, &state.spent);
        let mut calls = Vec::new();
        if state.plane.is_due(&self.config, state.now()) {
            calls.push(Call::Fire);
        }
        for n in [0, 1] {
            if spent.submits[usize::from(n)] < scope.submits[usize::from(n)] {
                calls.push(Call::Submit(n));
            }
        }
        for h in 0..scope.holders {
            if spent.claims < scope.claims {
                calls.push(Call::Claim(h));
            }
            let Some(fence) = state.holders[usize::from(h)] else { continue };
            if spent.renews < scope.renews {
                calls.push(Call::Renew(fence));
            }
            calls.push(Call::Release(fence));
            for n in [0, 1] {
                calls.push(Call::Read(fence, n));
                if scope.works {
                    calls.extend([Call::Finish(fence, n), Call::Respond(fence, n)]);
                }
            }
            if scope.acks.contains(&By::Station) {
                calls.push(Call::Ack(0, By::Station, Some(fence)));
            }
        }
        if scope.acks.contains(&By::Agent) {
            calls.push(Call::Ack(0, By::Agent, None));
        }
        for d in 0..scope.daemons {
            if spent.asks < scope.asks {
                calls.extend(state.hints.iter().map(|hint| Call::Ask(d, *hint)));
            }
            if let Some((fence, hint)) = state.permits[usize::from(d)] {
                calls.push(Call::Attempted(d, fence, hint));
                let ends = [FlightEnd::Idle, FlightEnd::NeverStarted];
                calls.extend(ends.map(|end| Call::Ended(d, fence, hint, end)));
            }
        }
        if spent.sweeps < scope.sweeps {
            calls.push(Call::Sweep);
        }
        calls
    }

    /// Whether a call is worth a transition: it moves the machine, or its answer tells the caller something.
    pub(super) fn matters(&self, state: &State, call: Call) -> bool {
        let Some(outcome) = self.judged(state, call) else { return false };
        match outcome {
            Outcome::Advanced(_) => !late(state, call),
            Outcome::Refused(_) => false,
            Outcome::Absorbed => match call {
                Call::Submit(_) => true,
                // Asked again only by a holder that hears nothing, else the queue of answers grows for ever.
                Call::Claim(h) => {
                    let fence = state.plane.inside().image.lease.as_ref().map(|lease| lease.fence);
                    fence != state.holders[usize::from(h)]
                        && !state
                            .answers
                            .iter()
                            .any(|answer| matches!(answer, Answer::Lease(to, _) if *to == h))
                        && !state.plane.is_staged()
                }
                _ => false,
            },
        }
    }
}

/// What the answer to a claim shows.
fn leased(lease: &Lease) -> Leased {
    let at = u8::try_from(lease.at.0).expect("models are small");
    let covers = [0, 1].map(|n| lease.claimed.values().any(|claimed| claimed.message == names::message(n)));
    Leased { fence: lease.fence, at, covers }
}

/// A late true fact may be told for ever and changes nothing; telling it is a law's business, not a transition's.
fn late(state: &State, call: Call) -> bool {
    match call {
        Call::Ended(_, fence, ..) => {
            state.plane.inside().image.permit.as_ref().is_none_or(|permit| permit.fence != fence)
        }
        _ => false,
    }
}
