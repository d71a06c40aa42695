//! strace, which writes down what a program asks of the kernel: the one of the machine, or Debian's package unpacked
//! beside the other tools.
//!
//! Found on `PATH`; else fetched with apt, which checks it against the signed index, and unpacked without installing
//! anything. Either way it is tried first, because a machine may have the program and forbid its use.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::run::{failed, run};
use crate::{Tool, ToolError, skipped, workspace};

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
    let home = tools.join(TOOL);
    let failed = |what: &'static str| {
        let home = home.clone();
        move |cause: std::io::Error| ToolError {
            line: "apt-get install strace".to_owned(),
            ..failed(TOOL, what, &home, &cause)
        }
    };
    fs::create_dir_all(tools).map_err(failed("create the directory of the tools"))?;
    let lock = File::create(tools.join("strace.lock")).and_then(|file| file.lock().map(|()| file));
    let _lock = lock.map_err(failed("take the lock"))?;
    let wrapper = home.join("run");
    if wrapper.exists() {
        return Ok(wrapper);
    }
    let partial = home.with_extension("partial");
    if partial.exists() {
        fs::remove_dir_all(&partial).map_err(failed("remove a broken attempt"))?;
    }
    fs::create_dir_all(&partial).map_err(failed("create a directory"))?;
    let what = "download it; to mend it: apt-get update, then apt-get install strace";
    run(
        TOOL,
        what,
        &partial,
        Command::new("apt-get").current_dir(&partial).args(["--quiet", "download"]).args(PACKAGES),
    )?;
    for entry in fs::read_dir(&partial).map_err(failed("list what was downloaded"))? {
        let package = entry.map_err(failed("list what was downloaded"))?.path();
        if package.extension().is_some_and(|end| end == "deb") {
            run(TOOL, "unpack it", &package, Command::new("dpkg-deb").arg("-x").arg(&package).arg(&partial))?;
        }
    }
    // Its libraries are for itself and not for what it traces.
    let script = format!(
        "#!/bin/sh\nhome='{}'\nLD_LIBRARY_PATH=$(echo \"$home\"/usr/lib/*-linux-gnu*) exec \"$home/usr/bin/strace\" -E LD_LIBRARY_PATH \"$@\"\n",
        home.display()
    );
    fs::write(partial.join("run"), script).map_err(failed("write a script"))?;
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    fs::set_permissions(partial.join("run"), mode).map_err(failed("make a script executable"))?;
    fs::rename(&partial, &home).map_err(failed("put it in place"))?;
    Ok(wrapper)
}

#[cfg(test)]
mod tests {
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
