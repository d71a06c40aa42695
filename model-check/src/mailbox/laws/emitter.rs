//! Laws of the emitter: tokens, hints, authority, the clock.

use awakener_kernel::mailbox::input::Minted;

use super::super::World;
use super::super::act::{Act, Call, Forgery};
use super::super::seen::Broken;
use super::{all_refused, is_first, tried};
use crate::names;
use crate::world::Law;

pub const RISE: Law<World> = Law {
    name: "EMT-1 tokens only rise",
    holds: |_, state, _| state.seen.intact(Broken::Token),
    twin: "there were hints in two epochs",
    reached: |_, state, _| {
        let epoch = |hint: &Minted| hint.token.epoch();
        state.seen.hints.first().map(epoch) != state.seen.hints.last().map(epoch)
    },
};

pub const RISE_AFTER_RESTORE: Law<World> = Law {
    name: "EMT-2 after a backup was restored every token is above all that ever were",
    holds: |_, state, _| state.seen.intact(Broken::TokenAfterRestore),
    twin: "hints left before a backup was restored, and after",
    reached: |_, state, _| {
        state.seen.restored.is_some_and(|before| before > 0 && state.seen.hints.len() > usize::from(before))
    },
};

pub const ON_DISK: Law<World> = Law {
    name: "EMT-1 a hint that left is on disk, and so is its alert",
    holds: |_, state, _| {
        let rows = &state.plane.disk().rows;
        // What left before a backup was restored is known to the world alone.
        let before = state.seen.restored.map_or(0, usize::from);
        state.seen.hints.iter().skip(before).all(|hint| {
            rows.mints.get(&hint.fresh.wake).is_some_and(|(_, message, token)| {
                (*message, *token) == (hint.message, hint.token) && rows.row(*message).is_some()
            })
        })
    },
    twin: "a hint left, and the machine is down",
    reached: |_, state, _| state.plane.is_down() && !state.seen.hints.is_empty(),
};

pub const STARTED: Law<World> = Law {
    name: "EMT-2 nothing is hinted at before the emitter's own epoch is on disk",
    holds: |_, state, edges| {
        state.outside.started || tried(edges).all(|(_, edge)| !matches!(edge.label.what, "minted" | "swept"))
    },
    twin: "an alert is on disk, and the emitter of a later boot has not started",
    reached: |_, state, _| {
        let boots_again = state.spent.crashes > 0 && state.plane.live().is_some();
        boots_again && !state.outside.started && state.plane.disk().rows.last_wake() > 0
    },
};

pub const OUTSTANDING: Law<World> =
    Law {
        name: "EMT-3 a hint or a permit is only ever about an outstanding alert",
        holds: |_, state, _| state.seen.intact(Broken::NotOutstanding),
        twin: "a hint is about an alert that was closed since",
        reached: |_, state, _| {
            state.seen.hints.iter().any(|hint| {
                state.seen.store.mail(names::message_number(hint.message).min(2)).closed.is_some()
            })
        },
    };

pub const BOUNDED: Law<World> = Law {
    name: "EMT-3 the schedule of hints is bounded, and what is refused uses it up",
    holds: |world, state, _| {
        let alerts =
            world.bounds.mail.iter().filter(|tier| **tier == awakener_kernel::ids::Tier::Zero).count();
        let most = alerts as u32 * (1 + world.bounds.re_emissions);
        u32::from(state.seen.store.emissions) <= most
    },
    twin: "the schedule is used up, and the alert is open",
    reached: |world, state, _| {
        let used_up = u32::from(state.seen.store.emissions) > world.bounds.re_emissions;
        used_up && state.seen.store.mail(0).closed.is_none()
    },
};

pub const AUTHORISED: Law<World> = Law {
    name: "ADM-6 without authority nothing is hinted at, whenever it was lost",
    holds: |_, state, edges| {
        let authority = state.outside.authority();
        (authority.rostered && authority.armed && authority.open)
            || tried(edges).all(|(_, edge)| !matches!(edge.label.what, "minted" | "swept"))
    },
    twin: "a due hint is refused for want of authority",
    reached: |_, _, edges| tried(edges).any(|(_, edge)| edge.label.what == "emission_refused"),
};

pub const CLOCK: Law<World> = Law {
    name: "EMT-6 while the clock lies back beyond the skew nothing is admitted as an alert, hinted at, or permitted",
    holds: |world, state, edges| {
        let alert = |n: u8| world.bounds.tier(n) == awakener_kernel::ids::Tier::Zero;
        !state.outside.clock.is_beyond()
            || tried(edges).all(|(call, edge)| match edge.label.what {
                "minted" | "swept" | "permitted" => false,
                "admitted" => !matches!(call, Call::Submit(n) if alert(n)),
                _ => true,
            })
    },
    twin: "the clock lies back beyond the skew, and a hint is due",
    reached: |world, state, _| {
        let clock = &state.outside.clock;
        clock.is_beyond() && state.plane.is_due(&world.config, clock.now())
    },
};

pub const FORGED: Law<World> = Law {
    name: "DSP-7 words about hints and permits that never were are refused",
    holds: |_, _, edges| all_refused(edges, is_wake),
    twin: "a hint that left is asked about with another token",
    reached: |_, _, edges| {
        edges.iter().any(|edge| matches!(edge.action, Act::Call(Call::Forge(Forgery::AskOtherToken(_)))))
    },
};

pub const ONE_FATE: Law<World> = Law {
    name: "EMT-4 a hint has one fate at the broker client",
    holds: |_, state, _| {
        let published = &state.plane.disk().rows.published;
        !is_first(state) || published.iter().all(|(wake, handed)| !published.contains(&(*wake, !handed)))
    },
    twin: "one hint was handed over, and one was not",
    reached: |_, state, _| {
        let published = &state.plane.disk().rows.published;
        published.iter().any(|(_, handed)| *handed) && published.iter().any(|(_, handed)| !handed)
    },
};

const fn is_wake(forgery: Forgery) -> bool {
    matches!(
        forgery,
        Forgery::AskUnminted
            | Forgery::AskOtherToken(_)
            | Forgery::AskOtherMessage(_)
            | Forgery::ReportNeverGranted(_)
            | Forgery::ReportUnminted
            | Forgery::ReportOtherDaemon(..)
            | Forgery::PublishedUnminted
    )
}
