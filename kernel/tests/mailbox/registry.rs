//! What the plane knows beside the mailbox, and the facts that a driver makes of it inside a transaction.

use std::collections::{BTreeMap, BTreeSet};

use awakener_kernel::admission::{AdmitFacts, Prior, RosterVerdict, Submitted};
use awakener_kernel::ids::{KeyId, MessageId, Principal, Tier, WakeId};
use awakener_kernel::mailbox::Mailbox;
use awakener_kernel::mailbox::input::{AckFacts, AckKey, Authority, Candidate, Facts, Input, Mint, Query};
use awakener_kernel::open::{Open, Txn};
use awakener_kernel::values::By;

use crate::cast::{key, own};
use crate::store::Disk;
use crate::world::World;

/// What the plane knows beside the mailbox.
#[derive(Clone, Debug)]
pub struct Registry {
    pub roster: RosterVerdict,
    /// Senders that the roster lists no more.
    pub withdrawn: BTreeSet<Principal>,
    pub armed: bool,
    pub open: bool,
    pub can_ack: bool,
    pub keys: BTreeMap<KeyId, (By, AckKey)>,
    /// Whether the signature of the next ACK is not its key's.
    pub forged: bool,
    /// Whether the next ACK names another target.
    pub foreign: bool,
    pub repeats: u32,
    pub overloaded: bool,
}

impl Default for Registry {
    fn default() -> Self {
        let keys = [By::Station, By::Agent, By::Human].map(|by| (key(by), (by, AckKey::Valid)));
        Self {
            roster: RosterVerdict::Listed,
            withdrawn: BTreeSet::new(),
            armed: true,
            open: true,
            can_ack: true,
            keys: keys.into(),
            forged: false,
            foreign: false,
            repeats: 0,
            overloaded: false,
        }
    }
}

impl World {
    /// The right facts for an input, to be spoilt.
    pub fn facts(&mut self, input: &Input) -> Facts {
        let txn = Txn::begin(&mut self.store).unwrap();
        let facts = self.answer(&Open::new(self.machine().clone(), &txn), input);
        self.store.staged = None;
        facts
    }

    pub fn answer(&self, open: &Open<Mailbox>, input: &Input) -> Facts {
        let disk = self.store.view();
        match open.needs(input) {
            Query::None => Facts::None,
            Query::Admit { .. } => match input {
                Input::Admit(submitted) => Facts::Admit(self.of_submission(disk, open, submitted)),
                other => panic!("{other:?} is no submission"),
            },
            Query::Candidates { max } => Facts::Candidates(candidates(disk, max)),
            Query::Row(message) => Facts::Row(disk.row(message)),
            Query::Authority(message) => Facts::Authority(self.authority(disk, message)),
            Query::Authorities(messages) => {
                Facts::Authorities(messages.into_iter().map(|m| (m, self.authority(disk, m))).collect())
            }
            Query::Mint(wake) => Facts::Mint(self.minted(disk, wake)),
            Query::Flight(wake, fence) => Facts::Flight(
                self.minted(disk, wake),
                disk.told.get(&(wake, fence)).into_iter().flatten().copied().collect(),
            ),
            Query::Ack(ack) => Facts::Ack(AckFacts {
                key: match self.registry.keys.get(&ack.key) {
                    Some((by, state)) if *by == ack.by => *state,
                    Some(_) | None => AckKey::Wrong,
                },
                signature_valid: !self.registry.forged,
                this_target: !self.registry.foreign,
                row: disk.row(ack.message),
            }),
        }
    }

    fn minted(&self, disk: &Disk, wake: WakeId) -> Option<Mint> {
        disk.mints.get(&wake).map(|mint| Mint {
            seq: mint.seq,
            message: mint.message,
            token: mint.token,
            authority: self.authority(disk, mint.message),
        })
    }

    fn of_submission(&self, disk: &Disk, open: &Open<Mailbox>, submitted: &Submitted) -> AdmitFacts {
        let prior = disk
            .rows
            .iter()
            .find(|(_, row)| (&row.principal, row.id) == (&submitted.principal, submitted.id))
            .map(|(seq, row)| Prior { content: row.content, seq: *seq });
        let acts_for_target = submitted.principal == own();
        let cause = if acts_for_target { open.cause(self.now, submitted.fence) } else { Ok(None) };
        AdmitFacts {
            prior,
            id_taken: disk
                .rows
                .values()
                .any(|row| row.id == submitted.id && row.principal != submitted.principal),
            tier: tier(submitted.schema.name()),
            acts_for_target,
            can_ack: self.registry.can_ack,
            roster: self.roster(&submitted.principal),
            tier0_open: self.registry.open,
            lost_lease: cause.is_err(),
            cause: cause.unwrap_or_default(),
            repeats: self.registry.repeats,
            overloaded: self.registry.overloaded,
        }
    }

    fn roster(&self, principal: &Principal) -> RosterVerdict {
        if self.registry.withdrawn.contains(principal) {
            return RosterVerdict::NotListed;
        }
        self.registry.roster
    }

    fn authority(&self, disk: &Disk, message: MessageId) -> Authority {
        let (_, row) = disk.row(message).expect("an alert that is stored");
        Authority {
            rostered: self.roster(&row.principal) == RosterVerdict::Listed,
            armed: self.registry.armed,
            open: self.registry.open,
        }
    }
}

pub fn tier(schema: &str) -> Tier {
    match schema {
        "interrupt-alert" => Tier::Zero,
        "directive" => Tier::One,
        "message" => Tier::Two,
        _ => Tier::Three,
    }
}

/// In the order of RTE-3.
fn candidates(disk: &Disk, max: u32) -> Vec<Candidate> {
    let mut all: Vec<Candidate> = disk
        .rows
        .iter()
        .filter(|(_, row)| row.finished.is_none() && !row.quarantined)
        .map(|(seq, row)| Candidate {
            seq: *seq,
            message: row.id,
            tier: row.tier,
            principal: row.principal.clone(),
            depth: row.depth,
        })
        .collect();
    all.sort_by_key(|candidate| (candidate.tier, candidate.seq));
    all.truncate(usize::try_from(max).unwrap());
    all
}
