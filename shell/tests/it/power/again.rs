//! Power that fails again while the next process recovers.
//!
//! Some of the states that cuts have left are given back to the program, whose start is recorded like any other; then
//! power is cut within that start. What was told before the first cut must be there after the second. A cut during the
//! recovery is where files are made that outlive it: the floor of epochs, the deny file put aside, a new snapshot.

use std::fs;
use std::path::Path;

use super::super::child::{Home, Up};
use super::events::Recording;
use super::judge::Judge;
use super::record::{snapshot, traced, written};
use super::told::Fact;
use super::trace::Trace;
use super::trial::{faithful, states};
use super::{disk::Event, judge::Fault};

/// A recovery as it was recorded.
pub struct Again {
    /// What was told before the cut that it recovers from.
    pub told: Vec<Fact>,
    pub recording: Recording,
    chain: Vec<String>,
}

/// Has the program recover from so many cuts of this recording, in its own place.
pub fn record(strace: &Path, home: &Home, recording: &Recording, number: usize) -> Vec<Again> {
    let root = home.state();
    let mut all = Vec::new();
    for (number, (left, at)) in states(recording, number).into_iter().enumerate() {
        fs::remove_dir_all(&root).unwrap();
        left.put(&root, &root);
        let mut again = Recording::new(&root, snapshot(&root, |_| false));
        let log = home.dir.path().join(format!("calls-again-{number}"));
        let mut up = Up::start(traced(strace, &home.command(), &log, &[]));
        up.serves(home);
        // An ordinary end: a kill could fall into a call whose fate the log does not tell.
        up.stop();
        again.add(&Trace::parse(&written(&log)));
        faithful(&again, snapshot(&root, |_| false));
        let told = recording.events[..at].iter().filter_map(|event| match event {
            Event::Told(fact) => Some(fact.clone()),
            _ => None,
        });
        all.push(Again { told: told.collect(), recording: again, chain: Judge::chain_in(&root) });
    }
    all
}

impl Again {
    /// The verdict on a state after the second cut.
    pub fn judge(&self) -> impl Fn(&Path, &[&Fact]) -> Result<(), Fault> {
        let judge = Judge::new(self.chain.clone());
        move |state, later| {
            let told: Vec<&Fact> = self.told.iter().chain(later.iter().copied()).collect();
            judge.plane(state, &told)
        }
    }
}
