//! What is kept of hints that were not accepted: the first of a kind at once, then one count a minute (VER-4).
//!
//! The key is the class and the way in, never anything that the refused bytes say; so the number of lines a minute is
//! bounded whatever arrives, and nothing here influences a decision (VER-5). Pure: the store thread writes the lines.

use std::collections::BTreeMap;

use awakener_kernel::time::{Millis, Mono};
use awakener_spec::{AuditKind, Class};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::Serialize;

/// The most bytes that are kept of a refused hint.
pub const SAMPLE_BYTES: usize = 256;
/// So many hints with good signatures and impossible times within a window say that a clock is wrong.
const SUSPECT: u64 = 3;

/// The way by which a hint came in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Via {
    /// A subscription of the broker.
    Broker,
    /// The daemon's own listener.
    Listener,
    /// The answer to a sweep.
    Sweep,
}

/// The first bytes of a hint, for people; never interpreted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sample(Box<[u8]>);

impl Sample {
    /// Keeps at most [`SAMPLE_BYTES`].
    pub fn of(bytes: &[u8]) -> Self {
        Self(bytes.iter().take(SAMPLE_BYTES).copied().collect())
    }
}

/// One line for the audit chain.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Line {
    /// The class (VER-1).
    pub class: Class,
    /// How the chain files it.
    pub kind: AuditKind,
    /// The way in.
    pub via: Via,
    /// How many hints this line stands for.
    pub count: u64,
    /// Whether it is the first after at least a window of quiet.
    pub first: bool,
    /// Good signatures with impossible times came repeatedly: a clock is suspect.
    pub clock_suspect: bool,
    /// The first bytes of the first of these hints, base64url.
    pub sample: String,
}

#[derive(Clone, Debug)]
struct Slot {
    since: Mono,
    count: u64,
    sample: Sample,
}

/// The fold of one daemon.
#[derive(Clone, Debug)]
pub struct Fold {
    window: Millis,
    slots: BTreeMap<(Class, Via), Slot>,
    totals: BTreeMap<Class, u64>,
    suspect: bool,
}

impl Fold {
    /// One that counts over windows of this length; a minute in earnest.
    pub const fn new(window: Millis) -> Self {
        Self { window, slots: BTreeMap::new(), totals: BTreeMap::new(), suspect: false }
    }

    /// Takes one refused hint; gives the line that must be written at once, if it is the first of its kind.
    pub fn add(&mut self, now: Mono, class: Class, via: Via, sample: &Sample) -> Option<Line> {
        awakener_spec::rule!(Ver4);
        let total = self.totals.entry(class).or_default();
        *total = total.saturating_add(1);
        match self.slots.get_mut(&(class, via)) {
            None => {
                self.slots.insert((class, via), Slot { since: now, count: 0, sample: Sample::default() });
                Some(line(class, via, 1, true, sample))
            }
            Some(slot) => {
                if slot.count == 0 {
                    slot.sample = sample.clone();
                }
                slot.count = slot.count.saturating_add(1);
                None
            }
        }
    }

    /// The counts whose window is over. A kind that stayed quiet for one is forgotten, so that its next hint is a
    /// first again.
    pub fn due(&mut self, now: Mono) -> Vec<Line> {
        let window = self.window;
        let over = |slot: &Slot| slot.since + window <= now;
        let lines = self.take(over);
        self.slots.retain(|_, slot| {
            let keep = !over(slot) || slot.count > 0;
            if over(slot) {
                *slot = Slot { since: now, count: 0, sample: Sample::default() };
            }
            keep
        });
        if !lines.is_empty() {
            self.suspect = lines.iter().any(|line| line.clock_suspect);
        }
        lines
    }

    /// Every count that is not written yet, at the end.
    pub fn rest(&mut self) -> Vec<Line> {
        let lines = self.take(|_| true);
        self.slots.clear();
        lines
    }

    /// When [`Self::due`] has something to do next.
    pub fn deadline(&self) -> Option<Mono> {
        self.slots.values().map(|slot| slot.since + self.window).min()
    }

