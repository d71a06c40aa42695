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

/// Changes the bytes of one entry.
fn alter(machine: &Machine, position: i64, sql: &str) {
    let conn = rusqlite::Connection::open(machine.state().join("plane.db")).unwrap();
    let sql = format!("UPDATE audit SET entry = {sql} WHERE position = {position}");
    assert_eq!(conn.execute(&sql, []).unwrap(), 1);
}

enforces_process! {
    [Aud5]
    fn aud_5_torn_altered_and_anchored_anew_are_told_apart_by_a_command(seen) {
        let mut machine = Machine::story();
        machine.mail("one");
        let export = |machine: &Machine, name: &str| {
            let file = machine.path(name);
            machine.ok(&["audit", "export", "--out", &file]);
            file
        };
        // A tail that a crash cut is no alteration, and the same bytes anywhere else are one.
        let text = std::fs::read_to_string(export(&machine, "whole.jsonl")).unwrap();
        let torn = machine.file("torn.jsonl", &text[..text.len() - 30]);
        let failure = machine.fails(&["audit", "verify", torn.to_str().unwrap()], 65);
        assert_eq!(failure["reason"], "chain_torn");
        seen.problem(&failure);
        let line = text.lines().next().unwrap();
        let inside = machine.file("inside.jsonl", &text.replacen(line, &line[..line.len() - 30], 1));
        assert_eq!(machine.fails(&["audit", "verify", inside.to_str().unwrap()], 65)["reason"], "chain_broken");

        // Three kinds of alteration: another value, bytes that are no canonical form, and no JSON at all. None of these
        // entries holds what a machine needs to come back.
        let of = |number: usize| {
            let conn = rusqlite::Connection::open(machine.state().join("plane.db")).unwrap();
            let sql = "SELECT position FROM audit WHERE records = 0 AND machine = 'registry' ORDER BY position";
            let mut found = conn.prepare(sql).unwrap();
            let all: Vec<i64> = found.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect();
            all[number % all.len()]
        };
        let place = of(0);
        let ways = [
            "CAST(replace(CAST(entry AS TEXT), '\"v\":1', '\"v\":1,\"w\":2') AS BLOB)",
            "CAST(' ' || CAST(entry AS TEXT) AS BLOB)",
            "x'00ff7b'",
        ];
        for (round, way) in ways.into_iter().enumerate() {
            machine.stop();
            alter(&machine, place, way);
            // Without a plane, with one, and from an export: the same record.
            let found = |failure: &serde_json::Value| {
                assert_eq!((&failure["reason"], &failure["rule"]), (&"chain_broken".into(), &"AUD-5".into()));
                assert!(failure["error"].as_str().unwrap().contains("record "), "{failure}");
                failure["error"].as_str().unwrap().to_owned()
            };
            let still = found(&machine.fails(&["audit", "verify"], 65));
            machine.start();
            let file = export(&machine, &format!("broken-{round}.jsonl"));
            let running = found(&machine.fails(&["audit", "verify"], 65));
            assert_eq!(found(&machine.fails(&["audit", "verify", &file], 65)), running);
            assert!(round > 0 || still == running && still.contains(&format!("record {place} ")), "{still}");
            // Mail goes on, alerts do not, and nobody but an operator changes that.
            machine.mail(&format!("mail {round}"));
            let alert = ["send", "lotse", "--as", "ops", "--schema", "interrupt-alert/1", "--text", "x"];
            assert_eq!(machine.fails(&alert, 69)["reason"], "tier0_closed");
            let stranger = machine.path(&format!("away/stranger-{round}.key"));
            machine.ok(&["keys", "new", &stranger]);
            let act = ["audit", "reanchor", "--reason", "none of mine", "--operator-key", &stranger];
            assert_eq!(machine.fails(&act, 77)["rule"], "OPR-1");
            assert_eq!(machine.fails(&alert, 69)["reason"], "tier0_closed");
            machine.ok(&["audit", "reanchor", "--reason", "looked into"]);
            machine.ok(&alert);
            // The new segment names the break, and the chain verifies everywhere, with the break shown.
            let file = export(&machine, &format!("anchored-{round}.jsonl"));
            for args in [&["audit", "verify"][..], &["audit", "verify", &file]] {
                let said = machine.json(args);
                assert_eq!(said["anchored"].as_array().unwrap().len(), 1, "{said}");
                assert_eq!(said["anchored"][0]["position"], place);
                assert!(machine.ok(args).contains("anchored by an operator"));
            }
            machine.stop();
            machine.start();
            machine.ok(&alert);
        }
        // What was sealed cannot be altered any more: neither in the store nor in the export.
        let file = export(&machine, "sealed.jsonl");
        let sealed = std::fs::read_to_string(&file).unwrap().replacen("\"ops\"", "\"opz\"", 1);
        let sealed = machine.file("unsealed.jsonl", &sealed);
        machine.ok(&["audit", "verify", &file]);
        assert_eq!(machine.fails(&["audit", "verify", sealed.to_str().unwrap()], 65)["reason"], "chain_broken");
    }
}
