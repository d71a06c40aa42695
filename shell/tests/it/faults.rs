//! What is broken around the program: its store, its files, its port (issue 2, section 6). Each fault is typed, named by
//! rule and file, changes nothing, and loses nothing once it is mended.

use std::collections::BTreeMap;
use std::fs;
use std::io::{Read as _, Seek as _, SeekFrom, Write as _};
use std::os::unix::fs::symlink;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use awakener::client::{Client, ClientError};
use awakener_kernel::wire::Submission;
use awakener_tools::enforces;
use serde_json::{Value, json};

use super::child::{Home, Story, Up, free_port, program, set_mode};
use super::support::{ahead, problem, submission, word};

/// Every file of a state directory but the locks, by its bytes.
fn bytes_of(state: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut open = vec![state.to_owned()];
    while let Some(dir) = open.pop() {
        for entry in fs::read_dir(dir).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                open.push(path);
            } else if path.extension().is_none_or(|end| end != "lock" && end != "db-shm") {
                found.insert(path.clone(), fs::read(path).unwrap_or_default());
            }
        }
    }
    found
}

/// A plane with a story and some mail, stopped.
struct Still {
    home: Home,
    story: Story,
    mail: Vec<Submission>,
}

impl Still {
    fn new() -> Self {
        let home = Home::new(&[]);
        let up = home.up();
        let story = home.story();
        let mut still = Self { home, story, mail: Vec::new() };
        still.send("message/1").unwrap();
        still.send("interrupt-alert/1").unwrap();
        up.stop();
        still
    }

    fn send(&mut self, schema: &str) -> Result<u64, ClientError> {
        let new = submission("lotse", schema, json!(word(self.mail.len() as u64)));
        let admitted = self.home.block(self.home.client(&self.story.alice).submit(&new, None))?;
        self.mail.push(new);
        Ok(admitted.seq)
    }

    fn state(&self) -> PathBuf {
        self.home.state()
    }

    /// It must not start, and nothing of the state may change.
    fn refuses(&self, command: Command, exit: i32, reason: &str, rule: &str) -> String {
        let before = bytes_of(&self.state());
        let (code, said) = self.home.refused(command);
        assert_eq!((code, &said["exit"]), (exit, &json!(exit)), "{said}");
        assert_eq!((&said["reason"], &said["rule"]), (&json!(reason), &json!(rule)), "{said}");
        assert!(said["next"].is_string(), "{said}");
        assert!(bytes_of(&self.state()) == before, "the state is another one: {said}");
        said["error"].as_str().unwrap().to_owned()
    }

    /// Everything that was admitted is there, and more is taken.
    fn serves_again(&mut self) {
        let up = self.home.up();
        self.all_there();
        self.send("interrupt-alert/1").unwrap();
        up.stop();
    }

    fn all_there(&self) {
        for (at, sent) in (1..).zip(&self.mail) {
            let again = self.home.block(self.home.client(&self.story.alice).submit(sent, None)).unwrap();
            assert_eq!((again.seq, again.repeat), (at, true));
        }
    }

    fn db(&self) -> PathBuf {
        self.state().join("plane.db")
    }

    /// Puts the write-ahead log into the file, as a clean stop of SQLite does.
    fn one_file(&self) {
        let store = self.home.store();
        store.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(())).unwrap();
        drop(store);
        let wal = self.state().join("plane.db-wal");
        assert!(fs::metadata(wal).map_or(0, |file| file.len()) == 0);
    }
}

#[test]
fn inb_10_a_second_process_is_told_who_holds_the_store() {
    let mut still = Still::new();
    let up = still.home.up();
    let pid = up.pid();
    let linked = still.home.dir.path().join("other-name");
    symlink(still.state(), &linked).unwrap();
    for state in [still.state(), linked] {
        let (code, said) = still.home.refused(still.home.command_in(&state, free_port()));
        assert_eq!(
            (code, &said["reason"], &said["rule"]),
            (69, &json!("store_held"), &json!("INB-10")),
            "{said}"
        );
        let error = said["error"].as_str().unwrap();
        assert!(error.contains(&format!("pid {pid} ")) && error.contains("plane.db"), "{error}");
    }
    // The first one never noticed, and its lock goes with it.
    still.all_there();
    still.send("message/1").unwrap();
    up.kill();
    still.serves_again();
}

