//! Backups that are restored under a wake daemon that has seen more than they hold.
//!
//! The daemon has a state directory of its own, as on another machine: what it accepted is never restored. Rules: EMT-1,
//! EMT-2, DSP-11.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use serde_json::Value;

use super::{Ends, Machine, until};

fn copied(from: &Path, to: &Path) {
    assert!(Command::new("cp").arg("-a").arg(from).arg(to).status().unwrap().success());
}

/// A plane and a daemon with a past: a backup was taken, and after it the plane was started three times more and the
/// daemon has accepted hints of the last start.
struct Past {
    machine: Machine,
    address: String,
    backup: PathBuf,
    /// The greatest token that the daemon has accepted.
    high_water: i64,
}

impl Past {
    fn new() -> Self {
        let address = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().to_string();
        let mut machine = Machine::made();
        machine.settings = vec![
            "wake.enabled=false".to_owned(),
            "limits.sweep=1s".to_owned(),
            "limits.attempts=20".to_owned(),
            format!("wake.plane=http://{}", machine.listen),
            format!("wake.listen={address}"),
            "broker.kind=http".to_owned(),
            format!("broker.push=http://{address}/v1/hints"),
        ];
        let manifest = machine.state().join("agents.toml");
        let agents = "\n[agents.lotse]\nruntime = \"fake\"\noutcome = \"notified_verified\"\nheadless = true\n\
                      tier0_ack = true\ncooldown = \"1s\"\n";
        fs::write(&manifest, fs::read_to_string(&manifest).unwrap() + agents).unwrap();
        copied(&machine.state(), &machine.dir.path().join("elsewhere"));
        machine.start();
        machine.register();
        let mut past = Self { backup: machine.dir.path().join("backup"), machine, address, high_water: 0 };
        // What comes before the backup: an alert that is woken for and acknowledged.
        let mut wake = past.wake();
        past.served("before the backup");
        past.machine.stop();
        copied(&past.machine.state(), &past.backup);
        for _ in 0..3 {
            past.machine.start();
            past.served("after the backup");
            past.machine.stop();
        }
        past.high_water = past.accepted();
        wake.stop();
        past
    }

    fn wake(&self) -> Ends {
        let mut command = self.machine.command(&["wake"]);
        command.env("AWAKENER_STATE", self.machine.dir.path().join("elsewhere"));
        Ends(command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap())
    }

    /// An alert is woken for by this daemon, read and acknowledged.
    fn served(&self, about: &str) {
        let machine = &self.machine;
        let before = self.notified();
        let id = machine.alert(about);
        until("it is notified", || (self.notified() > before).then_some(()));
        self.done(&id);
    }

    fn done(&self, id: &str) {
        let machine = &self.machine;
        let fence = until("it can be claimed", || {
            let claimed = machine.run(&["claim", "lotse", "--as", "lotse", "--max", "10", "--json"]);
            let value: Value = serde_json::from_str(claimed.out.lines().next()?).ok()?;
            Some(value["fence"].to_string())
        });
        machine.ok(&["read", id, "--target", "lotse", "--fence", &fence, "--as", "lotse"]);
        machine.ok(&["release", "lotse", "--fence", &fence, "--as", "lotse"]);
        machine.ok(&["ack", id, "--target", "lotse", "--outcome", "handled", "--as", "lotse"]);
    }

    fn number(&self, store: &str, sql: &str) -> i64 {
        let store = rusqlite::Connection::open(self.machine.dir.path().join(store)).unwrap();
        store.busy_timeout(Duration::from_secs(5)).unwrap();
        store.query_row(sql, [], |row| row.get(0)).unwrap()
    }

    fn notified(&self) -> i64 {
        self.number("state/plane.db", "SELECT count(*) FROM receipt WHERE kind = 'runtime_notified'")
    }

    fn minted(&self) -> i64 {
        self.number("state/plane.db", "SELECT count(*) FROM mint")
    }

    fn last_token(&self) -> i64 {
        self.number("state/plane.db", "SELECT max(CAST(token AS INTEGER)) FROM mint")
    }

    /// The greatest token that the daemon has accepted, from its own status.
    fn accepted(&self) -> i64 {
        until("the daemon says", || self.status()?["targets"][0]["high_water"].as_i64())
    }

    fn status(&self) -> Option<Value> {
        let token = fs::read_to_string(self.machine.state().join("tokens/observer.token")).unwrap();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let url = format!("http://{}/v1/status", self.address);
            let answer = crate::support::http().get(url).bearer_auth(token.trim()).send().await.ok()?;
            serde_json::from_slice(&answer.bytes().await.ok()?).ok()
        })
    }

    fn restore_whole(&self) {
        fs::remove_dir_all(self.machine.state()).unwrap();
        copied(&self.backup, &self.machine.state());
    }

    fn restore_database(&self) {
        for part in ["plane.db-wal", "plane.db-shm"] {
            fs::remove_file(self.machine.state().join(part)).ok();
        }
        fs::copy(self.backup.join("plane.db"), self.machine.state().join("plane.db")).unwrap();
    }

    /// Nothing that was minted was old to the daemon.
    fn nothing_was_old(&self) {
        let refused = self.status().unwrap()["refused"].clone();
        assert_eq!((&refused["freshness_regression"], &refused["replay"]), (&Value::Null, &Value::Null));
        assert_eq!(self.number("elsewhere/wake.db", OLD), 0);
    }
}

/// Refusals of old hints in the chain of the daemon.
const OLD: &str = "SELECT count(*) FROM audit WHERE instr(CAST(entry AS TEXT), 'freshness_regression') > 0";

#[test]
fn emt_2_a_restored_database_mints_above_everything_before_because_the_floor_was_not_restored() {
    let mut past = Past::new();
    past.restore_database();
    past.machine.start();
    // No verifier has to say anything.
    past.machine.alert("after the restore");
    until("a hint is minted", || (past.last_token() > past.high_water).then_some(()));
    let _wake = past.wake();
    until("it is notified", || (past.accepted() > past.high_water).then_some(()));
    past.nothing_was_old();
}

#[test]
fn emt_2_a_restored_directory_mints_nothing_before_a_verifier_has_said_what_it_saw() {
    let mut past = Past::new();
    past.restore_whole();
    let (minted, behind) = (past.minted(), past.last_token());
    assert!(behind < past.high_water);
    past.machine.start();
    let id = past.machine.alert("after the restore");
    // Everything else goes on. A hint would be minted with the next step of the same thread.
    past.machine.mail("mail");
    past.machine.ok(&["inbox", "lotse", "--as", "lotse"]);
    assert_eq!(past.minted(), minted);
    // Another start is no report.
    past.machine.stop();
    past.machine.start();
    past.machine.mail("mail again");
    assert_eq!(past.minted(), minted);
    let _wake = past.wake();
    until("it is accepted", || (past.accepted() > past.high_water).then_some(()));
    past.nothing_was_old();
    let lowest = past.number(
        "state/plane.db",
        &format!("SELECT min(CAST(token AS INTEGER)) FROM mint WHERE CAST(token AS INTEGER) > {behind}"),
    );
    assert!(lowest > past.high_water, "{lowest} was minted");
    past.done(&id);
    // From then on a start waits for nobody.
    past.machine.stop();
    past.machine.start();
    let before = past.minted();
    past.machine.alert("later");
    until("a hint is minted", || (past.minted() > before).then_some(()));
}
