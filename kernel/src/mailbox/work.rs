//! Work under a lease: claim, renew, release, read, end of a turn, result (INB-7…9, STN-6).
//!
//! The fence is what guarantees one effective reader: a stale token can do nothing at all.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use awakener_spec::{Reason, rule};

use super::entry::{Entry, Finished};
use super::image::{Claimed, Image, Lease};
use super::input::{Candidate, Event};
use super::record::Record;
use super::{DraftOf, Mailbox, StepOf};
use crate::config::Config;
use crate::ids::{Fence, Holder, MessageId, Seq, Tier, TurnId};
use crate::machine::{Draft, Step};
use crate::time::Now;
use crate::values::{Finish, Response};

type Row = Option<(Seq, Entry)>;

impl Mailbox {
    pub(super) fn claim(
        self,
        config: &Config,
        now: Now,
        holder: Holder,
        max: u32,
        candidates: Vec<Candidate>,
    ) -> StepOf {
        match self.live_lease(now) {
            // A lease whose work is all finished is no right to anything, and holds nobody up.
            Some(lease) if lease.claimed.is_empty() => {}
            Some(lease) if lease.holder == holder => {
                // A lost answer costs nothing: the same holder gets the same lease again.
                rule!(Inb7);
                return Step::absorbed(self);
            }
            Some(_) => return self.refuse(Reason::LeaseHeld),
            None => {}
        }
        let expired = self.live_lease(now).is_none();
        let claimed = claimable(&self.image, config, candidates, max.min(config.page));
        if claimed.is_empty() {
            return self.refuse(Reason::NothingToClaim);
        }
        let mut draft: DraftOf = Draft::new(self);
        draft.end_lease(config, expired);
        let fence = draft.machine.image.lease_fence.next();
        draft.record(Record::Leased { lease: Lease { fence, holder, at: now.wall, claimed } });
        draft.machine.timers.lease = Some(now.mono + config.lease);
        draft.advanced(Event::Leased { fence })
    }

    pub(super) fn renew(self, config: &Config, now: Now, fence: Fence) -> StepOf {
        if !self.holds(now, fence) {
            return self.refuse(Reason::LostLease);
        }
        let mut draft: DraftOf = Draft::new(self);
        draft.record(Record::Renewed { at: now.wall });
        draft.machine.timers.lease = Some(now.mono + config.lease);
        draft.advanced(Event::Renewed)
    }

    pub(super) fn release(self, config: &Config, now: Now, fence: Fence) -> StepOf {
        if !self.holds(now, fence) {
            return self.refuse(Reason::LostLease);
        }
        let mut draft: DraftOf = Draft::new(self);
        draft.end_lease(config, false);
        draft.advanced(Event::Released)
    }

    pub(super) fn lease_expired(self, config: &Config, _now: Now) -> StepOf {
        let mut draft: DraftOf = Draft::new(self);
        draft.end_lease(config, true);
        draft.advanced(Event::LeaseExpired)
    }

    pub(super) fn read(
        self,
        config: &Config,
        now: Now,
        fence: Fence,
        message: MessageId,
        row: Row,
    ) -> StepOf {
        let seq = match self.workplace(now, fence, &row) {
            Ok(seq) => seq,
            Err(reason) => return self.refuse(reason),
        };
        if self.image.claimed(seq).is_some_and(|claimed| claimed.read) {
            return Step::absorbed(self);
        }
        let mut draft: DraftOf = Draft::new(self);
        draft.record(Record::Read { seq, message });
        rule!(Inb8);
        let attempt = draft.machine.image.progress.get(&seq).map_or(0, |progress| progress.attempts);
        draft.settle_emission(config, seq);
        draft.advanced(Event::Read { attempt })
    }

    pub(super) fn finish_turn(
        self,
        now: Now,
        fence: Fence,
        message: MessageId,
        (turn, finish): (TurnId, Finish),
        row: Row,
    ) -> StepOf {
        let seq = match self.workplace(now, fence, &row) {
            Ok(seq) => seq,
            Err(reason) => return self.refuse(reason),
        };
        if self.image.claimed(seq).is_none_or(|claimed| !claimed.read) {
            // A turn on work that was never handed over did not happen.
            return self.refuse(Reason::NotClaimed);
        }
        // A turn ends once and in one way, also when others ended since (RCP-2).
        let ended = row.iter().flat_map(|(_, entry)| entry.ended.iter().chain(&entry.turn));
        match ended.into_iter().find(|(known, _)| *known == turn) {
            Some((_, how)) if *how == finish => return Step::absorbed(self),
            Some(_) => return self.refuse(Reason::ResultConflict),
            None => {}
        }
        let mut draft: DraftOf = Draft::new(self);
        draft.record(Record::TurnFinished { seq, message, turn, finish });
        rule!(Obs1);
        draft.advanced(Event::TurnFinished)
    }

