//! Submitting a message, and reading one again.

use awakener_kernel::ids::Target;
use awakener_kernel::json;
use awakener_kernel::mailbox::input::Event;
use awakener_kernel::wire::{Malformed, Submission};
use awakener_spec::Reason;
use axum::extract::{Request, State};
use axum::http::StatusCode;

use crate::http::App;
use crate::http::auth::Caller;
use crate::http::call::{Answer, Call, Segment, done, json as answer, ok};
use crate::http::door;
use crate::http::problem::Problem;
use crate::http::rate::Kind;
use crate::http::wire::V1;
use crate::http::wire::answers::{Admitted, OneMessage};
use crate::plane::queries::{self, Found};
use crate::plane::{Op, Submit};

/// What a submission may have beside its body, bytes.
const ENVELOPE: usize = 16_384;

/// Submits a message for one target.
///
/// The sender is the credential's principal. The same id with the same content gets the first result again.
#[utoipa::path(
    post, path = "/v1/messages", operation_id = "submit", tag = "messages",
    params(("Awakener-Lease" = Option<u64>, Header, description = "The lease that the sender works under (ADM-12).")),
    request_body(content = inline(Object), description = "A submission (ADM-11).",
        example = json!({"id": "01890a5d-ac96-774b-bcce-b302099a8057",
            "thread": "01890a5d-ac96-774b-bcce-b302099a8056", "target": "lotse", "schema": "interrupt-alert/1",
            "priority": "urgent", "intent": "pump 3 is down", "response_expectation": "reply",
            "body": {"pump": 3}})),
    responses(
        (status = 201, description = "Admitted: durable, and a hint will follow if it is an alert.", body = Admitted),
        (status = 200, description = "Admitted before with the same content.", body = Admitted),
    ),
    security(("bearer" = []))
)]
pub(in crate::http) async fn submit(State(app): State<App>, request: Request) -> Answer {
    let body_bytes = usize::try_from(app.settings.limits.body_bytes).unwrap_or(usize::MAX);
    let limit = body_bytes.saturating_add(ENVELOPE);
    let call = app.open_sized(request, limit, Kind::Submission).await?;
    let held = call.principal()?.clone();
    let read = door::is_json(&call.parts.headers)
        .and_then(|()| Submission::parse(&call.body, limit).map_err(|malformed| fault(&malformed)))
        .and_then(|submission| Ok((submission, door::lease(&call.parts)?)));
    let (submission, fence) = call.sound(read).await?;
    let (id, target) = (submission.id, submission.target.clone());
    let trace = door::traceparent(&call.parts.headers);
    let submit = Submit::new(held.clone(), submission, fence, trace);
    let content_sha256 = submit.content();
    let done = done(app.ask(Op::Submit(Box::new(submit))).await)?;
    match done.event {
        Some(Event::Admitted { seq, tier, cause, depth }) => answer(
            StatusCode::CREATED,
            &Admitted {
                v: V1,
                id,
                target,
                seq: seq.get(),
                tier,
                cause,
                depth,
                content_sha256,
                repeat: false,
            },
        ),
        _ => {
            let first =
                app.readers.ask(move |conn| queries::admitted(conn, &held.principal, id)).await?.ok_or_else(
                    || Problem::of(Reason::OutcomeUnknown, "admitted before, and not to be found"),
                )?;
            ok(&first)
        }
    }
}

fn fault(malformed: &Malformed) -> door::Fault {
    let too_large = matches!(malformed, Malformed::Json(fault) if fault.kind == json::FaultKind::TooLarge);
    (if too_large { Reason::TooLarge } else { Reason::Malformed }, malformed.to_string())
}

/// One whole message with what has become of it.
///
/// For its sender, and for credentials that may read its target.
#[utoipa::path(
    get, path = "/v1/messages/{id}", operation_id = "message", tag = "messages",
    params(("id" = String, Path, format = Uuid, description = "The message.")),
    responses((status = 200, description = "The message.", body = OneMessage)),
    security(("bearer" = []))
)]
pub(in crate::http) async fn message(
    State(app): State<App>,
    Segment(id): Segment,
    request: Request,
) -> Answer {
    let call = app.open(request).await?;
    let found = visible(&call, &id, false).await?;
    let message = app.readers.ask(move |conn| found.message(conn)).await?;
    ok(&OneMessage { v: V1, message })
}

/// The message of this id that the caller may see, its own before others; `observed`: who observes may, too. An id of
/// others is as good as unknown.
pub(super) async fn visible(call: &Call, id: &str, observed: bool) -> Result<Found, Problem> {
    let id = call.segment(id).await?;
    let found = call.app.readers.ask(move |conn| queries::whole(conn, id)).await?;
    let own = |found: &Found| match &call.caller {
        Caller::Principal(held) => found.entry.principal == held.principal,
        Caller::Daemon(_) | Caller::Observer => false,
    };
    let (mine, others): (Vec<Found>, Vec<Found>) = found.into_iter().partition(own);
    let may = |target: &Target| call.caller.may_read(target) || (observed && call.caller.observes());
    let mut seen = mine.into_iter().chain(others.into_iter().filter(|found| may(&found.target)));
    match seen.next() {
        Some(found) => Ok(found),
        None => {
            let fault = (Reason::UnknownMessage, format!("no message {id} that this credential may see"));
            Err(call.refuse(fault, "", Some(id.to_string())).await)
        }
    }
}
