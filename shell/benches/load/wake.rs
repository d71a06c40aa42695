//! How long an alert takes from being stored to the start of its runtime, on both brokers, against the parts that no
//! way can be shorter than: a commit, a signature, a way through the broker, a verification.
//!
//! Everything is real but the runtime, which notes when it is started. The parts are measured between the alerts. Rules
//! ask for five commits one after the other (mint; acceptance; permit; attempt; the plane's record of the attempt), so
//! the sum with five of them is shown as well.

use std::collections::{BTreeMap, BTreeSet};
use std::hint::black_box;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use awakener::broker::{Arrival, Broker, InProcess, Later, Nats, Subscription, publish_all};
use awakener::clock;
use awakener::config::Mode;
use awakener::manifest::Manifest;
use awakener::wake::{self, Capabilities, Daemon, Local, Order, Pace, RuntimeAdapter, Setup};
use awakener_kernel::ids::{ContentHash, MessageId, Nonce, Target, Token, WakeId};
use awakener_kernel::time::{Millis, Wall};
use awakener_kernel::values::{DispatchOutcome, FlightEnd};
use awakener_kernel::waker::Fate;
use awakener_kernel::wire::{
    self, Hint, KeyWindow, Keyring, RouterKey, SigningKey, UnsignedHint, public_key,
};
use awakener_tools::Tool;
use awakener_tools::nats::{Server, program};
use rusqlite::Connection;
use tokio::sync::{Notify, mpsc};

use super::Size;
use super::figures::{Times, met};
use super::stand::{DAEMON, Stand, chance, directory, limits, router_key, runtime, target};

const GOAL: f64 = 1.5;
const PATIENCE: Duration = Duration::from_secs(20);

pub fn run(size: Size) {
    let alerts = if size == Size::Whole { 400 } else { 2 };
    for carrier in ["in process", "NATS"] {
        let dir = directory();
        let runtime = runtime();
        runtime.block_on(async {
            let Some(way) = Way::open(carrier, dir.path()).await else { return };
            let mut bench = Bench::start(dir.path(), &way).await;
            let mut parts = Parts::new(dir.path(), &way).await;
            let mut whole = Times::default();
            bench.one().await;
            for _ in 0..alerts {
                whole.add(bench.one().await);
                parts.measure().await;
            }
            if size == Size::Whole {
                println!("{carrier}: stored to started {whole}");
                parts.say(&whole);
            }
            bench.stop().await;
        });
    }
}

/// A broker, and what keeps it going.
pub struct Way {
    pub broker: Arc<dyn Broker>,
    _server: Option<Server>,
}

impl Way {
    /// `None` if the user does without.
    pub async fn open(name: &str, dir: &Path) -> Option<Self> {
        if name != "NATS" {
            return Some(Self { broker: Arc::new(InProcess::default()), _server: None });
        }
        let program = match program().unwrap_or_else(|error| panic!("{error}")) {
            Tool::Ready(program) => program,
            Tool::Skipped(_) => return None,
        };
        let mut server = Server::new(&program, dir).unwrap();
        server.start().unwrap_or_else(|error| panic!("{error}"));
        let broker = Arc::new(Nats::to(&[server.url()]).await.unwrap());
        Some(Self { broker, _server: Some(server) })
    }
}

/// A runtime that is told and does nothing.
#[derive(Debug)]
struct Told {
    started: mpsc::UnboundedSender<(MessageId, Instant)>,
    over: Arc<Notify>,
}

impl RuntimeAdapter for Told {
    fn capabilities(&self) -> Capabilities {
        Capabilities { status: true, verifies: true, proves_gone: true }
    }

    fn dispatch<'a>(&'a self, order: &'a Order) -> Later<'a, DispatchOutcome> {
        let _ = self.started.send((order.message, Instant::now()));
        Box::pin(std::future::ready(DispatchOutcome::NotifiedVerified))
    }

    fn probe<'a>(&'a self, _: &'a Order) -> Later<'a, Fate> {
        Box::pin(std::future::ready(Fate::Gone))
    }

    fn watch<'a>(&'a self, _: &'a Order) -> Later<'a, FlightEnd> {
        Box::pin(async {
            self.over.notified().await;
            FlightEnd::WorkFinished
        })
    }
}

/// A plane and a wake daemon, and alerts one after the other.
pub struct Bench {
    pub stand: Stand,
    pub daemon: Daemon,
    started: mpsc::UnboundedReceiver<(MessageId, Instant)>,
    over: Arc<Notify>,
}

