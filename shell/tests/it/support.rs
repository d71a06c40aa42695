//! A real plane for tests: a SQLite file in a directory of its own, the store thread, the listener on loopback, and
//! the credentials and keys that an operator would hand out. Nothing in it is pretended.

use std::future::Future;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use awakener::client::{Client, ClientError};
use awakener::http::{self, Settings};
use awakener::keys::{SecretKey, Token};
use awakener::plane::{Plane, Publication, Setup};
use awakener_kernel::config::Config;
use awakener_kernel::ids::{CommandId, ContentHash, MessageId, PlaneName, Target, ThreadId, TurnId};
use awakener_kernel::operator::Act;
use awakener_kernel::registry::{Input as Registration, Running};
use awakener_kernel::router::Routes;
use awakener_kernel::time::{Millis, Wall};
use awakener_kernel::values::{AckOutcome, By};
use awakener_kernel::wire::{AckStatement, OperatorCommand, Signed, SigningKey, Submission};
use serde_json::{Value, json};
use tokio::runtime::Runtime;
use tokio::sync::{mpsc, oneshot};

/// The name of every test plane.
pub const PLANE: &str = "trial";

/// A running plane.
pub struct Rig {
    /// What drives it; tests are plain functions.
    pub runtime: Runtime,
    /// Its address.
    pub base: String,
    /// Hints that were handed to the broker client.
    pub hints: mpsc::Receiver<Publication>,
    /// The state directory.
    pub dir: tempfile::TempDir,
    /// The first operator key, with every scope.
    pub operator: SecretKey,
    /// The router key, registered.
    pub router: SecretKey,
    /// The audit key.
    pub audit: SecretKey,
    observer: Token,
    daemon: Token,
    limits: Config,
    stop: Option<oneshot::Sender<()>>,
    serving: Option<tokio::task::JoinHandle<()>>,
    store: Option<std::thread::JoinHandle<()>>,
}

impl Rig {
    /// A plane with the built-in limits.
    pub fn start() -> Self {
        Self::with(|_| {})
    }

    /// A plane with other limits; operator and keys are enrolled, nothing else is registered.
    pub fn with(change: impl FnOnce(&mut Config)) -> Self {
        let mut limits = Config::default();
        change(&mut limits);
        let key = || SecretKey::generate().unwrap();
        let (_, hints) = mpsc::channel(1);
        let mut rig = Self {
            runtime: tokio::runtime::Builder::new_multi_thread()
                .worker_threads(2)
                .enable_all()
                .build()
                .unwrap(),
            base: String::new(),
            hints,
            dir: tempfile::tempdir().unwrap(),
            operator: key(),
            router: key(),
            audit: key(),
            observer: Token::generate().unwrap(),
            daemon: Token::generate().unwrap(),
            limits,
            stop: None,
            serving: None,
            store: None,
        };
        let enrolment = Registration::Enrol {
            plane: PLANE.parse().unwrap(),
            operator: "op".parse().unwrap(),
            key: rig.operator.public(),
            audit: rig.audit.public(),
            router: None,
        };
        rig.up(Some(enrolment));
        let life =
            json!({"key": rig.router.public(), "not_before": ago(60_000), "not_after": ahead(86_400_000)});
        rig.act("register_router_key", life);
        rig
    }

    fn up(&mut self, enrolment: Option<Registration>) {
        let (publish, hints) = mpsc::channel(1_024);
        let signing = |key: &SecretKey| SigningKey::from_bytes(&key.signing().to_bytes());
        let setup = Setup {
            state: self.dir.path().to_owned(),
            limits: self.limits.clone().checked().unwrap(),
            routes: Routes::default(),
            config_hash: ContentHash([7; 32]),
            enrolment,
            running: Running { binary: ContentHash([1; 32]), config: ContentHash([7; 32]) },
            router_key: signing(&self.router),
            audit_key: signing(&self.audit),
            manifest_accepted: true,
            pause: None,
            publish,
        };
        let (plane, store) = Plane::start(setup).unwrap();
        let settings = Settings {
            limits: self.limits.clone(),
            mode: "trial".to_owned(),
            daemons: vec![("local".parse().unwrap(), self.daemon.hash())],
            observers: vec![self.observer.hash()],
        };
        let listener = self.block(http::bind("127.0.0.1:0".parse().unwrap())).unwrap();
        self.base = format!("http://{}", listener.local_addr().unwrap());
        let (stop, stopped) = oneshot::channel::<()>();
        self.serving = Some(self.runtime.spawn(async move {
            let until = async {
                let _ = stopped.await;
            };
            http::serve(plane, settings, listener, until).await.unwrap();
        }));
        (self.hints, self.stop, self.store) = (hints, Some(stop), Some(store));
    }

