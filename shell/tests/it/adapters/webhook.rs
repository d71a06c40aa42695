//! Webhooks: real HTTP and TLS on loopback, and signatures that two foreign libraries verify.

use std::process::Stdio;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use awakener::wake::{Means, Order, Patience, RuntimeAdapter};
use awakener_kernel::values::DispatchOutcome;
use awakener_tools::{Tool, enforces_process, npm, python};
use serde_json::{Value, json};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::PrivateKeyDer;

use super::agentapi::nowhere;
use super::server::{Asked, Reaction, Server, answer};
use super::suite::{Report, Runtime, World, judge, order};
use super::{chosen, private};
use crate::wake::rig::run;

const SECRET: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
const LONG: Duration = Duration::from_secs(10);

fn means() -> Means {
    let patience = Patience { connect: Duration::from_millis(600), answer: Duration::from_millis(500) };
    Means { patience, ..Means::default() }
}

fn says(status: &str) -> Reaction {
    Reaction::Says(answer(status, "text/plain", ""))
}

/// An endpoint, and a folder with the secrets that the manifest names.
struct Endpoint {
    server: Server,
    folder: tempfile::TempDir,
    down: Mutex<bool>,
    /// One adapter for as long as the world lasts: it remembers how long it shall wait.
    one: Mutex<Option<Arc<dyn RuntimeAdapter>>>,
}

impl Endpoint {
    async fn start() -> Self {
        let folder = private();
        awakener::keys::create_secret(&folder.path().join("secret"), SECRET).unwrap();
        awakener::keys::create_secret(&folder.path().join("token"), "hush").unwrap();
        let server = Server::start(|_| says("204 No Content")).await;
        Self { server, folder, down: Mutex::new(false), one: Mutex::new(None) }
    }

    fn lines(&self) -> String {
        let addr = if *self.down.lock().unwrap() { nowhere() } else { self.server.addr };
        format!(
            "runtime = \"webhook\"\nurl = \"http://{addr}/hook?agent=1\"\nallow_private = true\nsecret_file = \"secret\"\ntoken_file = \"token\""
        )
    }

    fn with(&self, lines: &str) -> Arc<dyn RuntimeAdapter> {
        chosen(self.folder.path(), lines, &means())
    }

    fn reacts(&self, reaction: Reaction) {
        self.server.forget();
        self.server.reacts(move |_| reaction.clone());
    }
}

impl Runtime for Endpoint {
    fn adapter(&self) -> Arc<dyn RuntimeAdapter> {
        Arc::clone(self.one.lock().unwrap().get_or_insert_with(|| self.with(&self.lines())))
    }

    async fn enter(&self, world: World) -> bool {
        *self.down.lock().unwrap() = world == World::Down;
        *self.one.lock().unwrap() = None;
        self.reacts(match world {
            World::Ready | World::Down => says("204 No Content"),
            World::Refusing => says("429 Too Many Requests"),
            World::Mute => Reaction::Hangs,
            World::Cut => Reaction::Drops,
            World::Garbage => Reaction::Says(b"220 smtp.example.invalid ESMTP\r\n".to_vec()),
            World::Huge => Reaction::Floods(b"HTTP/1.1 200 OK\r\nx: ".to_vec()),
            World::Slow => Reaction::Drips(b"HTTP/1.1 200 OK\r\nx: ".to_vec()),
            // It shows no state, and nothing is asked before the one request.
            World::Working | World::Late => return false,
        });
        true
    }

    async fn heard(&self) -> Vec<String> {
        self.server.asked().into_iter().map(|asked| asked.body).collect()
    }

    fn template(&self, order: &Order) -> String {
        order.posted()
    }

    fn taken(&self) -> u64 {
        self.server.flooded()
    }
}

