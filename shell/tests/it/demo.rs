//! The demo from outside, and its verdict alone.
//!
//! The fixture `demo/observations.json` is what a real run has seen (`awakener demo --json`, member `observations`).
//! Each line is then doctored by one plausible lie: exactly that line turns red, and with it the exit code.

use std::process::Command;
use std::time::Instant;

use awakener::demo::scenarios::Scenarios;
use awakener::demo::{LineVerdict, Observations, all_green, exit, verdict};
use awakener::exit::Exit;
use awakener_tools::{Tool, nats};
use serde_json::{Value, json};

const FIXTURE: &str = include_str!("../../demo/observations.json");

fn fixture() -> (Scenarios, Observations) {
    (Scenarios::committed().unwrap(), serde_json::from_str(FIXTURE).unwrap())
}

fn red(verdicts: &[LineVerdict]) -> Vec<&str> {
    verdicts.iter().filter(|line| !line.green).map(|line| line.name.as_str()).collect()
}

#[test]
fn the_demo_runs_and_every_line_is_green() {
    let begun = Instant::now();
    runs_green(&["demo", "--json"]);
    let seconds = begun.elapsed().as_secs_f64();
    println!("the demo took {seconds:.1} s");
    assert!(seconds < 30.0, "{seconds:.1} s");
}

#[test]
fn brk_1_the_demo_runs_over_nats_and_every_line_is_green() {
    let Tool::Ready(program) = nats::program().unwrap_or_else(|error| panic!("{error}")) else { return };
    let folder = tempfile::tempdir().unwrap();
    let mut server = nats::Server::new(&program, folder.path()).unwrap();
    server.start().unwrap();
    runs_green(&["demo", "--json", "--broker", &server.url()]);
    server.kill();
    let output = Command::new(env!("CARGO_BIN_EXE_awakener"))
        .args(["demo", "--only", "one_alert", "--broker", &server.url()])
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(
        !output.status.success() && said.contains("no NATS server answers"),
        "the server was used: {said}"
    );
}

/// Every line must be green.
fn runs_green(args: &[&str]) {
    let output = Command::new(env!("CARGO_BIN_EXE_awakener")).args(args).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    let shown: Value = serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{said}"));
    let lines = shown["lines"].as_array().unwrap();
    let red: Vec<String> = lines
        .iter()
        .filter(|line| line["green"] != true)
        .map(|line| format!("{}: {} (logs: {})", line["name"], line["why"], shown["logs"]))
        .collect();
    assert!(red.is_empty(), "{}\n{said}", red.join("\n"));
    assert_eq!(output.status.code(), Some(0), "{said}");
    assert_eq!((shown["v"].as_u64(), shown["green"].as_bool()), (Some(1), Some(true)));
    assert_eq!(lines.len(), Scenarios::committed().unwrap().line.len());
}

#[test]
fn con_1_a_line_that_does_not_exist_is_a_usage_error_with_the_list() {
    let output =
        Command::new(env!("CARGO_BIN_EXE_awakener")).args(["demo", "--only", "hint_lst"]).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(said.contains("hint_lst") && said.contains("hint_lost"), "{said}");
}

#[test]
fn every_failure_row_and_every_adversary_of_the_source_is_a_line() {
    let (scenarios, _) = fixture();
    let covered: Vec<&str> =
        scenarios.line.iter().flat_map(|line| &line.covers).map(String::as_str).collect();
    for row in 1..=9 {
        assert!(covered.iter().any(|text| text.starts_with(&format!("failure {row}: "))), "failure {row}");
    }
    for adversary in [
        "unauthorised sender",
        "malformed roster",
        "wrong target",
        "bad signature",
        "nonce replay",
        "freshness regression",
        "backlog ambiguity",
        "output truncation",
        "runaway echo",
    ] {
        assert!(covered.contains(&format!("adversary: {adversary}").as_str()), "{adversary}");
    }
}

#[test]
fn what_a_real_run_has_seen_is_green() {
    let (scenarios, observations) = fixture();
    let verdicts = verdict(&scenarios, &observations);
    assert_eq!(red(&verdicts), Vec::<&str>::new(), "{verdicts:#?}");
    assert_eq!(exit(&verdicts), Exit::Ok);
}

/// Sets what a dotted path leads to; the way must be there.
fn set(seen: &mut Value, path: &str, value: Value) {
    let mut at = seen;
    for segment in path.split('.') {
        at = match at {
            Value::Array(items) => &mut items[segment.parse::<usize>().unwrap()],
            other => other.get_mut(segment).unwrap_or_else(|| panic!("{path}: {segment}")),
        };
    }
    assert_ne!(*at, value, "{path}: nothing was doctored");
    *at = value;
}

/// Renames receipts or records of a list.
fn rename(seen: &mut Value, list: &str, member: &str, from: &str, to: &str) {
    let items = seen[list].as_array_mut().unwrap();
    let before = items.clone();
    items.iter_mut().filter(|item| item[member] == from).for_each(|item| item[member] = to.into());
    assert_ne!(*items, before, "{list}: nothing was doctored");
}

fn twice(seen: &mut Value, list: &str) {
    let items = seen[list].as_array_mut().unwrap();
    let again = items[0].clone();
    items.push(again);
}

type Lie = fn(&mut Value);

