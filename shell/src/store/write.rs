//! The store trait of the kernel, on SQLite: all of a transaction or none of it.

use awakener_kernel::audit::{self, AuditEntry, Head};
use awakener_kernel::ids::{ContentHash, Principal};
use awakener_kernel::open::{CommitError, Entry, Store, TxnId, Write};
use awakener_kernel::time::Now;
use awakener_spec::Reason;
use rusqlite::params;

use super::open::reason_of;
use super::persist::Rows;
use super::{Db, Parties, Persist, StoreFault};
use crate::pause::Point;

impl Store for Db {
    type Error = StoreFault;

    fn begin(&mut self) -> Result<TxnId, StoreFault> {
        if self.poisoned {
            return Err(self.fault(Reason::StoreUnavailable, &"the fate of an earlier commit is unknown"));
        }
        self.execute("BEGIN IMMEDIATE")?;
        self.txn += 1;
        self.staged = self.head;
        Ok(TxnId(self.txn))
    }

    fn commit(&mut self, txn: TxnId) -> Result<(), CommitError<StoreFault>> {
        if txn != TxnId(self.txn) {
            let fault = self.fault(Reason::StoreUnavailable, &"this transaction is not the open one");
            return Err(CommitError::NotDurable(fault));
        }
        self.reached(Point::BeforeCommit);
        // SQLite does not say whether a commit that failed is on disk or not, so nothing is taken for granted
        // (ADM-2 `outcome_unknown`): the file is closed, opened again, and the machines recovered.
        if let Err(error) = self.execute("COMMIT") {
            self.poisoned = true;
            // Whatever is true of it, this handle keeps nobody else out until it is closed.
            if !self.conn.is_autocommit() {
                let _ = self.execute("ROLLBACK");
            }
            return Err(CommitError::Unknown(error));
        }
        self.head = self.staged;
        self.reached(Point::AfterCommit);
        Ok(())
    }
}

impl<M: Persist> Write<M> for Db {
    fn write(&mut self, entry: Entry<'_, M>) -> Result<(), StoreFault> {
        if !worth_keeping::<M>(&entry) {
            return Ok(());
        }
        // What cannot be audited is not done (ADM-10).
        let audited = self.entry(&entry).map_err(|error| self.fault(Reason::StoreUnavailable, &error))?;
        let bytes =
            audited.stored().map_err(|reason| self.fault(reason, &"an entry without canonical form"))?;
        let head = Head { size: audited.position, hash: audit::hash(&bytes) };
        self.project(&entry, head, &bytes).map_err(|error| self.fault(store_error(&error), &error))?;
        self.staged = head;
        Ok(())
    }
}

/// Every advanced step, every recovery that records something, and every refusal that must be accounted for.
fn worth_keeping<M: Persist>(entry: &Entry<'_, M>) -> bool {
    match (entry.input, entry.outcome) {
        (Some((input, _)), Some(outcome)) => outcome.is_advanced() || M::auditable(input, outcome),
        (_, _) => true,
    }
}

/// A failed statement inside a transaction is a definite failure: it will be rolled back.
fn store_error(error: &rusqlite::Error) -> Reason {
    match reason_of(error) {
        corrupt @ (Reason::StoreCorrupt | Reason::StoreForeign) => corrupt,
        _ => Reason::StoreUnavailable,
    }
}

impl Db {
    /// Gives the open transaction up.
    pub fn abort(&mut self) {
        if self.execute("ROLLBACK").is_err() && !self.conn.is_autocommit() {
            self.poisoned = true;
        }
        self.staged = self.head;
    }

    /// Stops here if a test asked for it.
    pub fn reached(&self, point: Point) {
        if let Some(pause) = &self.pause {
            pause.reached(point);
        }
    }

    fn execute(&self, sql: &str) -> Result<(), StoreFault> {
        self.conn
            .prepare_cached(sql)
            .and_then(|mut statement| statement.execute([]))
            .map(|_| ())
            .map_err(|error| self.fault(store_error(&error), &error))
    }

    fn project<M: Persist>(&self, entry: &Entry<'_, M>, head: Head, bytes: &[u8]) -> rusqlite::Result<()> {
        let records = entry.records.len();
        let position = self.insert_entry(M::NAME, &self.focus.target, records, head, bytes, entry.now)?;
        let rows = Rows { conn: &self.conn, position, focus: &self.focus, at: entry.now.wall.0 };
        M::project(&rows, entry.records)
    }
}

/// Entries that belong to no machine's step.
impl Db {
    /// Accounts for a refusal that reached no machine (ADM-9). Only identities and the reason, never a body.
    ///
    /// # Errors
    /// `store_unavailable`; the caller says it loudly.
    pub fn note_refusal(
        &mut self,
        now: Now,
        principal: &Principal,
        target: &str,
        message: Option<&str>,
        reason: Reason,
    ) -> Result<(), StoreFault> {
        let mut parties = Parties::default();
        parties.identities.principal = Some(principal.clone());
        parties.identities.target = target.parse().ok();
        parties.correlation.message = message.and_then(|id| id.parse().ok());
        let outcome = serde_json::json!({ "refused": { "because": reason } });
        self.append("admission", target, now, parties, outcome)
    }

