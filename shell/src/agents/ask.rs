//! Asks the others of this machine for their status: the wake daemon once, each station that is configured here once,
//! side by side, each within a bound.
//!
//! Only loopback addresses of the configuration are asked, without proxy and without redirects. Nobody's credential is
//! passed on: the wake daemon's status takes none, and a station gets one that opens its own status and nothing else
//! ([`look_token`]). Rules: AUD-8, CON-1, PRT-3, SPW-6.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use awakener_kernel::ids::{ContentHash, Target};
use serde::Deserialize;
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

use super::facts::{Source, StationFacts, WakeFacts, WakerFacts};
use crate::config::Config;
use crate::keys::look_token;
use crate::wake::Watch;

/// How long everything together may take.
const WITHIN: Duration = Duration::from_secs(2);
/// How many stations are asked at the same time.
const AT_ONCE: usize = 64;
/// The most bytes of a station's status.
const STATION_BYTES: usize = 1 << 20;
/// The most bytes of a wake daemon's status: some hundred a target.
const WAKE_BYTES: usize = 16 << 20;

/// Where the wake daemon is.
#[derive(Clone, Debug)]
pub enum WakeAt {
    /// In this process.
    Here(tokio::sync::watch::Receiver<Watch>),
    /// In a process of its own, at this loopback address.
    At(SocketAddr),
    /// In a plane that does not run.
    Down,
    /// Not configured.
    Nowhere,
}

/// Whom a plane asks.
#[derive(Clone, Debug)]
pub struct Neighbours {
    wake: WakeAt,
    stations: BTreeMap<Target, SocketAddr>,
    observer: ContentHash,
    http: Option<reqwest::Client>,
}

/// What they said.
#[derive(Debug)]
pub struct Heard {
    wake: Source<Daemon>,
    stations: BTreeMap<Target, Source<StationFacts>>,
}

#[derive(Debug)]
struct Daemon {
    name: String,
    plane_reachable: bool,
    wakers: BTreeMap<Target, WakerFacts>,
}

/// A daemon's status, as far as it is read.
#[derive(Debug, Deserialize)]
struct DaemonStatus {
    v: u32,
    name: String,
    plane_reachable: bool,
    targets: Vec<WakerFacts>,
}

impl Neighbours {
    /// Nobody.
    pub fn none() -> Self {
        let observer = ContentHash([0; 32]);
        Self { wake: WakeAt::Nowhere, stations: BTreeMap::new(), observer, http: None }
    }

    /// Those of a configuration; `wake` says where the daemon is.
    pub fn of(config: &Config, wake: WakeAt, observer: ContentHash) -> Self {
        let stations =
            config.stations.iter().map(|(target, station)| (target.clone(), station.listen)).collect();
        Self::at(wake, stations, observer)
    }

    /// These, where an address that is not loopback is never asked.
    pub fn at(wake: WakeAt, stations: BTreeMap<Target, SocketAddr>, observer: ContentHash) -> Self {
        let http = reqwest::Client::builder()
            .no_proxy()
            .redirect(reqwest::redirect::Policy::none())
            .pool_max_idle_per_host(1)
            .build()
            .map_err(|error| tracing::error!("nobody can be asked for a status: {error}"));
        Self { wake, stations, observer, http: http.ok() }
    }

    /// Asks all of them, or of the stations only that of one target.
    pub async fn ask(&self, only: Option<&Target>) -> Heard {
        let room = Arc::new(Semaphore::new(AT_ONCE));
        let mut asked = JoinSet::new();
        for (target, at) in self.stations.iter().filter(|(target, _)| only.is_none_or(|only| only == *target))
        {
            let (target, at, room, http) = (target.clone(), *at, Arc::clone(&room), self.http.clone());
            let token = look_token(&self.observer, &target);
            asked.spawn(async move {
                let look = async {
                    let _turn = room.acquire().await;
                    fetch(http, at, Some(&token), STATION_BYTES).await
                };
                let found = within(look).await.and_then(|bytes| read_station(&target, &bytes));
                (target, settle(found))
            });
        }
        let wake = self.daemon().await;
        let mut stations: BTreeMap<Target, Source<StationFacts>> = BTreeMap::new();
        while let Some(done) = asked.join_next().await {
            if let Ok((target, source)) = done {
                stations.insert(target, source);
            }
        }
        Heard { wake, stations }
    }

