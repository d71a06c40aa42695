//! The manifest: how many states, edges and refused inputs each scope has, and the hash of its graph.
//!
//! A search that lost something without noticing would still find nothing wrong; its numbers would change. One table per
//! scope, in the order of their names, so that a change of one scope is a change of a few lines. Rules: FML-3.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

/// What is pinned of one scope.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pin {
    /// Different states.
    pub states: u64,
    /// Edges between them.
    pub edges: u64,
    /// Inputs that lead nowhere.
    pub stays: u64,
    /// Hash of the graph, 32 hex digits; nothing where no graph is kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hash: Option<String>,
}

impl Pin {
    /// A pin.
    pub fn new(states: u64, edges: u64, stays: u64, hash: Option<u128>) -> Self {
        Self { states, edges, stays, hash: hash.map(|hash| format!("{hash:032x}")) }
    }

    /// What is different, in words: `states 12 instead of 13`.
    pub fn differences(&self, pinned: &Self) -> String {
        let numbers = [
            ("states", self.states, pinned.states),
            ("edges", self.edges, pinned.edges),
            ("refused inputs", self.stays, pinned.stays),
        ];
        let numbers = numbers.into_iter().filter(|(_, is, was)| is != was);
        let mut words: Vec<String> =
            numbers.map(|(name, is, was)| format!("{name} {is} instead of {was}")).collect();
        if self.hash != pinned.hash {
            words.push("another graph hash".into());
        }
        words.join(", ")
    }
}

/// All pins: world, scope, pin.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Manifest(BTreeMap<String, BTreeMap<String, Pin>>);

/// A manifest that cannot be read or written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadManifest {
    /// Which.
    pub path: PathBuf,
    /// Why.
    pub why: String,
}

impl fmt::Display for BadManifest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the manifest {} is of no use: {}", self.path.display(), self.why.trim_end())
    }
}

const HEAD: &str = "# Pinned numbers of each scope. Written by `awakener-check check --scope … --pin`, compared by `check`.\n\n";

impl Manifest {
    /// Where it stands in the repository.
    pub fn place() -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("manifest.toml")
    }

    /// Reads it. One that is not there is empty.
    ///
    /// # Errors
    /// It is there and cannot be read.
    pub fn load(path: &Path) -> Result<Self, BadManifest> {
        let bad = |why: String| BadManifest { path: path.to_owned(), why };
        match std::fs::read_to_string(path) {
            Ok(text) => toml::from_str(&text).map_err(|error| bad(error.to_string())),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Self::default()),
            Err(error) => Err(bad(error.to_string())),
        }
    }

    /// As text.
    pub fn to_text(&self) -> String {
        let tables = toml::to_string(&self.0).expect("numbers and hex digits");
        format!("{HEAD}{tables}")
    }

    /// Writes it.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn save(&self, path: &Path) -> Result<(), BadManifest> {
        let bad = |error: std::io::Error| BadManifest { path: path.to_owned(), why: error.to_string() };
        std::fs::write(path, self.to_text()).map_err(bad)
    }

    /// The pin of a scope.
    pub fn pin(&self, world: &str, scope: &str) -> Option<&Pin> {
        self.0.get(world)?.get(scope)
    }

    /// Pins a scope.
    pub fn set(&mut self, world: &str, scope: &str, pin: Pin) {
        self.0.entry(world.into()).or_default().insert(scope.into(), pin);
    }

    /// Forgets scopes of a world that are not among `known`.
    pub fn retain(&mut self, world: &str, known: &BTreeSet<&str>) {
        if let Some(scopes) = self.0.get_mut(world) {
            scopes.retain(|scope, _| known.contains(scope.as_str()));
        }
        self.0.retain(|_, scopes| !scopes.is_empty());
    }

    /// Every world and scope that is pinned.
    pub fn names(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0
            .iter()
            .flat_map(|(world, scopes)| scopes.keys().map(move |scope| (world.as_str(), scope.as_str())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fml_3_pins_are_written_in_the_order_of_names_and_read_again() {
        let mut manifest = Manifest::default();
        manifest.set("b", "z", Pin::new(1, 2, 3, Some(255)));
        manifest.set("b", "a", Pin::new(4, 5, 6, None));
        manifest.set("a", "x", Pin::new(7, 8, 9, None));
        let text = manifest.to_text();
        let order: Vec<_> = text.lines().filter(|line| line.starts_with('[')).collect();
        assert_eq!(order, ["[a.x]", "[b.a]", "[b.z]"]);
        assert!(text.contains("hash = \"000000000000000000000000000000ff\""), "{text}");
        assert_eq!(toml::from_str::<Manifest>(&text).unwrap(), manifest);
        manifest.retain("b", &BTreeSet::from(["z"]));
        assert_eq!(manifest.names().collect::<Vec<_>>(), [("a", "x"), ("b", "z")]);
    }

    #[test]
    fn fml_3_a_difference_names_each_number() {
        let (is, was) = (Pin::new(1, 2, 3, Some(1)), Pin::new(1, 3, 4, Some(2)));
        assert_eq!(
            is.differences(&was),
            "edges 2 instead of 3, refused inputs 3 instead of 4, another graph hash"
        );
        assert_eq!(is.differences(&is), "");
    }

    #[test]
    fn fml_3_a_manifest_with_an_unknown_member_is_refused() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("manifest.toml");
        assert_eq!(Manifest::load(&path), Ok(Manifest::default()));
        std::fs::write(&path, "[a.b]\nstates = 1\nedges = 1\nstays = 1\nstaes = 1\n").unwrap();
        assert!(Manifest::load(&path).unwrap_err().to_string().contains("staes"));
    }
}
