//! One piece of work, from a wake to its cleanup (STN-5, STN-6, STN-7, STN-9, OBS-1, OBS-3).

use awakener_kernel::ids::Tier;
use awakener_kernel::station::{Effect, Input, PhaseName};
use awakener_kernel::values::Finish;

use super::super::World;
use super::super::act::{Act, Deed, End, How};
use super::super::seen::Broken;
use super::super::values::{message_number, turn_number};
use super::{begins, first, phase, said};
use crate::world::{Law, Verdict};

pub const INBOX_READ: Law<World> = Law {
    name: "STN-5 after an accepted hint the inbox is read before anything is claimed",
    holds: |_, state, _| state.seen.intact(Broken::Unread),
    twin: "a hint was accepted and the inbox is about to be read",
    reached: |_, state, _| state.seen.hinted && matches!(first(state), Some(Effect::ReadInbox { .. })),
};

pub const RESULT_FIRST: Law<World> = Law {
    name: "STN-6 the result is in the mailbox before the ACK is sent",
    holds: |_, state, _| state.seen.intact(Broken::AckFirst),
    twin: "an ACK is about to be sent",
    reached: |_, state, _| matches!(first(state), Some(Effect::SendAck { .. })),
};

pub const REPORT_FIRST: Law<World> = Law {
    name: "ACK-5 the mailbox knows of a complete turn before its ACK is sent",
    holds: |_, state, _| state.seen.intact(Broken::Unreported),
    twin: "the result of a complete turn is sent in a later boot",
    reached: |_, state, _| match first(state) {
        Some(Effect::RecordResult { turn, .. }) => {
            let turn = state.seen.turn(turn_number(turn.turn));
            turn.is_some_and(|turn| turn.end == Some(End::Whole) && turn.boot < state.boots)
        }
        _ => false,
    },
};

pub const NO_TURN_TWICE: Law<World> = Law {
    name: "STN-6 after a complete turn a message has no other",
    holds: |_, state, _| state.seen.intact(Broken::Repeated),
    twin: "a message with a complete turn is given out again",
    reached: |_, state, edges| {
        edges.iter().any(|edge| match edge.action {
            Act::Perform(Deed::Claim, How::Gives(n, _)) => {
                edge.moves() && state.seen.past[usize::from(n)].complete.is_some()
            }
            _ => false,
        })
    },
};

pub const NO_REPLY_TWICE: Law<World> = Law {
    name: "STN-6 the mailbox is never offered the result of another turn",
    holds: |_, state, _| state.seen.intact(Broken::OtherResult),
    twin: "a result that the mailbox has is sent once more",
    reached: |_, state, _| match first(state) {
        Some(Effect::RecordResult { turn, .. }) => {
            state.outside.mail[usize::from(message_number(turn.message))].result.is_some()
        }
        _ => false,
    },
};

pub const OBSERVED: Law<World> = Law {
    name: "OBS-1 the station acknowledges nothing but what a whole turn has seen",
    holds: |_, state, _| state.seen.intact(Broken::Unobserved),
    twin: "a turn claimed success and its process failed",
    reached: |_, state, _| state.seen.turns.iter().any(|turn| turn.end == Some(End::Clash)),
};

pub const REPORTED: Law<World> = Law {
    name: "OBS-1 only a whole turn is called complete",
    holds: |_, state, _| state.seen.intact(Broken::FalseReport),
    twin: "a turn is reported that was not whole",
    reached: |_, state, _| matches!(first(state), Some(Effect::ReportTurn { finish, .. }) if *finish != Finish::Complete),
};

pub const TRUNCATED: Law<World> = Law {
    name: "OBS-3 a truncated turn is handled for the queue and never observed",
    holds: |_, state, _| {
        state.seen.turns.iter().filter(|turn| turn.end == Some(End::Cut)).all(|turn| {
            let n = usize::from(turn.message);
            state.seen.past[n].complete != Some(turn.turn)
                && state.outside.mail[n].complete != Some(turn.turn)
        })
    },
    twin: "the mailbox has the result of a truncated turn",
    reached: |_, state, _| {
        state.seen.turns.iter().any(|turn| {
            turn.end == Some(End::Cut)
                && state.outside.mail[usize::from(turn.message)].result == Some(turn.turn)
        })
    },
};

