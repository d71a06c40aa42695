//! The second count, in a thread of its own: stateright cannot be asked to stop, so that it is left alone instead.
//!
//! Rules: FML-1.

use std::collections::BTreeSet;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

use super::{Doing, SecondReport, Watch};
use crate::engine::{Cut, Found};
use crate::second::{self, Counted};
use crate::world::World;

/// How often somebody who wants to stop it is heard.
const BEAT: Duration = Duration::from_millis(100);

/// Counts.
///
/// # Errors
/// Time was up, or somebody stopped it; the thread ends with the process.
pub fn count<W: World>(world: &W, watch: &Watch, time: Option<Duration>) -> Result<Counted, Cut> {
    let (began, world) = (Instant::now(), world.clone());
    let (sender, receiver) = channel();
    let thread = thread::spawn(move || drop(sender.send(second::count(world))));
    loop {
        match receiver.recv_timeout(BEAT) {
            Ok(counted) => return Ok(counted),
            Err(RecvTimeoutError::Timeout) => (watch.tell)(Doing::Counting(began.elapsed())),
            Err(RecvTimeoutError::Disconnected) => {
                let panic = thread.join().expect_err("it ended without a word");
                std::panic::resume_unwind(panic);
            }
        }
        if watch.stop.load(Ordering::Relaxed) {
            return Err(Cut::Stopped);
        }
        if time.is_some_and(|time| began.elapsed() > time) {
            return Err(Cut::Time);
        }
    }
}

/// Whether both saw the same.
pub fn compare<W: World>(found: &Found<W>, counted: &Counted) -> SecondReport {
    let broken: BTreeSet<usize> = found.broken.iter().map(|broken| broken.law).collect();
    let reached: BTreeSet<usize> =
        (0..W::LAWS.len()).filter(|law| found.reached.get(*law) == Some(&true)).collect();
    let agrees = counted.states == found.states && counted.broken == broken && counted.reached == reached;
    SecondReport { states: counted.states, agrees }
}
