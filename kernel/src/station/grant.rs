//! Who may work at all: grants and their end, and causes that forbid work for a while (STN-2, STN-3).

use alloc::collections::BTreeSet;

use awakener_spec::rule;

use super::leaf::Leaf;
use super::phase::{Phase, Refused};
use super::work::{Grant, GrantEnd, RefusedCause};
use super::{Event, Record, Station};
use crate::machine::Step;
use crate::time::Millis;

impl Leaf<'_> {
    fn hold(&mut self, grant: Grant) {
        self.record(Record::Granted { grant });
        let ends = self.now.mono + grant.until.saturating_since(self.now.wall);
        self.live().grant_ends = Some(ends);
    }

    pub(super) fn arm_by_grant(mut self, grant: Grant) -> Step<Station> {
        self.hold(grant);
        self.arm(Millis::ZERO);
        self.done(Event::Granted)
    }

    pub(super) fn move_grant(mut self, grant: Grant) -> Step<Station> {
        self.hold(grant);
        self.done(Event::Granted)
    }

    /// To DARK; from LATCHED_DOWN only the grant goes, the latch stays.
    pub(super) fn end_grant(mut self, end: GrantEnd) -> Step<Station> {
        rule!(Stn2);
        self.abandon();
        self.record(Record::GrantEnded { end });
        self.live().grant_ends = None;
        match self.phase() {
            Phase::LatchedDown(_) => {}
            Phase::Dark
            | Phase::Armed(_)
            | Phase::Waking(_)
            | Phase::Reading(_)
            | Phase::Cognizing(_)
            | Phase::Acking(_)
            | Phase::Synced(_)
            | Phase::Refused(_) => self.go(Phase::Dark),
        }
        self.done(Event::GrantEnded(end))
    }

    pub(super) fn refuse_work(mut self, cause: RefusedCause) -> Step<Station> {
        let mut causes = match self.phase() {
            Phase::Refused(refused) => refused.causes.clone(),
            Phase::Dark
            | Phase::Armed(_)
            | Phase::Waking(_)
            | Phase::Reading(_)
            | Phase::Cognizing(_)
            | Phase::Acking(_)
            | Phase::Synced(_)
            | Phase::LatchedDown(_) => BTreeSet::new(),
        };
        causes.insert(cause);
        self.abandon();
        self.go(Phase::Refused(Refused { causes }));
        self.done(Event::CauseFound)
    }

    pub(super) fn allow_work(mut self, cause: RefusedCause) -> Step<Station> {
        if let Phase::Refused(refused) = &mut self.live().phase {
            refused.causes.remove(&cause);
            if refused.causes.is_empty() {
                self.arm(Millis::ZERO);
            }
        }
        self.done(Event::CauseGone)
    }
}
