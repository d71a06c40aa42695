//! The wake daemon: verifies hints, and starts or notifies the runtimes of the targets that its manifest names.
//!
//! It has its own store (`wake.db`) and its own chain, and asks the plane before anything starts. Reading order:
//! `daemon`, `inbox`, `thread` (the store, the wakers) → `verify`, `fold` (what becomes of bytes) → `ports` (what becomes of effects) →
//! `port`, `remote` (the plane), `adapter`, `adapters` (the runtimes) → `listener`. All branching is in the kernel's
//! waker. Rules: VER-1 to VER-5, DSP-1 to DSP-12.

mod adapter;
mod adapters;
mod daemon;
mod fold;
mod inbox;
mod listener;
mod pauses;
mod port;
mod ports;
mod remote;
mod rows;
mod status;
mod thread;
mod verify;

use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::sync_channel;
use std::time::Duration;

use crate::broker::{Arrival, Broker};
use crate::clock::Clock;
use crate::config::Mode;
use crate::host::Host;
use crate::manifest::{Agent, Eligibility, Manifest};
use crate::pause::Pause;
use crate::plane::Refused;
use crate::store::Db;
use awakener_kernel::audit::Identities;
use awakener_kernel::config::Config;
use awakener_kernel::ids::{ContentHash, DaemonName, Target};
use awakener_kernel::time::{Millis, Mono, Wall};
use awakener_kernel::waker::{Capability, Missing, Waker};
use awakener_spec::Reason;
use daemon::Entrance;

pub use adapter::{Capabilities, Order, RuntimeAdapter, TEXT_BYTES};
pub use adapters::{
    AgentApi, BUSY, Fake, Manners, Marks, Means, Patience, Standing, Tmux, Touch, Unbuilt, Webhook, adapters,
};
pub use daemon::{Daemon, Watch};
pub use fold::{Fold, Line, SAMPLE_BYTES, Sample, Via};
pub use inbox::Judged;
pub use pauses::Pauses;
pub use port::{Local, NoAnswer, PlanePort, Reported, Ring, Shown};
pub use remote::Remote;
pub use status::{Status, TargetStatus};
pub use verify::Verifier;

/// How many commands may wait; a hint that finds no room is lost.
const QUEUE: usize = 4_096;

/// What a wake daemon needs to start.
#[derive(Debug)]
pub struct Setup {
    /// The state directory: `wake.db`, `stop-all`, `pause-<target>`.
    pub state: PathBuf,
    /// Its name at the plane.
    pub name: DaemonName,
    /// Trial or production, for the status (CAP-5).
    pub mode: Mode,
    /// The limits; an agent's cooldown comes from its manifest entry.
    pub limits: Config,
    /// Hash of the effective configuration.
    pub config_hash: ContentHash,
    /// Who is served; a refused manifest serves nobody (CAP-2).
    pub manifest: Manifest,
    /// The adapter of each agent that has one here; see [`mod@adapters`].
    pub adapters: BTreeMap<Target, Arc<dyn RuntimeAdapter>>,
    /// The plane.
    pub plane: Arc<dyn PlanePort>,
    /// Where hints come from, beside the listener.
    pub broker: Option<Arc<dyn Broker>>,
    /// Where the own listener is; loopback. Port 0 = any.
    pub listen: Option<SocketAddr>,
    /// Hash of the observer's token ([`crate::keys::token_hash`]).
    pub observer: Option<ContentHash>,
    /// Where a test wants to stop this process.
    pub pause: Option<Pause>,
    /// How often things are done that no rule counts.
    pub pace: Pace,
}

/// The daemon's own rhythm.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pace {
    /// The window of the fold (VER-4).
    pub fold: Millis,
    /// Between two looks at the router keys.
    pub ring: Duration,
    /// How long one answer of the plane is waited for.
    pub patience: Duration,
}

impl Default for Pace {
    fn default() -> Self {
        Self { fold: Millis::seconds(60), ring: Duration::from_secs(15), patience: Duration::from_secs(3) }
    }
}

