//! The program as it is shipped, as a child process in a state directory of its own: started, stopped, killed.
//!
//! Set up through `init` and signed operator commands only. Not here: what is expected of it.

use std::fs;
use std::future::Future;
use std::io::Read as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use awakener::client::Client;
use awakener::keys::{SecretKey, Token};
use awakener_kernel::ids::CommandId;
use awakener_kernel::time::Millis;
use awakener_kernel::values::By;
use awakener_kernel::wire::{OperatorCommand, Signed};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::runtime::Runtime;

use super::support::{ago, ahead, command_id, now};

/// A state directory that `init` has made, with the operator's key outside of it.
pub struct Home {
    pub dir: TempDir,
    pub port: u16,
    pub operator: SecretKey,
    pub runtime: Runtime,
    settings: Vec<String>,
}

/// A running `awakener up`.
pub struct Up {
    child: Child,
}

impl Home {
    /// A new one; `settings` are given to every start with `--set`.
    pub fn new(settings: &[&str]) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let key = dir.path().join("away/operator.key");
        let made = program(&dir.path().join("state"), &[])
            .args(["init", "--trial", "--plane", "trial", "--operator-key"])
            .arg(&key)
            .output()
            .unwrap();
        assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
        Self {
            operator: SecretKey::load(&key).unwrap(),
            dir,
            port: free_port(),
            runtime: tokio::runtime::Builder::new_multi_thread()
                .worker_threads(1)
                .enable_all()
                .build()
                .unwrap(),
            settings: settings.iter().map(|setting| (*setting).to_owned()).collect(),
        }
    }

    pub fn state(&self) -> PathBuf {
        self.dir.path().join("state")
    }

    /// Adds to the configuration file.
    pub fn configure(&self, text: &str) {
        let file = self.state().join("awakener.toml");
        let before = fs::read_to_string(&file).unwrap();
        fs::write(&file, format!("{before}\n{text}\n")).unwrap();
    }

    /// `up` on this state, not started yet.
    pub fn command(&self) -> Command {
        self.command_in(&self.state(), self.port)
    }

    /// `up` on a directory and a port.
    pub fn command_in(&self, state: &Path, port: u16) -> Command {
        let mut command = program(state, &["--json"]);
        command.args(self.up_args(port));
        command
    }

    /// What `up` is told here.
    pub fn up_args(&self, port: u16) -> Vec<String> {
        let mut args = vec!["up".to_owned()];
        let own = ["wake.enabled=false".to_owned(), format!("http.listen=127.0.0.1:{port}")];
        for setting in own.iter().chain(&self.settings) {
            args.extend(["--set".to_owned(), setting.clone()]);
        }
        args
    }

    /// Starts `up` and waits until it serves.
    pub fn up(&self) -> Up {
        let mut up = Up::start(self.command());
        up.serves(self);
        up
    }

    /// `up` must end by itself: exit code, and the object that it leaves on standard error.
    pub fn refused(&self, command: Command) -> (i32, Value) {
        Up::start(command).ended()
    }

    /// Waits for something asynchronous, with a deadline.
    pub fn block<F: Future>(&self, future: F) -> F::Output {
        self.runtime.block_on(async { tokio::time::timeout(Duration::from_secs(60), future).await }).unwrap()
    }

    pub fn base(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    pub fn client(&self, token: &Token) -> Client {
        Client::new(&self.base(), token.expose()).unwrap()
    }

    pub fn observer(&self) -> Client {
        self.client(&Token::load(&self.state().join("tokens/observer.token")).unwrap())
    }

    /// A signed command.
    pub fn signed(&self, act: &str, subject: Value) -> Signed<OperatorCommand> {
        let command = OperatorCommand {
            id: command_id(),
            plane: "trial".parse().unwrap(),
            act: act.into(),
            subject: subject.as_object().unwrap().clone(),
            expected_state: Value::Null,
            reason: "a test".to_owned(),
            not_after: now() + Millis::seconds(300),
            key_id: self.operator.key_id(),
        };
        Signed::sign(command, self.operator.signing())
    }

    /// Does an operator's act.
    pub fn act(&self, act: &str, subject: Value) -> CommandId {
        let anybody = Client::new(&self.base(), "").unwrap();
        self.block(anybody.operator(&self.signed(act, subject))).unwrap().id
    }

    pub fn principal(&self, name: &str, may_read: &[&str], acts_for: Option<&str>) -> Token {
        let token = Token::generate().unwrap();
        let mut subject = json!({"principal": name, "credential": token.hash(), "may_read": may_read});
        if let Some(target) = acts_for {
            subject["acts_for"] = target.into();
        }
        self.act("register_principal", subject);
        token
    }

    /// `lotse`, who can acknowledge through a person and through its station; `alice`, who may raise alerts for it.
    pub fn story(&self) -> Story {
        self.act("register_target", json!({"target": "lotse"}));
        let alice = self.principal("alice", &["lotse"], None);
        let agent = self.principal("lotse", &["lotse"], Some("lotse"));
        let key = |by: By| {
            let key = SecretKey::generate().unwrap();
            self.act(
                "register_ack_key",
                json!({"target": "lotse", "by": by, "key": key.public(), "not_before": ago(60_000),
                    "not_after": ahead(86_400_000)}),
            );
            key
        };
        let human = key(By::Human);
        self.act(
            "install_roster",
            json!({"version": 1, "not_after": ahead(3_600_000),
                "entries": [{"principal": "alice", "schema": "interrupt-alert/1", "target": "lotse"}]}),
        );
        self.act("arm", json!({"target": "lotse", "until": ahead(3_600_000)}));
        Story { alice, agent, human }
    }

    /// Every entry of the chain with its stated hash, through HTTP.
    pub fn audited(&self) -> Vec<(awakener_kernel::ids::ContentHash, Value)> {
        let mut entries = Vec::new();
        loop {
            let from = entries.len() as u64 + 1;
            let part = self.block(self.observer().audit(from, 1_000)).unwrap();
            if part.entries.is_empty() {
                return entries;
            }
            entries.extend(part.entries.into_iter().map(|row| (row.hash, row.entry)));
        }
    }

    /// The store as another process sees it.
    pub fn store(&self) -> rusqlite::Connection {
        rusqlite::Connection::open(self.state().join("plane.db")).unwrap()
    }
}

