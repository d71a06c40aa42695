//! A hosted station against a real plane: what happens while it is down, and who may wake it.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use awakener::keys::Token;
use awakener::station::{self, fake};
use awakener_kernel::config::Config;
use awakener_kernel::ids::ContentHash;
use awakener_kernel::station::{Mapped, Model, Station};
use awakener_tools::enforces_process;
use serde_json::{Value, json};
use tokio::runtime::Runtime;

use super::super::support::*;
use super::replay::replay;
use super::{Cast, cast};

/// A station with a runtime of its own, so that it can be ended like a process.
struct Process {
    runtime: Runtime,
    listen: SocketAddr,
    observer: Token,
}

impl Process {
    fn start(rig: &Rig, cast: &Cast) -> Self {
        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        let observer = Token::generate().unwrap();
        let setup = station::Setup {
            state: rig.dir.path().to_owned(),
            target: cast.target.clone(),
            mode: awakener::config::Mode::Trial,
            client: rig.client(cast.agent_token.expose()),
            limits: Config::default().checked().unwrap(),
            config_hash: ContentHash([7; 32]),
            ack_key: Arc::new(cast.station.signing().clone()),
            listen: "127.0.0.1:0".parse().unwrap(),
            observer: observer.hash(),
            model: (Model("fake".into()), Some(Mapped { window: 8_192, budget: 2_048 })),
            runner: Arc::new(fake::Fake::new(vec![fake::Turn::Complete], Duration::from_millis(1))),
            poll_every: Duration::from_millis(50),
        };
        let serving = runtime.block_on(station::start(setup)).unwrap();
        Self { listen: serving.listen, runtime, observer }
    }

    fn ask(&self, rig: &Rig, path: &str) -> Value {
        let request = http().get(format!("http://{}{path}", self.listen));
        rig.raw(request.bearer_auth(self.observer.expose())).2
    }

    /// Waits until its status is as wanted.
    fn comes_to(&self, rig: &Rig, wanted: impl Fn(&Value) -> bool) {
        let deadline = Instant::now() + Duration::from_secs(20);
        loop {
            let found = self.ask(rig, "/v1/status");
            if wanted(&found) {
                return;
            }
            assert!(Instant::now() < deadline, "{found}");
            std::thread::yield_now();
        }
    }

    /// Ends it and waits until its store is free.
    fn stop(self, rig: &Rig) {
        self.runtime.shutdown_timeout(Duration::from_secs(5));
        let lock = std::fs::File::open(rig.dir.path().join("station-lotse.lock")).unwrap();
        let deadline = Instant::now() + Duration::from_secs(20);
        while lock.try_lock().is_err() {
            assert!(Instant::now() < deadline, "the station goes on");
            std::thread::yield_now();
        }
    }
}

#[test]
fn stn_3_a_grant_that_ended_while_the_station_was_down_is_over_when_it_comes_back() {
    let rig = Rig::start();
    let cast = cast(&rig);
    let process = Process::start(&rig, &cast);
    process.comes_to(&rig, |status| status["phase"] == "armed" && !status["grant"].is_null());
    process.stop(&rig);
    rig.act("disarm", json!({"target": "lotse"}));
    let process = Process::start(&rig, &cast);
    process.comes_to(&rig, |status| status["phase"] == "dark" && status["grant"].is_null());
    process.stop(&rig);
}

enforces_process! {
    [Aud2]
    fn aud_2_the_chain_of_a_real_station_executes_again_as_it_was(_seen) {
        let rig = Rig::start();
        let cast = cast(&rig);
        let process = Process::start(&rig, &cast);
        process.comes_to(&rig, |status| status["phase"] == "armed");
        let alert = submission("lotse", "interrupt-alert/1", json!("pump"));
        rig.block(cast.alice.submit(&alert, None)).unwrap();
        let deadline = Instant::now() + Duration::from_secs(20);
        while rig.block(cast.alice.message(alert.id)).unwrap().head.state.closed.is_none() {
            assert!(Instant::now() < deadline, "the alert is not acknowledged");
            std::thread::yield_now();
        }
        process.stop(&rig);
        let process = Process::start(&rig, &cast);
        process.comes_to(&rig, |status| status["phase"] == "armed");
        let part = process.ask(&rig, "/v1/audit");
        let entries: Vec<Value> =
            part["entries"].as_array().unwrap().iter().map(|row| row["entry"].clone()).collect();
        let station = replay::<Station>(&entries, "station", &Config::default()).unwrap();
        assert!(station.recoveries >= 2 && station.advanced >= 8, "{station:?}");
        process.stop(&rig);
    }
}

#[test]
fn prt_3_no_page_of_a_web_site_wakes_a_station() {
    let rig = Rig::start();
    let cast = cast(&rig);
    let process = Process::start(&rig, &cast);
    process.comes_to(&rig, |status| status["phase"] == "armed");
    let wake = |name: &str, value: &str| {
        let message = json!({"content": "look", "type": "user"});
        let request =
            http().post(format!("http://{}/message", process.listen)).header(name, value).json(&message);
        rig.raw(request).0
    };
    assert_eq!(wake("origin", "https://evil.example"), 403);
    assert_eq!(wake("host", "evil.example"), 403);
    assert_eq!(wake("x-other", "none"), 200);
    process.stop(&rig);
}
