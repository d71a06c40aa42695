//! What a waker knows only while it lives, and when it wants to act on it.
//!
//! All of it may be lost: a crash forgets what is out, and [`Live::woken`] owes a look for it. Deadlines are a
//! function of this state and the image ([`Waker::dues`]); there are no timers. Rules: DSP-1, DSP-7, DSP-11, DSP-12.

use super::Waker;
use super::capability::{Capability, Missing};
use super::image::{Flight, Image};
use super::input::{Hold, Ticket};
use crate::config::Config;
use crate::time::{Millis, Mono, Now, Wall};
use crate::values::{Hint, Question};

/// The volatile part of a waker.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Live {
    /// Tickets issued since the recovery.
    pub(super) issued: u64,
    /// The one question that is out or held.
    pub(super) question: Option<Asked>,
    /// The sweep that is out.
    pub(super) sweep: Option<Ticket>,
    /// Whether a look is owed before the next regular one. One is enough: a sweep shows all that is outstanding.
    pub(super) owed: bool,
    /// When the next regular sweep is due (DSP-11).
    pub(super) sweep_at: Mono,
    /// When cooldown and back-off are over (DSP-1, DSP-3).
    pub(super) ready: Mono,
    /// Before this the plane is not asked again about what it could not or would not answer.
    pub(super) retry: Mono,
    /// The volatile side of the open flight.
    pub(super) aloft: Option<Aloft>,
    /// No start until further notice (DSP-10).
    pub(super) paused: bool,
    /// What the manifest says (DSP-8).
    pub(super) capability: Capability,
}

/// A question to the plane.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Asked {
    /// What it is about.
    pub(super) about: About,
    /// The ticket that is out, and when it was asked; `None` = held, because the plane could not be reached.
    pub(super) out: Option<(Ticket, Mono)>,
    /// An answer from here on is no answer.
    pub(super) until: Mono,
}

/// What a question is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum About {
    /// A hint that is not accepted yet.
    Fresh(Hint),
    /// The pending start, under the wake that was accepted.
    Again(Question),
}

impl About {
    pub(super) const fn question(self) -> Question {
        match self {
            Self::Fresh(Hint { wake, message, token, .. }) => Question { wake, message, token },
            Self::Again(question) => question,
        }
    }
}

/// The volatile side of an open flight.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Aloft {
    /// Its end at the latest (`flight_max`).
    pub(super) until: Mono,
    /// The dispatch whose answer is awaited.
    pub(super) dispatch: Option<Ticket>,
    /// Set while its fate is unknown after a restart (DSP-12).
    pub(super) resolve: Option<Resolve>,
}

/// How far the search for a flight's fate is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Resolve {
    /// A probe is due then.
    At(Mono),
    /// A probe is out.
    Out(Ticket),
}

/// A reason to be given [`super::Input::Fire`], with what it is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Due {
    /// The time for an answer is over.
    Unanswered(Asked),
    /// The flight has lasted too long.
    FlightMax(Flight, Aloft),
    /// A flight of unknown fate is to be probed.
    Probe(Flight, Aloft),
    /// A hint is held and the plane may be asked again.
    Held(Asked),
    /// The pending start may ask again.
    Pending(Question),
    /// A sweep.
    Sweep,
}

impl Live {
    /// The state after a recovery: nothing is out, the regular sweep is due at once (the look that is owed), an open
    /// flight is of unknown fate.
    pub(super) fn woken(config: &Config, now: Now, image: &Image) -> Self {
        Self {
            issued: 0,
            question: None,
            sweep: None,
            owed: false,
            sweep_at: now.mono,
            ready: now.mono + image.last_start.map_or(Millis::ZERO, |at| rest(at, pause(config, image), now)),
            retry: now.mono,
            aloft: image.flight.map(|flight| Aloft {
                until: now.mono + rest(flight.started, config.flight_max, now),
                dispatch: None,
                resolve: Some(Resolve::At(now.mono)),
            }),
            paused: false,
            capability: Capability::Missing(Missing::UnknownAgent),
        }
    }
}

/// What is left of a durable length of time, whatever the wall clock did meanwhile: between nothing and all (DSP-1).
fn rest(from: Wall, length: Millis, now: Now) -> Millis {
    (from + length).saturating_since(now.wall).min(length)
}

/// The pause after the last decision to start: the cooldown, or the back-off if that is longer.
fn pause(config: &Config, image: &Image) -> Millis {
    config.cooldown.max(back_off(config, image.failures))
}

/// The pause after so many definite failures in a row (DSP-3).
pub(super) fn back_off(config: &Config, failures: u32) -> Millis {
    let Some(doublings) = failures.checked_sub(1) else { return Millis::ZERO };
    let times = 1_u64.checked_shl(doublings).unwrap_or(u64::MAX);
    Millis(config.back_off_base.0.saturating_mul(times)).min(config.back_off_max)
}

/// The pause before a plane that could not be reached is asked again: a hint is held for several of them.
pub(super) fn patience(config: &Config) -> Millis {
    Millis((config.hint_ttl.0 / 8).max(1))
}

impl Waker {
    /// Everything that is or will be due, in the order in which it is done.
    pub(super) fn dues(&self) -> impl Iterator<Item = (Due, Mono)> {
        let live = &self.live;
        let aloft = self.image.flight.zip(live.aloft);
        let held = live.question.filter(|asked| asked.out.is_none());
        [
            live.question.map(|asked| (Due::Unanswered(asked), asked.until)),
            aloft.map(|(flight, aloft)| (Due::FlightMax(flight, aloft), aloft.until)),
            aloft.and_then(|(flight, aloft)| match aloft.resolve {
                Some(Resolve::At(at)) => Some((Due::Probe(flight, aloft), at)),
                Some(Resolve::Out(_)) | None => None,
            }),
            held.map(|asked| (Due::Held(asked), live.retry)),
            self.startable().map(|question| (Due::Pending(question), live.ready.max(live.retry))),
            Some((Due::Sweep, self.sweep_due())),
        ]
        .into_iter()
        .flatten()
    }

    fn sweep_due(&self) -> Mono {
        let live = &self.live;
        if live.owed && self.is_resting() {
            live.sweep_at.min(live.ready.max(live.retry))
        } else {
            live.sweep_at
        }
    }

    /// Nothing is asked, owed to an accepted wake, or in flight: a sweep now shows what comes next.
    const fn is_resting(&self) -> bool {
        self.live.question.is_none() && self.image.pending.is_none() && self.image.flight.is_none()
    }

    /// The pending start, if only time and the plane stand before it.
    fn startable(&self) -> Option<Question> {
        let live = &self.live;
        let eligible = matches!(live.capability, Capability::Unattended | Capability::Attended);
        let free = live.question.is_none() && self.image.flight.is_none();
        self.image.pending.filter(|_| free && eligible && !live.paused)
    }

    /// What keeps a start from happening now, apart from the plane.
    pub(super) fn hold(&self, mono: Mono) -> Option<Hold> {
        if self.image.flight.is_some() {
            return Some(Hold::Flight);
        }
        if let Capability::Missing(missing) = self.live.capability {
            return Some(Hold::Ineligible(missing));
        }
        if self.live.paused {
            return Some(Hold::Paused);
        }
        let waits = self.live.ready > mono;
        waits.then_some(if self.image.failures > 0 { Hold::BackOff } else { Hold::Cooldown })
    }
}