impl Bench {
    pub async fn start(dir: &Path, way: &Way) -> Self {
        let state = dir.to_owned();
        let mut stand = tokio::task::spawn_blocking(move || Stand::new(&state)).await.unwrap();
        let publications = stand.publications.take().unwrap();
        tokio::spawn(publish_all(stand.plane.clone(), Arc::clone(&way.broker), publications));
        let (sender, started) = mpsc::unbounded_channel();
        let over = Arc::<Notify>::default();
        let adapter: Arc<dyn RuntimeAdapter> = Arc::new(Told { started: sender, over: Arc::clone(&over) });
        let text = "[agents.lotse]\nruntime = \"fake\"\noutcome = \"notified_verified\"\nheadless = true\n\
                    tier0_ack = true\ncooldown = \"1ms\"\n";
        let file = dir.join("agents.toml");
        std::fs::write(&file, text).unwrap();
        let daemon = wake::spawn_in(Setup {
            state: dir.to_owned(),
            name: DAEMON.parse().unwrap(),
            mode: Mode::Trial,
            limits: limits(),
            config_hash: ContentHash([0; 32]),
            manifest: Manifest::load(&file, Mode::Trial),
            adapters: BTreeMap::from([(target(), adapter)]),
            plane: Arc::new(Local::new(stand.plane.clone(), DAEMON.parse().unwrap())),
            broker: Some(Arc::clone(&way.broker)),
            listen: None,
            observer: None,
            pause: None,
            pace: Pace::default(),
        })
        .await
        .unwrap();
        let bench = Self { stand, daemon, started, over };
        let end = Instant::now() + PATIENCE;
        while bench.daemon.status().await.unwrap().ring == 0 {
            assert!(Instant::now() < end, "the daemon has no ring");
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        bench
    }

    /// One alert: from the sender's answer, which says that it is stored, to the start. Then all of it is finished.
    pub async fn one(&mut self) -> Duration {
        let alert = self.stand.submit("interrupt-alert/1").await;
        let stored = Instant::now();
        let started = loop {
            let (message, at) =
                tokio::time::timeout(PATIENCE, self.started.recv()).await.expect("no start").unwrap();
            if message == alert.id {
                break at;
            }
        };
        self.stand.acknowledge(&alert).await;
        self.over.notify_one();
        let end = Instant::now() + PATIENCE;
        while self.daemon.status().await.unwrap().targets.iter().any(|target| target.flight.is_some()) {
            assert!(Instant::now() < end, "the flight does not end");
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        // The cooldown of a millisecond, and the plane's record of the end.
        tokio::time::sleep(Duration::from_millis(5)).await;
        started.saturating_duration_since(stored)
    }

    pub async fn stop(self) {
        let Self { stand, daemon, .. } = self;
        tokio::task::spawn_blocking(move || {
            daemon.stop();
            drop(stand);
        })
        .await
        .unwrap();
    }
}

/// A hint for `name`, of now.
pub fn hint(name: &Target, key: &SigningKey, time: Wall, token: u64) -> Vec<u8> {
    let hint = Hint {
        id: WakeId::from_parts(time.0, chance()),
        message_id: MessageId::from_parts(time.0, chance()),
        target: name.clone(),
        nonce: Nonce(chance()),
        freshness_token: Token::from_u64(token).unwrap(),
        time,
        expires_at: time + Millis::seconds(30),
        router_key_id: public_key(key).key_id(),
    };
    UnsignedHint::new(hint).unwrap().sign(key)
}

/// The parts that no way is shorter than.
struct Parts {
    disk: Connection,
    broker: Arc<dyn Broker>,
    echo: Subscription,
    elsewhere: Target,
    ring: Keyring,
    commit: Times,
    sign: Times,
    trip: Times,
    verify: Times,
}

impl Parts {
    async fn new(dir: &Path, way: &Way) -> Self {
        let disk = Connection::open(dir.join("bare.db")).unwrap();
        disk.pragma_update(None, "journal_mode", "WAL").unwrap();
        disk.pragma_update(None, "synchronous", "FULL").unwrap();
        disk.execute_batch("CREATE TABLE entry (position INTEGER PRIMARY KEY, entry BLOB NOT NULL) STRICT")
            .unwrap();
        let elsewhere: Target = "elsewhere".parse().unwrap();
        let window = KeyWindow { valid_from: Wall(0), valid_until: Wall::LAST };
        let ring = Keyring::from(&[RouterKey { public: public_key(&router_key()), window }]);
        let echo = way.broker.subscribe(&BTreeSet::from([elsewhere.clone()]));
        let new = Times::default;
        let (broker, commit, sign, trip, verify) = (Arc::clone(&way.broker), new(), new(), new(), new());
        Self { disk, broker, echo, elsewhere, ring, commit, sign, trip, verify }
    }

    async fn measure(&mut self) {
        let begun = Instant::now();
        self.disk
            .prepare_cached("INSERT INTO entry (entry) VALUES (?1)")
            .and_then(|mut statement| statement.execute([[7_u8; 1_200].as_slice()]))
            .unwrap();
        self.commit.add(begun.elapsed());

        let now = clock::system();
        let begun = Instant::now();
        let bytes: Arc<[u8]> = hint(&self.elsewhere, &router_key(), now, 1).into();
        self.sign.add(begun.elapsed());

        let begun = Instant::now();
        self.broker.publish(&self.elsewhere, Arc::clone(&bytes)).await.unwrap();
        loop {
            match tokio::time::timeout(PATIENCE, self.echo.next()).await.expect("no echo") {
                Some(Arrival::Hint(heard)) if heard == bytes => break,
                Some(Arrival::Hint(_) | Arrival::Lost(_) | Arrival::Connected) => {}
                None => panic!("the broker is gone"),
            }
        }
        self.trip.add(begun.elapsed());

        let begun = Instant::now();
        let seen = wire::present(black_box(&bytes), &self.ring, |_| true, now, Millis(2_000));
        self.verify.add(begun.elapsed());
        assert!(seen.is_ok());
    }

    fn say(&self, whole: &Times) {
        let parts =
            [("commit", &self.commit), ("sign", &self.sign), ("way", &self.trip), ("verify", &self.verify)];
        for (name, part) in parts {
            println!("  {name}: {part}");
        }
        for (name, of) in [("p50", 0.50), ("p99", 0.99)] {
            let sum: f64 = parts.iter().map(|(_, part)| part.share(of)).sum();
            let five = sum + 4.0 * self.commit.share(of);
            let ratio = whole.share(of) / sum;
            println!(
                "  {name}: sum {sum:.0} us, ratio {ratio:.2}, goal {GOAL}: {}; with five commits {five:.0} us, ratio {:.2}",
                met(ratio <= GOAL),
                whole.share(of) / five
            );
        }
    }
}
