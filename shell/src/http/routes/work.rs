//! Work under a lease: claim, renew, release, read, turn, reply, silence, done (INB-7 to INB-9).
//!
//! Only the principal that acts for the target may call; what a fencing token is worth is judged by the mailbox.

use awakener_kernel::ids::{ContentHash, Fence, MessageId, Seq, Target, TurnId};
use awakener_kernel::mailbox::image::Lease;
use awakener_kernel::mailbox::input::{Event, Input};
use awakener_kernel::values::Response;
use awakener_spec::Reason;
use axum::extract::{Request, State};

use crate::http::App;
use crate::http::call::{Answer, Call, Segment, ok};
use crate::http::problem::Problem;
use crate::http::rate::Kind;
use crate::http::wire::V1;
use crate::http::wire::answers::{Claimed, Noted, WorkRead};
use crate::http::wire::requests::{Claim, Done, Fenced, Read, Reply, Silence, Turn};
use crate::plane::queries;
use crate::store::Statement;

/// Takes work under a lease.
///
/// The same holder gets the same lease again, so a lost answer costs nothing.
#[utoipa::path(
    post, path = "/v1/inbox/{target}/claim", operation_id = "claim", tag = "work",
    params(("target" = String, Path, description = "Whose inbox.")), request_body = Claim,
    responses((status = 200, description = "The lease and what it covers.", body = Claimed)),
    security(("bearer" = []))
)]
pub(in crate::http) async fn claim(
    State(app): State<App>,
    Segment(target): Segment,
    request: Request,
) -> Answer {
    let call = app.open(request).await?;
    let target = call.own(&target).await?;
    let Claim { v: V1, holder, max } = call.document().await?;
    if max == 0 {
        return Err(call
            .refuse((Reason::Malformed, "max is at least 1".to_owned()), target.as_str(), None)
            .await);
    }
    let done = call.mailbox(&target, Input::Claim { holder, max }, None).await?;
    let repeat = done.repeat();
    // It may have run out between the step and the answer; then the next claim gets it anew.
    let Some(lease) = done.reply.lease else {
        return Err(Problem::of(Reason::LostLease, format!("the lease on {target} ran out at once")));
    };
    let seqs: Vec<Seq> = lease.claimed.keys().copied().collect();
    let asked = target.clone();
    let found = app.readers.ask(move |conn| queries::heads(conn, &asked, &seqs)).await?;
    ok(&Claimed {
        v: V1,
        fence: lease.fence,
        lease_ms: rest(&app, &lease),
        repeat,
        messages: found.iter().map(queries::head_of).collect(),
    })
}

/// How long a lease still lasts, at most as long as a new one.
fn rest(app: &App, lease: &Lease) -> u64 {
    let whole = app.settings.limits.lease.0;
    whole.saturating_sub(app.plane.now().wall.saturating_since(lease.at).0)
}

/// Keeps a lease.
#[utoipa::path(
    post, path = "/v1/inbox/{target}/renew", operation_id = "renew", tag = "work",
    params(("target" = String, Path, description = "Whose inbox.")), request_body = Fenced,
    responses((status = 200, description = "The lease lasts its full time from now on.", body = Noted)),
    security(("bearer" = []))
)]
pub(in crate::http) async fn renew(
    State(app): State<App>,
    Segment(target): Segment,
    request: Request,
) -> Answer {
    let call = app.open(request).await?;
    let target = call.own(&target).await?;
    let Fenced { v: V1, fence } = call.document().await?;
    noted(&call, &target, Input::Renew { fence }, None).await
}

/// Gives a lease back.
#[utoipa::path(
    post, path = "/v1/inbox/{target}/release", operation_id = "release", tag = "work",
    params(("target" = String, Path, description = "Whose inbox.")), request_body = Fenced,
    responses((status = 200, description = "What was not finished can be claimed again.", body = Noted)),
    security(("bearer" = []))
)]
pub(in crate::http) async fn release(
    State(app): State<App>,
    Segment(target): Segment,
    request: Request,
) -> Answer {
    let call = app.open(request).await?;
    let target = call.own(&target).await?;
    let Fenced { v: V1, fence } = call.document().await?;
    noted(&call, &target, Input::Release { fence }, None).await
}

/// Reads claimed work.
///
/// From here on an attempt counts (INB-8).
#[utoipa::path(
    post, path = "/v1/inbox/{target}/read", operation_id = "read", tag = "work",
    params(("target" = String, Path, description = "Whose inbox.")), request_body = Read,
    responses((status = 200, description = "The whole message.", body = WorkRead)),
    security(("bearer" = []))
)]
pub(in crate::http) async fn read(
    State(app): State<App>,
    Segment(target): Segment,
    request: Request,
) -> Answer {
    let call = app.open(request).await?;
    let target = call.own(&target).await?;
    let Read { v: V1, fence, message } = call.document().await?;
    let done = call.mailbox(&target, Input::Read { fence, message }, None).await?;
    let attempt = match done.event {
        Some(Event::Read { attempt }) => Some(attempt),
        _ => None,
    };
    let asked = target.clone();
    let place = done.reply.lease.as_ref().and_then(|lease| {
        lease.claimed.iter().find(|(_, claimed)| claimed.message == message).map(|(seq, _)| *seq)
    });
    let whole = app
        .readers
        .ask(move |conn| {
            let found = match place {
                Some(seq) => queries::heads(conn, &asked, &[seq])?,
                None => queries::whole(conn, message)?,
            };
            match found.into_iter().find(|found| found.target == asked) {
                Some(found) => found.message(conn).map(Some),
                None => Ok(None),
            }
        })
        .await?
        .ok_or_else(|| Problem::of(Reason::UnknownMessage, format!("no message {message}")))?;
    ok(&WorkRead { v: V1, attempt, repeat: attempt.is_none(), message: whole })
}

