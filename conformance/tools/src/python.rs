//! Python environments with pinned packages: foreign implementations, and programs that are shipped as wheels.
//!
//! Each is made on first use in `target/tools/<tool>-<hash>` of the workspace, where the hash covers the pins and the
//! version of the interpreter. Made beside it and renamed when complete, under a file lock: tests that run at the same time
//! wait for the first, and a broken attempt is never found.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

use sha2::{Digest as _, Sha256};

use crate::run::{failed, run};
use crate::{Tool, ToolError, skipped, workspace};

/// What the tests run in Python, as foreign implementations.
const FOREIGN: Environment =
    Environment { tool: "python", requirements: include_str!("../python-requirements.txt") };
/// The interpreter to start from, unless `AWAKENER_PYTHON` names another.
const INTERPRETER: &str = "python3";

/// The Python of the tests, made if it is not there.
///
/// # Errors
/// When no interpreter is found or the packages cannot be installed as pinned.
pub fn environment() -> Result<Tool, ToolError> {
    FOREIGN.program("python")
}

/// A set of pinned packages.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Environment {
    /// The name of the tool, as it may stand in `AWAKENER_WITHOUT`.
    pub(crate) tool: &'static str,
    /// The pins, in pip's format.
    pub(crate) requirements: &'static str,
}

impl Environment {
    /// One of its programs; the environment is made if it is not there.
    pub(crate) fn program(&self, name: &str) -> Result<Tool, ToolError> {
        match skipped(self.tool)? {
            Some(skipped) => Ok(Tool::Skipped(skipped)),
            None => self
                .make(&workspace().join("target/tools"))
                .map(|home| Tool::Ready(home.join("bin").join(name))),
        }
    }

    fn make(&self, tools: &Path) -> Result<PathBuf, ToolError> {
        let interpreter = std::env::var_os("AWAKENER_PYTHON").unwrap_or_else(|| INTERPRETER.into());
        let version = run(
            self.tool,
            "start the interpreter",
            tools,
            Command::new(&interpreter).arg("-c").arg("import sys; print(sys.version)"),
        )?;
        let home = tools.join(format!("{}-{}", self.tool, self.name(&version)));

        let made = fs::create_dir_all(tools);
        made.map_err(|cause| failed(self.tool, "create the directory of the tools", tools, &cause))?;
        let lock = tools.join(format!("{}.lock", self.tool));
        let lock = File::create(&lock)
            .and_then(|file| file.lock().map(|()| file))
            .map_err(|cause| failed(self.tool, "take the lock", &lock, &cause))?;
        if !home.join("bin/python").exists() {
            self.install(&interpreter, &home)?;
        }
        drop(lock);
        Ok(home)
    }

    fn install(&self, interpreter: &OsStr, home: &Path) -> Result<(), ToolError> {
        let partial = home.with_extension("partial");
        for leftover in [&partial, &home.to_path_buf()] {
            match fs::remove_dir_all(leftover) {
                Err(cause) if cause.kind() != io::ErrorKind::NotFound => {
                    return Err(failed(self.tool, "remove a broken attempt", leftover, &cause));
                }
                Ok(()) | Err(_) => {}
            }
        }
        run(
            self.tool,
            "make a virtual environment (Debian: apt-get install python3-venv)",
            &partial,
            Command::new(interpreter).args(["-m", "venv"]).arg(&partial),
        )?;
        let pins = partial.join("requirements.txt");
        fs::write(&pins, self.requirements)
            .map_err(|cause| failed(self.tool, "write the pins", &pins, &cause))?;
        run(
            self.tool,
            "install the pinned packages",
            &partial,
            Command::new(partial.join("bin/python"))
                .args([
                    "-m",
                    "pip",
                    "install",
                    "--quiet",
                    "--no-input",
                    "--no-deps",
                    "--require-hashes",
                    "-r",
                ])
                .arg(&pins),
        )?;
        fs::rename(&partial, home)
            .map_err(|cause| failed(self.tool, "put the environment in place", home, &cause))
    }

    /// Names an environment after everything that it is made from.
    fn name(&self, version: &str) -> String {
        let digest =
            Sha256::new().chain_update(self.requirements).chain_update([0]).chain_update(version).finalize();
        digest.iter().take(8).map(|byte| format!("{byte:02x}")).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_at_once_get_the_same_working_python() {
        let both: Vec<_> = std::thread::scope(|scope| {
            let threads = [scope.spawn(environment), scope.spawn(environment)];
            threads.into_iter().map(|thread| thread.join().unwrap().unwrap()).collect()
        });
        assert_eq!(both.first(), both.last());
        let Some(Tool::Ready(python)) = both.first() else { return };
        let packages = Command::new(python).args(["-c", "import nacl.signing, rfc8785"]).status().unwrap();
        assert!(packages.success());
        let other = Command::new(python).args(["-c", "import no_such_package"]).status().unwrap();
        assert!(!other.success(), "the check above can fail");
    }

    #[test]
    fn another_interpreter_is_another_environment() {
        assert_eq!(FOREIGN.name("3.11"), FOREIGN.name("3.11"));
        assert_ne!(FOREIGN.name("3.11"), FOREIGN.name("3.12"));
    }
}
