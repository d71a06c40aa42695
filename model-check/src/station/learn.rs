//! How an answer becomes part of what the outside knows, and what is wrong with it at that moment.
//!
//! Called for each step that became durable, told or untold, and for each boot. Not here: what effects do
//! ([`super::outside`]).

use awakener_kernel::station::{Event, Input, Lane, Latency, PhaseName, Work};
use awakener_kernel::values::Finish;

use super::act::{End, LaneKind};
use super::bounds::{Cause, TICK};
use super::outside::Lying;
use super::seen::{Asked, Broken, Latched, Owed, Past, Seen, Turn};
use super::table;
use super::values::{PRIOR_TURN, latch_number, message_number, turn_number};
use super::{Scene, Up, World};

/// Who would run a turn, told from the lane.
const fn lane_kind(lane: &Lane) -> LaneKind {
    match lane {
        Lane::Hosted { mapped: Some(_), .. } => LaneKind::Mapped,
        Lane::Hosted { mapped: None, .. } => LaneKind::Unmapped,
        Lane::Attached => LaneKind::Attached,
    }
}

/// The words of a message that descends from the station's own output.
const fn own_words(cause: Cause, message: u8) -> Option<u8> {
    match cause {
        Cause::Outside => None,
        Cause::Own | Cause::Deep | Cause::Loop => Some(message),
        Cause::Echo => Some(9),
    }
}

impl Seen {
    fn fail(&mut self, message: u8, now: u32) {
        let past = &mut self.past[usize::from(message)];
        past.fails += 1;
        past.failed = now;
    }

    /// A turn is given up by the station itself.
    fn drop_turn(&mut self, now: u32) {
        if let Some(message) = self.open.take().and_then(|turn| self.turn(turn)).map(|turn| turn.message) {
            self.fail(message, now);
        }
    }

    fn message_of(&self, turn: u8) -> u8 {
        self.turn(turn).map_or(0, |turn| turn.message)
    }
}