    pub(super) fn respond(
        self,
        now: Now,
        fence: Fence,
        message: MessageId,
        (turn, response): (TurnId, Response),
        row: Row,
    ) -> StepOf {
        if let Some((_, entry)) = &row {
            // Idempotent by turn id, also after the message is finished and the lease is gone (STN-6).
            match entry.response {
                Some(known) if known == (turn, response) => {
                    rule!(Stn6);
                    return Step::absorbed(self);
                }
                Some(_) => return self.refuse(Reason::ResultConflict),
                None => {}
            }
        }
        let seq = match self.workplace(now, fence, &row) {
            Ok(seq) => seq,
            Err(reason) => return self.refuse(reason),
        };
        let Some(claimed) = self.image.claimed(seq).filter(|claimed| claimed.read).cloned() else {
            return self.refuse(Reason::NotClaimed);
        };
        if claimed.tier == Tier::Zero && response == Response::Done {
            // An alert is answered by a response or by silence; with `done` its station could never acknowledge it.
            return self.refuse(Reason::ResponseRequired);
        }
        let mut draft: DraftOf = Draft::new(self);
        draft.record(Record::Responded { seq, message, turn, response });
        rule!(Inb9);
        if Image::response_finishes(claimed.tier) {
            draft.finish(seq, message, claimed.principal, Finished::Responded);
        } else {
            // What is answered to an alert closes nothing.
            rule!(Ack8);
        }
        draft.advanced(Event::Responded)
    }

    /// Whether `fence` is the token of a lease whose time is not over.
    pub(super) fn holds(&self, now: Now, fence: Fence) -> bool {
        self.live_lease(now).is_some_and(|lease| lease.fence == fence)
    }

    /// Where claimed work stands, if the token has power over it.
    fn workplace(&self, now: Now, fence: Fence, row: &Row) -> Result<Seq, Reason> {
        if !self.holds(now, fence) {
            return Err(Reason::LostLease);
        }
        let (seq, _) = row.as_ref().ok_or(Reason::UnknownMessage)?;
        if self.image.is_finished(*seq) {
            return Err(Reason::AlreadyFinished);
        }
        match self.image.claimed(*seq) {
            Some(_) => Ok(*seq),
            None => Err(Reason::NotClaimed),
        }
    }
}

/// The candidates that are work, as the lease keeps them; without what the end of the old lease will set aside. The
/// facts are trusted for order only.
fn claimable(image: &Image, config: &Config, candidates: Vec<Candidate>, max: u32) -> BTreeMap<Seq, Claimed> {
    let set_aside = |seq: Seq| {
        let ending = image.claimed(seq).is_some();
        image.progress.get(&seq).is_some_and(|p| p.quarantined || (ending && p.spent(config)))
    };
    candidates
        .into_iter()
        .filter(|c| Some(c.seq) <= image.last && !image.is_finished(c.seq) && !set_aside(c.seq))
        .take(usize::try_from(max).unwrap_or(usize::MAX))
        .map(|c| {
            let Candidate { seq, message, tier, principal, depth } = c;
            (seq, Claimed { message, tier, principal, depth, read: false })
        })
        .collect()
}

impl DraftOf {
    /// Ends the lease, if there is one, and sets aside what has used up its attempts (INB-8).
    pub(super) fn end_lease(&mut self, config: &Config, expired: bool) {
        let Some(lease) = self.machine.image.lease.clone() else { return };
        self.record(Record::LeaseEnded { fence: lease.fence, expired });
        self.machine.timers.lease = None;
        for (seq, claimed) in lease.claimed {
            let progress = self.machine.image.progress.get(&seq).copied().unwrap_or_default();
            if progress.spent(config) && !progress.quarantined {
                self.quarantine(seq, claimed.message, Some((claimed.tier, claimed.principal)));
            }
        }
    }
}