enforces_process! {
    [Cap3, Cap4, Dsp4, Dsp5, Dsp6]
    fn cap_3_webhook_passes_the_suite_in_the_worlds_that_it_has(_seen) {
        run(async {
            let Report { broken, absent } = judge(&Endpoint::start().await).await;
            assert!(broken.is_empty(), "{broken:#?}");
            assert_eq!(absent.into_iter().collect::<Vec<_>>(), [World::Late, World::Working]);
        });
    }

    [Dsp4, Dsp5]
    fn dsp_4_each_answer_to_a_webhook_has_its_outcome(_seen) {
        use DispatchOutcome as Is;
        let moved = |status: &str, to: std::net::SocketAddr| {
            let text = format!("HTTP/1.1 {status}\r\nlocation: http://{to}/hook\r\ncontent-length: 0\r\n\r\n");
            Reaction::Says(text.into_bytes())
        };
        run(async {
            let (endpoint, elsewhere) = (Endpoint::start().await, Server::start(|_| says("200 OK")).await);
            let table = [
                (Is::NotifiedVerified, says("200 OK")),
                (Is::NotifiedVerified, says("202 Accepted")),
                // The head says it; nothing more of the answer is waited for.
                (Is::NotifiedVerified, Reaction::Floods(super::server::head("text/plain"))),
                (Is::NotifiedVerified, Reaction::Drips(super::server::head("text/plain"))),
                (Is::Unavailable, moved("301 Moved Permanently", elsewhere.addr)),
                (Is::Unavailable, moved("303 See Other", elsewhere.addr)),
                (Is::Unavailable, moved("307 Temporary Redirect", elsewhere.addr)),
                (Is::Unavailable, says("400 Bad Request")),
                (Is::Unavailable, says("401 Unauthorized")),
                (Is::Unavailable, says("410 Gone")),
                (Is::RefusedBusy, says("429 Too Many Requests")),
                (Is::RefusedBusy, says("503 Service Unavailable")),
                (Is::OutcomeUnknown, says("408 Request Timeout")),
                (Is::OutcomeUnknown, says("500 Internal Server Error")),
                (Is::OutcomeUnknown, says("502 Bad Gateway")),
                (Is::OutcomeUnknown, says("504 Gateway Timeout")),
                (Is::OutcomeUnknown, Reaction::Later(Duration::from_secs(60), Vec::new())),
            ];
            for (outcome, reaction) in table {
                endpoint.enter(World::Ready).await;
                endpoint.reacts(reaction.clone());
                assert_eq!(endpoint.adapter().dispatch(&order(1, LONG, false)).await, outcome, "{reaction:?}");
                assert_eq!(endpoint.heard().await.len(), 1, "{reaction:?}");
            }
            assert!(elsewhere.asked().is_empty(), "a redirect was followed");
        });
    }

    [Dsp3, Dsp4]
    fn dsp_3_an_endpoint_that_asks_for_a_pause_gets_it(_seen) {
        run(async {
            let endpoint = Endpoint::start().await;
            let told = |status: &str, after: &str| {
                let head = format!("HTTP/1.1 {status}\r\nretry-after: {after}\r\ncontent-length: 0\r\n\r\n");
                Reaction::Says(head.into_bytes())
            };
            endpoint.reacts(told("429 Too Many Requests", "3600"));
            let adapter = endpoint.adapter();
            for _ in 0..3 {
                assert_eq!(adapter.dispatch(&order(1, LONG, false)).await, DispatchOutcome::RefusedBusy);
            }
            assert_eq!(endpoint.heard().await.len(), 1);
            // A date, or none, holds nothing back.
            for after in ["Fri, 31 Dec 1999 23:59:59 GMT", "0", "-1"] {
                endpoint.enter(World::Ready).await;
                endpoint.reacts(told("503 Service Unavailable", after));
                let adapter = endpoint.adapter();
                assert_eq!(adapter.dispatch(&order(1, LONG, false)).await, DispatchOutcome::RefusedBusy);
                endpoint.reacts(says("200 OK"));
                assert_eq!(adapter.dispatch(&order(2, LONG, false)).await, DispatchOutcome::NotifiedVerified, "{after}");
            }
        });
    }

    [Prt3]
    fn prt_3_an_address_of_this_machine_is_met_only_where_the_manifest_allows_it(_seen) {
        run(async {
            let (endpoint, certificate) = (Endpoint::start().await, Certificate::new(endpoint_names()));
            let server = Server::over("127.0.0.1:0", Some(certificate.acceptor()), |_| says("200 OK")).await;
            certificate.write(endpoint.folder.path());
            let port = server.addr.port();
            for host in ["127.0.0.1", "localhost", "2130706433", "[::ffff:127.0.0.1]"] {
                let lines = format!("runtime = \"webhook\"\nurl = \"https://{host}:{port}/\"\nsecret_file = \"secret\"\nca_file = \"ca.pem\"");
                let refused = endpoint.with(&lines).dispatch(&order(1, LONG, false)).await;
                assert_eq!((refused, server.connections()), (DispatchOutcome::NotAttempted, 0), "{host}");
            }
            let lines = format!("runtime = \"webhook\"\nurl = \"https://localhost:{port}/\"\nsecret_file = \"secret\"\nca_file = \"ca.pem\"\nallow_private = true");
            assert_eq!(endpoint.with(&lines).dispatch(&order(1, LONG, false)).await, DispatchOutcome::NotifiedVerified);
            assert_eq!((server.connections(), server.asked().len()), (1, 1));
        });
    }

    [Cap3, Dsp4]
    fn cap_3_https_is_for_whom_the_certificate_names_and_somebody_trusts(_seen) {
        run(async {
            let endpoint = Endpoint::start().await;
            let (certificate, foreign) = (Certificate::new(endpoint_names()), Certificate::new(endpoint_names()));
            let other = Certificate::new(vec!["example.invalid".to_owned()]);
            for (served, trusted, outcome) in [
                (&certificate, &certificate, DispatchOutcome::NotifiedVerified),
                (&foreign, &certificate, DispatchOutcome::Unavailable),
                (&other, &other, DispatchOutcome::Unavailable),
            ] {
                let server = Server::over("127.0.0.1:0", Some(served.acceptor()), |_| says("200 OK")).await;
                trusted.write(endpoint.folder.path());
                let lines = format!(
                    "runtime = \"webhook\"\nurl = \"https://localhost:{}/\"\nsecret_file = \"secret\"\nca_file = \"ca.pem\"\nallow_private = true",
                    server.addr.port()
                );
                assert_eq!(endpoint.with(&lines).dispatch(&order(1, LONG, false)).await, outcome);
                assert_eq!(server.asked().len(), usize::from(outcome == DispatchOutcome::NotifiedVerified));
            }
        });
    }

    [Cap4]
    fn cap_4_without_its_secrets_a_webhook_sends_nothing(_seen) {
        run(async {
            let endpoint = Endpoint::start().await;
            let (secret, token) = (endpoint.folder.path().join("secret"), endpoint.folder.path().join("token"));
            let adapter = endpoint.adapter();
            for (file, bad, good) in [(&secret, "whsec_short", SECRET), (&token, "a\nb", "hush")] {
                std::fs::write(file, bad).unwrap();
                assert_eq!(adapter.dispatch(&order(1, LONG, false)).await, DispatchOutcome::NotAttempted, "{bad}");
                std::fs::remove_file(file).unwrap();
                assert_eq!(adapter.dispatch(&order(1, LONG, false)).await, DispatchOutcome::NotAttempted);
                awakener::keys::create_secret(file, good).unwrap();
            }
            assert!(endpoint.heard().await.is_empty());
            assert_eq!(adapter.dispatch(&order(2, LONG, false)).await, DispatchOutcome::NotifiedVerified);
            let asked = endpoint.server.asked();
            assert_eq!(asked[0].headers["authorization"], "Bearer hush");
            let shown = format!("{adapter:?}{}", asked[0].body);
            assert!(!shown.contains("hush") && !shown.contains("MfKQ"), "{shown}");
        });
    }

    [Dsp6, Dsp4]
    fn dsp_6_foreign_libraries_verify_what_is_posted_and_refuse_anything_else(_seen) {
        let asked = run(async {
            let endpoint = Endpoint::start().await;
            for attempt in 1..4 {
                endpoint.adapter().dispatch(&order(attempt, LONG, attempt == 2)).await;
            }
            endpoint.server.asked()
        });
        assert_eq!(asked.len(), 3);
        let cases = cases(&asked);
        let wanted: Vec<bool> = cases.iter().map(|case| case["good"] == true).collect();
        assert_eq!(wanted.iter().filter(|good| **good).count(), 3);
        for (library, verdicts) in [("PyPI", in_python(&cases)), ("npm", in_node(&cases))] {
            if let Some(verdicts) = verdicts {
                assert_eq!(verdicts, wanted, "{library}");
            }
        }
        for (number, asked) in asked.iter().enumerate() {
            let body: Value = serde_json::from_str(&asked.body).unwrap();
            let wake = order(number as u64 + 1, LONG, false).wake;
            assert_eq!(body.as_object().unwrap().keys().collect::<Vec<_>>(), ["attempt", "message_id", "target", "type"]);
            assert_eq!(asked.headers["webhook-id"], wake.to_string());
            assert_eq!((asked.path.as_str(), asked.headers["content-type"].as_str()), ("/hook?agent=1", "application/json"));
        }
    }
}

