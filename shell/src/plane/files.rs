//! The files beside the plane's store: the deny file (OPR-2), the epoch floor (EMT-2), and where latches lie.
//!
//! Each write is made durable before it counts: written under another name, synced, renamed, and the directory synced.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use awakener_kernel::operator::Denial;
use awakener_kernel::time::Wall;
use awakener_spec::Reason;

use super::Refused;

/// What the deny file says, and whether it could be read; one that cannot be stops everything.
pub(super) fn denials(state: &Path) -> (Vec<Denial>, bool) {
    match fs::read(state.join("deny")) {
        Ok(bytes) => (Denial::read_file(&String::from_utf8_lossy(&bytes)), true),
        Err(error) if error.kind() == io::ErrorKind::NotFound => (Vec::new(), true),
        Err(error) => {
            tracing::error!(rule = "OPR-2", "the deny file cannot be read, everything stops: {error}");
            (vec![Denial::stop_all()], false)
        }
    }
}

/// Adds an act that narrows to the deny file, durably.
///
/// # Errors
/// The file system's.
pub(super) fn deny(state: &Path, denial: &Denial) -> io::Result<()> {
    append(&state.join("deny"), denial.line().as_bytes())
}

/// Puts the deny file aside once everything in it is recorded; it is kept.
///
/// # Errors
/// The file system's; the same is then taken in again, which changes nothing.
pub(super) fn denials_taken(state: &Path, now: Wall) -> io::Result<()> {
    let mut taken = state.join(format!("deny-{}.taken", now.0));
    // Wall time may stand still, and none of them is ever overwritten.
    let mut number = 1_u64;
    while taken.try_exists()? {
        taken = state.join(format!("deny-{}-{number}.taken", now.0));
        number = number.saturating_add(1);
    }
    match fs::rename(state.join("deny"), taken) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        result => result.and_then(|()| sync_dir(state)),
    }
}

/// Raises the floor of epochs above everything known and returns the floor for this start: no token of it is at or
/// below. The file is durable before any token is.
pub(super) fn raise_floor(state: &Path, highest: u32) -> Result<u32, Refused> {
    let path = state.join("epoch-floor");
    let fault = |detail: String| Refused { reason: Reason::StoreUnavailable, detail };
    let stored = match fs::read_to_string(&path) {
        Ok(text) => text.trim().parse::<u32>().map_err(|error| {
            // A floor that cannot be read is not zero: a lower epoch might come back.
            fault(format!("{}: {error} (EMT-2)", path.display()))
        })?,
        Err(error) if error.kind() == io::ErrorKind::NotFound => 0,
        Err(error) => return Err(fault(format!("{}: {error} (EMT-2)", path.display()))),
    };
    let floor = stored.max(highest);
    let next = floor.saturating_add(1);
    replace(&path, format!("{next}\n").as_bytes())
        .map_err(|error| fault(format!("{}: {error} (EMT-2)", path.display())))?;
    Ok(floor)
}

/// The floor file that lies there: its number, and what tells it from every other and from a copy of itself, its place on
/// the disk and when it was last changed, which nobody can set. `None` if there is none that can be read.
pub(super) fn floor_file(state: &Path) -> Option<(u32, String)> {
    let path = state.join("epoch-floor");
    let number = fs::read_to_string(&path).ok()?.trim().parse().ok()?;
    let file = fs::metadata(path).ok()?;
    Some((number, format!("{}:{}:{}.{:09}", file.dev(), file.ino(), file.ctime(), file.ctime_nsec())))
}

/// A store that is gone or emptied, although tokens were allocated from it, is not begun anew: its mail would be lost
/// without a word, and the chain with it.
///
/// # Errors
/// `store_corrupt`.
pub(super) fn not_lost(state: &Path, store: &Path) -> Result<(), Refused> {
    let floor = state.join("epoch-floor");
    if fs::metadata(store).is_ok_and(|file| file.len() > 0) || !floor.exists() {
        return Ok(());
    }
    awakener_spec::rule!(Inb10);
    Err(Refused {
        reason: Reason::StoreCorrupt,
        detail: format!(
            "{}: is gone or empty, but {} says that it was in use",
            store.display(),
            floor.display()
        ),
    })
}

/// Where the latch of a target lies.
pub fn latch_path(state: &Path, target: &str) -> PathBuf {
    state.join(format!("latch-{target}"))
}

/// Puts `bytes` at `path`, all of them or none, durably.
pub fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let beside = path.with_extension("new");
    let mut file = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&beside)?;
    file.write_all(bytes)?;
    file.sync_all()?;
    fs::rename(&beside, path)?;
    sync_dir(path.parent().unwrap_or_else(|| Path::new(".")))
}

fn append(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = OpenOptions::new().append(true).create(true).mode(0o600).open(path)?;
    file.write_all(bytes)?;
    file.sync_all()?;
    sync_dir(path.parent().unwrap_or_else(|| Path::new(".")))
}

fn sync_dir(path: &Path) -> io::Result<()> {
    File::open(path)?.sync_all()
}
