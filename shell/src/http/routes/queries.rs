//! Receipts and traces (RCP-4, WHY-1).

use awakener_kernel::ids::{MessageId, Target, ThreadId, WakeId};
use awakener_kernel::time::Wall;
use awakener_spec::{Reason, ReceiptKind};
use axum::extract::{Request, State};
use serde::Deserialize;
use utoipa::IntoParams;

use super::messages::visible;
use crate::http::App;
use crate::http::auth::Caller;
use crate::http::call::{Answer, Segment, ok};
use crate::http::wire::answers::{Receipts, Trace};
use crate::plane::queries::{self, ReceiptQuery, Scope};

/// The most receipts of one answer.
const MOST: u32 = 1_000;

#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(in crate::http) struct Filter {
    /// Of one message.
    #[param(value_type = Option<String>)]
    message: Option<MessageId>,
    /// Of one hint.
    #[param(value_type = Option<String>)]
    wake: Option<WakeId>,
    /// Of one thread.
    #[param(value_type = Option<String>)]
    thread: Option<ThreadId>,
    /// Of one target.
    #[param(value_type = Option<String>)]
    target: Option<Target>,
    /// Of one kind.
    #[param(value_type = Option<String>)]
    kind: Option<ReceiptKind>,
    /// Not before this time.
    #[param(value_type = Option<String>)]
    since: Option<String>,
    /// Only those with a greater number.
    after: Option<u64>,
    /// At most this many, at most 1000; 100 if absent.
    #[param(minimum = 1, maximum = 1000)]
    limit: Option<u32>,
}

/// Receipts that match all conditions, oldest first.
///
/// A principal sees those of targets that it may read and of messages that it sent.
#[utoipa::path(
    get, path = "/v1/receipts", operation_id = "receipts", tag = "queries", params(Filter),
    responses((status = 200, description = "The receipts.", body = Receipts)),
    security(("bearer" = []))
)]
pub(in crate::http) async fn receipts(State(app): State<App>, request: Request) -> Answer {
    let call = app.open(request).await?;
    let filter: Filter = call.query().await?;
    let since = filter.since.as_deref().map(Wall::parse_utc).transpose();
    let since = call.sound(since.map_err(|error| (Reason::Malformed, format!("since: {error}")))).await?;
    let limit = filter.limit.unwrap_or(100);
    if limit == 0 || limit > MOST {
        let fault = (Reason::Malformed, format!("limit is between 1 and {MOST}"));
        return Err(call.refuse(fault, "", None).await);
    }
    let query = ReceiptQuery {
        message: filter.message,
        wake: filter.wake,
        thread: filter.thread,
        target: filter.target,
        kind: filter.kind,
        since,
        after: filter.after.unwrap_or(0),
        limit,
    };
    let scope = match &call.caller {
        Caller::Principal(held) => Scope::Of(held.principal.clone(), held.may_read.clone()),
        Caller::Observer => Scope::All,
        Caller::Daemon(_) => {
            let fault = (Reason::Unauthenticated, "a wake daemon has no use for receipts".to_owned());
            return Err(call.refuse(fault, "", None).await);
        }
    };
    if let (Caller::Principal(_), Some(target)) = (&call.caller, &query.target)
        && query.message.is_none()
    {
        // Asked for one target, a principal hears a refusal and not an empty list (INB-6 in spirit).
        call.readable(target.as_str()).await?;
    }
    ok(&app.readers.ask(move |conn| queries::receipts(conn, &query, &scope)).await?)
}

/// The way of one message: its receipts in order, the time between them, and where it waits.
#[utoipa::path(
    get, path = "/v1/trace/{message}", operation_id = "trace", tag = "queries",
    params(("message" = String, Path, format = Uuid, description = "The message.")),
    responses((status = 200, description = "Its way so far.", body = Trace)),
    security(("bearer" = []))
)]
pub(in crate::http) async fn trace(
    State(app): State<App>,
    Segment(message): Segment,
    request: Request,
) -> Answer {
    let call = app.open(request).await?;
    let found = visible(&call, &message, true).await?;
    ok(&app.readers.ask(move |conn| queries::trace(conn, &found, crate::clock::system())).await?)
}
