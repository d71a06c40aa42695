//! How the ghost takes in what a waker answered, one event at a time.
//!
//! Everything that is said of a start is checked here, at the moment of the decision: that the plane gave its word, that
//! no flight is open, that cooldown and back-off are over, that nothing forbids it. Rules: VER-1…3, DSP-1…3, DSP-5,
//! DSP-7, DSP-8, DSP-10, DSP-12.

use awakener_kernel::ids::WakeId;
use awakener_kernel::machine::{Outcome, OutcomeOf};
use awakener_kernel::values::{Answer, DispatchOutcome, FlightEnd};
use awakener_kernel::waker::{Capability, Event, Fate, Hold, Input, Next, Waker};
use awakener_spec::Class;

use super::door::Text;
use super::limits::{COOLDOWN, PATIENCE, PERMIT, back_off};
use super::seen::{Asked, Broken, Owes, Seen, Span, Start, Taken};
use crate::names;

impl Seen {
    /// An answer leaves the process, or is written where nobody hears it. `history` = how many nonces are kept.
    pub fn answered(&mut self, history: u32, asked: &Asked, outcome: &OutcomeOf<Waker>) -> Owes {
        let Outcome::Advanced(event) = outcome else { return Owes::default() };
        let mut owes = Owes::default();
        match *event {
            Event::Asked { wake } => self.asked(wake, asked),
            Event::LookOwed | Event::Resumed => {
                self.look = true;
                self.paused &= *event != Event::Resumed;
            }
            Event::Withheld { class, .. } => self.withheld(history, asked, class),
            Event::Accepted { wake, next } => {
                self.accepted(history, wake, asked);
                self.follows(wake, next, asked);
            }
            Event::Permitted { wake, next } => {
                self.note(!is_word(asked, next), Broken::Unasked);
                self.follows(wake, next, asked);
            }
            Event::Dropped { class, .. } => self.dropped(asked, class),
            Event::AskFailed => {
                let sweep = matches!(asked.input, Input::AskFailed { ticket } if self.sweep == Some(ticket));
                if sweep {
                    (self.look, self.sweep) = (true, None);
                }
                self.held |= !sweep && self.asking.is_some();
                self.not_before = asked.at + PATIENCE;
            }
            Event::Dispatched { outcome, .. } => owes.ends = self.dispatched(asked, outcome),
            Event::Probed(fate) => owes.ends = self.probed(fate),
            Event::InboxRead => {
                self.failures = 0;
                self.start.iter_mut().for_each(|start| start.unsure = false);
            }
            Event::FlightEnded { end, .. } => {
                let resolving = self.start.is_some_and(|start| start.resolving);
                // Only the clock says that a flight took too long.
                let ended = match asked.input {
                    Input::FlightEnded { end, .. } => end,
                    _ => FlightEnd::Expired,
                };
                let warnings = usize::from(resolving && ended == FlightEnd::Expired);
                owes = Owes { ends: vec![ended], warnings };
                if end == FlightEnd::NeverStarted {
                    self.failed(asked);
                }
                self.ended();
            }
            Event::Paused => self.paused = true,
            Event::CapabilityChanged => {
                if let Input::Capability(capability) = asked.input {
                    self.manifest = Some(capability);
                }
            }
            Event::Reconnected => (self.swept, self.look, self.not_before) = (false, true, 0),
            Event::Sweeping => {
                // No clock of a scope reaches a regular look.
                self.note(!self.look, Broken::Restless);
                self.note(self.swept && asked.at < self.not_before, Broken::Impatient);
                self.look = false;
            }
            Event::Swept { .. } => self.sweep = None,
            Event::Booted | Event::Probing => {}
        }
        owes
    }

    /// A hint came before the plane. A timer asks again about what is known already.
    fn asked(&mut self, wake: WakeId, asked: &Asked) {
        self.held = false;
        self.note(asked.input == Input::Fire && asked.at < self.not_before, Broken::Impatient);
        if let Input::Hint(hint) = asked.input {
            self.note(hint.wake != wake, Broken::Unasked);
            self.asking = Some(Text {
                wake: names::wake_number(hint.wake),
                nonce: hint.nonce.0[0],
                token: hint.token,
                time: small(hint.time.0),
                expires: small(hint.expires.0),
            });
        }
    }

    /// The class that a hint gets after it was asked about: too late, or what the plane said, or no room any more.
    fn withheld(&mut self, history: u32, asked: &Asked, class: Class) {
        let late = self.asking.is_some_and(|text| text.expires <= asked.wall);
        let full = self.evictable(history, asked.wall).is_some_and(|(_, may_go)| !may_go);
        let good = match asked.input {
            Input::Answer { .. } if late => class == Class::Unanswered,
            Input::Answer { answer: Answer::Withheld(said), .. } => class == said,
            Input::Answer { answer: Answer::Granted(_), .. } => full && class == Class::WindowFull,
            // The wait is measured on the monotonic clock, so that the wall clock may say anything here.
            _ => class == Class::Unanswered,
        };
        self.note(!good, Broken::Class);
        (self.asking, self.held) = (None, false);
    }

