//! The rows of a mailbox's disk, and what is read from them; every world with a plane keeps these.
//!
//! What a record means for a row is the kernel's word ([`Entry::apply`]); here it is only kept. Not here: the facts that
//! a driver makes of it ([`crate::plane`]).

use std::collections::{BTreeMap, BTreeSet};

use awakener_kernel::admission::Prior;
use awakener_kernel::ids::{Fence, MessageId, Seq, Token, WakeId};
use awakener_kernel::mailbox::Mailbox;
use awakener_kernel::mailbox::entry::Entry;
use awakener_kernel::mailbox::image::Image;
use awakener_kernel::mailbox::input::{Authority, Candidate, Mint};
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
    /// What was told of each hint at the broker client.
    pub published: BTreeSet<(WakeId, bool)>,
}

impl process::Rows<Mailbox> for Rows {
    fn keep(&mut self, record: &Record) {
        match record.row() {
            RowChange::None => {}
            RowChange::Insert(seq, entry) => {
                // Were a place used twice, the message that stood there would be lost, and a law would see it (INB-1).
                self.messages.insert(seq, entry.clone());
            }
            RowChange::Update(seq) => {
                self.messages.get_mut(&seq).expect("a record names a row that exists").apply(record);
            }
        }
        match record {
            Record::FlightReported { .. } => {
                for receipt in receipt::of(record) {
                    if let Key::Attempt(wake, fence) = receipt.key {
                        self.told.insert((wake, fence, receipt.kind));
                    }
                }
            }
            Record::Minted { seq, message, wake, token, .. } => {
                let before = self.mints.insert(*wake, (*seq, *message, *token));
                assert!(before.is_none(), "a wake is minted once");
            }
            Record::Published { wake, handed_over } => {
                self.published.insert((*wake, *handed_over));
            }
            _ => {}
        }
    }
}

impl Rows {
    /// The row of a message.
    pub fn row(&self, id: MessageId) -> Option<(Seq, &Entry)> {
        self.messages.iter().find(|(_, entry)| entry.id == id).map(|(seq, entry)| (*seq, entry))
    }

    /// The row of a message, as a driver hands it over.
    pub fn find(&self, id: MessageId) -> Option<(Seq, Entry)> {
        self.row(id).map(|(seq, entry)| (seq, entry.clone()))
    }

    /// What a repeat is compared with.
    pub fn prior(&self, id: MessageId) -> Option<Prior> {
        self.row(id).map(|(seq, entry)| Prior { content: entry.content, seq })
    }

    /// A hint that was minted.
    pub fn minted(&self, wake: WakeId, authority: Authority) -> Option<Mint> {
        let (seq, message, token) = *self.mints.get(&wake)?;
        Some(Mint { seq, message, token, authority })
    }

    /// What was told of an attempt.
    pub fn told(&self, wake: WakeId, fence: Fence) -> Vec<ReceiptKind> {
        let of_it = self.told.iter().filter(|told| (told.0, told.1) == (wake, fence));
        of_it.map(|told| told.2).collect()
    }

    /// The highest number of a minted wake; 0 without one.
    pub fn last_wake(&self) -> u8 {
        self.mints.keys().next_back().map_or(0, |wake| names::wake_number(*wake))
    }

    /// Unfinished messages that are not set aside, the most urgent first.
    pub fn candidates(&self, max: u32) -> Vec<Candidate> {
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

    /// Whether there is work beside this.
    pub fn has_work(&self, skip: &[MessageId]) -> bool {
        let mut open = self.messages.values().filter(|row| row.finished.is_none() && !row.quarantined);
        open.any(|row| !skip.contains(&row.id))
    }
}
