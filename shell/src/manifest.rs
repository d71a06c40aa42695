//! The capability manifest (`agents.toml`): how each agent can be woken, declared and never guessed.
//!
//! A file with anything unknown in it is refused as a whole, and a refused manifest is a value: the plane goes on
//! serving with Tier-0 closed while the wake plane stays down (CAP-2). No secrets stand in it, only the names of
//! variables or files that hold them (CAP-4). Not here: what adapters do with it. Rules: CAP-1 to CAP-4, DSP-2, DSP-3,
//! DSP-6, DSP-8, COL-1.

mod read;
mod table;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use awakener_kernel::ids::{Principal, Target};
use awakener_kernel::time::Millis;
use serde_json::{Map, Value};

use crate::config::{Mode, Problems};

pub(crate) use read::placeholders;
pub use table::Runtime;

/// What may start an agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum StartOn {
    /// Hints of alerts only.
    Hint,
    /// Also plain mail of the principals on the accept list (LSN-2).
    Mail,
}

/// Whether and how an agent may be woken (DSP-8).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Eligibility {
    /// It acknowledges alerts itself.
    Unattended,
    /// A person submits; receipts say so.
    Attended,
    /// Neither: a hint is skipped.
    None,
}

/// One `[agents.<target>]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Agent {
    /// Whose inbox.
    pub target: Target,
    /// What runs it.
    pub runtime: Runtime,
    /// Whether it runs without a person in front of it.
    pub headless: bool,
    /// Whether it can acknowledge alerts.
    pub tier0_ack: bool,
    /// Whether a person must submit what was put in front of it.
    pub requires_human_submit: bool,
    /// Pause between two starts (DSP-1), at most the compiled ceiling.
    pub cooldown: Millis,
    /// What may start it.
    pub start_on: StartOn,
    /// Whose plain mail may start it.
    pub accept: Vec<Principal>,
    /// What its runtime needs: the keys of that runtime as plain JSON, durations in milliseconds.
    pub settings: Map<String, Value>,
    /// The line of its section.
    pub line: usize,
}

impl Agent {
    /// Whether and how it may be woken (DSP-8).
    pub fn eligibility(&self) -> Eligibility {
        awakener_spec::rule!(Dsp8);
        let person = self.requires_human_submit || self.runtime == Runtime::DesktopNotification;
        match (person, self.tier0_ack) {
            (true, _) if !self.headless => Eligibility::Attended,
            (false, true) => Eligibility::Unattended,
            (_, _) => Eligibility::None,
        }
    }

    /// Whether it may be woken with nobody there: it acknowledges, and no person has to submit.
    pub fn unattended(&self) -> bool {
        self.eligibility() == Eligibility::Unattended
    }

    /// A text setting of its runtime.
    pub fn text(&self, key: &str) -> Option<&str> {
        self.settings.get(key)?.as_str()
    }

    /// A list setting of its runtime; empty if it is not set.
    pub fn texts(&self, key: &str) -> Vec<&str> {
        let list = self.settings.get(key).and_then(Value::as_array);
        list.into_iter().flatten().filter_map(Value::as_str).collect()
    }

    /// A duration of its runtime.
    pub fn millis(&self, key: &str) -> Option<Millis> {
        self.settings.get(key)?.as_u64().map(Millis)
    }
}

/// The agents of one manifest.
pub type Agents = BTreeMap<Target, Agent>;

/// A manifest that was read, whatever came of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Manifest {
    /// In force.
    Accepted {
        /// The file.
        path: PathBuf,
        /// Who can be woken.
        agents: Agents,
    },
    /// Refused as a whole: Tier-0 is closed and no agent is known.
    Refused(Problems),
}

impl Manifest {
    /// Reads a manifest. Never fails: what cannot be used is a refused one.
    pub fn load(path: &Path, mode: Mode) -> Self {
        let read = read::read(path, mode);
        awakener_spec::rule!(Cap2);
        match read {
            Ok(agents) => Self::Accepted { path: path.into(), agents },
            Err(problems) => Self::Refused(problems),
        }
    }

    /// Whether Tier-0 is closed because of it (CAP-2).
    pub const fn refused(&self) -> Option<&Problems> {
        match self {
            Self::Accepted { .. } => None,
            Self::Refused(problems) => Some(problems),
        }
    }

    /// An agent, if the manifest is in force and names it.
    pub fn agent(&self, target: &Target) -> Option<&Agent> {
        match self {
            Self::Accepted { agents, .. } => agents.get(target),
            Self::Refused(_) => None,
        }
    }

    /// All agents; none of a refused manifest.
    pub fn agents(&self) -> impl Iterator<Item = &Agent> {
        let agents = match self {
            Self::Accepted { agents, .. } => Some(agents.values()),
            Self::Refused(_) => None,
        };
        agents.into_iter().flatten()
    }

    /// What is in force after a reload: a refused new one leaves one that is in force as it is (CAP-2). The problems
    /// are to be said loudly.
    pub fn reloaded(self, new: Self) -> (Self, Option<Problems>) {
        match new {
            Self::Refused(problems) if self.refused().is_none() => {
                awakener_spec::rule!(Cap2);
                (self, Some(problems))
            }
            new => {
                let problems = new.refused().cloned();
                (new, problems)
            }
        }
    }
}
