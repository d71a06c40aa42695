//! Operators from a shell: scopes, keys, and commands about what is not there.
//!
//! Rules: OPR-1, IDN-7, AUD-5, EMT-6, FUS-7.

use serde_json::Value;

use super::Machine;

#[test]
fn opr_1_a_second_key_does_what_its_scopes_say_and_no_more() {
    let machine = Machine::story();
    let second = machine.path("away/second.key");
    machine.ok(&["keys", "new", &second]);
    let add = ["keys", "add-operator", "second", "--scopes", "stop,arm", "--key-file", &second];
    machine.ok(&add);
    let run = |args: &[&str]| machine.run(&[args, &["--operator-key", &second]].concat());
    assert_eq!(run(&["disarm", "lotse"]).code, 0);
    assert_eq!(run(&["arm", "lotse"]).code, 0);
    assert_eq!(run(&["pause", "lotse"]).code, 0);
    for args in
        [&["resume", "lotse"][..], &["target", "add", "b"], &["roster", "remove"], &["clock", "accept"]]
    {
        let ended = run(args);
        assert!(ended.code == 77 && ended.err.contains("operator_out_of_scope"), "{args:?}: {}", ended.err);
    }
    let keys = machine.json(&["keys", "list"]);
    let of = |operator: &str| -> Value {
        let keys = keys["keys"].as_array().unwrap();
        keys.iter().find(|key| key["operator"] == operator).unwrap()["key_id"].clone()
    };
    machine.ok(&["keys", "revoke-operator", of("second").as_str().unwrap()]);
    let ended = run(&["disarm", "lotse"]);
    assert!(ended.code == 77 && ended.err.contains("OPR-1"), "{}", ended.err);
}

#[test]
fn idn_7_router_and_audit_keys_come_and_go() {
    let machine = Machine::up();
    for (role, name) in [("router", "r.key"), ("audit", "a.key")] {
        let file = machine.path(&format!("away/{name}"));
        let id = machine.json(&["keys", "new", &file])["key_id"].as_str().unwrap().to_owned();
        machine.ok(&["keys", &format!("add-{role}"), "--key-file", &file, "--for", "1d"]);
        let listed =
            || machine.ok(&["keys", "list"]).lines().find(|line| line.contains(&id)).unwrap().to_owned();
        assert!(listed().starts_with(role) && listed().contains("until 20"), "{}", listed());
        machine.ok(&["keys", &format!("revoke-{role}"), &id]);
        assert!(listed().contains("revoked 20"), "{}", listed());
    }
}

#[test]
fn opr_1_a_command_about_what_is_not_there_is_refused() {
    let machine = Machine::story();
    let id = "019ae3c0-0000-7000-8000-000000000001";
    let key = "sha256:0000000000000000000000000000000000000000000000000000000000000001";
    let commands: &[&[&str]] = &[
        &["target", "remove", "nobody"],
        &["arm", "nobody"],
        &["principal", "revoke", "nobody"],
        &["keys", "revoke-ack", "lotse", key],
        &["resolve", "lotse", id],
        &["quarantine", "release", "lotse", id],
        &["latch", "clear", "lotse"],
        &["audit", "reanchor"],
    ];
    for command in commands {
        let failure = machine.fails(command, 65);
        assert_eq!(failure["reason"], "operator_unknown_subject", "{command:?}");
    }
    // The state that is expected is compared with the one that is.
    let failure = machine.fails(&["disarm", "lotse", "--expect", "something else"], 77);
    assert_eq!(failure["reason"], "operator_state_conflict");
    // Longer than may be.
    machine.fails(&["disarm", "lotse", "--valid", "11m"], 65);
    machine.fails(&["arm", "lotse", "--for", "91d"], 65);
    assert!(machine.ok(&["status"]).contains("armed until"));
}
