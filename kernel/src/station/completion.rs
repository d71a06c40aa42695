//! The other half of the station's branching: completions that carry the ticket which the phase waits for.
//!
//! Rules: STN-3, STN-4, STN-6, FUS-4, FUS-7.

use awakener_spec::Reason;

use super::judge::Verdict;
use super::leaf::Leaf;
use super::phase::{Closing, LatchStage, Phase};
use super::step::{misplaced, refused};
use super::work::{MissingAudit, TripAudit, Work};
use super::{Input, Lane, LatchId, Station};
use crate::config::Config;
use crate::ids::{Tier, TurnId};
use crate::machine::Step;
use crate::time::Now;

/// A completion that carries the phase's own ticket. One that the phase did not ask for is out of phase all the same.
pub(super) fn on_completion(station: Station, config: &Config, now: Now, input: Input) -> Step<Station> {
    let leaf = |station| Leaf::new(station, config, now);
    match (station.phase().clone(), input) {
        (Phase::Waking(_), Input::InboxRead { .. }) => leaf(station).read(),
        (Phase::Waking(_), Input::DispatchFailed { .. }) => leaf(station).dispatch_failed(),
        (Phase::Reading(_), Input::Claimed { turn, lane, work, .. }) => {
            on_claimed(station, config, now, turn, lane, work)
        }
        (Phase::Cognizing(c), Input::TurnFinished { evidence, answer, .. }) => {
            leaf(station).finish_turn(c.pass, evidence, answer)
        }
        (Phase::Acking(a), Input::ResultRecorded { .. }) => match a.closing {
            Closing::Result(pass, answer) if pass.tier == Tier::Zero => leaf(station).send_ack(pass, answer),
            Closing::Result(pass, _) => leaf(station).result_closes(pass),
            Closing::Ack(..) | Closing::Own(..) => misplaced(station),
        },
        (Phase::Acking(a), Input::ResultRefused { why, .. }) => match a.closing {
            Closing::Result(..) => leaf(station).still_outstanding(a.closing, Some(why)),
            Closing::Ack(..) | Closing::Own(..) => misplaced(station),
        },
        (Phase::Acking(a), Input::AckAccepted { .. }) => match a.closing {
            Closing::Ack(..) | Closing::Own(..) => leaf(station).sync(a.closing),
            Closing::Result(..) => misplaced(station),
        },
        (Phase::Acking(a), Input::AckRefused { why, .. }) => match a.closing {
            Closing::Ack(..) | Closing::Own(..) => leaf(station).still_outstanding(a.closing, Some(why)),
            Closing::Result(..) => misplaced(station),
        },
        (Phase::LatchedDown(l), Input::TripAuditDone { result, .. }) => match l.stage {
            LatchStage::Auditing(..) => leaf(station).trip_audited(match result {
                Ok(hash) => TripAudit::Recorded(hash),
                Err(why) => TripAudit::Missing(MissingAudit::Failed(why)),
            }),
            LatchStage::Owed(_)
            | LatchStage::Writing(..)
            | LatchStage::Down
            | LatchStage::Archiving(..)
            | LatchStage::Removing(..) => misplaced(station),
        },
        (Phase::LatchedDown(l), Input::LatchWritten { ok, .. }) => match l.stage {
            LatchStage::Writing(..) => leaf(station).latch_settled(ok),
            LatchStage::Owed(_)
            | LatchStage::Auditing(..)
            | LatchStage::Down
            | LatchStage::Archiving(..)
            | LatchStage::Removing(..) => misplaced(station),
        },
        (Phase::LatchedDown(l), Input::LatchArchived { ok, .. }) => match l.stage {
            LatchStage::Archiving(_, command) if ok => leaf(station).latch_archived(command),
            LatchStage::Archiving(..) => leaf(station).clear_failed(),
            LatchStage::Owed(_)
            | LatchStage::Auditing(..)
            | LatchStage::Writing(..)
            | LatchStage::Down
            | LatchStage::Removing(..) => misplaced(station),
        },
        (Phase::LatchedDown(l), Input::LatchRemoved { ok, .. }) => match l.stage {
            LatchStage::Removing(_, command) if ok => leaf(station).latch_removed(command),
            LatchStage::Removing(..) => leaf(station).clear_failed(),
            LatchStage::Owed(_)
            | LatchStage::Auditing(..)
            | LatchStage::Writing(..)
            | LatchStage::Down
            | LatchStage::Archiving(..) => misplaced(station),
        },
        // A ticket is answered by what it was issued for, and by nothing else.
        (
            Phase::Dark
            | Phase::Armed(_)
            | Phase::Waking(_)
            | Phase::Reading(_)
            | Phase::Cognizing(_)
            | Phase::Acking(_)
            | Phase::Synced(_)
            | Phase::Refused(_)
            | Phase::LatchedDown(_),
            Input::InboxRead { .. }
            | Input::DispatchFailed { .. }
            | Input::Claimed { .. }
            | Input::TurnFinished { .. }
            | Input::ResultRecorded { .. }
            | Input::ResultRefused { .. }
            | Input::AckAccepted { .. }
            | Input::AckRefused { .. }
            | Input::TripAuditDone { .. }
            | Input::LatchWritten { .. }
            | Input::LatchArchived { .. }
            | Input::LatchRemoved { .. }
            | Input::CleanupDone { .. }
            | Input::Grant { .. }
            | Input::Disarm
            | Input::Abort
            | Input::MarkTail { .. }
            | Input::Hint { .. }
            | Input::WorkFound
            | Input::LeaseLost { .. }
            | Input::OwnAck { .. }
            | Input::CauseFound { .. }
            | Input::CauseGone { .. }
            | Input::LatchFound { .. }
            | Input::Clear { .. }
            | Input::Fire,
        ) => misplaced(station),
    }
}

fn on_claimed(
    station: Station,
    config: &Config,
    now: Now,
    turn: TurnId,
    lane: Lane,
    work: Option<Work>,
) -> Step<Station> {
    let leaf = |station| Leaf::new(station, config, now);
    if !station.granted(now.wall) {
        return refused(station, Reason::NotArmed);
    }
    let Some(work) = work else { return leaf(station).nothing_new() };
    match station.verdict(config, now, &work, &lane) {
        Verdict::Resume(turn, answer) => leaf(station).resume_turn(&work, turn, answer),
        Verdict::Exhausted => leaf(station).give_up(work.message()),
        Verdict::Resting => leaf(station).nothing_new(),
        Verdict::Unmapped => refused(station, Reason::UnmappedModel),
        Verdict::Trips(trip) => leaf(station).trip(LatchId(turn), work.message(), trip),
        Verdict::Start => leaf(station).start_turn(work, turn, lane),
    }
}
