//! The signed acknowledgement: the only thing but an operator that closes a witness (ACK-3…8).
//!
//! Key and signature are judged before anything about the message is revealed. Then what is said must fit the message,
//! then what was done must fit what is said.

use awakener_spec::{Reason, rule};

use super::entry::{Closed, Entry};
use super::input::{AckFacts, AckKey, Event};
use super::{DraftOf, Mailbox, StepOf};
use crate::config::Config;
use crate::ids::{Fence, Seq, Tier};
use crate::machine::{Draft, Step};
use crate::time::Now;
use crate::values::{Ack, By, Finish};

impl Mailbox {
    pub(super) fn acknowledge(
        self,
        config: &Config,
        now: Now,
        ack: &Ack,
        fence: Option<Fence>,
        facts: AckFacts,
    ) -> StepOf {
        let (seq, entry) = match legible(config, now, ack, facts) {
            Ok(found) => found,
            Err(reason) => return self.refuse(reason),
        };
        match entry.closed {
            Some(Closed::Acknowledged(outcome, by, _)) if (outcome, by) == (ack.outcome, ack.by) => {
                rule!(Ack7);
                return Step::absorbed(self);
            }
            Some(_) => return self.refuse(Reason::AlreadyAcknowledged),
            None => {}
        }
        if let Err(reason) = self.earned(now, seq, ack.by, fence) {
            return self.refuse(reason);
        }
        let mut draft: DraftOf = Draft::new(self);
        let closed = Closed::Acknowledged(ack.outcome, ack.by, ack.key);
        draft.close_witness(seq, ack.message, entry.principal, closed);
        rule!(Ack3);
        rule!(Ack4);
        draft.advanced(Event::Acknowledged { outcome: ack.outcome, by: ack.by })
    }

    /// Whether what was done supports what is said (ACK-5).
    fn earned(&self, now: Now, seq: Seq, by: By, fence: Option<Fence>) -> Result<(), Reason> {
        if fence.is_some_and(|fence| !self.holds(now, fence)) {
            return Err(Reason::LostLease);
        }
        let progress = self.image.progress.get(&seq).copied().unwrap_or_default();
        match by {
            By::Station => {
                if fence.is_none() {
                    return Err(Reason::LostLease);
                }
                if self.image.claimed(seq).is_none() {
                    return Err(Reason::NotClaimed);
                }
                if progress.turn.is_none_or(|(_, finish)| finish != Finish::Complete) {
                    return Err(Reason::AckNotComplete);
                }
                if progress.response.is_none() {
                    return Err(Reason::AckNoResponse);
                }
            }
            By::Agent | By::Human => {
                if !progress.read {
                    return Err(Reason::AckNotRead);
                }
            }
        }
        rule!(Ack5);
        Ok(())
    }
}

/// Whether the statement is its key's, and about this very message (ACK-3, ACK-6).
fn legible(config: &Config, now: Now, ack: &Ack, facts: AckFacts) -> Result<(Seq, Entry), Reason> {
    match facts.key {
        AckKey::Wrong => return Err(Reason::AckWrongKey),
        AckKey::Revoked => return Err(Reason::AckKeyRevoked),
        AckKey::Valid => {}
    }
    if !facts.signature_valid {
        return Err(Reason::AckBadSignature);
    }
    if !facts.this_target {
        return Err(Reason::AckWrongTarget);
    }
    let (seq, entry) = facts.row.ok_or(Reason::AckUnknownMessage)?;
    if entry.tier != Tier::Zero {
        return Err(Reason::AckWrongTier);
    }
    if entry.content != ack.content {
        return Err(Reason::AckWrongContent);
    }
    if ack.time > now.wall + config.skew {
        return Err(Reason::AckTimeOutOfBounds);
    }
    Ok((seq, entry))
}
