//! What a command may name: who and what is known here. Asked by [`crate::operator::authorise`] and by the roster.

use alloc::collections::BTreeSet;

use super::image::Image;
use crate::ids::{KeyId, Principal, Target, Tier};
use crate::operator::Roster;
use crate::router;

impl Image {
    /// Whether a roster names nothing unknown (ADM-4). Only the compiled Tier-0 schema can be on one.
    pub(crate) fn knows_all_of(&self, roster: &Roster) -> bool {
        // Asked at each admission, so not once through all credentials for each entry.
        let known: BTreeSet<&Principal> = self.credentials.values().map(|held| &held.principal).collect();
        roster.entries.iter().all(|entry| {
            router::compiled(&entry.schema) == Some(Tier::Zero)
                && known.contains(&entry.principal)
                && self.targets.contains(&entry.target)
        })
    }

    /// Whether a principal was ever registered here.
    pub(crate) fn knows(&self, principal: &Principal) -> bool {
        self.credentials.values().any(|held| held.principal == *principal)
    }

    /// Whether a key has a role already (IDN-7: keys live per role). The ACK key of one target may become that of
    /// another, so for a new ACK key only the same target counts.
    pub(crate) fn serves(&self, key: &KeyId, ack_for: Option<&Target>) -> bool {
        let acks = |target: &Target| self.ack_keys.get(target).is_some_and(|keys| keys.contains_key(key));
        let as_ack_key = match ack_for {
            Some(target) => acks(target),
            None => self.ack_keys.keys().any(acks),
        };
        as_ack_key
            || self.operators.contains_key(key)
            || self.router_keys.contains_key(key)
            || self.audit_keys.contains_key(key)
    }
}
