//! All branching of the station: which input does what in which phase (STN-3, STN-4).
//!
//! A completion is first judged by its ticket: an old one is absorbed, one of an earlier boot or of none is refused.
//! Then phase and input decide. The leaves know nothing of phases that they are not called in.

use awakener_spec::{Reason, rule};

use super::completion::on_completion;
use super::judge::{Gate, Place};
use super::leaf::Leaf;
use super::phase::{LatchStage, LatchedDown, Phase, PhaseName};
use super::work::GrantEnd;
use super::{Input, Station};
use crate::config::Config;
use crate::machine::Step;
use crate::time::Now;

pub(super) fn step(station: Station, config: &Config, now: Now, input: Input) -> Step<Station> {
    match input.ticket().map(|ticket| station.place(ticket)) {
        Some(Place::Late) => absorbed(station),
        Some(Place::Stale) => refused(station, Reason::StaleTicket),
        Some(Place::Never) => misplaced(station),
        Some(Place::Current) | None => by_input(station, config, now, input),
    }
}

fn absorbed(station: Station) -> Step<Station> {
    rule!(Stn4);
    Step::absorbed(station)
}

pub(super) fn refused(station: Station, why: Reason) -> Step<Station> {
    rule!(Stn4);
    Step::refused(station, why)
}

pub(super) fn misplaced(station: Station) -> Step<Station> {
    refused(station, Reason::OutOfPhase)
}

