//! The bounded way into the store thread: commands, and what is said of a presented hint.
//!
//! What comes of an effect waits for room; a hint that finds none is lost, which hints may be. Not here: what becomes
//! of a command (`thread`).

use std::sync::mpsc::{SyncSender, TrySendError};
use std::time::Duration;

use awakener_kernel::time::Wall;
use awakener_kernel::waker::Input;
use awakener_kernel::wire::Presented;
use awakener_spec::Class;
use tokio::sync::oneshot;

use super::fold::{Sample, Via};
use super::port::Ring;
use super::status::Status;

/// What comes in.
#[derive(Debug)]
pub(super) enum Cmd {
    /// Bytes that somebody presented as a hint, looked at.
    Hint { via: Via, presented: Presented, sample: Sample, answer: Option<oneshot::Sender<Judged>> },
    /// What came of an effect.
    Input { target: String, input: Input },
    /// The plane or the broker is back.
    Reconnect,
    /// The plane has another ring.
    Ring(Ring),
    /// The plane's time.
    PlaneTime(Wall),
    /// For displays.
    Status(oneshot::Sender<Status>),
    /// End, keeping what makes the next start short.
    Stop,
}

/// What was made of a presented hint; for observers only.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Judged {
    /// Its class; `None` while the plane is asked.
    pub class: Option<Class>,
    /// Whether it led to a question, instead of to a look that is owed anyway.
    pub asked: bool,
}

/// The way in; bounded.
#[derive(Clone, Debug)]
pub(super) struct Inbox(pub(super) SyncSender<Cmd>);

impl Inbox {
    /// Waits for room: for what must not be lost.
    pub(super) async fn give(&self, cmd: Cmd) {
        let mut cmd = cmd;
        loop {
            match self.0.try_send(cmd) {
                Ok(()) | Err(TrySendError::Disconnected(_)) => return,
                Err(TrySendError::Full(back)) => cmd = back,
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }

    /// Loses it when there is no room: hints may be lost. Returns whether it was taken.
    pub(super) fn offer(&self, cmd: Cmd) -> bool {
        self.0.try_send(cmd).is_ok()
    }
}
