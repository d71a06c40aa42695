//! The transitions of a flight, from the durable decision to start to its end.
//!
//! Nothing here decides whether a transition may happen: that is [`super::step`]. Rules: DSP-1…5, DSP-12.

use awakener_spec::rule;

use super::Waker;
use super::asking::Act;
use super::capability::Capability;
use super::image::{Flight, Notice, Record};
use super::input::{Effect, Event, Fate, Warning};
use super::live::{Aloft, Resolve, back_off};
use crate::ids::Fence;
use crate::machine::Step;
use crate::time::Mono;
use crate::values::{DispatchOutcome, FlightEnd, FlightReport, Question};

impl Act<'_> {
    /// Begins a flight: the record, and only after it the act. Cooldown and `flight_max` run from here.
    pub(super) fn take_off(&mut self, question: Question, fence: Fence, until: Mono) -> u64 {
        rule!(Dsp2);
        let Question { wake, message, .. } = question;
        let now = self.now;
        let attempt = self.draft.machine.image.attempts.saturating_add(1);
        self.draft.record(Record::DispatchAttempted { attempt, wake, message, fence, at: now.wall });
        let ticket = self.ticket();
        let aloft = Aloft { until: now.mono + self.config.flight_max, dispatch: Some(ticket), resolve: None };
        let ready = now.mono + self.config.cooldown;
        let live = self.live();
        live.ready = ready;
        live.aloft = Some(aloft);
        let attended = live.capability == Capability::Attended;
        self.draft.effect(Effect::Report { fence, wake, report: FlightReport::Attempted });
        self.draft.effect(Effect::Dispatch { ticket, attempt, wake, message, fence, until, attended });
        attempt
    }

    /// The adapter has answered. A definite failure ends the flight at once (DSP-3); an unknown outcome keeps it
    /// open (DSP-5); none of them is a success (DSP-4).
    pub(super) fn dispatched(
        mut self,
        flight: Flight,
        aloft: Aloft,
        outcome: DispatchOutcome,
    ) -> Step<Waker> {
        rule!(Dsp4);
        let Flight { attempt, fence, wake, .. } = flight;
        self.live().aloft = Some(Aloft { dispatch: None, ..aloft });
        self.draft.record(Record::Dispatched { attempt, outcome });
        self.draft.effect(Effect::Report { fence, wake, report: FlightReport::Outcome(outcome) });
        if outcome.certainly_nothing() {
            rule!(Dsp3);
            self.land(flight, FlightEnd::NeverStarted);
        }
        self.done(Event::Dispatched { attempt, outcome })
    }

    /// Work was read: whatever the adapter said or will say, the runtime knows.
    pub(super) fn inbox_read(mut self, flight: Flight) -> Step<Waker> {
        rule!(Dsp5);
        self.draft.record(Record::InboxRead { attempt: flight.attempt });
        self.done(Event::InboxRead)
    }

    pub(super) fn flight_ended(mut self, flight: Flight, end: FlightEnd) -> Step<Waker> {
        self.land(flight, end);
        self.done(Event::FlightEnded { attempt: flight.attempt, end })
    }

    /// The flight has lasted too long. That is an end, never a success; and if nobody could tell what became of it,
    /// a human should know.
    pub(super) fn flight_max(mut self, flight: Flight, aloft: Aloft) -> Step<Waker> {
        let Flight { attempt, wake, message, .. } = flight;
        self.land(flight, FlightEnd::Expired);
        if aloft.resolve.is_some() {
            rule!(Dsp12);
            self.draft.effect(Effect::TellOperator(Warning::FateUnknown { attempt, wake, message }));
        }
        self.done(Event::FlightEnded { attempt, end: FlightEnd::Expired })
    }

    /// Ends the flight: the plane hears of it, and a look is owed (DSP-2).
    fn land(&mut self, flight: Flight, end: FlightEnd) {
        rule!(Dsp2);
        let Flight { attempt, fence, wake, .. } = flight;
        self.draft.record(Record::FlightEnded { attempt, end });
        self.draft.effect(Effect::Report { fence, wake, report: FlightReport::Ended(end) });
        let backed_off = match end {
            FlightEnd::NeverStarted => {
                self.now.mono + back_off(self.config, self.draft.machine.image.failures)
            }
            FlightEnd::ProcessEnded | FlightEnd::WorkFinished | FlightEnd::Idle | FlightEnd::Expired => {
                self.now.mono
            }
        };
        let live = self.live();
        live.ready = live.ready.max(backed_off);
        live.aloft = None;
        live.owed = true;
    }
}

/// After a restart (DSP-12).
impl Act<'_> {
    /// Asks what became of the flight. Its first report may have been lost with the old process, so it is said again.
    pub(super) fn probe(mut self, flight: Flight, aloft: Aloft) -> Step<Waker> {
        rule!(Dsp12);
        let Flight { attempt, wake, message, fence, .. } = flight;
        let ticket = self.ticket();
        self.live().aloft = Some(Aloft { resolve: Some(Resolve::Out(ticket)), ..aloft });
        self.draft.effect(Effect::Report { fence, wake, report: FlightReport::Attempted });
        self.draft.effect(Effect::Probe { ticket, attempt, wake, message, fence });
        self.done(Event::Probing)
    }

    pub(super) fn probed(mut self, flight: Flight, aloft: Aloft, fate: Fate) -> Step<Waker> {
        rule!(Dsp12);
        match fate {
            // It may have run and ended, or never run: the end claims neither success nor failure, so that it moves
            // no back-off.
            Fate::Gone => self.land(flight, FlightEnd::ProcessEnded),
            Fate::Alive => {
                self.live().aloft = Some(Aloft { resolve: None, ..aloft });
                if flight.notice != Notice::Told {
                    self.draft.record(Record::FoundAlive { attempt: flight.attempt });
                }
            }
            Fate::CannotTell => {
                let again = self.now.mono + self.config.sweep;
                self.live().aloft = Some(Aloft { resolve: Some(Resolve::At(again)), ..aloft });
            }
        }
        self.done(Event::Probed(fate))
    }
}
