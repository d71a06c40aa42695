//! Whether the process lives and serves, and what it offers.

use axum::extract::State;

use crate::http::App;
use crate::http::call::{Answer, ok};
use crate::http::problem::Problem;

#[derive(Debug, serde::Serialize, utoipa::ToSchema)]
struct Well {
    /// Always 1.
    v: u32,
    /// Always true.
    ok: bool,
}

/// Whether the process answers at all.
#[utoipa::path(
    get, path = "/livez", operation_id = "livez", tag = "health",
    responses((status = 200, description = "It does.", body = Well))
)]
pub(in crate::http) async fn livez() -> Answer {
    ok(&Well { v: 1, ok: true })
}

/// Whether the plane serves: recovered, and its store can be read.
#[utoipa::path(
    get, path = "/readyz", operation_id = "readyz", tag = "health",
    responses((status = 200, description = "It does.", body = Well))
)]
pub(in crate::http) async fn readyz(State(app): State<App>) -> Answer {
    app.registry()?;
    app.readers
        .ask(|conn| {
            conn.query_row("SELECT count(*) FROM meta", [], |row| row.get::<_, i64>(0)).map_err(|error| {
                crate::plane::Refused {
                    reason: awakener_spec::Reason::StoreUnavailable,
                    detail: format!("the store cannot be read: {error}"),
                }
            })
        })
        .await
        .map_err(Problem::from)?;
    ok(&Well { v: 1, ok: true })
}

/// The description of this interface.
#[utoipa::path(
    get, path = "/openapi.json", operation_id = "openapi", tag = "health",
    responses((status = 200, description = "OpenAPI 3.1.", body = inline(Object)))
)]
pub(in crate::http) async fn openapi() -> Answer {
    ok(&crate::http::openapi())
}
