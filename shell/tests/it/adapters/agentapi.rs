//! AgentAPI: a server that answers as coder/agentapi 0.12.1 is documented and written to answer, and every error of it.
//!
//! Each request is held against its description, and so is each answer that the server gives.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use awakener::wake::{AgentApi, BUSY, Manners, Means, Order, RuntimeAdapter};
use awakener_kernel::values::DispatchOutcome;
use awakener_tools::enforces_process;
use serde_json::{Value, json};

use super::schema;
use super::server::{Asked, Reaction, Server, answer, head};
use super::suite::{Report, Runtime, World, judge, order};
use super::{chosen, private};
use crate::wake::rig::run;

pub const JSON: &str = "application/json";
pub const PROBLEM: &str = "application/problem+json";

/// Impatient manners.
pub fn manners() -> Manners {
    Manners {
        poll: Duration::from_millis(20),
        quiet: Duration::from_millis(100),
        status: Duration::from_millis(600),
        answer: Duration::from_millis(500),
    }
}

/// What the server answers to a status.
pub fn status(word: &str) -> Vec<u8> {
    let body = json!({ "status": word, "agent_type": "claude", "transport": "pty" });
    schema::fits(schema::STATUS, &body);
    answer("200 OK", JSON, &body.to_string())
}

/// What it answers to a message that it took.
pub fn taken() -> Vec<u8> {
    let body = json!({ "ok": true });
    schema::fits(schema::TAKEN, &body);
    answer("200 OK", JSON, &body.to_string())
}

/// Its error, in the form of its framework: the cause is in the list.
pub fn problem(status: &str, title: &str, detail: &str, message: &str) -> Vec<u8> {
    let number: i64 = status.split(' ').next().unwrap().parse().unwrap();
    let errors = json!([{ "message": message }]);
    let body = json!({ "title": title, "status": number, "detail": detail, "errors": errors });
    schema::fits(schema::ERROR, &body);
    answer(status, PROBLEM, &body.to_string())
}

fn failed(message: &str) -> Vec<u8> {
    problem("500 Internal Server Error", "Internal Server Error", "failed to send message", message)
}

/// A server in a given state; every request that reaches it is held against the description.
async fn agentapi(state: Arc<Mutex<State>>) -> Server {
    Server::start(move |asked| react(&state.lock().unwrap(), asked)).await
}

/// How the server is.
#[derive(Clone)]
struct State {
    status: Reaction,
    message: Reaction,
}

impl Default for State {
    fn default() -> Self {
        Self { status: Reaction::Says(status("stable")), message: Reaction::Says(taken()) }
    }
}

fn react(state: &State, asked: &Asked) -> Reaction {
    match (asked.method.as_str(), asked.path.as_str()) {
        ("GET", "/status") => state.status.clone(),
        ("POST", "/message") => {
            let body: Value = serde_json::from_str(&asked.body).unwrap();
            schema::fits(schema::MESSAGE, &body);
            assert_eq!((asked.headers["content-type"].as_str(), &body["type"]), (JSON, &json!("user")));
            state.message.clone()
        }
        other => panic!("{other:?} is no operation that awakener uses"),
    }
}

/// The server as a runtime of the suite.
pub struct Served {
    state: Arc<Mutex<State>>,
    server: Server,
    /// Where nobody listens.
    nowhere: std::net::SocketAddr,
    down: Mutex<bool>,
}

impl Served {
    pub async fn start() -> Self {
        let state: Arc<Mutex<State>> = Arc::default();
        let server = agentapi(Arc::clone(&state)).await;
        Self { state, server, nowhere: nowhere(), down: Mutex::new(false) }
    }

    fn addr(&self) -> std::net::SocketAddr {
        if *self.down.lock().unwrap() { self.nowhere } else { self.server.addr }
    }

    pub fn real(&self) -> AgentApi {
        AgentApi::at(&format!("http://{}", self.addr()), manners()).unwrap()
    }
}

/// An address at which nobody listens.
pub fn nowhere() -> std::net::SocketAddr {
    std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap()
}

impl Runtime for Served {
    fn adapter(&self) -> Arc<dyn RuntimeAdapter> {
        let (folder, means) = (private(), Means { manners: manners(), ..Means::default() });
        chosen(
            folder.path(),
            &format!("runtime = \"agentapi\"\nendpoint = \"http://{}/message\"", self.addr()),
            &means,
        )
    }

