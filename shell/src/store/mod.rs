//! One SQLite file: the audit chain, and the projections of it that questions are answered from.
//!
//! Records become durable as one audit entry per step; images are recovered from a snapshot and the entries after it.
//! One process holds a file at a time. Not here: which steps are taken, and what becomes of their effects
//! ([`crate::host`]). Rules: INB-1, INB-10, ADM-10, AUD-1, AUD-2, AUD-8.

mod chain;
mod lock;
mod open;
pub mod persist;
pub mod query;
pub mod receipts;
mod write;

use std::path::{Path, PathBuf};

use awakener_kernel::audit::{Head, Identities};
use awakener_kernel::ids::ContentHash;
use awakener_spec::Reason;
use rusqlite::Connection;

pub use chain::{Parties, Statement};
pub use lock::Lock;
pub use persist::Persist;

/// Our mark in the header of a database file.
const APPLICATION_ID: i32 = 0x6177_616b;
/// The newest layout that this program knows.
const SCHEMA_VERSION: i32 = 1;

/// A store that cannot be used, or an operation that failed.
#[derive(Debug, thiserror::Error)]
#[error("{}: {detail} ({})", path.display(), reason.rule())]
pub struct StoreFault {
    /// Which kind.
    pub reason: Reason,
    /// The file.
    pub path: PathBuf,
    /// What happened, for people.
    pub detail: String,
}

/// An open store. Lives on one thread.
#[derive(Debug)]
pub struct Db {
    conn: Connection,
    path: PathBuf,
    /// Held as long as the store is open (INB-10).
    _lock: Lock,
    /// The end of the chain, staged entries included.
    staged: Head,
    /// The end of the chain as of the last commit.
    head: Head,
    /// Hash of the effective configuration, part of each entry (AUD-2).
    config_hash: ContentHash,
    /// What the next step is about.
    focus: Focus,
    txn: u64,
    /// Whose store it is: what stands in every entry, and the router only where it signs.
    own: Identities,
    /// Set when the fate of a commit is not known: nothing may be done with this handle any more.
    poisoned: bool,
    pause: Option<crate::pause::Pause>,
}

/// What the next written step is about; set by the host before each step.
#[derive(Clone, Debug, Default)]
pub struct Focus {
    /// The machine's target; empty for machines that have none.
    pub target: String,
    /// Texts that belong to the step but that no machine sees.
    pub statement: Option<Statement>,
}

impl Db {
    /// Opens or creates a store, taking its lock.
    ///
    /// # Errors
    /// `store_held`, `store_newer`, `store_foreign`, `store_corrupt`, or `store_unavailable` when the file system says
    /// no.
    pub fn open(path: &Path, config_hash: ContentHash) -> Result<Self, StoreFault> {
        open::open(path, config_hash)
    }

    /// The end of the chain as of the last commit.
    pub const fn head(&self) -> Head {
        self.head
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The latest wall time of any entry, so that time never runs backwards within a store.
    ///
    /// # Errors
    /// `store_unavailable` when it cannot be asked for, `store_corrupt` when it is no time.
    pub fn last_wall(&self) -> Result<Option<u64>, StoreFault> {
        match self.meta("last_wall")? {
            None => Ok(None),
            // A time that cannot be read is not the beginning of time.
            Some(text) => text.parse().map(Some).map_err(|error| {
                self.fault(Reason::StoreCorrupt, &format!("the last instant, {text:?}: {error}"))
            }),
        }
    }

    /// A value that belongs to the store as a whole.
    ///
    /// # Errors
    /// `store_unavailable` when it cannot be read.
    pub fn meta(&self, key: &str) -> Result<Option<String>, StoreFault> {
        use rusqlite::OptionalExtension;
        self.conn
            .prepare_cached("SELECT value FROM meta WHERE key = ?1")
            .and_then(|mut statement| statement.query_row([key], |row| row.get(0)).optional())
            .map_err(|error| self.fault(Reason::StoreUnavailable, &error))
    }

    /// Keeps a value that belongs to the store as a whole and that no step depends on.
    ///
    /// # Errors
    /// `store_unavailable` when it cannot be written.
    pub fn set_meta(&self, key: &str, value: &str) -> Result<(), StoreFault> {
        self.conn
            .prepare_cached(
                "INSERT INTO meta (key, value) VALUES (?1, ?2)
                 ON CONFLICT (key) DO UPDATE SET value = excluded.value",
            )
            .and_then(|mut statement| statement.execute([key, value]))
            .map(|_| ())
            .map_err(|error| self.fault(Reason::StoreUnavailable, &error))
    }

    /// Says whose store this is (IDN-1): the wake daemon, the station, the router that signs the hints of a plane.
    pub fn belongs_to(&mut self, own: Identities) {
        self.own = own;
    }

    /// Sets what the next step is about.
    pub fn focus(&mut self, focus: Focus) {
        self.focus = focus;
    }

    /// Whether the fate of a commit is unknown, so that this handle must be closed and the file opened anew.
    pub const fn poisoned(&self) -> bool {
        self.poisoned
    }

    /// Closes the file and opens it anew, after a commit of unknown fate (ADM-2).
    ///
    /// # Errors
    /// As [`Self::open`]; the handle stays poisoned.
    pub fn reopen(&mut self) -> Result<(), StoreFault> {
        // The old connection must be gone before the new one judges the file; the lock stays ours.
        self.conn =
            Connection::open_in_memory().map_err(|error| self.fault(Reason::StoreUnavailable, &error))?;
        let (conn, head) = open::connect(&self.path)?;
        (self.conn, self.staged, self.head) = (conn, head, head);
        self.poisoned = false;
        Ok(())
    }

    /// Where the process may be stopped by a test (`[trial] pause_at`).
    pub fn pause_at(&mut self, pause: Option<crate::pause::Pause>) {
        self.pause = pause;
    }

    /// The connection, for reads inside the open transaction.
    pub(crate) const fn conn(&self) -> &Connection {
        &self.conn
    }

    /// The connection, for tests that put hooks on it.
    #[cfg(test)]
    pub(crate) const fn conn_mut(&mut self) -> &mut Connection {
        &mut self.conn
    }

    pub(crate) fn fault(&self, reason: Reason, detail: &dyn std::fmt::Display) -> StoreFault {
        StoreFault { reason, path: self.path.clone(), detail: detail.to_string() }
    }
}
