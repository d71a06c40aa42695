//! What must come to nothing, and when it is tried.

use awakener_kernel::ids::Tier;
use awakener_kernel::values::By;

use super::act::Forgery;
use super::outside::bits;
use super::scope::Subject;
use super::{State, World};
use crate::names;

impl World {
    /// Everything that is forged, stolen or mistaken about a subject.
    pub(super) fn forgeries(&self, state: &State, subject: Subject, mut say: impl FnMut(Forgery)) {
        match subject {
            Subject::Admission => {
                for (n, mail) in state.seen.store.numbered() {
                    if mail.place.is_some() {
                        say(Forgery::SubmitOtherContent(n));
                    }
                }
                say(Forgery::SubmitTakenId);
                say(Forgery::SubmitStranger);
                say(Forgery::SubmitWithoutRoster);
                say(Forgery::SubmitMalformedRoster);
                say(Forgery::SubmitExpiredRoster);
                say(Forgery::SubmitSelfWake);
                say(Forgery::SubmitCannotAck);
                say(Forgery::SubmitLostLease);
                say(Forgery::SubmitEcho);
            }
            Subject::Work => {
                say(Forgery::AckForeignKey(By::Station));
                say(Forgery::AckForeignKey(By::Agent));
                say(Forgery::AckRevokedKey);
                say(Forgery::AckBadSignature);
                say(Forgery::AckOtherTarget);
                say(Forgery::AckOtherContent);
                say(Forgery::AckFuture);
                if let Some(n) = (0..3).find(|n| self.bounds.tier(*n) != Tier::Zero) {
                    say(Forgery::AckOtherTier(n));
                }
                say(Forgery::AckUnknown);
                // Said again after the witness is closed it is a repeat, and no forgery.
                if state
                    .plane
                    .inside()
                    .rows
                    .row(names::message(0))
                    .is_none_or(|(_, row)| row.closed.is_none())
                {
                    say(Forgery::AckWithoutLease);
                }
                say(Forgery::ReadWithoutLease(0));
                say(Forgery::RespondWithoutLease(0));
            }
            Subject::Wake => {
                say(Forgery::AskUnminted);
                say(Forgery::ReportUnminted);
                say(Forgery::PublishedUnminted);
                if let Some(hint) = bits(state.outside.hints).last() {
                    say(Forgery::AskOtherToken(hint));
                    say(Forgery::AskOtherMessage(hint));
                    say(Forgery::ReportNeverGranted(hint));
                }
                if let Some((d, fence, wake)) = state.permits.last() {
                    // What is over is over for everybody: then the report of another daemon is late, not forged.
                    if state
                        .plane
                        .inside()
                        .image
                        .permit
                        .as_ref()
                        .is_some_and(|p| p.fence.0 == u64::from(*fence))
                    {
                        say(Forgery::ReportOtherDaemon(*fence, *wake, *d));
                    }
                }
            }
            Subject::Office => {
                say(Forgery::ResolveUnknown);
                say(Forgery::ReleaseUnknown);
                say(Forgery::ExpireUnknown);
            }
        }
    }
}
