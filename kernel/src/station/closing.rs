//! From a complete turn to a closed message: ACKING, SYNCED (STN-3, STN-6, STN-7, STN-9).

use awakener_spec::{Reason, rule};

use super::evidence::Evidence;
use super::leaf::Leaf;
use super::pass::record_result;
use super::phase::{Acking, Closing, Phase, Synced};
use super::work::{Answer, CursorAfter, Hand, Pass, Work};
use super::{Effect, Event, Record, Station};
use crate::ids::{Fence, MessageId, Seq, TurnId};
use crate::machine::Step;
use crate::time::Millis;
use crate::values::Finish;

impl Closing {
    /// The lease under which it is closed.
    pub(super) const fn fence(&self) -> Option<Fence> {
        match self {
            Self::Result(pass, _) | Self::Ack(pass, _) => Some(pass.fence),
            Self::Own(..) => None,
        }
    }
}

impl Leaf<'_> {
    fn acking(&mut self, closing: Closing) -> super::Ticket {
        let (ticket, until) = (self.issue(), self.now.mono + self.config.lease);
        self.go(Phase::Acking(Acking { ticket, closing, until }));
        ticket
    }

    /// Result first, then the ACK; the result is idempotent by turn, so a repetition says nothing twice.
    pub(super) fn begin_closing(&mut self, pass: Pass, answer: Answer) {
        rule!(Stn6);
        let ticket = self.acking(Closing::Result(pass, answer));
        self.effect(Effect::Renew { fence: pass.fence });
        self.effect(record_result(ticket, pass, answer));
    }

    /// READING→ACKING: the turn was run before, only its pass did not come to its end. Its report may have been lost
    /// with that pass, and without one the mailbox takes no ACK of the station (ACK-5).
    pub(super) fn resume_turn(mut self, work: &Work, turn: TurnId, answer: Answer) -> Step<Station> {
        let pass = work.pass(turn);
        self.record(Record::TurnResumed { pass, answer, at: self.now.wall });
        let finish = Finish::Complete;
        self.effect(Effect::ReportTurn { turn: pass.turn, fence: pass.fence, finish });
        self.begin_closing(pass, answer);
        self.done(Event::TurnResumed)
    }

    pub(super) fn send_ack(mut self, pass: Pass, answer: Answer) -> Step<Station> {
        rule!(Stn6);
        self.record(Record::ResultRecorded { turn: pass.turn });
        let ticket = self.acking(Closing::Ack(pass, answer));
        let (turn, content, outcome, fence) = (pass.turn, pass.content, answer.outcome, pass.fence);
        self.effect(Effect::SendAck { ticket, turn, content, outcome, fence });
        self.done(Event::ResultRecorded)
    }

    pub(super) fn result_closes(mut self, pass: Pass) -> Step<Station> {
        self.record(Record::ResultRecorded { turn: pass.turn });
        self.close(pass.turn.message, pass.seq)
    }

    pub(super) fn sync(self, closing: Closing) -> Step<Station> {
        self.close(closing.message(), closing.seq())
    }

    fn close(mut self, message: MessageId, seq: Seq) -> Step<Station> {
        self.record(Record::Synced { message });
        self.live().rests.remove(&message);
        let latency = self.image().latency(seq);
        self.go(Phase::Synced(Synced { message, latency }));
        self.clean_up();
        self.done(Event::Synced(latency))
    }

    /// ACKING→ARMED: refused or not recorded. The complete turn is kept, so the next pass repeats nothing.
    pub(super) fn still_outstanding(mut self, closing: Closing, why: Option<Reason>) -> Step<Station> {
        if self.image().turn.is_some() {
            self.fail(closing.message(), why);
            self.clean_up();
        }
        self.arm(Millis::ZERO);
        self.done(Event::StillOutstanding)
    }

    /// The target's own ACK needs no result of a turn; a turn that was running did not report.
    pub(super) fn own_ack(mut self, message: MessageId, seq: Seq, by: Hand) -> Step<Station> {
        self.release_claim();
        if let Phase::Cognizing(c) = *self.phase() {
            self.end_turn(c.pass, Finish::Unreported, Evidence::Unreported, None);
        }
        let ticket = self.acking(Closing::Own(message, seq, by));
        self.effect(Effect::ForwardAck { ticket, message, by });
        self.done(Event::OwnAckSeen(by))
    }

    /// Nothing of the pass is left. SYNCED→ARMED; in other phases the debt of an earlier pass is paid.
    pub(super) fn cleaned_up(mut self, cursor: CursorAfter) -> Step<Station> {
        rule!(Stn9);
        let turn = self.image().turn.map(|turn| turn.turn.turn);
        self.record(Record::CleanedUp { turn });
        self.live().cleaning = None;
        match self.phase() {
            Phase::Synced(_) | Phase::Armed(_) => self.arm(Millis::ZERO),
            Phase::Dark
            | Phase::Waking(_)
            | Phase::Reading(_)
            | Phase::Cognizing(_)
            | Phase::Acking(_)
            | Phase::Refused(_)
            | Phase::LatchedDown(_) => {}
        }
        self.done(Event::CleanedUp(cursor))
    }
}
