//! The adapter of runtimes that speak like AgentAPI on this machine, and of stand-ins with a fixed outcome: `fake`, in
//! trials only (CAP-3). The hosted station is woken through it.
//!
//! `GET /status` before anything is written, `POST /message` with the wake text, `GET /status` again until the runtime
//! is idle. Rules: DSP-3, DSP-4, DSP-5, DSP-6, DSP-12.

use std::time::{Duration, Instant};

use awakener_kernel::values::{DispatchOutcome, FlightEnd};
use awakener_kernel::waker::Fate;
use reqwest::{Client, StatusCode, Url};
use serde_json::{Value, json};

use super::adapter::{Capabilities, Order, RuntimeAdapter};
use crate::broker::Later;
use crate::manifest::Agent;

/// How patient the adapter is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Manners {
    /// Between two looks at a status.
    pub poll: Duration,
    /// A runtime that took a notice and was idle for so long without having been seen busy is done with it.
    pub quiet: Duration,
    /// For a status, and for a connection.
    pub status: Duration,
    /// For the answer to a message; after it nobody knows (DSP-5).
    pub answer: Duration,
}

impl Default for Manners {
    fn default() -> Self {
        Self {
            poll: Duration::from_millis(250),
            quiet: Duration::from_secs(3),
            status: Duration::from_secs(2),
            answer: Duration::from_secs(10),
        }
    }
}

/// The adapter.
#[derive(Clone, Debug)]
pub struct Fake {
    way: Way,
    delay: Duration,
    manners: Manners,
}

#[derive(Clone, Debug)]
enum Way {
    /// A runtime that is really there.
    Http { client: Client, message: Url, status: Url },
    /// None; the outcome is made up.
    Fixed(DispatchOutcome),
}

/// What a look at a status shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Seen {
    Running,
    Stable,
    /// Nobody listens there.
    Down,
    /// Anything else.
    Unclear,
}

impl Fake {
    /// As an agent's settings say: `endpoint` (the base URL, or that of `/message`), `status_endpoint`, or `outcome`
    /// without an endpoint; `delay` before either.
    ///
    /// # Errors
    /// In words: an endpoint that is not on this machine, or neither endpoint nor outcome.
    pub fn of(agent: &Agent, manners: Manners) -> Result<Self, String> {
        let delay = Duration::from_millis(agent.millis("delay").map_or(0, |delay| delay.0));
        let outcome = agent.text("outcome").map(|text| {
            serde_json::from_value::<DispatchOutcome>(text.into()).map_err(|error| error.to_string())
        });
        let way = match (agent.text("endpoint"), outcome) {
            (_, Some(outcome)) => Way::Fixed(outcome?),
            (Some(endpoint), None) => http(endpoint, agent.text("status_endpoint"), manners)?,
            (None, None) => return Err(format!("{}: neither `endpoint` nor `outcome`", agent.target)),
        };
        Ok(Self { way, delay, manners })
    }

    /// A runtime at this base URL.
    ///
    /// # Errors
    /// In words: an endpoint that is not on this machine.
    pub fn at(endpoint: &str, manners: Manners) -> Result<Self, String> {
        Ok(Self { way: http(endpoint, None, manners)?, delay: Duration::ZERO, manners })
    }

