//! What the plane and the daemon do: boots, steps, and the calls between them.

use awakener_kernel::ids::{DaemonName, Fence, Tier, WakeId};
use awakener_kernel::machine::{Outcome, OutcomeOf};
use awakener_kernel::mailbox::Mailbox;
use awakener_kernel::mailbox::input::{
    Effect as PlaneEffect, Event as PlaneEvent, Facts, Fresh, Input as Ask, Query, Refusal,
};
use awakener_kernel::station;
use awakener_kernel::values::{Answer, DispatchOutcome, FlightEnd};
use awakener_kernel::waker::{self, Capability, Effect, Event, Fate as Finding, Input, Waker};
use serde_variant::to_variant_name;

use super::act::{Way, Who};
use super::seen::{Broken, Flown};
use super::{Concrete, World};
use crate::cyclic::waker::seen::number;
use crate::mailbox::rows::Rows;
use crate::names;
use crate::plane::{WHOLE, facts, hint};
use crate::process::Fate;
use crate::world::{Label, Verdict};

/// What a step of a machine is called.
pub(super) fn said<E: serde::Serialize, R: Copy>(
    outcome: &Outcome<E, R>,
    refusal: impl FnOnce(R) -> &'static str,
) -> Label {
    match outcome {
        Outcome::Advanced(event) => Label::of(Verdict::Advanced, to_variant_name(event).unwrap_or("event")),
        Outcome::Absorbed => Label::of(Verdict::Absorbed, ""),
        Outcome::Refused(why) => Label::of(Verdict::Refused, refusal(*why)),
    }
}

pub(super) fn plane_said(outcome: &OutcomeOf<Mailbox>) -> Label {
    said(outcome, |refusal| match refusal {
        Refusal::Because(reason) => reason.name(),
        Refusal::Withheld(class) => class.name(),
    })
}

pub(super) fn daemon_said(outcome: &OutcomeOf<Waker>) -> Label {
    said(outcome, |class| class.name())
}

/// Entropy that nobody has seen.
pub(super) fn fresh(wakes: u64) -> Fresh {
    let mut nonce = [0; 16];
    nonce[8..].copy_from_slice(&wakes.to_be_bytes());
    Fresh { wake: WakeId::from_u128(u128::from(wakes)), nonce: awakener_kernel::ids::Nonce(nonce) }
}

/// The alert is Tier-0; the other message is plain.
pub(super) const fn tier(message: u8) -> Tier {
    if message == 0 { Tier::Zero } else { Tier::Two }
}

/// What the plane's driver looks up; every authority is in place.
pub(super) fn looked_up(rows: &Rows, query: Query) -> Facts {
    facts(rows, query, WHOLE, |message| tier(names::message_number(message)))
}

fn me() -> DaemonName {
    names::daemon(0)
}

/// The plane.
impl World {
    /// Wakes a process.
    pub(super) fn boot(&self, state: &mut Concrete, who: Who) {
        let now = state.now();
        let woken = match who {
            Who::Plane => state.plane.recover(&self.config, now),
            Who::Daemon => state.daemon.recover(&self.config, now),
            Who::Station => state.station.recover(&self.config, now),
        };
        if woken.is_err() {
            state.seen.flag(true, Broken::Boot);
            return;
        }
        match who {
            Who::Plane => {
                let facts = awakener_kernel::mailbox::input::Facts::None;
                state.plane.stage(&self.config, now, Ask::Start { floor: 0 }, facts, |_| ());
                state.plane.commit(Fate::Durable);
            }
            Who::Daemon => {
                let input = Input::Capability(Capability::Unattended);
                state.daemon.stage(&self.config, now, input, (), |_| ());
                state.daemon.commit(Fate::Durable);
            }
            Who::Station => {
                state.station.commit(Fate::Durable);
            }
        }
    }

