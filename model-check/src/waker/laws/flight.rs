//! Starts and flights, as the outside saw them. Rules: DSP-1, DSP-2, DSP-7.

use awakener_kernel::machine::Machine as _;
use awakener_kernel::time::Millis;
use awakener_kernel::values::Answer;
use awakener_kernel::waker::{Effect, Input};

use super::super::limits::{COOLDOWN, FLIGHT_MAX};
use super::super::seen::Start;
use super::super::{Coming, State, World};
use super::Edge;

fn unique<K: Ord>(mut keys: Vec<K>) -> bool {
    keys.sort_unstable();
    keys.windows(2).all(|pair| pair[0] != pair[1])
}

pub(super) fn none_twice(_: &World, state: &State, _: &[Edge]) -> bool {
    let flown = &state.seen.flown;
    flown.len() < 2
        || unique(flown.iter().map(|(wake, _)| wake).collect())
            && unique(flown.iter().map(|(_, attempt)| attempt).collect())
}

/// The attempt whose dispatch has left the process and is not performed yet.
pub(super) fn dispatch(state: &State) -> Option<u64> {
    state.outbox.iter().find_map(|effect| match effect {
        Effect::Dispatch { attempt, .. } => Some(*attempt),
        _ => None,
    })
}

/// A flight that lasts longer than flight_max is over, whatever still runs; and nobody can measure time by a clock that
/// was set ahead.
pub(super) fn one_runs(_: &World, state: &State, _: &[Edge]) -> bool {
    let within = |at| state.ticks < at + FLIGHT_MAX;
    state.running.iter().filter(|running| !running.span.short && within(running.span.at)).count() <= 1
}

/// A hint that could be accepted is before the plane, and nothing but an open flight like this forbids a start.
pub(super) fn could_start_but(state: &State, like: impl Fn(&Start) -> bool) -> bool {
    let asking = state.seen.asking.is_some_and(|text| state.wall < text.expires);
    let flies = state.seen.start.is_some_and(|start| start.open && like(&start));
    asking && flies && !cools(state) && state.seen.eligible() && !state.seen.paused
}

/// The plane's word is on its way when its permit has run out already, but the hint has not.
pub(super) fn late_permit(_: &World, state: &State, _: &[Edge]) -> bool {
    let over = state.seen.permit.is_some_and(|given| given.until <= state.ticks);
    let granted =
        |coming: &Coming| matches!(coming, Coming::Input(Input::Answer { answer: Answer::Granted(_), .. }));
    let lives = state.seen.asking.is_some_and(|text| state.wall < text.expires);
    over && lives && state.daemon.live().is_some() && state.inbox.first().is_some_and(granted)
}

pub(super) fn cools(state: &State) -> bool {
    state.seen.start.is_some_and(|start| state.ticks < start.span.at + COOLDOWN)
}

/// How long the machine has known of the open flight.
pub(super) fn age(state: &State) -> Option<u8> {
    let start = state.seen.start.filter(|start| start.open)?;
    Some(state.ticks - start.span.at.max(state.seen.woken))
}

/// A machine that knows of a flight wants to be woken at its end.
pub(super) fn ends_in_time(world: &World, state: &State, _: &[Edge]) -> bool {
    let (Some(machine), Some(age)) = (state.daemon.live(), age(state)) else { return true };
    let rest = Millis(u64::from(FLIGHT_MAX.saturating_sub(age)));
    machine.deadline(&world.config).is_some_and(|at| at <= state.now().mono + rest)
}
