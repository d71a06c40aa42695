//! Every branch of the waker. The transitions behind them are in [`super::asking`] and [`super::flying`].
//!
//! The order of judgement over a hint is VER-1's. A completion whose ticket is not the one awaited is late, and
//! absorbed. Rules: VER-1, VER-3, DSP-1, DSP-2, DSP-5, DSP-7, DSP-11, DSP-12.

use alloc::vec::Vec;

use awakener_spec::{Class, rule};

use super::Waker;
use super::asking::Act;
use super::capability::Capability;
use super::image::Flight;
use super::input::{Fate, Input, Ticket};
use super::live::{About, Asked, Due, Resolve};
use crate::config::Config;
use crate::ids::Nonce;
use crate::machine::Step;
use crate::time::Now;
use crate::values::{Answer, DispatchOutcome, FlightEnd, Hint};

pub(super) fn step(waker: Waker, config: &Config, now: Now, input: Input) -> Step<Waker> {
    match input {
        Input::Hint(hint) => on_hint(waker, config, now, hint),
        Input::Answer { ticket, answer } => on_answer(waker, config, now, ticket, answer),
        Input::AskFailed { ticket } => on_ask_failed(waker, config, now, ticket),
        Input::Dispatched { ticket, outcome } => on_dispatched(waker, config, now, ticket, outcome),
        Input::Probed { ticket, fate } => on_probed(waker, config, now, ticket, fate),
        Input::FlightEnded { attempt, end } => on_flight_ended(waker, config, now, attempt, end),
        Input::InboxRead { attempt } => on_inbox_read(waker, config, now, attempt),
        Input::Pause if waker.live.paused => Step::absorbed(waker),
        Input::Pause => Act::new(waker, config, now).pause(),
        Input::Resume if waker.live.paused => Act::new(waker, config, now).resume(),
        Input::Resume => Step::absorbed(waker),
        Input::Capability(capability) => on_capability(waker, config, now, capability),
        Input::Reconnect => on_reconnect(waker, config, now),
        Input::Swept { ticket, any } if waker.live.sweep == Some(ticket) => {
            Act::new(waker, config, now).swept(any)
        }
        Input::Swept { .. } => Step::absorbed(waker),
        Input::Fire => on_fire(waker, config, now),
    }
}

fn on_hint(waker: Waker, config: &Config, now: Now, hint: Hint) -> Step<Waker> {
    if let Some(class) = local_class(&waker, config, now, &hint) {
        rule!(Ver1);
        return Step::refused(waker, class);
    }
    match waker.live.question {
        None => Act::new(waker, config, now).ask_about(hint),
        Some(_) if waker.live.owed => Step::absorbed(waker),
        Some(_) => Act::new(waker, config, now).owe_look(),
    }
}

/// The class of a hint as far as it can be told without the plane. `stale` was judged before, but time has passed
/// since; the others need this state.
fn local_class(waker: &Waker, config: &Config, now: Now, hint: &Hint) -> Option<Class> {
    let image = &waker.image;
    if now.wall >= hint.expires {
        return Some(Class::Stale);
    }
    if image.window.contains(hint.nonce) {
        return Some(Class::Replay);
    }
    if image.high_water.is_some_and(|high| hint.token <= high) {
        return Some(Class::FreshnessRegression);
    }
    if room(waker, config, now).is_none() {
        rule!(Ver3);
        return Some(Class::WindowFull);
    }
    None
}

/// Which nonces make room for one more; `None` = the history is full of hints that could still come again.
fn room(waker: &Waker, config: &Config, now: Now) -> Option<Vec<Nonce>> {
    let keep = (config.nonce_history as usize).saturating_sub(1);
    waker.image.window.surplus(keep, now.wall, config.skew)
}

fn on_answer(waker: Waker, config: &Config, now: Now, ticket: Ticket, answer: Answer) -> Step<Waker> {
    let Some(Asked { about, out: Some((awaited, asked)), .. }) = waker.live.question else {
        return Step::absorbed(waker);
    };
    if awaited != ticket {
        return Step::absorbed(waker);
    }
    let evicted = room(&waker, config, now);
    let act = Act::new(waker, config, now);
    match (about, answer) {
        // Expiry is judged at acceptance (DSP-1): an answer after it is none.
        (About::Fresh(hint), Answer::Granted(_) | Answer::Withheld(_)) if now.wall >= hint.expires => {
            act.withheld(hint, Class::Unanswered)
        }
        (About::Fresh(hint), Answer::Withheld(class)) => act.withheld(hint, class),
        (About::Fresh(hint), Answer::Granted(permit)) => match evicted {
            Some(evicted) => act.accept(hint, evicted, permit, asked),
            // There was room when it was asked; the wall clock stepped back since.
            None => act.withheld(hint, Class::WindowFull),
        },
        (About::Again(question), Answer::Granted(permit)) => act.permitted(question, permit, asked),
        (About::Again(question), Answer::Withheld(Class::PermitHeld)) => act.permit_held(question),
        (About::Again(question), Answer::Withheld(class)) => act.dropped(question, class),
    }
}

