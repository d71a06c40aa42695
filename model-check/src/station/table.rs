//! The edges of a station, copied by hand from the contract (STN-3) and from nowhere else.

use awakener_kernel::station::{Event, PhaseName};
use awakener_kernel::values::Finish;

use PhaseName::{Acking, Armed, Cognizing, Dark, LatchedDown, Reading, Refused, Synced, Waking};

/// ARMED to SYNCED (STN-1).
const ACTIVE: [PhaseName; 6] = [Armed, Waking, Reading, Cognizing, Acking, Synced];

/// Whether the table has this change of phase for what happened, or lets it happen without one.
pub fn allows(from: PhaseName, event: &Event, to: PhaseName) -> bool {
    let edge = |froms: &[PhaseName], goal: PhaseName| froms.contains(&from) && to == goal;
    let stays = from == to;
    match event {
        Event::Granted => edge(&[Dark], Armed) || (stays && from != Dark && from != LatchedDown),
        Event::GrantEnded(_) => match from {
            LatchedDown => stays,
            _ => from != Dark && to == Dark,
        },
        Event::Woken => edge(&[Armed], Waking),
        Event::ReadingStarted => edge(&[Armed, Waking], Reading),
        Event::DispatchFailed => edge(&[Waking], Armed),
        Event::NothingNew => edge(&[Reading], Armed),
        Event::TurnStarted => edge(&[Reading], Cognizing),
        Event::TurnResumed => edge(&[Reading], Acking),
        Event::OwnAckSeen(_) => edge(&[Armed, Reading, Cognizing], Acking),
        Event::TurnFinished(Finish::Complete) => edge(&[Cognizing], Acking),
        Event::TurnFinished(_) => edge(&[Cognizing], Armed),
        Event::ResultRecorded => stays && from == Acking,
        Event::Synced(_) => edge(&[Acking], Synced),
        Event::StillOutstanding => edge(&[Acking], Armed),
        Event::CleanedUp(_) => edge(&[Synced], Armed) || (stays && from != Synced),
        Event::CauseFound => edge(&ACTIVE, Refused) || (stays && from == Refused),
        Event::CauseGone => edge(&[Refused], Armed) || (stays && from == Refused),
        Event::Latched(_) => edge(&ACTIVE, LatchedDown),
        Event::Cleared => edge(&[LatchedDown], Dark),
        Event::TripAudited(_)
        | Event::LatchSettled { .. }
        | Event::ClearAccepted
        | Event::LatchArchived
        | Event::ClearFailed
        | Event::Relatching => stays && from == LatchedDown,
        Event::TailKnown => stays && (from == Dark || from == Armed),
        Event::Looked => stays && from == Armed,
        Event::Renewing => stays && from == Cognizing,
        Event::CleaningUp => {
            stays && from != Waking && from != Reading && from != Cognizing && from != Acking
        }
        Event::Recovered => false,
    }
}
