//! The rows of a mailbox's disk, and the facts that are read from them.
//!
//! What a record means for a row is the kernel's word ([`Entry::apply`]); here it is only kept.

use std::collections::{BTreeMap, BTreeSet};

use awakener_kernel::admission::{AdmitFacts, Prior, RosterVerdict};
use awakener_kernel::ids::{Fence, MessageId, Seq, Tier, Token, WakeId};
use awakener_kernel::mailbox::Mailbox;
use awakener_kernel::mailbox::entry::Entry;
use awakener_kernel::mailbox::image::Image;
use awakener_kernel::mailbox::input::{AckFacts, AckKey, Authority, Candidate, Facts, Mint, Query};
use awakener_kernel::mailbox::record::{Record, RowChange};
use awakener_kernel::receipt::{self, Key};
use awakener_spec::ReceiptKind;

use crate::names;
use crate::process;

/// What is on a mailbox's disk.
pub type Content = process::Content<Image, Rows>;

/// Messages and minted hints.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Rows {
    /// By place.
    pub messages: BTreeMap<Seq, Entry>,
    /// By wake: the alert and the token.
    pub mints: BTreeMap<WakeId, (Seq, MessageId, Token)>,
    /// What was told of each attempt.
    pub told: BTreeSet<(WakeId, Fence, ReceiptKind)>,
}

impl process::Rows<Mailbox> for Rows {
    fn keep(&mut self, record: &Record) {
        match record.row() {
            RowChange::None => {}
            RowChange::Insert(seq, entry) => {
                // Were a place used twice, the message that stood there would be lost.
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
    pub fn find(&self, id: MessageId) -> Option<(Seq, Entry)> {
        self.messages.iter().find(|(_, entry)| entry.id == id).map(|(seq, entry)| (*seq, entry.clone()))
    }

    /// All that a driver would answer, with every authority in place.
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
            Query::Row(message) => Facts::Row(self.find(message)),
            Query::Authority(_) => Facts::Authority(AUTHORITY),
            Query::Authorities(alerts) => {
                Facts::Authorities(alerts.into_iter().map(|alert| (alert, AUTHORITY)).collect())
            }
            Query::Mint(wake) => Facts::Mint(self.minted(wake)),
            Query::Flight(wake, fence) => Facts::Flight(
                self.minted(wake),
                self.told
                    .iter()
                    .filter(|told| (told.0, told.1) == (wake, fence))
                    .map(|told| told.2)
                    .collect(),
            ),
            Query::Ack(ack) => Facts::Ack(AckFacts {
                key: AckKey::Valid,
                signature_valid: ack.key == names::key(),
                this_target: true,
                row: self.find(ack.message),
            }),
        }
    }

    fn minted(&self, wake: WakeId) -> Option<Mint> {
        self.mints.get(&wake).map(|(seq, message, token)| Mint {
            seq: *seq,
            message: *message,
            token: *token,
            authority: AUTHORITY,
        })
    }

    fn candidates(&self, max: u32) -> Vec<Candidate> {
        let mut all: Vec<_> = self
            .messages
            .iter()
            .filter(|(_, entry)| entry.finished.is_none() && !entry.quarantined)
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
}

const AUTHORITY: Authority = Authority { rostered: true, armed: true, open: true };
