//! The order of a trip and of a clear (FUS-4…7).
//!
//! Trip: no turn starts any more; the audit record is asked for; once it is recorded, failed or late, the latch is
//! written; then the process stops. Clear: archived, removed, and only then forgotten.

use awakener_spec::rule;

use super::leaf::Leaf;
use super::phase::{LatchStage, LatchedDown, Phase};
use super::work::{GrantEnd, LatchCause, LatchId, MissingAudit, TripAudit};
use super::{AUDIT_WITHIN, Alarm, Effect, Event, Record, Station};
use crate::fuse::Trip;
use crate::ids::{CommandId, MessageId};
use crate::machine::Step;

impl Leaf<'_> {
    fn stage(&mut self, stage: LatchStage) {
        self.go(Phase::LatchedDown(LatchedDown { stage }));
    }

    pub(super) fn trip(mut self, latch: LatchId, message: MessageId, trip: Trip) -> Step<Station> {
        self.abandon();
        let cause = LatchCause::Tripped { message, trip };
        self.record(Record::Latched { latch, cause: cause.clone(), at: self.now.wall });
        let ticket = self.issue();
        self.stage(LatchStage::Auditing(ticket, self.now.mono + AUDIT_WITHIN));
        self.effect(Effect::AppendTripAudit { ticket, latch, cause, within: AUDIT_WITHIN });
        rule!(Fus4);
        self.tell(Alarm::Latched(latch));
        self.done(Event::Latched(latch))
    }

    /// What lies at the path is left as it is: it is evidence.
    pub(super) fn latch_found(mut self, latch: LatchId) -> Step<Station> {
        rule!(Fus6);
        self.abandon();
        self.record(Record::Latched { latch, cause: LatchCause::Found, at: self.now.wall });
        self.stop(latch);
        self.done(Event::Latched(latch))
    }

    fn stop(&mut self, latch: LatchId) {
        self.stage(LatchStage::Down);
        self.tell(Alarm::Latched(latch));
        self.effect(Effect::StopProcess);
    }

    pub(super) fn trip_audited(mut self, audit: TripAudit) -> Step<Station> {
        self.record(Record::TripAudited { audit });
        self.write_latch();
        self.done(Event::TripAudited(audit))
    }

    pub(super) fn audit_late(self) -> Step<Station> {
        self.trip_audited(TripAudit::Missing(MissingAudit::Late))
    }

    fn write_latch(&mut self) {
        let Some(note) = self.image().latch.as_ref().map(super::Latch::note) else { return };
        if let TripAudit::Missing(why) = note.audit {
            self.tell(Alarm::TripAuditMissing(note.latch, why));
        }
        let ticket = self.issue();
        self.stage(LatchStage::Writing(ticket, self.now.mono + AUDIT_WITHIN));
        self.effect(Effect::WriteLatch { ticket, note });
        rule!(Fus5);
    }

    /// The process stops whether the file is there or not; without it the trip record latches the next boot.
    pub(super) fn latch_settled(mut self, written: bool) -> Step<Station> {
        let latch = self.image().latch.as_ref().map(|latch| latch.latch);
        if written {
            self.record(Record::LatchWritten);
        }
        self.stage(LatchStage::Down);
        if let (Some(latch), false) = (latch, written) {
            self.tell(Alarm::LatchNotWritten(latch));
        }
        self.effect(Effect::StopProcess);
        rule!(Fus4);
        self.done(Event::LatchSettled { written })
    }

    /// After a boot: a latch of our own trip is written again, since its file may be gone (FUS-6).
    pub(super) fn relatch(mut self) -> Step<Station> {
        rule!(Fus6);
        let Some(latch) = self.image().latch.clone() else { return self.done(Event::Relatching) };
        match latch.cause {
            LatchCause::Found => self.stop(latch.latch),
            LatchCause::Tripped { .. } => {
                if latch.audit.is_none() {
                    let audit = TripAudit::Missing(MissingAudit::Interrupted);
                    self.record(Record::TripAudited { audit });
                }
                self.write_latch();
            }
        }
        self.done(Event::Relatching)
    }

    pub(super) fn clear(mut self, command: CommandId) -> Step<Station> {
        rule!(Fus7);
        self.record(Record::ClearAccepted { command });
        let ticket = self.issue();
        self.stage(LatchStage::Archiving(ticket, command));
        if let Some(note) = self.image().latch.as_ref().map(super::Latch::note) {
            self.effect(Effect::ArchiveLatch { ticket, note });
        }
        self.done(Event::ClearAccepted)
    }

    pub(super) fn latch_archived(mut self, command: CommandId) -> Step<Station> {
        rule!(Fus7);
        self.record(Record::LatchArchived);
        let ticket = self.issue();
        self.stage(LatchStage::Removing(ticket, command));
        if let Some(latch) = self.image().latch.as_ref().map(|latch| latch.latch) {
            self.effect(Effect::RemoveLatch { ticket, latch });
            rule!(Aud4);
        }
        self.done(Event::LatchArchived)
    }

    pub(super) fn clear_failed(mut self) -> Step<Station> {
        self.stage(LatchStage::Down);
        if let Some(latch) = self.image().latch.as_ref().map(|latch| latch.latch) {
            self.tell(Alarm::ClearFailed(latch));
        }
        self.done(Event::ClearFailed)
    }

    /// To DARK: work starts again only by a new grant.
    pub(super) fn latch_removed(mut self, command: CommandId) -> Step<Station> {
        rule!(Fus7);
        self.record(Record::LatchCleared { command });
        if self.image().grant.is_some() {
            self.record(Record::GrantEnded { end: GrantEnd::Cleared });
        }
        self.live().grant_ends = None;
        self.go(Phase::Dark);
        self.done(Event::Cleared)
    }
}