    /// How many hints of each class there were since the start.
    pub const fn totals(&self) -> &BTreeMap<Class, u64> {
        &self.totals
    }

    /// Whether the last window that had anything made a clock suspect.
    pub const fn clock_suspect(&self) -> bool {
        self.suspect
    }

    fn take(&self, which: impl Fn(&Slot) -> bool) -> Vec<Line> {
        self.slots
            .iter()
            .filter(|(_, slot)| which(slot) && slot.count > 0)
            .map(|(&(class, via), slot)| line(class, via, slot.count, false, &slot.sample))
            .collect()
    }
}

fn line(class: Class, via: Via, count: u64, first: bool, sample: &Sample) -> Line {
    // Both classes are judged after the signature, so these hints were signed by a router of the ring.
    let timing = matches!(class, Class::Stale | Class::NotYetValid);
    Line {
        class,
        kind: class.kind(),
        via,
        count,
        first,
        clock_suspect: timing && count >= SUSPECT,
        sample: URL_SAFE_NO_PAD.encode(&sample.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MINUTE: Millis = Millis::seconds(60);

    fn counts(lines: &[Line]) -> Vec<(Class, u64, bool)> {
        lines.iter().map(|line| (line.class, line.count, line.first)).collect()
    }

    #[test]
    fn ver_4_the_first_is_told_at_once_and_the_rest_once_a_minute() {
        let mut fold = Fold::new(MINUTE);
        let said: Vec<_> = (0..1_000)
            .filter_map(|at| fold.add(Mono(at), Class::Tamper, Via::Listener, &Sample::of(b"x")))
            .collect();
        assert_eq!(counts(&said), [(Class::Tamper, 1, true)]);
        assert_eq!(fold.due(Mono(59_999)), []);
        assert_eq!(counts(&fold.due(Mono(60_000))), [(Class::Tamper, 999, false)]);
        // Another in the next window is no first: it waits for its count.
        assert_eq!(fold.add(Mono(60_001), Class::Tamper, Via::Listener, &Sample::of(b"x")), None);
        assert_eq!(counts(&fold.due(Mono(120_000))), [(Class::Tamper, 1, false)]);
        // After a quiet minute it is one again.
        assert_eq!(fold.due(Mono(180_000)), []);
        assert!(fold.add(Mono(180_001), Class::Tamper, Via::Listener, &Sample::of(b"x")).is_some());
        assert_eq!(fold.totals()[&Class::Tamper], 1_002);
    }

    #[test]
    fn ver_4_class_and_way_in_are_the_whole_key() {
        let mut fold = Fold::new(MINUTE);
        let mut first =
            |class, via, bytes: &[u8]| fold.add(Mono(0), class, via, &Sample::of(bytes)).is_some();
        assert!(first(Class::Stale, Via::Broker, b"one"));
        assert!(!first(Class::Stale, Via::Broker, b"other bytes"));
        assert!(first(Class::Stale, Via::Listener, b"one"));
        assert!(first(Class::Replay, Via::Broker, b"one"));
    }

    #[test]
    fn ver_4_a_sample_is_short_and_opaque() {
        let mut fold = Fold::new(MINUTE);
        let line = fold.add(Mono(0), Class::Malformed, Via::Broker, &Sample::of(&[0xff; 4_096])).unwrap();
        assert_eq!(URL_SAFE_NO_PAD.decode(&line.sample).unwrap(), [0xff; SAMPLE_BYTES]);
    }

    #[test]
    fn ver_4_only_repeated_impossible_times_make_a_clock_suspect() {
        for (class, many, suspect) in [
            (Class::Stale, 4, true),
            (Class::NotYetValid, 4, true),
            (Class::Stale, 2, false),
            (Class::Tamper, 9, false),
        ] {
            let mut fold = Fold::new(MINUTE);
            for _ in 0..many {
                fold.add(Mono(0), class, Via::Broker, &Sample::default());
            }
            fold.due(Mono(60_000));
            assert_eq!(fold.clock_suspect(), suspect, "{class} {many}");
        }
    }
}