    /// An entry that is no step, such as that of a trip (FUS-5).
    ///
    /// # Errors
    /// `store_unavailable`, or `outcome_unknown` when its fate is not known.
    pub fn note(
        &mut self,
        machine: &str,
        target: &str,
        now: Now,
        what: serde_json::Value,
    ) -> Result<(), StoreFault> {
        let mut parties = Parties::default();
        parties.identities.target = target.parse().ok();
        self.append(machine, target, now, parties, what)
    }

    /// Starts a new segment of the chain that names the break and seals what is before it (AUD-5). Must follow the
    /// entry of the command that asks for it. A chain without a break needs none.
    ///
    /// # Errors
    /// `store_unavailable`.
    pub fn reanchor(&mut self, now: Now) -> Result<(), StoreFault> {
        let (walked, _) = crate::plane::queries::walked(&self.conn)
            .map_err(|error| self.fault(store_error(&error), &error))?;
        match (walked.broken, walked.seal) {
            (Some(named), Some(sealed)) => {
                let outcome = audit::Reanchored { named, sealed }.outcome();
                self.append(audit::MACHINE, "", now, Parties::default(), outcome)
            }
            (None, _) | (Some(_), None) => Ok(()),
        }
    }

    /// Keeps a signed checkpoint over the first `size` records (AUD-3). It is no record itself: the chain does not grow
    /// by it. Of two over the same records the first stays.
    ///
    /// # Errors
    /// `store_unavailable`; afterwards the handle may be poisoned, as after any commit whose fate is unknown.
    pub fn keep_checkpoint(&mut self, size: u64, now: Now, signed: &str) -> Result<(), StoreFault> {
        let txn = self.begin()?;
        let kept = self
            .conn
            .prepare_cached(
                "INSERT INTO checkpoint (size, at, signed) VALUES (?1, ?2, ?3) ON CONFLICT DO NOTHING",
            )
            .and_then(|mut statement| {
                let numbers = [size, now.wall.0].map(|number| i64::try_from(number).unwrap_or(i64::MAX));
                statement.execute(params![numbers[0], numbers[1], signed])
            })
            .map_err(|error| self.fault(store_error(&error), &error));
        if let Err(fault) = kept {
            self.abort();
            return Err(fault);
        }
        self.commit(txn).map_err(|error| match error {
            CommitError::NotDurable(fault) | CommitError::Unknown(fault) => fault,
        })
    }

    fn append(
        &mut self,
        machine: &str,
        target: &str,
        now: Now,
        parties: Parties,
        outcome: serde_json::Value,
    ) -> Result<(), StoreFault> {
        let txn = self.begin()?;
        let entry = AuditEntry {
            v: 0,
            position: 0,
            prev: ContentHash([0; 32]),
            machine: machine.into(),
            identities: parties.identities,
            now,
            config: self.config_hash,
            input: None,
            facts: None,
            outcome: Some(outcome),
            records: Vec::new(),
            correlation: parties.correlation,
            trace: None,
        }
        .behind(&self.staged);
        let staged = entry
            .stored()
            .map_err(|reason| self.fault(reason, &"an entry without canonical form"))
            .and_then(|bytes| {
                let head = Head { size: entry.position, hash: audit::hash(&bytes) };
                self.insert_entry(machine, target, 0, head, &bytes, now)
                    .map_err(|error| self.fault(store_error(&error), &error))
                    .map(|_| head)
            });
        match staged {
            Ok(head) => self.staged = head,
            Err(fault) => {
                self.abort();
                return Err(fault);
            }
        }
        self.commit(txn).map_err(|error| match error {
            CommitError::NotDurable(fault) | CommitError::Unknown(fault) => fault,
        })
    }

    fn insert_entry(
        &self,
        machine: &str,
        target: &str,
        records: usize,
        head: Head,
        bytes: &[u8],
        now: Now,
    ) -> rusqlite::Result<i64> {
        let position = i64::try_from(head.size).unwrap_or(i64::MAX);
        self.conn
            .prepare_cached(
                "INSERT INTO audit (position, machine, target, records, hash, entry)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
            )?
            .execute(params![
                position,
                machine,
                target,
                i64::try_from(records).unwrap_or(i64::MAX),
                head.hash.to_string(),
                bytes
            ])?;
        self.conn
            .prepare_cached(
                "INSERT INTO meta (key, value) VALUES ('last_wall', ?1)
                 ON CONFLICT (key) DO UPDATE SET value = excluded.value",
            )?
            .execute([now.wall.0.to_string()])?;
        Ok(position)
    }
}
