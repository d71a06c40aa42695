//! The audit chain for observers, checkpoints over it, and proofs against them (AUD-1, AUD-3).

use awakener_spec::Reason;
use axum::extract::{Request, State};
use serde::Deserialize;
use serde_json::json;
use utoipa::IntoParams;

use crate::http::App;
use crate::http::auth::Caller;
use crate::http::call::{Answer, Call, ok};
use crate::http::problem::Problem;
use crate::http::wire::answers::{Audit, Consistency, Inclusion};
use crate::plane::{Op, Reply, queries};

/// The most entries of one answer.
const MOST: u32 = 1_000;

pub(super) fn observer(call: &Call) -> Result<(), Problem> {
    match &call.caller {
        Caller::Observer => Ok(()),
        Caller::Principal(_) | Caller::Daemon(_) => Err(call
            .app
            .folded((Reason::Unauthenticated, "this takes the credential of an observer".to_owned()))),
    }
}

#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(in crate::http) struct Part {
    /// The first position, from 1; 1 if absent.
    #[param(minimum = 1)]
    from: Option<u64>,
    /// At most this many, at most 1000; 100 if absent.
    #[param(minimum = 1, maximum = 1000)]
    limit: Option<u32>,
}

/// A part of the audit chain.
#[utoipa::path(
    get, path = "/v1/audit", operation_id = "audit", tag = "audit", params(Part),
    responses((status = 200, description = "Entries in order, and the end of the chain.", body = Audit)),
    security(("bearer" = []))
)]
pub(in crate::http) async fn audit(State(app): State<App>, request: Request) -> Answer {
    let call = app.open(request).await?;
    observer(&call)?;
    let part: Part = call.query().await?;
    let (from, limit) = (part.from.unwrap_or(1), part.limit.unwrap_or(100));
    if from == 0 || limit == 0 || limit > MOST {
        let fault = (Reason::Malformed, format!("from is at least 1, limit between 1 and {MOST}"));
        return Err(call.refuse(fault, "", None).await);
    }
    ok(&app.readers.ask(move |conn| queries::part(conn, from, limit)).await?)
}

/// Signs a checkpoint over the whole chain as it is now, and keeps it.
///
/// Whoever keeps one elsewhere can tell later that a tail is missing or that the chain was rewritten.
#[utoipa::path(
    post, path = "/v1/audit/checkpoint", operation_id = "checkpoint", tag = "audit",
    responses((status = 200, description = "The checkpoint with its signature.", body = inline(Object),
        example = json!({"v": 1, "checkpoint": {"checkpoint": {"v": 1, "plane": "local", "size": 12,
            "head": "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
            "time": "2026-01-01T00:00:00Z",
            "key_id": "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
            "signature": "ed25519:…"}}))),
    security(("bearer" = []))
)]
pub(in crate::http) async fn checkpoint(State(app): State<App>, request: Request) -> Answer {
    let call = app.open(request).await?;
    observer(&call)?;
    match app.plane.call(Op::Checkpoint).await? {
        Reply::Checkpoint(signed) => {
            awakener_spec::rule!(Aud3);
            ok(&json!({ "v": 1, "checkpoint": signed.to_value() }))
        }
        other => Err(Problem::of(Reason::FactsMissing, format!("unexpected {other:?}"))),
    }
}

/// The newest checkpoint that the plane has kept.
#[utoipa::path(
    get, path = "/v1/audit/checkpoint", operation_id = "newest_checkpoint", tag = "audit",
    responses((status = 200, description = "The checkpoint with its signature, as `checkpoint` gives it.",
        body = inline(Object))),
    security(("bearer" = []))
)]
pub(in crate::http) async fn newest(State(app): State<App>, request: Request) -> Answer {
    let call = app.open(request).await?;
    observer(&call)?;
    let signed = app.readers.ask(queries::newest).await?;
    ok(&json!({ "v": 1, "checkpoint": signed.to_value() }))
}

#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(in crate::http) struct Since {
    /// How many records the older checkpoint covers.
    first: u64,
}

/// The proof that the newest checkpoint has everything that an older one had.
///
/// It is shown with both tree heads and no key: RFC 9162, section 2.1.4.2.
#[utoipa::path(
    get, path = "/v1/audit/consistency", operation_id = "consistency", tag = "audit", params(Since),
    responses((status = 200, description = "The proof and the newest checkpoint.", body = Consistency)),
    security(("bearer" = []))
)]
pub(in crate::http) async fn consistency(State(app): State<App>, request: Request) -> Answer {
    let call = app.open(request).await?;
    observer(&call)?;
    let Since { first } = call.query().await?;
    let grown = app.plane.grown();
    ok(&app.readers.ask(move |conn| queries::consistency(conn, &grown, first)).await?)
}

#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(in crate::http) struct Place {
    /// The position of the record, from 1.
    #[param(minimum = 1)]
    position: u64,
}

/// The proof that the newest checkpoint covers a record.
///
/// It is shown with the record's hash, the tree head and no key: RFC 9162, section 2.1.3.2. The leaf of a record is its
/// hash.
#[utoipa::path(
    get, path = "/v1/audit/inclusion", operation_id = "inclusion", tag = "audit", params(Place),
    responses((status = 200, description = "The record, the proof and the newest checkpoint.", body = Inclusion)),
    security(("bearer" = []))
)]
pub(in crate::http) async fn inclusion(State(app): State<App>, request: Request) -> Answer {
    let call = app.open(request).await?;
    observer(&call)?;
    let Place { position } = call.query().await?;
    let grown = app.plane.grown();
    ok(&app.readers.ask(move |conn| queries::inclusion(conn, &grown, position)).await?)
}
