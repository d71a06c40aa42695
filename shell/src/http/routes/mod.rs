//! The routes, by subject. Each handler says who may call, hands over, and answers; the rest is in [`super::call`].

mod acks;
mod agents;
mod audit;
mod health;
mod inbox;
mod messages;
mod operator;
mod page;
mod queries;
mod registry;
mod stations;
mod status;
mod wake;
mod work;

use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::App;
use super::problem::Problem;
use awakener_spec::Reason;

/// All routes, without their description.
pub(super) fn router() -> axum::Router<App> {
    described().split_for_parts().0.method_not_allowed_fallback(nothing)
}

/// All routes, with their description.
pub(super) fn described() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(routes!(messages::submit))
        .routes(routes!(messages::message))
        .routes(routes!(inbox::inbox))
        .routes(routes!(work::claim))
        .routes(routes!(work::renew))
        .routes(routes!(work::release))
        .routes(routes!(work::read))
        .routes(routes!(work::turns))
        .routes(routes!(work::replies))
        .routes(routes!(work::silences))
        .routes(routes!(work::done))
        .routes(routes!(stations::open))
        .routes(routes!(stations::origin))
        .routes(routes!(stations::grant))
        .routes(routes!(acks::acks))
        .routes(routes!(operator::operator))
        .routes(routes!(queries::receipts))
        .routes(routes!(queries::trace))
        .routes(routes!(wake::permits))
        .routes(routes!(wake::reports))
        .routes(routes!(wake::sweep))
        .routes(routes!(wake::router_keys))
        .routes(routes!(audit::audit))
        .routes(routes!(audit::checkpoint, audit::newest))
        .routes(routes!(audit::consistency))
        .routes(routes!(audit::inclusion))
        .routes(routes!(status::status))
        .routes(routes!(agents::agents))
        .routes(routes!(page::page))
        .routes(routes!(registry::registry))
        .routes(routes!(health::livez))
        .routes(routes!(health::readyz))
        .routes(routes!(health::openapi))
        .fallback(nothing)
}

/// No such route, or not with this method.
async fn nothing() -> Problem {
    let mut problem = Problem::of(Reason::Malformed, "there is no such route, or not with this method");
    problem.status = 404;
    problem
}
