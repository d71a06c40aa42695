//! The description of the interface, OpenAPI 3.1, made from the handlers themselves. `spec/openapi.json` is this
//! document as of the last commit.
//!
//! Which refusals a route has stands here, because handlers only pass on what the plane says; their bodies and their
//! examples come from the closed list.

use std::collections::BTreeMap;

use awakener_spec::{Class, Reason};
use serde_json::{Value, json};

use super::problem::{MEDIA_TYPE, Problem};
use super::routes;

/// Every request with a credential can end like this.
const ALWAYS: &[Reason] = &[
    Reason::TooLarge,
    Reason::Unauthenticated,
    Reason::RateLimited,
    Reason::Malformed,
    Reason::Overloaded,
    Reason::StoreUnavailable,
    Reason::OutcomeUnknown,
    Reason::NotLoopback,
];

/// What a route can refuse beside [`ALWAYS`], by its operation id.
const REFUSALS: &[(&str, &[Reason])] = &[
    (
        "submit",
        &[
            Reason::PrincipalMismatch,
            Reason::UnknownSchema,
            Reason::UnknownTarget,
            Reason::DuplicateConflict,
            Reason::TooOld,
            Reason::SelfWake,
            Reason::TargetCannotAck,
            Reason::RosterAbsent,
            Reason::RosterMalformed,
            Reason::RosterExpired,
            Reason::NotOnRoster,
            Reason::Tier0Closed,
            Reason::RepeatCap,
            Reason::QueueFull,
            Reason::LostLease,
        ],
    ),
    ("message", &[Reason::UnknownMessage]),
    ("inbox", &[Reason::NotReadable, Reason::UnknownTarget, Reason::PositionUnknown]),
    ("work", &[Reason::NotReadable, Reason::UnknownTarget, Reason::StoreCorrupt]),
    ("origin", &[Reason::NotReadable, Reason::UnknownTarget, Reason::UnknownMessage, Reason::StoreCorrupt]),
    ("grant", &[Reason::NotReadable, Reason::UnknownTarget]),
    ("claim", &[Reason::NotReadable, Reason::UnknownTarget, Reason::LeaseHeld, Reason::NothingToClaim]),
    ("renew", &[Reason::NotReadable, Reason::UnknownTarget, Reason::LostLease]),
    ("release", &[Reason::NotReadable, Reason::UnknownTarget, Reason::LostLease]),
    ("read", WORK),
    ("turn", RESULT),
    ("reply", RESULT),
    ("silence", RESULT),
    ("done", RESULT),
    (
        "ack",
        &[
            Reason::NotReadable,
            Reason::UnknownTarget,
            Reason::LostLease,
            Reason::AckMalformed,
            Reason::AckUnknownMessage,
            Reason::AckWrongTarget,
            Reason::AckWrongTier,
            Reason::AckWrongContent,
            Reason::AckWrongKey,
            Reason::AckKeyRevoked,
            Reason::AckBadSignature,
            Reason::AckTimeOutOfBounds,
            Reason::AckNotRead,
            Reason::AckNotComplete,
            Reason::AckNoResponse,
            Reason::AlreadyAcknowledged,
        ],
    ),
    (
        "operator",
        &[
            Reason::OperatorMalformed,
            Reason::OperatorWrongPlane,
            Reason::OperatorUnknownKey,
            Reason::OperatorBadSignature,
            Reason::OperatorExpired,
            Reason::OperatorOutOfScope,
            Reason::OperatorReplayed,
            Reason::OperatorStateConflict,
            Reason::OperatorUnknownSubject,
            Reason::OperatorBoundExceeded,
        ],
    ),
    ("receipts", &[Reason::NotReadable, Reason::UnknownTarget, Reason::StoreCorrupt]),
    ("trace", &[Reason::UnknownMessage, Reason::StoreCorrupt]),
    ("permit", &[Reason::UnknownTarget]),
    ("report", &[Reason::UnknownTarget, Reason::StaleTicket]),
    ("sweep", &[]),
    ("router_keys", &[]),
    ("audit", &[Reason::StoreCorrupt]),
    ("checkpoint", &[Reason::StoreCorrupt, Reason::CheckpointUntrusted]),
    ("newest_checkpoint", &[Reason::StoreCorrupt]),
    ("consistency", &[Reason::StoreCorrupt]),
    ("inclusion", &[Reason::StoreCorrupt]),
    ("status", &[]),
    ("agents", &[Reason::UnknownTarget]),
    ("registry", &[]),
];

