//! Stores and files that turn against the thread: what is owed, narrowed or asked for by others outlives it.

use awakener_kernel::mailbox::input::Refusal;

use super::*;

#[test]
fn opr_2_a_deny_file_that_cannot_be_read_stops_everything_and_stays() {
    let dir = tempfile::tempdir().unwrap();
    // Reading a directory fails, whoever asks.
    std::fs::create_dir(dir.path().join("deny")).unwrap();
    let (_, thread) = open(setup(dir.path())).unwrap();
    assert!(thread.registry().unwrap().image().stopped);
    assert!(dir.path().join("deny").exists(), "what it says was never taken in");
    // One that can be read is taken in, once, and put aside.
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("deny"), Denial::stop_all().line()).unwrap();
    let (_, thread) = open(setup(dir.path())).unwrap();
    assert!(thread.registry().unwrap().image().stopped);
    assert!(!dir.path().join("deny").exists());
}

#[test]
fn opr_2_what_narrows_acts_also_when_the_registry_cannot_be_read_any_more() {
    let dir = tempfile::tempdir().unwrap();
    let (plane, mut thread) = open(setup(dir.path())).unwrap();
    other(&plane).execute_batch("ALTER TABLE audit RENAME TO gone").unwrap();
    let refused = ask(&plane, &mut thread, vec![register("register_target", &json!({"target": "lotse"}))]);
    assert!(refused[0].is_err());
    assert!(thread.registry().is_err(), "the registry is still there");
    assert!(!dir.path().join("deny").exists(), "what widens is not denied");
    let refused = ask(&plane, &mut thread, vec![register("stop_all", &json!({}))]);
    assert!(refused[0].is_err());
    let denied = std::fs::read_to_string(dir.path().join("deny")).unwrap();
    assert!(denied.contains("stop_all"), "{denied}");
}

#[tokio::test]
async fn opr_2_a_store_that_forgets_a_commit_while_denials_wait_comes_back() {
    let dir = tempfile::tempdir().unwrap();
    let (plane, mut thread) = open(setup(dir.path())).unwrap();
    // For two seconds commits fail, and not because of anything in the transaction that the thread could see.
    let until = crate::clock::system().0 / 1_000 + 2;
    other(&plane)
        .execute_batch(&format!(
            "CREATE TABLE parent (id INTEGER PRIMARY KEY);
             CREATE TABLE child (id INTEGER REFERENCES parent DEFERRABLE INITIALLY DEFERRED);
             CREATE TRIGGER late AFTER INSERT ON audit WHEN unixepoch() < {until}
             BEGIN INSERT INTO child VALUES (1); END;"
        ))
        .unwrap();
    files::deny(dir.path(), &Denial::stop_all()).unwrap();
    thread.denied = true;
    let running = std::thread::spawn(move || thread.run());
    let first = plane.call(submit(1)).await.unwrap_err();
    assert_eq!(first.reason, Reason::OutcomeUnknown, "{}", first.detail);
    let deadline = std::time::Instant::now() + Duration::from_secs(20);
    loop {
        match tokio::time::timeout(Duration::from_secs(20), plane.call(Op::Overview)).await.unwrap() {
            Ok(Reply::Overview(overview)) => {
                assert!(overview.registry.image().stopped);
                break;
            }
            Ok(other) => panic!("{other:?}"),
            Err(_) => assert!(std::time::Instant::now() < deadline, "the store never came back"),
        }
    }
    drop(plane);
    running.join().unwrap();
}