/// Records how a turn ended.
#[utoipa::path(
    post, path = "/v1/inbox/{target}/turns", operation_id = "turn", tag = "work",
    params(("target" = String, Path, description = "Whose inbox.")), request_body = Turn,
    responses((status = 200, description = "Recorded, now or before.", body = Noted)),
    security(("bearer" = []))
)]
pub(in crate::http) async fn turns(
    State(app): State<App>,
    Segment(target): Segment,
    request: Request,
) -> Answer {
    let call = app.open(request).await?;
    let target = call.own(&target).await?;
    let Turn { v: V1, fence, message, turn, finish, record } = call.document().await?;
    let statement = record.and_then(|record| serde_json::to_value(record).ok()).map(|record| {
        Statement::Signed { kind: "turn", subject: turn.to_string(), operator: None, signed: record }
    });
    noted(&call, &target, Input::FinishTurn { fence, message, turn, finish }, statement).await
}

/// Records a reply to exactly one message.
#[utoipa::path(
    post, path = "/v1/inbox/{target}/replies", operation_id = "reply", tag = "work",
    params(("target" = String, Path, description = "Whose inbox.")), request_body = Reply,
    responses((status = 200, description = "Recorded, now or before.", body = Noted)),
    security(("bearer" = []))
)]
pub(in crate::http) async fn replies(
    State(app): State<App>,
    Segment(target): Segment,
    request: Request,
) -> Answer {
    let call = open_with_text(&app, request).await?;
    let target = call.own(&target).await?;
    let Reply { v: V1, fence, in_reply_to, turn, body } = call.document().await?;
    let body = text(&call, &target, body).await?;
    let response = Response::Reply(ContentHash::of(body.as_bytes()));
    respond(&call, &target, (fence, in_reply_to, turn), response, Some(("reply", body))).await
}

/// Records a deliberate silence with its reason.
#[utoipa::path(
    post, path = "/v1/inbox/{target}/silences", operation_id = "silence", tag = "work",
    params(("target" = String, Path, description = "Whose inbox.")), request_body = Silence,
    responses((status = 200, description = "Recorded, now or before.", body = Noted)),
    security(("bearer" = []))
)]
pub(in crate::http) async fn silences(
    State(app): State<App>,
    Segment(target): Segment,
    request: Request,
) -> Answer {
    let call = open_with_text(&app, request).await?;
    let target = call.own(&target).await?;
    let Silence { v: V1, fence, in_reply_to, turn, reason } = call.document().await?;
    let reason = text(&call, &target, reason).await?;
    respond(&call, &target, (fence, in_reply_to, turn), Response::Silence, Some(("silence", reason))).await
}

/// Records that a message is done without an answer.
#[utoipa::path(
    post, path = "/v1/inbox/{target}/done", operation_id = "done", tag = "work",
    params(("target" = String, Path, description = "Whose inbox.")), request_body = Done,
    responses((status = 200, description = "Recorded, now or before.", body = Noted)),
    security(("bearer" = []))
)]
pub(in crate::http) async fn done(
    State(app): State<App>,
    Segment(target): Segment,
    request: Request,
) -> Answer {
    let call = app.open(request).await?;
    let target = call.own(&target).await?;
    let Done { v: V1, fence, in_reply_to, turn } = call.document().await?;
    respond(&call, &target, (fence, in_reply_to, turn), Response::Done, None).await
}

/// Texts have the same bound as bodies of messages; escaped, they may need six times as many bytes.
async fn open_with_text(app: &App, request: Request) -> Result<Call, Problem> {
    let bound = usize::try_from(app.settings.limits.body_bytes).unwrap_or(usize::MAX);
    app.open_sized(request, bound.saturating_mul(6).saturating_add(1_024), Kind::Other).await
}

async fn text(call: &Call, target: &Target, text: String) -> Result<String, Problem> {
    let fault = if text.is_empty() {
        (Reason::Malformed, "the text is empty".to_owned())
    } else if text.len() > usize::try_from(call.app.settings.limits.body_bytes).unwrap_or(usize::MAX) {
        (Reason::TooLarge, "the text is longer than a body may be".to_owned())
    } else {
        return Ok(text);
    };
    Err(call.refuse(fault, target.as_str(), None).await)
}

async fn respond(
    call: &Call,
    target: &Target,
    (fence, message, turn): (Fence, MessageId, TurnId),
    response: Response,
    text: Option<(&'static str, String)>,
) -> Answer {
    let statement = text.map(|(kind, body)| Statement::Answer { kind, body });
    noted(call, target, Input::Respond { fence, message, turn, response }, statement).await
}

async fn noted(call: &Call, target: &Target, input: Input, statement: Option<Statement>) -> Answer {
    let done = call.mailbox(target, input, statement).await?;
    ok(&Noted { v: V1, repeat: done.repeat() })
}