    /// One step of the plane, on disk at once. It must be up.
    pub(super) fn call(&self, state: &mut Concrete, input: Ask) -> (OutcomeOf<Mailbox>, Label) {
        let query = state.plane.needs(&input).expect("the plane is up");
        let facts = looked_up(&state.plane.disk().rows, query);
        let presented = match &input {
            Ask::Renew { fence }
            | Ask::Release { fence }
            | Ask::Read { fence, .. }
            | Ask::FinishTurn { fence, .. }
            | Ask::Respond { fence, .. } => Some(*fence),
            Ask::Ack { fence, .. } => *fence,
            _ => None,
        };
        let live = state.plane.disk().image.lease.as_ref().map(|lease| lease.fence);
        let tried = state.plane.tried(&self.config, state.now(), input, facts, |_| ());
        let mut label = plane_said(&tried.outcome);
        if tried.outcome.is_advanced() {
            state.seen.flag(presented.is_some() && presented != live, Broken::StaleLease);
            state.plane = tried.after;
            let visible = state.plane.commit(Fate::Durable).expect("it is durable");
            label.effects = visible.effects.iter().map(|e| to_variant_name(e).unwrap_or("effect")).collect();
            state.wire.plane.extend(visible.effects);
            let reached = state.plane.disk().image.cursor.is_some();
            let alert = state.plane.disk().rows.row(names::message(0)).map(|(seq, _)| seq);
            let passed = alert.is_some_and(|seq| state.plane.disk().image.cursor >= Some(seq));
            state.seen.acked |= tried.outcome == Outcome::Advanced(ACKED);
            state.seen.flag(reached && passed && !state.seen.acked, Broken::Cursor);
        } else {
            state.seen.flag(!tried.stutters, Broken::Trace);
        }
        (tried.outcome, label)
    }

    /// The plane's first effect.
    pub(super) fn perform_plane(&self, state: &mut Concrete) {
        match state.wire.plane.pop_front() {
            Some(PlaneEffect::Publish(minted)) => {
                state.wire.hint = Some(hint(&minted)).filter(|_| !self.powers.no_daemon);
            }
            Some(PlaneEffect::TellOperator(_)) => state.seen.told = true,
            None => {}
        }
    }
}

const ACKED: PlaneEvent = PlaneEvent::Acknowledged {
    outcome: awakener_kernel::values::AckOutcome::Handled,
    by: awakener_kernel::values::By::Station,
};

/// The daemon.
impl World {
    /// One step of the daemon, if it is up.
    pub(super) fn tell_daemon(&self, state: &mut Concrete, input: Input) -> Label {
        if state.daemon.is_down() {
            return Label::OUTSIDE;
        }
        let tried = state.daemon.tried(&self.config, state.now(), input, (), |_| ());
        let mut label = daemon_said(&tried.outcome);
        if !tried.outcome.is_advanced() {
            state.seen.flag(!tried.stutters, Broken::Trace);
            return label;
        }
        state.daemon = tried.after;
        let visible = state.daemon.commit(Fate::Durable).expect("it is durable");
        label.effects = visible.effects.iter().map(|e| to_variant_name(e).unwrap_or("effect")).collect();
        if let Outcome::Advanced(Event::FlightEnded { end: FlightEnd::Expired, .. }) = tried.outcome {
            state.wire.watching = None;
        }
        for effect in visible.effects {
            match effect {
                Effect::TellOperator(_) => state.seen.told = true,
                Effect::Ask { .. }
                | Effect::Dispatch { .. }
                | Effect::Probe { .. }
                | Effect::Sweep { .. }
                | Effect::Report { .. } => state.wire.daemon.push_back(effect),
            }
        }
        label
    }

    /// The daemon's first effect; `None` if it cannot be carried out now.
    pub(super) fn perform_daemon(&self, state: &mut Concrete, way: Way) -> Option<Label> {
        let effect = state.wire.daemon.front().copied()?;
        let unreachable = state.plane.is_down() || way == Way::Lost;
        let label = match effect {
            Effect::Report { fence, wake, report } => {
                // It is said until it is heard.
                if unreachable {
                    return None;
                }
                let (_, label) = self.call(state, Ask::Report { daemon: me(), fence, wake, report });
                if way == Way::Unheard {
                    return Some(label);
                }
                label
            }
            Effect::Ask { ticket, question } => {
                let input = if unreachable {
                    Input::AskFailed { ticket }
                } else {
                    let (outcome, _) = self.call(state, Ask::Ask { daemon: me(), question });
                    answered(&outcome, way)
                        .map_or(Input::AskFailed { ticket }, |answer| Input::Answer { ticket, answer })
                };
                self.tell_daemon(state, input)
            }
            Effect::Sweep { ticket } => {
                if unreachable {
                    self.tell_daemon(state, Input::AskFailed { ticket })
                } else {
                    self.sweep(state, ticket, way)
                }
            }
            Effect::Probe { ticket, attempt, .. } => {
                let fate = finding(state);
                state.wire.watching = (fate != Finding::Gone).then_some(attempt);
                self.tell_daemon(state, Input::Probed { ticket, fate })
            }
            Effect::Dispatch { ticket, attempt, wake, fence, until, .. } => {
                let spent = state.now().mono >= until;
                let outcome = if spent { DispatchOutcome::NotAttempted } else { notified(state) };
                if !outcome.certainly_nothing() {
                    leaves(state, Flown { attempt, wake: number(wake), permit: fence });
                }
                if outcome == DispatchOutcome::NotifiedVerified {
                    self.tell_station(state, station::Input::Hint { wake });
                }
                self.tell_daemon(state, Input::Dispatched { ticket, outcome })
            }
            Effect::TellOperator(_) => Label::OUTSIDE,
        };
        state.wire.daemon.pop_front();
        Some(label)
    }

