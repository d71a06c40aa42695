//! What the plane's driver looks up for its mailbox, with every authority in place.

use awakener_kernel::admission::{AdmitFacts, RosterVerdict};
use awakener_kernel::ids::Tier;
use awakener_kernel::mailbox::input::{AckFacts, AckKey, Authority, Facts, Query};

use crate::mailbox::rows::Rows;
use crate::names;

const AUTHORITY: Authority = Authority { rostered: true, armed: true, open: true };

/// The answer to a query.
pub(super) fn facts(rows: &Rows, query: Query) -> Facts {
    match query {
        Query::None => Facts::None,
        Query::Admit { message, .. } => Facts::Admit(AdmitFacts {
            prior: rows.prior(message),
            id_taken: false,
            tier: Tier::Zero,
            acts_for_target: false,
            can_ack: true,
            roster: RosterVerdict::Listed,
            tier0_open: true,
            cause: None,
            lost_lease: false,
            repeats: 0,
            overloaded: false,
        }),
        Query::Candidates { max } => Facts::Candidates(rows.candidates(max)),
        Query::Row(message) => Facts::Row(rows.find(message)),
        Query::Authority(_) => Facts::Authority(AUTHORITY),
        Query::Authorities(alerts) => {
            Facts::Authorities(alerts.into_iter().map(|alert| (alert, AUTHORITY)).collect())
        }
        Query::Mint(wake) => Facts::Mint(rows.minted(wake, AUTHORITY)),
        Query::Flight(wake, fence) => Facts::Flight(rows.minted(wake, AUTHORITY), rows.told(wake, fence)),
        Query::Ack(ack) => Facts::Ack(AckFacts {
            key: if ack.key == names::key() { AckKey::Valid } else { AckKey::Wrong },
            signature_valid: true,
            this_target: true,
            row: rows.find(ack.message),
        }),
    }
}
