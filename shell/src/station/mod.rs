//! The hosted station (STN-8): claims work, runs the model through a runner, records the result, then acknowledges.
//!
//! A process of its own with a store of its own, that speaks HTTP to the plane and offers an AgentAPI-compatible
//! listener on loopback, so that it can be woken like any runtime. Reading order: [`thread`] (one input, one commit) →
//! `ports` (effects become acts) → [`runner`] (who plays the turns: [`local`], or [`fake`] in a trial) → [`directive`]
//! (what the model is told) → `listener` (who wakes it) → [`latch`] (how it stops for good).

pub mod directive;
pub mod fake;
pub mod latch;
mod listener;
pub mod local;
mod ports;
mod rows;
pub mod runner;
pub mod thread;

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use awakener_kernel::config::Checked;
use awakener_kernel::ids::{CommandId, ContentHash, Holder, Target};
use awakener_kernel::machine::{Machine as _, Outcome};
use awakener_kernel::station::{Effect, Event, Input, LatchId, Mapped, Model, PhaseName, Tail};
use awakener_spec::Reason;
use ed25519_dalek::SigningKey;

use crate::client::Client;
use crate::config::Mode;
use crate::store::StoreFault;
use latch::{Found, LatchFiles};
use ports::{Ended, Ports, Running};
use runner::Runner;
use thread::{Handle, Released};

/// How often the grant is looked at.
const GRANT_EVERY: Duration = Duration::from_millis(500);
/// How long one step of a clear may take.
const CLEAR_WITHIN: Duration = Duration::from_secs(5);

/// What a station needs to start.
pub struct Setup {
    /// The state directory.
    pub state: PathBuf,
    /// Whose inbox.
    pub target: Target,
    /// Trial or production, for the status (CAP-5).
    pub mode: Mode,
    /// The plane, with a credential that acts for the target.
    pub client: Client,
    /// The limits.
    pub limits: Checked,
    /// Hash of the effective configuration.
    pub config_hash: ContentHash,
    /// The key that acknowledges `by = station`.
    pub ack_key: Arc<SigningKey>,
    /// Where the station is woken; loopback.
    pub listen: SocketAddr,
    /// The token of observers.
    pub observer: ContentHash,
    /// The model, and its line in the map (OBS-2).
    pub model: (Model, Option<Mapped>),
    /// What plays the turns.
    pub runner: Arc<dyn Runner>,
    /// How often the inbox is looked at without a wake.
    pub poll_every: Duration,
}

impl std::fmt::Debug for Setup {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // Never the key.
        f.debug_struct("Setup")
            .field("state", &self.state)
            .field("target", &self.target)
            .finish_non_exhaustive()
    }
}

