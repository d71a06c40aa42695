//! Where cargo keeps the source of a dependency, for the test data that a crate ships.

use std::path::PathBuf;
use std::process::Command;

use crate::run::run;
use crate::{ToolError, workspace};

const TOOL: &str = "cargo";

/// The directory of a crate in the dependency graph of this workspace; of several versions the last listed.
///
/// # Errors
/// When `cargo metadata` fails or does not know the crate.
pub fn directory(name: &str) -> Result<PathBuf, ToolError> {
    let manifest = workspace().join("Cargo.toml");
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command.args(["metadata", "--format-version", "1", "--locked", "--manifest-path"]).arg(&manifest);
    let output = run(TOOL, "list the packages", &manifest, &mut command)?;
    find(&output, name).ok_or_else(|| ToolError {
        tool: TOOL,
        what: format!("no package {name} in the dependency graph"),
        place: manifest,
        line: format!("cargo tree --invert {name}"),
        output: String::new(),
    })
}

fn find(metadata: &str, name: &str) -> Option<PathBuf> {
    let metadata: serde_json::Value = serde_json::from_str(metadata).ok()?;
    let packages = metadata.get("packages")?.as_array()?;
    let package = packages.iter().rfind(|package| package.get("name").is_some_and(|it| it == name))?;
    let manifest = PathBuf::from(package.get("manifest_path")?.as_str()?);
    manifest.parent().map(PathBuf::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_a_dependency_and_not_what_is_none() {
        assert!(directory("serde_json").unwrap().join("Cargo.toml").is_file());
        let error = directory("no-such-crate").unwrap_err();
        assert!(error.to_string().contains("no package no-such-crate"));
    }
}
