//! Recovery: the image of a machine is its snapshot and the records after it.

use std::collections::BTreeSet;

use awakener_kernel::machine::{Image, RecordOf};
use awakener_spec::Reason;
use rusqlite::{OptionalExtension, params};
use serde::Deserialize;

use super::{Db, Persist, StoreFault};

/// What recovery needs of an entry.
#[derive(Deserialize)]
struct Recorded<R> {
    records: Vec<R>,
}

impl Db {
    /// The targets that a kind of machine has ever recorded something about.
    ///
    /// # Errors
    /// `store_unavailable` or `store_corrupt`.
    pub fn targets<M: Persist>(&self) -> Result<BTreeSet<String>, StoreFault> {
        self.conn
            .prepare_cached("SELECT DISTINCT target FROM audit WHERE machine = ?1 AND records > 0")
            .and_then(|mut statement| statement.query_map([M::NAME], |row| row.get(0))?.collect())
            .map_err(|error| self.fault(super::open::reason_of(&error), &error))
    }

    /// The durable image of one machine.
    ///
    /// # Errors
    /// `store_corrupt` names the entry that cannot be read; `store_unavailable`.
    pub fn image<M: Persist>(&self, target: &str) -> Result<M::Image, StoreFault> {
        let unavailable = |error: rusqlite::Error| self.fault(super::open::reason_of(&error), &error);
        let snapshot: Option<(i64, String)> = self
            .conn
            .prepare_cached("SELECT position, image FROM snapshot WHERE machine = ?1 AND target = ?2")
            .and_then(|mut statement| {
                statement.query_row([M::NAME, target], |row| Ok((row.get(0)?, row.get(1)?))).optional()
            })
            .map_err(unavailable)?;
        let (from, mut image) = match snapshot {
            None => (0, M::Image::default()),
            Some((position, text)) => {
                let image = serde_json::from_str(&text).map_err(|error| {
                    self.fault(
                        Reason::StoreCorrupt,
                        &format!("snapshot of {} {target:?} at {position}: {error}", M::NAME),
                    )
                })?;
                (position, image)
            }
        };
        let mut statement = self
            .conn
            .prepare_cached(
                "SELECT position, entry FROM audit
                 WHERE machine = ?1 AND target = ?2 AND records > 0 AND position > ?3 ORDER BY position",
            )
            .map_err(unavailable)?;
        let mut rows = statement.query(params![M::NAME, target, from]).map_err(unavailable)?;
        while let Some(row) = rows.next().map_err(unavailable)? {
            let (position, entry): (i64, Vec<u8>) =
                (row.get(0).map_err(unavailable)?, row.get(1).map_err(unavailable)?);
            let recorded: Recorded<RecordOf<M>> = serde_json::from_slice(&entry).map_err(|error| {
                self.fault(Reason::StoreCorrupt, &format!("audit entry {position}: {error}"))
            })?;
            for record in &recorded.records {
                image.apply(record);
            }
        }
        Ok(image)
    }

    /// Keeps an image, so that the next recovery starts here. Only a convenience: its loss costs time.
    ///
    /// # Errors
    /// `store_unavailable`.
    pub fn snapshot<M: Persist>(&mut self, target: &str, image: &M::Image) -> Result<(), StoreFault> {
        let text =
            serde_json::to_string(image).map_err(|error| self.fault(Reason::StoreUnavailable, &error))?;
        let position = i64::try_from(self.head.size).unwrap_or(i64::MAX);
        self.conn
            .prepare_cached(
                "INSERT INTO snapshot (machine, target, position, image) VALUES (?1, ?2, ?3, ?4)
                 ON CONFLICT (machine, target) DO UPDATE SET position = excluded.position, image = excluded.image",
            )
            .and_then(|mut statement| statement.execute(params![M::NAME, target, position, text]))
            .map(|_| ())
            .map_err(|error| self.fault(Reason::StoreUnavailable, &error))
    }
}
