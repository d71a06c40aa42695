//! What watches over a search: its bounds, the wish to stop, and the reports. One per search, shared by its threads.

use std::sync::atomic::{AtomicU8, AtomicU32, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use super::{Cut, Options, Progress, Report};
use crate::world::World;

/// How often memory is measured.
const MEASURED: Duration = Duration::from_millis(50);
/// How often somebody is told.
const TOLD: Duration = Duration::from_millis(500);

#[derive(Debug)]
pub(super) struct Watch<'a> {
    began: Instant,
    cut: AtomicU8,
    pub(super) states: AtomicU64,
    pub(super) judged: AtomicU64,
    pub(super) edges: AtomicU64,
    pub(super) stays: AtomicU64,
    pub(super) depth: AtomicU32,
    most: AtomicU64,
    bounds: (u64, u64, Option<Duration>),
    stop: Option<&'a std::sync::atomic::AtomicBool>,
    report: Option<&'a Report>,
}

/// When the ticking thread did what.
#[derive(Debug)]
pub(super) struct Ticks {
    measured: Instant,
    told: Instant,
    edges: u64,
}

impl<'a> Watch<'a> {
    pub(super) fn new<W: World>(options: &'a Options<W>) -> Self {
        Self {
            began: Instant::now(),
            cut: AtomicU8::new(0),
            states: AtomicU64::new(0),
            judged: AtomicU64::new(0),
            edges: AtomicU64::new(0),
            stays: AtomicU64::new(0),
            depth: AtomicU32::new(0),
            most: AtomicU64::new(0),
            bounds: (options.states.unwrap_or(u64::MAX), options.memory.unwrap_or(u64::MAX), options.time),
            stop: options.stop.as_deref(),
            report: options.progress.as_ref(),
        }
    }

    pub(super) fn ticks(&self) -> Ticks {
        Ticks { measured: self.began, told: self.began, edges: 0 }
    }

    /// Ends the search; the first reason stays.
    pub(super) fn halt(&self, cut: Cut) {
        let code = 1 + CUTS.iter().position(|known| *known == cut).unwrap_or_default();
        let code = u8::try_from(code).unwrap_or(u8::MAX);
        let _ = self.cut.compare_exchange(0, code, Ordering::Relaxed, Ordering::Relaxed);
    }

    /// Why it shall end, if it shall.
    pub(super) fn halted(&self) -> Option<Cut> {
        CUTS.get(usize::from(self.cut.load(Ordering::Relaxed)).wrapping_sub(1)).copied()
    }

    /// Time since the beginning.
    pub(super) fn took(&self) -> Duration {
        self.began.elapsed()
    }

    /// Most bytes seen.
    pub(super) fn most(&self) -> u64 {
        self.most.load(Ordering::Relaxed)
    }

    /// Looks at everything that can end a search. `own` is what the engine knows to hold, and what it will soon need
    /// beside that. Every thread may count states; only one at a time ticks.
    pub(super) fn tick(&self, ticks: &mut Ticks, own: impl FnOnce() -> (u64, u64)) {
        let (states, memory, time) = self.bounds;
        if self.states.load(Ordering::Relaxed) > states {
            self.halt(Cut::States);
        }
        if self.stop.is_some_and(|stop| stop.load(Ordering::Relaxed)) {
            self.halt(Cut::Stopped);
        }
        let now = Instant::now();
        let took = now - self.began;
        if time.is_some_and(|time| took > time) {
            self.halt(Cut::Time);
        }
        let tell = now - ticks.told >= TOLD && self.report.is_some();
        if !tell && now - ticks.measured < MEASURED && ticks.measured != self.began {
            return;
        }
        ticks.measured = now;
        let (held, soon) = own();
        let bytes = resident().unwrap_or(0).max(held);
        self.most.fetch_max(bytes, Ordering::Relaxed);
        if bytes.saturating_add(soon) > memory {
            self.halt(Cut::Memory);
        }
        if let (true, Some(report)) = (tell, self.report) {
            let edges = self.edges.load(Ordering::Relaxed);
            let states = self.states.load(Ordering::Relaxed);
            (report.0)(&Progress {
                states,
                edges,
                #[expect(clippy::cast_precision_loss, reason = "a rate")]
                rate: (edges - ticks.edges) as f64 / (now - ticks.told).as_secs_f64(),
                frontier: states.saturating_sub(self.judged.load(Ordering::Relaxed)),
                depth: self.depth.load(Ordering::Relaxed),
                bytes,
                took,
            });
            (ticks.told, ticks.edges) = (now, edges);
        }
    }
}

const CUTS: [Cut; 5] = [Cut::States, Cut::Memory, Cut::Time, Cut::Stopped, Cut::Fell];

/// Bytes of this process that are in memory, where the system tells.
pub(super) fn resident() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kib: u64 = line.trim().trim_end_matches("kB").trim().parse().ok()?;
    Some(kib * 1024)
}
