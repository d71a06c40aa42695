//! How often what happened in random runs: a law that is never put to the test holds for nothing.

use std::collections::{BTreeMap, BTreeSet};

use awakener_kernel::machine::Outcome;
use awakener_kernel::waker::Input;

use crate::rig::{Seen, name};

/// Advanced, absorbed, refused per kind of input; and the names of all events and classes that occurred.
#[derive(Default)]
pub struct Tally {
    kinds: BTreeMap<&'static str, [u32; 3]>,
    names: BTreeSet<String>,
}

/// Events beside [`Event::Booted`], and the classes that the waker itself tells.
const NAMES: usize = 18 + 4;

impl Tally {
    pub fn count(&mut self, input: &Input, seen: &Seen) {
        let (place, name) = match seen.outcome {
            Outcome::Advanced(event) => (0, Some(name(&event))),
            Outcome::Absorbed => (1, None),
            Outcome::Refused(class) => (2, Some(name(&class))),
        };
        self.kinds.entry(kind(input)).or_default()[place] += 1;
        self.names.extend(name);
    }

    pub fn judge(&self) {
        for (kind, counts) in &self.kinds {
            let all: u32 = counts.iter().sum();
            let [advanced, absorbed, refused] = counts.map(|n| f64::from(n) * 100.0 / f64::from(all));
            println!(
                "{kind:13} {all:6}  advanced {advanced:3.0} %  absorbed {absorbed:3.0} %  refused {refused:3.0} %"
            );
            let possible = if *kind == "hint" { 3 } else { 2 };
            for share in [advanced, absorbed, refused].iter().take(possible) {
                assert!(*share >= 5.0, "{kind}: an outcome is too rare to be tested");
            }
        }
        assert_eq!(self.kinds.len(), 13, "every kind of input occurs");
        assert_eq!(self.names.len(), NAMES, "every event and class occurs: {:?}", self.names);
    }
}

const fn kind(input: &Input) -> &'static str {
    match input {
        Input::Hint(_) => "hint",
        Input::Answer { .. } => "answer",
        Input::AskFailed { .. } => "ask_failed",
        Input::Dispatched { .. } => "dispatched",
        Input::Probed { .. } => "probed",
        Input::FlightEnded { .. } => "flight_ended",
        Input::InboxRead { .. } => "inbox_read",
        Input::Pause => "pause",
        Input::Resume => "resume",
        Input::Capability(_) => "capability",
        Input::Reconnect => "reconnect",
        Input::Swept { .. } => "swept",
        Input::Fire => "fire",
    }
}