#[test]
fn inb_10_a_store_that_is_not_ours_or_not_whole_is_refused_and_left_alone() {
    let mut still = Still::new();
    still.one_file();
    let good = fs::read(still.db()).unwrap();
    let with = |sql: &str| {
        let file = still.home.dir.path().join("other.db");
        let _ = fs::remove_file(&file);
        if !sql.starts_with("CREATE") {
            fs::write(&file, &good).unwrap();
        }
        let conn = rusqlite::Connection::open(&file).unwrap();
        conn.execute_batch(sql).unwrap();
        drop(conn);
        fs::read(file).unwrap()
    };
    let flipped = {
        let mut bytes = good.clone();
        let middle = bytes.len() / 2 / 4096 * 4096;
        bytes[middle..middle + 64].iter_mut().for_each(|byte| *byte ^= 0x5a);
        bytes
    };
    let table = [
        ("newer", with("PRAGMA user_version = 2"), "store_newer", "layout 2"),
        (
            "foreign",
            with("CREATE TABLE cat (name TEXT); PRAGMA journal_mode = DELETE"),
            "store_foreign",
            "not a store",
        ),
        ("other program", with("PRAGMA application_id = 7"), "store_foreign", "0x7"),
        (
            "no database",
            b"once upon a time there was no database here, and that was that".repeat(200),
            "store_foreign",
            "not a database",
        ),
        ("flipped", flipped, "store_corrupt", ""),
        ("cut", good[..good.len() / 2].to_vec(), "store_corrupt", ""),
        ("emptied", Vec::new(), "store_corrupt", "epoch-floor"),
    ];
    for (what, bytes, reason, says) in table {
        fs::write(still.db(), bytes).unwrap();
        let error = still.refuses(still.home.command(), 78, reason, "INB-10");
        assert!(error.contains("plane.db") && error.contains(says), "{what}: {error}");
    }
    fs::remove_file(still.db()).unwrap();
    let before = bytes_of(&still.state());
    let (code, said) = still.home.refused(still.home.command());
    assert_eq!((code, &said["reason"]), (78, &json!("store_corrupt")), "missing: {said}");
    assert!(bytes_of(&still.state()) == before && !still.db().exists(), "no store was made up");
    fs::write(still.db(), good).unwrap();
    still.serves_again();
}

#[test]
fn emt_2_a_floor_that_cannot_be_read_is_not_zero() {
    let mut still = Still::new();
    let floor = still.state().join("epoch-floor");
    let was: u32 = fs::read_to_string(&floor).unwrap().trim().parse().unwrap();
    for garbage in ["", "many", "-1", "4294967296", "1 2"] {
        fs::write(&floor, garbage).unwrap();
        let (code, said) = still.home.refused(still.home.command());
        let error = said["error"].as_str().unwrap();
        assert_eq!((code, &said["reason"]), (69, &json!("store_unavailable")), "{said}");
        assert!(error.contains("epoch-floor") && error.contains("EMT-2"), "{error}");
        assert_eq!(fs::read_to_string(&floor).unwrap(), garbage, "left as it is");
    }
    // A floor from elsewhere holds: the next epoch is above it, and the file above that of the store.
    fs::write(&floor, "4000\n").unwrap();
    still.serves_again();
    let epochs: Vec<i64> = {
        let store = still.home.store();
        let mut found = store.prepare("SELECT token FROM mint ORDER BY token").unwrap();
        found
            .query_map([], |row| row.get(0))
            .unwrap()
            .map(|token| token.map(|t: i64| t >> 32).unwrap())
            .collect()
    };
    assert_eq!(epochs.last(), Some(&4001), "{epochs:?}, {was}");
    assert_eq!(fs::read_to_string(&floor).unwrap(), "4001\n");
}

