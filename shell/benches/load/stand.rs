//! A plane with everything that an operator hands out, in this process: the store thread, the file on the real disk of
//! the target directory, the router on loopback.

use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

use awakener::clock;
use awakener::http::{self, Settings};
use awakener::keys::Token;
use awakener::plane::{Op, Plane, Publication, Reply, Setup, Submit};
use awakener_kernel::config::Config;
use awakener_kernel::ids::{CommandId, ContentHash, Holder, MessageId, Target, ThreadId, TurnId};
use awakener_kernel::machine::Outcome;
use awakener_kernel::mailbox::input::{Event, Input};
use awakener_kernel::operator::{Act, Command, Presented};
use awakener_kernel::registry::image::{Held, Running};
use awakener_kernel::registry::{self};
use awakener_kernel::router::Routes;
use awakener_kernel::time::Millis;
use awakener_kernel::values::{AckOutcome, By};
use awakener_kernel::wire::{AckStatement, OperatorCommand, Signed, SigningKey, Submission, public_key};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::runtime::Runtime;
use tokio::sync::{mpsc, oneshot};

pub const DAEMON: &str = "local";

/// A running plane.
pub struct Stand {
    pub plane: Plane,
    pub observer: Token,
    pub agent: Token,
    /// The credential of `ops`.
    pub ops: Token,
    /// What it wants published.
    pub publications: Option<mpsc::Receiver<Publication>>,
    thread: Option<std::thread::JoinHandle<()>>,
}

/// A listener before a plane.
pub struct Listener {
    pub at: SocketAddr,
    stop: Option<oneshot::Sender<()>>,
    /// Its own threads, as in the program.
    _runtime: Runtime,
}

/// A directory on the disk of the build.
pub fn directory() -> TempDir {
    tempfile::Builder::new().prefix("load-").tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap()
}

/// Two threads, as on the machine that the figures come from.
pub fn runtime() -> Runtime {
    tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap()
}

pub fn target() -> Target {
    "lotse".parse().unwrap()
}

/// Limits that stand in nobody's way.
pub fn limits() -> Config {
    Config { rate_per_minute: 1_000_000, queue: 10_000_000, cooldown: Millis(1), ..Config::default() }
}

fn operator() -> SigningKey {
    SigningKey::from_bytes(&[1; 32])
}

fn agent_key() -> SigningKey {
    SigningKey::from_bytes(&[4; 32])
}

pub fn router_key() -> SigningKey {
    SigningKey::from_bytes(&[7; 32])
}

impl Stand {
    /// A new one: `lotse` is armed, `lotse`'s agent may do everything for it, `ops` may raise alerts.
    pub fn new(state: &Path) -> Self {
        let key = |seed| public_key(&SigningKey::from_bytes(&[seed; 32]));
        let enrolment = registry::Input::Enrol {
            plane: "trial".parse().unwrap(),
            operator: "op".parse().unwrap(),
            key: key(1),
            audit: key(3),
            router: None,
        };
        let mut stand = Self::open(state, Some(enrolment));
        let runtime = runtime();
        runtime.block_on(stand.furnish());
        stand
    }

    /// On a state that is there.
    pub fn open(state: &Path, enrolment: Option<registry::Input>) -> Self {
        let (publish, publications) = mpsc::channel(1_024);
        let nothing = ContentHash([0; 32]);
        let setup = Setup {
            state: state.to_owned(),
            limits: limits().checked().unwrap(),
            routes: Routes::default(),
            config_hash: nothing,
            enrolment,
            running: Running { binary: nothing, config: nothing },
            router_key: router_key(),
            audit_key: SigningKey::from_bytes(&[3; 32]),
            manifest_accepted: true,
            pause: None,
            publish,
        };
        let (plane, thread) = Plane::start(setup).unwrap();
        Self {
            plane,
            observer: Token::generate().unwrap(),
            agent: Token::generate().unwrap(),
            ops: Token::generate().unwrap(),
            publications: Some(publications),
            thread: Some(thread),
        }
    }

    async fn furnish(&mut self) {
        let hour = (clock::system() + Millis::seconds(3_600)).utc();
        let life = |key: &SigningKey| json!({"key": public_key(key), "not_before": "2020-01-01T00:00:00Z", "not_after": hour});
        self.act("register_target", json!({"target": "lotse"})).await;
        let agent = self.agent.hash();
        self.act(
            "register_principal",
            json!({"principal": "agent", "credential": agent, "may_read": ["lotse"], "acts_for": "lotse"}),
        )
        .await;
        self.ops = self.principal("ops").await;
        let mut ack = life(&agent_key());
        ack["target"] = "lotse".into();
        ack["by"] = "agent".into();
        self.act("register_ack_key", ack).await;
        self.act("register_router_key", life(&router_key())).await;
        let entry = json!({"principal": "ops", "schema": "interrupt-alert/1", "target": "lotse"});
        self.act("install_roster", json!({"version": 1, "not_after": hour, "entries": [entry]})).await;
        self.act("arm", json!({"target": "lotse", "until": hour})).await;
    }

    /// Registers one who may send.
    pub async fn principal(&self, name: &str) -> Token {
        let token = Token::generate().unwrap();
        let subject = json!({"principal": name, "credential": token.hash(), "may_read": []});
        self.act("register_principal", subject).await;
        token
    }

