//! What must hold in every state of a waker world, each with a state that shows that it is not empty talk.
//!
//! The list. Conditions about hints are in [`verify`], about starts in [`flight`], about what is owed in [`owed`].

mod flight;
mod owed;
mod verify;

use super::World;
use super::act::Act;
use super::limits::FLIGHT_MAX;
use super::seen::Broken;
use crate::world::{self, Condition, Law, STUTTER, refuses, stutters};

type Edge = world::Edge<World>;

/// A law about one moment: the ghost notes when it is broken.
macro_rules! moment {
    ($broken:ident) => {
        |_, state, _| !state.seen.broken.contains(&Broken::$broken)
    };
}

const fn law(
    name: &'static str,
    holds: Condition<World>,
    twin: &'static str,
    reached: Condition<World>,
) -> Law<World> {
    Law { name, holds, twin, reached }
}

/// Every law.
pub const LAWS: &[Law<World>] = &[
    law(STUTTER, stutters, "something is refused", refuses),
    law(
        "FML-1 every invariant of the machine holds",
        |world, state, _| state.daemon.check(&world.config),
        "a machine is live",
        |_, state, _| state.daemon.live().is_some(),
    ),
    law(
        "AUD-2 the image is what is on disk and what is staged",
        |_, state, _| state.daemon.image_is_disk_and_staged(),
        "what is staged differs from what is on disk",
        |_, state, _| state.daemon.inside() != state.daemon.disk(),
    ),
    law(
        "FML-1 an image that was written can be woken",
        moment!(Boot),
        "a machine went down after it accepted a wake",
        |_, state, _| state.daemon.is_down() && !state.seen.accepted.is_empty(),
    ),
    law(
        "FML-1 Fire advances if and only if something is due",
        owed::fires_iff_due,
        "something is due",
        |world, state, _| state.daemon.is_due(&world.config, state.now()),
    ),
    law(
        "DSP-7 what nobody asked for changes nothing",
        |_, _, edges| edges.iter().all(|e| !matches!(e.action, Act::Invent(_)) || !advanced(e)),
        "it comes while a hint is before the plane",
        |_, state, edges| {
            state.seen.asking.is_some() && edges.iter().any(|e| matches!(e.action, Act::Invent(_)))
        },
    ),
    law(
        "VER-1 a hint has the first class that applies",
        verify::first_class_wins,
        "a hint would have two classes",
        verify::two_classes,
    ),
    law(
        "VER-1 what the plane says of a hint is its class",
        moment!(Class),
        "the plane is asked about a hint",
        |_, state, _| state.seen.asking.is_some(),
    ),
    law(
        "VER-2 accepted tokens only rise",
        moment!(Token),
        "a wake was accepted, and the process woke again",
        |_, state, _| state.daemon.live().is_some() && verify::survived(state),
    ),
    law(
        "VER-2 only acceptance changes what verification remembers",
        verify::only_acceptance_changes,
        "a wake is accepted",
        |_, _, edges| edges.iter().any(|e| advanced(e) && e.label.what == verify::ACCEPTED),
    ),
    law(
        "VER-3 an accepted hint that comes again in time is a replay",
        verify::again_is_a_replay,
        "an accepted hint could come again in time",
        verify::could_come_again,
    ),
    law(
        "VER-3 only expired nonces make room",
        moment!(Full),
        "the history is full of hints that could still come again",
        |world, state, _| {
            state.seen.evictable(world.budget.history, state.wall).is_some_and(|(_, may_go)| !may_go)
        },
    ),
    law(
        "VER-5 what is not accepted leaves nothing durable",
        verify::nothing_durable,
        "a hint is asked about after another was accepted",
        |_, state, edges| {
            let shown = |e: &Edge| matches!(e.action, Act::Present(_)) && advanced(e);
            !state.seen.accepted.is_empty() && edges.iter().any(shown)
        },
    ),
    law(
        "DSP-7 what the plane never minted starts nothing",
        moment!(Unminted),
        "the plane is asked about a wake that it never minted",
        verify::unminted_is_asked,
    ),
    law(
        "DSP-7 only what the plane was asked about is accepted, by its word",
        moment!(Unasked),
        "a question is out while a wake is accepted",
        |_, state, _| state.seen.asking.is_some() && !state.seen.accepted.is_empty(),
    ),
    law(
        "DSP-1 expiry is judged at acceptance",
        moment!(Late),
        "a hint ends while the plane is asked",
        |_, state, _| state.seen.asking.is_some_and(|text| text.expires <= state.wall),
    ),
    law(
        "DSP-1 what was accepted is not given up for its age",
        moment!(Dropped),
        "an accepted wake waits longer than its hint lives",
        |_, state, _| {
            state.seen.owed && state.seen.accepted.last().is_some_and(|t| t.text.expires <= state.wall)
        },
    ),
    law(
        "DSP-2 no wake is dispatched twice",
        flight::none_twice,
        "a dispatched wake comes again after a restart",
        |_, state, edges| {
            let flew = |n: u8| state.seen.flown.iter().any(|(wake, _)| *wake == n);
            let shown =
                |e: &Edge| matches!(e.action, Act::Present(shown) if shown.origin().is_some_and(flew));
            state.seen.start.is_some_and(|start| start.woken) && edges.iter().any(shown)
        },
    ),
    law(
        "DSP-7 a dispatch has the last permit to itself",
        moment!(Permit),
        "a dispatch left the process",
        |_, state, _| flight::dispatch(state).is_some(),
    ),
    law(
        "DSP-7 nothing is decided under a permit that has run out",
        moment!(Overdue),
        "a permit ran out before its answer came, and the hint did not",
        flight::late_permit,
    ),
    law(
        "DSP-7 nothing leaves after the permit has run out",
        moment!(Spent),
        "a permit ran out before its dispatch",
        |_, state, _| {
            let over = state.seen.permit.is_some_and(|given| given.until <= state.ticks);
            over && flight::dispatch(state).is_some()
        },
    ),
    law(
        "DSP-7 the plane hears of a flight before it begins",
        moment!(Unreported),
        "a dispatch leaves the process",
        |_, _, edges| edges.iter().any(|e| e.label.effects.contains(&"dispatch")),
    ),
    law(
        "DSP-2 the attempt is on disk before the dispatch leaves",
        moment!(Attempt),
        "something was dispatched, and the machine is down",
        |_, state, _| state.daemon.is_down() && !state.seen.flown.is_empty(),
    ),
    law(
        "DSP-2 no start during a flight",
        moment!(Second),
        "a hint is before the plane after the cooldown, and only a flight forbids its start",
        |_, state, _| flight::could_start_but(state, |_| true),
    ),
    law(
        "DSP-2 two flights never run together",
        flight::one_runs,
        "a flight runs while another wake is accepted",
        |_, state, _| !state.running.is_empty() && state.seen.accepted.len() > 1,
    ),
    law(
        "DSP-2 a flight ends after flight_max",
        flight::ends_in_time,
        "a flight has lasted flight_max",
        |_, state, _| {
            state.daemon.live().is_some() && flight::age(state).is_some_and(|age| age >= FLIGHT_MAX)
        },
    ),
    law(
        "DSP-2 an end is reported as what it was, and what the clock ends as expired",
        moment!(Misreported),
        "a flight is over because it took too long",
        |_, _, edges| {
            let over = |e: &Edge| e.action == Act::Fire && advanced(e) && e.label.what == "flight_ended";
            edges.iter().any(over)
        },
    ),
    law("DSP-2 the end of a flight is reported", moment!(Silent), "a flight has ended", |_, state, _| {
        state.seen.start.is_some_and(|start| !start.open)
    }),
    law(
        "DSP-1 the cooldown lies between two starts",
        moment!(Cooldown),
        "a wake is owed within the cooldown",
        |_, state, _| state.seen.owed && flight::cools(state),
    ),
    law(
        "DSP-1 only the latest accepted wake is started",
        moment!(Superseded),
        "two wakes were accepted before one was started",
        |_, state, _| state.seen.owed && state.seen.accepted.len() > state.seen.flown.len() + 1,
    ),
    law(
        "DSP-3 the back-off lies between a failure and the next start",
        moment!(BackOff),
        "a wake is owed after a failure",
        |_, state, _| state.seen.owed && state.seen.failures > 0,
    ),
    law(
        "DSP-5 an unknown outcome is neither success nor failure",
        moment!(Unsure),
        "a hint is before the plane after the cooldown while an outcome is unknown",
        |_, state, _| flight::could_start_but(state, |start| start.unsure),
    ),
    law(
        "DSP-12 nothing starts while the fate of a flight is unknown",
        moment!(Resolving),
        "a hint is before the plane after the cooldown while a fate is unknown",
        |_, state, _| flight::could_start_but(state, |start| start.resolving),
    ),
    law(
        "DSP-12 after a restart the fate of a flight is looked up at once",
        owed::looks_up,
        "the fate of a flight is unknown and nobody has looked it up",
        owed::unresolved,
    ),
    law(
        "DSP-12 the operator is told of a fate that nobody can tell",
        moment!(Untold),
        "a flight of unknown fate runs out",
        |_, _, edges| edges.iter().any(|e| e.label.effects.contains(&"tell_operator")),
    ),
    law(
        "DSP-10 nothing starts while paused",
        moment!(Paused),
        "a wake is owed during a pause",
        |_, state, _| state.seen.owed && state.seen.paused,
    ),
    law(
        "DSP-8 nothing starts that may not be woken",
        moment!(Ineligible),
        "a wake is owed to a runtime that may not be woken",
        |_, state, _| state.seen.owed && !state.seen.eligible(),
    ),
    law(
        "DSP-8 a dispatch says whether a human is there",
        moment!(Attended),
        "a start with a human",
        |_, state, _| state.seen.start.is_some_and(|start| start.attended),
    ),
    law(
        "DSP-1 an accepted wake that was not started is asked about again",
        owed::is_asked_again,
        "an accepted wake waits",
        owed::waits,
    ),
    law(
        "DSP-1 an accepted wake waits no longer than cooldown and back-off",
        owed::waits_no_longer,
        "only time stands before an accepted wake",
        owed::only_time,
    ),
    law(
        "DSP-7 a hint without an answer is asked about again until it ends",
        owed::asks_about_what_it_holds,
        "a hint is held while the plane is away",
        owed::holds_a_hint,
    ),
    law(
        "DSP-11 after every recovery and reconnection a look is owed",
        owed::looks_at_once,
        "a machine woke again and has not looked yet",
        |_, state, _| !state.seen.swept && state.daemon.live().is_some() && state.spent.crashes > 0,
    ),
    law(
        "DSP-11 a look has a cause, or comes a whole sweep after the last",
        moment!(Restless),
        "the last look is over, and nothing owes another",
        |_, state, _| state.seen.swept && !state.seen.look && owed::is_free(state),
    ),
    law(
        "DSP-11 a look that failed is owed again",
        owed::hears_that_it_failed,
        "the last look has failed, and the daemon is yet to hear of it",
        owed::look_failed,
    ),
    law(
        "DSP-7 a plane that gave no word, or its permit to another, is not asked again at once",
        moment!(Impatient),
        "there is something to ask, and it is too early",
        |_, state, _| {
            let pause = state.ticks < state.seen.not_before;
            let something = state.seen.held || state.seen.owed || (state.seen.look && state.seen.swept);
            pause && something && owed::is_free(state)
        },
    ),
    law("DSP-11 a look that is owed comes", owed::looks, "a look is owed after the first", |_, state, _| {
        state.seen.look && state.seen.swept && owed::is_free(state)
    }),
];

/// Whether the machine moved on by it.
fn advanced(edge: &Edge) -> bool {
    edge.label.verdict == world::Verdict::Advanced
}
