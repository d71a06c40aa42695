//! Every adapter against one suite, and each against what its own runtime can do to it.
//!
//! Reading order: `suite` (the laws) → `broken` (that they can fall) → `agentapi`, `webhook`, `tmux`,
//! `standing`. Rules: CAP-3, CAP-4,
//! DSP-3 to DSP-9, DSP-12.

mod agentapi;
mod broken;
mod schema;
mod server;
mod standing;
mod suite;
mod tmux;
mod webhook;

use std::sync::Arc;

use awakener::config::Mode;
use awakener::manifest::Manifest;
use awakener::wake::{Means, RuntimeAdapter, adapters};

/// The adapter that is chosen for `builder` by these lines of its section, in a manifest of this folder.
fn chosen(folder: &std::path::Path, lines: &str, means: &Means) -> Arc<dyn RuntimeAdapter> {
    let path = folder.join("agents.toml");
    std::fs::write(&path, format!("[agents.builder]\n{lines}\n")).unwrap();
    let manifest = Manifest::load(&path, Mode::Trial);
    assert_eq!(manifest.refused(), None, "{lines}");
    adapters(&manifest, means).into_values().next().unwrap()
}

/// A folder that only this user can enter.
fn private() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o700);
    std::fs::set_permissions(folder.path(), mode).unwrap();
    folder
}
