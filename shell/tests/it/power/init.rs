//! `init` over power cuts: once it has said that it is done, keys, tokens and configuration are there, each whole.
//!
//! Before that anything may be missing; `init` then refuses the directory, or makes it anew.

use std::fs;
use std::path::Path;

use awakener::keys::{FirstOperator, SecretKey, Token};
use tempfile::TempDir;

use super::super::child::program;
use super::events::Recording;
use super::judge::Fault;
use super::record::{snapshot, traced, written};
use super::told::Fact;
use super::trace::Trace;
use super::trial::faithful;

/// A state directory from nothing, and the operator's key in a directory of its own.
pub fn record(strace: &Path) -> (TempDir, Recording) {
    let (dir, log) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let mut recording = Recording::new(dir.path(), snapshot(dir.path(), |_| false));
    let mut command = program(&dir.path().join("state"), &["--json"]);
    command.args(["init", "--trial", "--plane", "trial", "--operator-key"]);
    command.arg(dir.path().join("away/operator.key"));
    let log = log.path().join("calls");
    let made = traced(strace, &command, &log, &[]).output().unwrap();
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    recording.add(&Trace::parse(&written(&log)));
    faithful(&recording, snapshot(dir.path(), |_| false));
    (dir, recording)
}

pub fn judge(root: &Path, told: &[&Fact]) -> Result<(), Fault> {
    if !told.contains(&&Fact::Exit(Some(0))) {
        return before(root);
    }
    after(root)
}

/// Before it is done anything may be missing. `init` called again makes the directory whole, or refuses it, says what to
/// do, and overwrites nothing.
fn before(root: &Path) -> Result<(), Fault> {
    let there = snapshot(root, |_| false);
    let mut command = program(&root.join("state"), &["--json"]);
    command.args(["init", "--trial", "--plane", "trial", "--operator-key"]);
    command.arg(root.join("away/operator.key"));
    let output = command.output().unwrap();
    if output.status.success() {
        return after(root);
    }
    let said: serde_json::Value = serde_json::from_slice(&output.stderr)
        .map_err(|_| Fault::Opens(String::from_utf8_lossy(&output.stderr).into_owned()))?;
    if said["next"].is_null() {
        return Err(Fault::Opens(format!("it does not say how to go on: {said}")));
    }
    for (path, bytes) in there.iter().filter(|(_, bytes)| bytes.is_some()) {
        if fs::read(path).ok() != *bytes {
            return Err(Fault::Lost(format!("{} was overwritten: {said}", path.display())));
        }
    }
    Ok(())
}

fn after(root: &Path) -> Result<(), Fault> {
    let state = root.join("state");
    let lost = |what: String| Fault::Lost(what);
    for key in [root.join("away/operator.key"), state.join("keys/router.key"), state.join("keys/audit.key")] {
        SecretKey::load(&key).map_err(|error| lost(error.to_string()))?;
    }
    for name in ["observer", "daemon"] {
        let file = state.join(format!("tokens/{name}.token"));
        Token::load(&file).map_err(|error| lost(error.to_string()))?;
    }
    let first = FirstOperator::load(&state).map_err(|error| lost(error.to_string()))?;
    let text = |name: &str| fs::read_to_string(state.join(name)).unwrap_or_default();
    let whole = first.is_some()
        && text("awakener.toml").ends_with("\"30s\"\n")
        && text("agents.toml").ends_with('\n');
    if whole { Ok(()) } else { Err(lost("the first operator, the configuration or the manifest".to_owned())) }
}
