//! The laws, over random scripts with crashes, lost commits and several inputs per transaction.
//!
//! The dice are the same at every run. Each law also demands that the scripts it saw were fair: every input met each
//! outcome that it can have in at least one of twenty tries.

use std::cell::RefCell;

use awakener_kernel::machine::Outcome;
use awakener_kernel::mailbox::Mailbox;
use awakener_kernel::mailbox::image::Image;
use awakener_kernel::mailbox::input::{Effect, Event, Input};
use awakener_kernel::mailbox::record::Record;
use awakener_tools::enforces;
use proptest::test_runner::{Config as Runs, RngAlgorithm, TestCaseError, TestRng, TestRunner};

use crate::script::{Kind, Shares, play, script};
use crate::store::Written;
use crate::world::{Seen, World};

mod inbox;
mod live;
mod step;
mod wake;

use inbox::*;
use live::*;
use step::*;
use wake::*;

type Law = fn(&World) -> Result<(), String>;

/// Which outcomes an input can have: advanced, absorbed, refused.
const CAN: &[(Kind, [bool; 3])] = &[
    (Kind::Start, [true, true, false]),
    (Kind::Admit, [true, true, true]),
    (Kind::Claim, [true, true, true]),
    (Kind::Renew, [true, false, true]),
    (Kind::Release, [true, false, true]),
    (Kind::Read, [true, true, true]),
    (Kind::FinishTurn, [true, true, true]),
    (Kind::Respond, [true, true, true]),
    (Kind::Ack, [true, true, true]),
    (Kind::Ask, [true, false, true]),
    (Kind::Report, [true, true, true]),
    (Kind::Sweep, [true, false, true]),
    (Kind::Published, [true, false, true]),
    (Kind::Resolve, [true, true, true]),
    (Kind::ReleaseQuarantine, [true, true, true]),
    (Kind::Expire, [true, true, true]),
    (Kind::Fire, [true, true, false]),
];

/// Holds `law` against random scripts.
fn holds(law: Law) {
    let cases = std::env::var("PROPTEST_CASES").ok().and_then(|n| n.parse().ok()).unwrap_or(120);
    let runs = Runs { cases, failure_persistence: None, ..Runs::default() };
    let mut runner = TestRunner::new_with_rng(runs, TestRng::from_seed(RngAlgorithm::ChaCha, &[7; 32]));
    let shares = RefCell::new(Shares::new());
    let verdict = runner.run(&script(), |script| {
        let world = play(&script, &mut shares.borrow_mut());
        law(&world).map_err(|why| TestCaseError::fail(format!("{why}\n{}", story(&world))))
    });
    if let Err(broken) = verdict {
        panic!("{broken}");
    }
    fair(&shares.borrow());
}

fn fair(shares: &Shares) {
    for (kind, can) in CAN {
        let seen = shares.get(kind).copied().unwrap_or_default();
        let all: u32 = seen.iter().sum();
        let share = seen.map(|n| 100.0 * f64::from(n) / f64::from(all.max(1)));
        println!(
            "{kind:?}: advanced {:.0} %, absorbed {:.0} %, refused {:.0} % of {all}",
            share[0], share[1], share[2]
        );
        for (column, can) in can.iter().enumerate() {
            assert!(*can == (seen[column] > 0), "{kind:?}: can {can}, but {seen:?}");
            assert!(!can || share[column] >= 5.0, "{kind:?}: the scripts are not fair: {seen:?}");
        }
    }
}

/// What happened, for whoever reads a failure.
fn story(w: &World) -> String {
    let told = |step: &Written| format!("  {:?} {:?} -> {:?}\n", step.now, step.input, step.outcome);
    w.history
        .iter()
        .map(|seen| match seen {
            Seen::Commit { steps, .. } => steps.iter().map(told).collect(),
            Seen::Lost { kept } => format!("  lost; kept {:?}\n", kept.iter().map(told).collect::<String>()),
            Seen::Boot { .. } => "  boot\n".to_owned(),
        })
        .collect()
}

fn require(holds: bool, why: impl FnOnce() -> String) -> Result<(), String> {
    if holds { Ok(()) } else { Err(why()) }
}

fn advanced(step: &Written) -> Option<(&Input, &Event)> {
    match (&step.input, &step.outcome) {
        (Some(input), Some(Outcome::Advanced(event))) => Some((input, event)),
        _ => None,
    }
}

fn commits(w: &World) -> impl Iterator<Item = (&Mailbox, &[Written], &[Effect], &Mailbox, &Image)> {
    w.history.iter().filter_map(|seen| match seen {
        Seen::Commit { before, steps, effects, after, disk } => {
            Some((before, steps.as_slice(), effects.as_slice(), after, disk))
        }
        Seen::Lost { .. } | Seen::Boot { .. } => None,
    })
}

