//! Secret files: 0600 in 0700, made durable, checked on what was opened (SPW-6).
//!
//! Not here: what stands in them.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use awakener_spec::{Reason, rule};
use zeroize::Zeroizing;

/// The most bytes of a secret file; more is not one of ours.
const LONGEST: u64 = 256;

/// Why a key or token cannot be had.
#[derive(Debug, thiserror::Error)]
pub enum KeyError {
    /// Others could read it, or put another one in its place.
    #[error("{}: {what}", path.display())]
    Mode {
        /// The file or its directory.
        path: PathBuf,
        /// What is wrong.
        what: String,
    },
    /// It is not what such a file holds.
    #[error("{}: is not {expected}", path.display())]
    Malformed {
        /// The file.
        path: PathBuf,
        /// What it should be.
        expected: &'static str,
    },
    /// It stands there already and is not overwritten.
    #[error("{}: exists already and is not overwritten", path.display())]
    Exists {
        /// The file.
        path: PathBuf,
    },
    /// The file system refused.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file or directory.
        path: PathBuf,
        /// Its answer.
        source: io::Error,
    },
    /// The system gave no chance.
    #[error("the system gives no random bytes: {0}")]
    Chance(String),
}

impl KeyError {
    /// The refusal that it is, if it is one of the closed list.
    pub const fn reason(&self) -> Option<Reason> {
        match self {
            Self::Mode { .. } => Some(Reason::KeyMode),
            Self::Malformed { .. } | Self::Exists { .. } | Self::Io { .. } | Self::Chance(_) => None,
        }
    }
}

/// Makes a directory that only this user can enter, with its parents, durably; one that exists is checked.
///
/// # Errors
/// [`KeyError::Mode`] or [`KeyError::Io`].
pub fn private_dir(path: &Path) -> Result<(), KeyError> {
    let io = |source| KeyError::Io { path: path.into(), source };
    let named = |at: &&Path| *at != Path::new("");
    let missing: Vec<&Path> = path.ancestors().filter(named).take_while(|at| !at.exists()).collect();
    DirBuilder::new().recursive(true).mode(0o700).create(path).map_err(io)?;
    // What lies in a directory is only as durable as the directory's own entry in the one above.
    for made in missing {
        File::open(parent(made)).and_then(|above| above.sync_all()).map_err(io)?;
    }
    check_dir(path)
}

/// Writes a new 0600 file and makes it durable: bytes, then the entry in its directory.
///
/// # Errors
/// Any [`KeyError`] but `Malformed` and `Chance`.
pub fn create_secret(path: &Path, text: &str) -> Result<(), KeyError> {
    let io = |source: io::Error| match source.kind() {
        io::ErrorKind::AlreadyExists => KeyError::Exists { path: path.into() },
        _other => KeyError::Io { path: path.into(), source },
    };
    let dir = parent(path);
    private_dir(dir)?;
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path).map_err(io)?;
    file.write_all(text.as_bytes()).and_then(|()| file.write_all(b"\n")).map_err(io)?;
    file.sync_all().map_err(io)?;
    File::open(dir).and_then(|dir| dir.sync_all()).map_err(io)
}

/// Reads a secret file after the checks of SPW-6, made on what was opened and not on what the name meant before.
///
/// # Errors
/// [`KeyError::Mode`], [`KeyError::Malformed`] or [`KeyError::Io`].
pub fn read_secret(path: &Path) -> Result<Zeroizing<String>, KeyError> {
    let io = |source| KeyError::Io { path: path.into(), source };
    let file = File::open(path).map_err(io)?;
    let metadata = file.metadata().map_err(io)?;
    if !metadata.is_file() {
        return Err(KeyError::Malformed { path: path.into(), expected: "a regular file" });
    }
    check(path, &metadata, "0600")?;
    check_dir(parent(path))?;
    let mut text = Zeroizing::new(String::new());
    file.take(LONGEST).read_to_string(&mut text).map_err(io)?;
    Ok(text)
}

fn check_dir(path: &Path) -> Result<(), KeyError> {
    let metadata = std::fs::metadata(path).map_err(|source| KeyError::Io { path: path.into(), source })?;
    if !metadata.is_dir() {
        return Err(KeyError::Malformed { path: path.into(), expected: "a directory" });
    }
    check(path, &metadata, "0700")
}

fn check(path: &Path, metadata: &std::fs::Metadata, wanted: &str) -> Result<(), KeyError> {
    let mode = metadata.mode() & 0o7777;
    let owner = metadata.uid();
    let us = rustix::process::geteuid().as_raw();
    let what = if mode & 0o077 != 0 {
        format!("mode is {mode:04o}, must be {wanted}: others can reach it")
    } else if owner != us {
        format!("belongs to user {owner}, must belong to user {us}")
    } else {
        return Ok(());
    };
    rule!(Spw6);
    Err(KeyError::Mode { path: path.into(), what })
}

fn parent(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if parent != Path::new("") => parent,
        Some(_) | None => Path::new("."),
    }
}