#[test]
fn con_1_a_taken_port_a_broken_key_and_a_broken_configuration_are_named() {
    let mut still = Still::new();
    let state = still.state();
    let other = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let taken = other.local_addr().unwrap();
    let error = still.refuses(still.home.command_in(&state, taken.port()), 69, "port_taken", "PRT-3");
    assert!(error.contains(&taken.to_string()), "{error}");
    drop(other);

    for (path, bad, good) in [
        ("keys/router.key", 0o644, 0o600),
        ("keys/audit.key", 0o640, 0o600),
        ("tokens/observer.token", 0o604, 0o600),
        ("keys", 0o755, 0o700),
        ("tokens", 0o750, 0o700),
    ] {
        set_mode(&state.join(path), bad);
        let before = bytes_of(&state);
        let (code, said) = still.home.refused(still.home.command());
        assert_eq!(
            (code, &said["reason"], &said["rule"]),
            (78, &json!("key_mode"), &json!("SPW-6")),
            "{said}"
        );
        assert_eq!(said["place"], json!(state.join(path)));
        assert!(bytes_of(&state) == before);
        set_mode(&state.join(path), good);
    }

    let file = state.join("awakener.toml");
    let good = fs::read_to_string(&file).unwrap();
    for (bad, line, nearest) in [
        ("[limits]\ncooldwn = \"5s\"\n", 2, json!("limits.cooldown")),
        ("[limits]\nlease = \"2h\"\n", 2, Value::Null),
        ("[trial]\npause_at = [\"before_comit\"]\n", 2, json!("before_commit")),
        ("[http\n", 1, Value::Null),
    ] {
        fs::write(&file, format!("{good}\n{bad}")).unwrap();
        let before = bytes_of(&state);
        let (code, said) = still.home.refused(still.home.command());
        assert_eq!((code, &said["rule"]), (78, &said["rule"]), "{said}");
        let problem = &said["problems"][0];
        let at = good.lines().count() + 1 + line;
        assert_eq!((&problem["line"], &problem["nearest"]), (&json!(at), &nearest), "{said}");
        assert_eq!(problem["file"], json!(file), "{said}");
        assert!(bytes_of(&state) == before);
    }
    fs::write(&file, good).unwrap();
    still.serves_again();
}

#[test]
fn cap_2_without_a_sound_manifest_mail_is_served_and_tier_0_is_closed() {
    let mut still = Still::new();
    let file = still.state().join("agents.toml");
    let good = fs::read_to_string(&file).unwrap();
    for broken in [Some("[agents.lotse]\nruntime = \"agentpi\"\n"), None] {
        match broken {
            Some(text) => fs::write(&file, text).unwrap(),
            None => fs::remove_file(&file).unwrap(),
        }
        let up = still.home.up();
        still.all_there();
        still.send("message/1").unwrap();
        let refused = problem(still.send("interrupt-alert/1"));
        assert_eq!(
            (&refused["reason"], &refused["status"]),
            (&json!("tier0_closed"), &json!(503)),
            "{refused}"
        );
        let status = still.home.block(still.home.observer().status()).unwrap();
        assert_eq!(status.tier0_open, Some(false));
        let said = up.stop();
        assert!(said.contains("CAP-2") && said.contains("agents.toml"), "{said}");
        assert!(broken.is_none() || said.contains("agents.toml:2"), "{said}");
    }
    fs::write(&file, good).unwrap();
    still.serves_again();
}

#[test]
fn opr_2_what_stands_in_the_deny_file_is_taken_in_before_anything_is_served() {
    let mut still = Still::new();
    let deny = still.state().join("deny");
    // An act that narrows, as the program itself writes it.
    let line = awakener_kernel::operator::Denial::new(
        awakener_kernel::operator::Act::parse("disarm", &json!({"target": "lotse"})).unwrap(),
        None,
        super::support::now(),
    );
    fs::write(&deny, line.unwrap().line()).unwrap();
    let up = still.home.up();
    let armed = |still: &Still| {
        let status = still.home.block(still.home.observer().status()).unwrap();
        (status.targets.unwrap()[0].armed, status.stopped.unwrap())
    };
    assert_eq!(armed(&still), (false, false));
    assert!(!deny.exists(), "taken in");
    still.send("message/1").unwrap();
    still.home.act("arm", json!({"target": "lotse", "until": ahead(3_600_000)}));
    assert_eq!(armed(&still), (true, false));
    up.stop();
    // It is not taken in twice: what an operator did later stays.
    let up = still.home.up();
    assert_eq!(armed(&still), (true, false));
    up.stop();
    // What cannot be read stops everything, because nobody knows what it was to stop.
    for garbage in [&b"{\"act\":"[..], b"\xff\xfe\x00", b"please stop"] {
        fs::write(&deny, garbage).unwrap();
        let up = still.home.up();
        assert_eq!(armed(&still), (false, true));
        still.all_there();
        still.send("message/1").unwrap();
        let kept = fs::read_dir(still.state()).unwrap().filter(|entry| {
            let path = entry.as_ref().unwrap().path();
            path.extension().is_some_and(|end| end == "taken") && fs::read(path).unwrap() == garbage
        });
        assert_eq!(kept.count(), 1, "the file is kept");
        still.home.act("resume", json!({}));
        assert!(!armed(&still).1);
        up.stop();
    }
}

