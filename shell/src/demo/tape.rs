//! HTTP from outside: every answer as plain JSON, and a tape that remembers what was read.
//!
//! Uses no type of the program's own interface on purpose: what the demo sees is what any other client would see. The
//! tape counts how much was read and whether the one word that RCP-3 forbids was in it.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use serde_json::{Value, json};

/// The word that no answer, record or log may hold (RCP-3); put together here so that it does not stand here either.
const FORBIDDEN: &str = concat!("deliver", "ed");

/// What was read, over the whole demo.
#[derive(Debug, Default)]
pub struct Tape {
    bytes: AtomicU64,
    found: AtomicU64,
}

impl Tape {
    /// Notes a text that came from the stack.
    pub fn note(&self, text: &str) {
        self.bytes.fetch_add(u64::try_from(text.len()).unwrap_or(u64::MAX), Ordering::Relaxed);
        let found = text.to_ascii_lowercase().matches(FORBIDDEN).count();
        self.found.fetch_add(u64::try_from(found).unwrap_or(u64::MAX), Ordering::Relaxed);
    }

    /// How much was read and how often the word was in it.
    pub fn seen(&self) -> Value {
        json!({
            "bytes": self.bytes.load(Ordering::Relaxed),
            "found": self.found.load(Ordering::Relaxed),
        })
    }
}

/// A client that keeps nothing but the tape.
#[derive(Clone, Debug)]
pub struct Outside {
    http: reqwest::Client,
    tape: Arc<Tape>,
}

/// One answer.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    /// The HTTP status.
    pub status: u16,
    /// The body; null if it is no JSON.
    pub body: Value,
}

impl Answer {
    /// As an observation: the status, and the body under `answer`.
    pub fn seen(&self) -> Value {
        json!({ "status": self.status, "answer": self.body })
    }
}

impl Outside {
    /// A client for loopback.
    ///
    /// # Errors
    /// In words.
    pub fn new(tape: Arc<Tape>) -> Result<Self, String> {
        let http = reqwest::Client::builder()
            .no_proxy()
            .redirect(reqwest::redirect::Policy::none())
            .connect_timeout(Duration::from_secs(2))
            .timeout(Duration::from_secs(10))
            // Processes come and go here; a connection to one that has gone must not be used again.
            .pool_max_idle_per_host(0)
            .build()
            .map_err(|error| error.to_string())?;
        Ok(Self { http, tape })
    }

    /// What was read so far.
    pub fn tape(&self) -> &Tape {
        &self.tape
    }

    /// Asks.
    ///
    /// # Errors
    /// In words, when there is no answer.
    pub async fn get(&self, url: &str, token: &str) -> Result<Answer, String> {
        self.send(self.http.get(url), token).await
    }

    /// Posts JSON.
    ///
    /// # Errors
    /// In words, when there is no answer.
    pub async fn post(&self, url: &str, token: &str, body: &Value) -> Result<Answer, String> {
        self.send(self.http.post(url).json(body), token).await
    }

    /// Posts bytes as they are.
    ///
    /// # Errors
    /// In words, when there is no answer.
    pub async fn post_bytes(&self, url: &str, token: &str, body: Vec<u8>) -> Result<Answer, String> {
        self.send(self.http.post(url).body(body), token).await
    }

    async fn send(&self, request: reqwest::RequestBuilder, token: &str) -> Result<Answer, String> {
        let request = if token.is_empty() { request } else { request.bearer_auth(token) };
        let answer = request.send().await.map_err(|error| said(&error))?;
        let status = answer.status().as_u16();
        let text = answer.text().await.map_err(|error| said(&error))?;
        self.tape.note(&text);
        Ok(Answer { status, body: serde_json::from_str(&text).unwrap_or(Value::Null) })
    }
}

fn said(error: &dyn std::error::Error) -> String {
    match error.source() {
        Some(cause) => format!("{error}: {}", said(cause)),
        None => error.to_string(),
    }
}
