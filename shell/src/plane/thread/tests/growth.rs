//! What a request asks of SQLite, in steps of its virtual machine: the same with a short and with a long history. Counted
//! and not timed, so that it says the same on every machine.

use std::sync::atomic::{AtomicU64, Ordering};

use awakener_kernel::ids::MessageId;

use super::*;
use crate::plane::queries::{self, ReceiptQuery, Scope};
use crate::plane::work;

/// Steps of everything that runs on a connection from now on.
fn meter(conn: &mut rusqlite::Connection) -> Arc<AtomicU64> {
    let steps = Arc::new(AtomicU64::new(0));
    let count = Arc::clone(&steps);
    let handler = move || {
        count.fetch_add(1, Ordering::Relaxed);
        false
    };
    conn.progress_handler(1, Some(handler)).unwrap();
    steps
}

fn mail(n: usize) -> (MessageId, Op) {
    let now = crate::clock::system();
    let mut random = [0; 10];
    random[..8].copy_from_slice(&(n as u64).to_be_bytes());
    let id = MessageId::from_parts(now.0, random);
    let text: String = n.to_string().bytes().map(|digit| char::from(digit - b'0' + b'a')).collect();
    let submission = Submission::from_value(&json!({
        "id": id, "thread": awakener_kernel::ids::ThreadId::from_parts(now.0, random),
        "target": "lotse", "schema": "message/1", "priority": "normal", "intent": "test",
        "response_expectation": "none", "body": {"word": text},
    }));
    let held = Held {
        principal: "alice".parse().unwrap(),
        may_read: BTreeSet::new(),
        acts_for: None,
        revoked: None,
    };
    (id, Op::Submit(Box::new(Submit::new(held, submission.unwrap(), None, None))))
}

/// The cost of each kind of request in an inbox of so many messages.
fn costs(messages: usize) -> Vec<(&'static str, u64)> {
    let dir = tempfile::tempdir().unwrap();
    let (plane, mut thread) = open(setup(dir.path())).unwrap();
    ask(&plane, &mut thread, vec![register("register_target", &json!({"target": "lotse"}))]);
    let mut last = None;
    let all: Vec<usize> = (0..messages).collect();
    for wave in all.chunks(BATCH) {
        let (ids, ops): (Vec<_>, Vec<_>) = wave.iter().map(|n| mail(*n)).unzip();
        for answer in ask(&plane, &mut thread, ops) {
            let Ok(Reply::Mailbox(reply)) = answer else { panic!("{answer:?}") };
            assert!(
                matches!(reply.outcome, Outcome::Advanced(Event::Admitted { .. })),
                "{:?}",
                reply.outcome
            );
        }
        last = ids.last().copied();
    }
    let (target, last) = (Target::parse("lotse").unwrap(), last.unwrap());
    let mut found = Vec::new();

    let steps = meter(thread.db.conn_mut());
    let mut of_thread = |name, op| {
        let before = steps.load(Ordering::Relaxed);
        let answer = ask(&plane, &mut thread, vec![op]).remove(0);
        let Ok(Reply::Mailbox(reply)) = answer else { panic!("{answer:?}") };
        assert!(matches!(reply.outcome, Outcome::Advanced(_)), "{name}: {:?}", reply.outcome);
        found.push((name, steps.load(Ordering::Relaxed) - before));
    };
    of_thread("admission", mail(messages).1);
    let claim = Input::Claim { holder: Holder::parse("me").unwrap(), max: 5 };
    of_thread("claim", Op::Mailbox { target: target.clone(), input: Box::new(claim), statement: None });

    let mut reader = other(&plane);
    // A long history is mostly over.
    let kept = 20;
    let over = i64::try_from(messages - kept).unwrap();
    reader.execute("UPDATE message SET finished = 1 WHERE seq <= ?1", [over]).unwrap();
    let steps = meter(&mut reader);
    let mut of_reader = |name, look: &dyn Fn(&rusqlite::Connection)| {
        let before = steps.load(Ordering::Relaxed);
        look(&reader);
        found.push((name, steps.load(Ordering::Relaxed) - before));
    };
    of_reader("open work", &|conn| assert_eq!(work::open(conn, &target, 5).unwrap().len(), 5));
    of_reader("edges", &|conn| assert_eq!(work::edges(conn, &target).unwrap().0, over.unsigned_abs()));
    of_reader("page at the tail", &|conn| {
        let from = crate::http::wire::requests::ReadFrom::Tail;
        queries::page(conn, &target, &from, 5, &Config::default()).unwrap();
    });
    let query = ReceiptQuery {
        message: Some(last),
        target: Some(target.clone()),
        limit: 10,
        ..ReceiptQuery::default()
    };
    of_reader("receipts", &|conn| {
        assert!(!queries::receipts(conn, &query, &Scope::All).unwrap().receipts.is_empty());
    });
    of_reader("the control, which counts an inbox", &|conn| {
        conn.query_row("SELECT count(*) FROM message WHERE target = 'lotse'", [], |row| row.get::<_, i64>(0))
            .unwrap();
    });
    found
}

#[test]
fn prt_1_no_request_looks_through_what_is_over() {
    let (short, long) = (costs(60), costs(3_000));
    for ((name, short), (_, long)) in short.iter().zip(&long) {
        // A deeper tree takes a few more steps; thirty times as many messages are no few.
        let same = *long <= short * 2 + 200;
        assert!(*short > 0 && same != name.contains("control"), "{name}: {short} steps, then {long}");
    }
}
