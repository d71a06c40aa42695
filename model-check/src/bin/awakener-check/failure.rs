//! How a command fails: what happened, and what to do next.
//!
//! For people as two or three lines, with `--json` as one object. Rules: CON-1.

use std::fmt;
use std::path::Path;

use awakener_model_check::lookup::Unknown;
use awakener_model_check::manifest::BadManifest;
use serde_json::{Value, json};

/// A failure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// What happened, one sentence.
    pub what: String,
    /// What to do now.
    pub next: Option<String>,
    /// The exit code.
    pub exit: u8,
}

impl Failure {
    /// The command line, or a file that it names, is wrong.
    pub fn usage(what: impl Into<String>) -> Self {
        Self { what: what.into(), next: None, exit: 2 }
    }

    /// Something could not be done.
    pub fn failed(what: impl Into<String>) -> Self {
        Self { what: what.into(), next: None, exit: 1 }
    }

    /// With what to do.
    #[must_use]
    pub fn then(mut self, next: impl Into<String>) -> Self {
        self.next = Some(next.into());
        self
    }

    /// A file could not be read or written.
    pub fn file(doing: &str, path: &Path, error: &std::io::Error) -> Self {
        Self::usage(format!("cannot {doing} {}: {error}", path.display()))
    }

    /// The object of `--json`.
    pub fn to_value(&self) -> Value {
        json!({"v": 1, "error": self.what, "next": self.next, "exit": self.exit})
    }
}

impl From<Unknown> for Failure {
    fn from(unknown: Unknown) -> Self {
        Self::usage(unknown.to_string()).then(unknown.next())
    }
}

impl From<BadManifest> for Failure {
    fn from(bad: BadManifest) -> Self {
        Self::usage(bad.to_string())
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "error: {}", self.what)?;
        match &self.next {
            Some(next) => writeln!(f, "next:  {next}"),
            None => Ok(()),
        }
    }
}