impl World {
    /// A step became durable; `told` if its effects were released.
    pub(super) fn learn(&self, state: &mut Scene, asked: &Asked, event: &Event, to: PhaseName, told: bool) {
        let now = state.clock;
        let seen = &mut state.seen;
        seen.must(table::allows(asked.from, event, to), Broken::Edge);
        match (event, &asked.input) {
            (Event::Granted, Input::Grant { until, .. }) => {
                seen.grant = u32::try_from(until.0 / TICK).ok();
            }
            (Event::TailKnown, Input::MarkTail { tail }) => seen.tail = u8::try_from(tail.0).ok(),
            (Event::GrantEnded(_), _) => {
                seen.drop_turn(now);
                // What forbids work is forgotten with the grant; with the next one it must be told again.
                (seen.grant, seen.closing, seen.blind, seen.invalid) = (None, None, false, false);
            }
            (Event::Woken, _) => seen.hinted = told,
            (Event::TurnStarted, Input::Claimed { turn, lane, work: Some(work), .. }) => {
                self.decided(state, turn_number(*turn), lane_kind(lane), work, told);
            }
            (Event::TurnResumed, Input::Claimed { work: Some(work), .. }) => {
                let message = message_number(work.message());
                let past = &mut seen.past[usize::from(message)];
                let prior = work.prior.map(|prior| turn_number(prior.turn));
                let turn = prior.or(past.complete).unwrap_or(PRIOR_TURN);
                past.complete = Some(turn);
                (seen.owed, seen.closing) = (Some(Owed::Turn(turn)), Some(message));
            }
            (Event::TurnFinished(finish), _) => {
                let Some(turn) = seen.open.take() else { return seen.breaks(Broken::FalseReport) };
                let (message, end) = (seen.message_of(turn), seen.turn(turn).and_then(|turn| turn.end));
                if *finish == Finish::Complete {
                    seen.must(end == Some(End::Whole), Broken::FalseReport);
                    seen.past[usize::from(message)].complete = Some(turn);
                    seen.closing = Some(message);
                } else {
                    seen.fail(message, now);
                }
            }
            (Event::OwnAckSeen(_), Input::OwnAck { message, .. }) => {
                seen.open = None;
                seen.closing = Some(message_number(*message));
            }
            (Event::StillOutstanding, _) => {
                if let Some(Owed::Turn(turn)) = seen.owed {
                    seen.fail(seen.message_of(turn), now);
                }
                seen.closing = None;
            }
            (Event::Synced(latency), _) => {
                let message = seen.closing.take().unwrap_or_default();
                let above = seen.tail.is_some_and(|tail| message + 1 > tail);
                seen.must((*latency == Latency::Measured) == above, Broken::Latency);
                seen.must(state.outside.closed(self.bounds.mail, message), Broken::Unclosed);
                seen.past[usize::from(message)] = Past::default();
                seen.closed[usize::from(message)] = true;
                seen.owed = seen.owed.or(Some(Owed::Pass));
            }
            (Event::CleanedUp(_), _) => {
                let runs = |turn| state.outside.running.iter().any(|run| run.turn == turn);
                match seen.owed.take() {
                    None => seen.breaks(Broken::Uncalled),
                    Some(Owed::Turn(turn)) => seen.must(!runs(turn), Broken::Dirty),
                    Some(Owed::Pass) => {}
                }
                seen.must(!state.outside.held, Broken::Dirty);
                seen.cleaning = None;
            }
            (Event::CauseFound, Input::CauseFound { cause }) => {
                seen.drop_turn(now);
                seen.closing = None;
                *seen.cause(*cause) = true;
            }
            (Event::CauseGone, Input::CauseGone { cause }) => *seen.cause(*cause) = false,
            (Event::Latched(latch), input) => {
                seen.drop_turn(now);
                seen.closing = None;
                let tripped = matches!(input, Input::Claimed { .. });
                seen.latch =
                    Some(Latched { tripped, ..Latched::new(latch_number(*latch), now, state.boots) });
                if let Input::Claimed { work: Some(work), .. } = input {
                    let grounds = self.grounds(state, work);
                    state.seen.must(grounds, Broken::Groundless);
                }
            }
            (Event::LatchSettled { .. }, _) => {
                seen.latch.iter_mut().for_each(|latch| latch.settled = true);
            }
            (Event::ClearAccepted, _) => seen.latch.iter_mut().for_each(|latch| latch.clearing = true),
            (Event::ClearFailed, _) => {
                seen.latch.iter_mut().for_each(|latch| (latch.clearing, latch.kept) = (false, true));
            }
            (Event::TripAudited(_), Input::TripAuditDone { result: Ok(_), .. }) => {
                seen.latch.iter_mut().for_each(|latch| latch.audited = true);
            }
            (Event::Cleared, _) => {
                let latch = seen.latch.take();
                let kept = latch.is_some_and(|latch| state.outside.incidents.contains(&latch.latch));
                seen.must(latch.is_some_and(|latch| latch.clearing), Broken::ClearedAlone);
                seen.must(kept, Broken::NoIncident);
                (seen.grant, seen.cleared, state.standing) = (None, Some(state.boots), None);
            }
            (
                Event::Granted
                | Event::TailKnown
                | Event::ReadingStarted
                | Event::DispatchFailed
                | Event::NothingNew
                | Event::TurnStarted
                | Event::TurnResumed
                | Event::ResultRecorded
                | Event::OwnAckSeen(_)
                | Event::CauseFound
                | Event::CauseGone
                | Event::TripAudited(_)
                | Event::LatchArchived
                | Event::Looked
                | Event::Renewing
                | Event::CleaningUp
                | Event::Relatching
                | Event::Recovered,
                _,
            ) => {}
        }
    }