#[test]
fn adm_10_a_row_that_cannot_be_read_is_nobody_elses_failure() {
    let dir = tempfile::tempdir().unwrap();
    let (plane, mut thread) = open(setup(dir.path())).unwrap();
    for target in ["lotse", "mira"] {
        ask(&plane, &mut thread, vec![register("register_target", &json!({"target": target}))]);
    }
    let admitted = ask(&plane, &mut thread, vec![submit(1)]);
    assert!(admitted[0].is_ok());
    let conn = other(&plane);
    let id: String = conn.query_row("SELECT id FROM message", [], |row| row.get(0)).unwrap();
    conn.execute_batch("UPDATE message SET entry = 'torn'").unwrap();
    let read = |target: &str| Op::Mailbox {
        target: target.parse().unwrap(),
        input: Box::new(Input::Read { fence: Fence::default(), message: id.parse().unwrap() }),
        statement: None,
    };
    let answers = ask(&plane, &mut thread, vec![read("lotse"), read("mira"), submit(2)]);
    let torn = answers[0].as_ref().unwrap_err();
    assert_eq!(torn.reason, Reason::StoreCorrupt, "{}", torn.detail);
    let Ok(Reply::Mailbox(other)) = &answers[1] else { panic!("{:?}", answers[1]) };
    assert_eq!(other.outcome, Outcome::Refused(Refusal::Because(Reason::LostLease)));
    let Ok(Reply::Mailbox(later)) = &answers[2] else { panic!("{:?}", answers[2]) };
    assert!(matches!(later.outcome, Outcome::Advanced(Event::Admitted { .. })), "{:?}", later.outcome);
    super::super::super::queries::chain(&conn).unwrap();
}

#[test]
fn emt_4_what_is_owed_outlives_a_store_that_is_busy() {
    let dir = tempfile::tempdir().unwrap();
    let (plane, mut thread) = open(setup(dir.path())).unwrap();
    ask(&plane, &mut thread, vec![register("register_target", &json!({"target": "lotse"}))]);
    let wake = WakeId::from_parts(1, [1; 10]);
    thread.owed.push(("lotse".parse().unwrap(), Input::Published { wake, handed_over: false }));
    let conn = other(&plane);
    conn.execute_batch("BEGIN IMMEDIATE").unwrap();
    thread.fire();
    assert_eq!(thread.owed.len(), 1, "the fate of a publication is forgotten");
    conn.execute_batch("ROLLBACK").unwrap();
    thread.fire();
    assert!(thread.owed.is_empty());
}

#[test]
fn emt_6_a_last_instant_that_cannot_be_read_is_not_the_beginning_of_time() {
    let dir = tempfile::tempdir().unwrap();
    let (plane, thread) = open(setup(dir.path())).unwrap();
    let conn = other(&plane);
    drop((plane, thread));
    conn.execute_batch("UPDATE meta SET value = 'soon' WHERE key = 'last_wall'").unwrap();
    drop(conn);
    let again = Setup { enrolment: None, ..setup(dir.path()) };
    assert_eq!(open(again).err().map(|refused| refused.reason), Some(Reason::StoreCorrupt));
}

#[test]
fn aud_5_while_a_long_chain_is_verified_tier_0_is_closed_and_nothing_else() {
    let dir = tempfile::tempdir().unwrap();
    let (plane, mut thread) = open(setup(dir.path())).unwrap();
    ask(&plane, &mut thread, vec![register("register_target", &json!({"target": "lotse"}))]);
    let open_now = |thread: &Thread| thread.registry().unwrap().tier0_open();
    assert!(open_now(&thread));
    let walk = |thread: &mut Thread| {
        thread.verify_chain(0).unwrap();
        assert!(!open_now(thread), "open before anything is known");
        assert!(ask(&plane, thread, vec![submit(1)])[0].is_ok());
        let deadline = std::time::Instant::now() + Duration::from_secs(20);
        while thread.walking.is_some() {
            assert!(std::time::Instant::now() < deadline, "the walk never ends");
            thread.chain_verified();
            std::thread::yield_now();
        }
    };
    walk(&mut thread);
    assert!(open_now(&thread));
    other(&plane).execute_batch("UPDATE audit SET entry = CAST('{}' AS BLOB) WHERE position = 2").unwrap();
    walk(&mut thread);
    assert!(!open_now(&thread), "a broken chain opens Tier-0");
}
