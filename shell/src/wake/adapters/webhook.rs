//! A runtime that is told by a webhook: one signed POST of identifiers, to an address that was judged before.
//!
//! Standard Webhooks: `webhook-id` is the accepted wake, so whoever keeps ids acts once on it; the time is that of the
//! attempt; the signature is over both and the body. A bearer token goes beside it if one is named. There is one POST for
//! each attempt and no retry here: a hint lives for seconds, so a retry is a new wake that the plane has permitted.
//! Redirects are not followed, nothing of the answer but its head is read, and what is not encrypted goes to no public
//! address. Not here: the delivery of mail (HOK-1). Rules: DSP-3 to DSP-7, CAP-3, CAP-4.

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use awakener_kernel::values::{DispatchOutcome, FlightEnd};
use awakener_kernel::waker::Fate;
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header};
use reqwest::Url;
use tokio_rustls::rustls::ClientConfig;

use super::address::{self, Reach};
use super::call::{self, Call, Came, NotSent};
use super::secret::{self, Named};
use super::{signature, trust};
use crate::broker::Later;
use crate::manifest::Agent;
use crate::wake::adapter::{Capabilities, Order, RuntimeAdapter};

/// The longest that an endpoint may ask for a pause.
const LONGEST_PAUSE: Duration = Duration::from_secs(15 * 60);

/// How patient the adapter is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Patience {
    /// For the name, the connection and TLS.
    pub connect: Duration,
    /// For the answer; after it nobody knows (DSP-5).
    pub answer: Duration,
}

impl Default for Patience {
    fn default() -> Self {
        Self { connect: Duration::from_secs(5), answer: Duration::from_secs(20) }
    }
}

/// The adapter.
#[derive(Debug)]
pub struct Webhook {
    url: Url,
    reach: Reach,
    secret: Named,
    token: Option<Named>,
    trust: Option<Arc<ClientConfig>>,
    patience: Patience,
    /// Until when the endpoint asked to be left alone.
    pause: Mutex<Option<Instant>>,
}

impl Webhook {
    /// As an agent's settings say: `url`; `secret_env` or `secret_file` for the signature; `token_env` or `token_file`
    /// for a bearer token; `allow_private`; `ca_file`, the certificates to trust instead of the system's. Files without
    /// a root lie in `beside`.
    ///
    /// # Errors
    /// In words: no secret, two places of one, or nobody to trust for https.
    pub fn of(agent: &Agent, beside: &Path, patience: Patience) -> Result<Self, String> {
        let text = agent.text("url").ok_or_else(|| format!("{}: no `url`", agent.target))?;
        let url = Url::parse(text).map_err(|error| format!("{text:?}: {error}"))?;
        let secret = Named::of(agent, "secret", beside)?
            .ok_or_else(|| format!("{}: neither `secret_env` nor `secret_file`", agent.target))?;
        let private = agent.settings.get("allow_private").and_then(serde_json::Value::as_bool);
        let reach = if private == Some(true) { Reach::Private } else { Reach::Public };
        let trust = match url.scheme() {
            "https" => Some(trust::of(agent.text("ca_file").map(|file| beside.join(file)).as_deref())?),
            _plain => None,
        };
        let token = Named::of(agent, "token", beside)?;
        Ok(Self { url, reach, secret, token, trust, patience, pause: Mutex::new(None) })
    }

    async fn tell(&self, order: &Order) -> DispatchOutcome {
        let until = Instant::now() + order.within;
        awakener_spec::rule!(Dsp3);
        if self.paused().is_some_and(|end| Instant::now() < end) {
            return DispatchOutcome::RefusedBusy;
        }
        let (outcome, why) = match self.prepared(order, until).await {
            Err(why) => (DispatchOutcome::NotAttempted, Some(why)),
            Ok((addresses, headers, body)) => {
                let call = Call {
                    method: Method::POST,
                    url: &self.url,
                    addresses: &addresses,
                    headers,
                    body,
                    trust: self.trust.clone(),
                    connect: self.patience.connect,
                    until,
                    answer: self.patience.answer,
                    most: 0,
                };
                self.heard(call::call(call).await, order.attended)
            }
        };
        match why {
            Some(why) => {
                tracing::warn!(target = %order.target, attempt = order.attempt, ?outcome, "webhook: {why}");
            }
            None => tracing::debug!(target = %order.target, attempt = order.attempt, ?outcome, "webhook"),
        }
        outcome
    }

