//! A wake daemon that takes another manifest when it gets SIGHUP.
//!
//! A manifest that is refused changes nothing and is said loudly. With one that is accepted the daemon stops and starts
//! anew over its store, which is the way that every crash takes as well: accepted hints, cooldowns and flights are in the
//! store, and a flight of unknown fate is settled first (DSP-12). Rules: CAP-2.

use std::time::Duration;

use crate::config::Config;
use crate::exit::Failure;
use crate::manifest::Manifest;
use crate::wake::{self, Daemon, Setup, Watch};

/// How often an address is tried that the daemon before may still hold.
const TRIES: u32 = 40;
/// Between two tries.
const PAUSE: Duration = Duration::from_millis(50);

/// A running daemon and how to start the next one.
pub(super) struct Woken<'a, S> {
    config: &'a Config,
    manifest: Manifest,
    setup: S,
    /// None only while the next one starts.
    daemon: Option<Daemon>,
    /// The one that runs now, for whoever shows it.
    now: tokio::sync::watch::Sender<Watch>,
    hangups: tokio::signal::unix::Signal,
}

impl<'a, S: Fn(Manifest) -> Result<Setup, Failure>> Woken<'a, S> {
    /// Starts the first one.
    pub(super) async fn start(config: &'a Config, manifest: Manifest, setup: S) -> Result<Self, Failure> {
        // Heard from before the daemon is there: a SIGHUP too early would end the process.
        let hangups = tokio::signal::unix::signal(tokio::signal::unix::SignalKind::hangup());
        let hangups = hangups.map_err(|error| {
            Failure::new(crate::exit::Exit::Failed, format!("SIGHUP cannot be heard: {error}"))
        })?;
        let daemon = wake::spawn_in(setup(manifest.clone())?).await?;
        let now = tokio::sync::watch::Sender::new(daemon.watch());
        Ok(Self { config, manifest, setup, daemon: Some(daemon), now, hangups })
    }

    /// Shows the daemon that runs, also after a manifest was read again.
    pub(super) fn watch(&self) -> tokio::sync::watch::Receiver<Watch> {
        self.now.subscribe()
    }

    /// Keeps a daemon running; returns only with what keeps the next one from starting.
    pub(super) async fn keep(mut self) -> Failure {
        loop {
            if self.hangups.recv().await.is_none() {
                return std::future::pending().await;
            }
            let new = Manifest::load(&self.config.manifest, self.config.mode);
            let (manifest, problems) = self.manifest.clone().reloaded(new);
            if let Some(problems) = problems {
                tracing::error!(
                    rule = "CAP-2",
                    "the new manifest is refused, the old one stays:\n{problems}"
                );
                continue;
            }
            self.manifest = manifest;
            // Closing the store blocks.
            let daemon = self.daemon.take();
            if tokio::task::spawn_blocking(move || daemon.map(Daemon::stop)).await.is_err() {
                tracing::error!("the wake daemon had died");
            }
            self.daemon = match self.again().await {
                Ok(daemon) => {
                    self.now.send_replace(daemon.watch());
                    Some(daemon)
                }
                Err(failure) => return failure,
            };
            let agents = self.manifest.agents().count();
            tracing::info!(rule = "CAP-2", agents, "the manifest is read again");
        }
    }

    async fn again(&self) -> Result<Daemon, Failure> {
        let mut tries = TRIES;
        loop {
            match wake::spawn_in((self.setup)(self.manifest.clone())?).await {
                Ok(daemon) => return Ok(daemon),
                Err(refused) if tries == 0 => return Err(refused.into()),
                Err(_) => tries -= 1,
            }
            tokio::time::sleep(PAUSE).await;
        }
    }
}