const WORK: &[Reason] = &[
    Reason::NotReadable,
    Reason::UnknownTarget,
    Reason::LostLease,
    Reason::UnknownMessage,
    Reason::AlreadyFinished,
    Reason::NotClaimed,
];

const RESULT: &[Reason] = &[
    Reason::NotReadable,
    Reason::UnknownTarget,
    Reason::LostLease,
    Reason::UnknownMessage,
    Reason::AlreadyFinished,
    Reason::NotClaimed,
    Reason::ResultConflict,
];

/// Why a permit is withheld.
const WITHHELD: &[Class] =
    &[Class::Unminted, Class::AuthorityWithdrawn, Class::NotArmed, Class::NotOutstanding, Class::PermitHeld];

/// The whole document.
pub fn openapi() -> Value {
    let described = routes::described().split_for_parts().1;
    let mut document = serde_json::to_value(described).unwrap_or_default();
    document["info"] = json!({
        "title": "awakener",
        "version": "1",
        "description": "The message plane: durable inboxes, signed acknowledgements, and hints that wake. Every answer \
            has `v`: 1. Every error is application/problem+json with the reason, the rule behind it, whose fault it \
            is, whether asking again can help, and what to do next. Loopback only.",
        "license": { "name": "MIT OR Apache-2.0", "identifier": "MIT OR Apache-2.0" },
    });
    document["servers"] = json!([{ "url": "http://127.0.0.1:7717" }]);
    document["components"]["securitySchemes"] = json!({
        "bearer": { "type": "http", "scheme": "bearer", "description": "A credential that this plane has issued." }
    });
    document["components"]["schemas"]["Problem"] = problem_schema();
    if let Some(paths) = document["paths"].as_object_mut() {
        for operation in
            paths.values_mut().filter_map(Value::as_object_mut).flat_map(|item| item.values_mut())
        {
            add_refusals(operation);
        }
    }
    document
}

fn problem_schema() -> Value {
    use utoipa::PartialSchema as _;
    serde_json::to_value(Problem::schema()).unwrap_or_default()
}

fn add_refusals(operation: &mut Value) {
    let id = operation["operationId"].as_str().unwrap_or_default().to_owned();
    let always = match id.as_str() {
        "livez" | "openapi" | "page" => &[Reason::Overloaded, Reason::NotLoopback][..],
        "readyz" => &[Reason::Overloaded, Reason::NotLoopback, Reason::StoreUnavailable],
        _ => ALWAYS,
    };
    let own = REFUSALS.iter().find(|(name, _)| *name == id).map_or(&[][..], |(_, reasons)| *reasons);
    let mut by_status: BTreeMap<u16, Vec<Problem>> = BTreeMap::new();
    let reasons = always.iter().chain(own).map(|reason| Problem::of(*reason, reason.text()));
    let withheld =
        WITHHELD.iter().filter(|_| id == "permit").map(|class| Problem::withheld(*class, class.text()));
    for problem in reasons.chain(withheld) {
        by_status.entry(problem.status).or_default().push(problem);
    }
    for (status, problems) in by_status {
        let names: Vec<&str> = problems.iter().map(|problem| &*problem.reason).collect();
        let examples: serde_json::Map<String, Value> = problems
            .iter()
            .map(|problem| (problem.reason.to_string(), json!({ "value": problem })))
            .collect();
        operation["responses"][status.to_string()] = json!({
            "description": names.join(", "),
            "content": { MEDIA_TYPE: {
                "schema": { "$ref": "#/components/schemas/Problem" },
                "examples": examples,
            }},
        });
    }
}
