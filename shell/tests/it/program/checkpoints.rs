//! Kept checkpoints against a real plane and its exports (AUD-3): what extends them, and every way not to.

use std::fs;

use awakener::keys::SecretKey;
use awakener_kernel::audit;
use awakener_kernel::json;
use awakener_kernel::wire::{Checkpoint, Signed};
use awakener_tools::enforces_process;
use rusqlite::{Connection, params};
use serde_json::{Value, json as object};

use super::{Machine, lines};

/// Like [`Machine::story`] with a checkpoint kept in a file, and some mail after it.
fn kept() -> (Machine, String) {
    let machine = Machine::story();
    let kept = machine.path("kept.json");
    machine.mail("one");
    machine.ok(&["audit", "checkpoint", "--out", &kept]);
    machine.mail("two");
    (machine, kept)
}

/// The public audit key, as its owner keeps it elsewhere.
fn public(machine: &Machine) -> String {
    let listed = machine.json(&["keys", "list"]);
    let key = listed["keys"].as_array().unwrap().iter().find(|key| key["role"] == "audit").unwrap();
    key["public"].as_str().unwrap().to_owned()
}

fn size(kept: &str) -> u64 {
    let kept: Value = serde_json::from_str(&fs::read_to_string(kept).unwrap()).unwrap();
    kept["checkpoint"]["size"].as_u64().unwrap()
}

/// The entries with one changed, and every hash behind it made anew, as somebody does who can write everywhere.
fn remade(entries: Vec<Value>, change: impl Fn(&mut Value)) -> Vec<Value> {
    let mut prev = audit::Head::EMPTY.hash;
    let mut all = Vec::new();
    for mut entry in entries {
        change(&mut entry);
        entry["prev"] = object!(prev);
        prev = audit::hash(&json::canonical(&entry));
        all.push(object!({"position": entry["position"], "hash": prev, "entry": entry}));
    }
    all
}

/// Says something else of the first mail.
fn another_word(entry: &mut Value) {
    if entry["input"].to_string().contains("ops") && entry["position"].as_u64() > Some(8) {
        entry["config"] = format!("sha256:{}", "7".repeat(64)).into();
    }
}

impl Machine {
    fn exported(&self, name: &str) -> (String, Vec<Value>) {
        let file = self.path(name);
        self.ok(&["audit", "export", "--out", &file]);
        let entry = |line: String| serde_json::from_str::<Value>(&line).unwrap()["entry"].clone();
        let entries = lines(&file).into_iter().map(entry).collect();
        (file, entries)
    }

    fn lines_file(&self, name: &str, rows: &[Value]) -> String {
        let text: String = rows.iter().map(|row| row.to_string() + "\n").collect();
        self.file(name, &text).to_str().unwrap().to_owned()
    }

    fn signed(&self, name: &str, signed: &Signed<Checkpoint>) -> String {
        self.file(name, &signed.to_value().to_string()).to_str().unwrap().to_owned()
    }

    fn conn(&self) -> Connection {
        Connection::open(self.state().join("plane.db")).unwrap()
    }
}