    async fn act(&self, name: &str, subject: Value) {
        let (key, now) = (operator(), clock::system());
        let (id, plane) = (CommandId::from_parts(now.0, chance()), "trial".parse().unwrap());
        let (not_after, key_id) = (now + Millis::seconds(300), public_key(&key).key_id());
        let act = Act::parse(name, &subject).unwrap();
        let signed = Signed::sign(
            OperatorCommand {
                id,
                plane,
                act: name.into(),
                subject: subject.as_object().unwrap().clone(),
                expected_state: Value::Null,
                reason: "a measurement".to_owned(),
                not_after,
                key_id,
            },
            &key,
        );
        let command = Command {
            id,
            plane: signed.document().plane.clone(),
            key: key_id,
            not_after,
            expected_state: None,
            reason: "a measurement".to_owned(),
            act,
        };
        let raw = String::from_utf8(signed.encode()).unwrap();
        let presented = Presented { command: Some(command), signature_valid: true, raw };
        match self.plane.call(Op::Command(Box::new(presented))).await.unwrap() {
            Reply::Registry(Outcome::Advanced(_)) => {}
            other => panic!("{name}: {other:?}"),
        }
    }

    /// Admits one message of `ops`, past HTTP.
    pub async fn submit(&self, schema: &str) -> Submission {
        let submission = submission(schema, "");
        let held = Held {
            principal: "ops".parse().unwrap(),
            may_read: BTreeSet::new(),
            acts_for: None,
            revoked: None,
        };
        let submit = Submit::new(held, submission.clone(), None, None);
        match self.plane.call(Op::Submit(Box::new(submit))).await.unwrap() {
            Reply::Mailbox(reply) if reply.outcome.is_advanced() => submission,
            other => panic!("{other:?}"),
        }
    }

    /// Claims an alert, reads it and acknowledges it.
    pub async fn acknowledge(&self, submission: &Submission) {
        let input = Input::Claim { holder: Holder::parse("agent").unwrap(), max: 1 };
        let Event::Leased { fence } = self.work(input).await else { panic!("not leased") };
        self.work(Input::Read { fence, message: submission.id }).await;
        let signed = Box::new(ack(submission));
        match self.plane.call(Op::Ack { signed, fence: Some(fence) }).await.unwrap() {
            Reply::Mailbox(reply) if reply.outcome.is_advanced() => {}
            other => panic!("{other:?}"),
        }
        self.work(Input::Release { fence }).await;
    }

    async fn work(&self, input: Input) -> Event {
        match self.plane.mailbox(&target(), input, None).await.unwrap().outcome {
            Outcome::Advanced(event) => event,
            other => panic!("{other:?}"),
        }
    }

    /// Puts the router of the program before this plane, or before another one that knows the same people.
    pub fn listen(&self, plane: Plane) -> Listener {
        let runtime = runtime();
        let settings = Settings {
            limits: limits(),
            mode: "trial".to_owned(),
            daemons: Vec::new(),
            observers: vec![self.observer.hash()],
        };
        let listener = runtime.block_on(http::bind("127.0.0.1:0".parse().unwrap())).unwrap();
        let at = listener.local_addr().unwrap();
        let (stop, stopped) = oneshot::channel::<()>();
        runtime.spawn(http::serve(plane, settings, listener, async {
            let _ = stopped.await;
        }));
        Listener { at, stop: Some(stop), _runtime: runtime }
    }

    /// Ends it and waits for the store to be closed.
    pub fn close(mut self) {
        let thread = self.thread.take();
        drop(self);
        if let Some(thread) = thread {
            thread.join().unwrap();
        }
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        drop(self.stop.take());
    }
}

/// The acknowledgement of an alert.
pub fn ack(submission: &Submission) -> Signed<AckStatement> {
    let statement = AckStatement {
        message_id: submission.id,
        content_sha256: submission.content_hash(),
        target: submission.target.clone(),
        outcome: AckOutcome::Handled,
        by: By::Agent,
        key_id: public_key(&agent_key()).key_id(),
        time: clock::system(),
    };
    Signed::sign(statement, &agent_key())
}

/// A submission of half a kilobyte, unlike every other one.
pub fn submission(schema: &str, filler: &str) -> Submission {
    let (now, word) = (clock::system().0, word());
    let value = json!({
        "id": MessageId::from_parts(now, chance()), "thread": ThreadId::from_parts(now, chance()),
        "target": "lotse", "schema": schema, "priority": "normal", "intent": "a measurement",
        "response_expectation": "none", "body": {"text": format!("{word} {filler}")},
    });
    Submission::from_value(&value).unwrap()
}

/// A new turn.
pub fn turn() -> TurnId {
    TurnId::from_parts(clock::system().0, chance())
}

/// Letters, because texts that differ in digits only are repeats (FUS-1).
fn word() -> String {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let number = NEXT.fetch_add(1, Ordering::Relaxed).to_string();
    number.bytes().map(|digit| char::from(digit - b'0' + b'a')).collect()
}

pub fn chance<const N: usize>() -> [u8; N] {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).unwrap();
    bytes
}
