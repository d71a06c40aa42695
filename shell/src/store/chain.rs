//! The audit chain as rows (AUD-1, AUD-2): what one entry holds. Hashing is the kernel's.

use awakener_kernel::audit::{AuditEntry, Correlation, Head, Identities, Trace};
use awakener_kernel::ids::{ContentHash, MessageId, OperatorName};
use awakener_kernel::machine::OutcomeOf;
use awakener_kernel::open::Entry;
use rusqlite::OptionalExtension;
use serde_json::Value;

use super::{Db, Persist};

/// A text that belongs to a step but that no machine sees.
#[derive(Clone, Debug)]
pub enum Statement {
    /// A submission, body included, with the hash of its normal form and the trace context that it came with.
    Submission {
        /// As submitted, as JSON.
        submission: String,
        /// For repeats (FUS-1).
        normal: String,
        /// W3C `traceparent`.
        trace: Option<String>,
    },
    /// The text of a reply or the reason of a silence.
    Answer {
        /// Which of them.
        kind: &'static str,
        /// The text.
        body: String,
    },
    /// What ran the turn could have read the station's ACK key (SPW-6).
    AckKeyInReach,
    /// A signed document as received.
    Signed {
        /// `ack` or `operator`.
        kind: &'static str,
        /// The message, or the act.
        subject: String,
        /// Who signed, if it was an operator that the plane knows.
        operator: Option<OperatorName>,
        /// The document.
        signed: Value,
    },
}

/// Who has to do with a step, and what it belongs to.
#[derive(Clone, Debug, Default)]
pub struct Parties {
    /// Each kind in its own member (IDN-1).
    pub identities: Identities,
    /// Ids that connect entries.
    pub correlation: Correlation,
}

impl Db {
    /// The entry of one step.
    pub(super) fn entry<M: Persist>(
        &self,
        entry: &Entry<'_, M>,
    ) -> Result<AuditEntry, Box<dyn std::error::Error>> {
        let (input, facts, mut parties) = match entry.input {
            None => (None, None, Parties::default()),
            Some((input, facts)) => {
                (Some(serde_json::to_value(input)?), Some(serde_json::to_value(facts)?), M::parties(input))
            }
        };
        let identities = &mut parties.identities;
        if let Ok(target) = self.focus.target.parse() {
            identities.target = Some(target);
        }
        // What the input names goes before whose store it is.
        identities.station = identities.station.take().or_else(|| self.own.station.clone());
        identities.daemon = identities.daemon.take().or_else(|| self.own.daemon.clone());
        if M::routed(entry.records) {
            identities.router = self.own.router;
        }
        if let Some(Statement::Signed { operator, .. }) = &self.focus.statement {
            identities.operator = operator.clone();
        }
        awakener_spec::rule!(Aud2);
        let records = entry.records.iter().map(serde_json::to_value).collect::<Result<_, _>>()?;
        let trace = self.trace(parties.correlation.message.as_ref())?;
        let plain = AuditEntry {
            v: 0,
            position: 0,
            prev: ContentHash([0; 32]),
            machine: M::NAME.into(),
            identities: parties.identities,
            now: entry.now,
            config: self.config_hash,
            input,
            facts,
            outcome: entry.outcome.map(serde_json::to_value::<&OutcomeOf<M>>).transpose()?,
            records,
            correlation: parties.correlation,
            trace,
        };
        Ok(plain.behind(&self.staged))
    }

    /// The trace that a step belongs to: the one that its message came with (AUD-6).
    fn trace(&self, message: Option<&MessageId>) -> rusqlite::Result<Option<Trace>> {
        let stored = match (&self.focus.statement, message) {
            (Some(Statement::Submission { trace, .. }), _) => trace.clone(),
            (Some(_) | None, Some(message)) => self
                .conn
                .prepare_cached("SELECT trace FROM message WHERE id = ?1 AND target = ?2")?
                .query_row([message.to_string(), self.focus.target.clone()], |row| row.get(0))
                .optional()?
                .flatten(),
            (Some(_) | None, None) => None,
        };
        Ok(stored.map(|stored| Trace { traceparent: stored.into(), tracestate: None }))
    }
}

/// The end of the chain that a database holds. Positions that anything else names count as used: if the tail of the
/// chain is gone, what follows leaves a gap that shows (AUD-3, AUD-5), and no image takes it for something that it has
/// seen already.
pub(super) fn head(conn: &rusqlite::Connection) -> rusqlite::Result<Head> {
    let last: Option<(i64, String)> = conn
        .query_row("SELECT position, hash FROM audit ORDER BY position DESC LIMIT 1", [], |row| {
            Ok((row.get(0)?, row.get(1)?))
        })
        .optional()?;
    let named: i64 = conn.query_row(
        "SELECT max(coalesce((SELECT max(position) FROM snapshot), 0),
                    coalesce((SELECT max(position) FROM statement), 0),
                    coalesce((SELECT position FROM receipt ORDER BY number DESC LIMIT 1), 0))",
        [],
        |row| row.get(0),
    )?;
    let (position, hash) = match last {
        None => (0, Ok(Head::EMPTY.hash)),
        Some((position, hash)) => (position, ContentHash::parse(&hash)),
    };
    match (u64::try_from(position.max(named)), hash) {
        (Ok(size), Ok(hash)) => Ok(Head { size, hash }),
        (_, _) => Err(rusqlite::Error::IntegralValueOutOfRange(0, position)),
    }
}