    fn accepted(&mut self, history: u32, wake: WakeId, asked: &Asked) {
        let granted = matches!(asked.input, Input::Answer { answer: Answer::Granted(_), .. });
        let Some(text) = self.asking.take() else {
            self.broken.insert(Broken::Unasked);
            return;
        };
        self.note(!granted || names::wake(text.wake) != wake, Broken::Unasked);
        self.note(self.high().is_some_and(|high| text.token <= high), Broken::Token);
        self.note(text.expires <= asked.wall, Broken::Late);
        if let Some((nonce, may_go)) = self.evictable(history, asked.wall) {
            self.note(!may_go, Broken::Full);
            let gone = self.accepted.iter_mut().find(|taken| taken.text.nonce == nonce);
            gone.into_iter().for_each(|taken| taken.kept = false);
        }
        self.accepted.push(Taken { text, kept: true });
        self.owed = true;
    }

    fn dropped(&mut self, asked: &Asked, class: Class) {
        let said = match asked.input {
            Input::Answer { answer: Answer::Withheld(said), .. } => Some(said),
            _ => None,
        };
        self.note(said != Some(class) || class == Class::PermitHeld, Broken::Dropped);
        (self.owed, self.look) = (false, true);
    }

    fn follows(&mut self, wake: WakeId, next: Next, asked: &Asked) {
        let attempt = match next {
            Next::Dispatch { attempt } => attempt,
            Next::Wait(hold) => {
                match hold {
                    Hold::PermitHeld => self.not_before = asked.at + PERMIT,
                    Hold::PermitSpent => self.not_before = asked.at + PATIENCE,
                    Hold::Flight | Hold::Ineligible(_) | Hold::Paused | Hold::Cooldown | Hold::BackOff => {}
                }
                return;
            }
        };
        if let Some(last) = self.start {
            let over = match (last.resolving, last.unsure) {
                (true, _) => Broken::Resolving,
                (false, true) => Broken::Unsure,
                (false, false) => Broken::Second,
            };
            self.note(last.open, over);
            if !last.span.short {
                self.note(asked.at < last.span.at + COOLDOWN, Broken::Cooldown);
                // A daemon that was restarted knows when it started last, but not when that failed.
                let from = if last.woken { last.span.at } else { last.span.at.max(self.failed_at) };
                self.note(self.failures > 0 && asked.at < from + back_off(self.failures), Broken::BackOff);
            }
        }
        self.note(self.permit.is_none_or(|given| given.until <= asked.at), Broken::Overdue);
        self.note(self.paused, Broken::Paused);
        self.note(!self.eligible(), Broken::Ineligible);
        let latest = self.accepted.last().map(|taken| names::wake(taken.text.wake));
        self.note(latest != Some(wake), Broken::Superseded);
        self.owed = false;
        self.start = Some(Start {
            attempt,
            span: Span::from(asked.at),
            open: true,
            unsure: false,
            resolving: false,
            probed: false,
            woken: false,
            attended: self.manifest == Some(Capability::Attended),
        });
    }

    fn dispatched(&mut self, asked: &Asked, outcome: DispatchOutcome) -> Vec<FlightEnd> {
        match outcome {
            DispatchOutcome::NotAttempted | DispatchOutcome::RefusedBusy | DispatchOutcome::Unavailable => {
                self.failed(asked);
                self.ended();
                vec![FlightEnd::NeverStarted]
            }
            DispatchOutcome::OutcomeUnknown | DispatchOutcome::TypedUnverified => {
                self.start.iter_mut().for_each(|start| start.unsure = true);
                Vec::new()
            }
            DispatchOutcome::NotifiedVerified | DispatchOutcome::NotifiedHuman => {
                self.failures = 0;
                Vec::new()
            }
        }
    }

    fn probed(&mut self, fate: Fate) -> Vec<FlightEnd> {
        match fate {
            Fate::Gone => {
                self.ended();
                // Neither a success nor a failure to start.
                vec![FlightEnd::ProcessEnded]
            }
            Fate::Alive => {
                self.start.iter_mut().for_each(|start| start.resolving = false);
                Vec::new()
            }
            Fate::CannotTell => Vec::new(),
        }
    }

    const fn failed(&mut self, asked: &Asked) {
        self.failures += 1;
        self.failed_at = asked.at;
    }

    /// The flight is over: a look is owed.
    fn ended(&mut self) {
        if let Some(start) = &mut self.start {
            (start.open, start.unsure, start.resolving) = (false, false, false);
        }
        self.look = true;
    }
}

/// Whether a start that was owed is permitted by the plane's word, or held because another has the permit.
fn is_word(asked: &Asked, next: Next) -> bool {
    match asked.input {
        Input::Answer { answer: Answer::Granted(_), .. } => true,
        Input::Answer { answer: Answer::Withheld(Class::PermitHeld), .. } => matches!(next, Next::Wait(_)),
        _ => false,
    }
}

fn small(number: u64) -> u8 {
    u8::try_from(number).expect("models are small")
}
