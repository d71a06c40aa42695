//! The registry of controls: what is done to the kernel or the model, and which law must fall.
//!
//! The file is `conformance/mutations.toml`. Here: its form, and what can be said of it without building anything. Not
//! here: what becomes of an edit ([`super::weave`]) and of a run ([`mod@super::judge`]). Rules: CNF-3, FML-5.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use serde::Deserialize;

/// Where the registry stands, from the root of the workspace.
pub const FILE: &str = "conformance/mutations.toml";

/// Every control.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Registry {
    /// Named edits.
    pub mutation: Vec<Mutation>,
    /// State variables that are frozen, structure by structure.
    pub frozen: Vec<Frozen>,
}

/// Which search judges a control.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Search {
    /// `awakener-check check`: laws of states and edges.
    #[default]
    Check,
    /// `awakener-check liveness`: properties of cycles.
    Liveness,
}

/// One edit that an implementer could have got wrong, and what must notice.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Mutation {
    /// Its name, unique.
    pub name: String,
    /// The rule that it breaks.
    pub rule: String,
    /// What is edited, from the root of the workspace.
    pub file: String,
    /// What is replaced; occurs exactly once in the file.
    pub find: String,
    /// By what.
    pub replace: String,
    /// Where it must be noticed: a world.
    pub world: String,
    /// One of its scopes; for liveness the name of a cyclic one.
    pub scope: String,
    /// What searches there.
    #[serde(default)]
    pub search: Search,
    /// The exact name of the law or property that must fall.
    pub killer: String,
    /// Others that may fall with it.
    #[serde(default)]
    pub also: Vec<String>,
    /// What must occur in the shortest way to the killer's fall, which is a list of actions as JSON.
    pub message: String,
    /// What an implementer could have thought.
    pub why: String,
}

/// A structure of state variables, each of which is frozen in turn: it never changes after the boot.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Frozen {
    /// The prefix of the controls' names: `mailbox.image`.
    pub name: String,
    /// Where the structure is declared.
    pub declared: String,
    /// Its name there.
    pub structure: String,
    /// Where the function stands that moves it.
    pub moved: String,
    /// That function: `Type::function`, where `Type` is what the `impl` is for.
    pub function: String,
    /// How the function reaches the structure: `self`, `self.live`.
    pub from: String,
    /// How what the function returns reaches it: `step.machine.live`; empty if the function changes it in place.
    #[serde(default)]
    pub to: String,
    /// Where it may be noticed, as `world/scope`, or `world/scope!` for liveness; tried in this order.
    pub tries: Vec<String>,
    /// Where to begin with a field.
    #[serde(default)]
    pub first: std::collections::BTreeMap<String, String>,
    /// Fields that nothing observable depends on in the model, each with the reason; they must survive everywhere.
    #[serde(default)]
    pub excused: std::collections::BTreeMap<String, String>,
}

/// What is wrong with the registry.
#[derive(Debug)]
pub struct Malformed(pub String);

impl std::fmt::Display for Malformed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Malformed {}

impl Registry {
    /// Reads the registry of the workspace at `root`.
    ///
    /// # Errors
    /// It cannot be read, is not well formed, or names something twice.
    pub fn read(root: &Path) -> Result<Self, Malformed> {
        let path = root.join(FILE);
        let text = fs::read_to_string(&path).map_err(|error| Malformed(format!("{FILE}: {error}")))?;
        let registry: Self = toml::from_str(&text).map_err(|error| Malformed(format!("{FILE}: {error}")))?;
        let mut names = BTreeSet::new();
        for mutation in &registry.mutation {
            if !names.insert(mutation.name.as_str()) {
                return Err(Malformed(format!("{FILE}: {} is there twice", mutation.name)));
            }
            if mutation.find == mutation.replace {
                return Err(Malformed(format!("{FILE}: {} changes nothing", mutation.name)));
            }
        }
        Ok(registry)
    }
}

/// Where `find` stands in `text`, if it stands there exactly once.
///
/// # Errors
/// How often it does.
pub fn once(text: &str, find: &str) -> Result<usize, usize> {
    let mut places = text.match_indices(find).map(|(at, _)| at);
    match (places.next(), places.count()) {
        (Some(at), 0) => Ok(at),
        (first, rest) => Err(usize::from(first.is_some()) + rest),
    }
}
