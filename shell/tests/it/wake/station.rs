//! A runtime that speaks like AgentAPI on loopback, as a test wants it to behave.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use awakener::wake::{AgentApi, Manners};
use axum::extract::State;
use axum::http::StatusCode;
use axum::routing::{get, post};
use axum::{Json, Router};
use serde_json::{Value, json};

/// Called for each message before it is answered.
type Hook = Box<dyn Fn() + Send + Sync>;

#[derive(Default)]
struct Inner {
    told: Vec<(Instant, String)>,
    running: bool,
    /// Goes to work by itself when it is told.
    works: bool,
    /// Takes a message and never answers.
    mute: bool,
    /// Answers this instead.
    answer: Option<StatusCode>,
    hook: Option<Hook>,
}

/// The runtime; ends with its last handle.
#[derive(Clone)]
pub struct Station {
    inner: Arc<Mutex<Inner>>,
    pub addr: SocketAddr,
    _task: Arc<Ends>,
}

struct Ends(tokio::task::JoinHandle<()>);

impl Drop for Ends {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl Station {
    pub async fn start() -> Self {
        Self::at("127.0.0.1:0".parse().unwrap()).await
    }

    pub async fn at(addr: SocketAddr) -> Self {
        let inner: Arc<Mutex<Inner>> = Arc::default();
        let routes = Router::new()
            .route("/message", post(message))
            .route("/status", get(status))
            .with_state(Arc::clone(&inner));
        let listener = tokio::net::TcpListener::bind(addr).await.unwrap();
        let addr = listener.local_addr().unwrap();
        let task = tokio::spawn(async move { axum::serve(listener, routes).await.unwrap() });
        Self { inner, addr, _task: Arc::new(Ends(task)) }
    }

    /// An impatient adapter for it.
    pub fn adapter(&self) -> AgentApi {
        adapter_at(self.addr)
    }

    pub fn told(&self) -> Vec<String> {
        self.inner.lock().unwrap().told.iter().map(|(_, text)| text.clone()).collect()
    }

    pub fn times(&self) -> Vec<Instant> {
        self.inner.lock().unwrap().told.iter().map(|(at, _)| *at).collect()
    }

    pub fn running(&self, running: bool) {
        self.inner.lock().unwrap().running = running;
    }

    pub fn works(&self, works: bool) {
        self.inner.lock().unwrap().works = works;
    }

    pub fn mute(&self, mute: bool) {
        self.inner.lock().unwrap().mute = mute;
    }

    pub fn answer(&self, status: Option<StatusCode>) {
        self.inner.lock().unwrap().answer = status;
    }

    pub fn when_told(&self, hook: impl Fn() + Send + Sync + 'static) {
        self.inner.lock().unwrap().hook = Some(Box::new(hook));
    }
}

pub fn adapter_at(addr: SocketAddr) -> AgentApi {
    let manners = Manners {
        poll: Duration::from_millis(20),
        quiet: Duration::from_millis(200),
        status: Duration::from_millis(500),
        answer: Duration::from_millis(300),
    };
    AgentApi::at(&format!("http://{addr}"), manners).unwrap()
}

async fn message(
    State(inner): State<Arc<Mutex<Inner>>>,
    Json(body): Json<Value>,
) -> (StatusCode, Json<Value>) {
    let (mute, answer) = {
        let mut inner = inner.lock().unwrap();
        assert_eq!(body["type"], "user");
        if let Some(hook) = &inner.hook {
            hook();
        }
        let taken = inner.answer.is_none();
        if taken {
            inner.told.push((Instant::now(), body["content"].as_str().unwrap().to_owned()));
            inner.running |= inner.works;
        }
        (inner.mute, inner.answer)
    };
    if mute {
        std::future::pending::<()>().await;
    }
    (answer.unwrap_or(StatusCode::OK), Json(json!({ "ok": true })))
}

async fn status(State(inner): State<Arc<Mutex<Inner>>>) -> Json<Value> {
    let running = inner.lock().unwrap().running;
    Json(json!({ "status": if running { "running" } else { "stable" } }))
}