#[test]
fn dsp_7_a_webhook_that_answers_late_does_not_hold_up_the_next_target() {
    run(async {
        let (mute, quick) = (Endpoint::start().await, Endpoint::start().await);
        mute.reacts(Reaction::Hangs);
        let (slow, fast) = (mute.adapter(), quick.adapter());
        let (first, second) = (order(1, LONG, false), order(2, LONG, false));
        let waiting = tokio::spawn(async move { slow.dispatch(&first).await });
        let began = Instant::now();
        assert_eq!(fast.dispatch(&second).await, DispatchOutcome::NotifiedVerified);
        assert!(!waiting.is_finished() || began.elapsed() >= means().patience.answer);
        assert_eq!(waiting.await.unwrap(), DispatchOutcome::OutcomeUnknown);
    });
}

/// What came, and what it is not: another body, another id, another time, another secret.
fn cases(asked: &[Asked]) -> Vec<Value> {
    let mut cases = Vec::new();
    for asked in asked {
        let headers: serde_json::Map<String, Value> = asked
            .headers
            .iter()
            .filter(|(name, _)| name.starts_with("webhook-"))
            .map(|(name, value)| (name.clone(), value.as_str().into()))
            .collect();
        let good = json!({ "good": true, "secret": SECRET, "body": asked.body, "headers": headers });
        let edit = |pointer: &str, value: &str| {
            let mut bad = good.clone();
            bad["good"] = false.into();
            *bad.pointer_mut(pointer).unwrap() = value.into();
            bad
        };
        let time: i64 = asked.headers["webhook-timestamp"].parse().unwrap();
        cases.extend([
            edit("/body", &asked.body.replace("builder", "builders")),
            edit("/headers/webhook-id", "00000000-0000-7000-8000-000000000000"),
            edit("/headers/webhook-timestamp", &(time - 1).to_string()),
            edit("/headers/webhook-timestamp", &(time - 3_600).to_string()),
            edit("/secret", "whsec_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"),
            good,
        ]);
    }
    cases
}

