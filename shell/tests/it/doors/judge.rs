//! What must hold of any bytes at a door of the shell. The corpus here and the targets in `fuzz/` call the same
//! functions; a panic is a fault.
//!
//! What is taken is what any other reader of the format finds there, and a refusal says why.

use std::path::Path;

use awakener::config::{Config, Mode, Origin, Problems, Sources};
use awakener::http::read_document;
use awakener::http::wire::requests::{Claim, Fenced, Read, Turn};
use awakener::manifest::Manifest;
use awakener_kernel::json::canonical;
use awakener_tools::readers;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use toml::Table;

/// The most bytes of a body here.
const BODY: usize = 1 << 14;

fn in_a_file<T>(name: &str, bytes: &[u8], judge: impl FnOnce(&Path) -> T) -> T {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join(name);
    std::fs::write(&path, bytes).unwrap();
    judge(&path)
}

fn common(bytes: &[u8]) -> Table {
    std::str::from_utf8(bytes).unwrap().parse().unwrap()
}

fn says_why(problems: &Problems) {
    assert!(!problems.0.is_empty() && problems.0.iter().all(|problem| !problem.what.is_empty()));
}

/// Whether `agents.toml` is taken.
pub fn manifest(bytes: &[u8]) -> bool {
    in_a_file("agents.toml", bytes, |path| match Manifest::load(path, Mode::Trial) {
        Manifest::Accepted { agents, .. } => {
            let common = common(bytes);
            let mut written: Vec<&str> = common
                .get("agents")
                .and_then(toml::Value::as_table)
                .iter()
                .flat_map(|of| of.keys())
                .map(String::as_str)
                .collect();
            written.sort_unstable();
            assert!(agents.keys().map(|target| target.as_str()).eq(written));
            true
        }
        Manifest::Refused(problems) => {
            says_why(&problems);
            false
        }
    })
}

/// Whether `awakener.toml` is taken.
pub fn config(bytes: &[u8]) -> bool {
    in_a_file("awakener.toml", bytes, |path| {
        match Config::load(&Sources { file: Some(path.into()), ..Sources::default() }) {
            Ok(config) => {
                let common = common(bytes);
                let of_file = |origin: &Origin| matches!(origin, Origin::File { .. });
                // Nothing is taken from the file that does not stand there.
                for (key, _) in config.origins().filter(|(_, effective)| of_file(&effective.origin)) {
                    let first = key.split('.').next().unwrap().trim_matches('"');
                    assert!(common.contains_key(first), "{key}");
                }
                true
            }
            Err(problems) => {
                says_why(&problems);
                false
            }
        }
    })
}

/// Whether `audit verify` finds an export whole.
pub fn export(bytes: &[u8]) -> bool {
    in_a_file("chain.jsonl", bytes, |path| {
        let args = ["awakener", "audit", "verify", path.to_str().unwrap(), "--json"];
        let ended = awakener::cli::run(args.map(Into::into));
        if ended.code != 0 {
            let said: Value = serde_json::from_str(ended.err.lines().last().unwrap()).unwrap();
            assert!(said["error"].is_string(), "{said}");
            return false;
        }
        // Whoever reads the export otherwise finds the same chain.
        assert!(bytes.split(|byte| *byte == b'\n').all(readers::agree));
        true
    })
}

fn body_of<T: DeserializeOwned + Serialize>(bytes: &[u8]) -> bool {
    let Ok(taken) = read_document::<T>(bytes, BODY) else { return false };
    assert!(readers::agree(bytes));
    let mut common: Value = serde_json::from_slice(bytes).unwrap();
    // A member that may be absent may be null as well, which says the same.
    common.as_object_mut().unwrap().retain(|_, member| !member.is_null());
    let mut ours = serde_json::to_value(&taken).unwrap();
    ours.as_object_mut().unwrap().retain(|_, member| !member.is_null());
    assert_eq!(canonical(&ours), canonical(&common));
    true
}

/// Whether a body is taken by one of the routes that take work, read it and answer it.
pub fn body(bytes: &[u8]) -> bool {
    let taken =
        [body_of::<Claim>(bytes), body_of::<Fenced>(bytes), body_of::<Read>(bytes), body_of::<Turn>(bytes)];
    taken.contains(&true)
}