    async fn enter(&self, world: World) -> bool {
        let mut state = State::default();
        match world {
            World::Ready | World::Down => {}
            World::Late => state.status = Reaction::Later(Duration::from_millis(300), status("stable")),
            World::Working => state.status = Reaction::Says(status("running")),
            World::Refusing => {
                state.message = Reaction::Says(failed(&format!("failed to send message: {BUSY}")))
            }
            World::Mute => state.message = Reaction::Hangs,
            World::Cut => state.message = Reaction::Drops,
            World::Garbage => {
                state.message = Reaction::Says(answer("200 OK", "text/html", "<html>ok: true</html>"))
            }
            World::Huge => state.message = Reaction::Floods(head(JSON)),
            World::Slow => state.message = Reaction::Drips(head(JSON)),
        }
        *self.state.lock().unwrap() = state;
        *self.down.lock().unwrap() = world == World::Down;
        self.server.forget();
        true
    }

    async fn heard(&self) -> Vec<String> {
        let posted = self.server.posted();
        posted
            .iter()
            .map(|asked| serde_json::from_str::<Value>(&asked.body).unwrap()["content"].to_string())
            .collect()
    }

    fn template(&self, order: &Order) -> String {
        Value::from(order.text()).to_string()
    }

    fn taken(&self) -> u64 {
        self.server.flooded()
    }
}

