//! Random walks: what a hostile and a helpful world do to a station, one moment at a time.

use awakener_kernel::machine::{Image as _, Machine as _, Outcome};
use awakener_kernel::station::*;
use awakener_kernel::time::Millis;
use awakener_spec::Reason;
use proptest::prelude::*;

use crate::matrix::{CLASSES, Class, states};
use crate::rig::*;

/// One choice of the world.
#[derive(Clone, Debug)]
pub struct Choice {
    pick: u16,
    /// Choose among what would move the station.
    eager: bool,
    /// And, where there is any, among what belongs to a pass, a trip or a clear, not to operators and misfortunes.
    forward: bool,
    /// Crash first.
    crash: bool,
    pause: u16,
}

/// One step with everything around it.
#[derive(Debug)]
pub struct Moment {
    pub class: &'static str,
    pub input: Input,
    pub before: Station,
    pub after: Rig,
    pub due: bool,
    pub outcome: Outcome<Event, Reason>,
    pub effects: Vec<Effect>,
}

/// Where a walk starts, and what happens then.
pub fn choices() -> impl Strategy<Value = (usize, Vec<Choice>)> {
    let choice =
        (any::<u16>(), any::<u8>(), any::<u8>(), 0..400_u16).prop_map(|(pick, mood, crash, pause)| {
            let (eager, forward) = (mood % 3 == 0, mood % 5 != 0);
            Choice { pick, eager, forward, crash: crash % 64 == 0, pause }
        });
    (any::<usize>(), proptest::collection::vec(choice, 1..10))
}

const SIDEWAYS: [&str; 13] = [
    "abort",
    "audit_available",
    "audit_unavailable",
    "clear",
    "config_invalid",
    "disarm",
    "flight_max_over",
    "grant",
    "grant_over",
    "latch_archive_failed",
    "latch_found",
    "latch_remove_failed",
    "mark_tail",
];

fn draw(rig: &Rig, choice: &Choice) -> (&'static str, Millis, Input) {
    let made = |(class, wait, input): Class| {
        let mut at = rig.clone();
        let wait = wait(rig);
        at.wait(wait);
        (class, wait, input(&at))
    };
    let mut all: Vec<_> = CLASSES.into_iter().map(made).collect();
    if choice.eager {
        let moves = |(_, wait, input): &(&str, Millis, Input)| {
            let mut at = rig.clone();
            at.wait(*wait);
            at.step(input.clone()).outcome.is_advanced()
        };
        let moving: Vec<_> = all.iter().filter(|x| moves(x)).cloned().collect();
        let forward: Vec<_> = moving.iter().filter(|x| !SIDEWAYS.contains(&x.0)).cloned().collect();
        if choice.forward && !forward.is_empty() {
            all = forward;
        } else if !moving.is_empty() {
            all = moving;
        }
    }
    all.swap_remove(usize::from(choice.pick) % all.len())
}

/// Runs a walk; the rig checks stutter, fold and invariants at each step.
pub fn walk((start, choices): &(usize, Vec<Choice>)) -> Vec<Moment> {
    let mut states = states();
    // States that a walk seldom comes back to are started from more often.
    let seldom = ["cognizing", "refused", "refused_twice"];
    let more: Vec<_> = states.iter().filter(|(name, _)| seldom.contains(name)).cloned().collect();
    (0..3).for_each(|_| states.extend(more.clone()));
    let mut rig = states.swap_remove(start % states.len()).1;
    let mut moments = Vec::new();
    for choice in choices {
        if choice.crash {
            rig.crash();
        }
        rig.wait(Millis(u64::from(choice.pause)));
        let (class, wait, input) = draw(&rig, choice);
        rig.wait(wait);
        let before = rig.station.clone();
        let due = before.deadline(&rig.config).is_some_and(|at| at <= rig.now.mono);
        let Seen { outcome, effects } = rig.step(input.clone());
        moments.push(Moment { class, input, before, after: rig.clone(), due, outcome, effects });
    }
    moments
}

/// An image made anew from records that were applied one by one is the same image.
pub fn refold(before: &Image, records: &[Record]) -> Image {
    let mut image = before.clone();
    records.iter().for_each(|record| image.apply(record));
    image
}
