//! Hints as HTTP POSTs to the listeners of wake daemons in other processes of this machine.
//!
//! The body is the hint, byte for byte. The consuming end is the daemon's own listener, so a subscription here never
//! brings anything. One attempt per hint and listener: what is lost is found by the next sweep (DSP-11). Rules: EMT-4,
//! BRK-1, PRT-3 (loopback only).

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use awakener_kernel::ids::Target;
use reqwest::{Client, Url};
use tokio::sync::mpsc;

use super::{Broker, Counters, Counting, Later, NotHandedOver, Subscription, is_here};

/// How long a listener may take to accept a hint.
const PATIENCE: Duration = Duration::from_secs(2);

/// A broker that pushes.
#[derive(Clone, Debug)]
pub struct HttpPush {
    client: Client,
    listeners: Vec<Url>,
    counting: Arc<Counting>,
}

impl HttpPush {
    /// Pushes to these URLs.
    ///
    /// # Errors
    /// In words: a URL that is none, or does not lead to this machine.
    pub fn to<S: AsRef<str>>(urls: &[S]) -> Result<Self, String> {
        let listeners = urls.iter().map(|url| loopback(url.as_ref())).collect::<Result<_, _>>()?;
        Ok(Self { client: client()?, listeners, counting: Arc::default() })
    }

    async fn push(&self, bytes: Arc<[u8]>) -> Result<(), NotHandedOver> {
        awakener_spec::rule!(Brk1);
        let mut failed = None;
        let mut taken = false;
        for listener in &self.listeners {
            let request = self
                .client
                .post(listener.clone())
                .header("content-type", "application/cloudevents+json")
                .body(bytes.to_vec());
            match request.send().await {
                Ok(answer) if answer.status().is_success() => taken = true,
                Ok(answer) => failed = Some(format!("{listener}: {}", answer.status())),
                Err(error) => failed = Some(format!("{listener}: {}", error.without_url())),
            }
        }
        let counter = if taken { &self.counting.handed_over } else { &self.counting.failed };
        Counting::add(counter, 1);
        if taken {
            Ok(())
        } else {
            Err(NotHandedOver(failed.unwrap_or_else(|| "no listener is configured".to_owned())))
        }
    }
}

impl Broker for HttpPush {
    fn publish<'a>(&'a self, _target: &'a Target, bytes: Arc<[u8]>) -> Later<'a, Result<(), NotHandedOver>> {
        Box::pin(self.push(bytes))
    }

    fn subscribe(&self, _targets: &BTreeSet<Target>) -> Subscription {
        let (silent, arrivals) = mpsc::channel(1);
        // Kept open by a task that only waits: an ended subscription would look like a broker that is gone.
        let keeper = tokio::spawn(async move { silent.closed().await });
        Subscription::fed_by(arrivals, vec![keeper])
    }

    fn counters(&self) -> Counters {
        self.counting.read()
    }
}

/// A client for loopback: no proxy, no redirects, bounded waiting.
fn client() -> Result<Client, String> {
    Client::builder()
        .no_proxy()
        .redirect(reqwest::redirect::Policy::none())
        .connect_timeout(PATIENCE)
        .timeout(PATIENCE)
        .build()
        .map_err(|error| error.to_string())
}

/// A plain HTTP URL of this machine.
pub(crate) fn loopback(text: &str) -> Result<Url, String> {
    let url = Url::parse(text).map_err(|error| format!("{text:?}: {error}"))?;
    match (url.scheme(), is_here(url.host_str().unwrap_or_default())) {
        ("http", true) => Ok(url),
        (_, _) => Err(format!("{text:?} is not an http URL of this machine")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prt_3_hints_are_pushed_to_this_machine_only() {
        for good in ["http://127.0.0.1:7718/v1/hints", "http://localhost:1/v1/hints", "http://[::1]:1/h"] {
            assert!(HttpPush::to(&[good]).is_ok(), "{good}");
        }
        for bad in ["http://192.0.2.1/v1/hints", "https://127.0.0.1/v1/hints", "127.0.0.1:1", "http://local/"]
        {
            assert!(HttpPush::to(&[bad]).is_err(), "{bad}");
        }
    }
}
