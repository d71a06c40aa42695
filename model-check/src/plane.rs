//! What the driver of a plane does in every world that has one: it looks facts up for its mailbox, hands hints to the
//! broker, and gives a station its work.
//!
//! Where a forgery or a stranger differs in one fact, the world changes that fact. Not here: the rows that all of it is
//! read from ([`crate::mailbox::rows`]).

use awakener_kernel::admission::{AdmitFacts, RosterVerdict};
use awakener_kernel::fuse;
use awakener_kernel::ids::{Fence, MessageId, Tier};
use awakener_kernel::mailbox::image::Lease;
use awakener_kernel::mailbox::input::{AckFacts, AckKey, Authority, Facts, Fresh, Minted, Query};
use awakener_kernel::station::{Prior, Work};
use awakener_kernel::values::{Finish, Hint};

use crate::mailbox::rows::Rows;
use crate::names;

/// Nothing is missing: the roster lists the sender, the target is armed, Tier-0 is open.
pub const WHOLE: Authority = Authority { rostered: true, armed: true, open: true };

/// The answer to a query. `authority` holds for every alert; `tier` is what the schema of a submission means.
pub fn facts(rows: &Rows, query: Query, authority: Authority, tier: impl FnOnce(MessageId) -> Tier) -> Facts {
    match query {
        Query::None => Facts::None,
        Query::Admit { message, .. } => Facts::Admit(AdmitFacts {
            prior: rows.prior(message),
            id_taken: false,
            tier: tier(message),
            acts_for_target: false,
            can_ack: true,
            roster: if authority.rostered { RosterVerdict::Listed } else { RosterVerdict::NotListed },
            tier0_open: authority.open,
            cause: None,
            lost_lease: false,
            repeats: 0,
            overloaded: false,
        }),
        Query::Candidates { max } => Facts::Candidates(rows.candidates(max)),
        Query::Row(message) => Facts::Row(rows.find(message)),
        Query::Authority(_) => Facts::Authority(authority),
        Query::Authorities(alerts) => {
            Facts::Authorities(alerts.into_iter().map(|alert| (alert, authority)).collect())
        }
        Query::Mint(wake) => Facts::Mint(rows.minted(wake, authority)),
        Query::Flight(wake, fence) => Facts::Flight(rows.minted(wake, authority), rows.told(wake, fence)),
        Query::Ack(ack) => Facts::Ack(AckFacts {
            key: if ack.key == names::key() { AckKey::Valid } else { AckKey::Wrong },
            signature_valid: true,
            this_target: true,
            row: rows.find(ack.message),
        }),
    }
}

/// A hint as it comes out of the verifier.
pub fn hint(minted: &Minted) -> Hint {
    let Minted { message, fresh: Fresh { wake, nonce }, token, time, expires } = *minted;
    Hint { wake, message, nonce, token, time, expires, key: names::key() }
}

/// What comes first in a lease and is not skipped.
pub fn first(lease: &Lease, skip: &[MessageId]) -> Option<MessageId> {
    let open = lease.claimed.iter().filter(|(_, claimed)| !skip.contains(&claimed.message));
    open.min_by_key(|(seq, claimed)| (claimed.tier, **seq)).map(|(_, claimed)| claimed.message)
}

/// What was read under a lease, as a station works on it.
pub fn work(rows: &Rows, fence: Fence, message: MessageId) -> Option<Work> {
    let (seq, row) = rows.row(message)?;
    let prior = match (row.turn, row.response) {
        (Some((turn, Finish::Complete)), Some((by, response))) if turn == by => {
            Some(Prior { turn, response })
        }
        (_, _) => None,
    };
    let cause = fuse::Work {
        message,
        normal: row.content,
        depth: row.depth,
        descends_from_own: false,
        ancestry: Vec::new(),
    };
    Some(Work { seq, tier: row.tier, content: row.content, fence, released: row.released, prior, cause })
}