/// Every state that a machine was in.
fn states(w: &World) -> impl Iterator<Item = &Mailbox> {
    w.history.iter().filter_map(|seen| match seen {
        Seen::Commit { after, .. } | Seen::Boot { after, .. } => Some(after),
        Seen::Lost { .. } => None,
    })
}

fn records(w: &World) -> impl Iterator<Item = &Record> {
    w.steps().flat_map(|step| &step.records)
}

enforces! {
    [Inb1, Adm7] fn inb_1_law_a_refusal_is_a_stutter(_seen) { holds(a_refusal_is_a_stutter) }
    [Inb1] fn inb_1_law_an_advance_leaves_records(_seen) { holds(an_advance_leaves_records) }
    [Inb1] fn inb_1_law_the_image_is_the_sum_of_its_records(_seen) { holds(the_image_is_the_sum_of_its_records) }
    [Inb3, Ack1] fn inb_3_law_rows_say_what_the_image_says(_seen) { holds(rows_say_what_the_image_says) }
    [Emt2] fn emt_2_law_a_crash_leaves_a_machine_that_boots_and_waits_as_long(_seen) {
        holds(a_crash_leaves_a_machine_that_boots_and_waits_as_long)
    }
    [Emt3] fn emt_3_law_fire_advances_exactly_when_it_is_due(_seen) { holds(fire_advances_exactly_when_it_is_due) }
    [Emt3, Ack9] fn emt_3_law_firing_comes_to_an_end(_seen) { holds(firing_comes_to_an_end) }
    [Inb4, Inb7] fn inb_4_law_every_state_keeps_its_invariants(_seen) { holds(every_state_keeps_its_invariants) }
    [Inb2] fn inb_2_sequences_are_gapless(_seen) { holds(sequences_are_gapless) }
    [Adm7] fn adm_7_one_key_is_one_message(_seen) { holds(one_key_is_one_message) }
    [Ack2, Inb4, Ack10] fn ack_2_the_cursor_waits_for_witnesses_and_never_goes_back(_seen) {
        holds(the_cursor_waits_for_witnesses_and_never_goes_back)
    }
    [Inb7] fn inb_7_only_the_live_token_has_power(_seen) { holds(only_the_live_token_has_power) }
    [Emt1, Emt2] fn emt_1_tokens_fences_and_epochs_only_rise(_seen) { holds(tokens_fences_and_epochs_only_rise) }
    [Emt2] fn emt_2_nothing_is_minted_before_the_start_of_its_boot(_seen) {
        holds(nothing_is_minted_before_the_start_of_its_boot)
    }
    [Dsp7] fn dsp_7_one_permit_per_target_whoever_asks(_seen) { holds(one_permit_per_target_whoever_asks) }
    [Emt3, Dsp11] fn emt_3_hints_are_for_open_alerts_and_bounded(_seen) { holds(hints_are_for_open_alerts_and_bounded) }
    [Inb8] fn inb_8_attempts_are_bounded_and_quarantine_closes_no_witness(_seen) {
        holds(attempts_are_bounded_and_quarantine_closes_no_witness)
    }
    [Inb3] fn inb_3_finished_work_is_never_touched_again(_seen) { holds(finished_work_is_never_touched_again) }
    [Ack3, Ack5] fn ack_5_an_ack_is_earned(_seen) { holds(an_ack_is_earned) }
    [Stn6] fn stn_6_a_result_is_recorded_once(_seen) { holds(a_result_is_recorded_once) }
    [Dsp2] fn dsp_2_a_flight_without_a_read_costs_one_attempt(_seen) {
        holds(a_flight_without_a_read_costs_one_attempt)
    }
    [Emt1] fn emt_1_what_is_published_was_minted_in_the_same_commit(_seen) {
        holds(what_is_published_was_minted_in_the_same_commit)
    }
    [Inb8, Ack9] fn inb_8_no_alert_is_forgotten(_seen) { holds(no_alert_is_forgotten) }
    [Dsp11] fn dsp_11_a_sweep_finds_what_is_owed(_seen) { holds(a_sweep_finds_what_is_owed) }
    [Dsp2, Inb8] fn dsp_2_flights_that_come_to_nothing_come_to_an_end(_seen) {
        holds(flights_that_come_to_nothing_come_to_an_end)
    }
    [Inb3, Inb4, Ack10] fn inb_4_a_diligent_station_finishes_everything(_seen) {
        holds(a_diligent_station_finishes_everything)
    }
}
