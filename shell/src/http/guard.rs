//! What stands around every route: Host and Origin, load, panics, request ids, and headers that are never logged.
//!
//! Rules: PRT-2, PRT-3, SPW-6.

use std::any::Any;

use awakener_spec::Reason;
use axum::Router;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderName, Response as HttpResponse, Uri, header};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use tower::ServiceBuilder;
use tower_http::catch_panic::CatchPanicLayer;
use tower_http::request_id::{MakeRequestId, PropagateRequestIdLayer, RequestId, SetRequestIdLayer};
use tower_http::sensitive_headers::SetSensitiveRequestHeadersLayer;
use tower_http::set_header::SetResponseHeaderLayer;

use super::App;
use super::problem::Problem;

const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// Puts the guards around a router, the outermost first.
pub(super) fn around(router: Router, app: App) -> Router {
    let value = axum::http::HeaderValue::from_static;
    router.layer(
        ServiceBuilder::new()
            .layer(SetSensitiveRequestHeadersLayer::new([header::AUTHORIZATION]))
            .layer(SetRequestIdLayer::new(REQUEST_ID, Numbered))
            .layer(PropagateRequestIdLayer::new(REQUEST_ID))
            .layer(SetResponseHeaderLayer::overriding(header::CACHE_CONTROL, value("no-store")))
            .layer(SetResponseHeaderLayer::overriding(header::X_CONTENT_TYPE_OPTIONS, value("nosniff")))
            .layer(CatchPanicLayer::custom(panicked))
            .layer(middleware::from_fn_with_state(app, admit)),
    )
}

/// Ids of requests: ours, whatever a caller sends.
#[derive(Clone, Copy, Debug)]
struct Numbered;

impl MakeRequestId for Numbered {
    fn make_request_id<B>(&mut self, _: &axum::http::Request<B>) -> Option<RequestId> {
        let mut random = [0_u8; 8];
        getrandom::fill(&mut random).ok()?;
        let text = format!("{:016x}", u64::from_be_bytes(random));
        text.parse().ok().map(RequestId::new)
    }
}

/// A page of some web site that a browser on this machine shows must not get through to us (PRT-3).
async fn admit(State(app): State<App>, request: Request, next: Next) -> Response {
    if let Err(what) = local(request.headers(), request.uri()) {
        awakener_spec::rule!(Prt3);
        return app.folded((Reason::NotLoopback, what.to_owned())).into_response();
    }
    let Ok(_permit) = app.in_flight.clone().try_acquire_owned() else {
        awakener_spec::rule!(Prt2);
        return app
            .folded((Reason::Overloaded, "too many requests are under way".to_owned()))
            .into_response();
    };
    next.run(request).await
}

/// Whether a request was meant for this machine's loopback, and not sent by a page of another origin.
///
/// # Errors
/// What speaks against it, in words.
pub(crate) fn local(headers: &HeaderMap, uri: &Uri) -> Result<(), &'static str> {
    let mut hosts = headers.get_all(header::HOST).iter().map(|value| value.to_str().unwrap_or_default());
    let host = match (hosts.next(), hosts.next()) {
        (Some(host), None) => host,
        (None, _) => uri.authority().map(|authority| authority.as_str()).unwrap_or_default(),
        (Some(_), Some(_)) => return Err("two Host headers"),
    };
    if !is_loopback(host) {
        return Err("the Host header does not name this machine's loopback");
    }
    let mut origins = headers.get_all(header::ORIGIN).iter().map(|value| value.to_str().unwrap_or_default());
    let here = |origin: &str| origin.strip_prefix("http://").is_some_and(is_loopback);
    if origins.all(here) { Ok(()) } else { Err("the request comes from a page of another origin") }
}

/// `127.0.0.1`, `localhost` or `[::1]`, with or without a port.
fn is_loopback(host: &str) -> bool {
    ["127.0.0.1", "localhost", "[::1]"].iter().any(|name| match host.strip_prefix(name) {
        Some("") => true,
        Some(rest) => rest.strip_prefix(':').is_some_and(|port| port.parse::<u16>().is_ok()),
        None => false,
    })
}

/// A panic is a fault of this program; whether the request took effect is not known.
fn panicked(_: Box<dyn Any + Send + 'static>) -> HttpResponse<axum::body::Body> {
    tracing::error!("a handler panicked");
    Problem::of(Reason::OutcomeUnknown, "a fault of this program").into_response()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prt_3_only_the_loopback_by_name_is_here() {
        for host in ["127.0.0.1", "127.0.0.1:7717", "localhost:1", "[::1]:80", "localhost"] {
            assert!(is_loopback(host), "{host}");
        }
        for host in
            ["", "127.0.0.1.evil.example", "localhost.", "evil.example:7717", "127.0.0.1:", "127.0.0.1:99999"]
        {
            assert!(!is_loopback(host), "{host}");
        }
    }
}
