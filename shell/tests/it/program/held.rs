//! One process per store (INB-10): others go through it, and if none runs a command reads the store by itself.

use awakener_tools::enforces_process;

use super::{Machine, lines};

enforces_process! {
    [Inb10]
    fn inb_10_a_second_plane_is_refused_with_the_pid_of_the_first(seen) {
        let machine = Machine::up();
        // At the same address, and at another.
        for extra in [&[][..], &["--set", "http.listen=127.0.0.1:0"]] {
            let failure = machine.fails(&[&["up"], extra].concat(), 69);
            assert_eq!((&failure["reason"], &failure["rule"]), (&"store_held".into(), &"INB-10".into()));
            seen.problem(&failure);
            assert!(failure["error"].as_str().unwrap().contains(&format!("pid {} ", machine.pid())));
        }
        machine.ok(&["status"]);
    }

    [Inb10]
    fn inb_10_without_a_plane_a_command_reads_the_store_and_lets_go(seen) {
        let mut machine = Machine::story();
        let id = machine.alert("pump 3");
        machine.ok(&["disarm", "lotse"]);
        let running = machine.json(&["status"]);
        machine.stop();

        let alone = machine.json(&["status"]);
        assert_eq!((&alone["head"], &alone["plane"]), (&running["head"], &running["plane"]));
        assert_eq!(alone["targets"][0]["outstanding"][0]["message"], id.as_str());
        assert_eq!(alone["targets"][0]["cursor"], 0);
        assert!(machine.ok(&["status"]).contains(" · not running · "));
        let export = machine.path("chain.jsonl");
        machine.ok(&["audit", "export", "--out", &export]);
        assert_eq!(lines(&export).len() as u64, running["head"]["size"].as_u64().unwrap());
        assert_eq!(machine.json(&["audit", "verify"])["head"], running["head"]["hash"]);
        machine.ok(&["audit", "verify", &export]);
        // What changes something needs the plane, and who names a plane means that one.
        assert_eq!(machine.fails(&["send", "lotse", "--as", "ops", "--text", "x"], 69)["reason"], "unreachable");
        assert_eq!(machine.fails(&["status", "--url", "http://127.0.0.1:9"], 69)["reason"], "unreachable");

        // The looks left nothing: the plane goes on where it was.
        machine.start();
        let again = machine.json(&["audit", "export", "--from", "1"]);
        let entries = again["entries"].as_array().unwrap();
        let size = usize::try_from(running["head"]["size"].as_u64().unwrap()).unwrap();
        assert_eq!(entries[size - 1]["hash"], running["head"]["hash"]);

        // A process that has the store and does not answer here is named.
        let failure = machine.fails(&["status", "--set", "http.listen=127.0.0.1:9"], 69);
        assert_eq!(failure["reason"], "store_held");
        seen.problem(&failure);
    }
}

#[test]
fn aud_5_a_store_that_was_changed_while_nothing_ran_does_not_verify() {
    let mut machine = Machine::story();
    machine.mail("one");
    machine.stop();
    machine.ok(&["audit", "verify"]);
    let conn = rusqlite::Connection::open(machine.state().join("plane.db")).unwrap();
    let changed = conn
        .execute(
            "UPDATE audit SET entry = CAST(replace(CAST(entry AS TEXT), 'ops', 'opz') AS BLOB)
             WHERE position = (SELECT max(position) FROM audit WHERE CAST(entry AS TEXT) LIKE '%ops%')",
            [],
        )
        .unwrap();
    assert_eq!(changed, 1);
    drop(conn);
    let failure = machine.fails(&["audit", "verify"], 65);
    assert_eq!(failure["reason"], "chain_broken");
    // The plane serves mail all the same, raises no alert, and says why, until an operator draws a line.
    machine.start();
    assert!(machine.ok(&["status"]).contains(" · alerts closed · "));
    machine.mail("two");
    let alert = ["send", "lotse", "--as", "ops", "--schema", "interrupt-alert/1", "--text", "x"];
    assert_eq!(machine.fails(&alert, 69)["reason"], "tier0_closed");
    machine.ok(&["audit", "reanchor", "--reason", "looked into"]);
    machine.ok(&alert);
    assert!(machine.ok(&["status"]).contains(" · alerts open · "));
}