/// What most stories begin with.
pub struct Story {
    pub alice: Token,
    pub agent: Token,
    pub human: SecretKey,
}

impl Up {
    pub fn start(mut command: Command) -> Self {
        let child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
        Self { child: child.spawn().unwrap() }
    }

    pub fn pid(&self) -> i32 {
        i32::try_from(self.child.id()).unwrap()
    }

    /// Waits until it serves.
    pub fn serves(&mut self, home: &Home) {
        let anybody = Client::new(&home.base(), "").unwrap();
        let end = Instant::now() + Duration::from_secs(30);
        while home.block(anybody.ready()).is_err() {
            if let Some(status) = self.child.try_wait().unwrap() {
                panic!("it ended: {status}: {}", self.said());
            }
            assert!(Instant::now() < end, "it does not serve");
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// Ends it without any chance to tidy up.
    pub fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Ends it in the ordinary way; what it said.
    pub fn stop(mut self) -> String {
        let pid = rustix::process::Pid::from_raw(self.pid()).unwrap();
        rustix::process::kill_process(pid, rustix::process::Signal::TERM).unwrap();
        let status = self.child.wait().unwrap();
        let said = self.said();
        assert!(status.success(), "{status}: {said}");
        said
    }

    /// It must end by itself.
    pub fn ended(mut self) -> (i32, Value) {
        let end = Instant::now() + Duration::from_secs(20);
        while self.child.try_wait().unwrap().is_none() {
            assert!(Instant::now() < end, "it goes on");
            std::thread::sleep(Duration::from_millis(10));
        }
        let code = self.child.wait().unwrap().code().unwrap();
        let said = self.said();
        let last = said.lines().last().unwrap_or_default();
        (code, serde_json::from_str(last).unwrap_or_else(|_| panic!("no object at the end of {said}")))
    }

    fn said(&mut self) -> String {
        let mut said = String::new();
        if let Some(mut stderr) = self.child.stderr.take() {
            stderr.read_to_string(&mut said).unwrap();
        }
        said
    }
}

impl Drop for Up {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The program on a state directory, with nothing of this environment that it listens to.
pub fn program(state: &Path, options: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_awakener"));
    for (name, _) in std::env::vars().filter(|(name, _)| name.starts_with("AWAKENER_")) {
        command.env_remove(name);
    }
    command.env("RUST_LOG", "warn").args(options).arg("--state").arg(state);
    command
}

/// A port that nobody has just now.
pub fn free_port() -> u16 {
    // Below the range that the system gives out by itself, so that no connection takes it before the child does; and
    // never the same twice in this process.
    static NEXT: std::sync::atomic::AtomicU16 = std::sync::atomic::AtomicU16::new(0);
    let start = u16::try_from(std::process::id() % 6_000).unwrap();
    loop {
        let step = NEXT.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        let port = 14_000 + (start + step) % 6_000;
        if std::net::TcpListener::bind(("127.0.0.1", port)).is_ok() {
            return port;
        }
    }
}

/// Sets the mode of a path.
pub fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}
