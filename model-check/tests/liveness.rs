//! What must follow in worlds without end, on their smaller scopes; and that a canonical form that folds too much is
//! seen. `awakener-check liveness` judges all of them.

use awakener_model_check::cyclic::faithful::{self, Effort};
use awakener_model_check::cyclic::rules::Fault;
use awakener_model_check::cyclic::{Cyclic, system, waker};
use awakener_model_check::liveness::all::{Extent, Verdict, table};

const EFFORT: Effort = Effort { states: 1_500, walks: 20, steps: 60 };

fn holds(world: &str, scope: &str) {
    let table = table();
    let entry =
        table.iter().find(|entry| (entry.world, entry.scope) == (world, scope)).expect("it has this name");
    let report = entry.run(&Extent { effort: EFFORT, ..Extent::default() });
    assert!(report.is_clean(), "\n{report}");
    assert!(report.claims.iter().any(|claim| claim.verdict == Verdict::Holds), "\n{report}");
}

#[test]
fn dsp_1_a_cooldown_ends_in_its_pending_dispatch() {
    holds("cyclic-waker", "calm");
}

#[test]
fn dsp_11_an_alert_is_acknowledged_also_if_every_hint_is_lost() {
    holds("cyclic-system", "hints");
}

#[test]
fn fus_4_an_alert_is_acknowledged_or_a_latch_is_told() {
    holds("cyclic-system", "fuse");
}

#[test]
fn ack_9_an_alert_is_acknowledged_or_the_operator_is_told_though_calls_are_lost() {
    holds("cyclic-system", "station-losses");
}

/// The same world with a planted fault of its form must differ from the concrete one, and without it must not.
fn falls<W: Cyclic>(faulty: &W, sound: &W, effort: Effort) {
    assert!(faithful::check(faulty, effort).is_err(), "the fault was not seen: {faulty:?}");
    let met = faithful::check(sound, effort).unwrap_or_else(|difference| panic!("{}", difference.what));
    assert!(met.compared > 100, "{met:?}");
}

const FAR: Effort = Effort { states: 4_000, walks: 20, steps: 60 };

#[test]
fn fml_5_a_form_of_a_waker_without_time_or_hints_is_seen() {
    let powers =
        waker::scope::SCOPES.iter().find(|(name, _)| *name == "calm").expect("a scope of this name").1;
    for fault in [Fault::InstantsAlike, Fault::HintsAlike] {
        let faulty = waker::scope::Powers { fault: Some(fault), ..powers };
        falls(&waker::World::new(faulty), &waker::World::new(powers), FAR);
    }
}

#[test]
fn fml_5_a_form_of_the_system_without_time_or_hints_is_seen() {
    let powers =
        system::scope::SCOPES.iter().find(|(name, _)| *name == "hints").expect("a scope of this name").1;
    for fault in [Fault::InstantsAlike, Fault::HintsAlike] {
        let faulty = system::scope::Powers { fault: Some(fault), ..powers };
        falls(&system::World::new(faulty), &system::World::new(powers), FAR);
    }
}