    /// Ends the process as far as a test can without killing itself: listener, then store thread.
    pub fn down(&mut self) {
        drop(self.stop.take());
        if let Some(serving) = self.serving.take() {
            self.block(async { tokio::time::timeout(Duration::from_secs(20), serving).await })
                .unwrap()
                .unwrap();
        }
        if let Some(store) = self.store.take() {
            store.join().unwrap();
        }
    }

    /// Down and up again on the same state.
    pub fn restart(&mut self) {
        self.down();
        self.up(None);
    }

    /// Waits for something asynchronous, with a deadline.
    pub fn block<F: Future>(&self, future: F) -> F::Output {
        self.runtime.block_on(async { tokio::time::timeout(Duration::from_secs(60), future).await }).unwrap()
    }

    /// A client with a credential.
    pub fn client(&self, token: &str) -> Client {
        Client::new(&self.base, token).unwrap()
    }

    /// A client that may read audit, receipts and status.
    pub fn observer(&self) -> Client {
        self.client(self.observer.expose())
    }

    /// The client of the wake daemon `local`.
    pub fn daemon(&self) -> Client {
        self.client(self.daemon.expose())
    }

    /// A signed command for this plane.
    pub fn command(&self, act: &str, subject: Value) -> Signed<OperatorCommand> {
        let command = OperatorCommand {
            id: CommandId::from_parts(now().0, chance()),
            plane: PLANE.parse::<PlaneName>().unwrap(),
            act: act.into(),
            subject: subject.as_object().unwrap().clone(),
            expected_state: Value::Null,
            reason: "a test".to_owned(),
            not_after: now() + Millis::seconds(60),
            key_id: self.operator.key_id(),
        };
        Signed::sign(command, self.operator.signing())
    }

    /// Does an operator's act over HTTP.
    pub fn act(&self, act: &str, subject: Value) {
        assert!(Act::parse(act, &subject).is_ok(), "{act} {subject}");
        let command = self.command(act, subject);
        self.block(self.client("").operator(&command)).unwrap();
    }

    /// Registers a target.
    pub fn target(&self, name: &str) -> Target {
        self.act("register_target", json!({"target": name}));
        name.parse().unwrap()
    }

    /// Registers a principal and gives its client.
    pub fn principal(&self, name: &str, may_read: &[&str], acts_for: Option<&str>) -> Client {
        let token = self.credential(name, may_read, acts_for);
        self.client(token.expose())
    }

    /// Registers a principal and gives its credential.
    pub fn credential(&self, name: &str, may_read: &[&str], acts_for: Option<&str>) -> Token {
        let token = Token::generate().unwrap();
        let mut subject = json!({"principal": name, "credential": token.hash(), "may_read": may_read});
        if let Some(target) = acts_for {
            subject["acts_for"] = target.into();
        }
        self.act("register_principal", subject);
        token
    }

    /// Registers an ACK key.
    pub fn ack_key(&self, target: &str, by: By) -> SecretKey {
        let key = SecretKey::generate().unwrap();
        let subject = json!({"target": target, "by": by, "key": key.public(), "not_before": ago(60_000),
            "not_after": ahead(86_400_000)});
        self.act("register_ack_key", subject);
        key
    }

    /// Lets these principals raise alerts for these targets.
    pub fn roster(&self, entries: &[(&str, &str)]) {
        let entries: Vec<Value> = entries
            .iter()
            .map(|(principal, target)| {
                json!({"principal": principal, "schema": "interrupt-alert/1", "target": target})
            })
            .collect();
        self.act("install_roster", json!({"version": 1, "not_after": ahead(3_600_000), "entries": entries}));
    }

    /// Gives a target its grant.
    pub fn arm(&self, target: &str) {
        self.act("arm", json!({"target": target, "until": ahead(3_600_000)}));
    }

    /// A target `lotse` that can acknowledge, its agent, and `alice`, who may raise alerts for it: what most stories
    /// begin with. The target is armed.
    pub fn story(&self) -> Story {
        let target = self.target("lotse");
        let alice = self.principal("alice", &[], None);
        let agent = self.principal("lotse-agent", &["lotse"], Some("lotse"));
        let station = self.ack_key("lotse", By::Station);
        let human = self.ack_key("lotse", By::Human);
        self.roster(&[("alice", "lotse")]);
        self.arm("lotse");
        Story { target, alice, agent, station, human }
    }