fn on_ask_failed(waker: Waker, config: &Config, now: Now, ticket: Ticket) -> Step<Waker> {
    if waker.live.sweep == Some(ticket) {
        return Act::new(waker, config, now).sweep_failed();
    }
    match waker.live.question {
        Some(asked) if asked.out.is_some_and(|(awaited, _)| awaited == ticket) => {
            Act::new(waker, config, now).ask_failed(asked)
        }
        Some(_) | None => Step::absorbed(waker),
    }
}

fn on_dispatched(
    waker: Waker,
    config: &Config,
    now: Now,
    ticket: Ticket,
    outcome: DispatchOutcome,
) -> Step<Waker> {
    match (waker.image.flight, waker.live.aloft) {
        (Some(flight), Some(aloft)) if aloft.dispatch == Some(ticket) => {
            Act::new(waker, config, now).dispatched(flight, aloft, outcome)
        }
        (_, _) => Step::absorbed(waker),
    }
}

fn on_probed(waker: Waker, config: &Config, now: Now, ticket: Ticket, fate: Fate) -> Step<Waker> {
    match (waker.image.flight, waker.live.aloft) {
        (Some(flight), Some(aloft)) if aloft.resolve == Some(Resolve::Out(ticket)) => {
            Act::new(waker, config, now).probed(flight, aloft, fate)
        }
        (_, _) => Step::absorbed(waker),
    }
}

fn on_flight_ended(waker: Waker, config: &Config, now: Now, attempt: u64, end: FlightEnd) -> Step<Waker> {
    match (the_flight(&waker, attempt), end) {
        (
            Some(flight),
            FlightEnd::ProcessEnded | FlightEnd::WorkFinished | FlightEnd::Idle | FlightEnd::NeverStarted,
        ) => Act::new(waker, config, now).flight_ended(flight, end),
        // Only our own clock says that a flight took too long.
        (Some(_), FlightEnd::Expired) | (None, _) => Step::absorbed(waker),
    }
}

fn on_inbox_read(waker: Waker, config: &Config, now: Now, attempt: u64) -> Step<Waker> {
    match the_flight(&waker, attempt) {
        Some(flight) if !flight.read => Act::new(waker, config, now).inbox_read(flight),
        Some(_) | None => Step::absorbed(waker),
    }
}

fn the_flight(waker: &Waker, attempt: u64) -> Option<Flight> {
    waker.image.flight.filter(|flight| flight.attempt == attempt)
}

fn on_capability(waker: Waker, config: &Config, now: Now, capability: Capability) -> Step<Waker> {
    if waker.live.capability == capability {
        return Step::absorbed(waker);
    }
    Act::new(waker, config, now).capability(capability)
}

fn on_reconnect(waker: Waker, config: &Config, now: Now) -> Step<Waker> {
    let live = &waker.live;
    if live.sweep_at <= now.mono && live.retry <= now.mono {
        return Step::absorbed(waker);
    }
    Act::new(waker, config, now).reconnected()
}

/// Does the first thing that is due. Each of these moves its own deadline, so that `Fire` advances if and only if
/// something was due.
fn on_fire(waker: Waker, config: &Config, now: Now) -> Step<Waker> {
    let Some((due, _)) = waker.dues().find(|(_, at)| *at <= now.mono) else {
        return Step::absorbed(waker);
    };
    let act = Act::new(waker, config, now);
    match due {
        Due::Unanswered(asked) => match asked.about {
            About::Fresh(hint) => act.withheld(hint, Class::Unanswered),
            About::Again(_) => act.ask_failed(asked),
        },
        Due::FlightMax(flight, aloft) => act.flight_max(flight, aloft),
        Due::Probe(flight, aloft) => act.probe(flight, aloft),
        Due::Held(asked) => act.ask(asked),
        Due::Pending(question) => act.ask_again(question),
        Due::Sweep => act.sweep(),
    }
}
