//! Hints over NATS: core publish and subscribe, at most once, nothing stored.
//!
//! Each hint is one structured CloudEvent on the subject of its target. The client comes back for ever, from the first
//! connection on, and its flush is never taken for an arrival. A subscription says [`Arrival::Connected`] only when a
//! message of its own came back over the same connection: by then the server has seen what it subscribes to, so that
//! whatever a look does not show is heard. Rules: BRK-1, EMT-4, DSP-11.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use async_nats::connection::State;
use async_nats::{Client, ConnectOptions, Event, HeaderMap, ServerAddr, Subscriber};
use awakener_kernel::ids::Target;
use awakener_spec::rule;
use futures_util::StreamExt as _;
use tokio::sync::{broadcast, mpsc};
use tokio::task::JoinSet;
use tokio::time::timeout;

use crate::keys::Secret;

use super::{Arrival, Broker, Counters, Counting, Later, NotHandedOver, Subscription, is_here, subject};

/// How long the client may take to accept a hint, and a message of our own to come back.
const PATIENCE: Duration = Duration::from_secs(2);
/// How many hints of one target wait for a slow consumer before further ones are lost.
const BUFFER: usize = 256;
/// The pause before the first attempt to come back; it doubles from attempt to attempt.
const FIRST_PAUSE: Duration = Duration::from_millis(50);
/// What is said of a server that does not want this client.
const REFUSED: &str = "the NATS server refuses the credentials";
/// The longest pause between two attempts.
const LONGEST_PAUSE: Duration = Duration::from_secs(4);

/// A client of a NATS server; clones are the same client.
#[derive(Clone, Debug)]
pub struct Nats {
    client: Client,
    words: broadcast::Sender<Word>,
    counting: Arc<Counting>,
}

/// What a client shows its server of itself. Never in a URL, which is part of the configuration.
#[derive(Debug, Default)]
pub enum Login {
    /// Nothing.
    #[default]
    None,
    /// A token.
    Token(Secret),
    /// A name and its password.
    User(String, Secret),
}

/// What the connection has to say to every subscription.
#[derive(Clone, Copy, Debug)]
enum Word {
    Connected,
    /// A hint was dropped because its consumer was too slow.
    Lost,
}

impl Nats {
    /// A client of these servers; returns at once and connects as soon as one of them is there. `buffer` hints of a
    /// target wait for a slow consumer.
    ///
    /// # Errors
    /// In words: a URL that is none, or leads to another machine without TLS.
    pub async fn to<S: AsRef<str>>(servers: &[S]) -> Result<Self, String> {
        Self::with_buffer(servers, BUFFER).await
    }

    /// The same for servers that want to know who comes.
    ///
    /// # Errors
    /// As [`Nats::to`]; what a server says to the credentials shows in [`Broker::counters`].
    pub async fn logging_in<S: AsRef<str>>(servers: &[S], login: Login) -> Result<Self, String> {
        Self::with(servers, login, BUFFER).await
    }

    /// The same with room for so many hints per target; at least one.
    ///
    /// # Errors
    /// As [`Nats::to`].
    pub async fn with_buffer<S: AsRef<str>>(servers: &[S], buffer: usize) -> Result<Self, String> {
        Self::with(servers, Login::None, buffer).await
    }

    async fn with<S: AsRef<str>>(servers: &[S], login: Login, buffer: usize) -> Result<Self, String> {
        let servers = servers.iter().map(|url| server(url.as_ref())).collect::<Result<Vec<_>, _>>()?;
        let (words, _) = broadcast::channel(BUFFER);
        let counting = Arc::<Counting>::default();
        let (told, counted) = (words.clone(), Arc::clone(&counting));
        let options = match login {
            Login::None => ConnectOptions::new(),
            Login::Token(token) => ConnectOptions::with_token(token.expose().to_owned()),
            Login::User(name, password) => {
                ConnectOptions::with_user_and_password(name, password.expose().to_owned())
            }
        };
        let client = options
            .name("awakener")
            .retry_on_initial_connect()
            .reconnect_delay_callback(pause)
            .subscription_capacity(buffer.max(1))
            .event_callback(move |event| {
                heard(&event, &told, &counted);
                std::future::ready(())
            })
            .connect(servers)
            .await
            .map_err(|error| error.to_string())?;
        Ok(Self { client, words, counting })
    }

