//! Windows that a test can kill a process in (`[trial] pause_at`, CAP-5): an ordinary, audited setting that production
//! refuses.
//!
//! A process stops at the named point once the file `pause-now` lies in its state directory, says so in the file
//! `paused`, and waits to be killed. It never goes on by itself: what comes after the window is for the next process.

use std::path::PathBuf;
use std::time::Duration;

/// The points between two durable steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Point {
    /// Everything is staged, nothing is durable.
    BeforeCommit,
    /// Durable, and nobody has been told.
    AfterCommit,
    /// A hint is minted and signed, and not handed to the broker.
    BeforePublish,
    /// Images are read, machines are not serving yet.
    InRecovery,
}

/// The windows that are wanted.
#[derive(Clone, Debug)]
pub struct Pause {
    /// Where.
    pub points: Vec<Point>,
    /// The state directory.
    pub state: PathBuf,
}

impl Pause {
    /// Stops here for ever if this is one of the windows and a test asks for it.
    pub fn reached(&self, point: Point) {
        if !self.points.contains(&point) || !self.state.join("pause-now").exists() {
            return;
        }
        let said = format!("{} {point:?}\n", std::process::id());
        if std::fs::write(self.state.join("paused"), said).is_ok() {
            loop {
                std::thread::sleep(Duration::from_secs(3600));
            }
        }
    }
}
