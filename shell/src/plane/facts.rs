//! What a mailbox must know, read inside the transaction that judges it.
//!
//! Looks up and hands over; every judgement is the kernel's. Rules: ADM-6, ADM-7, ADM-12, ACK-6, DSP-7, RTE-3.

use std::path::Path;

use awakener_kernel::admission::{AdmitFacts, Prior, Submitted};
use awakener_kernel::config::Config;
use awakener_kernel::ids::{ContentHash, Fence, MessageId, Seq, Target, Tier, Token, WakeId};
use awakener_kernel::machine::Machine as _;
use awakener_kernel::mailbox::Mailbox;
use awakener_kernel::mailbox::entry::Entry;
use awakener_kernel::mailbox::input::{AckFacts, Authority, Candidate, Facts as Told, Input, Mint, Query};
use awakener_kernel::operator::Outside;
use awakener_kernel::registry::Registry;
use awakener_kernel::registry::image::Held;
use awakener_kernel::router::Routes;
use awakener_kernel::time::{Millis, Now};
use awakener_kernel::values::Ack;
use awakener_spec::{Reason, ReceiptKind};
use rusqlite::{OptionalExtension, Row, params};
use smol_str::SmolStr;

use crate::host::{Host, Peers};
use crate::store::{Db, StoreFault};

/// What is known of an input beside the store.
#[derive(Clone, Debug)]
pub(super) enum Known {
    /// The sender's credential, and the hash of the content's normal form.
    Submission { held: Held, normal: ContentHash },
    /// Whether an ACK is signed by the registered key that it names.
    Signature { valid: bool },
}

/// Repeats of one content count within this time (ADM-2 `repeat_cap`).
const REPEATS_WITHIN: Millis = Millis(3_600_000);

/// Everything that facts are made of.
pub(super) struct Facts<'a> {
    pub db: &'a Db,
    pub registry: &'a Registry,
    pub routes: &'a Routes,
    pub config: &'a Config,
    pub now: Now,
    pub target: &'a Target,
    pub peers: &'a Peers<'a, Mailbox>,
}

type Answer<T> = Result<T, StoreFault>;