pub const TIERS: Law<World> = Law {
    name: "ACK-6 nothing but an alert is acknowledged",
    holds: |_, state, _| state.seen.intact(Broken::WrongTier),
    twin: "a message that is no alert is closed",
    reached: |world, state, _| {
        world
            .bounds
            .mail
            .iter()
            .zip(state.seen.closed)
            .any(|(mail, closed)| closed && mail.tier != Tier::Zero)
    },
};

pub const LATENCY: Law<World> = Law {
    name: "STN-7 a latency is measured above the known tail and nowhere else",
    holds: |_, state, _| state.seen.intact(Broken::Latency),
    twin: "a message above the tail is closed",
    reached: |_, state, _| state.seen.tail == Some(0) && state.seen.closed[0],
};

pub const CLOSED: Law<World> = Law {
    name: "STN-3 a station calls closed what its mailbox has closed, an alert by its ACK",
    holds: |_, state, _| state.seen.intact(Broken::Unclosed),
    twin: "an ACK was accepted, and its station is about to hear of it",
    reached: |_, state, edges| {
        matches!(state.inbox.front(), Some(Input::AckAccepted { .. }))
            && said(edges, Act::Take) == Some(Verdict::Advanced)
    },
};

pub const CLEANED_FIRST: Law<World> = Law {
    name: "STN-9 no pass begins before the last one is cleaned up",
    holds: |_, state, edges| state.seen.owed.is_none() || !begins(edges),
    twin: "an armed station owes a cleanup",
    reached: |_, state, _| state.seen.owed.is_some() && phase(state) == Some(PhaseName::Armed),
};

pub const CLEANED_ONCE: Law<World> = Law {
    name: "STN-9 each pass is cleaned up once",
    holds: |_, state, _| state.seen.intact(Broken::Uncalled),
    twin: "a cleanup that is done is reported again",
    reached: |_, state, edges| {
        matches!(state.inbox.front(), Some(Input::CleanupDone { .. }))
            && said(edges, Act::Take).is_some_and(|said| said != Verdict::Advanced)
    },
};

/// Else a cleanup that takes long is asked for again without end, and no pass begins any more.
pub const CLEANED_SOON: Law<World> = Law {
    name: "STN-9 a cleanup is done when its first answer comes, however often it was asked for",
    holds: |_, state, edges| match state.inbox.front() {
        Some(Input::CleanupDone { ticket, .. }) if state.seen.cleaning == Some(*ticket) => {
            said(edges, Act::Take).is_none_or(|said| said == Verdict::Advanced)
        }
        _ => true,
    },
    twin: "a cleanup was asked for again, and its first answer comes",
    reached: |_, state, _| {
        matches!(state.inbox.front(), Some(Input::CleanupDone { ticket, .. }) if state.seen.cleaning == Some(*ticket))
            && matches!(first(state), Some(Effect::CleanUp { .. }))
    },
};

pub const CLEANED_WELL: Law<World> = Law {
    name: "STN-9 what is cleaned up neither runs nor holds a lease",
    holds: |_, state, _| state.seen.intact(Broken::Dirty),
    twin: "a turn that runs is about to be cleaned up",
    reached: |_, state, _| {
        !state.outside.running.is_empty() && matches!(first(state), Some(Effect::CleanUp { .. }))
    },
};

pub const NOTHING_RUNS: Law<World> = Law {
    name: "STN-9 nothing runs where no cleanup is owed",
    holds: |_, state, _| {
        let rests = state.live().is_some() && state.outbox.is_empty() && state.seen.owed.is_none();
        !rests || state.outside.running.is_empty()
    },
    twin: "a turn outlived the process that started it",
    reached: |_, state, _| {
        state.live().is_some() && state.outside.running.iter().any(|run| run.start != state.starts)
    },
};

pub const NOTHING_HELD: Law<World> = Law {
    name: "STN-9 a station at rest holds no lease that it claimed",
    holds: |_, state, _| {
        let rests = match phase(state) {
            Some(PhaseName::Dark | PhaseName::Armed | PhaseName::Refused | PhaseName::LatchedDown) => true,
            Some(
                PhaseName::Waking
                | PhaseName::Reading
                | PhaseName::Cognizing
                | PhaseName::Acking
                | PhaseName::Synced,
            )
            | None => false,
        };
        let idle = rests && state.outbox.is_empty() && state.seen.owed.is_none();
        let this_boot = state.live().is_some_and(|live| live.last_ticket().epoch == state.outside.claimed);
        !(idle && state.outside.held && this_boot)
    },
    twin: "a claim is about to be given back",
    reached: |_, state, _| state.outside.held && matches!(first(state), Some(Effect::Release { .. })),
};
