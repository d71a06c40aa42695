//! The plane over HTTP: bounds, authenticates, parses, asks the plane, answers. It decides nothing (ADM-1).
//!
//! Reading order: [`serve`] → `call` (what every request goes through, in the order of ADM-2) → `routes` →
//! [`problem`] (the one shape of an error) → `document` (OpenAPI, made from the same handlers). Not here: queries
//! ([`crate::plane::queries`]), the other side ([`crate::client`]). Rules: ADM-1, ADM-2, ADM-9, IDN-6, PRT-2, PRT-3.

mod auth;
mod call;
mod document;
mod door;
mod fold;
pub(crate) mod guard;
pub mod problem;
mod rate;
mod routes;
#[cfg(test)]
mod spoiled;
pub mod wire;

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use awakener_kernel::config::Config;
use awakener_kernel::ids::{ContentHash, DaemonName};
use awakener_spec::Reason;
use tokio::net::TcpListener;
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

use crate::agents::Neighbours;
use crate::plane::queries::Readers;
use crate::plane::{Plane, Refused};

pub use document::openapi;
pub use door::document as read_document;

/// How long a request may take to arrive, and how long a plane may take to answer it (PRT-2). A long poll has its own
/// bound.
const DEADLINE: Duration = Duration::from_secs(10);
/// How many requests may be under way; one more is `overloaded`. Long polls count.
const IN_FLIGHT: usize = 1_024;

/// What the listener needs beside the plane.
pub struct Settings {
    /// The limits in force.
    pub limits: Config,
    /// `trial` or `production` (CAP-5).
    pub mode: String,
    /// The wake daemons that may ask for permits, with the hashes of their credentials.
    pub daemons: Vec<(DaemonName, ContentHash)>,
    /// Hashes of the credentials that may read audit, receipts and status.
    pub observers: Vec<ContentHash>,
}

impl std::fmt::Debug for Settings {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // No hash that a guess could be tried on.
        f.debug_struct("Settings").field("mode", &self.mode).finish_non_exhaustive()
    }
}

/// What handlers share.
#[derive(Clone)]
pub(crate) struct App {
    plane: Plane,
    readers: Readers,
    settings: Arc<Settings>,
    neighbours: Arc<Neighbours>,
    rates: Arc<rate::Rates>,
    folded: Arc<fold::Folded>,
    in_flight: Arc<Semaphore>,
    /// Cancelled when the listener stops, so that long polls end at once.
    stopping: CancellationToken,
}

/// Binds a listener on loopback (PRT-3).
///
/// # Errors
/// `not_loopback` for any other address, `port_taken` when something listens there already.
pub async fn bind(address: SocketAddr) -> Result<TcpListener, Refused> {
    loopback(address)?;
    TcpListener::bind(address)
        .await
        .map_err(|error| Refused { reason: Reason::PortTaken, detail: format!("{address}: {error}") })
}

/// Serves until `shutdown` completes; then long polls end at once and what is under way has `graceful_stop`.
///
/// # Errors
/// `not_loopback` if the listener is anywhere else (PRT-3).
pub async fn serve(
    plane: Plane,
    settings: Settings,
    listener: TcpListener,
    shutdown: impl Future<Output = ()> + Send + 'static,
) -> Result<(), Refused> {
    serve_beside(plane, settings, Neighbours::none(), listener, shutdown).await
}

/// The same, with those whose status is shown beside the plane's own.
///
/// # Errors
/// As [`serve`].
pub async fn serve_beside(
    plane: Plane,
    settings: Settings,
    neighbours: Neighbours,
    listener: TcpListener,
    shutdown: impl Future<Output = ()> + Send + 'static,
) -> Result<(), Refused> {
    let broken = |error: std::io::Error| Refused { reason: Reason::Unreachable, detail: error.to_string() };
    let address = listener.local_addr().map_err(broken)?;
    loopback(address)?;
    let grace = Duration::from_millis(settings.limits.graceful_stop.0);
    let app = App {
        readers: Readers::of(plane.path()),
        plane,
        rates: Arc::new(rate::Rates::new(settings.limits.rate_per_minute)),
        settings: Arc::new(settings),
        neighbours: Arc::new(neighbours),
        folded: Arc::default(),
        in_flight: Arc::new(Semaphore::new(IN_FLIGHT)),
        stopping: CancellationToken::new(),
    };
    let stopping = app.stopping.clone();
    let router = guard::around(routes::router().with_state(app.clone()), app);
    let stopped = stopping.clone();
    let server = axum::serve(listener, router).with_graceful_shutdown(async move {
        shutdown.await;
        stopping.cancel();
    });
    tokio::select! {
        ended = async { server.await } => ended.map_err(broken),
        () = async {
            stopped.cancelled().await;
            tokio::time::sleep(grace).await;
        } => {
            tracing::warn!("requests that were still under way are cut off");
            Ok(())
        }
    }
}

fn loopback(address: SocketAddr) -> Result<(), Refused> {
    if address.ip().is_loopback() {
        return Ok(());
    }
    awakener_spec::rule!(Prt3);
    Err(Refused { reason: Reason::NotLoopback, detail: format!("{address} is not a loopback address") })
}
