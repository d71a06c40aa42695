//! A store that fails while the plane serves (ADM-2, ADM-10).

use awakener_tools::enforces_process;
use serde_json::{Value, json};

use super::super::support::*;

enforces_process! {
    [Adm2, Adm10, Inb2] fn adm_10_what_cannot_be_stored_is_refused_and_the_plane_goes_on(seen) {
        let mut rig = Rig::start();
        rig.target("lotse");
        let alice = rig.credential("alice", &["lotse"], None);
        let send = |rig: &Rig, n: u64| {
            let message = submission("lotse", "message/1", json!(word(n)));
            (rig.block(rig.client(alice.expose()).submit(&message, None)), message)
        };
        assert_eq!(send(&rig, 1).0.unwrap().seq, 1);
        let file = rusqlite::Connection::open(rig.dir.path().join("plane.db")).unwrap();
        let size = |file: &rusqlite::Connection| -> (i64, i64) {
            file.query_row("SELECT (SELECT count(*) FROM audit), (SELECT count(*) FROM message)", [], |row| {
                Ok((row.get(0)?, row.get(1)?))
            })
            .unwrap()
        };
        // The file itself says no to every new message, in the middle of the transaction.
        file.execute_batch(
            "CREATE TRIGGER full BEFORE INSERT ON message BEGIN SELECT RAISE(ABORT, 'no room'); END",
        )
        .unwrap();
        let before = size(&file);
        let (refused, message) = send(&rig, 2);
        let problem = problem(refused);
        assert_eq!((&problem["reason"], &problem["status"]), (&json!("store_unavailable"), &json!(503)));
        assert_eq!(problem["retry"], "later");
        seen.problem(&problem);
        // Nothing of it is there, no entry of its step either: only that the mailbox came back from disk is recorded, and
        // that its emitter started anew.
        let after = size(&file);
        assert_eq!(after.1, before.1);
        let new = rig.audited().split_off(usize::try_from(before.0).unwrap());
        let of_it = |entry: &Value| {
            entry["input"].get("admit").is_some() || entry["records"].to_string().contains("admitted")
        };
        assert!(!new.is_empty() && !new.iter().any(of_it), "{new:?}");
        let page = rig.block(rig.client(alice.expose()).inbox(
            &"lotse".parse().unwrap(), &awakener::client::ReadFrom::Start, None, None,
        ));
        assert_eq!(page.unwrap().total, 1);
        file.execute_batch("DROP TRIGGER full").unwrap();
        // The same message under the same id gets in, without a gap.
        let admitted = rig.block(rig.client(alice.expose()).submit(&message, None)).unwrap();
        assert_eq!((admitted.seq, admitted.repeat), (2, false));
        // Another writer that does not let go is as bad, and as passing.
        file.execute_batch("BEGIN IMMEDIATE").unwrap();
        let (refused, message) = send(&rig, 3);
        assert_eq!(super::super::support::problem(refused)["reason"], "store_unavailable");
        file.execute_batch("COMMIT").unwrap();
        assert_eq!(rig.block(rig.client(alice.expose()).submit(&message, None)).unwrap().seq, 3);
        drop(file);
        rig.restart();
        assert_eq!(send(&rig, 4).0.unwrap().seq, 4);
    }
}