enforces_process! {
    [Cap3, Dsp4, Dsp5, Dsp6]
    fn cap_3_agentapi_passes_the_suite_in_every_world(_seen) {
        run(async {
            let Report { broken, absent } = judge(&Served::start().await).await;
            assert!(broken.is_empty() && absent.is_empty(), "{broken:#?} {absent:?}");
        });
    }

    [Dsp4, Dsp5]
    fn dsp_4_each_error_of_agentapi_has_its_outcome(_seen) {
        use DispatchOutcome as Is;
        let wait = Duration::from_millis(100);
        let html = |status: &str| answer(status, "text/html", "<html></html>");
        let unprocessable = problem("422 Unprocessable Entity", "Unprocessable Entity", "validation failed", "expected value to be one of \"user, raw\"");
        let host = answer("400 Bad Request", "text/plain", "Invalid host header. Allowed hosts: localhost");
        let moved = b"HTTP/1.1 307 Temporary Redirect\r\nlocation: /elsewhere\r\ncontent-length: 0\r\n\r\n".to_vec();
        let errors = [
            (Is::NotifiedVerified, Reaction::Says(taken())),
            (Is::NotifiedVerified, Reaction::Later(wait, taken())),
            (Is::RefusedBusy, Reaction::Says(failed(&format!("failed to send message: {BUSY}")))),
            (Is::RefusedBusy, Reaction::Says(problem("500 Internal Server Error", "e", &format!("x: {BUSY}"), "y"))),
            (Is::Unavailable, Reaction::Says(failed("failed to send message: message must not be empty"))),
            (Is::Unavailable, Reaction::Says(failed("message must be trimmed of leading and trailing whitespace"))),
            (Is::OutcomeUnknown, Reaction::Later(wait, failed("failed to wait for screen to stabilize: context canceled"))),
            (Is::OutcomeUnknown, Reaction::Later(wait, failed("failed to wait for processing to start: timeout waiting for condition"))),
            (Is::OutcomeUnknown, Reaction::Says(failed("failed to write message part: broken pipe"))),
            (Is::OutcomeUnknown, Reaction::Says(failed("failed to write carriage return: broken pipe"))),
            (Is::OutcomeUnknown, Reaction::Says(html("500 Internal Server Error"))),
            (Is::OutcomeUnknown, Reaction::Says(html("502 Bad Gateway"))),
            (Is::OutcomeUnknown, Reaction::Says(html("408 Request Timeout"))),
            (Is::Unavailable, Reaction::Says(unprocessable)),
            (Is::Unavailable, Reaction::Says(host)),
            (Is::Unavailable, Reaction::Says(html("404 Not Found"))),
            (Is::Unavailable, Reaction::Says(moved)),
            (Is::OutcomeUnknown, Reaction::Says(answer("200 OK", JSON, "{\"ok\":false}"))),
            (Is::OutcomeUnknown, Reaction::Says(answer("200 OK", JSON, "{\"ok\":\"true\"}"))),
            (Is::OutcomeUnknown, Reaction::Says(answer("200 OK", JSON, "{\"ok\":true"))),
            (Is::OutcomeUnknown, Reaction::Says(html("200 OK"))),
            (Is::OutcomeUnknown, Reaction::Says(b"HTTP/1.1 200 OK\r\ncontent-length: 99\r\n\r\n{\"ok\":true}".to_vec())),
            (Is::OutcomeUnknown, Reaction::Says(b"SSH-2.0-OpenSSH_9.6\r\n".to_vec())),
            (Is::OutcomeUnknown, Reaction::Drops),
            (Is::OutcomeUnknown, Reaction::Hangs),
        ];
        run(async {
            let served = Served::start().await;
            for (number, (outcome, message)) in errors.into_iter().enumerate() {
                served.enter(World::Ready).await;
                served.state.lock().unwrap().message = message.clone();
                let order = order(number as u64, Duration::from_secs(10), false);
                assert_eq!(served.real().dispatch(&order).await, outcome, "{message:?}");
                assert_eq!(served.heard().await, [served.template(&order)], "one notice: {message:?}");
            }
        });
    }

    [Dsp3, Dsp4]
    fn dsp_3_a_state_that_is_not_clear_gets_nothing(_seen) {
        use DispatchOutcome as Is;
        let says = |status: &str, body: &str| Reaction::Says(answer(status, JSON, body));
        let table = [
            (Is::RefusedBusy, Reaction::Says(status("running"))),
            (Is::NotAttempted, Reaction::Hangs),
            (Is::NotAttempted, Reaction::Drops),
            (Is::NotAttempted, Reaction::Floods(head(JSON))),
            (Is::NotAttempted, Reaction::Drips(head(JSON))),
            (Is::NotAttempted, says("200 OK", "{\"status\":\"changing\"}")),
            (Is::NotAttempted, says("200 OK", "[]")),
            (Is::NotAttempted, says("200 OK", "<html>")),
            (Is::NotAttempted, says("503 Service Unavailable", "")),
            (Is::Unavailable, Reaction::Says(answer("400 Bad Request", "text/plain", "Invalid host header."))),
            (Is::Unavailable, says("404 Not Found", "")),
        ];
        run(async {
            let served = Served::start().await;
            for (outcome, status) in table {
                served.enter(World::Ready).await;
                served.state.lock().unwrap().status = status.clone();
                let order = order(1, Duration::from_secs(10), false);
                assert_eq!(served.real().dispatch(&order).await, outcome, "{status:?}");
                assert!(served.heard().await.is_empty(), "{status:?}");
            }
            // The control: the same server, when it is clear.
            served.enter(World::Ready).await;
            assert_eq!(served.real().dispatch(&order(2, Duration::from_secs(10), false)).await, Is::NotifiedVerified);
            assert_eq!(served.heard().await.len(), 1);
        });
    }

    [Cap4]
    fn cap_4_a_token_is_read_for_each_call_and_goes_into_its_header_alone(_seen) {
        let folder = private();
        awakener::keys::create_secret(&folder.path().join("token"), "hush-one").unwrap();
        run(async {
            let served = Served::start().await;
            let means = Means { manners: manners(), ..Means::default() };
            let lines = format!("runtime = \"agentapi\"\nendpoint = \"http://{}/message\"\ntoken_file = \"token\"", served.server.addr);
            let adapter = chosen(folder.path(), &lines, &means);
            let order = order(1, Duration::from_secs(10), false);
            for token in ["hush-one", "hush-two"] {
                std::fs::write(folder.path().join("token"), token).unwrap();
                served.server.forget();
                assert_eq!(adapter.dispatch(&order).await, DispatchOutcome::NotifiedVerified);
                for asked in served.server.asked() {
                    assert_eq!(asked.headers["authorization"], format!("Bearer {token}"));
                    assert!(!asked.body.contains("hush") && !asked.path.contains("hush"));
                }
            }
            assert!(!format!("{adapter:?}").contains("hush"));
            // Without it nothing is asked, and nothing is sent.
            std::fs::remove_file(folder.path().join("token")).unwrap();
            served.server.forget();
            assert_eq!(adapter.dispatch(&order).await, DispatchOutcome::NotAttempted);
            assert!(served.server.asked().is_empty());
        });
    }
}

#[test]
fn dsp_5_agentapi_is_given_the_time_that_it_takes() {
    // Two seconds for the echo, fifteen for a reaction to Enter.
    assert!(Manners::default().answer >= Duration::from_secs(20));
    assert!(Manners::default().status < Duration::from_secs(5));
}
