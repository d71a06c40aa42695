//! The way of the hints from the emitter to wake daemons: fast, at most once, and free to lose anything.
//!
//! A broker carries bytes and looks at none of them. What it promises is little: to say whether its own client took a
//! hint, to count what slow consumers lose, and to tell a consumer when something may have been missed, so that a look
//! becomes owed (DSP-11). Not here: minting and signing (the plane), verification (`wake`). Rules: BRK-1, EMT-4.
//!
//! Reading order: this file (the port) → `in_process`, `http_push`, `nats` (its adapters) → `publisher` (the plane's side).

mod http_push;
mod in_process;
mod nats;
mod publisher;

use std::collections::BTreeSet;
use std::fmt::{self, Debug, Display};
use std::future::Future;
use std::net::IpAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use awakener_kernel::ids::Target;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

pub use http_push::HttpPush;
pub(crate) use http_push::loopback;
pub use in_process::InProcess;
pub use nats::{Login, Nats};
pub use publisher::publish_all;

/// A future behind a trait object.
pub type Later<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// What the subjects of hints start with (BRK-1); the target follows.
pub const SUBJECT: &str = "awakener.v1.wake.";

/// The subject of one target's hints.
pub fn subject(target: &Target) -> String {
    awakener_spec::rule!(Brk1);
    format!("{SUBJECT}{target}")
}

/// Whether a host is this machine.
pub(crate) fn is_here(host: &str) -> bool {
    let host = host.trim_start_matches('[').trim_end_matches(']');
    host == "localhost" || host.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

/// A broker's client.
pub trait Broker: Send + Sync + Debug {
    /// Hands bytes to the client. `Ok` says nothing of arrival (EMT-4).
    fn publish<'a>(&'a self, target: &'a Target, bytes: Arc<[u8]>) -> Later<'a, Result<(), NotHandedOver>>;

    /// Listens to the hints of these targets. Must be called within a tokio runtime.
    fn subscribe(&self, targets: &BTreeSet<Target>) -> Subscription;

    /// What happened so far.
    fn counters(&self) -> Counters;
}

/// The client did not take a hint; it is lost, the message is not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotHandedOver(pub String);

impl Display for NotHandedOver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// What a subscription brings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Arrival {
    /// Somebody's bytes, unjudged.
    Hint(Arc<[u8]>),
    /// This consumer was too slow: so many hints are gone.
    Lost(u64),
    /// The connection is there, for the first time or again; what came meanwhile was missed.
    Connected,
}

/// The consuming end; dropping it ends the subscription.
#[derive(Debug)]
pub struct Subscription {
    arrivals: mpsc::Receiver<Arrival>,
    feeders: Vec<JoinHandle<()>>,
}

impl Subscription {
    /// One that is fed by these tasks.
    pub const fn fed_by(arrivals: mpsc::Receiver<Arrival>, feeders: Vec<JoinHandle<()>>) -> Self {
        Self { arrivals, feeders }
    }

    /// The next arrival; `None` when there will be no more.
    pub async fn next(&mut self) -> Option<Arrival> {
        self.arrivals.recv().await
    }
}

impl Drop for Subscription {
    fn drop(&mut self) {
        self.feeders.iter().for_each(JoinHandle::abort);
    }
}

/// What a broker counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct Counters {
    /// Hints that the client took.
    pub handed_over: u64,
    /// Hints that it did not take.
    pub failed: u64,
    /// Hints that slow consumers lost.
    pub lost: u64,
    /// Connections after the first one.
    pub reconnects: u64,
    /// Connections that the server refused for want of the right credentials.
    pub refused: u64,
    /// Whether there is a connection now; absent for brokers that have none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub connected: Option<bool>,
}

/// The same while it is being counted.
#[derive(Debug, Default)]
pub(crate) struct Counting {
    pub(crate) handed_over: AtomicU64,
    pub(crate) failed: AtomicU64,
    pub(crate) lost: AtomicU64,
    pub(crate) reconnects: AtomicU64,
    pub(crate) refused: AtomicU64,
    connected: AtomicBool,
}

impl Counting {
    pub(crate) fn read(&self) -> Counters {
        let of = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        Counters {
            handed_over: of(&self.handed_over),
            failed: of(&self.failed),
            lost: of(&self.lost),
            reconnects: of(&self.reconnects),
            refused: of(&self.refused),
            connected: None,
        }
    }

    /// Notes a connection. Whether there was one before.
    pub(crate) fn connected_before(&self) -> bool {
        self.connected.swap(true, Ordering::Relaxed)
    }

    /// Whether there ever was a connection.
    pub(crate) fn was_connected(&self) -> bool {
        self.connected.load(Ordering::Relaxed)
    }

    pub(crate) fn add(counter: &AtomicU64, by: u64) {
        counter.fetch_add(by, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn brk_1_the_subject_names_the_target_behind_the_fixed_prefix() {
        let target = Target::parse("builder-1").unwrap();
        assert_eq!(subject(&target), "awakener.v1.wake.builder-1");
    }
}
