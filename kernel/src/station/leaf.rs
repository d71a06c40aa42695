//! What the named transitions are made of: a draft with limits and time at hand, and the moves that several share.
//!
//! No judgement here. Rules: STN-2 (recovery), STN-9 (rest and cleanup).

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use awakener_spec::{Reason, rule};

use super::phase::{Armed, Cleaning, LatchStage, LatchedDown, Live, Phase};
use super::work::{GrantEnd, Ticket};
use super::{Alarm, Effect, Event, Image, Record, Station, check};
use crate::config::Config;
use crate::ids::MessageId;
use crate::machine::{Draft, Machine as _, Step, Violation};
use crate::time::{Millis, Now};

/// A step under construction.
pub(super) struct Leaf<'a> {
    pub(super) draft: Draft<Station>,
    pub(super) config: &'a Config,
    pub(super) now: Now,
}

impl<'a> Leaf<'a> {
    pub(super) const fn new(station: Station, config: &'a Config, now: Now) -> Self {
        Self { draft: Draft::new(station), config, now }
    }

    pub(super) const fn live(&mut self) -> &mut Live {
        &mut self.draft.machine.live
    }

    pub(super) const fn image(&self) -> &Image {
        &self.draft.machine.image
    }

    pub(super) const fn phase(&self) -> &Phase {
        &self.draft.machine.live.phase
    }

    pub(super) fn go(&mut self, phase: Phase) {
        rule!(Stn3);
        self.live().phase = phase;
    }

    pub(super) fn record(&mut self, record: Record) {
        self.draft.record(record);
    }

    pub(super) fn effect(&mut self, effect: Effect) {
        self.draft.effect(effect);
    }

    pub(super) fn tell(&mut self, alarm: Alarm) {
        self.effect(Effect::TellOperator(alarm));
    }

    pub(super) fn done(self, event: Event) -> Step<Station> {
        self.draft.advanced(event)
    }

    pub(super) const fn issue(&mut self) -> Ticket {
        let live = self.live();
        live.issued = live.issued.saturating_add(1);
        self.draft.machine.last_ticket()
    }

    /// To ARMED; the inbox is looked at after `wait`, or when the first rest ends.
    pub(super) fn arm(&mut self, wait: Millis) {
        let now = self.now.mono;
        self.live().rests.retain(|_, until| *until > now);
        let first_rest = self.draft.machine.live.rests.values().min().copied();
        let look = first_rest.map_or(now + wait, |rest| rest.min(now + wait));
        self.go(Phase::Armed(Armed { look }));
    }

    /// Messages that are not to be worked on now.
    pub(super) fn skip(&self) -> Vec<MessageId> {
        let rests = self.draft.machine.live.rests.iter();
        rests.filter(|(_, until)| **until > self.now.mono).map(|(message, _)| *message).collect()
    }

    /// A pass did not close its message: it rests, longer each time (STN-9).
    pub(super) fn fail(&mut self, message: MessageId, why: Option<Reason>) {
        rule!(Stn9);
        let failures = self.image().progress.get(&message).map_or(0, |p| p.failures);
        let pause = back_off(self.config, failures);
        let (at, rests_until) = (self.now.wall, self.now.wall + pause);
        self.record(Record::PassFailed { message, why, rests_until, at });
        let until = self.now.mono + pause;
        self.live().rests.insert(message, until);
        if self.image().exhausted(self.config, message) {
            self.tell(Alarm::Stuck(message));
        }
    }

    /// Asks for a cleanup, now and again until it is done (STN-9).
    pub(super) fn clean_up(&mut self) {
        let ticket = match self.draft.machine.live.cleaning {
            Some(cleaning) => cleaning.ticket,
            None => self.issue(),
        };
        let again = self.now.mono + self.config.lease;
        self.live().cleaning = Some(Cleaning { ticket, again });
        let turn = self.image().turn.map(|turn| (turn.turn, turn.fence));
        self.effect(Effect::CleanUp { ticket, turn });
    }
}

/// `back_off_base`, doubled for each failure, at most `back_off_max`.
fn back_off(config: &Config, failures: u32) -> Millis {
    let factor = 1_u64.checked_shl(failures).unwrap_or(u64::MAX);
    Millis(config.back_off_base.0.saturating_mul(factor)).min(config.back_off_max)
}

/// Wakes a station (STN-2): no effects; the first deadlines ask for what is owed.
pub(super) fn recover(config: &Config, now: Now, image: Image) -> Result<Step<Station>, Violation> {
    check::image(&image)?;
    let epoch = image.epoch.saturating_add(1);
    let live =
        Live { phase: Phase::Dark, issued: 0, grant_ends: None, rests: BTreeMap::new(), cleaning: None };
    let mut leaf = Leaf::new(Station { image, live }, config, now);
    leaf.record(Record::Booted { epoch });
    leaf.lose_turn();
    leaf.resume_clocks();
    leaf.resume_phase();
    leaf.draft.machine.check(config)?;
    // A recovery has no effects; what `fail` wanted to say is said again when the message is next claimed.
    let step = leaf.done(Event::Recovered);
    Ok(Step { effects: Vec::new(), ..step })
}

impl Leaf<'_> {
    /// Nobody saw the end of a turn that ran when the station went down.
    fn lose_turn(&mut self) {
        if let Some(turn) = self.image().turn.filter(|turn| turn.finish.is_none()) {
            self.record(Record::TurnLost { turn: turn.turn, at: self.now.wall });
            self.fail(turn.turn.message, None);
        }
    }

    /// Durable ends on wall time become ends on this boot's clock, clamped to their own length.
    fn resume_clocks(&mut self) {
        let (now, config) = (self.now, self.config);
        let left = |until: crate::time::Wall, most: Millis| until.saturating_since(now.wall).min(most);
        let rests = self.image().progress.iter();
        let rests = rests.map(|(message, p)| (*message, now.mono + left(p.rests_until, config.back_off_max)));
        let rests = rests.filter(|(_, until)| *until > now.mono).collect();
        self.live().rests = rests;
        let grant_ends = self.image().grant.map(|grant| now.mono + left(grant.until, config.grant));
        if grant_ends.is_some_and(|ends| ends <= now.mono) {
            rule!(Stn2);
            self.record(Record::GrantEnded { end: GrantEnd::Expired });
        } else {
            self.live().grant_ends = grant_ends;
        }
        if self.image().turn.is_some() {
            let cleaning = Cleaning { ticket: self.issue(), again: now.mono };
            self.live().cleaning = Some(cleaning);
        }
    }

    fn resume_phase(&mut self) {
        rule!(Stn2);
        if self.image().latch.is_some() {
            rule!(Fus6);
            let stage = LatchStage::Owed(self.now.mono);
            self.go(Phase::LatchedDown(LatchedDown { stage }));
        } else if self.image().grant.is_some() {
            self.arm(Millis::ZERO);
        } else {
            self.go(Phase::Dark);
        }
    }
}
