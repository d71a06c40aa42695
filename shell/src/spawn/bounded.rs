//! How a program ends: by itself, or because its time, its output or its use is over; and then all of its family.
//!
//! TERM goes to the group first, KILL after a pause. What is kept of the output is bounded and says when it was cut.
//! A program that has ended while a part of its family still ran did not finish its work: that is counted, and ended.
//! Rules: SPW-3.

use std::future::Future;
use std::os::fd::OwnedFd;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use awakener_kernel::station::Exit;
use awakener_spec::rule;
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::unix::pipe;
use tokio::sync::Notify;
use tokio::task::JoinHandle;

use super::{Input, Running, exit, family};

/// How long a killed family may take to be gone.
const KILLED: Duration = Duration::from_secs(2);
/// How long the last bytes of a program that has ended may take.
const LAST_BYTES: Duration = Duration::from_millis(500);
/// How often one looks whether the family is gone.
const LOOK: Duration = Duration::from_millis(5);

/// The bounds of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// Wall-clock time.
    pub time: Duration,
    /// Between TERM and KILL.
    pub grace: Duration,
    /// Bytes of standard output; a program that writes more is ended.
    pub output: usize,
    /// Bytes that are kept of standard error; more is read and dropped.
    pub errors: usize,
}

impl Default for Bounds {
    fn default() -> Self {
        Self {
            time: Duration::from_secs(60),
            grace: Duration::from_secs(10),
            output: 8 << 20,
            errors: 64 << 10,
        }
    }
}

/// Why a program was ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Stopped {
    /// Its time was up.
    Time,
    /// It wrote too much.
    Output,
    /// It was no longer wanted.
    Cancelled,
}

/// What is kept of a stream.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Kept {
    /// Its first bytes.
    pub bytes: Vec<u8>,
    /// Whether there were more.
    pub cut: bool,
    /// Whether its end was seen; otherwise somebody still held it when the program was gone.
    pub closed: bool,
}

/// What came of a program.
#[derive(Clone, Debug)]
pub struct Ended {
    /// How it ended; `None` if even KILL did not end it in time.
    pub exit: Option<Exit>,
    /// Whether it was ended, and why.
    pub stopped: Option<Stopped>,
    /// Standard output.
    pub out: Kept,
    /// Standard error.
    pub err: Kept,
    /// How much of its family still ran when it ended by itself. All of that was killed.
    pub left: usize,
    /// Whether something of the family was still there at last.
    pub survived: bool,
    /// How long it took.
    pub took: Duration,
}

impl Running {
    /// Feeds its input, keeps its output, and waits for its end, within bounds or until it is no longer wanted. Nothing of
    /// its family is left afterwards, unless the result says so. Cancel safe: a dropped future kills the family.
    pub async fn finish(mut self, bounds: Bounds, unwanted: impl Future<Output = ()>) -> Ended {
        let begun = Instant::now();
        let flood = Arc::new(Notify::new());
        let (mut out, mut err, feeder) = self.streams(&bounds, &flood);
        let pid = i32::try_from(self.id()).ok().and_then(Pid::from_raw);
        // Watches without waiting for it, so that its number stays its own until its family is gone.
        let mut over = tokio::task::spawn_blocking(move || {
            pid.map(|pid| {
                rustix::process::waitid(WaitId::Pid(pid), WaitIdOptions::EXITED | WaitIdOptions::NOWAIT)
            })
        });
        let stopped = tokio::select! {
            biased;
            _ = &mut over => None,
            () = unwanted => Some(Stopped::Cancelled),
            () = flood.notified() => Some(Stopped::Output),
            () = tokio::time::sleep(bounds.time) => Some(Stopped::Time),
        };
        let mut left = 0;
        if stopped.is_some() {
            rule!(Spw3);
            self.signal(Signal::TERM).await;
            if tokio::time::timeout(bounds.grace, &mut over).await.is_err() {
                self.signal(Signal::KILL).await;
                let _ = tokio::time::timeout(KILLED, &mut over).await;
            }
        } else {
            left = self.family().await;
        }
        let survived = !self.end_family().await;
        let exit = self.reap();
        if let Some(feeder) = feeder {
            feeder.abort();
        }
        let (out, err) = tokio::join!(out.end(), err.end());
        Ended { exit, stopped, out, err, left, survived, took: begun.elapsed() }
    }

