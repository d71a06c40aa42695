//! After a commit that failed: what is lost is fetched back before anybody is served again.
//!
//! A machine that comes back from disk is not what it was: a registry has forgotten what every start must show anew, so
//! Tier-0 is closed, and a mailbox has no epoch, so it mints nothing. Both are put right here, without a restart. Not
//! here: the boot itself. Rules: ADM-2 (`outcome_unknown`), ADM-10, EMT-2, OPR-2.

use std::time::{Duration, Instant};

use awakener_kernel::ids::Target;
use awakener_kernel::operator::Denial;

use super::{TICK, Thread};
use crate::host::Host;
use crate::plane::{Op, Refused, Waiting, files};

/// Pause between two attempts to get a store back.
const AGAIN: Duration = Duration::from_millis(500);

/// What a failed commit took away.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Lost {
    /// Nothing.
    Nothing,
    /// What only this process knew: that the start was recorded, the roster verified, the manifest accepted.
    Memory,
    /// Every machine: the file was opened anew.
    Machines,
}

/// An attempt that failed; until the next one everybody gets its answer at once.
pub(super) struct Trouble {
    /// When it is tried again.
    pub again: Instant,
    /// What everybody hears until then.
    pub refused: Refused,
}

/// What a failed commit leaves to be done.
impl Thread {
    /// Gets back what a failed commit took away: the file (ADM-2), the machines, what only this process knew, and what
    /// was denied meanwhile (OPR-2). Until that has come to its end nobody is served; after a failure the next attempt
    /// waits for a moment.
    pub(super) fn settle(&mut self) -> Result<(), Refused> {
        if !self.db.poisoned() && self.lost == Lost::Nothing && !self.denied {
            return Ok(());
        }
        if let Some(trouble) = self.trouble.as_ref().filter(|trouble| Instant::now() < trouble.again) {
            return Err(trouble.refused.clone());
        }
        let settled = self.try_to_settle();
        self.trouble = settled.as_ref().err().map(|refused| {
            tracing::error!(reason = %refused.reason, "the store cannot be used yet: {}", refused.detail);
            Trouble { again: Instant::now() + AGAIN, refused: refused.clone() }
        });
        settled
    }

    fn try_to_settle(&mut self) -> Result<(), Refused> {
        if self.db.poisoned() {
            self.lost = Lost::Machines;
            self.db.reopen()?;
            (self.intact, self.walking) = (None, None);
        }
        if self.lost == Lost::Machines {
            let now = self.clock.now();
            self.registry = Host::boot(&mut self.db, self.setup.limits.get().clone(), now)?;
            self.mailboxes = Host::boot(&mut self.db, self.setup.limits.get().clone(), now)?;
            self.lost = Lost::Memory;
        }
        if self.lost == Lost::Memory {
            self.boot()?;
        }
        if self.denied { self.take_denials() } else { Ok(()) }
    }

    /// Answers those who cannot be served. What narrows acts all the same (OPR-2).
    pub(super) fn turn_away(&mut self, calls: Vec<(Op, Waiting)>, refused: &Refused) {
        for (op, waiting) in calls {
            let mut refused = refused.clone();
            if let Op::Command(presented) = &op
                && let Some(denial) = self.denial(presented)
            {
                refused = self.deny(&denial, refused);
            }
            let _ = waiting.send(Err(refused));
        }
    }

    /// Puts an act that narrows into the deny file.
    pub(super) fn deny(&mut self, denial: &Denial, refused: Refused) -> Refused {
        self.denied = true;
        match files::deny(&self.setup.state, denial) {
            Ok(()) => {
                tracing::error!(rule = "OPR-2", "no store; the act stands in the deny file");
                let detail = format!("{}; the act stands in the deny file (OPR-2)", refused.detail);
                Refused { detail, ..refused }
            }
            Err(error) => {
                tracing::error!(rule = "OPR-2", "no store, and no deny file: {error}");
                refused
            }
        }
    }

    /// Gives mailboxes that came back from disk an epoch, so that they mint again. Not more often than the clock is
    /// looked at: a row that cannot be read must not use epochs up.
    pub(super) fn revive(&mut self) {
        if self.silent.is_empty()
            || self.db.poisoned()
            || self.lost != Lost::Nothing
            || self.revived.is_some_and(|at| at.elapsed() < TICK)
        {
            return;
        }
        self.revived = Some(Instant::now());
        let silent: Vec<Target> = std::mem::take(&mut self.silent).into_iter().collect();
        if let Err(refused) = self.start_emitters(silent.clone(), 0) {
            tracing::error!(reason = %refused.reason, "hints wait for an epoch: {}", refused.detail);
            self.silent.extend(silent);
        }
    }
}