/// Alters one byte of an entry that no machine needs to come back.
fn tamper(still: &Still) -> i64 {
    let store = still.home.store();
    let (position, entry): (i64, Vec<u8>) = store
        .query_row(
            "SELECT position, entry FROM audit WHERE records = 0 AND machine = 'registry' ORDER BY position LIMIT 1",
            [],
            |row| Ok((row.get(0)?, row.get(1)?)),
        )
        .unwrap();
    let text = String::from_utf8(entry).unwrap();
    let at = text.find("\"wall\":").unwrap() + "\"wall\":".len();
    let mut bytes = text.into_bytes();
    bytes[at + 3] = if bytes[at + 3] == b'9' { b'8' } else { bytes[at + 3] + 1 };
    store
        .execute("UPDATE audit SET entry = ?2 WHERE position = ?1", rusqlite::params![position, bytes])
        .unwrap();
    position
}

#[test]
fn aud_5_a_tampered_chain_closes_tier_0_until_an_operator_re_anchors() {
    let mut still = Still::new();
    for round in 0..2 {
        let position = tamper(&still);
        let up = still.home.up();
        // The inbox serves.
        still.all_there();
        still.send("message/1").unwrap();
        let refused = problem(still.send("interrupt-alert/1"));
        assert_eq!(refused["reason"], "tier0_closed", "{refused}");
        let status = still.home.block(still.home.observer().status()).unwrap();
        assert_eq!(status.tier0_open, Some(false));
        // Anybody sees the break in the export, at its place.
        let mut verify = program(&still.state(), &["--json"]);
        verify.args(["audit", "verify", "--url", &still.home.base()]);
        let output = verify.output().unwrap();
        let said: Value = serde_json::from_slice(&output.stderr).unwrap();
        assert_eq!((output.status.code(), &said["reason"]), (Some(65), &json!("chain_broken")), "{said}");
        assert!(said["error"].as_str().unwrap().contains(&format!("record {position} ")), "{said}");
        still.home.act("reanchor", json!({}));
        let status = still.home.block(still.home.observer().status()).unwrap();
        assert_eq!(status.tier0_open, Some(true));
        still.send("interrupt-alert/1").unwrap();
        let named = still
            .home
            .audited()
            .into_iter()
            .filter(|(_, entry)| entry["outcome"]["reanchored"]["break"]["position"] == position);
        assert_eq!(named.count(), round + 1, "the new segment names the break");
        let said = up.stop();
        assert!(said.contains("AUD-5") && said.contains(&format!("entry {position}:")), "{said}");
        // What an operator has seen stays seen; another alteration at the same place does not pass for it.
        still.serves_again();
    }
}