    async fn daemon(&self) -> Source<Daemon> {
        let found = match &self.wake {
            WakeAt::Nowhere | WakeAt::Down => return Source::Absent,
            WakeAt::At(at) => within(fetch(self.http.clone(), *at, None, WAKE_BYTES)).await,
            WakeAt::Here(watch) => {
                let watch = watch.borrow().clone();
                within(async {
                    let status = watch.status().await.ok_or_else(|| unread("its store thread has ended"))?;
                    serde_json::to_vec(&status).map_err(|error| unread(&error.to_string()))
                })
                .await
            }
        };
        settle(found.and_then(|bytes| read_daemon(&bytes)))
    }
}

impl Heard {
    /// The wake daemon's part about a target.
    pub fn wake(&self, target: &Target) -> Source<WakeFacts> {
        match &self.wake {
            Source::Known(daemon) => Source::Known(WakeFacts {
                daemon: daemon.name.clone(),
                plane_reachable: daemon.plane_reachable,
                waker: daemon.wakers.get(target).cloned(),
            }),
            Source::Silent => Source::Silent,
            Source::Unread(why) => Source::Unread(why.clone()),
            Source::Absent => Source::Absent,
        }
    }

    /// Why the wake daemon is not known, if it should be.
    pub fn wake_missing(&self) -> Option<&str> {
        self.wake.missing()
    }

    /// Takes the station's part about a target.
    pub fn station(&mut self, target: &Target) -> Source<StationFacts> {
        self.stations.remove(target).unwrap_or(Source::Absent)
    }
}

/// What kept an answer away.
#[derive(Debug)]
enum Missed {
    /// Nobody listens there.
    Silent,
    /// Something else.
    Unread(String),
}

fn unread(why: &str) -> Missed {
    Missed::Unread(why.to_owned())
}

fn settle<T>(found: Result<T, Missed>) -> Source<T> {
    match found {
        Ok(known) => Source::Known(known),
        Err(Missed::Silent) => Source::Silent,
        Err(Missed::Unread(why)) => Source::Unread(why),
    }
}

async fn within<T>(look: impl Future<Output = Result<T, Missed>>) -> Result<T, Missed> {
    tokio::time::timeout(WITHIN, look).await.unwrap_or_else(|_| Err(unread("it did not answer in time")))
}

async fn fetch(
    http: Option<reqwest::Client>,
    at: SocketAddr,
    token: Option<&str>,
    most: usize,
) -> Result<Vec<u8>, Missed> {
    if !at.ip().is_loopback() {
        awakener_spec::rule!(Prt3);
        return Err(unread("its address is not a loopback one, so it is not asked"));
    }
    let http = http.ok_or_else(|| unread("this process has no HTTP client"))?;
    let mut request = http.get(format!("http://{at}/v1/status"));
    if let Some(token) = token {
        request = request.bearer_auth(token);
    }
    let mut answer = request.send().await.map_err(|error| {
        // A refused connection says that nobody is there; anything else says nothing.
        if refused(&error) { Missed::Silent } else { unread("it broke off") }
    })?;
    if answer.status() != reqwest::StatusCode::OK {
        return Err(Missed::Unread(format!("it answered with the status {}", answer.status().as_u16())));
    }
    let mut bytes = Vec::new();
    while let Some(chunk) = answer.chunk().await.map_err(|_| unread("it broke off"))? {
        if bytes.len() + chunk.len() > most {
            return Err(unread("its answer is too long"));
        }
        bytes.extend_from_slice(&chunk);
    }
    Ok(bytes)
}

fn refused(error: &reqwest::Error) -> bool {
    let mut cause: Option<&dyn std::error::Error> = Some(error);
    while let Some(inner) = cause {
        if let Some(io) = inner.downcast_ref::<std::io::Error>()
            && io.kind() == std::io::ErrorKind::ConnectionRefused
        {
            return true;
        }
        cause = inner.source();
    }
    false
}

/// Texts of others do not get on: what is not of a closed list is no status.
fn read_station(target: &Target, bytes: &[u8]) -> Result<StationFacts, Missed> {
    let facts: StationFacts =
        serde_json::from_slice(bytes).map_err(|_| unread("what it answered is no status of a station"))?;
    if facts.target != *target {
        return Err(unread("it answered for another target"));
    }
    Ok(facts)
}

fn read_daemon(bytes: &[u8]) -> Result<Daemon, Missed> {
    let status: DaemonStatus = serde_json::from_slice(bytes)
        .map_err(|_| unread("what it answered is no status of a wake daemon"))?;
    let named = awakener_kernel::ids::DaemonName::parse(&status.name).is_ok();
    if status.v != 1 || !named {
        return Err(unread("what it answered is no status of a wake daemon"));
    }
    let wakers = status.targets.into_iter().map(|waker| (waker.target.clone(), waker)).collect();
    Ok(Daemon { name: status.name, plane_reachable: status.plane_reachable, wakers })
}