    /// A turn is on record as started.
    fn decided(&self, state: &mut Scene, turn: u8, lane: LaneKind, work: &Work, told: bool) {
        let (now, boot) = (state.clock, state.boots);
        let message = message_number(work.message());
        let cause = self.bounds.mail[usize::from(message)].cause;
        let seen = &mut state.seen;
        seen.must(seen.past[usize::from(message)].complete.is_none(), Broken::Repeated);
        seen.must(lane != LaneKind::Unmapped, Broken::Unmapped);
        seen.must(seen.open.is_none() && seen.owed.is_none(), Broken::Two);
        seen.must(!matches!(cause, Cause::Deep | Cause::Loop), Broken::Circle);
        if let Some(words) = own_words(cause, message) {
            let run = seen.echo_with(words, message);
            seen.must(run <= 1, Broken::Circle);
            seen.echo = Some((words, message, run));
        }
        let mut past = seen.past[usize::from(message)];
        let released = u8::try_from(work.released).unwrap_or(u8::MAX);
        if released > past.released {
            past = Past { released, ..Past::default() };
        }
        seen.must(u32::from(past.tries) < self.bounds.attempts, Broken::Attempts);
        let pause = 1_u32 << u32::from(past.fails.saturating_sub(1)).min(1);
        let rested = past.fails == 0 || now >= past.failed + pause || self.bounds.sets > 0;
        seen.must(rested, Broken::Restless);
        past.tries += 1;
        seen.past[usize::from(message)] = past;
        seen.turns.push(Turn { turn, message, at: now, boot, started: false, end: None });
        (seen.open, seen.owed) = (Some(turn), Some(Owed::Turn(turn)));
        if lane == LaneKind::Attached && told {
            self.starts(state, turn, None);
        }
    }

    /// Whether anything speaks against one more turn on this work: counts that are used up, or the work itself.
    fn grounds(&self, state: &Scene, work: &Work) -> bool {
        let (seen, now) = (&state.seen, state.clock);
        let message = message_number(work.message());
        let cause = self.bounds.mail[usize::from(message)].cause;
        let reached = |count: usize, limit: u32| u32::try_from(count).is_ok_and(|count| count >= limit);
        reached(seen.in_hour(now, |_| true), self.bounds.per_hour)
            || reached(seen.turns.len(), 2 * self.bounds.per_hour)
            || reached(seen.in_boot(state.boots, |_| true), self.bounds.per_boot)
            || matches!(cause, Cause::Deep | Cause::Loop)
            || own_words(cause, message).is_some_and(|words| seen.echo_with(words, message) > 1)
    }

    /// A recovery became durable.
    pub(super) fn booted(&self, state: &mut Scene) {
        let (now, wall) = (state.clock, state.wall);
        let seen = &mut state.seen;
        seen.drop_turn(now);
        if seen.owed == Some(Owed::Pass) {
            seen.owed = None;
        }
        if !seen.granted(wall) {
            seen.grant = None;
        }
        (seen.blind, seen.invalid, seen.hinted, seen.stopped) = (false, false, false, false);
        (seen.closing, seen.cleaning) = (None, None);
        let process = state.up == Up::Starting;
        seen.latch = seen.latch.map(|latch| {
            let latch = Latched { settled: false, clearing: false, kept: false, ..latch };
            if process { Latched { missing: None, written: false, unwritten: false, ..latch } } else { latch }
        });
    }

    /// Whether the machine woke where grant and latch let it (STN-2, FUS-6).
    pub(super) fn awoke(&self, state: &mut Scene) {
        let Some(phase) = state.station.live().map(|machine| machine.phase().name()) else { return };
        let expected = match (state.seen.latch, state.seen.grant) {
            (Some(_), _) => PhaseName::LatchedDown,
            (None, Some(_)) => PhaseName::Armed,
            (None, None) => PhaseName::Dark,
        };
        let latched = phase == PhaseName::LatchedDown;
        state.seen.must(latched || state.seen.latch.is_none(), Broken::Unlatched);
        let lies = state.up == Up::Starting && state.outside.path != Lying::Nothing;
        state.seen.must(latched || !lies, Broken::Unheeded);
        state.seen.must(phase == expected, Broken::Awoke);
    }
}
