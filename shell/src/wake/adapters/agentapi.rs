//! Runtimes that speak AgentAPI on this machine: coder/agentapi, and the hosted station.
//!
//! `GET /status` before anything is written, `POST /message` with the wake text, then `GET /status` again and again until
//! the runtime is idle. A busy AgentAPI says so with a 500 whose text must be read; any other 500 comes after keys were
//! typed and means that nobody knows. `ok: true` says that something happened on the screen, so it is a notice that was
//! taken and never one that was read. AgentAPI has no authentication and belongs on loopback; nothing else is met.
//! Rules: DSP-3 to DSP-7, DSP-12, CAP-3, CAP-4.

use std::path::Path;
use std::time::{Duration, Instant};

use awakener_kernel::values::{DispatchOutcome, FlightEnd};
use awakener_kernel::waker::Fate;
use axum::http::{HeaderName, HeaderValue, Method, StatusCode, header};
use reqwest::Url;
use serde_json::{Value, json};

use super::address::{self, Reach};
use super::call::{self, Call, Came, NotSent};
use super::secret::{self, Named};
use crate::broker::Later;
use crate::manifest::Agent;
use crate::wake::adapter::{Capabilities, Order, RuntimeAdapter};

/// What AgentAPI says, in a 500, of an agent that is not waiting for input.
pub const BUSY: &str = "message can only be sent when the agent is waiting for user input";
/// What it says of a text that it does not take, likewise before anything is typed.
const NOT_TAKEN: [&str; 2] =
    ["message must not be empty", "message must be trimmed of leading and trailing whitespace"];
/// The most bytes of an answer.
const LONGEST: usize = 64 * 1024;

/// How patient the adapter is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Manners {
    /// Between two looks at a status.
    pub poll: Duration,
    /// A runtime that took a notice and was idle for so long without having been seen busy is done with it.
    pub quiet: Duration,
    /// For a status, and for a connection.
    pub status: Duration,
    /// For the answer to a message; after it nobody knows (DSP-5). AgentAPI itself takes up to about 17 s.
    pub answer: Duration,
}

impl Default for Manners {
    fn default() -> Self {
        Self {
            poll: Duration::from_millis(250),
            quiet: Duration::from_secs(3),
            status: Duration::from_secs(2),
            answer: Duration::from_secs(25),
        }
    }
}

/// The adapter.
#[derive(Clone, Debug)]
pub struct AgentApi {
    message: Url,
    status: Url,
    token: Option<Named>,
    manners: Manners,
}

/// What a look at a status shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Seen {
    Running,
    Stable,
    /// Nobody listens there.
    Down,
    /// Somebody listens who will not be asked: another service, or another name for this one.
    Foreign,
    /// Anything else, a time-out among it: AgentAPI answers no status while it types.
    Unclear,
}

impl AgentApi {
    /// As an agent's settings say: `endpoint` (the base URL, or that of `/message`), `status_endpoint`, and `token_env` or
    /// `token_file` for a bearer token; a file without a root lies in `beside`.
    ///
    /// # Errors
    /// In words: an endpoint that cannot be one of this machine, or two places of one token.
    pub fn of(agent: &Agent, beside: &Path, manners: Manners) -> Result<Self, String> {
        let endpoint = agent.text("endpoint").ok_or_else(|| format!("{}: no `endpoint`", agent.target))?;
        let token = Named::of(agent, "token", beside)?;
        Ok(Self { token, ..Self::with(endpoint, agent.text("status_endpoint"), manners)? })
    }

    /// A runtime at this base URL.
    ///
    /// # Errors
    /// In words: an endpoint that cannot be one of this machine.
    pub fn at(endpoint: &str, manners: Manners) -> Result<Self, String> {
        Self::with(endpoint, None, manners)
    }

    fn with(endpoint: &str, status: Option<&str>, manners: Manners) -> Result<Self, String> {
        let base = endpoint.trim_end_matches('/');
        let base = base.strip_suffix("/message").unwrap_or(base);
        let status = status.map_or_else(|| format!("{base}/status"), str::to_owned);
        let message = crate::broker::loopback(&format!("{base}/message"))?;
        Ok(Self { message, status: crate::broker::loopback(&status)?, token: None, manners })
    }

