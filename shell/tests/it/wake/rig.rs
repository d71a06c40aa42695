//! Starts wake daemons for tests, waits for what they do, and reads what they wrote.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use awakener::broker::Broker;
use awakener::config::Mode;
use awakener::keys::token_hash;
use awakener::manifest::Manifest;
use awakener::wake::{self, Daemon, Pace, PlanePort, RuntimeAdapter, Setup};
use awakener_kernel::config::Config;
use awakener_kernel::ids::{ContentHash, DaemonName, Target};
use awakener_kernel::time::Millis;
use rusqlite::{Connection, OpenFlags};
use serde_json::Value;

/// The observer's token of every daemon here.
pub const OBSERVER: &str = "observer-token";

/// `builder`, which may be woken without anybody there.
pub const BUILDER: &str = r#"
[agents.builder]
runtime = "fake"
outcome = "notified_verified"
headless = true
tier0_ack = true
cooldown = "1ms"
"#;

pub fn builder() -> Target {
    Target::parse("builder").unwrap()
}

pub fn manifest(text: &str) -> Manifest {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("agents.toml");
    std::fs::write(&path, text).unwrap();
    let manifest = Manifest::load(&path, Mode::Trial);
    assert!(manifest.refused().is_none(), "{manifest:?}");
    manifest
}

/// Quick limits; the ones that a test is about it sets itself.
pub fn limits() -> Config {
    Config {
        back_off_base: Millis(200),
        back_off_max: Millis(400),
        flight_max: Millis(60_000),
        sweep: Millis(60_000),
        ..Config::default()
    }
}

/// A setup without broker, listener and adapters.
pub fn setup(state: &Path, plane: Arc<dyn PlanePort>) -> Setup {
    Setup {
        state: state.to_owned(),
        name: DaemonName::parse("daemon").unwrap(),
        mode: Mode::Trial,
        limits: limits(),
        config_hash: ContentHash([0; 32]),
        manifest: manifest(BUILDER),
        adapters: BTreeMap::new(),
        plane,
        broker: None,
        listen: None,
        observer: Some(token_hash(OBSERVER)),
        pause: None,
        pace: Pace {
            ring: Duration::from_millis(50),
            patience: Duration::from_millis(500),
            ..Pace::default()
        },
    }
}

/// The same with an adapter for `builder`.
pub fn with(state: &Path, plane: Arc<dyn PlanePort>, adapter: impl RuntimeAdapter + 'static) -> Setup {
    let adapters: BTreeMap<Target, Arc<dyn RuntimeAdapter>> =
        BTreeMap::from([(builder(), Arc::new(adapter) as Arc<dyn RuntimeAdapter>)]);
    Setup { adapters, ..setup(state, plane) }
}

/// A look every fifth of a second, for stories in which looks find things.
pub fn looking(mut setup: Setup) -> Setup {
    setup.limits.sweep = Millis(200);
    setup
}

pub fn heard(setup: Setup, broker: impl Broker + 'static) -> Setup {
    Setup { broker: Some(Arc::new(broker)), ..setup }
}

pub fn listening(setup: Setup) -> Setup {
    Setup { listen: Some(SocketAddr::from(([127, 0, 0, 1], 0))), ..setup }
}

/// Starts it and waits until it has looked at the plane for the first time.
pub async fn start(setup: Setup) -> Daemon {
    let daemon = wake::spawn_in(setup).await.unwrap();
    until("the daemon has a ring", async || daemon.status().await.unwrap().ring > 0).await;
    daemon
}

/// Blocks until it is gone, off the runtime's threads.
pub async fn stop(daemon: Daemon) {
    tokio::task::spawn_blocking(move || daemon.stop()).await.unwrap();
}

/// Waits for something, not for ever.
pub async fn until(what: &str, mut holds: impl AsyncFnMut() -> bool) {
    let end = Instant::now() + Duration::from_secs(60);
    while !holds().await {
        assert!(Instant::now() < end, "waited in vain: {what}");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// Watches for a while that something stays so.
pub async fn stays(what: &str, long: Duration, mut holds: impl AsyncFnMut() -> bool) {
    let end = Instant::now() + long;
    while Instant::now() < end {
        assert!(holds().await, "no longer so: {what}");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// The runtime of one test.
pub fn run<T>(story: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .unwrap()
        .block_on(story)
}

fn read(state: &Path) -> Connection {
    Connection::open_with_flags(state.join("wake.db"), OpenFlags::SQLITE_OPEN_READ_ONLY).unwrap()
}

/// What the fold wrote, in order.
pub fn folded(state: &Path) -> Vec<Value> {
    let conn = read(state);
    let mut statement =
        conn.prepare("SELECT entry FROM audit WHERE machine = 'verifier' ORDER BY position").unwrap();
    let rows = statement.query_map([], |row| row.get::<_, Vec<u8>>(0)).unwrap();
    rows.map(|entry| {
        let entry: Value = serde_json::from_slice(&entry.unwrap()).unwrap();
        entry["outcome"]["hints"].clone()
    })
    .collect()
}

/// How many entries the chain has.
pub fn entries(state: &Path) -> u32 {
    read(state).query_row("SELECT count(*) FROM audit", [], |row| row.get(0)).unwrap()
}

/// The kinds of the receipts in `wake.db`, in order.
pub fn receipts(state: &Path) -> Vec<String> {
    let conn = read(state);
    let mut statement = conn.prepare("SELECT kind FROM receipt ORDER BY number").unwrap();
    let rows = statement.query_map([], |row| row.get(0)).unwrap();
    rows.map(Result::unwrap).collect()
}
