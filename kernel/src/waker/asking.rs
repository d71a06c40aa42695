//! The transitions between a waker and the plane: questions, permits, sweeps, and what switches starts on and off.
//!
//! Nothing here decides whether a transition may happen: that is [`super::step`]. Rules: VER-2, DSP-1, DSP-7,
//! DSP-11.

use alloc::vec::Vec;

use awakener_spec::{Class, rule};

use super::Waker;
use super::capability::Capability;
use super::image::Record;
use super::input::{Effect, Event, Hold, Next, Ticket};
use super::live::{About, Asked, Live, patience};
use crate::config::Config;
use crate::ids::Nonce;
use crate::machine::{Draft, Step};
use crate::time::{Mono, Now};
use crate::values::{Hint, Permit, Question};

/// One step under construction, with what it is judged by.
pub(super) struct Act<'a> {
    pub(super) draft: Draft<Waker>,
    pub(super) config: &'a Config,
    pub(super) now: Now,
}

impl<'a> Act<'a> {
    pub(super) const fn new(waker: Waker, config: &'a Config, now: Now) -> Self {
        Self { draft: Draft::new(waker), config, now }
    }

    pub(super) const fn live(&mut self) -> &mut Live {
        &mut self.draft.machine.live
    }

    pub(super) fn ticket(&mut self) -> Ticket {
        let boot = self.draft.machine.image.boot;
        let live = self.live();
        live.issued = live.issued.saturating_add(1);
        Ticket { boot, number: live.issued }
    }

    pub(super) fn done(self, event: Event) -> Step<Waker> {
        self.draft.advanced(event)
    }
}

/// Questions.
impl Act<'_> {
    /// Takes a hint before the plane. It is held until it expires: on the monotonic clock, since that one waits.
    pub(super) fn ask_about(self, hint: Hint) -> Step<Waker> {
        let until = self.now.mono + hint.expires.saturating_since(self.now.wall);
        self.ask(Asked { about: About::Fresh(hint), out: None, until })
    }

    /// Takes the pending start before the plane again, under the wake that was accepted; its expiry does not count
    /// any more. An answer that takes longer than a permit lives would bring a spent one.
    pub(super) fn ask_again(self, question: Question) -> Step<Waker> {
        rule!(Dsp1);
        let until = self.now.mono + self.config.permit;
        self.ask(Asked { about: About::Again(question), out: None, until })
    }

    pub(super) fn ask(mut self, asked: Asked) -> Step<Waker> {
        rule!(Dsp7);
        let (ticket, question) = (self.ticket(), asked.about.question());
        self.live().question = Some(Asked { out: Some((ticket, self.now.mono)), ..asked });
        self.draft.effect(Effect::Ask { ticket, question });
        self.done(Event::Asked { wake: question.wake })
    }

    /// A hint came while a question is out, whose answer may be older than what the hint is about.
    pub(super) fn owe_look(mut self) -> Step<Waker> {
        rule!(Dsp7);
        self.live().owed = true;
        self.done(Event::LookOwed)
    }

    /// No answer: a hint stays held, a pending start stays pending.
    pub(super) fn ask_failed(mut self, asked: Asked) -> Step<Waker> {
        let retry = self.now.mono + patience(self.config);
        let live = self.live();
        live.retry = retry;
        live.question = match asked.about {
            About::Fresh(_) => Some(Asked { out: None, ..asked }),
            About::Again(_) => None,
        };
        self.done(Event::AskFailed)
    }
}

