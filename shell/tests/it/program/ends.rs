//! How commands end beside a running plane, a plane that is down, and a configuration that is wrong.
//!
//! Rules: CON-1, ADM-2, ADM-3, IDN-6, OPR-1.

use serde_json::Value;

use super::Machine;

#[test]
fn con_1_each_kind_of_end_has_its_code_and_names_its_rule() {
    let machine = Machine::story();
    let alert =
        |as_: &'static str| ["send", "lotse", "--as", as_, "--schema", "interrupt-alert/1", "--text", "x"];
    // 77: not allowed, and by which rule.
    assert_eq!(machine.fails(&alert("lotse"), 77)["rule"], "ADM-2");
    machine.ok(&["roster", "remove"]);
    let refused = machine.fails(&alert("ops"), 77);
    assert_eq!((&refused["reason"], &refused["rule"]), (&"roster_absent".into(), &"ADM-4".into()));
    let inbox = machine.fails(&["inbox", "lotse", "--as", "ops"], 77);
    assert_eq!((&inbox["reason"], &inbox["rule"]), (&"not_readable".into(), &"IDN-6".into()));
    // A key that the plane does not know commands nothing.
    machine.ok(&["keys", "new", &machine.path("away/stranger.key")]);
    let stranger = machine.path("away/stranger.key");
    let refused = machine.fails(&["disarm", "lotse", "--operator-key", &stranger], 77);
    assert_eq!(refused["reason"], "operator_unknown_key");
    // For people the same in lines.
    let ended = machine.run(&alert("ops"));
    assert_eq!(ended.code, 77);
    assert!(ended.err.contains("\nrule:  ADM-4 (roster_absent)\nnext:  "), "{}", ended.err);
    // 65: no such thing; 2: not said right; 78: the configuration.
    machine.fails(&["send", "nobody", "--as", "ops", "--text", "x"], 65);
    machine.fails(&["sned"], 2);
    machine.fails(&["send", "lotse", "--text", "no credential named"], 2);
    let wrong = machine.fails(&["status", "--set", "limits.cooldwn=5s"], 78);
    assert_eq!(wrong["problems"][0]["nearest"], "limits.cooldown");
    machine.fails(&["send", "lotse", "--as", "nobody", "--text", "no such token"], 78);
}

#[test]
fn con_1_a_plane_that_is_down_is_69_and_a_dry_run_needs_none() {
    let machine = Machine::made();
    machine.ok(&["check"]);
    for args in [&["status"][..], &["target", "list"], &["abort"], &["audit", "verify"]] {
        let failure = machine.fails(args, 69);
        assert_eq!(failure["reason"], "unreachable", "{args:?}");
        assert_ne!(failure["place"], Value::Null);
    }
    assert!(!machine.state().join("plane.db").exists(), "a look made a store");
    let shown = machine.json(&["target", "add", "lotse", "--dry-run"]);
    assert_eq!((&shown["dry_run"], &shown["path"]), (&true.into(), &"/v1/operator".into()));
}
