//! What each act makes true in the image. Total: whether it may be done was decided before. Rules: IDN-6, IDN-7, STN-2,
//! DSP-10, OPR-2, OPR-3.

use alloc::collections::BTreeMap;

use super::image::{AckKeyEntry, Held, Image, Key, Operator};
use crate::ids::{KeyId, Target};
use crate::operator::{Act, AuthorityKey};
use crate::time::Wall;

impl Image {
    /// What an act makes true. Acts on machines outside ([`crate::operator::Outside`]) change nothing here.
    pub(super) fn enact(&mut self, act: &Act, at: Wall) {
        match act {
            // Needs the signed command: see `apply`.
            Act::InstallRoster(_) => {}
            Act::RemoveRoster(_) => self.roster = None,
            Act::Arm(of) => {
                self.grants.insert(of.target.clone(), of.until);
            }
            Act::Disarm(of) => {
                self.grants.remove(&of.target);
            }
            Act::Abort(_) => {
                self.roster = None;
                self.grants.clear();
            }
            Act::Pause(of) => self.pause(of.target.as_ref(), of.until),
            Act::Resume(of) => match &of.target {
                Some(target) => {
                    self.pauses.remove(target);
                }
                None => {
                    self.fleet_pause = None;
                    self.stopped = false;
                }
            },
            Act::StopAll(_) => self.stopped = true,
            Act::RegisterTarget(of) => {
                self.targets.insert(of.target.clone());
            }
            Act::RemoveTarget(of) => self.remove_target(&of.target, at),
            Act::RegisterPrincipal(of) => {
                let may_read = of.may_read.iter().cloned().collect();
                let (principal, acts_for) = (of.principal.clone(), of.acts_for.clone());
                self.credentials.insert(of.credential, Held { principal, may_read, acts_for, revoked: None });
            }
            Act::RevokePrincipal(of) => {
                for (hash, held) in &mut self.credentials {
                    if held.principal == of.principal && of.credential.is_none_or(|one| one == *hash) {
                        held.revoked.get_or_insert(at);
                    }
                }
            }
            Act::RegisterAckKey(of) => {
                let key =
                    Key { key: of.key, not_before: of.not_before, not_after: of.not_after, revoked: None };
                let keys = self.ack_keys.entry(of.target.clone()).or_default();
                keys.insert(of.key.key_id(), AckKeyEntry { by: of.by, key });
            }
            Act::RevokeAckKey(of) => {
                let entry = self.ack_keys.get_mut(&of.target).and_then(|keys| keys.get_mut(&of.key_id));
                revoke(entry.map(|entry| &mut entry.key.revoked), at);
            }
            Act::RegisterRouterKey(of) => {
                self.ring = self.ring.saturating_add(1);
                register(&mut self.router_keys, of);
            }
            Act::RevokeRouterKey(of) => {
                if revoke(self.router_keys.get_mut(&of.key_id).map(|key| &mut key.revoked), at) {
                    self.ring = self.ring.saturating_add(1);
                }
            }
            Act::RegisterAuditKey(of) => register(&mut self.audit_keys, of),
            Act::RevokeAuditKey(of) => {
                revoke(self.audit_keys.get_mut(&of.key_id).map(|key| &mut key.revoked), at);
            }
            Act::RegisterOperatorKey(of) => {
                let scopes = of.scopes.iter().copied().collect();
                let new = Operator { operator: of.operator.clone(), key: of.key, scopes, revoked: None };
                self.operators.insert(of.key.key_id(), new);
            }
            Act::RevokeOperatorKey(of) => {
                revoke(self.operators.get_mut(&of.key_id).map(|key| &mut key.revoked), at);
            }
            Act::AcceptClock(_) => self.clock = None,
            // A cleared station works again only under a new grant; else it would trip anew at once (FUS-7).
            Act::ClearLatch(of) => {
                self.grants.remove(&of.target);
            }
            Act::Resolve(_) | Act::ReleaseQuarantine(_) | Act::Reanchor(_) => {}
        }
    }

    /// The later end stands: pausing narrows, so it must not shorten a pause.
    fn pause(&mut self, target: Option<&Target>, until: Wall) {
        match target {
            Some(target) => {
                let end = self.pauses.entry(target.clone()).or_insert(until);
                *end = until.max(*end);
            }
            None => self.fleet_pause = self.fleet_pause.max(Some(until)),
        }
    }

    fn remove_target(&mut self, target: &Target, at: Wall) {
        self.targets.remove(target);
        self.grants.remove(target);
        for held in self.credentials.values_mut() {
            held.may_read.remove(target);
            if held.acts_for.as_ref() == Some(target) {
                held.acts_for = None;
            }
        }
        for entry in self.ack_keys.get_mut(target).into_iter().flat_map(BTreeMap::values_mut) {
            entry.key.revoked.get_or_insert(at);
        }
    }
}

fn register(keys: &mut BTreeMap<KeyId, Key>, of: &AuthorityKey) {
    let key = Key { key: of.key, not_before: of.not_before, not_after: of.not_after, revoked: None };
    keys.insert(of.key.key_id(), key);
}

/// The first revocation stands. Says whether this was it.
fn revoke(revoked: Option<&mut Option<Wall>>, at: Wall) -> bool {
    match revoked {
        Some(revoked @ None) => {
            *revoked = Some(at);
            true
        }
        Some(Some(_)) | None => false,
    }
}
