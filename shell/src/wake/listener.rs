//! The wake daemon's own listener, on this machine only.
//!
//! `POST /v1/hints` takes raw bytes and always answers 202 with `{}`, so that nobody learns from it how a hint was
//! judged; only who presents the observer's token is told. `GET /v1/status` has identifiers only; `GET /v1/audit` is
//! the observer's. Rules: VER-5, SIG-2, PRT-3, AUD-8.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use awakener_kernel::ids::ContentHash;
use awakener_kernel::wire::hint::MAX_BYTES;
use awakener_spec::Reason;
use axum::body::{Body, to_bytes};
use axum::extract::{Query, Request, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use rusqlite::{Connection, OpenFlags};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::net::TcpListener;

use super::daemon::Entrance;
use super::fold::Via;
use crate::keys::token_hash;
use crate::plane::Refused;

/// The most entries of one answer.
const PAGE: u32 = 1_000;

#[derive(Clone, Debug)]
struct Served {
    entrance: Entrance,
    observer: Option<ContentHash>,
    database: Arc<Path>,
}

/// Opens the listener, on loopback or not at all.
pub(super) async fn bind(listen: Option<SocketAddr>) -> Result<Option<TcpListener>, Refused> {
    let Some(listen) = listen else { return Ok(None) };
    if !listen.ip().is_loopback() {
        return Err(Refused::because(Reason::NotLoopback, &listen.to_string()));
    }
    let bound = TcpListener::bind(listen).await;
    bound
        .map(Some)
        .map_err(|error| Refused { reason: Reason::StoreUnavailable, detail: format!("{listen}: {error}") })
}

pub(super) async fn serve(
    listener: TcpListener,
    entrance: Entrance,
    observer: Option<ContentHash>,
    database: PathBuf,
) {
    let served = Served { entrance, observer, database: database.into() };
    let routes = Router::new()
        .route("/v1/hints", post(hints))
        .route("/v1/status", get(status))
        .route("/v1/audit", get(audit))
        .layer(middleware::from_fn(only_local))
        .with_state(served);
    if let Err(error) = axum::serve(listener, routes).await {
        tracing::error!("the wake daemon's listener has ended: {error}");
    }
}

/// Refuses what a web page could have sent: a foreign `Host`, or any `Origin` (PRT-3).
async fn only_local(request: Request, next: Next) -> Response {
    let headers = request.headers();
    let host = headers.get(header::HOST).and_then(|host| host.to_str().ok());
    if headers.contains_key(header::ORIGIN) || !host.is_some_and(is_local) {
        return problem(StatusCode::FORBIDDEN, Reason::NotLoopback);
    }
    next.run(request).await
}

fn is_local(host: &str) -> bool {
    if host == "localhost" || host.starts_with("localhost:") {
        return true;
    }
    let literal = host.parse::<SocketAddr>().map(|address| address.ip());
    let ip = literal.or_else(|_| host.trim_matches(['[', ']']).parse());
    ip.is_ok_and(|ip| ip.is_loopback())
}

async fn hints(State(served): State<Served>, headers: HeaderMap, body: Body) -> Response {
    // Bytes that are too many are malformed whatever they are, and counted like any other malformed hint.
    let bytes = to_bytes(body, MAX_BYTES).await.unwrap_or_default();
    let answer = if served.observes(&headers) {
        match served.entrance.present(Via::Listener, &bytes).await {
            Some(judged) => json!({ "v": 1, "class": judged.class, "asked": judged.asked }),
            None => json!({ "v": 1, "lost": true }),
        }
    } else {
        served.entrance.offer(Via::Listener, &bytes, None);
        json!({})
    };
    (StatusCode::ACCEPTED, Json(answer)).into_response()
}

async fn status(State(served): State<Served>) -> Response {
    match served.entrance.status().await {
        Some(status) => Json(status).into_response(),
        None => problem(StatusCode::SERVICE_UNAVAILABLE, Reason::StoreUnavailable),
    }
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Page {
    #[serde(default)]
    from: u64,
    #[serde(default = "page")]
    limit: u32,
}

const fn page() -> u32 {
    100
}

async fn audit(State(served): State<Served>, headers: HeaderMap, Query(page): Query<Page>) -> Response {
    if !served.observes(&headers) {
        return problem(StatusCode::UNAUTHORIZED, Reason::Unauthenticated);
    }
    let database = Arc::clone(&served.database);
    let read = tokio::task::spawn_blocking(move || entries(&database, &page)).await;
    match read {
        Ok(Ok(answer)) => Json(answer).into_response(),
        Ok(Err(_)) | Err(_) => problem(StatusCode::SERVICE_UNAVAILABLE, Reason::StoreUnavailable),
    }
}

/// Reads with a connection of its own, so that the store thread never waits for a reader.
fn entries(database: &Path, page: &Page) -> rusqlite::Result<Value> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let conn = Connection::open_with_flags(database, flags)?;
    let mut statement = conn
        .prepare("SELECT position, hash, entry FROM audit WHERE position >= ?1 ORDER BY position LIMIT ?2")?;
    let from = i64::try_from(page.from).unwrap_or(i64::MAX);
    let rows = statement.query_map((from, page.limit.min(PAGE)), |row| {
        let (position, hash, entry): (i64, String, Vec<u8>) = (row.get(0)?, row.get(1)?, row.get(2)?);
        let entry: Value = serde_json::from_slice(&entry).unwrap_or_default();
        Ok(json!({ "position": position, "hash": hash, "entry": entry }))
    })?;
    let entries: Vec<Value> = rows.collect::<rusqlite::Result<_>>()?;
    let head: Option<(i64, String)> = {
        use rusqlite::OptionalExtension as _;
        conn.query_row("SELECT position, hash FROM audit ORDER BY position DESC LIMIT 1", [], |row| {
            Ok((row.get(0)?, row.get(1)?))
        })
        .optional()?
    };
    let head = head.map(|(size, hash)| json!({ "size": size, "hash": hash }));
    Ok(json!({ "v": 1, "entries": entries, "head": head }))
}

impl Served {
    fn observes(&self, headers: &HeaderMap) -> bool {
        let sent = headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok());
        let token = sent.and_then(|value| value.strip_prefix("Bearer "));
        // Hashes are compared, so the time it takes tells nothing of the token.
        token.is_some_and(|token| self.observer == Some(token_hash(token)))
    }
}

fn problem(status: StatusCode, reason: Reason) -> Response {
    let body = json!({
        "v": 1, "type": "about:blank", "title": reason.text(), "status": status.as_u16(),
        "reason": reason.name(), "rule": reason.rule().id(),
    });
    (status, [(header::CONTENT_TYPE, "application/problem+json")], body.to_string()).into_response()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prt_3_only_names_of_this_machine_are_hosts() {
        for good in ["localhost", "localhost:7718", "127.0.0.1", "127.0.0.1:7718", "[::1]", "[::1]:7718"] {
            assert!(is_local(good), "{good}");
        }
        for bad in ["example.com", "localhost.example.com", "192.0.2.1:7718", "", "127.0.0.1.example.com"] {
            assert!(!is_local(bad), "{bad}");
        }
    }
}
