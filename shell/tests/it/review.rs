//! Hostile questions to the plane's store: what it costs, what it survives, and what can be proved of it afterwards.

mod replay;
mod stations;

use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use awakener::client::{Client, ReadFrom};
use awakener::keys::{SecretKey, Token};
use awakener_kernel::ids::Target;
use awakener_kernel::values::By;
use serde_json::{Value, json};

use super::support::*;

/// The usual cast, with credentials that outlive the listener.
pub struct Cast {
    pub target: Target,
    pub alice_token: Token,
    pub agent_token: Token,
    pub alice: Client,
    pub agent: Client,
    pub station: SecretKey,
}

/// As [`Rig::story`].
pub fn cast(rig: &Rig) -> Cast {
    let target = rig.target("lotse");
    let alice_token = rig.credential("alice", &[], None);
    let agent_token = rig.credential("lotse-agent", &["lotse"], Some("lotse"));
    let station = rig.ack_key("lotse", By::Station);
    rig.roster(&[("alice", "lotse")]);
    rig.arm("lotse");
    let (alice, agent) = (rig.client(alice_token.expose()), rig.client(agent_token.expose()));
    Cast { target, alice_token, agent_token, alice, agent, station }
}

fn database(rig: &Rig) -> PathBuf {
    rig.dir.path().join("plane.db")
}

fn tier0_open(rig: &Rig) -> Option<bool> {
    rig.block(rig.observer().status()).unwrap().tier0_open
}

#[test]
fn inb_3_a_message_beyond_the_configured_age_expires_and_an_alert_does_not() {
    let rig = Rig::with(|limits| limits.message_age = awakener_kernel::time::Millis(1));
    let story = cast(&rig);
    let alert = submission("lotse", "interrupt-alert/1", json!("pump"));
    let old = submission("lotse", "message/1", json!("old"));
    for message in [&alert, &old] {
        rig.block(story.alice.submit(message, None)).unwrap();
    }
    let finished = |id| rig.block(story.alice.message(id)).unwrap().head.state.finished;
    let deadline = Instant::now() + Duration::from_secs(20);
    while finished(old.id).is_none() {
        assert!(Instant::now() < deadline, "it never expires");
        std::thread::yield_now();
    }
    assert_eq!(finished(old.id).as_deref(), Some("expired"));
    assert_eq!(finished(alert.id), None);
    let receipts = rig.block(rig.observer().receipts(&Default::default())).unwrap().receipts;
    let expired: Vec<_> =
        receipts.iter().filter(|receipt| receipt.kind == awakener_spec::ReceiptKind::Expired).collect();
    assert_eq!(expired.len(), 1);
    assert_eq!(expired[0].message, Some(old.id));
}

#[test]
fn inb_7_no_claim_reads_or_records_more_than_a_page() {
    let rig = Rig::with(|limits| limits.page = 2);
    let story = cast(&rig);
    for number in 0..5 {
        let message = submission("lotse", "message/1", json!(word(number)));
        rig.block(story.alice.submit(&message, None)).unwrap();
    }
    let claimed = rig.block(story.agent.claim(&story.target, &"me".parse().unwrap(), u32::MAX)).unwrap();
    assert_eq!(claimed.messages.len(), 2);
    let entries = rig.audited();
    let claim = entries.iter().rfind(|entry| entry["input"].get("claim").is_some()).unwrap();
    assert_eq!(claim["facts"]["candidates"].as_array().unwrap().len(), 2, "{claim}");
}

#[test]
fn spw_6_a_store_and_what_lies_beside_it_are_their_owners_alone() {
    let rig = Rig::start();
    let _story = cast(&rig);
    for name in ["plane.db", "plane.db-wal", "plane.db-shm", "plane.lock"] {
        let mode = std::fs::metadata(rig.dir.path().join(name)).unwrap().permissions().mode();
        assert_eq!(mode & 0o077, 0, "{name}: {mode:o}");
    }
}

#[test]
fn inb_10_a_file_that_is_not_ours_stays_as_it_was() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("foreign.db");
    rusqlite::Connection::open(&path).unwrap().execute_batch("CREATE TABLE theirs (x)").unwrap();
    let before = std::fs::read(&path).unwrap();
    let fault = awakener::store::Db::open(&path, awakener_kernel::ids::ContentHash([0; 32])).unwrap_err();
    assert_eq!(fault.reason, awakener_spec::Reason::StoreForeign);
    assert_eq!(std::fs::read(&path).unwrap(), before);
}

#[test]
fn emt_6_what_has_ended_stays_over_when_the_clock_steps_back() {
    let mut rig = Rig::start();
    let story = cast(&rig);
    assert!(rig.block(story.agent.grant(&story.target)).unwrap().armed);
    rig.down();
    // The store has seen a later time than this machine shows: its grant of an hour is over.
    let conn = rusqlite::Connection::open(database(&rig)).unwrap();
    let later = (now() + awakener_kernel::time::Millis(7_200_000)).0.to_string();
    conn.execute("UPDATE meta SET value = ?1 WHERE key = 'last_wall'", [later]).unwrap();
    drop(conn);
    rig.restart();
    let agent = rig.client(story.agent_token.expose());
    assert!(!rig.block(agent.grant(&story.target)).unwrap().armed, "an ended grant came back");
    assert_eq!(rig.block(rig.daemon().sweep(std::slice::from_ref(&story.target))).unwrap().armed, []);
}

