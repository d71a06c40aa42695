//! The waker: one per target in the wake daemon. It judges hints, and starts or notifies at most one runtime.
//!
//! Its one promise: only what the plane has permitted starts anything (DSP-7), one flight at a time (DSP-2), not
//! before the cooldown is over (DSP-1), and nothing that was accepted is forgotten (DSP-11). Reading order: `image`
//! (what is durable) → `input` (what can happen) → `live` (what may be lost, and when to act) → `step` (every branch)
//! → `asking`, `flying` (the transitions). `spec/machines/waker.toml` is the same as a table.
//!
//! Not here: bytes and signatures (`wire`), how a runtime is told (the adapters), caps per host (DSP-10, the daemon).
//! Rules: VER-1…5, DSP-1…5, DSP-7, DSP-8, DSP-11, DSP-12.
//!
//! How the laws of a step are read here:
//! - A completion that withholds is an advance without records, not a refusal: the question is gone afterwards, so
//!   the machine is not what it was. The audit reads the class from [`Event::Withheld`]. A refusal is only ever the
//!   class of a hint that nothing was asked about, and is a stutter.
//! - The look that a hint leaves behind while a question is out is volatile: recovery owes a look by itself. The
//!   first such hint advances ([`Event::LookOwed`]); the next ones find it owed and are absorbed.

mod asking;
mod capability;
mod flying;
mod image;
mod input;
mod live;
mod step;
mod window;

pub use capability::{Capability, Declared, Missing};
pub use image::{Flight, Image, Notice, Record};
pub use input::{Effect, Event, Fate, Hold, Input, Next, Ticket, Warning};
pub use window::{Seen, Window};

use awakener_spec::{Class, Rule};
use serde::{Deserialize, Serialize};

use crate::config::Config;
use crate::machine::{Draft, ImageMut, Machine, Step, Violation};
use crate::time::{Millis, Mono, Now};
use live::{About, Live};

/// The wake machine of one target.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Waker {
    image: Image,
    live: Live,
}

/// Where a waker stands, for tables and status. An open flight outweighs everything else.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Phase {
    /// Nothing to do.
    Resting,
    /// A hint is before the plane.
    Asking,
    /// An accepted wake waits for its start.
    Waiting,
    /// The accepted wake that waited is before the plane again.
    Renewing,
    /// A flight has begun; the adapter has not answered.
    Attempting,
    /// The runtime has the notice, or has read work under it.
    Told,
    /// The adapter cannot tell whether the runtime has the notice (DSP-5).
    Unknown,
    /// After a restart: the fate of the open flight is not known (DSP-12).
    Resolving,
}

impl Phase {
    /// Every phase.
    pub const ALL: [Self; 8] = [
        Self::Resting,
        Self::Asking,
        Self::Waiting,
        Self::Renewing,
        Self::Attempting,
        Self::Told,
        Self::Unknown,
        Self::Resolving,
    ];
}

impl Waker {
    /// Where it stands.
    pub fn phase(&self) -> Phase {
        if let Some(flight) = &self.image.flight {
            if self.live.aloft.is_some_and(|aloft| aloft.resolve.is_some()) {
                return Phase::Resolving;
            }
            return match flight.notice {
                Notice::Attempting => Phase::Attempting,
                Notice::Unknown if !flight.read => Phase::Unknown,
                Notice::Told | Notice::Unknown => Phase::Told,
            };
        }
        match self.live.question.map(|asked| asked.about) {
            Some(About::Fresh(_)) => Phase::Asking,
            Some(About::Again(_)) => Phase::Renewing,
            None if self.image.pending.is_some() => Phase::Waiting,
            None => Phase::Resting,
        }
    }

    /// How long cooldown and back-off still last: the wait that a start obeys (DSP-1, DSP-3).
    pub const fn rests_for(&self, now: Now) -> Millis {
        self.live.ready.saturating_since(now.mono)
    }

    /// What keeps an accepted wake from being dispatched now, for status; `None` also if nothing is pending.
    pub fn held_by(&self, now: Now) -> Option<Hold> {
        self.image.pending.and_then(|_| self.hold(now.mono))
    }
}

impl ImageMut for Waker {
    fn image_mut(&mut self) -> &mut Image {
        &mut self.image
    }
}

impl Machine for Waker {
    type Config = Config;
    type Image = Image;
    type Input = Input;
    type Query = ();
    type Facts = ();
    type Effect = Effect;
    type Event = Event;
    type Refusal = Class;

    fn recover(config: &Config, now: Now, image: Image) -> Result<Step<Self>, Violation> {
        // A history that was configured smaller since then gives up what has expired; if that is not enough, the
        // check below refuses the boot, and a boot after the last hint's end passes.
        let evicted = image.window.surplus(config.nonce_history as usize, now.wall, config.skew);
        let boot = image.boot.saturating_add(1);
        let live = Live::woken(config, now, &image);
        let mut draft = Draft::new(Self { image, live });
        draft.record(Record::Booted { boot, evicted: evicted.unwrap_or_default() });
        draft.machine.check(config)?;
        Ok(draft.advanced(Event::Booted))
    }

    fn needs(&self, _: &Input) {}

    fn step(self, config: &Config, now: Now, input: Input, (): ()) -> Step<Self> {
        step::step(self, config, now, input)
    }

    fn deadline(&self, _: &Config) -> Option<Mono> {
        self.dues().map(|(_, at)| at).min()
    }

    fn image(&self) -> &Image {
        &self.image
    }

    fn check(&self, config: &Config) -> Result<(), Violation> {
        let (image, live) = (&self.image, &self.live);
        let high = image.high_water;
        let again = live.question.and_then(|asked| match asked.about {
            About::Again(question) => Some(question),
            About::Fresh(_) => None,
        });
        let laws = [
            (
                image.window.len() <= config.nonce_history as usize,
                "the nonce history is within bounds",
                Rule::Ver3,
            ),
            (image.window.is_consistent(), "the indexes of the nonce history agree", Rule::Ver3),
            (
                image.window.is_empty() || high.is_some(),
                "every accepted hint raised the high-water",
                Rule::Ver2,
            ),
            (
                image.pending.is_none_or(|question| high.is_some_and(|high| question.token <= high)),
                "only an accepted wake is pending",
                Rule::Ver2,
            ),
            (
                image
                    .flight
                    .is_none_or(|f| f.attempt == image.attempts && Some(f.started) == image.last_start),
                "the flight is the last start",
                Rule::Dsp2,
            ),
            ((image.attempts == 0) == image.last_start.is_none(), "every start is dated", Rule::Dsp1),
            (image.flight.is_some() == live.aloft.is_some(), "an open flight has an end", Rule::Dsp2),
            (
                again.is_none_or(|question| image.pending == Some(question) && image.flight.is_none()),
                "only the pending start asks again, and not in flight",
                Rule::Dsp7,
            ),
        ];
        match laws.into_iter().find(|(holds, ..)| !holds) {
            Some((_, invariant, rule)) => Err(Violation { invariant, rule }),
            None => Ok(()),
        }
    }
}
