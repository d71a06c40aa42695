//! What is owed: that nothing that was accepted is forgotten, and that a look comes. Rules: DSP-1, DSP-11.
//!
//! Liveness in the small: the machine is left alone, only its timers ring, and within a bound it must do what it owes.

use awakener_kernel::machine::Machine as _;
use awakener_kernel::time::{Millis, Now};
use awakener_kernel::values::FlightReport;
use awakener_kernel::waker::{Effect, Input};

use super::super::act::Act;
use super::super::limits::{BACK_OFF_MAX, COOLDOWN, FLIGHT_MAX, PERMIT, back_off};
use super::super::seen::Asked;
use super::super::{Coming, State, World};
use super::{Edge, advanced};
use crate::process::Fate;

/// Whatever a waker owes it does within this time: a flight, a permit, and the longest pause, one after the other.
const SOON: u8 = FLIGHT_MAX + PERMIT + BACK_OFF_MAX + COOLDOWN;

/// The machine alone, until it lets out something that is wanted.
fn soon(world: &World, state: &State, wanted: impl Fn(&Effect) -> bool) -> bool {
    let mut daemon = state.daemon.clone();
    let mut now = state.now();
    let end = now.mono + Millis(u64::from(SOON));
    loop {
        let Some(due) = daemon.live().and_then(|machine| machine.deadline(&world.config)) else {
            return false;
        };
        if due > end {
            return false;
        }
        let wait = due.saturating_since(now.mono);
        now = Now { wall: now.wall + wait, mono: now.mono + wait };
        let outcome = daemon.stage(&world.config, now, Input::Fire, (), |_| Asked {
            input: Input::Fire,
            at: state.ticks,
            wall: state.wall,
        });
        let Some(visible) = daemon.commit(Fate::Durable) else { return false };
        if visible.effects.iter().any(&wanted) {
            return true;
        }
        if !outcome.is_advanced() {
            return false;
        }
    }
}

const fn asks(effect: &Effect) -> bool {
    matches!(effect, Effect::Ask { .. } | Effect::Sweep { .. })
}

const fn questions(effect: &Effect) -> bool {
    matches!(effect, Effect::Ask { .. })
}

const fn sweeps(effect: &Effect) -> bool {
    matches!(effect, Effect::Sweep { .. })
}

/// Whether a machine is live that has no question and no sweep under way outside.
pub(super) fn is_free(state: &State) -> bool {
    state.daemon.live().is_some() && !state.outbox.iter().any(asks)
}

/// Whether something forbids starts, as far as the machine was told.
const fn is_held(state: &State) -> bool {
    state.seen.paused || !state.seen.eligible()
}

pub(super) fn waits(_: &World, state: &State, _: &[Edge]) -> bool {
    state.seen.owed && is_free(state) && !is_held(state)
}

pub(super) fn is_asked_again(world: &World, state: &State, edges: &[Edge]) -> bool {
    !waits(world, state, edges) || soon(world, state, asks)
}

/// A hint is held that does not end before the plane can be asked again, by clocks that were left alone.
pub(super) fn holds_a_hint(world: &World, state: &State, _: &[Edge]) -> bool {
    let steady = world.budget.backs == 0 && world.budget.aheads == 0;
    let lives = |text: super::super::door::Text| text.expires > state.wall + 1;
    steady && state.seen.held && is_free(state) && state.seen.asking.is_some_and(lives)
}

pub(super) fn asks_about_what_it_holds(world: &World, state: &State, edges: &[Edge]) -> bool {
    !holds_a_hint(world, state, edges) || soon(world, state, questions)
}

/// An accepted wake that nothing but time stands before.
pub(super) fn only_time(world: &World, state: &State, edges: &[Edge]) -> bool {
    let open = state.seen.start.is_some_and(|start| start.open);
    waits(world, state, edges) && !open && state.seen.asking.is_none()
}

/// However the wall clock stepped before a restart, no pause is longer than it would have been from that restart on.
pub(super) fn waits_no_longer(world: &World, state: &State, edges: &[Edge]) -> bool {
    if !only_time(world, state, edges) {
        return true;
    }
    let from =
        state.seen.start.map_or(0, |start| start.span.at.max(state.seen.woken).max(state.seen.failed_at));
    let pause = COOLDOWN.max(back_off(state.seen.failures));
    let rest = (from + pause).saturating_sub(state.ticks).max(PERMIT);
    let due = state.daemon.live().and_then(|machine| machine.deadline(&world.config));
    due.is_some_and(|at| at <= state.now().mono + Millis(u64::from(rest)))
}

/// A flight of unknown fate that nobody has looked up yet.
pub(super) fn unresolved(_: &World, state: &State, _: &[Edge]) -> bool {
    state.daemon.live().is_some() && state.seen.start.is_some_and(|start| start.resolving && !start.probed)
}

/// A probe, or the end of the flight if that has come meanwhile.
pub(super) fn looks_up(world: &World, state: &State, edges: &[Edge]) -> bool {
    let settles = |effect: &Effect| {
        matches!(effect, Effect::Probe { .. } | Effect::Report { report: FlightReport::Ended(_), .. })
    };
    !unresolved(world, state, edges)
        || state.daemon.is_due(&world.config, state.now()) && soon(world, state, settles)
}

pub(super) fn looks_at_once(world: &World, state: &State, _: &[Edge]) -> bool {
    state.seen.swept || !is_free(state) || soon(world, state, sweeps)
}

/// Whether this is the end without an answer of the look that left last.
fn fails(state: &State, coming: Coming) -> bool {
    matches!(coming, Coming::Input(Input::AskFailed { ticket }) if state.seen.sweep == Some(ticket))
}

pub(super) fn look_failed(_: &World, state: &State, _: &[Edge]) -> bool {
    !state.daemon.is_staged() && state.inbox.iter().any(|coming| fails(state, *coming))
}

pub(super) fn hears_that_it_failed(_: &World, state: &State, edges: &[Edge]) -> bool {
    state.daemon.is_staged()
        || edges.iter().all(|edge| match edge.action {
            Act::Complete(at) => !fails(state, state.inbox[usize::from(at)]) || advanced(edge),
            _ => true,
        })
}

/// A wake that is owed comes first, so that a look waits for as long as that may not be started.
pub(super) fn looks(world: &World, state: &State, _: &[Edge]) -> bool {
    let blocked = state.seen.owed && is_held(state);
    !state.seen.look || !is_free(state) || blocked || soon(world, state, asks)
}

pub(super) fn fires_iff_due(world: &World, state: &State, edges: &[Edge]) -> bool {
    let fired = edges.iter().find(|edge| edge.action == Act::Fire);
    let live = fired.filter(|_| state.daemon.live().is_some());
    live.is_none_or(|edge| advanced(edge) == state.daemon.is_due(&world.config, state.now()))
}