    /// One request as bytes, past the client: status, headers and body.
    pub fn raw(&self, request: reqwest::RequestBuilder) -> (u16, reqwest::header::HeaderMap, Value) {
        self.block(async {
            let response = request.send().await.unwrap();
            let (status, headers) = (response.status().as_u16(), response.headers().clone());
            let bytes = response.bytes().await.unwrap();
            (status, headers, serde_json::from_slice(&bytes).unwrap_or(Value::Null))
        })
    }

    /// The audit chain as it is.
    pub fn audited(&self) -> Vec<Value> {
        let mut entries = Vec::new();
        loop {
            let from = entries.len() as u64 + 1;
            let part = self.block(self.observer().audit(from, 1_000)).unwrap();
            if part.entries.is_empty() {
                return entries;
            }
            entries.extend(part.entries.into_iter().map(|row| row.entry));
        }
    }

    /// How many messages the store holds, asked of the file itself.
    pub fn stored(&self) -> i64 {
        let conn = rusqlite::Connection::open(self.dir.path().join("plane.db")).unwrap();
        conn.query_row("SELECT count(*) FROM message", [], |row| row.get(0)).unwrap()
    }
}

impl Drop for Rig {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            self.down();
        }
    }
}

/// What most tests begin with.
pub struct Story {
    /// `lotse`.
    pub target: Target,
    /// Sends; may raise alerts for `lotse`; may read nothing.
    pub alice: Client,
    /// Acts for `lotse`.
    pub agent: Client,
    /// ACK key, `by = station`.
    pub station: SecretKey,
    /// ACK key, `by = human`.
    pub human: SecretKey,
}

/// A bare HTTP client, for requests that no client of ours would send.
pub fn http() -> reqwest::Client {
    reqwest::Client::builder().no_proxy().redirect(reqwest::redirect::Policy::none()).build().unwrap()
}

/// A submission to `target`, new at each call.
pub fn submission(target: &str, schema: &str, body: Value) -> Submission {
    let value = json!({
        "id": message_id(), "thread": ThreadId::from_parts(now().0, chance()), "target": target, "schema": schema,
        "priority": "normal", "intent": "test", "response_expectation": "reply", "body": body,
    });
    Submission::from_value(&value).unwrap()
}

/// A word that differs from that of every other number also when digits are left aside (FUS-1 compares so).
pub fn word(number: u64) -> String {
    number.to_string().bytes().map(|digit| char::from(digit - b'0' + b'a')).collect()
}

/// A new message id.
pub fn message_id() -> MessageId {
    MessageId::from_parts(now().0, chance())
}

/// A new command id.
pub fn command_id() -> CommandId {
    CommandId::from_parts(now().0, chance())
}

/// A new turn id.
pub fn turn_id() -> TurnId {
    TurnId::from_parts(now().0, chance())
}

/// A signed ACK for a submission.
pub fn ack(submission: &Submission, outcome: AckOutcome, by: By, key: &SecretKey) -> Signed<AckStatement> {
    let statement = AckStatement {
        message_id: submission.id,
        content_sha256: submission.content_hash(),
        target: submission.target.clone(),
        outcome,
        by,
        key_id: key.key_id(),
        time: now(),
    };
    Signed::sign(statement, key.signing())
}

/// The problem that a call ended with.
pub fn problem<T: std::fmt::Debug>(result: Result<T, ClientError>) -> Value {
    match result {
        Err(ClientError::Problem(problem)) => serde_json::to_value(problem).unwrap(),
        other => panic!("expected a problem, got {other:?}"),
    }
}

/// This machine's wall clock.
pub fn now() -> Wall {
    awakener::clock::system()
}

/// A time before now, as text.
pub fn ago(ms: u64) -> String {
    (now() - Millis(ms)).utc()
}

/// A time after now, as text.
pub fn ahead(ms: u64) -> String {
    (now() + Millis(ms)).utc()
}

/// Bytes that no other call of this process got; tests need no chance, only difference.
fn chance() -> [u8; 10] {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    let number = NEXT.fetch_add(1, Ordering::Relaxed).to_be_bytes();
    let mut bytes = [0; 10];
    bytes[..8].copy_from_slice(&number);
    bytes[8..].copy_from_slice(&std::process::id().to_be_bytes()[2..]);
    bytes
}