    async fn tell(&self, order: &Order) -> DispatchOutcome {
        let end = Instant::now() + order.within;
        tokio::time::sleep(self.delay).await;
        let (client, message) = match &self.way {
            Way::Fixed(outcome) => return *outcome,
            Way::Http { client, message, .. } => (client, message),
        };
        match self.look().await {
            Seen::Running => return DispatchOutcome::RefusedBusy,
            // Into an unknown state nothing is written; nothing was sent, so nothing can have started.
            Seen::Down | Seen::Unclear => return DispatchOutcome::Unavailable,
            Seen::Stable => {}
        }
        let left = end.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return DispatchOutcome::NotAttempted;
        }
        let request = client
            .post(message.clone())
            .timeout(self.manners.answer)
            .header("idempotency-key", format!("{}/{}/{}", order.target, order.attempt, order.wake))
            .json(&json!({ "content": order.text(), "type": "user" }));
        match request.send().await {
            Ok(answer) => heard(answer.status(), order.attended),
            // Without a connection no byte has left.
            Err(error) if error.is_connect() => DispatchOutcome::Unavailable,
            Err(_) => {
                awakener_spec::rule!(Dsp5);
                DispatchOutcome::OutcomeUnknown
            }
        }
    }

    async fn look(&self) -> Seen {
        let Way::Http { client, status, .. } = &self.way else { return Seen::Stable };
        let answer = match client.get(status.clone()).timeout(self.manners.status).send().await {
            Ok(answer) if answer.status().is_success() => answer.json::<Value>().await,
            Ok(_) => return Seen::Unclear,
            Err(error) if error.is_connect() => return Seen::Down,
            Err(_) => return Seen::Unclear,
        };
        match answer.ok().as_ref().and_then(|body| body.get("status")).and_then(Value::as_str) {
            Some("running") => Seen::Running,
            Some("stable") => Seen::Stable,
            Some(_) | None => Seen::Unclear,
        }
    }

    async fn fate(&self) -> Fate {
        match self.look().await {
            Seen::Running => Fate::Alive,
            // The process that bytes were sent to is no more, and its sockets with it.
            Seen::Down => Fate::Gone,
            // Idle now does not prove that nothing is still on its way: only idle for a while does (`watch`).
            Seen::Stable | Seen::Unclear => Fate::CannotTell,
        }
    }

    async fn end(&self) -> FlightEnd {
        if matches!(self.way, Way::Fixed(_)) {
            tokio::time::sleep(self.delay).await;
            return FlightEnd::Idle;
        }
        let mut busy = false;
        let mut idle_since: Option<Instant> = None;
        loop {
            match self.look().await {
                Seen::Running => (busy, idle_since) = (true, None),
                Seen::Down => return FlightEnd::ProcessEnded,
                Seen::Unclear => idle_since = None,
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

impl RuntimeAdapter for Fake {
    fn capabilities(&self) -> Capabilities {
        let http = matches!(self.way, Way::Http { .. });
        Capabilities { status: http, verifies: http, proves_gone: http }
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

/// What an answer to a message means (DSP-4). A refusal by the runtime is definite; a failure inside it is not. Where
/// a person has to submit, a person was told and nothing more (DSP-8).
fn heard(status: StatusCode, attended: bool) -> DispatchOutcome {
    match status {
        status if status.is_success() && attended => DispatchOutcome::NotifiedHuman,
        status if status.is_success() => DispatchOutcome::NotifiedVerified,
        StatusCode::CONFLICT | StatusCode::LOCKED | StatusCode::TOO_MANY_REQUESTS => {
            DispatchOutcome::RefusedBusy
        }
        status if status.is_client_error() => DispatchOutcome::Unavailable,
        _ => {
            awakener_spec::rule!(Dsp5);
            DispatchOutcome::OutcomeUnknown
        }
    }
}

fn http(endpoint: &str, status: Option<&str>, manners: Manners) -> Result<Way, String> {
    let base = endpoint.trim_end_matches('/');
    let base = base.strip_suffix("/message").unwrap_or(base);
    let status = status.map_or_else(|| format!("{base}/status"), str::to_owned);
    let client = Client::builder()
        .no_proxy()
        .redirect(reqwest::redirect::Policy::none())
        .connect_timeout(manners.status)
        // Each request meets the process that listens now, not the rest of one that has gone.
        .pool_max_idle_per_host(0)
        .build()
        .map_err(|error| error.to_string())?;
    let message = crate::broker::loopback(&format!("{base}/message"))?;
    Ok(Way::Http { client, message, status: crate::broker::loopback(&status)? })
}
