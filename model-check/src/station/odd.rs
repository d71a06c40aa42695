//! Completions that nobody produced: which tickets they carry, and what they say.
//!
//! Rules: STN-4.

use awakener_kernel::ids::{Fence, Tier};
use awakener_kernel::station::{Closing, CursorAfter, Input, LatchStage, Phase, Station, Ticket};
use awakener_spec::Reason;

use super::act::{End, Kind, LaneKind, Which};
use super::bounds::ALERT;
use super::values::{self, trip_hash};
use crate::names;

/// A ticket of this sort, if there is one.
pub fn ticket(station: &Station, which: Which) -> Option<Ticket> {
    let last = station.last_ticket();
    let (awaited, cleaning) = (station.ticket(), station.cleaning());
    match which {
        Which::Awaited => awaited,
        Which::Cleaning => cleaning,
        Which::Late => {
            let mut old = (1..=last.number).rev().map(|number| Ticket { number, ..last });
            old.find(|ticket| Some(*ticket) != awaited && Some(*ticket) != cleaning)
        }
        Which::Stale => (last.epoch > 1).then(|| Ticket { epoch: last.epoch - 1, number: 1 }),
        Which::Unissued => Some(Ticket { number: last.number + 1, ..last }),
        Which::Future => Some(Ticket { epoch: last.epoch + 1, number: 1 }),
    }
}

/// Whether the phase asked for this kind of answer.
pub fn awaits(phase: &Phase, kind: Kind) -> bool {
    match phase {
        Phase::Dark | Phase::Armed(_) | Phase::Synced(_) | Phase::Refused(_) => false,
        Phase::Waking(_) => matches!(kind, Kind::InboxRead | Kind::DispatchFailed),
        Phase::Reading(_) => matches!(kind, Kind::Claimed | Kind::ClaimedNothing),
        Phase::Cognizing(_) => kind == Kind::TurnFinished,
        Phase::Acking(acking) => match acking.closing {
            Closing::Result(..) => matches!(kind, Kind::ResultRecorded | Kind::ResultRefused),
            Closing::Ack(..) | Closing::Own(..) => matches!(kind, Kind::AckAccepted | Kind::AckRefused),
        },
        Phase::LatchedDown(latched) => match latched.stage {
            LatchStage::Owed(_) | LatchStage::Down => false,
            LatchStage::Auditing(..) => kind == Kind::TripAuditDone,
            LatchStage::Writing(..) => kind == Kind::LatchWritten,
            LatchStage::Archiving(..) => kind == Kind::LatchArchived,
            LatchStage::Removing(..) => kind == Kind::LatchRemoved,
        },
    }
}

/// A completion of this kind that nobody produced.
pub fn completion(kind: Kind, ticket: Ticket) -> Input {
    let claimed =
        |work| Input::Claimed { ticket, turn: names::turn(99), lane: values::lane(LaneKind::Mapped), work };
    match kind {
        Kind::InboxRead => Input::InboxRead { ticket },
        Kind::DispatchFailed => Input::DispatchFailed { ticket },
        Kind::Claimed => claimed(Some(values::work(ALERT, 0, Fence(1), 0, None))),
        Kind::ClaimedNothing => claimed(None),
        Kind::TurnFinished => {
            let (evidence, answer) = values::ended(End::Whole, Tier::Zero);
            Input::TurnFinished { ticket, evidence, answer }
        }
        Kind::ResultRecorded => Input::ResultRecorded { ticket },
        Kind::ResultRefused => Input::ResultRefused { ticket, why: Reason::LostLease },
        Kind::AckAccepted => Input::AckAccepted { ticket },
        Kind::AckRefused => Input::AckRefused { ticket, why: Reason::AckNotRead },
        Kind::CleanupDone => Input::CleanupDone { ticket, cursor: CursorAfter::Moved },
        Kind::TripAuditDone => Input::TripAuditDone { ticket, result: Ok(trip_hash(1)) },
        Kind::LatchWritten => Input::LatchWritten { ticket, ok: true },
        Kind::LatchArchived => Input::LatchArchived { ticket, ok: true },
        Kind::LatchRemoved => Input::LatchRemoved { ticket, ok: true },
    }
}
