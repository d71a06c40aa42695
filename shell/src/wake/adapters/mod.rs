//! The runtimes that this build can wake, and the choice of an adapter for each agent of a manifest.
//!
//! Reading order: [`Standing`] (what was tried on what) → `agentapi`, `webhook` (over `call`, `address`, `secret`) →
//! `tmux` → `fake`, `unbuilt`. What an adapter promises stands in [`super::adapter`], and the suite of `shell/tests` holds each
//! to it. Rules: CAP-3, DSP-3.

mod address;
mod agentapi;
mod call;
mod fake;
mod secret;
mod signature;
mod tmux;
mod trust;
mod unbuilt;
mod webhook;

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;

use awakener_kernel::ids::Target;

use super::adapter::RuntimeAdapter;
use crate::manifest::{Agent, Manifest, Runtime};
use crate::spawn::Environment;

pub use agentapi::{AgentApi, BUSY, Manners};
pub use fake::Fake;
pub use tmux::{Marks, Tmux, Touch};
pub use unbuilt::Unbuilt;
pub use webhook::{Patience, Webhook};

/// What an adapter was tried on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Standing {
    /// The real thing, in the tests.
    Real,
    /// A stand-in that follows a recording or the written contract of the real thing.
    Recorded,
    /// It wakes nothing and is for trials.
    Fake,
    /// Known to the manifest and not built: each dispatch is `unavailable`.
    Planned,
}

impl Standing {
    /// Its word in tables.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Real => "real",
            Self::Recorded => "recorded",
            Self::Fake => "fake",
            Self::Planned => "planned",
        }
    }

    /// The standing of a runtime's adapter, and on what it was tried.
    pub const fn of(runtime: Runtime) -> (Self, &'static str) {
        match runtime {
            Runtime::Agentapi => (
                Self::Recorded,
                "a server of the tests after coder/agentapi 0.12.1: its OpenAPI description and its errors",
            ),
            Runtime::Webhook => (
                Self::Real,
                "HTTP and TLS on loopback; signatures verified by `standardwebhooks` of PyPI and npm",
            ),
            Runtime::LocalRunner => (Self::Real, "the hosted station, woken through the `agentapi` adapter"),
            Runtime::Tmux => (
                Self::Real,
                "real tmux with scripts as agents; no agent of a vendor, so no marks of any are built in",
            ),
            Runtime::Fake => (Self::Fake, "gives the outcome that it is told to give; trials only"),
            Runtime::Cmux | Runtime::DesktopNotification | Runtime::TurnHook | Runtime::External => {
                (Self::Planned, "a typed `unavailable`")
            }
        }
    }
}

/// What adapters need beside the manifest.
#[derive(Clone, Debug, Default)]
pub struct Means {
    /// How patient those are that speak AgentAPI.
    pub manners: Manners,
    /// How patient webhooks are.
    pub patience: Patience,
    /// How patient those are that type.
    pub touch: Touch,
    /// What the programs that they start know of ours.
    pub environment: Environment,
    /// Where the hosted stations of this configuration listen; `local-runner` is woken there.
    pub stations: BTreeMap<Target, SocketAddr>,
}

/// An adapter for each agent of a manifest. An agent whose runtime is not built, or whose settings give no adapter, has
/// one whose outcome is `unavailable`, so that the trace of its alerts says so (DSP-3).
pub fn adapters(manifest: &Manifest, means: &Means) -> BTreeMap<Target, Arc<dyn RuntimeAdapter>> {
    let beside = match manifest {
        Manifest::Accepted { path, .. } => path.parent().map(PathBuf::from).unwrap_or_default(),
        Manifest::Refused(_) => PathBuf::new(),
    };
    let choose = |agent: &Agent| -> Result<Arc<dyn RuntimeAdapter>, String> {
        awakener_spec::rule!(Cap3);
        Ok(match agent.runtime {
            Runtime::Agentapi => Arc::new(AgentApi::of(agent, &beside, means.manners)?),
            Runtime::Webhook => Arc::new(Webhook::of(agent, &beside, means.patience)?),
            Runtime::LocalRunner => {
                let listen = means
                    .stations
                    .get(&agent.target)
                    .ok_or_else(|| format!("the configuration has no section [stations.{}]", agent.target))?;
                Arc::new(AgentApi::at(&format!("http://{listen}"), means.manners)?)
            }
            Runtime::Tmux => Arc::new(Tmux::of(agent, means.environment.clone(), means.touch)?),
            Runtime::Fake => Arc::new(Fake::of(agent)?),
            Runtime::Cmux | Runtime::DesktopNotification | Runtime::TurnHook | Runtime::External => {
                return Err("this build has no adapter for it".to_owned());
            }
        })
    };
    let adapter = |agent: &Agent| {
        choose(agent).unwrap_or_else(|why| {
            tracing::error!(target = %agent.target, runtime = agent.runtime.name(), rule = "DSP-3",
                "no adapter: {why}");
            Arc::new(Unbuilt::new(agent.runtime, why))
        })
    };
    manifest.agents().map(|agent| (agent.target.clone(), adapter(agent))).collect()
}
