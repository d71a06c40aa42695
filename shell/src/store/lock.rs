//! One process per store (INB-10): a lock file beside the database, held for as long as the process lives.
//!
//! The operating system releases it when the process dies, however it dies; what the file says is only for people.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read, Seek, SeekFrom, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use awakener_spec::Reason;

use super::StoreFault;

/// The held lock.
#[derive(Debug)]
pub struct Lock {
    _file: File,
}

impl Lock {
    /// Takes the lock beside `path`.
    ///
    /// # Errors
    /// `store_held` names the holder; `store_unavailable` when the file system says no.
    pub fn take(path: &Path) -> Result<Self, StoreFault> {
        let beside = path.with_extension("lock");
        let fault = |reason, detail: String| StoreFault { reason, path: path.to_owned(), detail };
        let unavailable =
            |error: std::io::Error| fault(Reason::StoreUnavailable, format!("{}: {error}", beside.display()));
        let mut file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .mode(0o600)
            .open(&beside)
            .map_err(unavailable)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                let mut holder = String::new();
                file.read_to_string(&mut holder).map_err(unavailable)?;
                return Err(fault(Reason::StoreHeld, format!("held by {}", holder.trim())));
            }
            Err(TryLockError::Error(error)) => return Err(unavailable(error)),
        }
        let said = format!("pid {} since {}\n", std::process::id(), crate::clock::system().utc());
        file.set_len(0)
            .and_then(|()| file.seek(SeekFrom::Start(0)))
            .and_then(|_| file.write_all(said.as_bytes()))
            .map_err(unavailable)?;
        Ok(Self { _file: file })
    }
}