enforces_process! {
    [Aud3]
    fn aud_3_a_chain_extends_what_was_kept_and_says_what_that_does_not_prove(seen) {
        let (mut machine, kept) = kept();
        let key = public(&machine);
        // By proof, record by record, and offline; with the key that was kept, and with the chain's own.
        let (export, _) = machine.exported("chain.jsonl");
        for with in [&["--since", &kept, "--audit-key", &key][..], &["--since", &kept]] {
            let online = machine.json(&[&["audit", "verify"], with].concat());
            assert_eq!((&online["comparison"], &online["checkpoint"]["size"]), (&"extends".into(), &size(&kept).into()));
            assert!(online["newest"]["size"].as_u64() >= Some(size(&kept)), "{online}");
            let whole = machine.json(&[&["audit", "verify", "--whole"], with].concat());
            let offline = machine.json(&[&["audit", "verify", &export], with].concat());
            for said in [&whole, &offline] {
                assert_eq!(said["comparison"], "extends");
                assert_eq!(said["not_proved"].as_str().unwrap().contains("--audit-key"), with.len() == 2);
            }
        }
        // The newest is kept by the plane, outlives it, and the next process signs one of its own.
        let newest = machine.path("newest.json");
        machine.ok(&["audit", "checkpoint", "--newest", "--out", &newest]);
        assert!(size(&newest) >= size(&kept));
        machine.ok(&["audit", "verify", "--since", &newest]);
        machine.stop();
        machine.ok(&["audit", "verify", "--since", &newest]);
        machine.start();
        machine.ok(&["audit", "verify", "--since", &newest]);
        machine.ok(&["audit", "verify", "--since", &kept]);
        // A file that is none.
        let none = machine.file("none.json", "{}");
        let failure = machine.fails(&["audit", "verify", "--since", none.to_str().unwrap()], 65);
        seen.problem(&failure);
    }

    [Aud3]
    fn aud_3_one_record_is_proved_without_the_others(seen) {
        let (machine, _) = kept();
        let key = public(&machine);
        machine.json(&["audit", "checkpoint"]);
        for position in ["1", "7"] {
            let proof = machine.json(&["audit", "prove", position, "--audit-key", &key]);
            assert_eq!((proof["position"].to_string().as_str(), &proof["not_proved"]), (position, &"".into()));
            assert_eq!(proof["entry"]["position"], proof["position"]);
            assert!(machine.ok(&["audit", "prove", position]).contains("is covered by the checkpoint over"));
        }
        machine.fails(&["audit", "prove", "100000"], 1);
        // What came later is not covered yet.
        machine.mail("three");
        let head = machine.json(&["status"])["head"]["size"].to_string();
        let failure = machine.fails(&["audit", "prove", &head], 69);
        assert!(failure["next"].as_str().unwrap().contains("audit checkpoint"), "{failure}");
        machine.json(&["audit", "checkpoint"]);
        machine.ok(&["audit", "prove", &head]);
        // A record that is changed under the running plane has no proof any more; the others have.
        let conn = machine.conn();
        let sql = "UPDATE audit SET entry = CAST(replace(CAST(entry AS TEXT), '\"v\":1', '\"v\":1,\"w\":1') AS BLOB)
                   WHERE position = 7";
        assert_eq!(conn.execute(sql, []).unwrap(), 1);
        drop(conn);
        let failure = machine.fails(&["audit", "prove", "7"], 65);
        assert_eq!(failure["reason"], "checkpoint_differs");
        seen.problem(&failure);
    }

    [Aud3]
    fn aud_3_a_cut_tail_shows_by_the_export_and_by_the_plane(seen) {
        let (mut machine, kept) = kept();
        let (_, entries) = machine.exported("chain.jsonl");
        let covered = usize::try_from(size(&kept)).unwrap();
        let same = remade(entries.clone(), |_| {});
        machine.ok(&["audit", "verify", &machine.lines_file("same.jsonl", &same[..covered]), "--since", &kept]);
        let short = machine.lines_file("short.jsonl", &same[..covered - 1]);
        machine.ok(&["audit", "verify", &short]);
        let failure = machine.fails(&["audit", "verify", &short, "--since", &kept], 65);
        assert_eq!(failure["reason"], "checkpoint_truncated");
        seen.problem(&failure);
        assert!(failure["next"].as_str().unwrap().contains("keep the files"), "{failure}");

        // In the store, with every trace of it: what begins anew behind the enrolment looks whole to itself.
        machine.stop();
        machine.ok(&["audit", "verify", "--since", &kept]);
        let conn = machine.conn();
        conn.execute_batch(
            "DELETE FROM audit WHERE position > 4; DELETE FROM receipt WHERE position > 4;
             DELETE FROM statement WHERE position > 4; DELETE FROM snapshot; DELETE FROM checkpoint;
             DELETE FROM message; DELETE FROM mint; DELETE FROM answer;",
        )
        .unwrap();
        drop(conn);
        let failure = machine.fails(&["audit", "verify", "--since", &kept], 65);
        assert_eq!(failure["reason"], "checkpoint_truncated");
        machine.start();
        machine.ok(&["audit", "verify"]);
        let failure = machine.fails(&["audit", "verify", "--since", &kept], 65);
        assert_eq!(failure["reason"], "checkpoint_truncated", "{failure}");
        // Grown beyond it, it is another history.
        for name in 0..size(&kept) {
            machine.ok(&["target", "add", &format!("t{name}")]);
        }
        machine.json(&["audit", "checkpoint"]);
        let failure = machine.fails(&["audit", "verify", "--since", &kept], 65);
        assert_eq!(failure["reason"], "checkpoint_differs");
    }

    [Aud3]
    fn aud_3_a_rewritten_chain_with_all_hashes_made_anew_shows_by_a_kept_checkpoint_alone(seen) {
        let (mut machine, kept) = kept();
        let (_, entries) = machine.exported("chain.jsonl");
        let rewritten = remade(entries.clone(), another_word);
        assert_ne!(rewritten, remade(entries.clone(), |_| {}));
        let file = machine.lines_file("rewritten.jsonl", &rewritten);
        machine.ok(&["audit", "verify", &file]);
        let failure = machine.fails(&["audit", "verify", &file, "--since", &kept], 65);
        assert_eq!(failure["reason"], "checkpoint_differs");
        seen.problem(&failure);

        machine.stop();
        let conn = machine.conn();
        let store = |rows: &[Value]| {
            for row in rows {
                conn.execute(
                    "UPDATE audit SET hash = ?2, entry = ?3 WHERE position = ?1",
                    params![
                        row["position"].as_i64().unwrap(),
                        row["hash"].as_str().unwrap().strip_prefix("sha256:").unwrap_or(row["hash"].as_str().unwrap()),
                        json::canonical(&row["entry"])
                    ],
                )
                .unwrap();
            }
        };
        let hash: String = conn.query_row("SELECT hash FROM audit WHERE position = 1", [], |row| row.get(0)).unwrap();
        assert!(rewritten[0]["hash"].as_str().unwrap().ends_with(hash.trim_start_matches("sha256:")));
        let prefix = if hash.starts_with("sha256:") { "sha256:" } else { "" };
        store(&rewritten);
        conn.execute("UPDATE audit SET hash = ?1 || hash", [prefix]).unwrap();
        drop(conn);
        machine.start();
        // To the plane, and to whoever kept nothing, all is well.
        machine.ok(&["audit", "verify"]);
        machine.alert("nothing to see");
        for with in [&[][..], &["--whole"]] {
            let failure = machine.fails(&[&["audit", "verify", "--since", &kept], with].concat(), 65);
            assert_eq!(failure["reason"], "checkpoint_differs", "{failure}");
        }
    }

    [Aud3]
    fn aud_3_a_checkpoint_counts_under_a_key_that_holds_and_for_its_own_plane(seen) {
        let (machine, kept) = kept();
        let key = public(&machine);
        let (export, _) = machine.exported("chain.jsonl");
        let text = fs::read_to_string(&kept).unwrap();
        let genuine: Signed<Checkpoint> = Signed::parse(text.trim().as_bytes()).unwrap();
        let sign = |checkpoint: Checkpoint, key: &SecretKey| {
            Signed::sign(Checkpoint { key_id: key.key_id(), ..checkpoint }, key.signing())
        };
        let ways = |since: &str, with: &[&str], code: i32, reason: &str| {
            for args in [&["audit", "verify", &export][..], &["audit", "verify"], &["audit", "verify", "--whole"]] {
                let args = [args, &["--since", since], with].concat();
                if code == 0 {
                    machine.ok(&args);
                    continue;
                }
                let failure = machine.fails(&args, code);
                assert_eq!((&failure["reason"], &failure["rule"]), (&reason.into(), &"AUD-3".into()), "{args:?} {failure}");
                seen.problem(&failure);
            }
        };
        ways(&kept, &[], 0, "");
        ways(&kept, &["--audit-key", &key], 0, "");

        // Forged: another size under the old signature, or a right head under a key that nobody registered.
        let forged = machine.file("forged.json", &text.replace(&format!("\"size\":{}", size(&kept)), "\"size\":1"));
        ways(forged.to_str().unwrap(), &[], 65, "checkpoint_untrusted");
        let stranger = SecretKey::generate().unwrap();
        let strange = machine.signed("strange.json", &sign(genuine.document().clone(), &stranger));
        ways(&strange, &[], 65, "checkpoint_untrusted");
        ways(&strange, &["--audit-key", &key], 65, "checkpoint_untrusted");
        // A key of another role is none.
        let router = SecretKey::load(&machine.state().join("keys/router.key")).unwrap();
        let routed = machine.signed("routed.json", &sign(genuine.document().clone(), &router));
        ways(&routed, &[], 65, "checkpoint_untrusted");
        // A right checkpoint of another plane.
        let other = Checkpoint { plane: "elsewhere".parse().unwrap(), ..genuine.document().clone() };
        ways(&machine.signed("other.json", &sign(other, &stranger)), &[], 65, "checkpoint_foreign");

        // A second key, held before it is revoked and never after, whoever names it.
        let file = machine.path("away/second.key");
        let id = machine.json(&["keys", "new", &file])["key_id"].as_str().unwrap().to_owned();
        machine.ok(&["keys", "add-audit", "--key-file", &file, "--for", "1d"]);
        let second = SecretKey::load(std::path::Path::new(&file)).unwrap();
        let now = |time| Checkpoint { time, ..genuine.document().clone() };
        let before = machine.signed("before.json", &sign(now(awakener::clock::system()), &second));
        let (export, _) = machine.exported("held.jsonl");
        machine.ok(&["audit", "verify", &export, "--since", &before]);
        machine.ok(&["audit", "verify", "--since", &before]);
        machine.ok(&["keys", "revoke-audit", &id]);
        let (export, _) = machine.exported("revoked.jsonl");
        let late = awakener_kernel::time::Wall(awakener::clock::system().0 + 1);
        let after = machine.signed("after.json", &sign(now(late), &second));
        let public = second.public().to_string();
        for with in [&[][..], &["--audit-key", &public]] {
            for args in [&["audit", "verify", &export][..], &["audit", "verify"]] {
                machine.ok(&[args, &["--since", &before], &["--audit-key", &public, "--audit-key", &key]].concat());
                let failure = machine.fails(&[args, &["--since", &after], with].concat(), 65);
                assert_eq!(failure["reason"], "checkpoint_untrusted");
                assert!(failure["error"].as_str().unwrap().contains("revoked"), "{failure}");
            }
        }

        // The plane itself signs nothing with a key that was revoked; what it kept stays.
        machine.ok(&["keys", "revoke-audit", &key_id(&machine, &key)]);
        let failure = machine.fails(&["audit", "checkpoint"], 65);
        assert_eq!(failure["reason"], "checkpoint_untrusted");
        machine.json(&["audit", "checkpoint", "--newest"]);
    }
}

fn key_id(machine: &Machine, public: &str) -> String {
    let listed = machine.json(&["keys", "list"]);
    let mut keys = listed["keys"].as_array().unwrap().iter();
    keys.find(|key| key["public"] == public).unwrap()["key_id"].as_str().unwrap().to_owned()
}
