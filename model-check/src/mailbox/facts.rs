//! What a plane's driver looks up for its mailbox, out of its rows and an authority. Every world with a plane uses it;
//! where a forgery or a stranger differs in one fact, the world changes that fact.

use awakener_kernel::admission::{AdmitFacts, RosterVerdict};
use awakener_kernel::ids::{MessageId, Tier};
use awakener_kernel::mailbox::input::{AckFacts, AckKey, Authority, Facts, Query};

use super::rows::Rows;
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