    /// Everything that can fail before a connection: then nothing is tried.
    async fn prepared(&self, order: &Order, until: Instant) -> Result<Prepared, String> {
        let within = self.patience.connect.min(until.saturating_duration_since(Instant::now()));
        let addresses = address::resolve(&self.url, self.reach, within).await?;
        if self.url.scheme() != "https" && address::all_public(&addresses) {
            return Err("what is not encrypted goes to no public address".to_owned());
        }
        let body = order.posted();
        let seconds = crate::clock::system().0 / 1_000;
        let id = order.wake.to_string();
        let signed = signature::sign(&self.secret.read()?, &id, seconds, &body)?;
        let text = |text: &str| HeaderValue::from_str(text).map_err(|error| error.to_string());
        let mut headers = vec![
            (header::CONTENT_TYPE, HeaderValue::from_static("application/json")),
            (HeaderName::from_static("webhook-id"), text(&id)?),
            (HeaderName::from_static("webhook-timestamp"), HeaderValue::from(seconds)),
            (HeaderName::from_static("webhook-signature"), text(&signed)?),
        ];
        if let Some(token) = &self.token {
            headers.push((header::AUTHORIZATION, secret::bearer(token)?));
        }
        Ok((addresses, headers, body.into_bytes()))
    }

    /// What came of the POST (DSP-4), and why it was no success.
    fn heard(&self, came: Came, attended: bool) -> (DispatchOutcome, Option<String>) {
        awakener_spec::rule!(Dsp4);
        let answer = match came {
            Came::NotSent(NotSent::TooLate) => return (DispatchOutcome::NotAttempted, None),
            Came::NotSent(NotSent::Refused(why) | NotSent::Failed(why)) => {
                return (DispatchOutcome::Unavailable, Some(why));
            }
            Came::Unknown(why) => return unknown(why),
            Came::Answer(answer) => answer,
        };
        match answer.status {
            status if status.is_success() => {
                let told =
                    if attended { DispatchOutcome::NotifiedHuman } else { DispatchOutcome::NotifiedVerified };
                (told, None)
            }
            StatusCode::TOO_MANY_REQUESTS | StatusCode::SERVICE_UNAVAILABLE => {
                let pause = retry_after(&answer.headers).unwrap_or_default().min(LONGEST_PAUSE);
                *self.pause.lock().unwrap_or_else(PoisonError::into_inner) = Some(Instant::now() + pause);
                (DispatchOutcome::RefusedBusy, None)
            }
            StatusCode::GONE => {
                (DispatchOutcome::Unavailable, Some("410: the endpoint wants no more of them".to_owned()))
            }
            // Somebody in between may have passed it on.
            StatusCode::REQUEST_TIMEOUT => unknown("408".to_owned()),
            status if status.is_redirection() => {
                (DispatchOutcome::Unavailable, Some(format!("{status}: redirects are not followed")))
            }
            status if status.is_client_error() => {
                (DispatchOutcome::Unavailable, Some(format!("{status}: it was not taken")))
            }
            status => unknown(status.to_string()),
        }
    }

    fn paused(&self) -> Option<Instant> {
        *self.pause.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Where to, the headers, and the body.
type Prepared = (Vec<std::net::SocketAddr>, Vec<(HeaderName, HeaderValue)>, Vec<u8>);

impl RuntimeAdapter for Webhook {
    fn capabilities(&self) -> Capabilities {
        Capabilities { status: false, verifies: true, proves_gone: false }
    }

    fn dispatch<'a>(&'a self, order: &'a Order) -> Later<'a, DispatchOutcome> {
        Box::pin(self.tell(order))
    }

    fn probe<'a>(&'a self, _order: &'a Order) -> Later<'a, Fate> {
        Box::pin(std::future::ready(Fate::CannotTell))
    }

    fn watch<'a>(&'a self, _order: &'a Order) -> Later<'a, FlightEnd> {
        Box::pin(std::future::pending())
    }
}

fn unknown(why: String) -> (DispatchOutcome, Option<String>) {
    awakener_spec::rule!(Dsp5);
    (DispatchOutcome::OutcomeUnknown, Some(why))
}

/// The seconds of a `retry-after`; a date in it is not honoured, the daemon's own back-off is.
fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    headers.get(header::RETRY_AFTER)?.to_str().ok()?.trim().parse().ok().map(Duration::from_secs)
}
