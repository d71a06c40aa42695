//! Receipts as a projection of a mailbox's records (RCP-1, AUD-8), and the table of what is legal (RCP-2).
//!
//! Nothing here is state: a receipt follows from a record or it does not exist. The table of prerequisites stands in
//! `spec/receipts.toml`. Not here: receipts of other places (`refused` of an admission, `wake_refused` and `skipped`
//! of a wake daemon, `local_start`, `cleanup_complete`, `activation_closed`), which come of their own records.

use alloc::vec;
use alloc::vec::Vec;

use awakener_spec::{Reason, ReceiptKind};
use serde::{Deserialize, Serialize};

use crate::ids::{Fence, MessageId, Seq, TurnId, WakeId};
use crate::mailbox::entry::{Closed, Finished};
use crate::mailbox::record::Record;
use crate::values::{DispatchOutcome, Finish, FlightEnd, FlightReport, Response};

/// What a receipt belongs to (RCP-1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Key {
    /// One message.
    Message(MessageId),
    /// The message at this place of the inbox; its row says which.
    Place(Seq),
    /// One hint.
    Wake(WakeId),
    /// One flight: the wake, and the permit that it started under.
    Attempt(WakeId, Fence),
    /// One turn.
    Turn(TurnId),
}

/// What a receipt says beside its kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Detail {
    /// What the adapter said (the reason of `skipped`).
    Dispatch(DispatchOutcome),
    /// How the turn ended (the reason of `cognition_failed`).
    Finish(Finish),
    /// What ran the turn could have read the station's ACK key, so its ACK says no more than who holds that (SPW-6).
    AckKeyInReach,
}

/// One receipt.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Receipt {
    /// What is a fact now.
    pub kind: ReceiptKind,
    /// Of what.
    pub key: Key,
    /// The message that it concerns, where the record says so; links the keys of one message.
    pub message: Option<MessageId>,
    /// What else is known.
    pub detail: Option<Detail>,
}

impl Receipt {
    const fn new(kind: ReceiptKind, key: Key, message: MessageId) -> Self {
        Self { kind, key, message: Some(message), detail: None }
    }

    const fn of_message(kind: ReceiptKind, message: MessageId) -> Self {
        Self::new(kind, Key::Message(message), message)
    }
}

/// The receipts that a record amounts to, in order.
pub fn of(record: &Record) -> Vec<Receipt> {
    awakener_spec::rule!(Rcp1);
    let message = |kind, message: &MessageId| vec![Receipt::of_message(kind, *message)];
    match record {
        Record::Admitted { entry, .. } => vec![
            Receipt::of_message(ReceiptKind::Persisted, entry.id),
            Receipt::of_message(ReceiptKind::Admitted, entry.id),
        ],
        Record::Minted { wake, message, .. } => {
            vec![Receipt::new(ReceiptKind::WakeMinted, Key::Wake(*wake), *message)]
        }
        Record::Published { wake, handed_over } => {
            let kind = if *handed_over { ReceiptKind::WakeEmitted } else { ReceiptKind::WakeEmitFailed };
            vec![Receipt { kind, key: Key::Wake(*wake), message: None, detail: None }]
        }
        Record::FlightReported { wake, fence, message, report, .. } => {
            flight(*wake, *fence, *message, *report)
        }
        Record::Read { message: id, .. } => message(ReceiptKind::InboxRead, id),
        Record::TurnFinished { message, turn, finish, .. } => {
            let receipt = Receipt::new(cognition(*finish), Key::Turn(*turn), *message);
            vec![Receipt { detail: Some(Detail::Finish(*finish)), ..receipt }]
        }
        Record::Responded { message: id, response, .. } => message(result(*response), id),
        Record::WitnessClosed { message: id, closed, .. } => message(witness(*closed), id),
        Record::Finished { message: id, how: Finished::Expired, .. } => message(ReceiptKind::Expired, id),
        // Each of these is told by the record that finished it.
        Record::Finished {
            how: Finished::WitnessClosed | Finished::Responded | Finished::Quarantined,
            ..
        } => vec![],
        Record::CursorAdvanced { to } => {
            vec![Receipt {
                kind: ReceiptKind::CursorAdvanced,
                key: Key::Place(*to),
                message: None,
                detail: None,
            }]
        }
        Record::Quarantined { message: id, .. } => message(ReceiptKind::Quarantined, id),
        Record::Escalated { message: id, .. } => message(ReceiptKind::Escalated, id),
        Record::EpochStarted { .. }
        | Record::EmissionRefused { .. }
        | Record::PermitGranted { .. }
        | Record::AttemptWithoutRead { .. }
        | Record::Leased { .. }
        | Record::Renewed { .. }
        | Record::LeaseEnded { .. }
        | Record::QuarantineReleased { .. } => vec![],
    }
}

