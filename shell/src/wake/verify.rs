//! Looks at bytes with the current ring (VER-1): the part of verification that needs neither state nor clock.
//!
//! The ring comes from the plane and is kept in the store, so that hints are verified while the plane is down. Not
//! here: the order of classes (`wire::screen`), and replays (the waker). Rules: VER-1, HAF-3.

use std::collections::BTreeSet;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use awakener_kernel::ids::Target;
use awakener_kernel::wire::{Keyring, Presented};

use super::inbox::Cmd;
use super::port::{Ring, Shown};
use super::ports::Common;

/// The ring and the targets of one daemon.
#[derive(Debug)]
pub struct Verifier {
    held: RwLock<Arc<Held>>,
    served: BTreeSet<Target>,
}

/// A ring, and its keys as they verify.
#[derive(Debug)]
struct Held {
    ring: Ring,
    keys: Keyring,
}

impl Held {
    fn of(ring: Ring) -> Arc<Self> {
        Arc::new(Self { keys: Keyring::from(&ring.keys), ring })
    }
}

impl Verifier {
    pub(super) fn new(ring: Ring, served: BTreeSet<Target>) -> Self {
        Self { held: RwLock::new(Held::of(ring)), served }
    }

    /// Looks at bytes.
    pub fn present(&self, bytes: &[u8]) -> Presented {
        Presented::of(bytes, &self.held().keys, |target| self.served.contains(target))
    }

    /// The ring in force.
    pub fn ring(&self) -> Ring {
        self.held().ring.clone()
    }

    fn held(&self) -> Arc<Held> {
        self.held.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(super) fn served(&self) -> &BTreeSet<Target> {
        &self.served
    }

    /// Takes another ring, unless it is an older one (HAF-3). Returns whether anything changed.
    fn replace(&self, ring: &Ring) -> bool {
        let held = self.ring();
        if ring.version < held.version {
            tracing::error!(
                held = held.version,
                shown = ring.version,
                rule = "HAF-3",
                "an older ring is not taken"
            );
            return false;
        }
        if held != *ring {
            *self.held.write().unwrap_or_else(PoisonError::into_inner) = Held::of(ring.clone());
        }
        held != *ring
    }
}

/// Keeps the ring as the plane has it, looking every `pace`; sooner while the plane does not answer.
pub(super) async fn follow_ring(common: Common, pace: Duration) {
    loop {
        let asked = tokio::time::timeout(common.patience, common.plane.router_keys()).await;
        let shown = asked.ok().and_then(Result::ok);
        common.answered(shown.is_some()).await;
        let pause = match shown {
            None => pace.min(Duration::from_secs(1)),
            Some(Shown { ring, now }) => {
                common.inbox.give(Cmd::PlaneTime(now)).await;
                if common.verifier.replace(&ring) {
                    common.inbox.give(Cmd::Ring(ring)).await;
                }
                pace
            }
        };
        tokio::time::sleep(pause).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn haf_3_a_ring_never_goes_back() {
        let ring = |version| Ring { version, keys: Vec::new() };
        let verifier = Verifier::new(ring(4), BTreeSet::new());
        assert!(!verifier.replace(&ring(3)));
        assert_eq!(verifier.ring().version, 4);
        assert!(verifier.replace(&ring(5)));
        assert_eq!(verifier.ring().version, 5);
    }
}
