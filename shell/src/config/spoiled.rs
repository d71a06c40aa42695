//! Spoiled files that people write (configuration and manifest): nothing panics, a refusal says why, and what is taken
//! is all that stands there, as any reader of TOML finds it.

use std::fs;

use awakener_tools::mangle::{Edit, mangle};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::strategy::ValueTree as _;
use proptest::test_runner::TestRunner;
use toml::{Table, Value};

use super::settings::dotted;
use super::{Config, Mode, Origin, Sources};
use crate::manifest::Manifest;

const CONFIG: &str = r#"version = 1
mode = "trial"
plane = "main"

[http]
listen = "127.0.0.1:7717"

[limits]
cooldown = "5s"

[routes]
"note/1" = 3

[models.fake]
window = 20000
budget = 1000

[stations.lotse]
listen = "127.0.0.1:9403"
script = ["complete", "silence"]
"#;

const MANIFEST: &str = r#"version = 1
[agents.mataya-dyad]
runtime = "agentapi"
endpoint = "http://127.0.0.1:9403/message"
headless = true
tier0_ack = true
max_concurrent_wakes = 1
cooldown = "9s"

[agents.desktop-human]
runtime = "desktop-notification"
headless = false
requires_human_submit = true
"#;

/// How many were refused, and how many were taken with other bytes than the good ones.
fn spoil(name: &str, good: &str, judge: impl Fn(&std::path::Path) -> bool) -> [u32; 2] {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join(name);
    fs::write(&path, good).unwrap();
    assert!(judge(&path), "the good one is taken");
    let mut runner = TestRunner::new(ProptestConfig::default());
    let strategy = vec(any::<Edit>(), 1..4);
    let mut counts = [0, 0];
    for _ in 0..1_000 {
        let edits = strategy.new_tree(&mut runner).unwrap().current();
        fs::write(&path, mangle(good.as_bytes(), &edits)).unwrap();
        counts[usize::from(judge(&path))] += 1;
    }
    counts
}

/// As somebody else reads it.
fn common(path: &std::path::Path) -> Table {
    fs::read_to_string(path).unwrap().parse().unwrap()
}

fn leaves(path: &mut Vec<String>, table: &Table, found: &mut Vec<String>) {
    for (key, value) in table {
        path.push(key.clone());
        match value {
            Value::Table(inner) => leaves(path, inner, found),
            _ => found.push(dotted(path)),
        }
        path.pop();
    }
}

#[test]
fn con_1_a_spoiled_configuration_is_refused_or_taken_with_everything_in_it() {
    let counts = spoil("awakener.toml", CONFIG, |path| {
        let sources = Sources { file: Some(path.into()), ..Sources::default() };
        match Config::load(&sources) {
            Ok(config) => {
                let mut written = Vec::new();
                leaves(&mut Vec::new(), &common(path), &mut written);
                written.sort();
                let of_file = |origin: &Origin| matches!(origin, Origin::File { .. });
                let taken = config.origins().filter(|(_, effective)| of_file(&effective.origin));
                let mut taken: Vec<String> = taken.map(|(key, _)| key).collect();
                taken.sort();
                assert_eq!(taken, written);
                true
            }
            Err(problems) => {
                assert!(!problems.0.is_empty() && problems.0.iter().all(|problem| !problem.what.is_empty()));
                false
            }
        }
    });
    assert!(counts.iter().all(|count| *count > 0), "{counts:?}");
}

#[test]
fn cap_2_a_spoiled_manifest_is_refused_or_taken_with_everything_in_it() {
    let counts = spoil("agents.toml", MANIFEST, |path| match Manifest::load(path, Mode::Production) {
        Manifest::Accepted { agents, .. } => {
            let common = common(path);
            let none = Table::new();
            let written = common.get("agents").and_then(Value::as_table).unwrap_or(&none);
            let names: Vec<&str> = agents.keys().map(|target| target.as_str()).collect();
            let mut expected: Vec<&str> = written.keys().map(String::as_str).collect();
            expected.sort_unstable();
            assert_eq!(names, expected);
            for (target, agent) in &agents {
                let section = &written[target.as_str()];
                let flag = |key: &str| section.get(key).and_then(Value::as_bool).unwrap_or(false);
                assert_eq!(Some(agent.runtime.name()), section["runtime"].as_str());
                let flags = [agent.headless, agent.tier0_ack, agent.requires_human_submit];
                assert_eq!(flags, ["headless", "tier0_ack", "requires_human_submit"].map(flag));
            }
            true
        }
        Manifest::Refused(problems) => {
            assert!(!problems.0.is_empty() && problems.0.iter().all(|problem| !problem.what.is_empty()));
            false
        }
    });
    assert!(counts.iter().all(|count| *count > 0), "{counts:?}");
}
