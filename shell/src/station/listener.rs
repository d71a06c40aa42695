//! Where a station is woken: AgentAPI-compatible `POST /message` and `GET /status`, on loopback (STN-8).
//!
//! What is posted is a hint at most: the id of a wake in it is noted, its content is never work (STN-5). Beside them
//! the station's own status and chain, for observers.

use std::net::SocketAddr;
use std::sync::Arc;

use awakener_kernel::ids::{ContentHash, Target, WakeId};
use awakener_kernel::json::{self, Numbers};
use awakener_kernel::station::{Input, Phase};
use awakener_kernel::time::Wall;
use awakener_spec::Reason;
use axum::Router;
use axum::body::Bytes;
use axum::extract::{Query, Request, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use serde_json::{Value, json};
use tokio::net::TcpListener;

use super::thread::Handle;
use super::{StationError, resting, wakeable};
use crate::config::Mode;
use crate::http::problem::Problem;
use crate::keys::{look_token, token_hash};

/// The most bytes of a message; a wake text has 200.
const LARGEST: usize = 4_096;

pub(super) async fn bind(listen: SocketAddr) -> Result<TcpListener, StationError> {
    if !listen.ip().is_loopback() {
        return Err(StationError::Io {
            reason: Reason::NotLoopback,
            what: format!("listening on {listen}"),
            detail: "a station is woken from its own machine only (PRT-3)".to_owned(),
        });
    }
    TcpListener::bind(listen).await.map_err(|error| StationError::Io {
        reason: Reason::PortTaken,
        what: format!("listening on {listen}"),
        detail: error.to_string(),
    })
}

struct Shared {
    handle: Handle,
    target: Target,
    observer: ContentHash,
    /// Whether what runs the turns could read the station's ACK key (SPW-6).
    reaches_ack_key: bool,
    mode: Mode,
}

pub(super) async fn serve(
    listener: TcpListener,
    handle: Handle,
    target: Target,
    observer: ContentHash,
    reaches_ack_key: bool,
    mode: Mode,
) {
    let shared = Arc::new(Shared { handle, target, observer, reaches_ack_key, mode });
    let routes = Router::new()
        .route("/message", post(message))
        .route("/status", get(status))
        .route("/v1/status", get(own_status))
        .route("/v1/audit", get(audit))
        .layer(axum::extract::DefaultBodyLimit::max(LARGEST))
        .layer(middleware::from_fn(only_local))
        .with_state(shared);
    if let Err(error) = axum::serve(listener, routes).await {
        tracing::error!("the station's listener has ended: {error}");
    }
}

/// A page of some web site that a browser on this machine shows wakes nobody (PRT-3).
async fn only_local(request: Request, next: Next) -> Response {
    match crate::http::guard::local(request.headers(), request.uri()) {
        Ok(()) => next.run(request).await,
        Err(what) => {
            awakener_spec::rule!(Prt3);
            Problem::of(Reason::NotLoopback, what).into_response()
        }
    }
}

async fn message(State(shared): State<Arc<Shared>>, body: Bytes) -> Response {
    let Ok(value) = json::read(&body, LARGEST, Numbers::Any) else {
        return refuse(StatusCode::BAD_REQUEST, "not a message");
    };
    let (true, Some(content)) = (fits(&value), value.get("content").and_then(Value::as_str)) else {
        return refuse(
            StatusCode::UNPROCESSABLE_ENTITY,
            "a message has exactly `content` and `type`, user or raw",
        );
    };
    let phase = shared.handle.look().await.map(|station| station.phase().name());
    if !phase.is_some_and(wakeable) {
        // So says AgentAPI of an agent that takes nothing now; nothing has begun, and a waker tries again later.
        let detail = format!("the station is not armed: {}", crate::wake::BUSY);
        return refuse(StatusCode::INTERNAL_SERVER_ERROR, &detail);
    }
    let named = content
        .split(|c: char| !c.is_ascii_alphanumeric() && c != '-')
        .find_map(|word| WakeId::parse(word).ok());
    shared.handle.feed(named.map_or(Input::WorkFound, |wake| Input::Hint { wake }));
    axum::Json(json!({ "ok": true })).into_response()
}

/// Whether it has the members of AgentAPI's message and no others.
fn fits(value: &Value) -> bool {
    let known = |name: &String| matches!(name.as_str(), "$schema" | "content" | "type");
    let kind = value.get("type").and_then(Value::as_str);
    value.as_object().is_some_and(|members| members.keys().all(known)) && matches!(kind, Some("user" | "raw"))
}

fn refuse(status: StatusCode, detail: &str) -> Response {
    let body = json!({ "title": status.canonical_reason(), "status": status.as_u16(), "detail": detail });
    (status, [(header::CONTENT_TYPE, "application/problem+json")], body.to_string()).into_response()
}

async fn status(State(shared): State<Arc<Shared>>) -> Response {
    let resting = shared.handle.look().await.is_none_or(|station| resting(station.phase().name()));
    let status = if resting { "stable" } else { "running" };
    // Its description asks for the other two: an agent of no known brand, that answers before its turn has ended.
    axum::Json(json!({ "status": status, "agent_type": "custom", "transport": "pty" })).into_response()
}

async fn own_status(State(shared): State<Arc<Shared>>, headers: HeaderMap) -> Response {
    if !observes(&shared, &headers) && !looks(&shared, &headers) {
        return Problem::of(Reason::Unauthenticated, "a station's status needs the observer's token")
            .into_response();
    }
    let Some(shown) = shared.handle.show().await else {
        return Problem::of(Reason::StoreUnavailable, "the station could not be read").into_response();
    };
    let (station, limits, wall) = (shown.station, shown.limits, shown.now.wall);
    let image = awakener_kernel::machine::Machine::image(&station);
    let rests = image.progress.values().map(|progress| progress.rests_until).filter(|until| *until > wall);
    let causes = match station.phase() {
        Phase::Refused(refused) => Some(&refused.causes),
        _other => None,
    };
    axum::Json(json!({
        "v": 1,
        "mode": shared.mode,
        "target": shared.target,
        "now": wall.utc(),
        "phase": station.phase().name(),
        "since": shown.since.utc(),
        "refused_by": causes,
        "grant": image.grant,
        "latch": image.latch,
        "turn": image.turn,
        "tail": image.tail,
        "ack_key_in_reach_of_runner": shared.reaches_ack_key,
        "rests_until": rests.min().map(Wall::utc),
        // What the fuse judges, and what it judges them by (FUS-2).
        "turns": image.counters.reading(wall),
        "limits": {
            "turns_per_hour": limits.turns_per_hour,
            "turns_per_day": limits.turns_per_day,
            "turns_per_boot": limits.turns_per_boot,
        },
    }))
    .into_response()
}

#[derive(serde::Deserialize)]
struct Part {
    #[serde(default = "first")]
    from: u64,
    #[serde(default = "many")]
    limit: u32,
}

const fn first() -> u64 {
    1
}

const fn many() -> u32 {
    1_000
}

async fn audit(State(shared): State<Arc<Shared>>, headers: HeaderMap, Query(part): Query<Part>) -> Response {
    if !observes(&shared, &headers) {
        return Problem::of(Reason::Unauthenticated, "a station's chain needs the observer's token")
            .into_response();
    }
    match shared.handle.audit(part.from, part.limit.min(1_000)).await {
        Err(reason) => Problem::of(reason, "the chain could not be read").into_response(),
        Ok(entries) => {
            let entries: Vec<Value> = entries
                .into_iter()
                .map(|(position, hash, entry)| json!({ "position": position, "hash": hash, "entry": entry }))
                .collect();
            axum::Json(json!({ "v": 1, "entries": entries })).into_response()
        }
    }
}

fn observes(shared: &Shared, headers: &HeaderMap) -> bool {
    presents(headers, &shared.observer)
}

/// Whether the plane of this state directory looks, whose credential opens the status and nothing else.
fn looks(shared: &Shared, headers: &HeaderMap) -> bool {
    presents(headers, &token_hash(&look_token(&shared.observer, &shared.target)))
}

fn presents(headers: &HeaderMap, known: &ContentHash) -> bool {
    use subtle::ConstantTimeEq;
    let presented = headers
        .get(header::AUTHORIZATION)
        .and_then(|value| value.to_str().ok())
        .and_then(|value| value.strip_prefix("Bearer "))
        .map(token_hash);
    presented.is_some_and(|hash| hash.0.ct_eq(&known.0).into())
}
