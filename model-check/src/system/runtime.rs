//! What a daemon's port to the runtime does: dispatches, probes, and the end of a flight that is watched.
//!
//! Nothing leaves before the plane knows of the flight, and nothing after the permit's end (DSP-7).

use awakener_kernel::station::{self, PhaseName};
use awakener_kernel::values::{DispatchOutcome, FlightEnd};
use awakener_kernel::waker::{Effect, Fate as Finding, Input};
use awakener_spec::ReceiptKind;

use super::act::{Act, Told, Who};
use super::scope::FLIGHT_MAX;
use super::seen::{Broken, Flight, Permit};
use super::{Edges, State, World, place, to, tried};
use crate::names;
use crate::world::{Label, Verdict};

impl World {
    /// Dispatches and probes, and the end of a flight that is watched.
    pub(super) fn runtime(&self, state: &State, who: Who, edges: &mut Edges) {
        let daemon = state.daemon(who);
        let wanted = |effect: &&Effect| matches!(effect, Effect::Dispatch { .. } | Effect::Probe { .. });
        match daemon.outbox.iter().find(wanted).copied() {
            Some(Effect::Dispatch { fence, until, .. }) => {
                let over = state.now(daemon.born).mono >= until || daemon.refused == Some(fence);
                let unsaid = daemon.outbox.iter().any(|effect| matches!(effect, Effect::Report { .. }));
                if over {
                    self.dispatch(state, who, Told::NotAttempted, edges);
                } else if !unsaid {
                    self.dispatches(state, who, edges);
                }
            }
            Some(Effect::Probe { .. }) => {
                let found = finding(state);
                let mut next = state.clone();
                let probe = next.on_daemon(who, |daemon| daemon.take(&wanted));
                if let Some(Effect::Probe { ticket, attempt, .. }) = probe {
                    next.on_daemon(who, |daemon| {
                        daemon.inbox.push(Input::Probed { ticket, fate: found });
                        daemon.watching = (found != Finding::Gone).then_some(attempt);
                    });
                }
                if found == Finding::Gone {
                    next.saw(|seen| seen.flights.clear());
                }
                let what = tried::variant(&found);
                to(edges, Act::Probe(who), Label::of(Verdict::Outside, what), next);
            }
            Some(_) | None => {}
        }
        if let (Some(attempt), Finding::CannotTell | Finding::Gone) = (daemon.watching, finding(state)) {
            let gone = state.station.process.is_down();
            let end = if gone { FlightEnd::ProcessEnded } else { FlightEnd::Idle };
            let mut next = state.clone();
            next.on_daemon(who, |daemon| {
                daemon.watching = None;
                daemon.inbox.push(Input::FlightEnded { attempt, end });
            });
            next.saw(|seen| seen.flights.clear());
            to(edges, Act::Rest(who), Label::OUTSIDE, next);
        }
    }

    fn dispatches(&self, state: &State, who: Who, edges: &mut Edges) {
        let station = phase(state);
        if station.is_none() {
            return self.dispatch(state, who, Told::Unavailable, edges);
        }
        let deaf = deaf(station);
        if deaf {
            // It answers that something is wrong with it, and nobody knows what that means.
            self.dispatch(state, who, Told::Unknown { arrived: false }, edges);
        } else {
            self.dispatch(state, who, Told::Notified, edges);
        }
        if finding(state) == Finding::Alive {
            self.dispatch(state, who, Told::Busy, edges);
        }
        if !deaf && state.spent.unknown < self.bounds.unknown {
            for arrived in [false, true] {
                self.dispatch(state, who, Told::Unknown { arrived }, edges);
            }
        }
    }

    fn dispatch(&self, state: &State, who: Who, told: Told, edges: &mut Edges) {
        let mut next = state.clone();
        let wanted = |effect: &&Effect| matches!(effect, Effect::Dispatch { .. });
        let taken = next.on_daemon(who, |daemon| daemon.take(&wanted));
        let Some(Effect::Dispatch { ticket, attempt, wake, fence, .. }) = taken else { return };
        let (outcome, arrives) = match told {
            Told::NotAttempted => (DispatchOutcome::NotAttempted, false),
            Told::Busy => (DispatchOutcome::RefusedBusy, false),
            Told::Unavailable => (DispatchOutcome::Unavailable, false),
            Told::Notified => (DispatchOutcome::NotifiedVerified, true),
            Told::Unknown { arrived } => (DispatchOutcome::OutcomeUnknown, arrived),
        };
        if matches!(told, Told::Unknown { .. }) && !deaf(phase(state)) {
            next.spent.unknown += 1;
        }
        if !outcome.certainly_nothing() {
            leaves(&mut next, Permit { who, fence, wake: names::wake_number(wake) });
            next.on_daemon(who, |daemon| daemon.watching = Some(attempt));
        }
        if arrives {
            next.on_station(|desk| desk.inbox.push(station::Input::Hint { wake }));
        }
        next.on_daemon(who, |daemon| daemon.inbox.push(Input::Dispatched { ticket, outcome }));
        to(edges, Act::Dispatch(who, told), Label::OUTSIDE, next);
    }
}

/// What a look at the runtime shows.
pub(super) fn finding(state: &State) -> Finding {
    let desk = &state.station;
    match phase(state) {
        None => Finding::Gone,
        Some(PhaseName::Dark | PhaseName::Armed | PhaseName::Refused | PhaseName::LatchedDown)
            if desk.jobs.is_empty() && desk.inbox.is_empty() =>
        {
            // Idle now does not prove that nothing is on its way.
            Finding::CannotTell
        }
        Some(_) => Finding::Alive,
    }
}

fn phase(state: &State) -> Option<PhaseName> {
    if state.station.process.is_down() {
        return None;
    }
    // What is staged may be anything but at rest.
    Some(state.station.process.live().map_or(PhaseName::Reading, |station| station.phase().name()))
}

/// Whether it cannot take a notice.
const fn deaf(phase: Option<PhaseName>) -> bool {
    matches!(phase, Some(PhaseName::Dark | PhaseName::Refused | PhaseName::LatchedDown))
}

/// Bytes leave for the station.
fn leaves(next: &mut State, permit: Permit) {
    let net = &next.net;
    let minted = net.hint(permit.wake);
    let asked_for = minted.is_some_and(|hint| {
        next.seen.submitted.get(usize::from(super::say::number(hint.message))).is_some_and(|known| *known)
    });
    let key = (names::wake(permit.wake), permit.fence, ReceiptKind::DispatchAttempted);
    let heard = next.plane.process.disk().rows.told.contains(&key);
    let clock = next.clock;
    next.saw(|seen| {
        let before = &seen.dispatched;
        let same = |known: &Permit| (known.who, known.wake) == (permit.who, permit.wake);
        let wake_twice = before.iter().any(same);
        let permit_twice = before.iter().any(|known| known.fence == permit.fence);
        let permitted = seen.permits.contains(&permit);
        let beside = seen.flights.iter().any(|flight| clock < flight.since + FLIGHT_MAX);
        seen.flag(!asked_for, Broken::Unauthorised);
        seen.flag(!permitted, Broken::Unpermitted);
        seen.flag(wake_twice, Broken::WakeTwice);
        seen.flag(permit_twice, Broken::PermitTwice);
        seen.flag(beside, Broken::TwoFlights);
        seen.flag(!heard, Broken::Unheard);
        seen.dispatched.push(permit);
        let since = seen.took_off[place(permit.who)];
        seen.flights.retain(|flight| flight.who != permit.who);
        seen.flights.push(Flight { who: permit.who, since });
    });
}