    async fn hand_over(&self, target: &Target, bytes: &[u8]) -> Result<(), NotHandedOver> {
        // A client without a server would take it all the same, and let it out when nobody wants it any more.
        if self.client.connection_state() != State::Connected {
            rule!(Emt4);
            let refused = self.counting.refused.load(std::sync::atomic::Ordering::Relaxed);
            let why = if refused > 0 && !self.counting.was_connected() {
                REFUSED
            } else {
                "not connected to a NATS server"
            };
            return Err(NotHandedOver(why.to_owned()));
        }
        let mut headers = HeaderMap::new();
        headers.insert("Content-Type", "application/cloudevents+json");
        let publish = self.client.publish_with_headers(subject(target), headers, bytes.to_vec().into());
        match timeout(PATIENCE, publish).await {
            Ok(Ok(())) => Ok(()),
            Ok(Err(error)) => Err(NotHandedOver(error.to_string())),
            Err(_) => Err(NotHandedOver(format!("the NATS client has no room for {PATIENCE:?}"))),
        }
    }
}

impl Broker for Nats {
    fn publish<'a>(&'a self, target: &'a Target, bytes: Arc<[u8]>) -> Later<'a, Result<(), NotHandedOver>> {
        Box::pin(async move {
            let handed = self.hand_over(target, &bytes).await;
            let counter = if handed.is_ok() { &self.counting.handed_over } else { &self.counting.failed };
            Counting::add(counter, 1);
            handed
        })
    }

    fn subscribe(&self, targets: &BTreeSet<Target>) -> Subscription {
        // The buffers are the client's, one per target; this one only joins them.
        let (sender, arrivals) = mpsc::channel(1);
        let feeder = follow(self.client.clone(), self.words.subscribe(), targets.clone(), sender);
        Subscription::fed_by(arrivals, vec![tokio::spawn(feeder)])
    }

    fn counters(&self) -> Counters {
        let connected = Some(self.client.connection_state() == State::Connected);
        Counters { connected, ..self.counting.read() }
    }
}

/// Feeds one subscription until either end is gone.
async fn follow(
    client: Client,
    mut words: broadcast::Receiver<Word>,
    targets: BTreeSet<Target>,
    to: mpsc::Sender<Arrival>,
) {
    let mut feeders = JoinSet::new();
    for target in &targets {
        match client.subscribe(subject(target)).await {
            Ok(hints) => drop(feeders.spawn(feed(hints, to.clone()))),
            Err(error) => tracing::error!(%target, rule = "BRK-1", "not subscribed: {error}"),
        }
    }
    let mut arrival = settled(&client).await.then_some(Arrival::Connected);
    loop {
        if let Some(arrival) = arrival
            && to.send(arrival).await.is_err()
        {
            return;
        }
        arrival = match words.recv().await {
            // Whoever could not keep up with the words looks for itself.
            Ok(Word::Connected) | Err(broadcast::error::RecvError::Lagged(_)) => {
                settled(&client).await.then_some(Arrival::Connected)
            }
            Ok(Word::Lost) => Some(Arrival::Lost(1)),
            Err(broadcast::error::RecvError::Closed) => return,
        };
    }
}

/// Moves the hints of one target.
async fn feed(mut from: Subscriber, to: mpsc::Sender<Arrival>) {
    while let Some(message) = from.next().await {
        if to.send(Arrival::Hint(Arc::from(&message.payload[..]))).await.is_err() {
            return;
        }
    }
}

/// Waits until the server has seen everything that this client said so far. `false` = the connection is gone; another
/// [`Word::Connected`] follows.
async fn settled(client: &Client) -> bool {
    while client.connection_state() == State::Connected {
        let echo = async {
            let own = client.new_inbox();
            let mut echo = client.subscribe(own.clone()).await.ok()?;
            client.publish(own, Vec::new().into()).await.ok()?;
            echo.next().await
        };
        if let Ok(Some(_)) = timeout(PATIENCE, echo).await {
            return true;
        }
    }
    false
}

