//! What is owed: that nothing that was accepted is forgotten, and that a look comes. Rules: DSP-1, DSP-11.
//!
//! Liveness in the small: the machine is left alone, only its timers ring, and within a bound it must do what it owes.

use awakener_kernel::machine::Machine as _;
use awakener_kernel::time::{Millis, Now};
use awakener_kernel::waker::{Effect, Input};

use super::super::act::Act;
use super::super::scope::{BACK_OFF_MAX, COOLDOWN, FLIGHT_MAX, PERMIT};
use super::super::seen::Asked;
use super::super::{State, World};
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

pub(super) fn looks_at_once(world: &World, state: &State, _: &[Edge]) -> bool {
    state.seen.swept || !is_free(state) || soon(world, state, sweeps)
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