fn by_input(station: Station, config: &Config, now: Now, input: Input) -> Step<Station> {
    let leaf = |station| Leaf::new(station, config, now);
    match input {
        Input::Grant { until, command } => on_grant(station, config, now, super::Grant { until, command }),
        Input::Disarm => on_grant_end(leaf(station), GrantEnd::Disarmed),
        Input::Abort => on_grant_end(leaf(station), GrantEnd::Aborted),
        Input::MarkTail { tail } => match station.phase().name() {
            PhaseName::Dark | PhaseName::Armed if station.image.tail.is_some_and(|known| tail <= known) => {
                absorbed(station)
            }
            PhaseName::Dark | PhaseName::Armed => leaf(station).mark_tail(tail),
            PhaseName::LatchedDown => refused(station, Reason::Latched),
            PhaseName::Waking
            | PhaseName::Reading
            | PhaseName::Cognizing
            | PhaseName::Acking
            | PhaseName::Synced
            | PhaseName::Refused => misplaced(station),
        },
        Input::Hint { .. } => match station.gate(now) {
            Gate::Open => leaf(station).wake(),
            Gate::Busy => absorbed(station),
            Gate::Closed(why) => refused(station, why),
        },
        Input::WorkFound => match station.gate(now) {
            Gate::Open => leaf(station).read(),
            Gate::Busy => absorbed(station),
            Gate::Closed(why) => refused(station, why),
        },
        Input::OwnAck { message, seq, by } => match *station.phase() {
            Phase::Armed(_) if station.owes_cleanup() => absorbed(station),
            Phase::Cognizing(c) if c.pass.turn.message != message => absorbed(station),
            Phase::Armed(_) | Phase::Reading(_) | Phase::Cognizing(_) => {
                leaf(station).own_ack(message, seq, by)
            }
            Phase::Dark
            | Phase::Waking(_)
            | Phase::Acking(_)
            | Phase::Synced(_)
            | Phase::Refused(_)
            | Phase::LatchedDown(_) => absorbed(station),
        },
        Input::LeaseLost { fence } => match *station.phase() {
            Phase::Cognizing(c) if c.pass.fence == fence => leaf(station).lose_lease(c.pass),
            Phase::Acking(a) if a.closing.fence() == Some(fence) => {
                leaf(station).still_outstanding(a.closing, Some(Reason::LostLease))
            }
            Phase::Dark
            | Phase::Armed(_)
            | Phase::Waking(_)
            | Phase::Reading(_)
            | Phase::Cognizing(_)
            | Phase::Acking(_)
            | Phase::Synced(_)
            | Phase::Refused(_)
            | Phase::LatchedDown(_) => absorbed(station),
        },
        Input::CauseFound { cause } => match station.phase() {
            Phase::Refused(r) if r.causes.contains(&cause) => absorbed(station),
            Phase::Dark => refused(station, Reason::NotArmed),
            Phase::LatchedDown(_) => refused(station, Reason::Latched),
            Phase::Refused(_)
            | Phase::Armed(_)
            | Phase::Waking(_)
            | Phase::Reading(_)
            | Phase::Cognizing(_)
            | Phase::Acking(_)
            | Phase::Synced(_) => leaf(station).refuse_work(cause),
        },
        Input::CauseGone { cause } => match station.phase() {
            Phase::Refused(r) if r.causes.contains(&cause) => {
                let last = r.causes.len() == 1;
                if last && !station.granted(now.wall) {
                    leaf(station).end_grant(GrantEnd::Expired)
                } else {
                    leaf(station).allow_work(cause)
                }
            }
            Phase::Dark => refused(station, Reason::NotArmed),
            Phase::LatchedDown(_) => refused(station, Reason::Latched),
            Phase::Refused(_)
            | Phase::Armed(_)
            | Phase::Waking(_)
            | Phase::Reading(_)
            | Phase::Cognizing(_)
            | Phase::Acking(_)
            | Phase::Synced(_) => absorbed(station),
        },
        Input::LatchFound { latch } => match station.phase().name() {
            PhaseName::LatchedDown => absorbed(station),
            PhaseName::Dark | PhaseName::Refused => refused(station, Reason::Latched),
            PhaseName::Armed
            | PhaseName::Waking
            | PhaseName::Reading
            | PhaseName::Cognizing
            | PhaseName::Acking
            | PhaseName::Synced => leaf(station).latch_found(latch),
        },
        Input::Clear { command } => match *station.phase() {
            Phase::LatchedDown(LatchedDown { stage }) => match stage {
                LatchStage::Auditing(..) | LatchStage::Writing(..) => misplaced(station),
                LatchStage::Owed(_)
                | LatchStage::Down
                | LatchStage::Archiving(..)
                | LatchStage::Removing(..) => leaf(station).clear(command),
            },
            Phase::Dark
            | Phase::Armed(_)
            | Phase::Waking(_)
            | Phase::Reading(_)
            | Phase::Cognizing(_)
            | Phase::Acking(_)
            | Phase::Synced(_)
            | Phase::Refused(_) => refused(station, Reason::NotLatched),
        },
        Input::CleanupDone { ticket, cursor } => {
            if station.cleaning() == Some(ticket) {
                leaf(station).cleaned_up(cursor)
            } else {
                misplaced(station)
            }
        }
        Input::Fire => station.fire(config, now),
        Input::InboxRead { ticket }
        | Input::DispatchFailed { ticket }
        | Input::Claimed { ticket, .. }
        | Input::TurnFinished { ticket, .. }
        | Input::ResultRecorded { ticket }
        | Input::ResultRefused { ticket, .. }
        | Input::AckAccepted { ticket }
        | Input::AckRefused { ticket, .. }
        | Input::TripAuditDone { ticket, .. }
        | Input::LatchWritten { ticket, .. }
        | Input::LatchArchived { ticket, .. }
        | Input::LatchRemoved { ticket, .. } => {
            if station.ticket() == Some(ticket) {
                on_completion(station, config, now, input)
            } else {
                misplaced(station)
            }
        }
    }
}

fn on_grant(station: Station, config: &Config, now: Now, grant: super::Grant) -> Step<Station> {
    rule!(Stn2);
    if station.image.grant == Some(grant) {
        return absorbed(station);
    }
    if grant.until <= now.wall {
        return refused(station, Reason::NotArmed);
    }
    if grant.until > now.wall + config.grant {
        return refused(station, Reason::OperatorBoundExceeded);
    }
    let leaf = |station| Leaf::new(station, config, now);
    match station.phase().name() {
        PhaseName::LatchedDown => refused(station, Reason::Latched),
        PhaseName::Dark => leaf(station).arm_by_grant(grant),
        PhaseName::Armed
        | PhaseName::Waking
        | PhaseName::Reading
        | PhaseName::Cognizing
        | PhaseName::Acking
        | PhaseName::Synced
        | PhaseName::Refused => leaf(station).move_grant(grant),
    }
}

/// Ends the grant; where there is none there is nothing to end.
pub(super) fn on_grant_end(leaf: Leaf<'_>, end: GrantEnd) -> Step<Station> {
    match leaf.image().grant {
        Some(_) => leaf.end_grant(end),
        None => absorbed(leaf.draft.machine),
    }
}
