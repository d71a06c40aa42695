//! Packages of Debian, unpacked beside the other tools without installing anything.
//!
//! apt checks them against the signed index of the machine. One process at a time fetches a tool; what stands in place
//! is whole.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::ToolError;
use crate::run::{failed, run};

/// Fetches what `packages` names and unpacks it into `tools/TOOL`, unless that was done before; `finish` puts beside it
/// what the tool needs besides, before anything is in place. Whoever lacks it installs `install`. The directory.
pub(crate) fn unpacked(
    (tool, install): (&'static str, &str),
    tools: &Path,
    packages: impl FnOnce(&Path) -> Result<Vec<String>, ToolError>,
    finish: impl FnOnce(&Path, &Path) -> std::io::Result<()>,
) -> Result<PathBuf, ToolError> {
    let home = tools.join(tool);
    let failed = |what: &'static str| {
        let home = home.clone();
        move |cause: std::io::Error| ToolError {
            line: format!("apt-get install {install}"),
            ..failed(tool, what, &home, &cause)
        }
    };
    fs::create_dir_all(tools).map_err(failed("create the directory of the tools"))?;
    let lock = File::create(tools.join(format!("{tool}.lock"))).and_then(|file| file.lock().map(|()| file));
    let _lock = lock.map_err(failed("take the lock"))?;
    if home.exists() {
        return Ok(home);
    }
    let partial = home.with_extension("partial");
    if partial.exists() {
        fs::remove_dir_all(&partial).map_err(failed("remove a broken attempt"))?;
    }
    fs::create_dir_all(&partial).map_err(failed("create a directory"))?;
    let what = format!("download it; to mend it: apt-get update, then apt-get install {install}");
    run(
        tool,
        &what,
        &partial,
        Command::new("apt-get").current_dir(&partial).args(["--quiet", "download"]).args(packages(&partial)?),
    )?;
    for entry in fs::read_dir(&partial).map_err(failed("list what was downloaded"))? {
        let package = entry.map_err(failed("list what was downloaded"))?.path();
        if package.extension().is_some_and(|end| end == "deb") {
            run(tool, "unpack it", &package, Command::new("dpkg-deb").arg("-x").arg(&package).arg(&partial))?;
            fs::remove_file(&package).map_err(failed("remove a package"))?;
        }
    }
    finish(&partial, &home).map_err(failed("finish it"))?;
    fs::rename(&partial, &home).map_err(failed("put it in place"))?;
    Ok(home)
}

/// Packages by their names.
pub(crate) fn named(packages: &[&str]) -> Vec<String> {
    packages.iter().map(|&package| package.to_owned()).collect()
}

/// Writes the script `run`, which starts an unpacked program with its own libraries.
pub(crate) fn script(place: &Path, text: &str) -> std::io::Result<()> {
    let file = place.join("run");
    fs::write(&file, text)?;
    fs::set_permissions(file, std::os::unix::fs::PermissionsExt::from_mode(0o755))
}
