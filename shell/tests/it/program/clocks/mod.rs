//! Wall clocks that jump by two hours under the running program: one test for each cell of `spec/clocks.md`.
//!
//! The processes run under libfaketime: each has a file with the offset of its wall clock, which is changed while it runs;
//! the monotonic clock is the machine's. Rules: EMT-6, and those that the cells name.

use std::fs;
use std::process::Stdio;
use std::time::Duration;

use awakener_tools::Tool;
use awakener_tools::faketime::{self, Clock};
use serde_json::Value;

use super::{Clocks, Ends, Machine, until};

mod daemon;
mod minting;
mod plane;
mod station;

/// How far clocks jump, in seconds.
const JUMP: i64 = 7_200;

/// Tests of cells, and their names for [`every_cell_is_tested_and_every_test_is_a_cell`].
macro_rules! cells {
    ($($cell:literal fn $test:ident() $body:block)*) => {
        pub(super) const CELLS: &[&str] = &[$($cell),*];
        $(#[test] fn $test() $body)*
    };
}
use cells;

#[test]
fn every_cell_is_tested_and_every_test_is_a_cell() {
    let table = include_str!("../../../../../spec/clocks.md");
    let row = |line: &str| Some(line.strip_prefix("| `")?.split_once('`')?.0.to_owned());
    let written: Vec<String> = table.lines().filter_map(row).collect();
    let mut tested: Vec<&str> = [daemon::CELLS, minting::CELLS, plane::CELLS, station::CELLS]
        .into_iter()
        .flatten()
        .copied()
        .collect();
    tested.sort_unstable();
    let mut sorted = written.clone();
    sorted.sort_unstable();
    assert_eq!(tested, sorted);
    // Both ways, for each point.
    for pair in written.chunks(2) {
        let point = pair[0].strip_suffix(".forward").unwrap();
        assert_eq!(pair[1], format!("{point}.backward"));
    }
    for line in table.lines().filter(|line| line.starts_with("| `")) {
        let rules = line.split(" | ").nth(2).unwrap();
        assert!(rules.split(", ").all(|id| awakener_spec::Rule::from_id(id).is_some()), "{line}");
    }
}

/// A machine whose clocks jump. Target `lotse` is armed for a day and has an ACK key for its agent and one for its
/// station; principal `ops` may raise alerts for it for as long as `roster` says.
struct Host(Machine);

impl Host {
    /// `None` when somebody wants to do without libfaketime.
    fn made(settings: &[&str]) -> Option<Self> {
        let Tool::Ready(library) = faketime::library().unwrap_or_else(|error| panic!("{error}")) else {
            return None;
        };
        let mut machine = Machine::made();
        let clock = |name: &str| Clock::new(&library, &machine.dir.path().join(name)).unwrap();
        machine.clocks = Some(Clocks {
            up: clock("up.clock"),
            wake: clock("wake.clock"),
            station: clock("station.clock"),
            hand: clock("hand.clock"),
        });
        machine.settings = ["wake.enabled=false"].iter().chain(settings).map(|&set| set.to_owned()).collect();
        Some(Self(machine))
    }

    /// Running, with everything registered.
    fn story(settings: &[&str], roster: &str) -> Option<Self> {
        let mut host = Self::made(settings)?;
        host.0.start();
        host.register(roster);
        Some(host)
    }

    fn register(&self, roster: &str) {
        let (agent, station) = (self.ack_key(), self.state().join("keys/ack-lotse.key"));
        self.ok(&["target", "add", "lotse"]);
        self.ok(&["principal", "add", "ops"]);
        self.ok(&["principal", "add", "lotse", "--acts-for", "lotse", "--may-read", "lotse"]);
        for (role, key) in [("agent", agent.to_str().unwrap()), ("station", station.to_str().unwrap())] {
            self.ok(&["keys", "new", key]);
            self.ok(&["keys", "add-ack", "lotse", "--by-role", role, "--key-file", key]);
        }
        let roster = format!(
            "version = 1\nvalid = \"{roster}\"\n[[entries]]\nprincipal = \"ops\"\nschema = \"interrupt-alert/1\"\n\
             target = \"lotse\"\n"
        );
        self.ok(&["roster", "install", self.file("roster.toml", &roster).to_str().unwrap()]);
        self.ok(&["arm", "lotse", "--for", "1d"]);
    }

    fn clocks(&self) -> &Clocks {
        self.clocks.as_ref().unwrap()
    }

    /// Sets the clock of the plane and of whoever sits at its machine.
    fn plane_jumps(&self, seconds: i64) {
        self.clocks().up.set(seconds).unwrap();
        self.clocks().hand.set(seconds).unwrap();
    }

    /// Sends an alert that must be refused; its reason.
    fn alert_refused(&self, code: i32) -> String {
        let alert = ["send", "lotse", "--as", "ops", "--schema", "interrupt-alert/1", "--text", "refused"];
        self.fails(&alert, code)["reason"].as_str().unwrap().to_owned()
    }

    /// What the plane's store says to a query for one number.
    fn count(&self, sql: &str) -> i64 {
        let store = rusqlite::Connection::open(self.state().join("plane.db")).unwrap();
        store.busy_timeout(Duration::from_secs(5)).unwrap();
        store.query_row(sql, [], |row| row.get(0)).unwrap()
    }

    /// Hints minted so far.
    fn minted(&self) -> i64 {
        self.count("SELECT count(*) FROM mint")
    }

    /// The records of the registry that are named so.
    fn recorded(&self, name: &str) -> i64 {
        self.count(&format!("SELECT count(*) FROM audit WHERE instr(CAST(entry AS TEXT), '\"{name}\"') > 0"))
    }

    /// How many receipts of a kind there are.
    fn receipts(&self, kind: &str) -> i64 {
        self.count(&format!("SELECT count(*) FROM receipt WHERE kind = '{kind}'"))
    }

    /// How long the plane's time is ahead of this machine's, in seconds.
    fn plane_ahead(&self) -> i64 {
        ahead_of(&self.whole_status())
    }

    /// Whether an alert waits for its acknowledgement.
    fn outstanding(&self, id: &str) -> bool {
        self.status()["outstanding"].as_array().unwrap().iter().any(|alert| alert["message"] == id)
    }

    /// Starts a process beside the plane.
    fn beside(&self, args: &[&str]) -> Ends {
        let said = fs::File::create(self.dir.path().join(format!("{}.log", args[0]))).unwrap();
        Ends(self.command(args).stdout(Stdio::null()).stderr(said).spawn().unwrap())
    }

    fn configure(&self, file: &str, text: &str) {
        let path = self.state().join(file);
        fs::write(&path, fs::read_to_string(&path).unwrap() + text).unwrap();
    }
}

impl std::ops::Deref for Host {
    type Target = Machine;
    fn deref(&self) -> &Machine {
        &self.0
    }
}

impl std::ops::DerefMut for Host {
    fn deref_mut(&mut self) -> &mut Machine {
        &mut self.0
    }
}

/// How long the time of a status is ahead of this machine's, in seconds.
fn ahead_of(status: &Value) -> i64 {
    let shown = awakener_kernel::time::Wall::parse_utc(status["now"].as_str().unwrap()).unwrap();
    (i64::try_from(shown.0).unwrap() - i64::try_from(awakener::clock::system().0).unwrap()) / 1_000
}

/// Asks a process on loopback for its status as an observer.
fn status_of(machine: &Machine, address: &str) -> Option<Value> {
    let token = fs::read_to_string(machine.state().join("tokens/observer.token")).ok()?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let url = format!("http://{address}/v1/status");
        let answer = crate::support::http().get(url).bearer_auth(token.trim()).send().await.ok()?;
        serde_json::from_slice(&answer.bytes().await.ok()?).ok()
    })
}
