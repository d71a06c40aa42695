//! What everything costs with a short and with a long history: it should be the same.
//!
//! The history is made by the plane's own store thread, from many senders at once, and half of it is open. Small: ten
//! thousand messages; large: three hundred thousand, or `AWAKENER_MESSAGES`. Each request goes over HTTP, one after the
//! other on one connection; the two planes take turns.

use std::time::{Duration, Instant};

use awakener_kernel::ids::MessageId;
use awakener_kernel::wire::Submission;
use serde_json::{Value, json};
use tempfile::TempDir;

use super::Size;
use super::figures::{Times, met};
use super::http::Http;
use super::stand::{Listener, Stand, ack, directory, runtime, submission, turn};

const GOAL: f64 = 1.2;
/// How many submissions wait at once while a history is made.
const AT_ONCE: usize = 512;

pub fn run(size: Size) {
    let wanted = std::env::var("AWAKENER_MESSAGES").ok().and_then(|text| text.parse().ok());
    let (small, large, rounds) = match size {
        Size::Whole => (10_000, wanted.unwrap_or(300_000), 60),
        Size::Smoke => (20, 40, 1),
    };
    let runtime = runtime();
    let mut planes = [small, large].map(|messages| Plane::with(&runtime, messages));
    let mut costs: Vec<(&'static str, [Times; 2])> = Vec::new();
    for _ in 0..rounds {
        for (at, plane) in planes.iter_mut().enumerate() {
            for (name, time) in runtime.block_on(plane.round()) {
                match costs.iter_mut().find(|(known, _)| *known == name) {
                    Some((_, times)) => times[at].add(time),
                    None => {
                        let mut times = [Times::default(), Times::default()];
                        times[at].add(time);
                        costs.push((name, times));
                    }
                }
            }
        }
    }
    let boots = planes.map(Plane::boot);
    if size == Size::Whole {
        println!("{small} against {large} messages, p50 in microseconds");
        for (name, [small, large]) in &costs {
            say(name, small.p50(), large.p50());
        }
        let [small, large] = boots.map(|boot| boot.as_secs_f64() * 1e6);
        say("recovery at boot", small, large);
    }
}

fn say(name: &str, small: f64, large: f64) {
    let ratio = large / small;
    println!("  {name:20} {small:>9.0} {large:>11.0}  ratio {ratio:>6.2}  {}", met(ratio <= GOAL));
}

/// A plane with a history.
struct Plane {
    dir: TempDir,
    stand: Stand,
    listener: Listener,
    agent: Http,
    ops: Http,
    observer: Http,
    /// A message from the middle of the history.
    old: MessageId,
}

impl Plane {
    fn with(runtime: &tokio::runtime::Runtime, messages: usize) -> Self {
        let dir = directory();
        let stand = Stand::new(dir.path());
        let begun = Instant::now();
        let old = runtime.block_on(fill(&stand, messages));
        if messages > 1_000 {
            println!("  {messages} messages made in {:.0} s", begun.elapsed().as_secs_f64());
        }
        let listener = stand.listen(stand.plane.clone());
        let connect = |token: &str| runtime.block_on(Http::connect(listener.at, token)).unwrap();
        let (agent, ops, observer) =
            (connect(stand.agent.expose()), connect(stand.ops.expose()), connect(stand.observer.expose()));
        Self { dir, stand, listener, agent, ops, observer, old }
    }

    /// Each kind of request once.
    async fn round(&mut self) -> Vec<(&'static str, Duration)> {
        let mut took = Vec::new();
        let alert = self.submitted("interrupt-alert/1", "admission of an alert", &mut took).await;
        let claimed = self
            .agent("POST", "/claim", json!({"v": 1, "holder": "agent", "max": 1}), "claim", &mut took)
            .await;
        let fence = &claimed["fence"];
        let message = alert.id;
        self.agent(
            "POST",
            "/read",
            json!({"v": 1, "fence": fence, "message": message}),
            "read of a claimed one",
            &mut took,
        )
        .await;
        let fence_header = fence.as_u64().unwrap();
        let body = ack(&alert).to_value().to_string();
        let begun = Instant::now();
        let (status, answer) =
            self.agent.leased("POST /v1/acks", fence_header, body.as_bytes()).await.unwrap();
        took.push(("ACK", begun.elapsed()));
        assert_eq!(status, 200, "{}", String::from_utf8_lossy(&answer));
        self.agent("POST", "/release", json!({"v": 1, "fence": fence}), "release", &mut took).await;

        let mail = self.submitted("message/1", "admission of a message", &mut took).await;
        let claimed = self
            .agent("POST", "/claim", json!({"v": 1, "holder": "agent", "max": 1}), "claim", &mut took)
            .await;
        let (fence, first) = (claimed["fence"].clone(), claimed["messages"][0]["id"].clone());
        self.agent(
            "POST",
            "/read",
            json!({"v": 1, "fence": fence, "message": first}),
            "read of a claimed one",
            &mut took,
        )
        .await;
        let done = json!({"v": 1, "fence": fence, "in_reply_to": first, "turn": turn()});
        self.agent("POST", "/done", done, "done, cursor", &mut took).await;
        self.agent("POST", "/release", json!({"v": 1, "fence": fence}), "release", &mut took).await;

        self.agent("GET", "?from=start", Value::Null, "page from the start", &mut took).await;
        self.agent("GET", "?from=tail", Value::Null, "page at the tail", &mut took).await;
        self.agent("GET", "/work", Value::Null, "open work", &mut took).await;
        for (line, name) in [
            ("GET /v1/status".to_owned(), "status"),
            (format!("GET /v1/trace/{}", self.old), "trace of an old one"),
            (format!("GET /v1/trace/{}", mail.id), "trace of a new one"),
            (format!("GET /v1/receipts?message={}", self.old), "receipts"),
            ("GET /v1/audit?from=5&limit=10".to_owned(), "audit entries"),
        ] {
            let begun = Instant::now();
            let (status, answer) = self.observer.call(&line, b"").await.unwrap();
            took.push((name, begun.elapsed()));
            assert_eq!(status, 200, "{line}: {}", String::from_utf8_lossy(&answer));
        }
        took
    }

    async fn submitted(
        &mut self,
        schema: &str,
        name: &'static str,
        took: &mut Vec<(&'static str, Duration)>,
    ) -> Submission {
        let submission = submission(schema, "of pressure");
        let body = submission.to_value().to_string();
        let begun = Instant::now();
        let (status, answer) = self.ops.call("POST /v1/messages", body.as_bytes()).await.unwrap();
        took.push((name, begun.elapsed()));
        assert_eq!(status, 201, "{}", String::from_utf8_lossy(&answer));
        submission
    }

    async fn agent(
        &mut self,
        method: &str,
        path: &str,
        body: Value,
        name: &'static str,
        took: &mut Vec<(&'static str, Duration)>,
    ) -> Value {
        let body = if body.is_null() { String::new() } else { body.to_string() };
        let line = format!("{method} /v1/inbox/lotse{path}");
        let begun = Instant::now();
        let (status, answer) = self.agent.call(&line, body.as_bytes()).await.unwrap();
        took.push((name, begun.elapsed()));
        assert_eq!(status, 200, "{line}: {}", String::from_utf8_lossy(&answer));
        serde_json::from_slice(&answer).unwrap()
    }

    /// Ends it, and starts it again.
    fn boot(self) -> Duration {
        let Self { dir, stand, listener, agent, ops, observer, .. } = self;
        drop((agent, ops, observer, listener));
        stand.close();
        let begun = Instant::now();
        let stand = Stand::open(dir.path(), None);
        let took = begun.elapsed();
        stand.close();
        took
    }
}

/// Makes a history; gives a message from its middle.
async fn fill(stand: &Stand, messages: usize) -> MessageId {
    let mut old = None;
    let mut made = 0;
    while made < messages {
        let some = AT_ONCE.min(messages - made);
        let wave = (0..some).map(|_| stand.submit("message/1"));
        let submitted = futures_util::future::join_all(wave).await;
        made += some;
        if old.is_none() && made * 2 >= messages {
            old = submitted.first().map(|submission| submission.id);
        }
    }
    old.unwrap_or_else(|| unreachable!("a history has a middle"))
}
