//! The program as it is started by people: `up` as a process of its own, every other command beside it. Nothing of the
//! crate's library runs in here but what reads files.

use std::io::{BufRead as _, BufReader};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::channel;
use std::time::{Duration, Instant};

use awakener_tools::faketime::Clock;
use serde_json::Value;
use tempfile::TempDir;

mod agents;
mod alert;
mod chain;
mod checkpoints;
mod clocks;
mod ends;
mod held;
mod latch;
mod nats;
mod operators;
mod page;
mod reload;
mod restore;
mod runner;
mod slow;

/// A process that ends with its test.
struct Ends(Child);

impl Ends {
    fn signal(&self, name: &str) {
        assert!(Command::new("kill").args([name, &self.0.id().to_string()]).status().unwrap().success());
    }

    /// Asks it to end, and it ends well.
    fn stop(&mut self) {
        self.signal("-TERM");
        assert!(self.0.wait().unwrap().success());
    }
}

impl Drop for Ends {
    fn drop(&mut self) {
        self.0.kill().ok();
        self.0.wait().ok();
    }
}

/// Waits for something with a deadline.
fn until<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let end = Instant::now() + Duration::from_secs(60);
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(Instant::now() < end, "waited in vain: {what}");
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// How a command ended.
#[derive(Clone, Debug)]
pub struct Ended {
    pub code: i32,
    pub out: String,
    pub err: String,
}

/// A state directory that `init --trial` has made, and the plane of it while it runs.
pub struct Machine {
    pub dir: TempDir,
    listen: String,
    plane: Option<Child>,
    settings: Vec<String>,
    /// What `up` is told beside them.
    serve: Vec<String>,
    /// The wall clocks of `up`, `wake` and `station`, and of everything else; without them, the machine's.
    clocks: Option<Clocks>,
}

/// Wall clocks that jump.
struct Clocks {
    up: Clock,
    wake: Clock,
    station: Clock,
    hand: Clock,
}

impl Clocks {
    fn of(&self, command: &str) -> &Clock {
        match command {
            "up" => &self.up,
            "wake" => &self.wake,
            "station" => &self.station,
            _ => &self.hand,
        }
    }
}

impl Machine {
    /// Made, and not running.
    pub fn made() -> Self {
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let machine = Self {
            dir: tempfile::tempdir().unwrap(),
            listen: format!("127.0.0.1:{port}"),
            plane: None,
            settings: Vec::new(),
            serve: Vec::new(),
            clocks: None,
        };
        let operator = machine.operator();
        let made = machine.ok(&["init", "--trial", "--operator-key", operator.to_str().unwrap()]);
        assert!(made.contains("Nobody may raise an alert"), "{made}");
        machine
    }

    /// Made and running.
    pub fn up() -> Self {
        Self::up_with(&[])
    }

    /// Made and running, with settings.
    pub fn up_with(settings: &[&str]) -> Self {
        let mut machine = Self::made();
        machine.settings = settings.iter().map(|&setting| setting.to_owned()).collect();
        machine.start();
        machine
    }

    /// Running, with target `lotse` (armed; its agent's principal has the same name; an ACK key of the agent) and
    /// principal `ops`, who may raise alerts for it.
    pub fn story() -> Self {
        Self::story_with(&[])
    }

    pub fn story_with(settings: &[&str]) -> Self {
        let machine = Self::up_with(settings);
        machine.register();
        machine
    }

    /// What [`Self::story`] has beside a running plane.
    pub fn register(&self) {
        let machine = self;
        let key = machine.ack_key();
        let key = key.to_str().unwrap();
        machine.ok(&["target", "add", "lotse"]);
        machine.ok(&["principal", "add", "ops"]);
        machine.ok(&["principal", "add", "lotse", "--acts-for", "lotse", "--may-read", "lotse"]);
        machine.ok(&["keys", "new", key]);
        machine.ok(&["keys", "add-ack", "lotse", "--by-role", "agent", "--key-file", key]);
        let roster = machine.file(
            "roster.toml",
            "version = 1\nvalid = \"1h\"\n[[entries]]\nprincipal = \"ops\"\nschema = \"interrupt-alert/1\"\n\
             target = \"lotse\"\n",
        );
        machine.ok(&["roster", "install", roster.to_str().unwrap()]);
        machine.ok(&["arm", "lotse", "--for", "1h"]);
    }

    /// Starts `up` and returns when it serves.
    pub fn start(&mut self) {
        let mut child = self.command(&["up"]).args(&self.serve).stderr(Stdio::piped()).spawn().unwrap();
        let lines = BufReader::new(child.stderr.take().unwrap()).lines();
        let (serving, served) = channel();
        std::thread::spawn(move || {
            let mut said = String::new();
            for line in lines.map_while(Result::ok) {
                if line.contains("serves on") {
                    serving.send(Ok(())).ok();
                }
                said += &(line + "\n");
            }
            serving.send(Err(said)).ok();
        });
        served.recv_timeout(Duration::from_secs(60)).unwrap().unwrap();
        self.plane = Some(child);
    }

