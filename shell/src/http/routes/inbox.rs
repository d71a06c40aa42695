//! Peeking at an inbox, with a long poll (INB-5, INB-6, LSN-1).

use std::time::Duration;

use awakener_kernel::ids::Target;
use awakener_spec::Reason;
use axum::extract::{Request, State};
use serde::Deserialize;
use tokio::sync::Notify;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use utoipa::IntoParams;

use crate::http::App;
use crate::http::call::{Answer, Call, Segment, ok};
use crate::http::problem::Problem;
use crate::http::wire::answers::Page;
use crate::http::wire::requests::ReadFrom;
use crate::plane::queries;

#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(in crate::http) struct Peek {
    /// What the last page gave; presenting it confirms that page. Without it, see `from`.
    position: Option<String>,
    /// Where a reader without a position begins: `start` (as if absent) or `tail`.
    from: Option<Begin>,
    /// At most this many messages; the configured page size if absent.
    #[param(minimum = 1)]
    limit: Option<u32>,
    /// How long an empty page may be held back until something lands, milliseconds; more than the configured long
    /// poll counts as that.
    wait_ms: Option<u64>,
}

#[derive(Clone, Copy, Debug, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "snake_case")]
enum Begin {
    Start,
    Tail,
}

/// A page of an inbox.
///
/// Reading without a claim moves nothing but the reader's own position (INB-7).
#[utoipa::path(
    get, path = "/v1/inbox/{target}", operation_id = "inbox", tag = "inbox",
    params(("target" = String, Path, description = "Whose inbox."), Peek),
    responses((status = 200, description = "A page, in order.", body = Page)),
    security(("bearer" = []))
)]
pub(in crate::http) async fn inbox(
    State(app): State<App>,
    Segment(target): Segment,
    request: Request,
) -> Answer {
    let call = app.open(request).await?;
    let target = call.readable(&target).await?;
    let Peek { position, from, limit, wait_ms } = call.query().await?;
    let from = match (position, from) {
        (Some(position), None) => Ok(ReadFrom::Position(position)),
        (None, Some(Begin::Tail)) => Ok(ReadFrom::Tail),
        (None, Some(Begin::Start) | None) => Ok(ReadFrom::Start),
        (Some(_), Some(_)) => Err((Reason::Malformed, "either position or from".to_owned())),
    };
    let from = call.sound(from).await?;
    let page_size = app.settings.limits.page;
    let limit = match limit {
        Some(0) => Err((Reason::Malformed, "limit is at least 1".to_owned())),
        limit => Ok(limit.unwrap_or(page_size)),
    };
    let limit = call.sound(limit).await?;
    let wait = Duration::from_millis(wait_ms.unwrap_or(0).min(app.settings.limits.long_poll.0));
    let arrival = app.plane.arrival(target.as_str());
    let look = |from| look(&call, &target, from, limit);
    ok(&poll(&arrival, Instant::now() + wait, &app.stopping, from, look).await?)
}

/// Looks, and waits for arrivals while there is nothing. Registers before it looks, so that nothing that lands in
/// between is missed.
async fn poll<Look: Future<Output = Result<Page, Problem>>>(
    arrival: &Notify,
    until: Instant,
    stopping: &CancellationToken,
    mut from: ReadFrom,
    mut look: impl FnMut(ReadFrom) -> Look,
) -> Result<Page, Problem> {
    loop {
        let mut landed = std::pin::pin!(arrival.notified());
        landed.as_mut().enable();
        let page = look(from).await?;
        if !page.items.is_empty() || Instant::now() >= until {
            return Ok(page);
        }
        // The tail is where it was when the reader asked, not where it will be.
        from = ReadFrom::Position(page.position.clone());
        awakener_spec::rule!(Lsn1);
        tokio::select! {
            // In this order: a plane that stops answers with what it has.
            biased;
            () = stopping.cancelled() => return Ok(page),
            () = landed => {}
            () = tokio::time::sleep_until(until) => {}
        }
    }
}

async fn look(call: &Call, target: &Target, from: ReadFrom, limit: u32) -> Result<Page, Problem> {
    let (asked, settings) = (target.clone(), call.app.settings.clone());
    let read =
        call.app.readers.ask(move |conn| queries::page(conn, &asked, &from, limit, &settings.limits)).await;
    match read {
        Ok(page) => Ok(page),
        Err(refused) if refused.reason == Reason::PositionUnknown => {
            Err(call.refuse((refused.reason, refused.detail), target.as_str(), None).await)
        }
        Err(refused) => Err(refused.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http::wire::V1;

    fn page(position: &str) -> Page {
        Page {
            v: V1,
            target: "lotse".parse().unwrap(),
            items: Vec::new(),
            position: position.to_owned(),
            more: false,
            total: 0,
            outstanding: 0,
        }
    }

    #[tokio::test]
    async fn lsn_1_what_lands_while_a_reader_looks_is_not_missed() {
        let (arrival, stopping) = (Notify::new(), CancellationToken::new());
        let mut asked = Vec::new();
        let look = |from: ReadFrom| {
            asked.push(from);
            // It lands after the store was read and before the answer is there.
            arrival.notify_waiters();
            if asked.len() == 2 {
                stopping.cancel();
            }
            std::future::ready(Ok(page("p")))
        };
        let late = Instant::now() + Duration::from_secs(60);
        let polled = poll(&arrival, late, &stopping, ReadFrom::Tail, look);
        let polled = tokio::time::timeout(Duration::from_secs(10), polled).await;
        assert_eq!(polled.expect("the arrival was missed").unwrap(), page("p"));
        // And the second look goes on from where the first one was.
        assert_eq!(asked, [ReadFrom::Tail, ReadFrom::Position("p".to_owned())]);
    }
}