/// Answers.
impl Act<'_> {
    /// The hint is not accepted: nothing but the question goes (VER-5).
    pub(super) fn withheld(mut self, hint: Hint, class: Class) -> Step<Waker> {
        rule!(Ver5);
        self.live().question = None;
        self.done(Event::Withheld { wake: hint.wake, class })
    }

    /// The one transition that changes what verification remembers (VER-2).
    pub(super) fn accept(
        mut self,
        hint: Hint,
        evicted: Vec<Nonce>,
        permit: Permit,
        asked: Mono,
    ) -> Step<Waker> {
        rule!(Ver2);
        self.live().question = None;
        self.draft.record(Record::Accepted { hint, evicted });
        let question = About::Fresh(hint).question();
        let next = self.start(question, permit, asked);
        self.done(Event::Accepted { wake: hint.wake, next })
    }

    /// The pending start is permitted.
    pub(super) fn permitted(mut self, question: Question, permit: Permit, asked: Mono) -> Step<Waker> {
        self.live().question = None;
        let next = self.start(question, permit, asked);
        self.done(Event::Permitted { wake: question.wake, next })
    }

    fn start(&mut self, question: Question, permit: Permit, asked: Mono) -> Next {
        if let Some(hold) = self.draft.machine.hold(self.now.mono) {
            rule!(Dsp1);
            return Next::Wait(hold);
        }
        let until = asked + permit.life;
        if self.now.mono >= until {
            self.live().retry = self.now.mono + patience(self.config);
            return Next::Wait(Hold::PermitSpent);
        }
        Next::Dispatch { attempt: self.take_off(question, permit.fence, until) }
    }

    /// Another daemon has the permit; the start stays owed, and is asked for when that permit has run out.
    pub(super) fn permit_held(mut self, question: Question) -> Step<Waker> {
        rule!(Dsp7);
        let retry = self.now.mono + self.config.permit;
        let live = self.live();
        live.question = None;
        live.retry = retry;
        self.done(Event::Permitted { wake: question.wake, next: Next::Wait(Hold::PermitHeld) })
    }

    /// The pending start is not permitted any more. A look is owed, since it may have stood for later alerts too.
    pub(super) fn dropped(mut self, question: Question, class: Class) -> Step<Waker> {
        rule!(Dsp7);
        let live = self.live();
        live.question = None;
        live.owed = true;
        self.draft.record(Record::Dropped { wake: question.wake, class });
        self.done(Event::Dropped { wake: question.wake, class })
    }
}

/// Looks.
impl Act<'_> {
    /// Asks the plane what is owed. A sweep that is still out is given up: its answer will be late.
    pub(super) fn sweep(mut self) -> Step<Waker> {
        rule!(Dsp11);
        let (ticket, next) = (self.ticket(), self.now.mono + self.config.sweep);
        let live = self.live();
        live.sweep = Some(ticket);
        live.sweep_at = next;
        // Whatever makes this sweep blind (a question that is out, a start that is owed, a flight) owes a look again
        // when it ends or when a hint comes.
        live.owed = false;
        self.draft.effect(Effect::Sweep { ticket });
        self.done(Event::Sweeping)
    }

    pub(super) fn swept(mut self, any: bool) -> Step<Waker> {
        self.live().sweep = None;
        self.done(Event::Swept { any })
    }

    pub(super) fn sweep_failed(mut self) -> Step<Waker> {
        let retry = self.now.mono + patience(self.config);
        let live = self.live();
        live.sweep = None;
        live.owed = true;
        live.retry = retry;
        self.done(Event::AskFailed)
    }

    /// What could not be asked can be asked now, and whatever came meanwhile was missed.
    pub(super) fn reconnected(mut self) -> Step<Waker> {
        rule!(Dsp11);
        let mono = self.now.mono;
        let live = self.live();
        live.sweep_at = mono;
        live.retry = mono;
        self.done(Event::Reconnected)
    }
}

/// Switches.
impl Act<'_> {
    pub(super) fn pause(mut self) -> Step<Waker> {
        self.live().paused = true;
        self.done(Event::Paused)
    }

    pub(super) fn resume(mut self) -> Step<Waker> {
        rule!(Dsp11);
        let live = self.live();
        live.paused = false;
        live.owed = true;
        self.done(Event::Resumed)
    }

    pub(super) fn capability(mut self, capability: Capability) -> Step<Waker> {
        rule!(Dsp8);
        self.live().capability = capability;
        self.done(Event::CapabilityChanged)
    }
}
