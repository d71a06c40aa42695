//! What a station asks beside the inbox: open work with a long poll, where a message came from, its grant.

use std::collections::BTreeSet;
use std::time::Duration;

use awakener_kernel::ids::{ContentHash, MessageId, Principal, Target, Tier};
use awakener_kernel::machine::Machine as _;
use awakener_spec::Reason;
use axum::extract::{Request, State};
use serde::Deserialize;
use tokio::time::Instant;
use utoipa::IntoParams;

use crate::http::App;
use crate::http::call::{Answer, Call, Segment, Segments, ok};
use crate::http::problem::Problem;
use crate::http::wire::V1;
use crate::http::wire::stations::{GrantNow, Link, OpenMessage, OpenWork, Origin};
use crate::plane::work;

#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(in crate::http) struct Look {
    /// How long an empty answer may be held back until something lands, milliseconds; more than the configured long
    /// poll counts as that.
    wait_ms: Option<u64>,
    /// Messages that are passed over, with commas between them.
    skip: Option<String>,
}

/// Open work of an inbox.
///
/// Neither finished nor set aside. Looking takes nothing (INB-7).
#[utoipa::path(
    get, path = "/v1/inbox/{target}/work", operation_id = "work", tag = "work",
    params(("target" = String, Path, description = "Whose inbox."), Look),
    responses((status = 200, description = "What is open, in the order of tiers and places.", body = OpenWork)),
    security(("bearer" = []))
)]
pub(in crate::http) async fn open(
    State(app): State<App>,
    Segment(target): Segment,
    request: Request,
) -> Answer {
    let call = app.open(request).await?;
    let target = call.own(&target).await?;
    let Look { wait_ms, skip } = call.query().await?;
    let skip: Result<BTreeSet<MessageId>, _> =
        skip.iter().flat_map(|list| list.split(',')).map(MessageId::parse).collect();
    let skip = call.sound(skip.map_err(|error| (Reason::Malformed, format!("skip: {error}")))).await?;
    let until =
        Instant::now() + Duration::from_millis(wait_ms.unwrap_or(0).min(app.settings.limits.long_poll.0));
    let arrival = app.plane.arrival(target.as_str());
    loop {
        // Registered before looking, so that nothing that lands in between is missed.
        let mut landed = std::pin::pin!(arrival.notified());
        landed.as_mut().enable();
        let found = look(&call, &target, &skip).await?;
        if !found.messages.is_empty() || Instant::now() >= until {
            return ok(&found);
        }
        tokio::select! {
            () = landed => {}
            () = tokio::time::sleep_until(until) => {}
            () = app.stopping.cancelled() => return ok(&found),
        }
    }
}

async fn look(call: &Call, target: &Target, skip: &BTreeSet<MessageId>) -> Result<OpenWork, Problem> {
    let limit = call.app.settings.limits.page.saturating_add(u32::try_from(skip.len()).unwrap_or(u32::MAX));
    let asked = target.clone();
    let (found, cursor, last) = call
        .app
        .readers
        .ask(move |conn| {
            let (cursor, last) = work::edges(conn, &asked)?;
            Ok((work::open(conn, &asked, limit)?, cursor, last))
        })
        .await?;
    let messages = found
        .into_iter()
        .filter(|open| !skip.contains(&open.message))
        .filter_map(|open| {
            let tier = Tier::from_u64(open.tier)?;
            Some(OpenMessage { seq: open.seq, message: open.message, tier })
        })
        .collect();
    Ok(OpenWork { v: V1, target: target.clone(), cursor, last, messages })
}

/// Where a message of an inbox came from.
///
/// The message itself and its causes, the nearest first (ADM-12); for the fuse of the station (FUS-1).
#[utoipa::path(
    get, path = "/v1/inbox/{target}/origin/{message}", operation_id = "origin", tag = "work",
    params(
        ("target" = String, Path, description = "Whose inbox."),
        ("message" = String, Path, description = "Which message."),
    ),
    responses((status = 200, description = "Its causal chain.", body = Origin)),
    security(("bearer" = []))
)]
pub(in crate::http) async fn origin(
    State(app): State<App>,
    Segments(target, message): Segments,
    request: Request,
) -> Answer {
    let call = app.open(request).await?;
    let target = call.own(&target).await?;
    let message: MessageId = call.segment(&message).await?;
    let acting: BTreeSet<Principal> = call
        .registry
        .image()
        .credentials
        .values()
        .filter(|held| held.acts_for.as_ref() == Some(&target))
        .map(|held| held.principal.clone())
        .collect();
    // One more than a chain may be long, so that the fuse sees that it is longer.
    let depth = usize::try_from(app.settings.limits.causal_depth).unwrap_or(usize::MAX).saturating_add(2);
    let asked = target.clone();
    let (released, found) = app
        .readers
        .ask(move |conn| {
            Ok((
                work::released(conn, &asked, message)?,
                work::ancestry(conn, &asked, &acting, message, depth)?,
            ))
        })
        .await?;
    if found.is_empty() {
        return Err(call
            .refuse((Reason::UnknownMessage, message.to_string()), target.as_str(), Some(message.to_string()))
            .await);
    }
    let chain: Result<Vec<Link>, _> = found
        .into_iter()
        .map(|link| {
            let normal = ContentHash::parse(&link.normal)?;
            Ok(Link { message: link.message, here: link.here, own: link.own, normal })
        })
        .collect();
    let chain = chain.map_err(|error: awakener_kernel::ids::FormError| {
        Problem::of(Reason::StoreCorrupt, format!("a normal form: {error}"))
    })?;
    ok(&Origin { v: V1, released, chain })
}

/// The grant of a target as it is now.
///
/// Not armed: the answer says so, and until when is the present.
#[utoipa::path(
    get, path = "/v1/grants/{target}", operation_id = "grant", tag = "work",
    params(("target" = String, Path, description = "Whose.")),
    responses((status = 200, description = "The grant.", body = GrantNow)),
    security(("bearer" = []))
)]
pub(in crate::http) async fn grant(
    State(app): State<App>,
    Segment(target): Segment,
    request: Request,
) -> Answer {
    let call = app.open(request).await?;
    let target = call.own(&target).await?;
    let now = call.now();
    let armed = call.registry.armed(&target, now);
    let until = call.registry.image().grants.get(&target).copied().unwrap_or(now.wall);
    let command = if armed {
        app.readers.ask(move |conn| Ok(work::arming(conn, &target)?)).await?
    } else {
        // Stations ask all the time; for what is not armed nobody goes through all the commands that ever armed.
        None
    };
    ok(&GrantNow { v: V1, armed, until, command, now: now.wall })
}