/// Why a station does not run, or runs no more.
#[derive(Debug, thiserror::Error)]
pub enum StationError {
    /// It is latched down (FUS-6): exit code 90.
    #[error("latched: {0}")]
    Latched(String),
    /// Its store cannot be used.
    #[error(transparent)]
    Store(#[from] StoreFault),
    /// A file or an address.
    #[error("{what}: {detail}")]
    Io {
        /// Which reason of the list.
        reason: Reason,
        /// What was tried.
        what: String,
        /// What came of it.
        detail: String,
    },
}

impl StationError {
    /// The reason of the common list.
    pub const fn reason(&self) -> Reason {
        match self {
            Self::Latched(_) => Reason::Latched,
            Self::Store(fault) => fault.reason,
            Self::Io { reason, .. } => *reason,
        }
    }
}

/// A station that serves.
#[derive(Debug)]
pub struct Serving {
    /// Where it can be woken.
    pub listen: SocketAddr,
    handle: Handle,
    ended: tokio::task::JoinHandle<Ended>,
    others: Vec<tokio::task::JoinHandle<()>>,
}

impl Serving {
    /// Waits for the end of the station. `Err` only for a latch.
    ///
    /// # Errors
    /// [`StationError::Latched`].
    pub async fn ended(self) -> Result<(), StationError> {
        let ended = self.ended.await.unwrap_or(Ended::Stopped);
        for task in self.others {
            task.abort();
        }
        drop(self.handle);
        match ended {
            Ended::Stopped => Ok(()),
            Ended::Latched => {
                Err(StationError::Latched("the fuse has tripped; see the latch file".to_owned()))
            }
        }
    }
}

/// Starts a station.
///
/// # Errors
/// [`StationError::Latched`] when anything lies at the latch path: boot is refused (FUS-6).
pub async fn start(setup: Setup) -> Result<Serving, StationError> {
    let files = LatchFiles::new(&setup.state, setup.target.as_str());
    if files.found() != Found::Nothing {
        return Err(StationError::Latched(format!(
            "{} is there; clear it with: awakener latch clear {}",
            files.path().display(),
            setup.target
        )));
    }
    files.reserve().map_err(|error| StationError::Io {
        reason: Reason::StoreUnavailable,
        what: "setting space aside for a latch (FUS-4)".to_owned(),
        detail: error.to_string(),
    })?;
    let (released, effects) = tokio::sync::mpsc::unbounded_channel();
    let path = setup.state.join(format!("station-{}.db", setup.target));
    let handle =
        thread::start(&path, setup.config_hash, setup.limits.clone(), setup.target.as_str(), None, released)?;
    // Under the lock of the store, which no other process of this station has: what an earlier one has left running
    // ends before anything starts (SPW-3).
    let runner = Arc::clone(&setup.runner);
    let recovered = tokio::task::spawn_blocking(move || runner.recover()).await;
    let recovered = recovered.unwrap_or_else(|error| Err(error.to_string()));
    recovered.map_err(|detail| StationError::Io {
        reason: Reason::StoreHeld,
        what: "ending what an earlier run has left".to_owned(),
        detail,
    })?;
    let listener = listener::bind(setup.listen).await?;
    let listen = listener.local_addr().map_err(|error| StationError::Io {
        reason: Reason::PortTaken,
        what: "listening".to_owned(),
        detail: error.to_string(),
    })?;
    let ports = Ports {
        handle: handle.clone(),
        client: setup.client.clone(),
        target: setup.target.clone(),
        holder: holder(&setup.target)?,
        ack_key: setup.ack_key.clone(),
        latch: files,
        model: setup.model.0.clone(),
        mapped: setup.model.1,
        runner: Arc::clone(&setup.runner),
        poll_every: setup.poll_every,
        run: Running::default(),
    };
    let ended = tokio::spawn(ports.serve(effects));
    let grants = tokio::spawn(follow_grant(setup.client, setup.target.clone(), handle.clone()));
    let woken = tokio::spawn(listener::serve(
        listener,
        handle.clone(),
        setup.target,
        setup.observer,
        setup.runner.reaches_ack_key(),
        setup.mode,
    ));
    Ok(Serving { listen, handle, ended, others: vec![grants, woken] })
}

/// Clears the latch of a station that does not run, for an operator command that the plane has accepted (FUS-7).
///
/// # Errors
/// [`StationError`]; the latch is then still there.
pub async fn clear(
    state: PathBuf,
    target: Target,
    limits: Checked,
    config_hash: ContentHash,
    command: CommandId,
) -> Result<(), StationError> {
    let files = LatchFiles::new(&state, target.as_str());
    let (released, mut effects) = tokio::sync::mpsc::unbounded_channel();
    let path = state.join(format!("station-{target}.db"));
    let lying = (files.found() != Found::Nothing).then(|| LatchId(ports::turn_id()));
    let handle = thread::start(&path, config_hash, limits, target.as_str(), lying, released)?;
    let still = |detail: String| StationError::Latched(format!("{}: {detail}", files.path().display()));
    // The grant under which it came about does not come back with the next start.
    if let Some(grant) = handle.look().await.and_then(|station| station.image().grant) {
        handle.spend(grant).await.map_err(|reason| still(reason.text().to_owned()))?;
    }
    match handle.step(Input::Clear { command }).await {
        Some(Outcome::Advanced(_)) => {}
        // The boot is about to write its latch again; then the clear is given once more.
        Some(Outcome::Refused(Reason::OutOfPhase)) => {}
        other => return Err(still(format!("the clear was not accepted: {other:?}"))),
    }
    while let Ok(Some(released)) = tokio::time::timeout(CLEAR_WITHIN, effects.recv()).await {
        let Released::Effect(effect) = released else { continue };
        let done = match *effect {
            Effect::WriteLatch { ticket, note } => {
                let ok = files.found() != Found::Nothing || files.write(&note).is_ok();
                handle.step(Input::LatchWritten { ticket, ok }).await;
                handle.step(Input::Clear { command }).await
            }
            Effect::ArchiveLatch { ticket, note } => {
                let ok = files.archive(&note).is_ok();
                handle.step(Input::LatchArchived { ticket, ok }).await
            }
            Effect::RemoveLatch { ticket, latch } => {
                let ok = files.remove(latch).is_ok();
                handle.step(Input::LatchRemoved { ticket, ok }).await
            }
            _ => None,
        };
        match done {
            Some(Outcome::Advanced(Event::Cleared)) => return Ok(()),
            Some(Outcome::Advanced(Event::ClearFailed)) => {
                return Err(still("it could not be archived or removed; nothing is lost".to_owned()));
            }
            _ => {}
        }
    }
    Err(still("the clear did not come to its end".to_owned()))
}

/// Keeps the station's grant as the plane has it. A plane that does not answer changes nothing: the grant has an end.
async fn follow_grant(client: Client, target: Target, handle: Handle) {
    mark_tail(&client, &target, &handle).await;
    let spent = loop {
        match handle.spent().await {
            Ok(spent) => break spent,
            Err(_) => tokio::time::sleep(GRANT_EVERY).await,
        }
    };
    // At first nothing is known of what the station holds: a grant may have ended while it was down.
    let mut told = None;
    loop {
        if let Ok(grant) = client.grant(&target).await {
            if handle.plane_time(grant.now).await {
                // What was over by the time that held until now may hold again.
                told = None;
            }
            // What a latch has used up arms nothing any more: work starts again by a new grant (FUS-7).
            let fresh = grant.command.map(|command| command.to_string()) != spent;
            let now = (grant.armed && fresh).then_some((grant.until, grant.command));
            if told != Some(now) {
                let input = match now {
                    Some((until, Some(command))) => Input::Grant { until, command },
                    Some((_, None)) | None => Input::Disarm,
                };
                // What did not become durable is told again.
                told = handle.step(input).await.map(|_| now);
            }
        }
        tokio::time::sleep(GRANT_EVERY).await;
    }
}

/// Marks what lies in the inbox at the start as backlog, before any work is taken (STN-7).
async fn mark_tail(client: &Client, target: &Target, handle: &Handle) {
    loop {
        match client.work(target, &[], None).await {
            Ok(work) => {
                handle.step(Input::MarkTail { tail: Tail(work.last) }).await;
                return;
            }
            Err(error) => tracing::info!(%target, "the tail of the inbox is not known yet: {error}"),
        }
        tokio::time::sleep(GRANT_EVERY).await;
    }
}

fn holder(target: &Target) -> Result<Holder, StationError> {
    Holder::parse(target.as_str()).map_err(|error| StationError::Io {
        reason: Reason::ConfigMalformed,
        what: "the name of the station".to_owned(),
        detail: error.to_string(),
    })
}

/// Whether a wake can do anything in this phase.
const fn wakeable(phase: PhaseName) -> bool {
    !matches!(phase, PhaseName::Dark | PhaseName::Refused | PhaseName::LatchedDown)
}

/// Whether nothing is under way.
const fn resting(phase: PhaseName) -> bool {
    matches!(phase, PhaseName::Dark | PhaseName::Armed | PhaseName::Refused | PhaseName::LatchedDown)
}
