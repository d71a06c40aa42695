//! How far a search is, on standard error: a line that changes on a terminal, elsewhere a line every ten seconds.
//!
//! Rules: CON-1.

use std::io::IsTerminal as _;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use awakener_model_check::check::Doing;
use awakener_model_check::check::text::{bytes, number, short};

use crate::out;

/// How often a line is written where nothing can be overwritten.
const SELDOM: Duration = Duration::from_secs(10);

/// Shows how far a search is.
#[derive(Debug)]
pub struct Progress {
    live: bool,
    now: Mutex<Now>,
}

#[derive(Debug)]
struct Now {
    place: String,
    told: Instant,
    shown: bool,
}

impl Progress {
    /// Shows nothing yet.
    pub fn new() -> Self {
        let now = Now { place: String::new(), told: Instant::now(), shown: false };
        Self { live: std::io::stderr().is_terminal(), now: Mutex::new(now) }
    }

    /// Another scope begins.
    pub fn begin(&self, world: &str, scope: &str) {
        let mut now = self.now.lock().unwrap_or_else(PoisonError::into_inner);
        now.place = format!("{world}/{scope}");
        now.told = Instant::now();
        if self.live {
            out::tell(&format!("\r\x1b[K{}", now.place), "");
            now.shown = true;
        }
    }

    /// What is being done.
    pub fn tell(&self, doing: Doing<'_>) {
        let mut now = self.now.lock().unwrap_or_else(PoisonError::into_inner);
        if !self.live && now.told.elapsed() < SELDOM {
            return;
        }
        now.told = Instant::now();
        let line = format!("{}  {}", now.place, words(doing));
        out::tell(&format!("\r\x1b[K{line}"), &format!("{line}\n"));
        now.shown = self.live;
    }

    /// Takes the line away, before a result is said.
    pub fn clear(&self) {
        let mut now = self.now.lock().unwrap_or_else(PoisonError::into_inner);
        if std::mem::take(&mut now.shown) {
            out::tell("\r\x1b[K", "");
        }
    }
}

fn words(doing: Doing<'_>) -> String {
    match doing {
        Doing::Searching(at) => format!(
            "{} states, {} unique, {}/s, frontier {}, depth {}, {}, {} s",
            number(at.edges),
            number(at.states),
            short(at.rate),
            number(at.frontier),
            at.depth,
            bytes(at.bytes),
            at.took.as_secs()
        ),
        Doing::Proving => "finding out what the twins need".into(),
        Doing::Counting(took) => format!("stateright counts, {} s", took.as_secs()),
    }
}
