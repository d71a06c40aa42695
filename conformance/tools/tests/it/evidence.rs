//! Evidence is asked for and told apart: each positive case stands beside the case that must fail.
//!
//! The claims here are made through a local macro, so that traceability does not take them for real ones.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::thread;

use awakener_spec::{Class, Reason, Rule, rule};
use awakener_tools::evidence::{Capture, in_this_process, on_this_thread};
use awakener_tools::{enforces, enforces_process};
use serde_json::json;

/// The complaint of a run that must fail.
fn complaint(run: impl FnOnce()) -> String {
    let panic = catch_unwind(AssertUnwindSafe(run)).expect_err("the run was taken without evidence");
    panic.downcast_ref::<String>().cloned().expect("a panic with a text")
}

macro_rules! samples {
    () => {
        enforces! {
            [Ack2, Inb4] fn both_claims_are_marked(seen) {
                rule!(Ack2);
                assert!(!seen.saw(Rule::Inb4));
                rule!(Inb4);
                assert!(seen.saw(Rule::Inb4));
            }

            #[should_panic(expected = "ACK-2 (The barrier); it saw: INB-4")]
            [Ack2, Inb4] fn one_claim_is_not_marked(_seen) { rule!(Inb4); }

            [Ack2] fn a_test_may_return_a_result(_seen) -> Result<(), std::num::ParseIntError> {
                rule!(Ack2);
                "7".parse::<u8>().map(drop)
            }
        }

        enforces_process! {
            [Ver5] fn marks_come_from_another_thread(_seen) {
                thread::spawn(|| rule!(Ver5)).join().expect("the thread ends");
            }

            #[should_panic(expected = "claims rules of which it saw no evidence: VER-5")]
            [Ver5] fn no_mark_comes_from_anywhere(_seen) {}
        }
    };
}
samples!();

#[test]
fn a_mark_on_another_thread_is_no_evidence_for_a_thread() {
    let elsewhere = |_: &Capture| thread::spawn(|| rule!(Ack3)).join().expect("the thread ends");
    let text = complaint(|| on_this_thread("story", &[Rule::Ack3], elsewhere));
    assert!(text.starts_with("story claims rules of which it saw no evidence: ACK-3"), "{text}");
    on_this_thread("control", &[Rule::Ack3], |_| rule!(Ack3));
}

#[test]
fn a_thread_with_its_own_capture_keeps_its_marks() {
    let inner = |_: &Capture| on_this_thread("inner", &[Rule::Ack4], |_| rule!(Ack4));
    let text = complaint(|| in_this_process("outer", &[Rule::Ack4], inner));
    assert!(text.starts_with("outer claims"), "{text}");
}

#[test]
fn a_capture_ends_when_its_body_panics() {
    complaint(|| on_this_thread("first", &[], |_| panic!("{}", "body")));
    complaint(|| in_this_process("second", &[], |_| panic!("{}", "body")));
    let text = complaint(|| in_this_process("third", &[Rule::Ack5], |_| ()));
    assert!(text.starts_with("third claims rules of which it saw no evidence: ACK-5"), "{text}");
    in_this_process("control", &[Rule::Ack5], |_| rule!(Ack5));
}

#[test]
fn typed_refusals_are_evidence_of_their_own_rule_only() {
    on_this_thread("control", &[Rule::Adm7, Rule::Ver3, Rule::Dsp7], |seen| {
        seen.refusal(Reason::DuplicateConflict);
        seen.class(Class::WindowFull);
        seen.class(Class::Unminted);
        assert!(!seen.saw(Rule::Ver1));
    });
    complaint(|| on_this_thread("story", &[Rule::Adm7], |seen| seen.refusal(Reason::TooOld)));
}

#[test]
fn problems_are_evidence_by_rule_and_by_reason() {
    on_this_thread("control", &[Rule::Adm7, Rule::Inb7, Rule::Con1, Rule::Ver1], |seen| {
        seen.problem(&json!({"rule": "ADM-7", "reason": "duplicate_conflict", "status": 409}));
        seen.problem(&json!({"reason": "lost_lease"}));
        seen.problem(&json!({"reason": "tamper"}));
        seen.problem(&json!({"rule": "CON-1"}));
    });
}

#[test]
fn problems_that_make_something_up_fail() {
    let read = |problem: serde_json::Value| {
        complaint(|| on_this_thread("story", &[], |seen| seen.problem(&problem)))
    };
    assert_eq!(read(json!({"reason": "bad_luck"})), "there is no reason `bad_luck`");
    assert_eq!(read(json!({"rule": "ack-2"})), "there is no rule `ack-2`");
    assert!(read(json!({"rule": 2})).starts_with("`rule` is not a string"));
    assert!(read(json!({"status": 500})).starts_with("neither `rule` nor `reason`"));
}

#[test]
fn an_error_of_the_body_is_shown_instead_of_missing_evidence() {
    assert_eq!(on_this_thread("story", &[Rule::Ack2], |_| Err("own error")), Err("own error"));
}
