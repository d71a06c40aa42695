//! Bodies that callers send.

use std::collections::BTreeMap;

use awakener_kernel::ids::{ContentHash, Fence, Holder, MessageId, Target, Token, TurnId, WakeId};
use awakener_kernel::values::{DispatchOutcome, Finish, FlightEnd, FlightReport};
use serde::{Deserialize, Serialize};
use smol_str::SmolStr;
use utoipa::ToSchema;

use super::V1;

/// Takes work under a lease (INB-7).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({"v": 1, "holder": "lotse-station", "max": 10}))]
pub struct Claim {
    /// Always 1.
    #[schema(value_type = u32, minimum = 1, maximum = 1)]
    pub v: V1,
    /// Who takes it; the same holder gets the same lease again.
    #[schema(value_type = String)]
    pub holder: Holder,
    /// At most this many messages.
    #[schema(minimum = 1)]
    pub max: u32,
}

/// A lease by its fencing token: to renew or to release it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({"v": 1, "fence": 7}))]
pub struct Fenced {
    /// Always 1.
    #[schema(value_type = u32, minimum = 1, maximum = 1)]
    pub v: V1,
    /// The token of the claim.
    #[schema(value_type = u64)]
    pub fence: Fence,
}

/// Reads claimed work (INB-8).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({"v": 1, "fence": 7, "message": "01890a5d-ac96-774b-bcce-b302099a8057"}))]
pub struct Read {
    /// Always 1.
    #[schema(value_type = u32, minimum = 1, maximum = 1)]
    pub v: V1,
    /// The token of the claim.
    #[schema(value_type = u64)]
    pub fence: Fence,
    /// Which of the claimed messages.
    #[schema(value_type = String, format = Uuid)]
    pub message: MessageId,
}

/// The end of a turn (OBS-1).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({"v": 1, "fence": 7, "message": "01890a5d-ac96-774b-bcce-b302099a8057",
    "turn": "01890a5d-ac96-774b-bcce-b302099a8058", "finish": "complete"}))]
pub struct Turn {
    /// Always 1.
    #[schema(value_type = u32, minimum = 1, maximum = 1)]
    pub v: V1,
    /// The token of the claim.
    #[schema(value_type = u64)]
    pub fence: Fence,
    /// What the turn was about.
    #[schema(value_type = String, format = Uuid)]
    pub message: MessageId,
    /// The turn.
    #[schema(value_type = String, format = Uuid)]
    pub turn: TurnId,
    /// How it ended.
    #[schema(value_type = String)]
    pub finish: Finish,
    /// What it was run with (OBS-2); absent for agents that do not report.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub record: Option<TurnRecord>,
}

/// What a turn was run with (OBS-2).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct TurnRecord {
    /// SHA-256 of the exact directive.
    #[schema(value_type = String)]
    pub directive_sha256: ContentHash,
    /// The model.
    #[schema(value_type = String)]
    pub model: SmolStr,
    /// Its window, tokens.
    pub window: u64,
    /// What the turn might use, tokens.
    pub budget: u64,
    /// What went in, tokens.
    pub input_tokens: u64,
    /// What came out, tokens.
    pub output_tokens: u64,
}

/// A reply to exactly one message (INB-9).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({"v": 1, "fence": 7, "in_reply_to": "01890a5d-ac96-774b-bcce-b302099a8057",
    "turn": "01890a5d-ac96-774b-bcce-b302099a8058", "body": "Restarted the pump."}))]
pub struct Reply {
    /// Always 1.
    #[schema(value_type = u32, minimum = 1, maximum = 1)]
    pub v: V1,
    /// The token of the claim.
    #[schema(value_type = u64)]
    pub fence: Fence,
    /// What it answers.
    #[schema(value_type = String, format = Uuid)]
    pub in_reply_to: MessageId,
    /// The turn that it comes from.
    #[schema(value_type = String, format = Uuid)]
    pub turn: TurnId,
    /// Its text.
    pub body: String,
}

/// Deliberate silence, with its reason (INB-9).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({"v": 1, "fence": 7, "in_reply_to": "01890a5d-ac96-774b-bcce-b302099a8057",
    "turn": "01890a5d-ac96-774b-bcce-b302099a8058", "reason": "Already handled by the night shift."}))]
pub struct Silence {
    /// Always 1.
    #[schema(value_type = u32, minimum = 1, maximum = 1)]
    pub v: V1,
    /// The token of the claim.
    #[schema(value_type = u64)]
    pub fence: Fence,
    /// What is left unanswered.
    #[schema(value_type = String, format = Uuid)]
    pub in_reply_to: MessageId,
    /// The turn that it comes from.
    #[schema(value_type = String, format = Uuid)]
    pub turn: TurnId,
    /// Why; not empty.
    #[schema(min_length = 1)]
    pub reason: String,
}

