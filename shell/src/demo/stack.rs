//! One stack: a state directory, a plane, a wake daemon and stations as processes, and the operator who set them up.
//!
//! Small limits, so that what takes minutes elsewhere takes seconds here. Reading order: [`Plan`] (what is wanted) →
//! [`Stack::build`] (init, files, plane, operator's acts) → the questions that scenarios ask from outside.

mod ask;
mod setup;

use std::collections::BTreeMap;
use std::net::TcpListener;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use awakener_kernel::ids::{MessageId, Target};

use super::children::{Children, Ran};
use super::network::Network;
use super::proxy::Proxy;
use super::tape::Outside;
use crate::clock;
use crate::keys::{SecretKey, Token};

pub use ask::{about, kinds, records};

/// Who raises alerts in every stack.
pub const SENDER: &str = "ops";
/// A known principal that no roster lists.
pub const ROGUE: &str = "rogue";

/// What is wanted of a stack.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Its name; also that of its plane.
    pub name: &'static str,
    /// Lines of `[limits]`.
    pub limits: &'static str,
    /// Lines of `[trial]`.
    pub trial: &'static str,
    /// Whether it has a wake daemon.
    pub wake: bool,
    /// Whether a roster lists the sender for every agent.
    pub roster: bool,
    /// Its agents.
    pub agents: Vec<Agent>,
}

/// One agent of a stack.
#[derive(Clone, Copy, Debug)]
pub struct Agent {
    /// Its name.
    pub target: &'static str,
    /// How its turns go.
    pub script: &'static str,
    /// Whether its station is started with the stack.
    pub station: bool,
    /// Whether a proxy stands between its station and the plane.
    pub proxied: bool,
    /// Settings of its station process alone.
    pub set: &'static str,
    /// Its section of the manifest names this runtime.
    pub runtime: &'static str,
}

/// An agent whose station runs complete turns.
pub const fn agent(target: &'static str) -> Agent {
    Agent { target, script: "\"complete\"", station: true, proxied: false, set: "", runtime: "agentapi" }
}

/// What stacks share.
#[derive(Clone, Debug)]
pub struct Kit {
    /// Where everything lies.
    pub root: PathBuf,
    /// The processes.
    pub children: Arc<Children>,
    /// HTTP.
    pub outside: Outside,
    /// The network.
    pub network: Network,
}

/// A stack that runs.
#[derive(Debug)]
pub struct Stack {
    /// What was wanted.
    pub plan: Plan,
    /// What all stacks share.
    pub kit: Kit,
    /// The state directory.
    pub dir: PathBuf,
    /// The plane.
    pub plane: String,
    /// The wake daemon.
    pub wake: String,
    /// The proxies, by target.
    pub proxies: BTreeMap<String, Proxy>,
    stations: BTreeMap<String, String>,
    operator: SecretKey,
    observer: String,
}

type Fallible<T> = Result<T, String>;

/// The name of a target; the demo's own are all valid.
///
/// # Errors
/// In words.
pub fn target(name: &str) -> Fallible<Target> {
    Target::parse(name).map_err(|error| format!("{name}: {error}"))
}

fn said(error: impl std::fmt::Display) -> String {
    error.to_string()
}

/// Ten bytes of chance, for an id.
///
/// # Errors
/// In words.
pub fn chance<const N: usize>() -> Fallible<[u8; N]> {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).map_err(said)?;
    Ok(bytes)
}

/// A new message id.
///
/// # Errors
/// In words.
pub fn message_id() -> Fallible<MessageId> {
    Ok(MessageId::from_parts(clock::system().0, chance()?))
}

/// Looks again and again until there is something, at most so long.
///
/// # Errors
/// What was waited for, when the time is over.
pub async fn until<T>(
    what: &str,
    seconds: u64,
    mut look: impl AsyncFnMut() -> Fallible<Option<T>>,
) -> Fallible<T> {
    let start = Instant::now();
    loop {
        if let Some(found) = look().await? {
            return Ok(found);
        }
        if start.elapsed() > Duration::from_secs(seconds) {
            return Err(format!("waited {seconds} s for {what}"));
        }
        tokio::time::sleep(Duration::from_millis(40)).await;
    }
}

/// A port that nobody listens on, below those that the system gives out by itself: so no connection that somebody opens
/// in the meantime can take it before the child does.
fn free_port() -> Fallible<u16> {
    for _ in 0..1_000 {
        let port = 20_000 + u16::from_le_bytes(chance()?) % 12_000;
        if TcpListener::bind(("127.0.0.1", port)).is_ok() {
            return Ok(port);
        }
    }
    Err("no free port between 20000 and 32000".to_owned())
}

