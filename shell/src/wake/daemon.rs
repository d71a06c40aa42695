//! A handle on a running wake daemon, and the way in for whoever brings hints or asks for the status.
//!
//! Not here: how one is started ([`super::spawn_in`]), and what becomes of what comes in (`thread`).

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use tokio::sync::oneshot;
use tokio::task::JoinHandle;

use super::fold::{Sample, Via};
use super::inbox::{Cmd, Inbox, Judged};
use super::ports::Reachable;
use super::status::Status;
use super::verify::Verifier;
use crate::broker::Broker;

/// A running wake daemon. Dropping it stops it.
#[derive(Debug)]
pub struct Daemon {
    pub(super) inbox: Inbox,
    pub(super) verifier: Arc<Verifier>,
    pub(super) tasks: Vec<JoinHandle<()>>,
    pub(super) thread: Option<std::thread::JoinHandle<()>>,
    pub(super) addr: Option<SocketAddr>,
    pub(super) shown: Shown,
}

/// What the status needs beside the store thread.
#[derive(Clone, Debug)]
pub(super) struct Shown {
    pub(super) reachable: Arc<Reachable>,
    pub(super) overflowed: Arc<AtomicU64>,
    pub(super) broker: Option<Arc<dyn Broker>>,
}

impl Daemon {
    /// Where its listener is.
    pub const fn addr(&self) -> Option<SocketAddr> {
        self.addr
    }

    /// Presents bytes as a hint; returns what was made of them, or `None` when they were lost.
    pub async fn present(&self, via: Via, bytes: &[u8]) -> Option<Judged> {
        self.entrance().present(via, bytes).await
    }

    /// What it shows of itself; `None` when its store thread has ended.
    pub async fn status(&self) -> Option<Status> {
        self.entrance().status().await
    }

    /// A handle for displays, that outlives the daemon and then shows nothing.
    pub fn watch(&self) -> Watch {
        Watch(self.entrance())
    }

    /// Stops it: nothing more is taken in, what is decided stays in the store. Blocks until the store is closed.
    pub fn stop(mut self) {
        self.end();
    }

    fn end(&mut self) {
        self.tasks.iter().for_each(JoinHandle::abort);
        if let Some(thread) = self.thread.take() {
            let mut cmd = Cmd::Stop;
            while let Err(std::sync::mpsc::TrySendError::Full(back)) = self.inbox.0.try_send(cmd) {
                cmd = back;
                std::thread::sleep(Duration::from_millis(5));
            }
            if thread.join().is_err() {
                tracing::error!("the store thread of the wake daemon had died");
            }
        }
    }

    pub(super) fn entrance(&self) -> Entrance {
        Entrance {
            inbox: self.inbox.clone(),
            verifier: Arc::clone(&self.verifier),
            shown: self.shown.clone(),
        }
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        self.end();
    }
}

/// Shows what a daemon of this process shows of itself, and can do nothing else.
#[derive(Clone, Debug)]
pub struct Watch(Entrance);

impl Watch {
    /// The status; `None` when the daemon's store thread has ended.
    pub async fn status(&self) -> Option<Status> {
        self.0.status().await
    }
}

/// The way in for whoever brings hints or asks for the status.
#[derive(Clone, Debug)]
pub(super) struct Entrance {
    pub(super) inbox: Inbox,
    verifier: Arc<Verifier>,
    shown: Shown,
}

impl Entrance {
    pub(super) async fn present(&self, via: Via, bytes: &[u8]) -> Option<Judged> {
        let (sender, receiver) = oneshot::channel();
        if self.offer(via, bytes, Some(sender)) { receiver.await.ok() } else { None }
    }

    /// Whether there was room.
    pub(super) fn offer(&self, via: Via, bytes: &[u8], answer: Option<oneshot::Sender<Judged>>) -> bool {
        let (presented, sample) = (self.verifier.present(bytes), Sample::of(bytes));
        let taken = self.inbox.offer(Cmd::Hint { via, presented, sample, answer });
        if !taken {
            self.shown.overflowed.fetch_add(1, Ordering::Relaxed);
        }
        taken
    }

    pub(super) async fn status(&self) -> Option<Status> {
        let (sender, receiver) = oneshot::channel();
        self.inbox.give(Cmd::Status(sender)).await;
        let status = receiver.await.ok()?;
        Some(Status {
            plane_reachable: self.shown.reachable.now(),
            overflowed: self.shown.overflowed.load(Ordering::Relaxed),
            broker: self.shown.broker.as_ref().map(|broker| broker.counters()),
            ..status
        })
    }
}
