//! The configuration (`awakener.toml`): four sources, one effective value each, with its origin.
//!
//! Flags win over `AWAKENER_*` variables, these over the file, the file over what is built in. Nothing unknown is
//! skipped anywhere: a key or section that does not exist refuses the whole, and the complaint names where it stands
//! and what may have been meant. Limits come out as the kernel's [`Checked`], the only form that a machine takes.
//! Not here: the capability manifest. Rules: CON-1, CAP-5, FUS-3, PRT-3, RTE-1.

pub mod document;
mod judge;
pub mod kind;
mod load;
pub mod settings;
#[cfg(test)]
mod spoiled;

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::PathBuf;

use awakener_kernel::config::Checked;
use awakener_kernel::ids::{ContentHash, DaemonName, PlaneName, SchemaRef, Target, Tier};
use awakener_kernel::json;
use serde::Deserialize;
use serde_json::{Map, Value};

pub use crate::station::local::Preset;
pub use document::{Origin, Problem, Problems};

/// Where a process runs for (CAP-5); part of every status.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// Fake runtimes and pauses are allowed.
    Trial,
    /// They are refused.
    Production,
}

impl Mode {
    /// Its word.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Trial => "trial",
            Self::Production => "production",
        }
    }
}

/// What the plane's listener is exposed to (PRT-3).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Expose {
    /// This machine only; the address must be a loopback one.
    Loopback,
    /// A proxy that ends TLS stands in front; every request needs a credential.
    BehindTlsProxy,
}

/// `[http]`: the plane's listener.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Http {
    /// Where it listens.
    pub listen: SocketAddr,
    /// Who can reach it.
    pub expose: Expose,
}

/// How hints travel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum BrokerKind {
    /// Within this process.
    InProcess,
    /// POSTed to the URLs in [`Broker::push`].
    Http,
    /// Published through one of the servers in [`Broker::servers`].
    Nats,
}

/// `[broker]`: the way of the hints.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Broker {
    /// How.
    pub kind: BrokerKind,
    /// Where to, for [`BrokerKind::Http`].
    pub push: Vec<String>,
    /// Where the servers are, for [`BrokerKind::Nats`]: `nats://` on this machine, `tls://` anywhere.
    pub servers: Vec<String>,
    /// The file with the token that the servers want. Files are named relative to the configuration's directory.
    pub token_file: Option<PathBuf>,
    /// The user that the servers know, with [`Self::password_file`].
    pub user: Option<String>,
    /// The file with the user's password.
    pub password_file: Option<PathBuf>,
}

/// `[wake]`: the wake daemon, within `up` or alone.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Wake {
    /// Whether `up` runs one in its process.
    pub enabled: bool,
    /// Its name at the plane.
    pub name: DaemonName,
    /// Where it listens when it runs alone; loopback.
    pub listen: SocketAddr,
    /// The plane that a daemon alone asks.
    pub plane: String,
}

/// What runs the turns of a station.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Runner {
    /// A script, in a trial only.
    Fake,
    /// A program that is started for each turn.
    LocalRunner,
}

/// `[stations.<target>]`: a hosted station.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Station {
    /// Where it takes wakes; loopback.
    pub listen: SocketAddr,
    /// The plane that it works for.
    pub plane: String,
    /// What runs the turns.
    pub runner: Runner,
    /// For [`Runner::LocalRunner`]: the runtime, and so its arguments and its rule of complete.
    pub preset: Preset,
    /// For [`Runner::LocalRunner`]: the program and arguments of the operator; empty = that of the preset.
    pub argv: Vec<String>,
    /// For [`Runner::LocalRunner`]: the agent's folder; a relative path counts from the directory of the file.
    pub folder: PathBuf,
    /// For [`Runner::LocalRunner`]: names of variables that the agent gets beside those of every child.
    pub env: Vec<String>,
    /// For [`Runner::LocalRunner`]: how long a turn may take, milliseconds.
    pub timeout: u64,
    /// The model, a key of `[models]`.
    pub model: String,
    /// How often it looks at the inbox by itself, milliseconds: what a lost wake costs at most.
    pub poll: u64,
    /// How long a fake turn takes, milliseconds.
    pub turn: u64,
    /// How fake turns go, one after the other, the last one again and again.
    pub script: Vec<crate::station::fake::Turn>,
}

