//! The network between plane and wake daemon, as hostile as networks are: it loses, keeps back, repeats and forwards
//! hints, by target.
//!
//! The plane's broker brings them here, by HTTP or over NATS. What the network did is a fact of the demo itself; what the
//! daemon made of it comes from the daemon's answer. Rules: EMT-4, BRK-1.

use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use awakener_kernel::ids::Target;
use axum::Router;
use axum::body::Bytes;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::routing::post;
use serde_json::Value;
use tokio::net::TcpListener;

use super::tape::Outside;
use crate::broker::{Arrival, Broker as _, Nats};

/// How long a NATS server may take to be there.
const PATIENCE: Duration = Duration::from_secs(10);
/// How long a hint is under way.
const LATENCY: Duration = Duration::from_millis(25);

/// What happens to the hints of a target.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Policy {
    /// They arrive.
    #[default]
    Forward,
    /// They vanish.
    Lose,
    /// They are kept back until somebody presents them.
    Hold,
}

/// The network of all stacks.
#[derive(Clone, Debug)]
pub struct Network {
    way: Way,
    shared: Arc<Shared>,
}

/// How hints come from a plane to the network.
#[derive(Clone, Debug)]
enum Way {
    /// Pushed to this address.
    Http(SocketAddr),
    /// Through this server.
    Nats(String, Nats),
}

#[derive(Debug)]
struct Shared {
    outside: Outside,
    lanes: Mutex<BTreeMap<(String, String), Lane>>,
    daemons: Mutex<BTreeMap<String, (String, String)>>,
}

#[derive(Debug, Default)]
struct Lane {
    policy: Policy,
    seen: Vec<Vec<u8>>,
}

impl Network {
    /// Starts it: on a free port, or behind a NATS server.
    ///
    /// # Errors
    /// In words.
    pub async fn start(outside: Outside, nats: Option<&str>) -> Result<Self, String> {
        let shared = Arc::new(Shared { outside, lanes: Mutex::default(), daemons: Mutex::default() });
        let way = match nats {
            Some(server) => Way::Nats(server.to_owned(), Nats::to(&[server]).await?),
            None => {
                let listener = TcpListener::bind("127.0.0.1:0").await.map_err(|error| error.to_string())?;
                let addr = listener.local_addr().map_err(|error| error.to_string())?;
                let routes = Router::new().route("/{stack}", post(pushed)).with_state(shared.clone());
                tokio::spawn(async move { axum::serve(listener, routes).await });
                Way::Http(addr)
            }
        };
        Ok(Self { way, shared })
    }

    /// Listens for the hints of a stack, and returns its section `[broker]`.
    ///
    /// # Errors
    /// In words, when the NATS server is not there.
    pub async fn listen(&self, stack: &'static str, targets: BTreeSet<Target>) -> Result<String, String> {
        match &self.way {
            Way::Http(addr) => Ok(format!("kind = \"http\"\npush = [\"http://{addr}/{stack}\"]")),
            Way::Nats(server, client) => {
                let mut hints = client.subscribe(&targets);
                let first = tokio::time::timeout(PATIENCE, hints.next()).await;
                first.map_err(|_| format!("no NATS server answers at {server}"))?;
                let shared = Arc::clone(&self.shared);
                tokio::spawn(async move {
                    while let Some(arrival) = hints.next().await {
                        if let Arrival::Hint(bytes) = arrival {
                            arrives(&shared, stack, &bytes);
                        }
                    }
                });
                Ok(format!("kind = \"nats\"\nservers = [\"{server}\"]"))
            }
        }
    }

    /// Says where the daemon of a stack listens, and with which token its judgements are heard.
    pub fn connect(&self, stack: &str, daemon: &str, token: &str) {
        let mut daemons = self.shared.daemons.lock().unwrap_or_else(PoisonError::into_inner);
        daemons.insert(stack.to_owned(), (daemon.to_owned(), token.to_owned()));
    }

    /// From now on the hints of this target fare so.
    pub fn set(&self, stack: &str, target: &str, policy: Policy) {
        self.shared.lane(stack, target, |lane| lane.policy = policy);
    }

    /// Every hint for this target that the plane has sent so far, in order.
    pub fn seen(&self, stack: &str, target: &str) -> Vec<Vec<u8>> {
        self.shared.lane(stack, target, |lane| lane.seen.clone())
    }

    /// Presents bytes to the daemon of a stack and returns what it says of them.
    ///
    /// # Errors
    /// In words, when it does not answer.
    pub async fn present(&self, stack: &str, bytes: &[u8]) -> Result<Value, String> {
        self.shared.present(stack, bytes).await
    }
}

impl Shared {
    fn lane<T>(&self, stack: &str, target: &str, with: impl FnOnce(&mut Lane) -> T) -> T {
        let mut lanes = self.lanes.lock().unwrap_or_else(PoisonError::into_inner);
        with(lanes.entry((stack.to_owned(), target.to_owned())).or_default())
    }

    async fn present(&self, stack: &str, bytes: &[u8]) -> Result<Value, String> {
        let daemon = self.daemons.lock().unwrap_or_else(PoisonError::into_inner).get(stack).cloned();
        let (url, token) = daemon.ok_or_else(|| format!("{stack} has no wake daemon"))?;
        let answer = self.outside.post_bytes(&format!("{url}/v1/hints"), &token, bytes.to_vec()).await?;
        Ok(answer.body)
    }
}

async fn pushed(State(shared): State<Arc<Shared>>, Path(stack): Path<String>, body: Bytes) -> StatusCode {
    arrives(&shared, &stack, &body);
    StatusCode::ACCEPTED
}

/// A hint of a stack comes in, and fares as its lane says.
fn arrives(shared: &Arc<Shared>, stack: &str, bytes: &[u8]) {
    let event: Value = serde_json::from_slice(bytes).unwrap_or_default();
    let target = event["data"]["target"].as_str().unwrap_or_default().to_owned();
    let policy = shared.lane(stack, &target, |lane| {
        lane.seen.push(bytes.to_vec());
        lane.policy
    });
    if policy == Policy::Forward {
        let (shared, stack, bytes) = (Arc::clone(shared), stack.to_owned(), bytes.to_vec());
        tokio::spawn(async move {
            tokio::time::sleep(LATENCY).await;
            // A daemon that is not there misses the hint; that is what hints are like.
            let _ = shared.present(&stack, &bytes).await;
        });
    }
}