const PYTHON: &str = "
import json, sys
from standardwebhooks.webhooks import Webhook, WebhookVerificationError
def good(case):
    try:
        Webhook(case['secret']).verify(case['body'], case['headers'])
        return True
    except WebhookVerificationError:
        return False
print(json.dumps([good(case) for case in json.loads(sys.argv[1])]))
";

const NODE: &str = "
const { Webhook, WebhookVerificationError } = require('standardwebhooks');
const good = (known) => {
  try { new Webhook(known.secret).verify(known.body, known.headers); return true; }
  catch (error) { if (error instanceof WebhookVerificationError) return false; throw error; }
};
console.log(JSON.stringify(JSON.parse(process.argv[1]).map(good)));
";

fn in_python(cases: &[Value]) -> Option<Vec<bool>> {
    let Tool::Ready(python) = python::environment().unwrap_or_else(|error| panic!("{error}")) else {
        return None;
    };
    let mut command = std::process::Command::new(python);
    command.args(["-c", PYTHON]);
    Some(verdicts(command, cases))
}

fn in_node(cases: &[Value]) -> Option<Vec<bool>> {
    npm::standard_webhooks(NODE)
        .unwrap_or_else(|error| panic!("{error}"))
        .map(|command| verdicts(command, cases))
}

fn verdicts(mut command: std::process::Command, cases: &[Value]) -> Vec<bool> {
    let output = command.arg(Value::from(cases).to_string()).stdin(Stdio::null()).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    serde_json::from_slice(&output.stdout).unwrap()
}

fn endpoint_names() -> Vec<String> {
    vec!["localhost".to_owned()]
}

/// A certificate that signs itself.
struct Certificate(rcgen::CertifiedKey<rcgen::KeyPair>);

impl Certificate {
    fn new(names: Vec<String>) -> Self {
        Self(rcgen::generate_simple_self_signed(names).unwrap())
    }

    fn write(&self, folder: &std::path::Path) {
        std::fs::write(folder.join("ca.pem"), self.0.cert.pem()).unwrap();
    }

    fn acceptor(&self) -> TlsAcceptor {
        let key = PrivateKeyDer::try_from(self.0.signing_key.serialize_der()).unwrap();
        let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![self.0.cert.der().clone()], key)
            .unwrap();
        TlsAcceptor::from(Arc::new(config))
    }
}