    fn sweep(&self, state: &mut Concrete, ticket: waker::Ticket, way: Way) -> Label {
        state.wire.wakes += 1;
        let (outcome, _) = self.call(state, Ask::Sweep { fresh: fresh(state.wire.wakes) });
        if way == Way::Unheard {
            return self.tell_daemon(state, Input::AskFailed { ticket });
        }
        let found = match outcome {
            Outcome::Advanced(PlaneEvent::Swept(minted)) => Some(hint(&minted)),
            Outcome::Advanced(_) | Outcome::Absorbed | Outcome::Refused(_) => None,
        };
        if let Some(hint) = found {
            self.tell_daemon(state, Input::Hint(hint));
        }
        self.tell_daemon(state, Input::Swept { ticket, any: found.is_some() })
    }

    /// The adapter sees that what was started is idle or gone.
    pub(super) fn rest(&self, state: &mut Concrete, attempt: u64) -> Label {
        let end = if state.station.is_down() { FlightEnd::ProcessEnded } else { FlightEnd::Idle };
        state.wire.watching = None;
        self.tell_daemon(state, Input::FlightEnded { attempt, end })
    }
}

fn answered(outcome: &OutcomeOf<Mailbox>, way: Way) -> Option<Answer> {
    match (way, outcome) {
        (Way::Heard, Outcome::Advanced(PlaneEvent::Permitted(permit))) => Some(Answer::Granted(*permit)),
        (Way::Heard, Outcome::Refused(Refusal::Withheld(class))) => Some(Answer::Withheld(*class)),
        (_, _) => None,
    }
}

/// What a look at the station shows; idle now does not prove that nothing is on its way.
pub(super) fn finding(state: &Concrete) -> Finding {
    match state.station.live().map(|station| station.phase().name()) {
        None => Finding::Gone,
        Some(phase)
            if phase.why_not().is_some()
                || (phase == station::PhaseName::Armed && state.desk.jobs.is_empty()) =>
        {
            Finding::CannotTell
        }
        Some(_) => Finding::Alive,
    }
}

fn notified(state: &Concrete) -> DispatchOutcome {
    let phase = state.station.live().map(|station| station.phase().name());
    match phase {
        None => DispatchOutcome::Unavailable,
        // It answers that something is wrong with it, and nobody knows what that means.
        Some(phase) if phase.why_not().is_some() => DispatchOutcome::OutcomeUnknown,
        Some(station::PhaseName::Armed) => DispatchOutcome::NotifiedVerified,
        Some(_) => DispatchOutcome::RefusedBusy,
    }
}

/// Bytes leave for the station.
fn leaves(state: &mut Concrete, flown: Flown) {
    let last = state.seen.flown;
    let asked_for = state.plane.disk().rows.row(names::message(0)).is_some();
    let open = state.wire.watching.is_some();
    state.seen.flag(!asked_for, Broken::Unasked);
    state.seen.flag(flown.attempt <= last.attempt || flown.wake <= last.wake, Broken::DispatchTwice);
    state.seen.flag(flown.permit <= last.permit || flown.permit == Fence(0), Broken::PermitTwice);
    state.seen.flag(open, Broken::Together);
    state.seen.flown = flown;
    state.wire.watching = Some(flown.attempt);
}
