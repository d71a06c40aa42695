//! The latch file of a station (FUS-4…7), and the incident that outlives it.
//!
//! The latch is written into a file that was made beforehand under another name, so that a full disk cannot keep it
//! from being written; then renamed onto its path. Each step is fsynced, the directory too. Whatever lies at the path,
//! readable or not, is a latch.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Seek, SeekFrom, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use awakener_kernel::station::{LatchId, LatchNote};
use awakener_spec::rule;
use serde_json::json;

/// Bytes that are set aside for a latch; a note is far shorter.
const RESERVED: usize = 16 * 1024;

/// Where a station's latch, its reserve and its incidents lie.
#[derive(Clone, Debug)]
pub struct LatchFiles {
    state: PathBuf,
    target: String,
}

/// What lies at the latch path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Found {
    /// Nothing.
    Nothing,
    /// A latch that can be read.
    Latch(Box<LatchNote>),
    /// Something else; it latches all the same (FUS-6).
    Unreadable,
}

impl LatchFiles {
    /// The files of one target in a state directory.
    pub fn new(state: &Path, target: &str) -> Self {
        Self { state: state.to_owned(), target: target.to_owned() }
    }

    /// The latch.
    pub fn path(&self) -> PathBuf {
        self.state.join(format!("latch-{}", self.target))
    }

    fn reserve_path(&self) -> PathBuf {
        self.state.join(format!("latch-{}.reserve", self.target))
    }

    /// Sets space aside for a latch.
    ///
    /// # Errors
    /// The file system's; without a reserve a station should not start.
    pub fn reserve(&self) -> io::Result<()> {
        let path = self.reserve_path();
        if fs::metadata(&path).is_ok_and(|file| file.len() >= RESERVED as u64) {
            return Ok(());
        }
        let mut file = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&path)?;
        file.write_all(&vec![b' '; RESERVED])?;
        file.sync_all()?;
        self.sync()
    }

    /// What lies at the latch path.
    pub fn found(&self) -> Found {
        // A link that leads nowhere is something at the path as well.
        if fs::symlink_metadata(self.path()).is_err_and(|error| error.kind() == io::ErrorKind::NotFound) {
            return Found::Nothing;
        }
        match fs::read(self.path()) {
            Err(_) => unreadable(),
            Ok(bytes) => match serde_json::from_slice::<Stored>(&bytes) {
                Ok(stored) if stored.v == 1 => Found::Latch(Box::new(stored.latch)),
                Ok(_) | Err(_) => unreadable(),
            },
        }
    }

    /// Puts a latch at its path.
    ///
    /// # Errors
    /// The file system's; the station must stop all the same.
    pub fn write(&self, note: &LatchNote) -> io::Result<()> {
        let reserve = self.reserve_path();
        let mut file =
            OpenOptions::new().write(true).create(true).truncate(false).mode(0o600).open(&reserve)?;
        let mut text = json!({ "v": 1, "target": self.target, "latch": note }).to_string();
        // Written over the reserve, without giving any of it back first.
        let padding = RESERVED.saturating_sub(text.len() + 1);
        text.extend(std::iter::repeat_n(' ', padding));
        text.push('\n');
        file.seek(SeekFrom::Start(0))?;
        file.write_all(text.as_bytes())?;
        file.sync_all()?;
        fs::rename(&reserve, self.path())?;
        rule!(Fus4);
        self.sync()
    }

    /// Keeps the latch as an incident.
    ///
    /// # Errors
    /// The file system's; the latch stays.
    pub fn archive(&self, note: &LatchNote) -> io::Result<()> {
        let incidents = self.state.join("incidents");
        fs::create_dir_all(&incidents)?;
        let path = incidents.join(format!("{}-{}.json", self.target, note.latch.0));
        let held = fs::read(self.path()).map(|bytes| String::from_utf8_lossy(&bytes).trim().to_owned()).ok();
        let incident = json!({ "v": 1, "target": self.target, "latch": note, "file": held });
        let beside = path.with_extension("new");
        let mut file =
            OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&beside)?;
        file.write_all(format!("{incident:#}\n").as_bytes())?;
        file.sync_all()?;
        fs::rename(&beside, &path)?;
        File::open(&incidents)?.sync_all()?;
        self.sync()
    }

    /// Takes the latch away; what is no file is moved to the incidents instead. Nothing there is what was wanted.
    ///
    /// # Errors
    /// The file system's; the latch may still lie there.
    pub fn remove(&self, latch: LatchId) -> io::Result<()> {
        let path = self.path();
        match fs::symlink_metadata(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            Err(error) => return Err(error),
            Ok(found) if found.is_dir() => {
                let incidents = self.state.join("incidents");
                fs::rename(&path, incidents.join(format!("{}-{}.found", self.target, latch.0)))?;
                File::open(&incidents)?.sync_all()?;
            }
            Ok(_) => fs::remove_file(&path)?,
        }
        self.sync()
    }

    fn sync(&self) -> io::Result<()> {
        File::open(&self.state)?.sync_all()
    }
}

/// It is there, so it latches.
fn unreadable() -> Found {
    rule!(Fus6);
    Found::Unreadable
}

#[derive(serde::Deserialize)]
struct Stored {
    v: u32,
    latch: LatchNote,
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::MetadataExt as _;

    use awakener_kernel::ids::{ContentHash, TurnId};
    use awakener_kernel::station::{LatchCause, TripAudit};
    use awakener_kernel::time::Wall;
    use awakener_tools::enforces;

    use super::*;

    fn note() -> LatchNote {
        let (latch, audit) =
            (LatchId(TurnId::from_parts(7, [5; 10])), TripAudit::Recorded(ContentHash([9; 32])));
        LatchNote { latch, cause: LatchCause::Found, at: Wall(7), audit }
    }

    enforces! {
        [Fus4]
        fn fus_4_the_latch_is_its_reserve_renamed(_seen) {
            let state = tempfile::tempdir().unwrap();
            let files = LatchFiles::new(state.path(), "desk");
            files.reserve().unwrap();
            let reserve = fs::metadata(files.reserve_path()).unwrap();
            assert_eq!((files.found(), reserve.len()), (Found::Nothing, RESERVED as u64));
            files.write(&note()).unwrap();
            let latch = fs::metadata(files.path()).unwrap();
            assert_eq!((latch.ino(), latch.len()), (reserve.ino(), reserve.len()), "the same bytes on disk");
            assert!(!files.reserve_path().exists());
            assert_eq!(files.found(), Found::Latch(Box::new(note())));
        }

        [Fus6]
        fn fus_6_whatever_lies_at_the_path_is_a_latch(_seen) {
            type Put = fn(&Path);
            let put: [Put; 5] = [
                |path| fs::write(path, "").unwrap(),
                |path| fs::write(path, b"\xff{").unwrap(),
                |path| fs::write(path, r#"{"v":2}"#).unwrap(),
                |path| fs::create_dir(path).unwrap(),
                |path| std::os::unix::fs::symlink(path, path).unwrap(),
            ];
            for put in put {
                let state = tempfile::tempdir().unwrap();
                let files = LatchFiles::new(state.path(), "desk");
                assert_eq!(files.found(), Found::Nothing, "control");
                put(&files.path());
                assert_eq!(files.found(), Found::Unreadable);
            }
        }
    }
}
