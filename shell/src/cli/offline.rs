//! The store when no plane runs: a command takes its lock, reads, and lets go (INB-10).
//!
//! Nothing is written and no machine is recovered, so a look leaves no entry in the chain. Not here: commands that
//! change something; they need a running plane. Rules: INB-10, AUD-8.

use std::collections::BTreeMap;

use awakener_kernel::config::Checked;
use awakener_kernel::ids::Target;
use awakener_kernel::mailbox::Mailbox;
use awakener_kernel::registry::Registry;
use awakener_kernel::registry::image::Image;
use awakener_spec::{Reason, rule};

use super::context::Context;
use crate::agents::{Files, Heard, Ledger, all};
use crate::clock;
use crate::exit::Failure;
use crate::http::wire::V1;
use crate::http::wire::agents::Agents;
use crate::http::wire::answers::{AuditRow, ChainHead};
use crate::http::wire::status::{Status, target_status};
use crate::plane::{Refused, queries};
use crate::store::Db;

/// A plane's store, held for the duration of one command.
#[derive(Debug)]
pub struct Store {
    db: Db,
    mode: String,
    limits: Checked,
}

/// The plane's own answer; if none runs and its store is free, the store's.
///
/// # Errors
/// The plane's failure where there is no store either; `store_held` with its holder when a process has the store but
/// does not answer at this address.
pub fn or_store<T>(
    context: &Context,
    asked: Result<T, Failure>,
    read: impl FnOnce(&Store) -> Result<T, Failure>,
) -> Result<T, Failure> {
    match asked {
        Err(failure) if failure.reason == Some(Reason::Unreachable) => match open(context)? {
            Some(store) => read(&store),
            None => Err(failure),
        },
        other => other,
    }
}

fn open(context: &Context) -> Result<Option<Store>, Failure> {
    let path = context.state.join("plane.db");
    // Who names an address wants that plane and no file, and a look makes no store.
    if context.names_a_plane() || !path.exists() {
        return Ok(None);
    }
    let config = context.config()?;
    let db = Db::open(&path, config.hash()).map_err(|fault| Failure::from(Refused::from(fault)))?;
    rule!(Inb10);
    Ok(Some(Store { db, mode: config.mode.as_str().to_owned(), limits: config.limits.clone() }))
}

impl Store {
    fn registry(&self) -> Result<Image, Failure> {
        self.db.image::<Registry>("").map_err(|fault| Refused::from(fault).into())
    }

    /// What can be said of a plane that does not run: whether Tier-0 is open is decided when it starts.
    ///
    /// # Errors
    /// The store's own.
    pub fn status(&self) -> Result<Status, Failure> {
        let image = self.registry()?;
        let now = clock::system();
        let mut targets = Vec::new();
        for target in &image.targets {
            targets.push(target_status(target, &self.mailbox(target)?, &image, now));
        }
        let head = self.db.head();
        Ok(Status {
            v: V1,
            mode: self.mode.clone(),
            plane: image.plane.as_ref().map(ToString::to_string),
            now,
            tier0_open: None,
            stopped: Some(image.stopped),
            roster_until: image.roster.as_ref().map(|installed| installed.roster.not_after.utc()),
            head: Some(ChainHead { size: head.size, hash: head.hash }),
            targets: Some(targets),
            refused_unauthenticated: 0,
            broker: None,
            could_not_read: Vec::new(),
        })
    }

    /// The rows of all agents, or of one, as far as a plane's store, the state directory and the others of this machine
    /// give them.
    ///
    /// # Errors
    /// The store's own, `unknown_target`.
    pub fn agents(&self, files: &Files, heard: &mut Heard, only: Option<&Target>) -> Result<Agents, Failure> {
        let image = self.registry()?;
        if let Some(unknown) = only.filter(|only| !image.targets.contains(*only)) {
            return Err(Failure::refused(Reason::UnknownTarget).saying(format!("({unknown})")));
        }
        let now = clock::system();
        let targets: Vec<&Target> =
            image.targets.iter().filter(|target| only.is_none_or(|only| only == *target)).collect();
        let mut mailboxes = BTreeMap::new();
        for target in &targets {
            mailboxes.insert(target.as_str().to_owned(), self.mailbox(target)?);
        }
        let ledger = Ledger::new(now, &image, &self.limits);
        let agents = all(&ledger, targets.into_iter(), &mailboxes, files, heard);
        let could_not_read = agents.iter().flat_map(|agent| agent.could_not_read.clone()).collect();
        Ok(Agents {
            v: V1,
            mode: self.mode.clone(),
            plane: image.plane.as_ref().map(ToString::to_string),
            running: false,
            now,
            tier0_open: None,
            stopped: Some(image.stopped),
            roster_until: image.roster.as_ref().map(|installed| installed.roster.not_after.utc()),
            agents: Some(agents),
            could_not_read,
        })
    }

    fn mailbox(&self, target: &Target) -> Result<awakener_kernel::mailbox::image::Image, Failure> {
        self.db.image::<Mailbox>(target.as_str()).map_err(|fault| Refused::from(fault).into())
    }

    /// Entries of the chain from a position on, as an export has them.
    ///
    /// # Errors
    /// The store's own.
    pub fn audit(&self, from: u64) -> Result<Vec<AuditRow>, Failure> {
        Ok(queries::part(self.db.conn(), from, u32::MAX)?.entries)
    }
}