/// `[models.<name>]`: the explicit map of OBS-2.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
pub struct Model {
    /// The context window, tokens.
    pub window: u64,
    /// The budget of one turn, tokens.
    pub budget: u64,
}

/// `[trial]`: what only a trial may have.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
pub struct Trial {
    /// The points at which a process stops and waits once the file `pause-now` is there.
    pub pause_at: Vec<crate::pause::Point>,
}

/// One effective value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Effective {
    /// Plain JSON; durations in milliseconds.
    pub value: Value,
    /// Who set it.
    pub origin: Origin,
}

/// The configuration in force.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Config {
    /// Trial or production.
    pub mode: Mode,
    /// The name that operator commands and checkpoints are bound to (OPR-1).
    pub plane: PlaneName,
    /// The capability manifest; a relative path counts from the directory of the configuration file.
    pub manifest: PathBuf,
    /// The plane's listener.
    pub http: Http,
    /// The way of the hints.
    pub broker: Broker,
    /// The limits, within floors and ceilings.
    pub limits: Checked,
    /// Schemas added to tiers 1 to 3 (RTE-1).
    pub routes: BTreeMap<SchemaRef, Tier>,
    /// The wake daemon.
    pub wake: Wake,
    /// Hosted stations.
    pub stations: BTreeMap<Target, Station>,
    /// Windows and budgets.
    pub models: BTreeMap<String, Model>,
    /// Empty in production.
    pub trial: Trial,
    effective: BTreeMap<settings::Path, Effective>,
}

/// What a configuration is made from.
#[derive(Clone, Debug, Default)]
pub struct Sources {
    /// The file; absent means that nobody wrote one.
    pub file: Option<PathBuf>,
    /// The environment; variables that do not start with `AWAKENER_` are ignored.
    pub env: Vec<(String, String)>,
    /// Keys and values from flags, strongest last.
    pub flags: Vec<(String, String)>,
}

impl Sources {
    /// A file with the environment of this process.
    pub fn of_process(file: Option<PathBuf>, flags: Vec<(String, String)>) -> Self {
        let text = |os: std::ffi::OsString| os.into_string().ok();
        let env = std::env::vars_os().filter_map(|(key, value)| Some((text(key)?, text(value)?))).collect();
        Self { file, env, flags }
    }
}

impl Config {
    /// Reads, merges and checks all sources.
    ///
    /// # Errors
    /// Everything that is wrong, each with its origin: `config_malformed`, or `pause_refused` for trial settings in
    /// production, or `not_loopback` for an exposed listener.
    pub fn load(sources: &Sources) -> Result<Self, Problems> {
        load::load(sources)
    }

    /// What is built in, alone.
    ///
    /// # Errors
    /// Never in practice: the built-in values pass their own checks.
    pub fn built_in() -> Result<Self, Problems> {
        Self::load(&Sources::default())
    }

    /// Each key with its effective value and origin, in the order of the keys.
    pub fn origins(&self) -> impl Iterator<Item = (String, &Effective)> {
        self.effective.iter().map(|(path, effective)| (settings::dotted(path), effective))
    }

    /// The effective values as one nested JSON object, without origins.
    pub fn to_value(&self) -> Value {
        nested(&self.effective)
    }

    /// SHA-256 over the canonical form of [`Self::to_value`]: equal settings have equal hashes wherever they come
    /// from (AUD-2, OPR-2).
    pub fn hash(&self) -> ContentHash {
        ContentHash::of(&json::canonical(&self.to_value()))
    }
}

/// Builds the nested object of dotted values.
fn nested(effective: &BTreeMap<settings::Path, Effective>) -> Value {
    let mut root = Map::new();
    for (path, entry) in effective {
        put(&mut root, path, entry.value.clone());
    }
    Value::Object(root)
}

fn put(object: &mut Map<String, Value>, path: &[String], value: Value) {
    match path {
        [] => {}
        [last] => {
            object.insert(last.clone(), value);
        }
        [first, rest @ ..] => {
            let inner = object.entry(first.clone()).or_insert_with(|| Value::Object(Map::new()));
            if let Value::Object(inner) = inner {
                put(inner, rest, value);
            }
        }
    }
}
