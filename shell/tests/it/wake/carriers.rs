//! Every broker that hints can go through, for stories that each of them must pass; and one that is hostile on purpose.
//!
//! NATS is a real server of its own for each story. Pushes over HTTP end at the listeners of daemons and nowhere else, so they
//! carry the stories in which daemons are.

use std::collections::BTreeSet;
use std::net::{SocketAddr, TcpListener};
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use awakener::broker::{
    Arrival, Broker, Counters, HttpPush, InProcess, Later, Nats, NotHandedOver, Subscription,
};
use awakener::wake::Setup;
use awakener_kernel::ids::Target;
use awakener_tools::Tool;
use awakener_tools::nats::{Server, program};
use tokio::time::timeout;

use super::rig::until;

/// A way for hints, with what keeps it going.
pub struct Carrier {
    pub name: &'static str,
    within: Option<InProcess>,
    pub server: Option<Server>,
    /// Where daemons listen for pushes: all of these, and those that no daemon has yet.
    push: Option<(Vec<SocketAddr>, Mutex<Vec<SocketAddr>>)>,
    _folder: tempfile::TempDir,
}

impl Carrier {
    /// Within the process.
    fn within(buffer: usize) -> Self {
        Self {
            name: "in-process",
            within: Some(InProcess::with_buffer(buffer)),
            server: None,
            push: None,
            _folder: tempfile::tempdir().unwrap(),
        }
    }

    /// Through a real server, which does not run yet; `None` if the user wants to do without.
    pub fn nats() -> Option<Self> {
        let program = match program().unwrap_or_else(|error| panic!("{error}")) {
            Tool::Ready(program) => program,
            Tool::Skipped(_) => return None,
        };
        let folder = tempfile::tempdir().unwrap();
        let server = Some(server(&program, folder.path()));
        Some(Self { name: "nats", within: None, server, push: None, _folder: folder })
    }

    /// All of them, ready to carry.
    pub fn all(buffer: usize) -> Vec<Self> {
        let nats = Self::nats().map(|mut nats| {
            nats.server().start().unwrap();
            nats
        });
        [Self::within(buffer)].into_iter().chain(nats).collect()
    }

    /// All ways between a plane and its daemons, ready to carry.
    pub fn between(buffer: usize) -> Vec<Self> {
        let free = || TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
        let free = vec![free(), free()];
        let http = Self {
            name: "http",
            within: None,
            push: Some((free.clone(), Mutex::new(free))),
            ..Self::within(buffer)
        };
        Self::all(buffer).into_iter().chain([http]).collect()
    }

    /// A daemon that hears what this carries.
    pub async fn heard_by(&self, setup: Setup) -> Setup {
        match &self.push {
            Some((_, free)) => {
                Setup { listen: Some(free.lock().unwrap().pop().expect("room for two")), ..setup }
            }
            None => Setup { broker: Some(self.client(256).await), ..setup },
        }
    }

    pub fn server(&mut self) -> &mut Server {
        self.server.as_mut().expect("a broker with a server")
    }

    /// A client of its own, connected if the server runs; `buffer` hints per target wait for a slow consumer.
    pub async fn client(&self, buffer: usize) -> Arc<dyn Broker> {
        if let Some((listeners, _)) = &self.push {
            let urls: Vec<String> = listeners.iter().map(|at| format!("http://{at}/v1/hints")).collect();
            return Arc::new(HttpPush::to(&urls).unwrap());
        }
        match (&self.within, &self.server) {
            (Some(within), _) => Arc::new(within.clone()),
            (None, Some(server)) => {
                let nats = Nats::with_buffer(&[server.url()], buffer).await.unwrap();
                if server.pid().is_some() {
                    until("a client connects", async || nats.counters().connected == Some(true)).await;
                }
                Arc::new(nats)
            }
            (None, None) => unreachable!("a carrier is one of them"),
        }
    }

    /// Waits until a subscription misses nothing any more.
    pub async fn settled(&self, subscription: &mut Subscription) {
        if self.server.is_some() {
            let first = timeout(Duration::from_secs(20), subscription.next()).await;
            assert_eq!(first.expect("it connects"), Some(Arrival::Connected));
        }
    }
}

fn server(program: &Path, folder: &Path) -> Server {
    Server::new(program, folder).unwrap()
}

/// What a hostile broker makes of the hints that are handed to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Malice {
    /// Each comes three times.
    Triples,
    /// Each waits for the next one and comes after it.
    Swaps,
    /// None comes.
    Loses,
}

/// Passes hints on as its malice says. All of it happens behind a client that took them.
#[derive(Clone, Debug)]
pub struct Hostile {
    inner: Arc<dyn Broker>,
    malice: Malice,
    held: Arc<Mutex<Option<Arc<[u8]>>>>,
}

impl Hostile {
    pub fn new(inner: Arc<dyn Broker>, malice: Malice) -> Self {
        Self { inner, malice, held: Arc::default() }
    }
}

impl Broker for Hostile {
    fn publish<'a>(&'a self, target: &'a Target, bytes: Arc<[u8]>) -> Later<'a, Result<(), NotHandedOver>> {
        let hints = match self.malice {
            Malice::Triples => vec![Arc::clone(&bytes), Arc::clone(&bytes), bytes],
            Malice::Swaps => {
                let mut held = self.held.lock().unwrap();
                match held.take() {
                    Some(earlier) => vec![bytes, earlier],
                    None => {
                        *held = Some(bytes);
                        Vec::new()
                    }
                }
            }
            Malice::Loses => Vec::new(),
        };
        Box::pin(async move {
            for hint in hints {
                self.inner.publish(target, hint).await?;
            }
            Ok(())
        })
    }

    fn subscribe(&self, targets: &BTreeSet<Target>) -> Subscription {
        self.inner.subscribe(targets)
    }

    fn counters(&self) -> Counters {
        self.inner.counters()
    }
}
