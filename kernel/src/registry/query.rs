//! What others ask the registry, as facts for their own judgement. Pure; time comes in.
//!
//! Whatever is absent, unreadable or over denies (OPR-3).

use super::Registry;
use super::image::{Held, Image, Key};
use crate::admission::RosterVerdict;
use crate::ids::{ContentHash, KeyId, Principal, PublicKey, SchemaRef, Target};
use crate::mailbox::input::{AckKey, Authority};
use crate::time::{Now, Wall};
use crate::values::By;

/// Why Tier-0 is closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Closed {
    /// This start is not on record yet (OPR-2).
    NotStarted,
    /// The capability manifest was refused (CAP-2).
    ManifestRefused,
    /// The audit chain is broken, or its walk has not ended (AUD-5).
    ChainNotVerified,
    /// The clock stepped back (EMT-6).
    ClockBehind,
}

impl Key {
    /// Whether the key holds at this instant by our clock.
    pub fn holds(&self, now: Now) -> bool {
        self.revoked.is_none() && self.not_before <= now.wall && now.wall < self.not_after
    }
}

impl Held {
    /// Whether this credential may read an inbox (IDN-6).
    pub fn may_read(&self, target: &Target) -> bool {
        awakener_spec::rule!(Idn6);
        self.may_read.contains(target)
    }
}

impl Image {
    /// Whether the target has a grant that holds (STN-2).
    pub fn granted(&self, target: &Target, now: Now) -> bool {
        awakener_spec::rule!(Stn2);
        self.grants.get(target).is_some_and(|until| now.wall < *until)
    }

    /// Whether the target must rest (DSP-10): it, or all, is paused, or everything is stopped.
    pub fn paused(&self, target: &Target, now: Now) -> bool {
        awakener_spec::rule!(Dsp10);
        let rests = |until: &Wall| now.wall < *until;
        self.stopped
            || self.fleet_pause.as_ref().is_some_and(rests)
            || self.pauses.get(target).is_some_and(rests)
    }

    /// Whether the target may be woken now: it has a grant and need not rest.
    pub fn armed(&self, target: &Target, now: Now) -> bool {
        self.granted(target, now) && !self.paused(target, now)
    }
}

impl Registry {
    /// What a presented credential allows; `None` = `unauthenticated`.
    pub fn credential(&self, hash: &ContentHash) -> Option<&Held> {
        self.image.credentials.get(hash).filter(|held| held.revoked.is_none())
    }

    /// Whose credential it is.
    pub fn principal_of(&self, credential: &ContentHash) -> Option<&Principal> {
        self.credential(credential).map(|held| &held.principal)
    }

    /// Whether any credential of this principal, also a revoked one, acts or acted for the target (ADM-13): another
    /// credential of the same principal must not get around `self_wake`.
    pub fn acts_for(&self, principal: &Principal, target: &Target) -> bool {
        awakener_spec::rule!(Adm13);
        let own = self.image.credentials.values().filter(|held| held.principal == *principal);
        own.filter_map(|held| held.acts_for.as_ref()).any(|acts_for| acts_for == target)
    }

    /// Whether the target is registered (ADM-13).
    pub fn target_known(&self, target: &Target) -> bool {
        self.image.targets.contains(target)
    }

    /// What the roster says (ADM-3 to ADM-5). Any fault makes the whole of it useless.
    pub fn roster_verdict(
        &self,
        principal: &Principal,
        schema: &SchemaRef,
        target: &Target,
        now: Now,
    ) -> RosterVerdict {
        awakener_spec::rule!(Adm4);
        let Some(installed) = &self.image.roster else {
            awakener_spec::rule!(Opr3);
            return RosterVerdict::Absent;
        };
        let roster = &installed.roster;
        let signer = self.image.operators.get(&installed.key).is_some_and(|key| key.revoked.is_none());
        let form = roster.version == 1 && !roster.entries.is_empty() && self.image.knows_all_of(roster);
        if !self.volatile.roster_signed || !signer || !form {
            return RosterVerdict::Malformed;
        }
        awakener_spec::rule!(Adm5);
        if now.wall >= roster.not_after {
            return RosterVerdict::Expired;
        }
        let listed = roster
            .entries
            .iter()
            .any(|entry| entry.principal == *principal && entry.schema == *schema && entry.target == *target);
        if listed { RosterVerdict::Listed } else { RosterVerdict::NotListed }
    }

