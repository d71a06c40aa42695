//! strace, which writes down what a program asks of the kernel: the one of the machine, or Debian's package unpacked
//! beside the other tools.
//!
//! Found on `PATH`; else fetched with apt, which checks it against the signed index, and unpacked without installing
//! anything. Either way it is tried first, because a machine may have the program and forbid its use.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::run::run;
use crate::{Tool, ToolError, debian, skipped, workspace};

const TOOL: &str = "strace";
/// The package, and the libraries of it that a small machine may lack.
const PACKAGES: [&str; 3] = ["strace", "libunwind8", "liblzma5"];

/// A strace that may trace here.
///
/// # Errors
/// When there is none and it cannot be fetched, or when this machine forbids tracing.
pub fn program() -> Result<Tool, ToolError> {
    if let Some(skipped) = skipped(TOOL)? {
        return Ok(Tool::Skipped(skipped));
    }
    let program = match on_path() {
        Some(program) => program,
        None => fetched(&workspace().join("target/tools"))?,
    };
    tried(&program)?;
    Ok(Tool::Ready(program))
}

fn on_path() -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|directory| directory.join(TOOL)).find(|program| program.is_file())
}

/// Traces something that does nothing.
fn tried(program: &Path) -> Result<(), ToolError> {
    let what = "trace a program (ptrace must be permitted: a container needs the capability SYS_PTRACE)";
    run(TOOL, what, program, Command::new(program).args(["-f", "-o", "/dev/null", "true"])).map(drop)
}

/// Fetches and unpacks it, unless that was done before.
fn fetched(tools: &Path) -> Result<PathBuf, ToolError> {
    let home = debian::unpacked(
        (TOOL, TOOL),
        tools,
        |_| Ok(debian::named(&PACKAGES)),
        |partial, home| {
            // Its libraries are for itself and not for what it traces.
            let script = format!(
                "#!/bin/sh\nhome='{}'\nLD_LIBRARY_PATH=$(echo \"$home\"/usr/lib/*-linux-gnu*) exec \"$home/usr/bin/strace\" -E LD_LIBRARY_PATH \"$@\"\n",
                home.display()
            );
            debian::script(partial, &script)
        },
    )?;
    Ok(home.join("run"))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn what_cannot_trace_is_said_to_be_forbidden() {
        let error = tried(Path::new("/bin/false")).unwrap_err().to_string();
        for part in ["SYS_PTRACE", "/bin/false -f -o /dev/null true", "AWAKENER_WITHOUT=strace"] {
            assert!(error.contains(part), "{part} in {error}");
        }
    }

    #[test]
    fn a_found_one_traces() {
        let Tool::Ready(program) = program().unwrap() else { return };
        let log = workspace().join("target/tools/strace-trial.log");
        run(TOOL, "trace", &program, Command::new(&program).arg("-o").arg(&log).arg("true")).unwrap();
        assert!(fs::read_to_string(&log).unwrap().contains("exited with 0"));
    }

    /// Needs the package index of the machine; run it after a change here.
    #[test]
    #[ignore = "downloads a package at each run"]
    fn a_fetched_one_traces_as_well() {
        let tools = workspace().join("target/tools/strace-fetched");
        fs::remove_dir_all(&tools).ok();
        tried(&fetched(&tools).unwrap()).unwrap();
        tried(&fetched(&tools).unwrap()).unwrap();
    }
}