/// A daemon may report an attempt only under its permit, and it accepts a hint durably before it attempts (VER-2): so
/// the report of the attempt is also the plane's knowledge of the acceptance.
fn flight(wake: WakeId, fence: Fence, message: MessageId, report: FlightReport) -> Vec<Receipt> {
    let attempt = |kind| Receipt::new(kind, Key::Attempt(wake, fence), message);
    match report {
        FlightReport::Attempted => vec![
            Receipt::new(ReceiptKind::WakeAccepted, Key::Wake(wake), message),
            attempt(ReceiptKind::DispatchAttempted),
        ],
        FlightReport::Outcome(outcome) => {
            vec![Receipt { detail: Some(Detail::Dispatch(outcome)), ..attempt(dispatch(outcome)) }]
        }
        FlightReport::Ended(FlightEnd::Expired) => {
            awakener_spec::rule!(Dsp2);
            vec![attempt(ReceiptKind::FlightExpired)]
        }
        FlightReport::Ended(
            FlightEnd::ProcessEnded | FlightEnd::WorkFinished | FlightEnd::Idle | FlightEnd::NeverStarted,
        ) => vec![],
    }
}

/// The receipt of what an adapter says (DSP-4).
pub fn dispatch(outcome: DispatchOutcome) -> ReceiptKind {
    awakener_spec::rule!(Dsp4);
    match outcome {
        DispatchOutcome::NotifiedVerified => ReceiptKind::RuntimeNotified,
        DispatchOutcome::NotifiedHuman => ReceiptKind::HumanNotified,
        DispatchOutcome::TypedUnverified | DispatchOutcome::OutcomeUnknown => ReceiptKind::DispatchUnknown,
        DispatchOutcome::NotAttempted | DispatchOutcome::RefusedBusy => ReceiptKind::Skipped,
        DispatchOutcome::Unavailable => ReceiptKind::RuntimeUnavailable,
    }
}

/// The receipt of how a turn ended (OBS-1). `unknown` is not `failed`: nobody saw the turn fail either.
pub fn cognition(finish: Finish) -> ReceiptKind {
    awakener_spec::rule!(Obs1);
    match finish {
        Finish::Complete => ReceiptKind::CognitionComplete,
        Finish::Truncated => ReceiptKind::CognitionTruncated,
        Finish::Timeout
        | Finish::BudgetExceeded
        | Finish::ToolError
        | Finish::ModelError
        | Finish::Denied
        | Finish::NoTurn
        | Finish::Cancelled => ReceiptKind::CognitionFailed,
        Finish::Unreported | Finish::Unknown => ReceiptKind::CognitionUnobserved,
    }
}

const fn result(response: Response) -> ReceiptKind {
    match response {
        Response::Reply(_) => ReceiptKind::ResponseRecorded,
        Response::Silence => ReceiptKind::SilenceRecorded,
        Response::Done => ReceiptKind::DoneRecorded,
    }
}

const fn witness(closed: Closed) -> ReceiptKind {
    match closed {
        Closed::Acknowledged(..) => ReceiptKind::Tier0Acknowledged,
        Closed::OperatorResolved => ReceiptKind::OperatorResolved,
    }
}

/// Whether a receipt may be recorded (RCP-2). `own` are the kinds under its key; `linked` those under other keys of
/// the same message. The same kind again is no contradiction.
///
/// # Errors
/// [`Reason::ReceiptContradiction`]: another answer to the same final question stands under the key already.
/// [`Reason::ReceiptPrerequisite`]: none of the kinds that must come first is there.
pub fn allowed(own: &[ReceiptKind], linked: &[ReceiptKind], new: ReceiptKind) -> Result<(), Reason> {
    awakener_spec::rule!(Rcp2);
    let contradicts = |kind: &ReceiptKind| *kind != new && kind.terminal() == new.terminal();
    if new.terminal().is_some() && own.iter().any(contradicts) {
        return Err(Reason::ReceiptContradiction);
    }
    let first = new.prerequisites();
    if first.is_empty() || own.iter().chain(linked).any(|kind| first.contains(kind)) {
        Ok(())
    } else {
        Err(Reason::ReceiptPrerequisite)
    }
}
