//! Signing checkpoints, on a count of records and on a clock, and keeping them (AUD-3).
//!
//! The first of a process is signed as soon as the chain was walked, the next after `checkpoint_records` or
//! `checkpoint_age`, and none while nothing was appended. A key that is not registered, or was revoked, signs nothing.
//! Not here: the tree ([`crate::plane::queries::Forest`]) and proofs.

use awakener_kernel::machine::Machine as _;
use awakener_kernel::time::Mono;
use awakener_kernel::wire::{Checkpoint, Signed, public_key};

use super::*;
use crate::plane::Grown;

/// What the last checkpoint of this process covered.
#[derive(Clone, Copy, Debug)]
pub(super) struct Last {
    position: u64,
    at: Mono,
}

impl Thread {
    /// Signs and keeps a checkpoint if one is due.
    pub(super) fn checkpoint_when_due(&mut self) {
        if self.db.poisoned() || self.lost != Lost::Nothing || !self.checkpoint_due() {
            return;
        }
        if let Err(refused) = self.checkpoint() {
            // Tried again after a while, not at once.
            self.signed = Some(Last { position: self.db.head().size, at: self.clock.now().mono });
            tracing::error!(rule = "AUD-3", reason = %refused.reason, "no checkpoint: {}", refused.detail);
        }
    }

    fn checkpoint_due(&self) -> bool {
        let limits = self.setup.limits.get();
        let size = self.db.head().size;
        match self.signed {
            _ if self.walking.is_some() => false,
            None => true,
            Some(last) => {
                let new = size.saturating_sub(last.position);
                let age = self.clock.now().mono.saturating_since(last.at);
                new >= u64::from(limits.checkpoint_records) || new > 0 && age >= limits.checkpoint_age
            }
        }
    }

    /// Signs a checkpoint over everything that is durable, and keeps it.
    pub(super) fn checkpoint(&mut self) -> Result<Signed<Checkpoint>, Refused> {
        let now = self.clock.now();
        let image = self.registry()?.image();
        let plane = image
            .plane
            .clone()
            .ok_or_else(|| Refused::because(Reason::StoreUnavailable, "the plane has no name yet"))?;
        let key_id = public_key(&self.setup.audit_key).key_id();
        let holds = image.audit_keys.get(&key_id).is_some_and(|key| {
            key.not_before <= now.wall && now.wall < key.not_after && key.revoked.is_none()
        });
        if !holds {
            return Err(Refused::because(
                Reason::CheckpointUntrusted,
                &format!("the plane's key is {key_id}"),
            ));
        }
        let (size, head, position) = {
            let mut grown = self.grown.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
            let forest = grown.as_mut().ok_or_else(Grown::not_yet)?;
            forest.catch_up(self.db.conn())?;
            (forest.size(), forest.head(), forest.last())
        };
        awakener_spec::rule!(Aud3);
        let checkpoint = Checkpoint { plane, size, head, time: now.wall, key_id };
        let signed = Signed::sign(checkpoint, &self.setup.audit_key);
        self.db.keep_checkpoint(size, now, &signed.to_value().to_string())?;
        self.signed = Some(Last { position, at: now.mono });
        Ok(signed)
    }
}