    async fn tell(&self, order: &Order) -> DispatchOutcome {
        let until = Instant::now() + order.within;
        awakener_spec::rule!(Dsp3);
        let outcome = match self.look(until).await {
            Seen::Running => DispatchOutcome::RefusedBusy,
            // Nothing was sent, so nothing can have started.
            Seen::Down | Seen::Foreign => DispatchOutcome::Unavailable,
            // Into an unknown state nothing is written.
            Seen::Unclear => DispatchOutcome::NotAttempted,
            Seen::Stable => self.post(order, until).await,
        };
        tracing::debug!(target = %order.target, attempt = order.attempt, ?outcome, "agentapi");
        outcome
    }

    async fn post(&self, order: &Order, until: Instant) -> DispatchOutcome {
        let key = format!("{}/{}/{}", order.target, order.attempt, order.wake);
        let Ok(key) = HeaderValue::from_str(&key) else { return DispatchOutcome::NotAttempted };
        let headers = vec![
            (header::CONTENT_TYPE, HeaderValue::from_static("application/json")),
            (HeaderName::from_static("idempotency-key"), key),
        ];
        let body = json!({ "content": order.text(), "type": "user" }).to_string().into_bytes();
        let came = self.call(Method::POST, &self.message, headers, body, until, self.manners.answer).await;
        let (outcome, why) = heard(came, order.attended);
        if let Some(why) = why {
            tracing::warn!(target = %order.target, attempt = order.attempt, ?outcome, "agentapi: {why}");
        }
        outcome
    }

    async fn look(&self, until: Instant) -> Seen {
        let patience = self.manners.status;
        match self.call(Method::GET, &self.status, Vec::new(), Vec::new(), until, patience).await {
            Came::NotSent(NotSent::Refused(_)) => Seen::Down,
            Came::NotSent(NotSent::TooLate | NotSent::Failed(_)) | Came::Unknown(_) => Seen::Unclear,
            Came::Answer(answer) if answer.status == StatusCode::OK => {
                let body = answer.body.and_then(|body| serde_json::from_slice::<Value>(&body).ok());
                match body.as_ref().and_then(|body| body.get("status")).and_then(Value::as_str) {
                    Some("running") => Seen::Running,
                    Some("stable") => Seen::Stable,
                    Some(_) | None => Seen::Unclear,
                }
            }
            Came::Answer(answer) if answer.status.is_client_error() || answer.status.is_redirection() => {
                Seen::Foreign
            }
            Came::Answer(_) => Seen::Unclear,
        }
    }

    async fn call(
        &self,
        method: Method,
        url: &Url,
        mut headers: Vec<(HeaderName, HeaderValue)>,
        body: Vec<u8>,
        until: Instant,
        answer: Duration,
    ) -> Came {
        let failed = |why| Came::NotSent(NotSent::Failed(why));
        match self.token.as_ref().map(secret::bearer).transpose() {
            Ok(token) => headers.extend(token.map(|token| (header::AUTHORIZATION, token))),
            Err(why) => {
                tracing::error!(rule = "CAP-4", "no token for {url}: {why}");
                return failed(why);
            }
        }
        let left = until.saturating_duration_since(Instant::now()).min(self.manners.status);
        let addresses = match address::resolve(url, Reach::Here, left).await {
            Ok(addresses) => addresses,
            Err(why) => return failed(why),
        };
        let (connect, most) = (self.manners.status, LONGEST);
        let addresses = &addresses;
        call::call(Call { method, url, addresses, headers, body, trust: None, connect, until, answer, most })
            .await
    }

    /// A look that no permit bounds.
    async fn glance(&self) -> Seen {
        self.look(Instant::now() + self.manners.status * 2).await
    }

    async fn fate(&self) -> Fate {
        match self.glance().await {
            Seen::Running => Fate::Alive,
            // The process that bytes were sent to is no more, and its sockets with it.
            Seen::Down => Fate::Gone,
            // Idle now does not prove that nothing is still on its way: only idle for a while does (`watch`).
            Seen::Stable | Seen::Foreign | Seen::Unclear => Fate::CannotTell,
        }
    }