    /// Asks `up` to stop, as a service manager does; it ends well.
    pub fn stop(&mut self) {
        let mut child = self.plane.take().unwrap();
        let ended = Command::new("kill").args(["-TERM", &child.id().to_string()]).status().unwrap();
        assert!(ended.success());
        assert_eq!(child.wait().unwrap().code(), Some(0));
    }

    pub fn pid(&self) -> u32 {
        self.plane.as_ref().unwrap().id()
    }

    pub fn state(&self) -> PathBuf {
        self.dir.path().join("state")
    }

    pub fn operator(&self) -> PathBuf {
        self.dir.path().join("away/operator.key")
    }

    pub fn ack_key(&self) -> PathBuf {
        self.dir.path().join("away/agent.key")
    }

    /// Writes a file beside the state directory.
    pub fn file(&self, name: &str, text: &str) -> PathBuf {
        let file = self.dir.path().join(name);
        std::fs::write(&file, text).unwrap();
        file
    }

    pub fn path(&self, name: &str) -> String {
        self.dir.path().join(name).to_str().unwrap().to_owned()
    }

    pub fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_awakener"));
        command
            .args(["--set", &format!("http.listen={}", self.listen)])
            .args(self.settings.iter().flat_map(|setting| ["--set", setting]))
            .args(args)
            .env_clear()
            .env("AWAKENER_STATE", self.state())
            .env("AWAKENER_OPERATOR_KEY", self.operator())
            .env("AWAKENER_ACK_KEY", self.ack_key())
            .stdin(Stdio::null());
        if let Some(clocks) = &self.clocks {
            clocks.of(args.first().copied().unwrap_or_default()).wear(&mut command);
        }
        command
    }

    pub fn run(&self, args: &[&str]) -> Ended {
        let output = self.command(args).output().unwrap();
        let text = |bytes| String::from_utf8(bytes).unwrap();
        Ended { code: output.status.code().unwrap(), out: text(output.stdout), err: text(output.stderr) }
    }

    /// What a command says that must go well.
    pub fn ok(&self, args: &[&str]) -> String {
        let ended = self.run(args);
        assert_eq!((ended.code, ended.err.as_str()), (0, ""), "{args:?}");
        // What people see is never raw JSON.
        let raw = ended.out.lines().any(|line| line.contains("\":"));
        assert!(!raw || args.contains(&"--json") || args.contains(&"export"), "{args:?}: {}", ended.out);
        ended.out
    }

    /// The one object of `--json`.
    pub fn json(&self, args: &[&str]) -> Value {
        let out = self.ok(&[args, &["--json"]].concat());
        assert_eq!(out.lines().count(), 1, "{out}");
        let value: Value = serde_json::from_str(&out).unwrap();
        assert_eq!(value["v"], 1, "{args:?}");
        value
    }

    /// The status; it ends with 69 where something could not be read, such as a station that does not run (CON-1).
    pub fn whole_status(&self) -> Value {
        let ended = self.run(&["status", "--json"]);
        assert!(matches!(ended.code, 0 | 69) && !ended.out.is_empty(), "{}: {}", ended.code, ended.err);
        serde_json::from_str(&ended.out).unwrap()
    }

    /// The object of a command that must end with `code`.
    pub fn fails(&self, args: &[&str], code: i32) -> Value {
        let ended = self.run(&[args, &["--json"]].concat());
        assert_eq!((ended.code, ended.out.as_str()), (code, ""), "{args:?}: {}", ended.err);
        let value: Value = serde_json::from_str(ended.err.lines().last().unwrap()).unwrap();
        assert_eq!((&value["v"], &value["exit"]), (&1.into(), &code.into()));
        value
    }

    /// Sends an alert and gives its id.
    pub fn alert(&self, about: &str) -> String {
        let args = [
            "send",
            "lotse",
            "--as",
            "ops",
            "--schema",
            "interrupt-alert/1",
            "--text",
            about,
            "--intent",
            about,
        ];
        self.json(&args)["id"].as_str().unwrap().to_owned()
    }

    /// Sends plain mail and gives its id.
    pub fn mail(&self, about: &str) -> String {
        let sent = self.json(&["send", "lotse", "--as", "ops", "--text", about, "--intent", about]);
        sent["id"].as_str().unwrap().to_owned()
    }

    /// Takes what there is and gives the fence.
    pub fn claim(&self) -> String {
        self.json(&["claim", "lotse", "--as", "lotse", "--max", "10"])["fence"].to_string()
    }

    pub fn status(&self) -> Value {
        self.whole_status()["targets"][0].clone()
    }
}

impl Drop for Machine {
    fn drop(&mut self) {
        if let Some(mut child) = self.plane.take() {
            child.kill().ok();
            child.wait().ok();
        }
    }
}

/// The lines of a file, for exports.
fn lines(file: impl AsRef<Path>) -> Vec<String> {
    std::fs::read_to_string(file).unwrap().lines().map(str::to_owned).collect()
}

/// The first words of the lines of a table or ladder, with the head.
fn column(text: &str, at: usize) -> Vec<&str> {
    text.lines().filter_map(|line| line.split_whitespace().nth(at)).collect()
}