/// Done without an answer (INB-3).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({"v": 1, "fence": 7, "in_reply_to": "01890a5d-ac96-774b-bcce-b302099a8057",
    "turn": "01890a5d-ac96-774b-bcce-b302099a8058"}))]
pub struct Done {
    /// Always 1.
    #[schema(value_type = u32, minimum = 1, maximum = 1)]
    pub v: V1,
    /// The token of the claim.
    #[schema(value_type = u64)]
    pub fence: Fence,
    /// What is done.
    #[schema(value_type = String, format = Uuid)]
    pub in_reply_to: MessageId,
    /// The turn that it comes from.
    #[schema(value_type = String, format = Uuid)]
    pub turn: TurnId,
}

/// A wake daemon asks whether a flight may start (DSP-7).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({"v": 1, "target": "lotse", "wake": "01890a5d-ac96-774b-bcce-b302099a8059",
    "message": "01890a5d-ac96-774b-bcce-b302099a8057", "token": 4294967297_u64}))]
pub struct Permit {
    /// Always 1.
    #[schema(value_type = u32, minimum = 1, maximum = 1)]
    pub v: V1,
    /// Whose start it would be.
    #[schema(value_type = String)]
    pub target: Target,
    /// The accepted hint.
    #[schema(value_type = String, format = Uuid)]
    pub wake: WakeId,
    /// The alert that it points at.
    #[schema(value_type = String, format = Uuid)]
    pub message: MessageId,
    /// Its freshness token.
    #[schema(value_type = u64)]
    pub token: Token,
}

/// A wake daemon tells what became of a flight.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({"v": 1, "target": "lotse", "fence": 3, "wake": "01890a5d-ac96-774b-bcce-b302099a8059",
    "report": {"kind": "outcome", "outcome": "notified_verified"}}))]
pub struct Report {
    /// Always 1.
    #[schema(value_type = u32, minimum = 1, maximum = 1)]
    pub v: V1,
    /// Whose flight.
    #[schema(value_type = String)]
    pub target: Target,
    /// The permit that it started under.
    #[schema(value_type = u64)]
    pub fence: Fence,
    /// The hint.
    #[schema(value_type = String, format = Uuid)]
    pub wake: WakeId,
    /// What became of it.
    pub report: FlightNews,
}

/// One fact about a flight.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum FlightNews {
    /// The durable `dispatch_attempted` exists.
    Attempted {},
    /// What the adapter said (DSP-4).
    Outcome {
        /// One of the closed list.
        #[schema(value_type = String)]
        outcome: DispatchOutcome,
    },
    /// The flight is over (DSP-2).
    Ended {
        /// How.
        #[schema(value_type = String)]
        end: FlightEnd,
    },
}

impl From<FlightReport> for FlightNews {
    fn from(report: FlightReport) -> Self {
        match report {
            FlightReport::Attempted => Self::Attempted {},
            FlightReport::Outcome(outcome) => Self::Outcome { outcome },
            FlightReport::Ended(end) => Self::Ended { end },
        }
    }
}

impl From<FlightNews> for FlightReport {
    fn from(news: FlightNews) -> Self {
        match news {
            FlightNews::Attempted {} => Self::Attempted,
            FlightNews::Outcome { outcome } => Self::Outcome(outcome),
            FlightNews::Ended { end } => Self::Ended(end),
        }
    }
}

/// A wake daemon asks what is owed to the targets that it serves (DSP-11).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({"v": 1, "targets": ["lotse", "kapitan"]}))]
pub struct Sweep {
    /// Always 1.
    #[schema(value_type = u32, minimum = 1, maximum = 1)]
    pub v: V1,
    /// The targets.
    #[schema(value_type = Vec<String>, max_items = 256)]
    pub targets: Vec<Target>,
    /// The greatest token that this daemon has accepted for a target, 0 for none; hints get tokens above it (EMT-2).
    /// Targets that are not asked about are passed over.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[schema(value_type = BTreeMap<String, u64>)]
    pub seen: BTreeMap<Target, u64>,
}

/// Where a reader of an inbox begins.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum ReadFrom {
    /// At the first message.
    #[default]
    Start,
    /// After the last message that is there now: the explicit choice of a reader that has no position (INB-6).
    Tail,
    /// After the page that gave this position; presenting it confirms that page (INB-5).
    Position(String),
}
