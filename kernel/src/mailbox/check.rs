//! What must hold of an image at every moment, and which facts can be about this mailbox at all (AUD-2).
//!
//! Not here: the waits (`timers`). A step never asks these questions to decide; they find defects.

use awakener_spec::Rule;

use super::Mailbox;
use super::entry::Entry;
use super::image::Image;
use super::input::Mint;
use crate::ids::{MessageId, Seq};
use crate::machine::Violation;

impl Image {
    /// Invariants of the durable part.
    pub(super) fn check(&self) -> Result<(), Violation> {
        let fail = |invariant, rule| Err(Violation { invariant, rule });
        if self.cursor > self.last || self.ahead.iter().any(|(_, end)| Some(end) > self.last) {
            return fail("nothing is finished that was not admitted", Rule::Inb4);
        }
        if self.witnesses.keys().any(|seq| self.is_finished(*seq)) {
            return fail("the cursor never reaches an outstanding witness", Rule::Ack2);
        }
        if self.ahead.contains(self.awaited()) {
            return fail("the cursor is as far as it can be", Rule::Ack10);
        }
        if self.progress.keys().any(|seq| self.is_finished(*seq) || Some(*seq) > self.last) {
            return fail("progress is kept of unfinished messages only", Rule::Inb3);
        }
        if let Some(lease) = &self.lease {
            if lease.fence != self.lease_fence {
                return fail("the live lease has the highest fencing token", Rule::Inb7);
            }
            if lease.claimed.keys().any(|seq| self.is_finished(*seq)) {
                return fail("finished work is not claimed", Rule::Inb7);
            }
            if lease.claimed.keys().any(|seq| self.progress.get(seq).is_some_and(|p| p.quarantined)) {
                return fail("what is set aside for the operator is not claimed", Rule::Inb8);
            }
        }
        if self.permit.as_ref().is_some_and(|permit| permit.fence != self.permit_fence) {
            return fail("the live permit has the highest fencing token", Rule::Dsp7);
        }
        if self.token.is_some_and(|token| token.epoch() > self.epoch) {
            return fail("no token is beyond the emitter's epoch", Rule::Emt2);
        }
        Ok(())
    }
}

impl Mailbox {
    /// Whether a row can be that of `message` in this mailbox; a row that cannot is a defect of the driver (AUD-2).
    pub(super) fn fits(&self, row: &Option<(Seq, Entry)>, message: MessageId) -> bool {
        row.as_ref().is_none_or(|(seq, entry)| {
            entry.id == message
                && Some(*seq) <= self.image.last
                && entry.finished.is_some() == self.image.is_finished(*seq)
        })
    }

    /// Whether a mint can be one of this mailbox.
    pub(super) fn minted(&self, mint: Option<&Mint>) -> bool {
        mint.is_none_or(|mint| {
            Some(mint.seq) <= self.image.last
                && Some(mint.token) <= self.image.token
                && self.image.witnesses.get(&mint.seq).is_none_or(|w| w.message == mint.message)
        })
    }
}