    fn streams(
        &mut self,
        bounds: &Bounds,
        flood: &Arc<Notify>,
    ) -> (Collector, Collector, Option<JoinHandle<()>>) {
        let input = std::mem::take(&mut self.input);
        let Some(child) = self.child.as_mut() else {
            return (Collector::default(), Collector::default(), None);
        };
        let out = child.stdout.take().map(OwnedFd::from);
        let err = child.stderr.take().map(OwnedFd::from);
        let stdin = child.stdin.take().map(OwnedFd::from);
        let feeder = match (stdin, input) {
            (Some(stdin), Input::Bytes(bytes)) => Some(tokio::spawn(async move {
                if let Ok(mut pipe) = pipe::Sender::from_owned_fd(stdin) {
                    // Nobody has to read all of it.
                    let _ = pipe.write_all(&bytes).await;
                }
            })),
            (_, _) => None,
        };
        (
            Collector::of(out, bounds.output, Some(Arc::clone(flood))),
            Collector::of(err, bounds.errors, None),
            feeder,
        )
    }

    async fn signal(&self, signal: Signal) {
        let identity = self.identity.clone();
        let _ = tokio::task::spawn_blocking(move || family::signal(&identity, signal)).await;
    }

    /// How much of the family runs beside the program itself.
    async fn family(&self) -> usize {
        let identity = self.identity.clone();
        tokio::task::spawn_blocking(move || family::of(&identity).len()).await.unwrap_or_default()
    }

    /// Kills until nothing is left; a fork may be faster than one look. Returns whether that came about.
    async fn end_family(&self) -> bool {
        let end = Instant::now() + KILLED;
        while self.family().await > 0 {
            if Instant::now() > end {
                tracing::error!(
                    rule = "SPW-3",
                    pid = self.id(),
                    "a part of a program's family cannot be ended"
                );
                return false;
            }
            self.signal(Signal::KILL).await;
            tokio::time::sleep(LOOK).await;
        }
        true
    }

    fn reap(&mut self) -> Option<awakener_kernel::station::Exit> {
        let status = self.child.as_mut()?.try_wait().ok().flatten();
        if status.is_some() {
            self.child = None;
            self.gone();
        }
        status.map(exit)
    }
}

/// Reads a stream to its end, and keeps its beginning.
#[derive(Default)]
struct Collector {
    kept: Arc<Mutex<Kept>>,
    task: Option<JoinHandle<()>>,
}

impl Collector {
    fn of(stream: Option<OwnedFd>, limit: usize, flood: Option<Arc<Notify>>) -> Self {
        let kept = Arc::new(Mutex::new(Kept::default()));
        let mine = Arc::clone(&kept);
        let task = tokio::spawn(async move {
            let Some(Ok(mut pipe)) = stream.map(pipe::Receiver::from_owned_fd) else { return };
            let mut chunk = vec![0; 16 << 10];
            loop {
                let read = pipe.read(&mut chunk).await.unwrap_or(0);
                let mut kept = mine.lock().unwrap_or_else(PoisonError::into_inner);
                if read == 0 {
                    kept.closed = true;
                    return;
                }
                let room = limit.saturating_sub(kept.bytes.len()).min(read);
                kept.bytes.extend(chunk.iter().take(room));
                if room < read {
                    rule!(Spw3);
                    kept.cut = true;
                    if let Some(flood) = &flood {
                        flood.notify_one();
                    }
                }
            }
        });
        Self { kept, task: Some(task) }
    }

    async fn end(&mut self) -> Kept {
        if let Some(mut task) = self.task.take()
            && tokio::time::timeout(LAST_BYTES, &mut task).await.is_err()
        {
            task.abort();
        }
        std::mem::take(&mut *self.kept.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Drop for Collector {
    fn drop(&mut self) {
        if let Some(task) = &self.task {
            task.abort();
        }
    }
}
