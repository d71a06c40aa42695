//! FML-1, FML-3, FML-5: what is said of a scope, and what follows from it.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use awakener_model_check::check::judge::judge;
use awakener_model_check::check::{LawVerdict, Pins, Settings, Watch, text};
use awakener_model_check::manifest::Pin;
use awakener_model_check::worlds::of;

use super::toy::{SURVIVES, Toy};
use super::{check, settings, toy};

#[test]
fn fml_3_a_clean_scope_is_complete_and_both_counts_agree() {
    let report = check("crash");
    // By hand: down; then per crash left (1, 0) every count and what is on disk under it, and down again.
    assert!(report.complete);
    assert_eq!(report.second.map(|second| (second.states, second.agrees)), Some((report.states, true)));
    assert_eq!(judge(&[report], &[]).exit(), 0);
}

#[test]
fn fml_5_a_twin_says_how_far_it_is_and_what_it_needs() {
    let report = check("crash");
    let law = report.laws.iter().find(|law| law.name == SURVIVES).unwrap();
    // Boot, add, save, crash.
    assert_eq!((law.verdict, law.twin_depth), (LawVerdict::Holds, Some(4)));
    assert_eq!(law.needs, ["add", "boot", "crash", "write.save"]);
    // Nothing leads to a twin that holds where the world begins; it needs what it speaks of.
    let law = report.laws.iter().find(|law| law.rule == "ADM-3").unwrap();
    assert_eq!((law.twin_depth, &law.needs[..]), (Some(0), &["knock".to_owned()][..]));
}

#[test]
fn fml_5_a_law_that_had_nothing_to_forbid_is_idle_and_a_group_fails_by_it() {
    let report = check("calm");
    let law = report.laws.iter().find(|law| law.name == SURVIVES).unwrap();
    assert_eq!((law.verdict, law.twin_depth, law.needs.len()), (LawVerdict::Idle, None, 0));
    let judged = judge(std::slice::from_ref(&report), &["toy"]);
    assert_eq!(judged.exit(), 1);
    assert!(judged.findings[0].contains("IDLE"), "{judged:?}");
    // A single scope may well have none of what the law is about, and another scope of the group may have it.
    assert_eq!(judge(std::slice::from_ref(&report), &[]).exit(), 0);
    assert_eq!(judge(&[report, check("crash")], &["toy"]).exit(), 0);
}

#[test]
fn fml_5_a_twin_that_no_single_action_is_needed_for_fails() {
    let empty = of::<Toy<true>>().check("crash", &settings(), None, &Watch::nobody()).unwrap();
    let judged = judge(&[empty], &["toy"]);
    assert_eq!(judged.exit(), 1);
    let [finding] = &judged.findings[..] else { panic!("{judged:?}") };
    assert!(finding.contains("INB-2 it counts") && finding.contains("no kind of action"), "{finding}");
}

#[test]
fn fml_3_a_broken_law_falls_on_a_shortest_way_and_nothing_else_does() {
    let report = check("forgets");
    let broken: Vec<_> = report.laws.iter().filter(|law| law.verdict == LawVerdict::Broken).collect();
    let [law] = broken[..] else { panic!("{broken:?}") };
    assert_eq!((law.name, law.steps), (SURVIVES, Some(4)));
    let way: Vec<String> = law.way.iter().flatten().map(ToString::to_string).collect();
    assert_eq!(way, [r#""boot""#, r#"{"add":{"by":1}}"#, r#"{"write":"save"}"#, r#""crash""#]);
    assert_eq!(report.second.map(|second| second.agrees), Some(true));
    let judged = judge(std::slice::from_ref(&report), &["toy"]);
    assert_eq!(judged.exit(), 1);
    assert!(text::row(&report).contains("1 LAW FALLS"));
    assert!(text::laws(std::slice::from_ref(&report)).contains("FALLS INB-1"));
    assert!(text::sum(&[report], &judged).ends_with("NOT clean\n"));
}

#[test]
fn fml_3_what_is_cut_is_incomplete_and_says_by_what() {
    let few = Settings { states: Some(10), ..settings() };
    let stopped = Watch { stop: Arc::new(AtomicBool::new(true)), ..Watch::nobody() };
    let pinned = Pin::new(1, 1, 1, None);
    for (settings, watch, cut) in [(few, Watch::nobody(), "states"), (settings(), stopped, "stopped")] {
        let report = toy().check("wide", &settings, Some(Some(&pinned)), &watch).unwrap();
        assert_eq!((report.complete, report.cut, report.pins), (false, Some(cut), Pins::Skipped));
        assert!(report.second.is_none());
        let judged = judge(&[report], &["toy"]);
        assert_eq!(judged.exit(), 3, "{judged:?}");
        assert!(judged.cuts[0].contains("INCOMPLETE"), "{judged:?}");
    }
}

#[test]
fn fml_3_numbers_are_compared_with_the_manifest() {
    let pin = check("crash").pin.unwrap();
    let other = Pin { edges: pin.edges + 1, ..pin.clone() };
    let against =
        |pinned: Option<Option<&Pin>>| toy().check("crash", &settings(), pinned, &Watch::nobody()).unwrap();
    assert_eq!(against(Some(Some(&pin))).pins, Pins::Match);
    assert_eq!(against(Some(None)).pins, Pins::Unpinned);
    assert_eq!(against(None).pins, Pins::Skipped);
    let differs = against(Some(Some(&other)));
    assert_eq!(differs.pins, Pins::Differ);
    let judged = judge(&[differs], &[]);
    assert_eq!(judged.exit(), 1);
    assert!(
        judged.findings[0].contains(&format!("edges {} instead of {}", pin.edges, other.edges)),
        "{judged:?}"
    );
}

#[test]
fn fml_3_a_deep_scope_has_no_second_count_and_says_so() {
    let report = check("long");
    assert!(report.complete && report.second.is_none());
    assert_eq!(report.pin.as_ref().and_then(|pin| pin.hash.clone()), None);
    assert!(report.laws.iter().all(|law| law.verdict == LawVerdict::Holds && law.needs.is_empty()));
    let judged = judge(std::slice::from_ref(&report), &["toy"]);
    assert_eq!(judged.exit(), 0);
    assert!(text::sum(&[report], &judged).contains("nothing is counted a second time"));
}

#[test]
fn con_1_only_the_laws_that_are_meant_are_reported() {
    let only = Settings { laws: vec!["INB-2 it never counts by three".into()], ..settings() };
    let report = toy().check("forgets", &only, None, &Watch::nobody()).unwrap();
    assert_eq!(report.laws.len(), 1);
    assert_eq!(judge(&[report], &["toy"]).exit(), 0);
}

#[test]
fn con_1_the_json_of_a_report_has_the_members_that_programs_read() {
    let value = serde_json::to_value(check("forgets")).unwrap();
    let members: Vec<&str> = value.as_object().unwrap().keys().map(String::as_str).collect();
    let expected = [
        "complete",
        "cut",
        "depth",
        "edges",
        "group",
        "laws",
        "peak_bytes",
        "pins",
        "scope",
        "second",
        "seconds",
        "states",
        "stays",
        "world",
    ];
    assert_eq!(members, expected);
    assert_eq!(value["group"], "ci");
    assert_eq!(value["laws"][1]["verdict"], "broken");
    assert_eq!(value["laws"][1]["way"][1]["add"]["by"], 1);
    assert_eq!(value["pins"], "skipped");
}