/// What the client has to say.
fn heard(event: &Event, words: &broadcast::Sender<Word>, counting: &Counting) {
    let word = match event {
        Event::Connected => {
            if counting.connected_before() {
                Counting::add(&counting.reconnects, 1);
            }
            tracing::info!("connected to a NATS server");
            Some(Word::Connected)
        }
        Event::SlowConsumer(_) => {
            Counting::add(&counting.lost, 1);
            Some(Word::Lost)
        }
        Event::Disconnected | Event::LameDuckMode | Event::Draining | Event::Closed => {
            tracing::warn!("NATS: {event}; alerts are found by sweeps meanwhile");
            None
        }
        Event::ServerError(_) | Event::ClientError(_) if is_refusal(event) => {
            Counting::add(&counting.refused, 1);
            tracing::error!(rule = "BRK-1", "{REFUSED}");
            None
        }
        Event::ServerError(_) | Event::ClientError(_) => {
            tracing::warn!("NATS: {event}");
            None
        }
    };
    if let Some(word) = word {
        // Nobody listening is no failure.
        let _ = words.send(word);
    }
}

/// Whether a server does not want this client. Attempts to connect report in words only.
fn is_refusal(event: &Event) -> bool {
    match event {
        Event::ServerError(error) => matches!(error, async_nats::ServerError::AuthorizationViolation),
        Event::ClientError(async_nats::ClientError::Other(words)) => {
            words.contains("authorization violation") || words.contains("authentication error")
        }
        _others => false,
    }
}

/// How long to wait before this attempt, between half and the whole of what the number of attempts says: clients of a
/// server that comes back do not all arrive at once.
fn pause(attempt: usize) -> Duration {
    let doublings = u32::try_from(attempt.saturating_sub(1)).unwrap_or(u32::MAX).min(10);
    let whole = FIRST_PAUSE.saturating_mul(1 << doublings).min(LONGEST_PAUSE);
    // Without randomness there is no jitter; the pause itself holds.
    let share = getrandom::u32().map_or(1.0, |random| 0.5 + f64::from(random) / f64::from(u32::MAX) / 2.0);
    whole.mul_f64(share)
}

/// A server of this machine, or one behind TLS; without credentials in its URL.
fn server(text: &str) -> Result<ServerAddr, String> {
    let server: ServerAddr = text.parse().map_err(|error| format!("{text:?}: {error}"))?;
    if server.username().is_some() || server.password().is_some() {
        return Err(format!("{:?} has credentials in it, which do not belong there", server.host()));
    }
    match server.scheme() {
        "nats" if is_here(server.host()) => Ok(server),
        "tls" => Ok(server),
        "nats" => {
            rule!(Prt3);
            Err(format!("{text:?} leads to another machine; that takes tls://"))
        }
        _others => Err(format!("{text:?} is not a nats:// or tls:// URL")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prt_3_plain_nats_stays_on_this_machine_and_credentials_out_of_urls() {
        for good in ["nats://127.0.0.1:4222", "nats://localhost", "nats://[::1]:4222", "tls://192.0.2.1:4222"]
        {
            assert!(server(good).is_ok(), "{good}: {:?}", server(good));
        }
        for bad in [
            "nats://192.0.2.1:4222",
            "ws://127.0.0.1",
            "nats://me:secret@127.0.0.1",
            "tls://token@192.0.2.1",
            "",
        ] {
            let error = server(bad).expect_err(bad);
            assert!(!error.contains("secret"), "{error}");
        }
    }

    #[test]
    fn brk_1_pauses_grow_to_a_limit_and_differ() {
        for (attempt, whole) in
            [(1, 50), (2, 100), (5, 800), (8, 4_000), (10_000, 4_000), (usize::MAX, 4_000)]
        {
            let whole = Duration::from_millis(whole);
            let pauses: BTreeSet<_> = (0..20).map(|_| pause(attempt)).collect();
            assert!(
                pauses.iter().all(|pause| whole / 2 <= *pause && *pause <= whole),
                "{attempt}: {pauses:?}"
            );
            assert!(pauses.len() > 1, "{attempt}: {pauses:?}");
        }
    }
}
