//! The rows of the plane's disk, and the facts that are read from them; every authority is in place.

use std::collections::{BTreeMap, BTreeSet};

use awakener_kernel::admission::{AdmitFacts, Prior, RosterVerdict};
use awakener_kernel::ids::{Fence, MessageId, Seq, Tier, Token, WakeId};
use awakener_kernel::mailbox::Mailbox;
use awakener_kernel::mailbox::entry::Entry;
use awakener_kernel::mailbox::input::{AckFacts, AckKey, Authority, Candidate, Facts, Mint, Query};
use awakener_kernel::mailbox::record::{Record, RowChange};
use awakener_kernel::receipt::{self, Key};
use awakener_spec::ReceiptKind;

use crate::names;
use crate::process;

/// Messages, minted hints, and what was told of attempts.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Rows {
    /// By place.
    pub messages: BTreeMap<Seq, Entry>,
    /// By wake.
    pub mints: BTreeMap<WakeId, (Seq, MessageId, Token)>,
    /// By attempt.
    pub told: BTreeSet<(WakeId, Fence, ReceiptKind)>,
}

const AUTHORITY: Authority = Authority { rostered: true, armed: true, open: true };

impl process::Rows<Mailbox> for Rows {
    fn keep(&mut self, record: &Record) {
        match record.row() {
            RowChange::None => {}
            RowChange::Insert(seq, entry) => {
                assert!(self.messages.insert(seq, entry.clone()).is_none(), "a place is used once");
            }
            RowChange::Update(seq) => {
                self.messages.get_mut(&seq).expect("a record names a row that exists").apply(record);
            }
        }
        for receipt in receipt::of(record) {
            if let Key::Attempt(wake, fence) = receipt.key {
                self.told.insert((wake, fence, receipt.kind));
            }
        }
        if let Record::Minted { seq, message, wake, token, .. } = record {
            assert!(self.mints.insert(*wake, (*seq, *message, *token)).is_none(), "a wake is minted once");
        }
    }
}

impl Rows {
    /// The row of a message.
    pub fn find(&self, id: MessageId) -> Option<(Seq, &Entry)> {
        self.messages.iter().find(|(_, entry)| entry.id == id).map(|(seq, entry)| (*seq, entry))
    }

    fn row(&self, id: MessageId) -> Option<(Seq, Entry)> {
        self.find(id).map(|(seq, entry)| (seq, entry.clone()))
    }

    fn mint(&self, wake: WakeId) -> Option<Mint> {
        let (seq, message, token) = *self.mints.get(&wake)?;
        Some(Mint { seq, message, token, authority: AUTHORITY })
    }

    /// All that a driver would answer.
    pub fn facts(&self, query: Query) -> Facts {
        match query {
            Query::None => Facts::None,
            Query::Admit { message, .. } => Facts::Admit(AdmitFacts {
                prior: self.find(message).map(|(seq, entry)| Prior { content: entry.content, seq }),
                id_taken: false,
                tier: if message == names::message(0) { Tier::Zero } else { Tier::Two },
                acts_for_target: false,
                can_ack: true,
                roster: RosterVerdict::Listed,
                tier0_open: true,
                cause: None,
                lost_lease: false,
                repeats: 0,
                overloaded: false,
            }),
            Query::Candidates { max } => Facts::Candidates(self.candidates(max)),
            Query::Row(message) => Facts::Row(self.row(message)),
            Query::Authority(_) => Facts::Authority(AUTHORITY),
            Query::Authorities(alerts) => {
                Facts::Authorities(alerts.into_iter().map(|alert| (alert, AUTHORITY)).collect())
            }
            Query::Mint(wake) => Facts::Mint(self.mint(wake)),
            Query::Flight(wake, fence) => {
                let told = self.told.iter().filter(|told| (told.0, told.1) == (wake, fence));
                Facts::Flight(self.mint(wake), told.map(|told| told.2).collect())
            }
            Query::Ack(ack) => Facts::Ack(AckFacts {
                key: if ack.key == names::key() { AckKey::Valid } else { AckKey::Wrong },
                signature_valid: true,
                this_target: true,
                row: self.row(ack.message),
            }),
        }
    }

    /// What could be claimed, in the order of RTE-3.
    fn candidates(&self, max: u32) -> Vec<Candidate> {
        let open = self.messages.iter().filter(|(_, entry)| entry.finished.is_none() && !entry.quarantined);
        let mut all: Vec<_> = open
            .map(|(seq, entry)| Candidate {
                seq: *seq,
                message: entry.id,
                tier: entry.tier,
                principal: entry.principal.clone(),
                depth: entry.depth,
            })
            .collect();
        all.sort_by_key(|candidate| (candidate.tier, candidate.seq));
        all.truncate(max as usize);
        all
    }

    /// Whether there is work beside this.
    pub fn work(&self, skip: &[MessageId]) -> bool {
        self.candidates(u32::MAX).iter().any(|candidate| !skip.contains(&candidate.message))
    }
}