/// Starts a wake daemon within this process: opens its store, recovers its wakers, listens.
///
/// # Errors
/// The store's reasons; `not_loopback` for a listener that others could reach; `store_unavailable` when the listener
/// or a thread cannot be had.
pub async fn spawn_in(setup: Setup) -> Result<Daemon, Refused> {
    let listener = listener::bind(setup.listen).await?;
    let addr = listener.as_ref().and_then(|listener| listener.local_addr().ok());
    let agents: Vec<Agent> = setup.manifest.agents().cloned().collect();
    let served: BTreeSet<Target> = agents.iter().map(|agent| agent.target.clone()).collect();
    let own: BTreeMap<String, Config> = agents
        .iter()
        .map(|agent| {
            let config = Config { cooldown: agent.cooldown, ..setup.limits.clone() };
            (agent.target.as_str().to_owned(), config)
        })
        .collect();
    let mut db = Db::open(&setup.state.join("wake.db"), hash_of(&setup.config_hash, &own))?;
    db.belongs_to(Identities { daemon: Some(setup.name.clone()), ..Identities::default() });
    db.pause_at(setup.pause.clone());
    let clock = Arc::new(Clock::starting_at(Wall(db.last_wall()?.unwrap_or(0))));
    let mut host: Host<Waker> = Host::boot_each(&mut db, setup.limits.clone(), own.clone(), clock.now())?;
    for target in &served {
        host.ensure(&mut db, target.as_str(), clock.now())?;
    }
    let ring = db.meta(thread::RING)?.and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default();
    let verifier = Arc::new(Verifier::new(ring, served.clone()));

    let (sender, receiver) = sync_channel(QUEUE);
    let inbox = inbox::Inbox(sender);
    let shown =
        daemon::Shown { reachable: Arc::default(), overflowed: Arc::default(), broker: setup.broker.clone() };
    let common = ports::Common {
        plane: Arc::clone(&setup.plane),
        inbox: inbox.clone(),
        clock: Arc::clone(&clock),
        pauses: pauses::Pauses::in_state(&setup.state),
        verifier: Arc::clone(&verifier),
        reachable: Arc::clone(&shown.reachable),
        patience: setup.pace.patience,
    };
    let mut ports = ports::Ports::default();
    let runtime = tokio::runtime::Handle::current();
    // Also for targets that are served no more: a flight of theirs may still have to be told of.
    for target in host.machines().filter_map(|(target, _)| Target::parse(target).ok()) {
        ports.open(&runtime, &common, &target, setup.adapters.get(&target).cloned());
    }
    let about = about(&setup, db.head());
    let thread = thread::Thread {
        fold: Fold::new(setup.pace.fold),
        capabilities: agents.iter().map(|agent| capability(agent, &setup.adapters)).collect(),
        pauses: common.pauses.clone(),
        config: setup.limits.clone(),
        asked_via: BTreeMap::new(),
        verifier: Arc::clone(&verifier),
        introduced: false,
        looked: Mono(0),
        shown: BTreeMap::new(),
        started: clock.now().wall,
        watch: crate::clock::Watch::default(),
        inbox: receiver,
        db,
        clock,
        host,
        own,
        ports,
        about,
    };
    let handle = std::thread::Builder::new()
        .name("wake-store".to_owned())
        .spawn(move || thread.run())
        .map_err(|error| Refused { reason: Reason::StoreUnavailable, detail: error.to_string() })?;

    let mut daemon = Daemon { inbox, verifier, tasks: Vec::new(), thread: Some(handle), addr, shown };
    daemon.tasks.push(tokio::spawn(verify::follow_ring(common, setup.pace.ring)));
    if let Some(broker) = &setup.broker {
        let subscription = broker.subscribe(&served);
        daemon.tasks.push(tokio::spawn(listen(subscription, daemon.entrance())));
    }
    if let Some(listener) = listener {
        let database = setup.state.join("wake.db");
        daemon.tasks.push(tokio::spawn(listener::serve(
            listener,
            daemon.entrance(),
            setup.observer,
            database,
        )));
    }
    Ok(daemon)
}

/// Takes what the broker brings.
async fn listen(mut subscription: crate::broker::Subscription, entrance: Entrance) {
    while let Some(arrival) = subscription.next().await {
        match arrival {
            Arrival::Hint(bytes) => {
                entrance.offer(Via::Broker, &bytes, None);
            }
            Arrival::Lost(_) | Arrival::Connected => entrance.inbox.give(inbox::Cmd::Reconnect).await,
        }
    }
    tracing::error!("the broker is gone; alerts are found by sweeps only");
}

/// Whether a runtime may be woken, by its manifest entry and by what is here (DSP-3, DSP-8).
fn capability(agent: &Agent, adapters: &BTreeMap<Target, Arc<dyn RuntimeAdapter>>) -> (String, Capability) {
    awakener_spec::rule!(Dsp3);
    let capability = match (adapters.contains_key(&agent.target), agent.eligibility()) {
        (false, _) => Capability::Missing(Missing::NoAdapter),
        (true, Eligibility::Unattended) => Capability::Unattended,
        (true, Eligibility::Attended) => Capability::Attended,
        (true, Eligibility::None) => Capability::Missing(Missing::NoTier0Ack),
    };
    (agent.target.as_str().to_owned(), capability)
}

/// The hash of everything that the steps of this store obey: the configuration and what the manifest says of limits.
fn hash_of(config: &ContentHash, own: &BTreeMap<String, Config>) -> ContentHash {
    let value = serde_json::json!({ "config": config, "targets": own });
    ContentHash::of(&awakener_kernel::json::canonical(&value))
}

/// The parts of the status that stay as they are; the rest is filled in when it is asked for.
fn about(setup: &Setup, head: awakener_kernel::audit::Head) -> Status {
    Status {
        v: 1,
        name: setup.name.as_str().to_owned(),
        mode: setup.mode.as_str(),
        now: String::new(),
        served: BTreeSet::new(),
        targets: Vec::new(),
        adapters: setup
            .adapters
            .iter()
            .map(|(target, adapter)| (target.as_str().to_owned(), adapter.capabilities()))
            .collect(),
        ring: 0,
        plane_reachable: false,
        refused: BTreeMap::new(),
        overflowed: 0,
        clock_suspect: false,
        clock_behind_ms: 0,
        broker: None,
        head,
    }
}
