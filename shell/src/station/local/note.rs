//! The note of what runs, for the next boot: whatever was started is found again by it (SPW-3).

use std::fs::{self, File, OpenOptions};
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;
use std::time::Duration;

use awakener_spec::rule;
use serde::{Deserialize, Serialize};

use crate::spawn::{self, Identity, Mark};

/// How long what was left over may take to end.
const LEFTOVER: Duration = Duration::from_secs(4);

/// The note of what runs: the mark before it starts, who it is after.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Note {
    pub(super) v: u32,
    pub(super) mark: Mark,
    pub(super) identity: Option<Identity>,
}

/// Ends what a note says was started and never seen to end.
pub(super) fn end_noted(path: &Path) -> Result<(), String> {
    let text = match fs::read(path) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(format!("{}: {error}", path.display())),
    };
    // One that is torn was being written when nothing had been started yet, or when what was started had the same mark
    // and the note before it was whole: notes are replaced, not rewritten.
    let note: Note = serde_json::from_slice(&text).map_err(|error| format!("{}: {error}", path.display()))?;
    if !spawn::end_leftover(note.identity.as_ref(), &note.mark, LEFTOVER) {
        return Err(format!("a program of an earlier run cannot be ended, see {}", path.display()));
    }
    rule!(Spw3);
    fs::remove_file(path).map_err(|error| format!("{}: {error}", path.display()))
}

/// Replaces a file: written beside it, made durable, renamed.
pub(super) fn write(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    let beside = path.with_extension("new");
    let mut file = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&beside)?;
    file.write_all(bytes)?;
    file.sync_all()?;
    fs::rename(&beside, path)?;
    match path.parent() {
        Some(folder) => File::open(folder)?.sync_all(),
        None => Ok(()),
    }
}