/// `up` under a limit on the size of files that can be moved from outside. What is too much is an error for it, and no
/// signal.
fn limited(home: &Home) -> Up {
    let plain = home.command();
    let mut command = Command::new("sh");
    command.args(["-c", "trap '' XFSZ; exec \"$0\" \"$@\""]).arg(plain.get_program()).args(plain.get_args());
    for (name, value) in plain.get_envs() {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    let mut up = Up::start(command);
    up.serves(home);
    up
}

fn limit(up: &Up, bytes: Option<u64>) {
    use rustix::process::{Pid, Resource, Rlimit, prlimit};
    let limit = Rlimit { current: bytes, maximum: None };
    prlimit(Pid::from_raw(up.pid()), Resource::Fsize, limit).unwrap();
}

#[test]
fn adm_10_without_room_on_the_disk_nothing_is_admitted_and_nothing_is_lost() {
    let mut still = Still::new();
    let up = limited(&still.home);
    still.send("message/1").unwrap();
    let wal = || fs::metadata(still.state().join("plane.db-wal")).unwrap().len();
    // Not a byte more than it has now.
    limit(&up, Some(wal()));
    let mut refused = Vec::new();
    let mut open = Vec::new();
    for n in 0..4 {
        let new = submission("lotse", "message/1", json!(format!("no room {}", word(n))));
        let asked = Instant::now();
        let answer = still.home.block(still.home.client(&still.story.alice).submit(&new, None));
        assert!(asked.elapsed() < Duration::from_secs(5), "an answer does not wait for room");
        refused.push(problem(answer)["reason"].as_str().unwrap().to_owned());
        open.push(new);
    }
    assert!(
        refused.iter().all(|reason| reason == "store_unavailable" || reason == "outcome_unknown"),
        "{refused:?}"
    );
    assert!(refused.contains(&"store_unavailable".to_owned()), "{refused:?}");
    // Narrowing acts all the same.
    let anybody = Client::new(&still.home.base(), "").unwrap();
    let disarm = still.home.signed("disarm", json!({"target": "lotse"}));
    let said = problem(still.home.block(anybody.operator(&disarm)));
    assert_eq!(said["reason"], "store_unavailable");
    assert!(said["detail"].as_str().unwrap().contains("deny file"), "{said}");
    assert!(still.state().join("deny").exists());
    // With room again everything goes on, without a restart; what had no answer is in exactly once.
    limit(&up, None);
    let end = Instant::now() + Duration::from_secs(10);
    for new in open {
        let seq = loop {
            match still.home.block(still.home.client(&still.story.alice).submit(&new, None)) {
                Ok(admitted) => break admitted.seq,
                Err(error) => assert!(Instant::now() < end, "{error}"),
            }
            std::thread::sleep(Duration::from_millis(50));
        };
        still.mail.push(new);
        assert_eq!(seq, still.mail.len() as u64, "gapless");
    }
    assert!(!still.state().join("deny").exists());
    let status = still.home.block(still.home.observer().status()).unwrap();
    assert_eq!((status.tier0_open, status.targets.unwrap()[0].armed), (Some(true), false));
    still.home.act("arm", json!({"target": "lotse", "until": ahead(3_600_000)}));
    // Tier-0 is admitted and minted as before.
    let minted = |still: &Still| -> i64 {
        still.home.store().query_row("SELECT count(*) FROM mint", [], |row| row.get(0)).unwrap()
    };
    let before = minted(&still);
    still.send("interrupt-alert/1").unwrap();
    let end = Instant::now() + Duration::from_secs(5);
    while minted(&still) == before {
        assert!(Instant::now() < end, "nothing is minted any more");
        std::thread::sleep(Duration::from_millis(20));
    }
    still.all_there();
    up.stop();
    still.serves_again();
}

#[test]
fn inb_10_a_directory_that_cannot_be_written_is_said_and_left_alone() {
    let mut still = Still::new();
    let state = still.state();
    // For root nothing is unwritable, so the program runs as somebody who owns the directory and lost the right.
    let mut command = still.home.command();
    let root = rustix::process::geteuid().is_root();
    if root {
        for path in bytes_of(&state).into_keys().chain(["", "keys", "tokens"].map(|dir| state.join(dir))) {
            std::os::unix::fs::chown(path, Some(65_534), Some(65_534)).unwrap();
        }
        let lock = state.join("plane.lock");
        std::os::unix::fs::chown(&lock, Some(65_534), Some(65_534)).unwrap();
        set_mode(still.home.dir.path(), 0o755);
        command.uid(65_534).gid(65_534);
    }
    let lock = state.join("plane.lock");
    fs::remove_file(&lock).unwrap();
    set_mode(&state, 0o500);
    let (code, said) = still.home.refused(command);
    set_mode(&state, 0o700);
    assert_eq!((code, &said["reason"]), (69, &json!("store_unavailable")), "{said}");
    assert!(said["error"].as_str().unwrap().contains("plane."), "{said}");
    if root {
        for path in bytes_of(&state).into_keys().chain(["", "keys", "tokens"].map(|dir| state.join(dir))) {
            std::os::unix::fs::chown(path, Some(0), Some(0)).unwrap();
        }
    }
    still.serves_again();
}

enforces! {
    [Aud5]
    fn aud_5_a_byte_on_the_disk_itself_is_found(_seen) {
        // The same as tampering through SQL, past it: one bit in the bytes of an entry.
        let still = Still::new();
        still.one_file();
        let entry: Vec<u8> = still
            .home
            .store()
            .query_row("SELECT entry FROM audit WHERE position = 1", [], |row| row.get(0))
            .unwrap();
        still.one_file();
        let bytes = fs::read(still.db()).unwrap();
        let at = bytes.windows(entry.len()).position(|part| part == entry).unwrap();
        let wall = String::from_utf8_lossy(&entry).find("\"wall\":").unwrap() + 10;
        let mut file = fs::OpenOptions::new().read(true).write(true).open(still.db()).unwrap();
        let mut byte = [0];
        let offset = SeekFrom::Start((at + wall) as u64);
        file.seek(offset).unwrap();
        file.read_exact(&mut byte).unwrap();
        file.seek(offset).unwrap();
        file.write_all(&[byte[0] ^ 1]).unwrap();
        drop(file);
        let up = still.home.up();
        let status = still.home.block(still.home.observer().status()).unwrap();
        assert_eq!(status.tier0_open, Some(false));
        let found = still.home.audited();
        let stored: Vec<Vec<u8>> =
            found.iter().map(|(_, entry)| awakener_kernel::json::canonical(entry)).collect();
        let broken = awakener_kernel::audit::verify(stored.iter().map(Vec::as_slice)).unwrap_err();
        assert_eq!(broken.position, 2, "the next entry does not carry the hash of this one");
        up.stop();
    }
}
