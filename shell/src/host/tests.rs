//! A commit that took place and reports an error all the same, which SQLite allows a write-ahead hook to do; and one that
//! is turned into a rollback (ADM-2).

use awakener_kernel::config::Config;
use awakener_kernel::ids::ContentHash;
use awakener_kernel::machine::{Machine as _, Outcome};
use awakener_kernel::registry::{Input, Registry, Running};
use awakener_kernel::time::Wall;

use super::*;

fn enrol(seed: u8) -> Item<Registry> {
    let key =
        |seed: u8| awakener_kernel::wire::public_key(&ed25519_dalek::SigningKey::from_bytes(&[seed; 32]));
    let input = Input::Enrol {
        plane: "trial".parse().unwrap(),
        operator: "op".parse().unwrap(),
        key: key(seed),
        audit: key(seed + 1),
        router: None,
    };
    Item { target: String::new(), input, statement: None }
}

fn start(number: u8) -> Item<Registry> {
    let running = Running { binary: ContentHash([number; 32]), config: ContentHash([7; 32]) };
    Item { target: String::new(), input: Input::Start { running, roster: None }, statement: None }
}

const NOW: Now = Now { wall: Wall(1_000), mono: Mono(1) };

fn step(
    host: &mut Host<Registry>,
    db: &mut Db,
    items: Vec<Item<Registry>>,
) -> Result<Done<Registry>, Failed> {
    host.batch(db, NOW, items, |_, _, _, _| Ok(awakener_kernel::operator::Found::Nothing))
}

fn fresh(dir: &std::path::Path) -> (Db, Host<Registry>) {
    let mut db = Db::open(&dir.join("plane.db"), ContentHash([0; 32])).unwrap();
    let mut host = Host::boot(&mut db, Config::default(), NOW).unwrap();
    host.ensure(&mut db, "", NOW).unwrap();
    assert!(step(&mut host, &mut db, vec![enrol(1)]).is_ok());
    (db, host)
}

/// Called once the commit is in the log; SQLite hands the error on as that of the commit.
fn lies(_: &mut rusqlite::hooks::Wal, _: i32) -> rusqlite::Result<()> {
    Err(rusqlite::Error::InvalidQuery)
}

fn entries(db: &Db) -> i64 {
    db.conn().query_row("SELECT count(*) FROM audit", [], |row| row.get(0)).unwrap()
}

#[test]
fn adm_2_a_commit_that_took_place_and_reports_an_error_is_of_unknown_fate_and_stays() {
    let dir = tempfile::tempdir().unwrap();
    let (mut db, mut host) = fresh(dir.path());
    let before = entries(&db);
    db.conn_mut().wal_hook(Some(lies)).unwrap();
    let failed = step(&mut host, &mut db, vec![start(1), start(2)]).unwrap_err();
    assert!(matches!(failed, Failed::Unknown(_)), "{failed:?}");
    // Nothing of it can be seen, and nothing can be done with this handle any more.
    assert!(db.poisoned() && host.machine("").is_none());
    let refused = step(&mut host, &mut db, vec![start(3)]).unwrap_err();
    assert!(matches!(&refused, Failed::NotDurable(fault) if fault.reason == Reason::StoreUnavailable));
    // What the file says is what is true: it took place.
    db.reopen().unwrap();
    assert_eq!(entries(&db), before + 2);
    let mut host: Host<Registry> = Host::boot(&mut db, Config::default(), NOW).unwrap();
    let running = host.machine("").unwrap().image().running.unwrap();
    assert_eq!(running.binary, ContentHash([2; 32]));
    // The same again changes nothing that is recorded; the chain goes on behind it.
    let done = step(&mut host, &mut db, vec![start(2)]).unwrap();
    assert!(matches!(done.outcomes.as_slice(), [Outcome::Advanced(_)]), "{:?}", done.outcomes);
    assert_eq!(host.machine("").unwrap().image().running, Some(running));
    crate::plane::queries::chain(db.conn()).unwrap();
}

#[test]
fn adm_2_a_commit_that_was_rolled_back_leaves_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let (mut db, mut host) = fresh(dir.path());
    let (before, head) = (entries(&db), db.head());
    db.conn_mut().commit_hook(Some(|| true)).unwrap();
    let failed = step(&mut host, &mut db, vec![start(1)]).unwrap_err();
    assert!(matches!(failed, Failed::Unknown(_)), "{failed:?}");
    db.reopen().unwrap();
    assert_eq!((entries(&db), db.head()), (before, head));
    let mut host: Host<Registry> = Host::boot(&mut db, Config::default(), NOW).unwrap();
    assert_eq!(host.machine("").unwrap().image().running, None);
    // The control: the same without the hook.
    step(&mut host, &mut db, vec![start(1)]).unwrap();
    assert!(host.machine("").unwrap().image().running.is_some());
    crate::plane::queries::chain(db.conn()).unwrap();
}

#[test]
fn adm_10_facts_that_cannot_be_had_take_the_whole_batch_and_the_machine_comes_back() {
    let dir = tempfile::tempdir().unwrap();
    let (mut db, mut host) = fresh(dir.path());
    let before = entries(&db);
    let mut asked = 0;
    let failed = host.batch(&mut db, NOW, vec![start(1), start(2)], |db, _, _, _| {
        asked += 1;
        if asked == 2 {
            return Err(db.fault(Reason::StoreUnavailable, &"not now"));
        }
        Ok(awakener_kernel::operator::Found::Nothing)
    });
    assert!(matches!(failed, Err(Failed::NotDurable(_))));
    assert_eq!(host.machine("").unwrap().image().running, None, "as it is on disk");
    // Only the recovery is recorded.
    assert_eq!(entries(&db), before + 1);
    step(&mut host, &mut db, vec![start(1)]).unwrap();
    crate::plane::queries::chain(db.conn()).unwrap();
}
