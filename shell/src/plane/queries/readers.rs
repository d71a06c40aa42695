//! Read-only connections to the plane's file, lent one at a time.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use awakener_spec::Reason;
use rusqlite::{Connection, OpenFlags};

use crate::plane::Refused;

/// How many idle connections are kept.
const KEPT: usize = 8;

/// Lends read-only connections; cheap to clone.
#[derive(Clone, Debug)]
pub struct Readers {
    path: Arc<PathBuf>,
    idle: Arc<Mutex<Vec<Connection>>>,
}

impl Readers {
    /// For the file at `path`.
    pub fn of(path: &Path) -> Self {
        Self { path: Arc::new(path.to_owned()), idle: Arc::default() }
    }

    /// Asks on a thread that may block, on one snapshot of the store.
    ///
    /// # Errors
    /// What the question says; `store_unavailable` when the file cannot be read.
    pub async fn ask<T: Send + 'static>(
        &self,
        question: impl FnOnce(&Connection) -> Result<T, Refused> + Send + 'static,
    ) -> Result<T, Refused> {
        let readers = self.clone();
        tokio::task::spawn_blocking(move || readers.ask_here(question)).await.unwrap_or_else(|_| {
            Err(Refused { reason: Reason::StoreUnavailable, detail: "a reader has ended".to_owned() })
        })
    }

    /// Asks on this thread.
    ///
    /// # Errors
    /// As [`Self::ask`].
    pub(in crate::plane) fn ask_here<T>(
        &self,
        question: impl FnOnce(&Connection) -> Result<T, Refused>,
    ) -> Result<T, Refused> {
        let conn = match self.lend() {
            Some(conn) => conn,
            None => self.open().map_err(|error| unreadable(&error))?,
        };
        let transaction = conn.unchecked_transaction().map_err(|error| unreadable(&error))?;
        let answer = question(&transaction);
        // Nothing was written; a connection that cannot even end its transaction is not kept.
        if transaction.finish().is_ok() {
            let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
            if idle.len() < KEPT {
                idle.push(conn);
            }
        }
        answer
    }

    fn lend(&self) -> Option<Connection> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop()
    }

    fn open(&self) -> rusqlite::Result<Connection> {
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let conn = Connection::open_with_flags(&*self.path, flags)?;
        conn.pragma_update(None, "busy_timeout", 2_000)?;
        conn.pragma_update(None, "query_only", true)?;
        conn.pragma_update(None, "trusted_schema", false)?;
        conn.set_prepared_statement_cache_capacity(64);
        Ok(conn)
    }
}

/// The store cannot be read. What could not be read is said, never taken for nothing.
pub(super) fn unreadable(error: &dyn std::fmt::Display) -> Refused {
    Refused { reason: Reason::StoreUnavailable, detail: format!("the store cannot be read: {error}") }
}
