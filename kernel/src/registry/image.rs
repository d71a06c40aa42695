//! The durable truth about what operators decided. An empty image denies everything (OPR-3).
//!
//! Records carry the act itself, so that what an act means stands once, in `enact`. Not here: whether it may
//! be done ([`crate::operator::authorise`]). Revoked keys and credentials stay as entries, so that none comes back.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::string::String;

use serde::{Deserialize, Serialize};

use crate::ids::{CommandId, ContentHash, KeyId, OperatorName, PlaneName, Principal, PublicKey, Target};
use crate::machine;
use crate::operator::{Act, Denial, Roster, Scope};
use crate::time::Wall;
use crate::values::By;

/// An operator key.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Operator {
    /// Who holds it.
    pub operator: OperatorName,
    /// The key.
    pub key: PublicKey,
    /// What it may do.
    pub scopes: BTreeSet<Scope>,
    /// When it was revoked.
    pub revoked: Option<Wall>,
}

/// A router or audit key.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Key {
    /// The key.
    pub key: PublicKey,
    /// From when it holds.
    pub not_before: Wall,
    /// From when it no longer holds.
    pub not_after: Wall,
    /// When it was revoked.
    pub revoked: Option<Wall>,
}

/// An ACK key of one target.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct AckKeyEntry {
    /// As what it acknowledges; one role per key and target.
    pub by: By,
    /// The key and its life.
    pub key: Key,
}

/// What a credential allows (IDN-6, ADM-13).
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Held {
    /// Who presents it.
    pub principal: Principal,
    /// The inboxes that it may read.
    pub may_read: BTreeSet<Target>,
    /// The one target that it acts for.
    pub acts_for: Option<Target>,
    /// When it was revoked.
    pub revoked: Option<Wall>,
}

/// The roster, together with the command that installed it (ADM-5).
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Installed {
    /// Which operator key signed it.
    pub key: KeyId,
    /// What it says.
    pub roster: Roster,
    /// The signed command, to be verified at each load.
    pub raw: String,
}

/// A wall clock that stepped back (EMT-6).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct SteppedBack {
    /// The time that the store holds on to.
    pub held: Wall,
    /// The time that the clock showed.
    pub observed: Wall,
}

/// What was started last (OPR-2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Running {
    /// SHA-256 of the binary.
    pub binary: ContentHash,
    /// SHA-256 of the configuration.
    pub config: ContentHash,
}

/// Everything that operators decided.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Image {
    /// The name of this plane; none before the first operator key was enrolled.
    pub plane: Option<PlaneName>,
    /// Operator keys.
    pub operators: BTreeMap<KeyId, Operator>,
    /// Registered targets.
    pub targets: BTreeSet<Target>,
    /// Credentials by their hash.
    pub credentials: BTreeMap<ContentHash, Held>,
    /// ACK keys per target.
    pub ack_keys: BTreeMap<Target, BTreeMap<KeyId, AckKeyEntry>>,
    /// Router keys.
    pub router_keys: BTreeMap<KeyId, Key>,
    /// Raised whenever the router keys change; never back (HAF-3).
    pub ring: u64,
    /// Audit keys.
    pub audit_keys: BTreeMap<KeyId, Key>,
    /// The roster.
    pub roster: Option<Installed>,
    /// Grants, by their end (STN-2).
    pub grants: BTreeMap<Target, Wall>,
    /// Pauses of single targets, by their end (DSP-10).
    pub pauses: BTreeMap<Target, Wall>,
    /// The end of a pause of all.
    pub fleet_pause: Option<Wall>,
    /// Whether everything is stopped, without an end.
    pub stopped: bool,
    /// Accepted commands and their ends.
    pub commands: BTreeMap<CommandId, Wall>,
    /// The latest end of a command whose id was forgotten.
    pub forgotten: Option<Wall>,
    /// Set while the clock lags behind the store.
    pub clock: Option<SteppedBack>,
    /// What was started last.
    pub running: Option<Running>,
}

/// One durable fact.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Record {
    /// The plane got its name, its first operator key and its audit key (IDN-7).
    Enrolled {
        /// The plane.
        plane: PlaneName,
        /// The holder of all scopes.
        operator: OperatorName,
        /// The holder's key.
        key: PublicKey,
        /// The key that signs checkpoints.
        audit: PublicKey,
        /// The key that signs hints.
        router: Option<PublicKey>,
        /// When.
        at: Wall,
    },
    /// Another binary or configuration was started than before (OPR-2).
    Started(Running),
    /// A command took effect.
    Enacted {
        /// Its id.
        id: CommandId,
        /// Its end.
        not_after: Wall,
        /// Who signed it.
        key: KeyId,
        /// When.
        at: Wall,
        /// Ids of commands that ended before this may be forgotten.
        forget: Wall,
        /// What it did.
        act: Act,
        /// The signed command.
        raw: String,
    },
    /// An act from the deny file was taken in (OPR-2).
    Denied(Denial),
    /// The clock went back by more than the skew (EMT-6).
    ClockSteppedBack(SteppedBack),
    /// The clock is again where the store is.
    ClockCaughtUp,
}

impl machine::Image for Image {
    type Record = Record;

    fn apply(&mut self, record: &Record) {
        match record {
            Record::Enrolled { plane, operator, key, audit, router, at } => {
                self.plane = Some(plane.clone());
                let scopes = BTreeSet::from(Scope::ALL);
                let first = Operator { operator: operator.clone(), key: *key, scopes, revoked: None };
                self.operators.insert(key.key_id(), first);
                let audit_key = Key { key: *audit, not_before: *at, not_after: Wall::LAST, revoked: None };
                self.audit_keys.insert(audit.key_id(), audit_key);
                if let Some(router) = router {
                    let key = Key { key: *router, not_before: *at, not_after: Wall::LAST, revoked: None };
                    self.router_keys.insert(router.key_id(), key);
                    self.ring = self.ring.saturating_add(1);
                }
            }
            Record::Started(running) => self.running = Some(*running),
            Record::Enacted { id, not_after, key, at, forget, act, raw } => {
                self.forget(*forget);
                self.commands.insert(*id, *not_after);
                if let Act::InstallRoster(roster) = act {
                    self.roster = Some(Installed { key: *key, roster: roster.clone(), raw: raw.clone() });
                }
                self.enact(act, *at);
            }
            Record::Denied(denial) => {
                if let Some((id, not_after)) = denial.command()
                    && self.forgotten.is_none_or(|forgotten| not_after > forgotten)
                {
                    self.commands.insert(id, not_after);
                }
                self.enact(denial.act(), denial.at());
            }
            Record::ClockSteppedBack(clock) => self.clock = Some(*clock),
            Record::ClockCaughtUp => self.clock = None,
        }
    }
}

impl Image {
    fn forget(&mut self, before: Wall) {
        let gone = self.commands.values().filter(|end| **end < before).max().copied();
        self.forgotten = self.forgotten.max(gone);
        self.commands.retain(|_, end| *end >= before);
    }
}
