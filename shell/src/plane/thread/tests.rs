//! A store without room, which only its own connection can be told about (ADM-2, ADM-10).

use awakener_kernel::config::Config;
use awakener_kernel::operator::{Act, Command};
use awakener_kernel::registry::Running;
use awakener_kernel::registry::image::Held;
use awakener_kernel::router::Routes;
use awakener_kernel::time::Millis;
use awakener_kernel::wire::Submission;
use serde_json::{Value, json};

use awakener_kernel::ids::ContentHash;

use super::*;

mod growth;
mod hostile;

fn setup(state: &std::path::Path) -> Setup {
    let key = |seed| ed25519_dalek::SigningKey::from_bytes(&[seed; 32]);
    let public = |seed| awakener_kernel::wire::public_key(&key(seed));
    Setup {
        state: state.to_owned(),
        limits: Config::default().checked().unwrap(),
        routes: Routes::default(),
        config_hash: ContentHash([7; 32]),
        enrolment: Some(registry::Input::Enrol {
            plane: "trial".parse().unwrap(),
            operator: "op".parse().unwrap(),
            key: public(1),
            audit: public(2),
            router: None,
        }),
        running: Running { binary: ContentHash([1; 32]), config: ContentHash([7; 32]) },
        router_key: key(3),
        audit_key: key(2),
        manifest_accepted: true,
        pause: None,
        publish: tokio::sync::mpsc::channel(1).0,
    }
}

fn register(act: &str, subject: &Value) -> Op {
    let now = crate::clock::system();
    let command = Command {
        id: awakener_kernel::ids::CommandId::from_parts(now.0, [5; 10]),
        plane: "trial".parse().unwrap(),
        key: awakener_kernel::wire::public_key(&ed25519_dalek::SigningKey::from_bytes(&[1; 32])).key_id(),
        not_after: now + Millis::seconds(60),
        expected_state: None,
        reason: "a test".to_owned(),
        act: Act::parse(act, subject).unwrap(),
    };
    Op::Command(Box::new(Presented { command: Some(command), signature_valid: true, raw: String::new() }))
}

fn submit(n: u8) -> Op {
    let now = crate::clock::system();
    let word: String = char::from(b'a' + n % 26).to_string().repeat(usize::from(n) + 1);
    let submission = Submission::from_value(&json!({
        "id": awakener_kernel::ids::MessageId::from_parts(now.0, [n; 10]),
        "thread": awakener_kernel::ids::ThreadId::from_parts(now.0, [n; 10]),
        "target": "lotse", "schema": "message/1", "priority": "normal", "intent": "test",
        "response_expectation": "none", "body": {"word": word, "weight": "x".repeat(20_000)},
    }));
    let held = Held {
        principal: "alice".parse().unwrap(),
        may_read: std::collections::BTreeSet::new(),
        acts_for: None,
        revoked: None,
    };
    let submission = submission.unwrap();
    Op::Submit(Box::new(Submit::new(held, submission, None, None)))
}

fn other(plane: &Plane) -> rusqlite::Connection {
    rusqlite::Connection::open(plane.path()).unwrap()
}

/// One operation, while the test itself is the thread.
fn ask(plane: &Plane, thread: &mut Thread, ops: Vec<Op>) -> Vec<Result<Reply, Refused>> {
    let answers: Vec<_> = ops
        .into_iter()
        .map(|op| {
            let (sender, receiver) = tokio::sync::oneshot::channel();
            plane.ops.try_send((op, sender)).unwrap();
            receiver
        })
        .collect();
    let calls = thread.ops.try_iter().collect();
    thread.serve(calls);
    answers.into_iter().map(|mut answer| answer.try_recv().unwrap()).collect()
}

#[tokio::test]
async fn adm_10_a_full_store_refuses_loses_nothing_and_goes_on_when_there_is_room() {
    let dir = tempfile::tempdir().unwrap();
    let (plane, thread) = open(setup(dir.path())).unwrap();
    let other = rusqlite::Connection::open(plane.path()).unwrap();
    other
        .execute_batch("CREATE TABLE ballast (x BLOB); INSERT INTO ballast VALUES (zeroblob(400000));")
        .unwrap();
    let pages: i64 = other.pragma_query_value(None, "page_count", |row| row.get(0)).unwrap();
    // Room for some messages, then none: SQLite itself answers that the database is full.
    thread.db.conn().pragma_update(None, "max_page_count", pages + 60).unwrap();
    let running = std::thread::spawn(move || thread.run());
    plane.call(register("register_target", &json!({"target": "lotse"}))).await.unwrap();
    let stored = || -> i64 { other.query_row("SELECT count(*) FROM message", [], |row| row.get(0)).unwrap() };
    let mut admitted = 0;
    let refused = loop {
        match plane.call(submit(admitted)).await {
            Ok(_) => admitted += 1,
            Err(refused) => break refused,
        }
        assert!(admitted < 60, "the store was never full");
    };
    assert_eq!(refused.reason, Reason::StoreUnavailable, "{}", refused.detail);
    assert!(refused.detail.contains("full"), "{}", refused.detail);
    assert!(admitted > 0);
    assert_eq!(stored(), i64::from(admitted));
    // Still so, and still whole.
    assert_eq!(plane.call(submit(admitted)).await.unwrap_err().reason, Reason::StoreUnavailable);
    super::super::queries::chain(&other).unwrap();
    other.execute_batch("DELETE FROM ballast").unwrap();
    let Ok(Reply::Mailbox(reply)) = plane.call(submit(admitted)).await else { panic!("no room was made") };
    let Outcome::Advanced(Event::Admitted { seq, .. }) = reply.outcome else { panic!("{:?}", reply.outcome) };
    assert_eq!(seq.get(), u64::from(admitted) + 1);
    assert_eq!(stored(), i64::from(admitted) + 1);
    super::super::queries::chain(&other).unwrap();
    drop(plane);
    running.join().unwrap();
}