impl Stack {
    /// Sets a stack up and starts its processes.
    ///
    /// # Errors
    /// In words.
    pub async fn build(kit: Kit, plan: Plan) -> Fallible<Arc<Self>> {
        let dir = kit.root.join(plan.name);
        let state = dir.display().to_string();
        let operator_file = kit.root.join("operators").join(format!("{}.key", plan.name));
        let key = operator_file.display().to_string();
        let init = ["--state", &state, "init", "--trial", "--plane", plan.name, "--operator-key", &key];
        let made = kit.children.run(&init).await?;
        if made.code != 0 {
            return Err(format!("init: {}", made.err));
        }
        let operator = SecretKey::load(&operator_file).map_err(said)?;
        let observer = Token::load(&dir.join("tokens/observer.token")).map_err(said)?.expose().to_owned();
        let mut stack = Self {
            plane: format!("http://127.0.0.1:{}", free_port()?),
            wake: format!("http://127.0.0.1:{}", free_port()?),
            plan,
            kit,
            dir,
            proxies: BTreeMap::new(),
            stations: BTreeMap::new(),
            operator,
            observer,
        };
        stack.write_files().await?;
        stack.start_plane().await?;
        stack.set_up().await?;
        stack.kit.network.connect(stack.plan.name, &stack.wake, &stack.observer);
        if stack.plan.wake {
            stack.start_wake().await?;
        }
        let stations: Vec<&str> =
            stack.plan.agents.iter().filter(|agent| agent.station).map(|agent| agent.target).collect();
        for target in &stations {
            stack.launch_station(target)?;
        }
        for target in &stations {
            stack.station_armed(target).await?;
        }
        Ok(Arc::new(stack))
    }
}

/// Processes.
impl Stack {
    fn label(&self, what: &str) -> String {
        format!("{}/{what}", self.plan.name)
    }

    /// Starts the plane and waits until it serves.
    ///
    /// # Errors
    /// In words.
    pub async fn start_plane(&self) -> Fallible<()> {
        let state = self.dir.display().to_string();
        let label = self.label("up");
        self.kit.children.start(&label, &["--state", &state, "up"])?;
        self.serves(&label, &format!("{}/readyz", self.plane)).await
    }

    /// Starts the wake daemon and waits until it serves and has the router's key.
    ///
    /// # Errors
    /// In words.
    pub async fn start_wake(&self) -> Fallible<()> {
        let state = self.dir.display().to_string();
        let label = self.label("wake");
        self.kit.children.start(&label, &["--state", &state, "--set", "broker.kind=in-process", "wake"])?;
        self.serves(&label, &format!("{}/v1/status", self.wake)).await?;
        until("the router's key to reach the wake daemon", 10, async || {
            let status = self.daemon_status().await?;
            Ok((status["ring"].as_u64() > Some(0)).then_some(()))
        })
        .await
    }

    /// Starts the station of a target.
    ///
    /// # Errors
    /// In words.
    pub fn launch_station(&self, target: &str) -> Fallible<()> {
        let state = self.dir.display().to_string();
        let mut args = vec!["--state", &state];
        let set = self.plan.agents.iter().find(|agent| agent.target == target).map_or("", |agent| agent.set);
        if !set.is_empty() {
            args.extend(["--set", set]);
        }
        args.extend(["station", target]);
        self.kit.children.start(&self.label(target), &args)
    }

    /// Waits until a station serves.
    ///
    /// # Errors
    /// In words.
    pub async fn serves_station(&self, target: &str) -> Fallible<()> {
        self.serves(&self.label(target), &format!("{}/status", self.station(target)?)).await
    }

    /// Waits until a station serves and holds its grant.
    ///
    /// # Errors
    /// In words.
    pub async fn station_armed(&self, target: &str) -> Fallible<()> {
        self.serves_station(target).await?;
        until(&format!("{target} to be armed"), 10, async || {
            let status = self.station_status(target).await?;
            Ok((!status["grant"].is_null()).then_some(()))
        })
        .await
    }

    async fn serves(&self, label: &str, url: &str) -> Fallible<()> {
        until(&format!("{label} to serve"), 15, async || {
            if let Some(code) = self.kit.children.ended(label) {
                let log = self.kit.children.log(label);
                let tail: Vec<&str> = log.lines().rev().take(6).collect();
                return Err(format!(
                    "{label} ended with {code}: {}",
                    tail.into_iter().rev().collect::<Vec<_>>().join(" | ")
                ));
            }
            let answer = self.kit.outside.get(url, "").await;
            Ok(answer.is_ok_and(|answer| answer.status == 200).then_some(()))
        })
        .await
    }

    /// The processes, for [`Children`].
    pub fn process(&self, what: &str) -> String {
        self.label(what)
    }

    /// Runs one command of the program against this stack.
    ///
    /// # Errors
    /// In words, when it cannot be started.
    pub async fn cli(&self, args: &[&str]) -> Fallible<Ran> {
        let state = self.dir.display().to_string();
        self.kit.children.run(&[&["--state", &state], args].concat()).await
    }

    /// The file with the operator's key.
    pub fn operator_file(&self) -> String {
        self.kit.root.join("operators").join(format!("{}.key", self.plan.name)).display().to_string()
    }

    /// Where a station is woken.
    ///
    /// # Errors
    /// In words.
    pub fn station(&self, target: &str) -> Fallible<&String> {
        self.stations.get(target).ok_or_else(|| format!("{target} is no agent of {}", self.plan.name))
    }
}