impl Facts<'_> {
    /// Answers a question of the mailbox.
    pub(super) fn answer(&self, input: &Input, query: Query, known: Option<&Known>) -> Answer<Told> {
        match query {
            Query::None => Ok(Told::None),
            Query::Admit { .. } => match (input, known) {
                (Input::Admit(submitted), Some(Known::Submission { held, normal })) => {
                    self.admit(submitted, held, normal).map(Told::Admit)
                }
                // Without a credential there is nothing to judge on; the mailbox refuses `facts_missing`.
                (_, _) => Ok(Told::None),
            },
            Query::Candidates { max } => self.candidates(max).map(Told::Candidates),
            Query::Row(message) => self.row(message).map(Told::Row),
            Query::Authority(message) => self.authority(message).map(Told::Authority),
            Query::Authorities(messages) => messages
                .into_iter()
                .map(|message| Ok((message, self.authority(message)?)))
                .collect::<Answer<_>>()
                .map(Told::Authorities),
            Query::Mint(wake) => self.mint(wake).map(Told::Mint),
            Query::Flight(wake, fence) => Ok(Told::Flight(self.mint(wake)?, self.told(wake, fence)?)),
            Query::Ack(ack) => {
                let valid = matches!(known, Some(Known::Signature { valid: true }));
                self.ack(&ack, valid).map(Told::Ack)
            }
        }
    }

    fn admit(&self, submitted: &Submitted, held: &Held, normal: &ContentHash) -> Answer<AdmitFacts> {
        let (registry, now, target) = (self.registry, self.now, self.target);
        let cause = match &held.acts_for {
            None => Ok(None),
            Some(own) => match (self.peers.open.get(own.as_str()), self.peers.live.get(own.as_str())) {
                (Some(open), _) => open.cause(now, submitted.fence),
                (None, Some(live)) => live.cause(now, submitted.fence),
                // What its sender works on cannot be read just now; that is not nothing (ADM-12).
                (None, None) if registry.target_known(own) => {
                    return Err(self.db.fault(Reason::StoreUnavailable, &format!("no machine for {own}")));
                }
                (None, None) => Ok(None),
            },
        };
        Ok(AdmitFacts {
            prior: self.prior(submitted)?,
            id_taken: self.id_taken(submitted)?,
            tier: self.routes.tier(&submitted.schema).unwrap_or(Tier::Three),
            acts_for_target: registry.acts_for(&held.principal, target),
            can_ack: registry.can_ack(target, now),
            roster: registry.roster_verdict(&held.principal, &submitted.schema, target, now),
            tier0_open: registry.tier0_open(),
            cause: cause.unwrap_or(None),
            lost_lease: cause.is_err() || (held.acts_for.is_none() && submitted.fence.is_some()),
            repeats: self.repeats(submitted, normal)?,
            overloaded: false,
        })
    }

    fn prior(&self, submitted: &Submitted) -> Answer<Option<Prior>> {
        let found: Option<(i64, String)> = self.read(
            "SELECT seq, entry FROM message WHERE principal = ?1 AND id = ?2",
            params![submitted.principal.as_str(), submitted.id.to_string()],
            |row| Ok((row.get(0)?, row.get(1)?)),
        )?;
        found
            .map(|(seq, entry)| {
                let entry: Entry = self.parsed(&entry)?;
                Ok(Prior { content: entry.content, seq: self.seq(seq)? })
            })
            .transpose()
    }

    /// Whether another sender has a message of this id, in whatever inbox.
    fn id_taken(&self, submitted: &Submitted) -> Answer<bool> {
        let found: Option<i64> = self.read(
            "SELECT 1 FROM message WHERE id = ?1 AND principal <> ?2 LIMIT 1",
            params![submitted.id.to_string(), submitted.principal.as_str()],
            |row| row.get(0),
        )?;
        Ok(found.is_some())
    }

    /// How many of the sender's latest messages to this target, without another between them, say the same.
    fn repeats(&self, submitted: &Submitted, normal: &ContentHash) -> Answer<u32> {
        let since = self.now.wall - REPEATS_WITHIN;
        let normal = normal.to_string();
        let texts: Vec<String> = self
            .db
            .conn()
            .prepare_cached(
                "SELECT normal FROM message WHERE principal = ?1 AND target = ?2 AND admitted > ?3
                 ORDER BY admitted DESC, seq DESC LIMIT ?4",
            )
            .and_then(|mut statement| {
                let rows = statement.query_map(
                    params![
                        submitted.principal.as_str(),
                        self.target.as_str(),
                        signed(since.0),
                        self.config.echo
                    ],
                    |row| row.get(0),
                )?;
                rows.collect()
            })
            .map_err(|error| self.unavailable(&error))?;
        let equal = texts.iter().take_while(|text| **text == normal).count();
        Ok(u32::try_from(equal).unwrap_or(u32::MAX))
    }

    /// Unfinished messages in the order of RTE-3; the kernel says which tier this claim begins with.
    fn candidates(&self, max: u32) -> Answer<Vec<Candidate>> {
        // No claim covers more than a page, so no caller can ask for more of the inbox than that.
        let max = max.min(self.config.page);
        let claims = self.claims();
        let mut found: Vec<Candidate> = Vec::new();
        let mut waiting = Vec::new();
        for tier in Tier::ALL {
            waiting.push((tier, self.candidates_of(tier, usize::try_from(max).unwrap_or(usize::MAX))?));
        }
        if awakener_kernel::page::starving_turn(claims, self.config) {
            found.extend(waiting.iter().rev().find_map(|(_, candidates)| candidates.first().cloned()));
        }
        for (_, candidates) in waiting {
            for candidate in candidates {
                if found.first().is_none_or(|first| first.seq != candidate.seq) {
                    found.push(candidate);
                }
            }
        }
        found.truncate(usize::try_from(max).unwrap_or(usize::MAX));
        Ok(found)
    }

    /// How often work of this target was taken so far, which is what turns of lower tiers are counted by.
    fn claims(&self) -> u64 {
        match (self.peers.open.get(self.target.as_str()), self.peers.live.get(self.target.as_str())) {
            (Some(open), _) => open.claims(),
            (None, Some(live)) => live.image().lease_fence.0,
            (None, None) => 0,
        }
    }

    fn candidates_of(&self, tier: Tier, limit: usize) -> Answer<Vec<Candidate>> {
        let rows: Vec<(i64, String)> = self
            .db
            .conn()
            .prepare_cached(
                // Named, because the planner would rather read the whole inbox in its order.
                "SELECT seq, entry FROM message INDEXED BY message_open
                 WHERE target = ?1 AND tier = ?2 AND finished = 0 AND set_aside = 0 ORDER BY seq LIMIT ?3",
            )
            .and_then(|mut statement| {
                let limit = i64::try_from(limit).unwrap_or(i64::MAX);
                let rows = statement
                    .query_map(params![self.target.as_str(), signed(tier.get()), limit], |row| {
                        Ok((row.get(0)?, row.get(1)?))
                    })?;
                rows.collect()
            })
            .map_err(|error| self.unavailable(&error))?;
        rows.into_iter()
            .map(|(seq, entry)| {
                let Entry { id, tier, principal, depth, .. } = self.parsed(&entry)?;
                Ok(Candidate { seq: self.seq(seq)?, message: id, tier, principal, depth })
            })
            .collect()
    }

    fn row(&self, message: MessageId) -> Answer<Option<(Seq, Entry)>> {
        let found: Option<(i64, String)> = self.read(
            "SELECT seq, entry FROM message WHERE id = ?1 AND target = ?2",
            params![message.to_string(), self.target.as_str()],
            |row| Ok((row.get(0)?, row.get(1)?)),
        )?;
        found.map(|(seq, entry)| Ok((self.seq(seq)?, self.parsed(&entry)?))).transpose()
    }

    fn authority(&self, message: MessageId) -> Answer<Authority> {
        Ok(match self.row(message)? {
            None => Authority { rostered: false, armed: false, open: false },
            Some((_, entry)) => {
                self.registry.authority(&entry.principal, &entry.schema, self.target, self.now)
            }
        })
    }

    fn mint(&self, wake: WakeId) -> Answer<Option<Mint>> {
        let found: Option<(i64, String, i64)> = self.read(
            "SELECT seq, message, token FROM mint WHERE wake = ?1 AND target = ?2",
            params![wake.to_string(), self.target.as_str()],
            |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)),
        )?;
        let Some((seq, message, token)) = found else { return Ok(None) };
        let message =
            MessageId::parse(&message).map_err(|error| self.db.fault(Reason::StoreCorrupt, &error))?;
        let token = u64::try_from(token)
            .ok()
            .and_then(Token::from_u64)
            .ok_or_else(|| self.db.fault(Reason::StoreCorrupt, &format!("token {token}")))?;
        let authority = self.authority(message)?;
        Ok(Some(Mint { seq: self.seq(seq)?, message, token, authority }))
    }

    /// The receipts under one attempt (RCP-2).
    fn told(&self, wake: WakeId, fence: Fence) -> Answer<Vec<ReceiptKind>> {
        let names: Vec<String> = self
            .db
            .conn()
            .prepare_cached("SELECT kind FROM receipt WHERE wake = ?1 AND attempt = ?2 ORDER BY number")
            .and_then(|mut statement| {
                statement
                    .query_map([wake.to_string(), format!("{wake}/{}", fence.0)], |row| row.get(0))?
                    .collect()
            })
            .map_err(|error| self.unavailable(&error))?;
        Ok(names.iter().filter_map(|name| ReceiptKind::from_name(name)).collect())
    }

    fn ack(&self, ack: &Ack, signature_valid: bool) -> Answer<AckFacts> {
        Ok(AckFacts {
            key: self.registry.ack_key(&ack.key, self.target, ack.by, self.now),
            signature_valid,
            // An ACK is brought to the mailbox of the target that it names; the message decides whether it is there.
            this_target: true,
            row: self.row(ack.message)?,
        })
    }

    fn read<T>(
        &self,
        sql: &str,
        values: impl rusqlite::Params,
        row: impl FnOnce(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Answer<Option<T>> {
        self.db
            .conn()
            .prepare_cached(sql)
            .and_then(|mut statement| statement.query_row(values, row).optional())
            .map_err(|error| self.unavailable(&error))
    }

    fn parsed(&self, entry: &str) -> Answer<Entry> {
        serde_json::from_str(entry).map_err(|error| self.db.fault(Reason::StoreCorrupt, &error))
    }

    fn seq(&self, seq: i64) -> Answer<Seq> {
        u64::try_from(seq)
            .ok()
            .and_then(Seq::new)
            .ok_or_else(|| self.db.fault(Reason::StoreCorrupt, &format!("sequence {seq}")))
    }

    fn unavailable(&self, error: &rusqlite::Error) -> StoreFault {
        self.db.fault(Reason::StoreUnavailable, error)
    }
}

fn signed(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

/// The state of a subject that stands outside the registry (OPR-1); `None` if there is no such subject.
pub(super) fn outside(
    db: &Db,
    mailboxes: &Host<Mailbox>,
    state: &Path,
    outside: &Outside,
) -> Answer<Option<SmolStr>> {
    let mailbox = |target: &Target| mailboxes.machine(target.as_str()).map(Mailbox::image);
    let outstanding = |target: &Target, message: &MessageId| {
        mailbox(target).is_some_and(|image| image.witnesses.values().any(|w| w.message == *message))
    };
    Ok(match outside {
        Outside::Clock => None,
        Outside::Latch(target) => {
            let path = super::files::latch_path(state, target.as_str());
            // Anything there is a latch, whether it can be read or not (FUS-6).
            match (std::fs::symlink_metadata(&path), std::fs::read(&path)) {
                (Err(error), _) if error.kind() == std::io::ErrorKind::NotFound => None,
                (Err(error), _) => return Err(db.fault(Reason::StoreUnavailable, &error)),
                (Ok(_), Ok(bytes)) => Some(ContentHash::of(&bytes).to_string().into()),
                (Ok(_), Err(_)) => Some(SmolStr::new_static("unreadable")),
            }
        }
        Outside::Witness(target, message) => {
            outstanding(target, message).then(|| SmolStr::new_static("outstanding"))
        }
        Outside::Quarantined(target, message) => {
            set_aside(db, target, message)?.then(|| SmolStr::new_static("quarantined"))
        }
        Outside::Break => super::queries::chain(db.conn()).err().map(SmolStr::from),
    })
}

/// Whether it is set aside and can be given back; mail is finished by its quarantine and stays so (INB-3).
fn set_aside(db: &Db, target: &Target, message: &MessageId) -> Answer<bool> {
    db.conn()
        .prepare_cached(
            "SELECT set_aside FROM message WHERE target = ?1 AND id = ?2 AND finished = 0 ORDER BY set_aside DESC",
        )
        .and_then(|mut statement| {
            statement.query_row(params![target.as_str(), message.to_string()], |row| row.get(0)).optional()
        })
        .map(|found| found.unwrap_or(false))
        .map_err(|error| db.fault(Reason::StoreUnavailable, &error))
}