/// One lie per line: what a broken implementation would have left behind.
const LIES: &[(&str, Lie)] = &[
    // A witness that nobody closed, or that an operator closed.
    ("one_alert", |seen| rename(seen, "receipts", "kind", "tier0_acknowledged", "operator_resolved")),
    // The lost hint was not lost at all.
    ("hint_lost", |seen| {
        let lost = seen["lost"][0].clone();
        set(seen, "accepted.0", lost);
    }),
    // Each copy of the hint started a flight.
    ("hint_duplicated", |seen| twice(seen, "flights")),
    // The older hint was taken as well.
    ("hint_reordered", |seen| set(seen, "older.class", Value::Null)),
    // Replays are remembered in memory only.
    ("hint_replayed_after_restart", |seen| set(seen, "judged.class", Value::Null)),
    // A bad signature is filed as noise.
    ("hint_tampered", |seen| set(seen, "audit.0.line.kind", json!("anomaly"))),
    // A refused hint moved the high-water mark.
    ("wrong_router", |seen| set(seen, "waker_after.high_water", json!(9))),
    // A stale hint started something.
    ("hint_stale", |seen| {
        let receipt = seen["receipts"][0].clone();
        set(seen, "flights_of_it", json!([receipt]));
    }),
    // Nobody is alarmed by a stolen key.
    ("hint_forged", |seen| set(seen, "audit.0.line.kind", json!("anomaly"))),
    // The refused text was kept.
    ("sender_unauthorised", |seen| set(seen, "refused.body_in_audit", json!(true))),
    // No roster, and it was stored all the same.
    ("roster_missing", |seen| set(seen, "refused.last_after", json!(77))),
    // A part of a bad roster was used.
    ("roster_malformed", |seen| set(seen, "refused.answer.reason", json!("not_on_roster"))),
    // A roster without an end.
    ("roster_expired", |seen| set(seen, "refused.answer.reason", json!("not_on_roster"))),
    // A hint for somebody else is asked about.
    ("wrong_target", |seen| set(seen, "hint.judged.asked", json!(true))),
    // A cut turn acknowledges.
    ("output_truncated", |seen| rename(seen, "of_alert", "kind", "inbox_read", "tier0_acknowledged")),
    // Somebody else's key closed the witness.
    ("ack_wrong_key", |seen| set(seen, "between.outstanding", json!([]))),
    // A wake is claimed although nobody was there.
    ("runtime_unavailable", |seen| {
        rename(seen, "between", "kind", "runtime_unavailable", "runtime_notified");
    }),
    // What could not begin has used up an attempt.
    ("runtime_unknown", |seen| set(seen, "inbox.outstanding.0.attempts", json!(1))),
    // The backlog was measured.
    ("backlog", |seen| set(seen, "latencies.0.latency", json!("measured"))),
    // The message did not survive, so the same id was admitted anew.
    ("plane_killed", |seen| set(seen, "repeat.answer.repeat", json!(false))),
    // A restart is enough to get rid of a latch.
    ("runaway_echo", |seen| set(seen, "boot_exit", json!(0))),
    // The latch claims a record that was never written.
    ("audit_fails_at_trip", |seen| {
        set(seen, "latch.latch.audit", json!({ "recorded": "sha256:00" }));
    }),
    // A changed entry goes unnoticed.
    ("chain_verifies", |seen| set(seen, "doctored.exit", json!(0))),
    // The word was said once.
    ("word_never_said", |seen| set(seen, "found", json!(1))),
];

#[test]
fn one_doctored_observation_turns_exactly_its_line_and_the_exit_code_red() {
    let (scenarios, observations) = fixture();
    let names: Vec<&str> = scenarios.line.iter().map(|line| line.name.as_str()).collect();
    assert_eq!(names, LIES.iter().map(|(name, _)| *name).collect::<Vec<_>>(), "one lie per line, in order");
    for (name, lie) in LIES {
        let mut doctored = observations.clone();
        lie(doctored.lines.get_mut(*name).unwrap());
        let verdicts = verdict(&scenarios, &doctored);
        assert_eq!(red(&verdicts), [*name]);
        assert!(!all_green(&verdicts));
        assert_eq!(exit(&verdicts), Exit::Failed);
    }
}

#[test]
fn what_is_missing_is_red() {
    let (scenarios, observations) = fixture();
    let mut removed = 0;
    for line in &scenarios.line {
        let name = line.name.as_str();
        let mut without = observations.clone();
        without.lines.remove(name);
        assert_eq!(red(&verdict(&scenarios, &without)), [name]);
        let mut unplayed = observations.clone();
        unplayed.lines.insert(name.to_owned(), json!({ "fault": "the plane did not start" }));
        assert_eq!(red(&verdict(&scenarios, &unplayed)), [name]);
        // Whatever an expectation looks at: without it the line is red.
        for expect in &line.expect {
            let first = expect.at.split('.').next().unwrap();
            let mut hole = observations.clone();
            hole.lines.get_mut(name).unwrap().as_object_mut().unwrap().remove(first).unwrap();
            assert_eq!(red(&verdict(&scenarios, &hole)), [name], "{name}: {}", expect.at);
            removed += 1;
        }
    }
    println!("{removed} observations were taken away, one at a time");
}
