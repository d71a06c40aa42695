//! A way from a station to its plane that can be made to stop at one moment: just before a claim goes through.
//!
//! It forwards every request as it is. Used to take the lock of a station's store at the instant of a trip, as a backup
//! program could. Not a part of the product.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use tokio::net::TcpListener;

type Act = Box<dyn FnOnce() + Send>;

/// The way.
#[derive(Clone)]
pub struct Proxy {
    addr: SocketAddr,
    shared: Arc<Shared>,
}

impl std::fmt::Debug for Proxy {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Proxy").field("addr", &self.addr).finish_non_exhaustive()
    }
}

struct Shared {
    http: reqwest::Client,
    to: String,
    before_claim: Mutex<Option<Act>>,
}

impl Proxy {
    /// A way to the plane at this base URL.
    ///
    /// # Errors
    /// In words.
    pub async fn to(plane: &str) -> Result<Self, String> {
        let listener = TcpListener::bind("127.0.0.1:0").await.map_err(|error| error.to_string())?;
        let addr = listener.local_addr().map_err(|error| error.to_string())?;
        let http = reqwest::Client::builder()
            .no_proxy()
            .redirect(reqwest::redirect::Policy::none())
            .timeout(Duration::from_secs(60))
            .build()
            .map_err(|error| error.to_string())?;
        let shared = Arc::new(Shared { http, to: plane.to_owned(), before_claim: Mutex::default() });
        let routes = Router::new().fallback(forward).with_state(shared.clone());
        tokio::spawn(async move { axum::serve(listener, routes).await });
        Ok(Self { addr, shared })
    }

    /// Where a station finds it.
    pub fn url(&self) -> String {
        format!("http://{}", self.addr)
    }

    /// Does this once, before the next claim goes through.
    pub fn before_claim(&self, act: impl FnOnce() + Send + 'static) {
        *self.shared.before_claim.lock().unwrap_or_else(PoisonError::into_inner) = Some(Box::new(act));
    }
}

async fn forward(State(shared): State<Arc<Shared>>, request: Request) -> Response {
    let (parts, body) = request.into_parts();
    let path = parts.uri.path_and_query().map_or("/", |path| path.as_str());
    if path.ends_with("/claim") {
        let act = shared.before_claim.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(act) = act {
            act();
        }
    }
    let Ok(bytes) = to_bytes(body, 4 << 20).await else { return StatusCode::BAD_REQUEST.into_response() };
    let mut onward = shared.http.request(parts.method, format!("{}{path}", shared.to)).body(bytes);
    for name in ["authorization", "content-type", "awakener-lease"] {
        if let Some(value) = parts.headers.get(name) {
            onward = onward.header(name, value);
        }
    }
    let Ok(answer) = onward.send().await else { return StatusCode::BAD_GATEWAY.into_response() };
    let (status, headers) = (answer.status(), answer.headers().clone());
    let Ok(bytes) = answer.bytes().await else { return StatusCode::BAD_GATEWAY.into_response() };
    let mut response = Response::builder().status(status);
    if let Some(kind) = headers.get("content-type") {
        response = response.header("content-type", kind);
    }
    response.body(Body::from(bytes)).unwrap_or_else(|_| StatusCode::BAD_GATEWAY.into_response())
}
