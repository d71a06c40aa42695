//! The audit chain for observers, and checkpoints over it (AUD-1, AUD-3).

use awakener_kernel::machine::Machine as _;
use awakener_kernel::wire::{Checkpoint, Signed, public_key};
use awakener_spec::Reason;
use axum::extract::{Request, State};
use serde::Deserialize;
use serde_json::json;
use utoipa::IntoParams;

use crate::http::App;
use crate::http::auth::Caller;
use crate::http::call::{Answer, Call, ok};
use crate::http::problem::Problem;
use crate::http::wire::answers::Audit;
use crate::plane::queries;

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

/// A signed checkpoint over the whole chain as it is now.
///
/// Whoever keeps one can tell later that a tail is missing.
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
    let plane = call.registry.image().plane.clone();
    let plane = plane.ok_or_else(|| Problem::of(Reason::StoreUnavailable, "the plane has no name yet"))?;
    let (size, head) = app.readers.ask(queries::tree_head).await?;
    let key = &app.settings.audit_key;
    let checkpoint =
        Checkpoint { plane, size, head, time: call.now().wall, key_id: public_key(key).key_id() };
    awakener_spec::rule!(Aud3);
    ok(&json!({ "v": 1, "checkpoint": Signed::sign(checkpoint, key).to_value() }))
}
