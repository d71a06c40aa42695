//! libfaketime, which shows a program another wall clock than the machine's and lets it jump while the program runs:
//! the one of the machine, or Debian's package unpacked beside the other tools.
//!
//! The monotonic clock and the times of files stay as they are, as they do when the clock of a machine is set. Fetched
//! with apt, which checks it against the signed index, and tried before it is given out: a program that does not load
//! it would run on the machine's clock and no test would notice.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::run::{failed, run};
use crate::{Tool, ToolError, debian, skipped, workspace};

const TOOL: &str = "faketime";
const LIBRARY: &str = "faketime/libfaketimeMT.so.1";

/// The library to be loaded before others; see [`Clock`].
///
/// # Errors
/// When there is none and it cannot be fetched, or when programs do not obey it here.
pub fn library() -> Result<Tool, ToolError> {
    if let Some(skipped) = skipped(TOOL)? {
        return Ok(Tool::Skipped(skipped));
    }
    let library = match within(Path::new("/")) {
        Some(library) => library,
        None => fetched(&workspace().join("target/tools"))?,
    };
    tried(&library)?;
    Ok(Tool::Ready(library))
}

/// The wall clock of some processes, which jumps when it is told to.
#[derive(Clone, Debug)]
pub struct Clock {
    library: PathBuf,
    file: PathBuf,
}

impl Clock {
    /// A clock that shows the machine's time until it is set; its offset stands in `file`.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn new(library: &Path, file: &Path) -> io::Result<Self> {
        let clock = Self { library: library.to_owned(), file: file.to_owned() };
        clock.set(0)?;
        Ok(clock)
    }

    /// From now on it is so many seconds ahead of the machine's, or behind it.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn set(&self, seconds: i64) -> io::Result<()> {
        // Whoever reads in between must not meet half of it.
        let beside = self.file.with_extension("new");
        fs::write(&beside, format!("{seconds:+}s\n"))?;
        fs::rename(beside, &self.file)
    }

    /// Gives it to a process that is not started yet.
    pub fn wear(&self, command: &mut Command) {
        command
            .env("LD_PRELOAD", &self.library)
            .env("FAKETIME_TIMESTAMP_FILE", &self.file)
            .env("FAKETIME_NO_CACHE", "1")
            .env("FAKETIME_DONT_FAKE_MONOTONIC", "1")
            .env("NO_FAKE_STAT", "1");
    }
}

/// The library below a root of Debian's.
fn within(root: &Path) -> Option<PathBuf> {
    let directories = fs::read_dir(root.join("usr/lib")).ok()?;
    directories.filter_map(|entry| Some(entry.ok()?.path().join(LIBRARY))).find(|library| library.is_file())
}

fn fetched(tools: &Path) -> Result<PathBuf, ToolError> {
    let home = debian::unpacked((TOOL, TOOL), tools, |_| Ok(debian::named(&["libfaketime"])), |_, _| Ok(()))?;
    let absent = || io::Error::new(io::ErrorKind::NotFound, LIBRARY);
    within(&home).ok_or_else(|| failed(TOOL, "find it in its package", &home, &absent()))
}

/// A program must show the year that it is told.
fn tried(library: &Path) -> Result<(), ToolError> {
    let what = "show a program another time; to mend it: apt-get install faketime";
    let mut program = Command::new("date");
    program.args(["--utc", "+%Y"]).env("LD_PRELOAD", library).env("FAKETIME", "@2001-02-03 04:05:06");
    let shown = run(TOOL, what, library, &mut program)?;
    if shown.trim() == "2001" {
        return Ok(());
    }
    Err(failed(TOOL, what, library, &io::Error::other(format!("it showed {}", shown.trim()))))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(clock: &Clock) -> u64 {
        let mut date = Command::new("date");
        date.arg("+%s");
        clock.wear(&mut date);
        String::from_utf8(date.output().unwrap().stdout).unwrap().trim().parse().unwrap()
    }

    #[test]
    fn a_clock_jumps_both_ways() {
        let Tool::Ready(library) = library().unwrap() else { return };
        let directory = workspace().join("target/tools/faketime-trial");
        fs::create_dir_all(&directory).unwrap();
        let clock = Clock::new(&library, &directory.join("clock")).unwrap();
        let real = || std::time::SystemTime::UNIX_EPOCH.elapsed().unwrap().as_secs();
        assert!(shown(&clock).abs_diff(real()) < 60);
        clock.set(7_200).unwrap();
        assert!(shown(&clock).abs_diff(real() + 7_200) < 60);
        clock.set(-7_200).unwrap();
        assert!(shown(&clock).abs_diff(real() - 7_200) < 60);
    }

    #[test]
    fn a_library_that_is_not_loaded_is_noticed() {
        let error = tried(Path::new("/nonexistent/libfaketime.so")).unwrap_err().to_string();
        for part in ["show a program another time", "apt-get install faketime", "AWAKENER_WITHOUT=faketime"] {
            assert!(error.contains(part), "{part} in {error}");
        }
    }
}
