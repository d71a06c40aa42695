//! The checks with which the build refuses a list that is not well formed.

use std::collections::BTreeSet;

use crate::check;

#[test]
fn ids_have_one_form() {
    assert_eq!(check::ids(["ABC-1", "ABC-10", "XYZ-1"].into_iter()).unwrap().len(), 3);
    for id in ["", "ABC", "ABC-", "ABC-0", "ABC-01", "AB-1", "ABCD-1", "abc-1", "ABC-1a", "ABC-1-2", "ABC 1"]
    {
        let problem = check::ids([id].into_iter()).unwrap_err();
        assert!(problem.starts_with(&format!("rules.toml: `{id}` is not an id")), "{problem}");
    }
}

#[test]
fn ids_stand_once() {
    let problem = check::ids(["ABC-1", "ABC-2", "ABC-1"].into_iter()).unwrap_err();
    assert_eq!(problem, "rules.toml: `ABC-1` stands there twice; a number is never used again");
}

#[test]
fn names_are_snake_case_stand_once_and_have_a_rule() {
    let ids = BTreeSet::from(["ABC-1"]);
    let check =
        |all: &[(&'static str, Option<&'static str>)]| check::names("a.toml", &ids, all.iter().copied());
    assert_eq!(check(&[("too_large", Some("ABC-1")), ("x2", None)]), Ok(()));
    for name in ["", "Too", "too-large", "_a", "a_", "a__b", "2x", "a b"] {
        assert_eq!(check(&[(name, None)]).unwrap_err(), format!("a.toml: `{name}` is not snake_case"));
    }
    assert_eq!(check(&[("a", None), ("a", None)]).unwrap_err(), "a.toml: `a` stands there twice");
    let problem = check(&[("a", Some("ABC-2"))]).unwrap_err();
    assert_eq!(problem, "a.toml: `a` names the rule `ABC-2`, which is not in rules.toml");
}

#[test]
fn texts_say_something() {
    assert_eq!(check::texts("a.toml", "a", &["Says.", "Too."]), Ok(()));
    for text in ["", " ", "Says. ", "\nSays."] {
        let problem = check::texts("a.toml", "a", &["Says.", text]).unwrap_err();
        assert_eq!(problem, "a.toml: a text of `a` is empty or has space at an end");
    }
}
