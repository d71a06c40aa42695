//! What operators decided, for observers (AUD-8).

use awakener_kernel::machine::Machine as _;
use axum::extract::{Request, State};

use super::audit::observer;
use crate::http::App;
use crate::http::call::{Answer, ok};
use crate::http::wire::registry::RegistryNow;

/// Targets, principals, keys and the roster, as of the last commit.
#[utoipa::path(
    get, path = "/v1/registry", operation_id = "registry", tag = "queries",
    responses((status = 200, description = "What operators decided.", body = RegistryNow)),
    security(("bearer" = []))
)]
pub(in crate::http) async fn registry(State(app): State<App>, request: Request) -> Answer {
    let call = app.open(request).await?;
    observer(&call)?;
    ok(&RegistryNow::of(call.registry.image()))
}