#[test]
fn aud_5_a_chain_anchored_anew_stays_so_and_still_shows_what_is_altered_later() {
    let mut rig = Rig::start();
    let story = cast(&rig);
    let sent = submission("lotse", "message/1", json!("kept"));
    rig.block(story.alice.submit(&sent, None)).unwrap();
    rig.down();
    let alter = |position: i64, from: &str, to: &str| {
        let conn = rusqlite::Connection::open(database(&rig)).unwrap();
        let changed = conn
            .execute(
                "UPDATE audit SET entry = CAST(replace(CAST(entry AS TEXT), ?2, ?3) AS BLOB) WHERE position = ?1",
                rusqlite::params![position, from, to],
            )
            .unwrap();
        assert_eq!(changed, 1);
    };
    alter(3, "\"v\":1", "\"v\":1,\"w\":1");
    rig.restart();
    // The inbox serves, alerts do not pass, and a restart changes nothing about that.
    assert_eq!(tier0_open(&rig), Some(false));
    rig.block(rig.client(story.agent_token.expose()).inbox(&story.target, &ReadFrom::Start, None, None))
        .unwrap();
    rig.act("reanchor", json!({}));
    assert_eq!(tier0_open(&rig), Some(true));
    let anchor = rig.audited().into_iter().rfind(|entry| entry["machine"] == "chain").unwrap();
    assert_eq!(anchor["outcome"]["reanchored"]["break"]["position"], 3, "{anchor}");
    rig.restart();
    assert_eq!(tier0_open(&rig), Some(true), "the operator's act did not outlive the process");
    // What was sealed cannot be altered.
    rig.down();
    let alter = |position: i64| {
        let conn = rusqlite::Connection::open(database(&rig)).unwrap();
        conn.execute("UPDATE audit SET entry = CAST('{}' AS BLOB) WHERE position = ?1", [position]).unwrap();
    };
    alter(2);
    rig.restart();
    assert_eq!(tier0_open(&rig), Some(false));
}

#[test]
fn aud_5_a_chain_without_its_tail_closes_tier_0_and_nothing_new_is_taken_for_old() {
    let mut rig = Rig::start();
    let story = cast(&rig);
    let sent = submission("lotse", "message/1", json!("one"));
    rig.block(story.alice.submit(&sent, None)).unwrap();
    rig.down();
    let conn = rusqlite::Connection::open(database(&rig)).unwrap();
    let last: i64 = conn.query_row("SELECT max(position) FROM audit", [], |row| row.get(0)).unwrap();
    assert_eq!(conn.execute("DELETE FROM audit WHERE position > ?1", [last - 4]).unwrap(), 4);
    drop(conn);
    rig.restart();
    assert_eq!(tier0_open(&rig), Some(false), "a missing tail went unnoticed");
    let alice = rig.client(story.alice_token.expose());
    for number in 0..3 {
        let message = submission("lotse", "message/1", json!(word(number)));
        assert_eq!(rig.block(alice.submit(&message, None)).unwrap().seq, number + 2);
    }
    // Not even after an end without a snapshot, as a crash is one.
    let state = rig.dir.path().join("plane.db");
    rig.down();
    let conn = rusqlite::Connection::open(state).unwrap();
    conn.execute("UPDATE snapshot SET position = ?1, image = image WHERE position > ?1", [last]).unwrap();
    drop(conn);
    rig.restart();
    rig.act("reanchor", json!({}));
    assert_eq!(tier0_open(&rig), Some(true));
    rig.restart();
    assert_eq!(tier0_open(&rig), Some(true));
}

#[test]
fn aud_6_entries_carry_the_trace_that_their_message_came_with() {
    let rig = Rig::start();
    let story = cast(&rig);
    let traced = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    let sent = submission("lotse", "message/1", json!("one"));
    let request = http()
        .post(format!("{}/v1/messages", rig.base))
        .bearer_auth(story.alice_token.expose())
        .header("traceparent", traced)
        .json(&sent.to_value());
    let (status, _, _) = rig.raw(request);
    assert_eq!(status, 201);
    let lease = rig.block(story.agent.claim(&story.target, &"me".parse().unwrap(), 1)).unwrap();
    rig.block(story.agent.read(&story.target, lease.fence, sent.id)).unwrap();
    let of = |input: &str| {
        rig.audited().into_iter().rfind(|entry| entry["input"].get(input).is_some()).unwrap()["trace"].clone()
    };
    assert_eq!(of("admit")["traceparent"], traced);
    assert_eq!(of("read")["traceparent"], traced);
    assert_eq!(of("claim"), Value::Null);
}

#[test]
fn rcp_4_a_thread_is_found_through_an_index() {
    let rig = Rig::start();
    let conn = rusqlite::Connection::open(database(&rig)).unwrap();
    let plan: String = conn
        .query_row(
            "EXPLAIN QUERY PLAN SELECT id FROM message WHERE json_extract(submission, '$.thread') = 'x'",
            [],
            |row| row.get(3),
        )
        .unwrap();
    assert!(plan.contains("message_thread"), "{plan}");
}