    /// Whether anything could acknowledge an alert to this target (ADM-13).
    pub fn can_ack(&self, target: &Target, now: Now) -> bool {
        awakener_spec::rule!(Adm13);
        let keys = self.image.ack_keys.get(target);
        keys.is_some_and(|keys| keys.values().any(|entry| entry.key.holds(now)))
    }

    /// What is known of an ACK key for (target, by) now (ACK-3).
    pub fn ack_key(&self, key: &KeyId, target: &Target, by: By, now: Now) -> AckKey {
        awakener_spec::rule!(Ack3);
        match self.image.ack_keys.get(target).and_then(|keys| keys.get(key)) {
            Some(entry) if entry.by == by && entry.key.holds(now) => AckKey::Valid,
            Some(entry) if entry.by == by => AckKey::Revoked,
            Some(_) | None => AckKey::Wrong,
        }
    }

    /// The registered ACK key itself, whatever its life, to verify a signature with.
    pub fn ack_public_key(&self, key: &KeyId, target: &Target) -> Option<&PublicKey> {
        self.image.ack_keys.get(target)?.get(key).map(|entry| &entry.key.key)
    }

    /// The operator key of this id, unless it was revoked.
    pub fn operator_key(&self, key: &KeyId) -> Option<&PublicKey> {
        self.image
            .operators
            .get(key)
            .filter(|operator| operator.revoked.is_none())
            .map(|operator| &operator.key)
    }

    /// Router keys that hold now or will, with the version of the ring (HAF-3).
    pub fn router_ring(&self, now: Now) -> (u64, impl Iterator<Item = (&KeyId, &Key)>) {
        awakener_spec::rule!(Haf3);
        let keys = self.image.router_keys.iter();
        (self.image.ring, keys.filter(move |(_, key)| key.revoked.is_none() && now.wall < key.not_after))
    }

    /// As [`Image::granted`].
    pub fn granted(&self, target: &Target, now: Now) -> bool {
        self.image.granted(target, now)
    }

    /// As [`Image::paused`].
    pub fn paused(&self, target: &Target, now: Now) -> bool {
        self.image.paused(target, now)
    }

    /// As [`Image::armed`].
    pub fn armed(&self, target: &Target, now: Now) -> bool {
        self.image.armed(target, now)
    }

    /// Whether Tier-0 is open (ADM-2 `tier0_closed`): started on record, manifest accepted, chain intact, clock sane.
    pub fn tier0_open(&self) -> bool {
        awakener_spec::rule!(Adm2);
        self.tier0_closed().is_none()
    }

    /// What keeps Tier-0 closed, the first thing in the order in which it is mended; `None` = it is open.
    pub const fn tier0_closed(&self) -> Option<Closed> {
        let shown = self.volatile;
        if !shown.started {
            return Some(Closed::NotStarted);
        }
        if !shown.manifest_accepted {
            return Some(Closed::ManifestRefused);
        }
        if !shown.chain_intact {
            return Some(Closed::ChainNotVerified);
        }
        if self.image.clock.is_some() {
            return Some(Closed::ClockBehind);
        }
        None
    }

    /// Whether an alert may still lead to a hint or a start (ADM-6, EMT-3).
    pub fn authority(
        &self,
        principal: &Principal,
        schema: &SchemaRef,
        target: &Target,
        now: Now,
    ) -> Authority {
        awakener_spec::rule!(Adm6);
        Authority {
            rostered: self.roster_verdict(principal, schema, target, now) == RosterVerdict::Listed,
            armed: self.armed(target, now),
            open: self.tier0_open(),
        }
    }
}