    async fn end(&self) -> FlightEnd {
        let mut busy = false;
        let mut idle_since: Option<Instant> = None;
        loop {
            match self.glance().await {
                Seen::Running => (busy, idle_since) = (true, None),
                Seen::Down => return FlightEnd::ProcessEnded,
                Seen::Foreign | Seen::Unclear => idle_since = None,
                Seen::Stable => {
                    let since = *idle_since.get_or_insert_with(Instant::now);
                    if busy || since.elapsed() >= self.manners.quiet {
                        return FlightEnd::Idle;
                    }
                }
            }
            tokio::time::sleep(self.manners.poll).await;
        }
    }
}

impl RuntimeAdapter for AgentApi {
    fn capabilities(&self) -> Capabilities {
        Capabilities { status: true, verifies: true, proves_gone: true }
    }

    fn dispatch<'a>(&'a self, order: &'a Order) -> Later<'a, DispatchOutcome> {
        Box::pin(self.tell(order))
    }

    fn probe<'a>(&'a self, _order: &'a Order) -> Later<'a, Fate> {
        Box::pin(self.fate())
    }

    fn watch<'a>(&'a self, _order: &'a Order) -> Later<'a, FlightEnd> {
        Box::pin(self.end())
    }
}

/// What came of a message (DSP-4), and why it was no success. What AgentAPI refuses before it types is definite, every
/// other failure of it is not. Where a person has to submit, a person was told and nothing more (DSP-8).
fn heard(came: Came, attended: bool) -> (DispatchOutcome, Option<String>) {
    awakener_spec::rule!(Dsp4);
    let answer = match came {
        Came::NotSent(NotSent::TooLate) => return (DispatchOutcome::NotAttempted, None),
        Came::NotSent(NotSent::Refused(why) | NotSent::Failed(why)) => {
            return (DispatchOutcome::Unavailable, Some(why));
        }
        Came::Unknown(why) => return unknown(why),
        Came::Answer(answer) => answer,
    };
    let body: Option<Value> = answer.body.and_then(|body| serde_json::from_slice(&body).ok());
    match answer.status {
        status if status.is_success() => {
            if body.as_ref().and_then(|body| body.get("ok")) != Some(&Value::Bool(true)) {
                return unknown(format!("{status} without ok: true, so this is not AgentAPI as we know it"));
            }
            (if attended { DispatchOutcome::NotifiedHuman } else { DispatchOutcome::NotifiedVerified }, None)
        }
        StatusCode::CONFLICT | StatusCode::LOCKED | StatusCode::TOO_MANY_REQUESTS => {
            (DispatchOutcome::RefusedBusy, None)
        }
        StatusCode::INTERNAL_SERVER_ERROR => {
            let said = body.as_ref().map(said).unwrap_or_default();
            let says = |what: &str| said.iter().any(|said| said.contains(what));
            if says(BUSY) {
                (DispatchOutcome::RefusedBusy, None)
            } else if NOT_TAKEN.into_iter().any(says) {
                (DispatchOutcome::Unavailable, Some("it does not take the wake text".to_owned()))
            } else {
                unknown("a failure after it may have typed".to_owned())
            }
        }
        // Somebody between us and it may have passed the message on.
        StatusCode::REQUEST_TIMEOUT => unknown("408".to_owned()),
        status if status.is_client_error() || status.is_redirection() => {
            (DispatchOutcome::Unavailable, Some(format!("{status}: the message was not taken")))
        }
        status => unknown(status.to_string()),
    }
}

fn unknown(why: String) -> (DispatchOutcome, Option<String>) {
    awakener_spec::rule!(Dsp5);
    (DispatchOutcome::OutcomeUnknown, Some(why))
}

/// What a problem says: its detail and its list of errors.
fn said(problem: &Value) -> Vec<&str> {
    let errors = problem.get("errors").and_then(Value::as_array).into_iter().flatten();
    let messages = errors.filter_map(|error| error.get("message"));
    problem.get("detail").into_iter().chain(messages).filter_map(Value::as_str).collect()
}
