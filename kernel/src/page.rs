//! Reading an inbox in pages (INB-5, INB-6, RTE-3): what comes next for one reader, and how far it got.
//!
//! A page is ordered before it is cut: Tier-0 first, then by tier, then by sequence. One read in
//! [`Config::starvation`] keeps a place for a lower tier that would get nothing. What a reader got is a prefix of each
//! tier, so a position is one sequence per tier; whether a message is acknowledged or finished plays no part, so an
//! outstanding alert is handed over once and holds up nothing. Not here: rows, leases, the long poll.

use alloc::string::String;
use alloc::vec::Vec;

use awakener_spec::Reason;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD as BASE64URL;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::config::Config;
use crate::ids::{ContentHash, Seq, Tier};

/// The longest text that can be a position, in bytes.
const LONGEST: usize = 512;

/// The id of one inbox: made once when the inbox is made, so that a position of another store is foreign.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct InboxId(pub ContentHash);

/// One value per tier.
pub type PerTier<T> = [T; 4];

/// What was handed over to one reader.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Position {
    inbox: InboxId,
    after: PerTier<Option<Seq>>,
    reads: u32,
}

/// What waits in one tier beyond the position.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Waiting {
    /// The first of them in order, all beyond the position; as many as a page holds are enough.
    pub seqs: Vec<Seq>,
    /// How many there are in all.
    pub total: u64,
}

/// What one read hands over.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Page {
    /// The messages, in order.
    pub items: Vec<(Tier, Seq)>,
    /// What to present with the next read; that confirms this page.
    pub next: Position,
    /// Whether more waits.
    pub more: bool,
    /// How much waited before this page, the page included.
    pub total: u64,
}

impl Position {
    /// Before the first message of an inbox.
    pub const fn start(inbox: InboxId) -> Self {
        Self { inbox, after: [None; 4], reads: 0 }
    }

    /// After the last message of each tier. Only for a reader that has no position and asks to begin there: a position
    /// that exists never jumps (INB-5).
    pub const fn tail(inbox: InboxId, last: PerTier<Option<Seq>>) -> Self {
        Self { inbox, after: last, reads: 0 }
    }

    /// The last sequence of each tier that was handed over.
    pub const fn after(&self) -> &PerTier<Option<Seq>> {
        &self.after
    }

    /// The opaque text for the reader.
    pub fn encode(&self) -> String {
        let json = serde_json::to_vec(self).unwrap_or_default();
        let mut bytes = checksum(&json).to_vec();
        bytes.extend_from_slice(&json);
        BASE64URL.encode(bytes)
    }

    /// Reads what a reader presents to `inbox`, whose last sequence is `last`.
    ///
    /// # Errors
    /// [`Reason::PositionUnknown`] if the text is garbled, of another inbox, or beyond what can have been handed over.
    pub fn decode(text: &str, inbox: InboxId, last: Option<Seq>) -> Result<Self, Reason> {
        awakener_spec::rule!(Inb6);
        let position = read(text).ok_or(Reason::PositionUnknown)?;
        let beyond = position.after.iter().flatten().any(|after| Some(*after) > last);
        if position.inbox != inbox || beyond {
            return Err(Reason::PositionUnknown);
        }
        Ok(position)
    }

    /// The same position after a read that handed `items` over.
    fn moved(mut self, items: &[(Tier, Seq)]) -> Self {
        awakener_spec::rule!(Inb5);
        for (tier, seq) in items {
            if let Some(after) = self.after.get_mut(index(*tier)) {
                *after = Some(*seq);
            }
        }
        // An empty read is no turn that a tier could have missed.
        self.reads = self.reads.wrapping_add(u32::from(!items.is_empty()));
        self
    }
}

/// Not a secret and not a signature: it tells a garbled text, and a position grants nothing.
fn checksum(json: &[u8]) -> [u8; 8] {
    let digest: [u8; 32] = Sha256::digest(json).into();
    digest.first_chunk().copied().unwrap_or_default()
}

fn read(text: &str) -> Option<Position> {
    if text.len() > LONGEST {
        return None;
    }
    let bytes = BASE64URL.decode(text).ok()?;
    let (sum, json) = bytes.split_first_chunk()?;
    if *sum != checksum(json) {
        return None;
    }
    serde_json::from_slice(json).ok()
}

const fn index(tier: Tier) -> usize {
    match tier {
        Tier::Zero => 0,
        Tier::One => 1,
        Tier::Two => 2,
        Tier::Three => 3,
    }
}

/// The page that follows a position. `waiting` holds, per tier, the messages beyond the position; `size` is the wish
/// of the reader, bounded by [`Config::page`] and at least 1.
pub fn order(waiting: &PerTier<Waiting>, position: Position, size: u32, config: &Config) -> Page {
    let size = usize::try_from(size.clamp(1, config.page.max(1))).unwrap_or(usize::MAX);
    awakener_spec::rule!(Inb6);
    awakener_spec::rule!(Rte3);
    let by_tier = Tier::ALL.into_iter().zip(waiting).map(|(tier, waiting)| (tier, waiting.seqs.as_slice()));
    let mut items = cut(by_tier.clone(), size);
    if let Some(tier) = whose_turn(waiting, &items, position.reads, config) {
        items = cut(by_tier.clone(), size.saturating_sub(1));
        items.extend(cut(by_tier.filter(|(other, _)| *other == tier), 1));
        // Only a tier that got nothing has a turn, so the order by tier is kept by sorting.
        items.sort_unstable();
    }
    let total = waiting.iter().fold(0_u64, |sum, waiting| sum.saturating_add(waiting.total));
    let handed = u64::try_from(items.len()).unwrap_or(u64::MAX);
    Page { next: position.moved(&items), more: total > handed, total, items }
}

fn cut<'a>(by_tier: impl Iterator<Item = (Tier, &'a [Seq])>, size: usize) -> Vec<(Tier, Seq)> {
    by_tier.flat_map(|(tier, seqs)| seqs.iter().map(move |seq| (tier, *seq))).take(size).collect()
}

/// The tier that this read serves beside the order, if it is a read that does: the first tier that waits and would
/// get nothing, counted from a tier that changes with every turn. So each of them is served within three turns.
fn whose_turn(
    waiting: &PerTier<Waiting>,
    plain: &[(Tier, Seq)],
    reads: u32,
    config: &Config,
) -> Option<Tier> {
    let every = config.starvation.max(1);
    if !starving_turn(u64::from(reads), config) {
        return None;
    }
    let starves = |tier: &Tier| {
        let waits = waiting.get(index(*tier)).is_some_and(|waiting| !waiting.seqs.is_empty());
        waits && plain.iter().all(|(got, _)| got != tier)
    };
    let lower = [Tier::One, Tier::Two, Tier::Three];
    let first = usize::try_from(reads / every % 3).unwrap_or(0);
    lower.into_iter().cycle().skip(first).take(lower.len()).find(starves)
}

/// Whether this read or claim, of which `before` came before it, is one of those that serve a lower tier first.
pub const fn starving_turn(before: u64, config: &Config) -> bool {
    let every = if config.starvation == 0 { 1 } else { config.starvation as u64 };
    before % every == every - 1
}
