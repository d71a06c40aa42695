//! Verifying the audit chain at a start (AUD-5): all of it, always; a long one while the plane serves.
//!
//! Nothing is remembered from one start to the next that would spare a part of the chain. Until the whole of it was
//! walked Tier-0 is closed, and the inbox serves.

use std::sync::mpsc::{Receiver, TryRecvError, sync_channel};

use awakener_kernel::audit::{Comparison, Walked};
use awakener_kernel::registry::Input;
use awakener_spec::Reason;

use super::Thread;
use crate::plane::Refused;
use crate::plane::queries::{self, Forest, Readers};

/// A chain of at most so many entries is walked before anyone is served; that takes less than a second or so.
pub(super) const AT_ONCE: u64 = 20_000;

/// What a walk beside the thread finds.
pub(super) type Walking = Receiver<Result<(Walked, Forest), String>>;

impl Thread {
    /// Walks the chain, or has it walked.
    pub(super) fn verify_chain(&mut self, at_once: u64) -> Result<(), Refused> {
        self.walking = None;
        self.grown.set(None);
        if self.db.head().size <= at_once {
            let found = queries::walked(self.db.conn()).map_err(|error| error.to_string());
            return self.note_chain(found);
        }
        self.registry_step(Input::Chain { intact: false }, None)?;
        let (found, walking) = sync_channel(1);
        let readers = Readers::of(self.db.path());
        std::thread::Builder::new()
            .name("plane-chain".to_owned())
            .spawn(move || {
                let walked =
                    readers.ask_here(|conn| Ok(queries::walked(conn).map_err(|error| error.to_string())));
                // A thread that has ended, or that begins anew, wants no answer.
                let _ = found.send(walked.unwrap_or_else(|refused| Err(refused.detail)));
            })
            .map_err(|error| Refused { reason: Reason::StoreUnavailable, detail: error.to_string() })?;
        tracing::info!(rule = "AUD-5", "the audit chain is long; Tier-0 stays closed until it is verified");
        self.walking = Some(walking);
        Ok(())
    }

    /// Takes in what a walk has found, once it has.
    pub(super) fn chain_verified(&mut self) {
        let found = match self.walking.as_ref().map(Receiver::try_recv) {
            None | Some(Err(TryRecvError::Empty)) => return,
            Some(Ok(found)) => found,
            Some(Err(TryRecvError::Disconnected)) => Err("the walk has ended without a word".to_owned()),
        };
        self.walking = None;
        if let Err(refused) = self.note_chain(found) {
            // Closed until it is known again.
            tracing::error!(reason = %refused.reason, "the state of the chain cannot be noted: {}", refused.detail);
            if let Err(refused) = self.verify_chain(0) {
                tracing::error!(reason = %refused.reason, "the chain is not verified: {}", refused.detail);
            }
        }
    }

    /// Whoever rewrites a chain and forgets what is kept beside it is found out by the plane itself (AUD-3). Who does not
    /// forget is found out by those who kept a checkpoint elsewhere, so this closes nothing; it is said.
    fn hold_against_kept(&self, forest: &Forest) {
        let Ok(kept) = queries::newest(self.db.conn()) else { return };
        match queries::matches(self.db.conn(), forest, kept.document()) {
            Ok(Comparison::Extends) => {}
            Ok(found) => {
                let size = kept.document().size;
                tracing::error!(rule = "AUD-3", "the chain and the kept checkpoint over {size}: {found:?}");
            }
            Err(error) => tracing::error!(rule = "AUD-3", "no kept checkpoint can be compared: {error}"),
        }
    }

    fn note_chain(&mut self, found: Result<(Walked, Forest), String>) -> Result<(), Refused> {
        let found = found.and_then(|(walked, forest)| {
            self.hold_against_kept(&forest);
            // Broken or not, the tree is over what is there.
            self.grown.set(Some(forest));
            queries::judged(&walked)
        });
        if let Err(detail) = &found {
            tracing::error!(rule = "AUD-5", "the audit chain is broken, Tier-0 stays closed: {detail}");
        }
        let intact = found.is_ok();
        self.registry_step(Input::Chain { intact }, None)?;
        self.intact = Some(intact);
        Ok(())
    }
}
