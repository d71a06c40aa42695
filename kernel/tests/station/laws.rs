//! The laws of a step, one line each, over random walks.

use std::collections::BTreeMap;

use awakener_kernel::machine::{Machine as _, Outcome};
use awakener_kernel::station::*;
use proptest::prelude::*;
use proptest::strategy::ValueTree as _;
use proptest::test_runner::{Config as Cases, TestRunner};

use crate::matrix::allowed;
use crate::rig::Rig;
use crate::walk::{Moment, choices, refold, walk};

macro_rules! laws {
    ($($(#[$doc:meta])* $name:ident: $law:expr;)*) => {
        proptest! {
            #![proptest_config(Cases { cases: 256, failure_persistence: None, ..Cases::default() })]
            $($(#[$doc])* #[test] fn $name(choices in choices()) {
                let law: fn(&Moment) -> bool = $law;
                for moment in walk(&choices) {
                    prop_assert!(law(&moment), "{moment:#?}");
                }
            })*
        }
    };
}

laws! {
    stn_4_what_does_not_advance_changes_nothing: |m| m.outcome.is_advanced() || (m.before == m.after.station && m.effects.is_empty());
    aud_2_the_image_is_the_fold_of_its_records: |m| refold(m.before.image(), &again(m)) == *m.after.station.image();
    stn_2_recovery_is_what_a_crash_leaves: |m| recovered(&m.after);
    fire_advances_if_and_only_if_it_is_due: |m| m.input != Input::Fire || m.outcome.is_advanced() == m.due;
    stn_3_no_other_edge: |m| { let (from, to) = (m.before.phase().name(), m.after.name()); from == to || allowed(from, to) };
    fus_2_a_turn_starts_counted_or_not_at_all: |m| starts(m) == usize::from(turns(&m.after.station) != turns(&m.before));
    stn_9_no_two_turns_at_once: |m| starts(m) == 0 || m.before.image().turn.is_none();
    fus_4_a_latched_station_starts_nothing: |m| m.before.image().latch.is_none() || (starts(m) == 0 && !matches!(m.outcome, Outcome::Advanced(Event::Woken | Event::ReadingStarted)));
    stn_6_an_ack_is_sent_only_after_its_result: |m| !m.effects.iter().any(|e| matches!(e, Effect::SendAck { .. })) || matches!(m.input, Input::ResultRecorded { .. });
    fus_7_a_latch_goes_only_after_its_incident: |m| !(m.before.image().latch.is_some() && m.after.station.image().latch.is_none()) || m.before.image().latch.as_ref().is_some_and(|l| l.archived);
    aud_2_a_step_is_a_function: |m| m.before.clone().step(&m.after.config, m.after.now, m.input.clone(), ()).outcome() == &m.outcome;
}

/// The records of the step, from taking it once more.
fn again(m: &Moment) -> Vec<Record> {
    m.before.clone().step(&m.after.config, m.after.now, m.input.clone(), ()).records().to_vec()
}

fn starts(m: &Moment) -> usize {
    m.effects.iter().filter(|e| matches!(e, Effect::StartTurn { .. })).count() + attached(m)
}

/// An attached agent starts without an effect.
fn attached(m: &Moment) -> usize {
    usize::from(m.class == "claimed_mail" && m.outcome == Outcome::Advanced(Event::TurnStarted))
}

fn turns(station: &Station) -> (u32, usize) {
    (station.image().counters.boot(), station.image().counters.len())
}

/// The phase follows from the image, nothing is lost but the running turn, and another crash changes no more.
fn recovered(rig: &Rig) -> bool {
    let mut once = rig.clone();
    once.crash();
    let (was, is) = (rig.station.image(), once.station.image());
    let granted = was.grant.is_some_and(|g| g.until > rig.now.wall);
    let phase = match (&was.latch, granted) {
        (Some(_), _) => PhaseName::LatchedDown,
        (None, true) => PhaseName::Armed,
        (None, false) => PhaseName::Dark,
    };
    let mut twice = once.clone();
    twice.crash();
    let but_epoch = Image { epoch: is.epoch, ..twice.station.image().clone() };
    once.name() == phase
        && (&is.latch, is.tail, is.grant) == (&was.latch, was.tail, was.grant.filter(|_| granted))
        && is.counters.len() == was.counters.len()
        && but_epoch == *is
}

/// Classes that differ only in time or cause are counted together.
fn kind(m: &Moment) -> &'static str {
    match m.input {
        Input::Fire => "fire",
        Input::CauseFound { .. } => "cause_found",
        _ => m.class,
    }
}

/// Which outcomes a class can have, from the tables of the machine: everything else would be noise.
fn possible(class: &str) -> &'static [&'static str] {
    match class {
        "fire" | "own_ack" | "lease_lost" => &["advanced", "absorbed"],
        "lease_lost_of_another" => &["absorbed"],
        // Resting work is nothing new, whatever the model; that is rare.
        "claimed_for_unmapped_model" => &["absorbed", "refused"],
        "mark_tail" => &["advanced", "refused"],
        "clear" | "grant" => &["advanced", "refused"],
        "disarm" | "abort" => &["advanced", "absorbed"],
        _ => &["advanced", "absorbed", "refused"],
    }
}

/// Each class meets each outcome that it can have often enough for the laws to mean something.
#[test]
fn every_class_meets_every_outcome_it_can_have() {
    let mut runner = TestRunner::deterministic();
    let mut shares: BTreeMap<&str, BTreeMap<&str, u32>> = BTreeMap::new();
    for _ in 0..2_000 {
        let choices = choices().new_tree(&mut runner).expect("a strategy without filters").current();
        for moment in walk(&choices) {
            let outcome = match moment.outcome {
                Outcome::Advanced(_) => "advanced",
                Outcome::Absorbed => "absorbed",
                Outcome::Refused(_) => "refused",
            };
            *shares.entry(kind(&moment)).or_default().entry(outcome).or_default() += 1;
        }
    }
    let mut poor = Vec::new();
    for (class, outcomes) in &shares {
        let all: u32 = outcomes.values().sum();
        let share = |o: &str| 100 * outcomes.get(o).copied().unwrap_or(0) / all;
        println!(
            "{class:28} {all:6}  advanced {:3} %  absorbed {:3} %  refused {:3} %",
            share("advanced"),
            share("absorbed"),
            share("refused")
        );
        poor.extend(possible(class).iter().filter(|o| share(o) < 5).map(|o| (*class, *o, share(o))));
    }
    assert_eq!(shares.len(), crate::matrix::CLASSES.len() - 4, "a class that was never drawn");
    assert!(poor.is_empty(), "below 5 %: {poor:?}");
}
