//! Looks at bytes with the current ring (VER-1): the part of verification that needs neither state nor clock.
//!
//! The ring comes from the plane and is kept in the store, so that hints are verified while the plane is down. Not
//! here: the order of classes (`wire::screen`), and replays (the waker). Rules: VER-1, HAF-3.

use std::collections::BTreeSet;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use awakener_kernel::ids::Target;
use awakener_kernel::wire::{Presented, RouterKey};

use super::ports::Common;
use super::thread::Cmd;

/// The ring and the targets of one daemon.
#[derive(Debug)]
pub struct Verifier {
    ring: RwLock<Arc<[RouterKey]>>,
    served: BTreeSet<Target>,
}

impl Verifier {
    pub(super) fn new(ring: Vec<RouterKey>, served: BTreeSet<Target>) -> Self {
        Self { ring: RwLock::new(ring.into()), served }
    }

    /// Looks at bytes.
    pub fn present(&self, bytes: &[u8]) -> Presented {
        Presented::of(bytes, &self.ring(), |target| self.served.contains(target))
    }

    /// The ring in force.
    pub fn ring(&self) -> Arc<[RouterKey]> {
        self.ring.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(super) fn served(&self) -> &BTreeSet<Target> {
        &self.served
    }

    fn replace(&self, ring: &[RouterKey]) {
        *self.ring.write().unwrap_or_else(PoisonError::into_inner) = ring.into();
    }
}

/// Keeps the ring as the plane has it, looking every `pace`; sooner while the plane does not answer.
pub(super) async fn follow_ring(common: Common, pace: Duration) {
    loop {
        let asked = tokio::time::timeout(common.patience, common.plane.router_keys()).await;
        let ring = asked.ok().and_then(Result::ok);
        common.answered(ring.is_some()).await;
        let pause = match ring {
            None => pace.min(Duration::from_secs(1)),
            Some(ring) => {
                if *common.verifier.ring() != *ring {
                    common.verifier.replace(&ring);
                    common.inbox.give(Cmd::Ring(ring)).await;
                }
                pace
            }
        };
        tokio::time::sleep(pause).await;
    }
}
