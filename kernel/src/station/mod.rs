//! The station of one target: from a hint or a poll to a recorded result and an ACK, one piece of work at a time.
//!
//! Hosted and attached stations are this same machine (STN-8): a hosted one gets its inputs from ports that carry out
//! the effects; for an attached one the plane makes them from the agent's own calls.
//!
//! Reading order: `phase` (where it can be) → `image` (what survives) → `input` → `step` and `completion` (all branching) and `judge` (what it asks) → the leaves
//! `pass`, `closing`, `grant`, `latch`, `timer`. The same table as data: `spec/machines/station.toml`.
//!
//! What the driver owes it: it feeds [`Input::CauseFound`] and [`Input::LatchFound`] before anything else when they
//! hold at boot or when a grant arms it (DARK keeps neither), applies [`Image::adopt`] before recovering over a latch
//! path that is not empty, and carries out a latch that [`Station::trip`] announces even when the step that says so
//! cannot be committed (FUS-6).

mod check;
mod closing;
mod completion;
mod effect;
mod evidence;
mod grant;
mod image;
mod input;
mod judge;
mod latch;
mod leaf;
mod pass;
mod phase;
mod record;
mod step;
mod timer;
mod work;

pub use effect::{Alarm, Effect, Event};
pub use evidence::{Claim, Evidence, Exit, Output, Run, Stop, Stopped, Tokens, conclude};
pub use image::{Image, Latch, MAX_PROGRESS, Progress, Turn};
pub use input::Input;
pub use phase::{
    Acking, Armed, Closing, Cognizing, LatchStage, LatchedDown, Phase, PhaseName, Reading, Refused, Synced,
    Waking,
};
pub use record::Record;
pub use work::{
    Answer, CursorAfter, Grant, GrantEnd, Hand, Lane, LatchCause, LatchId, LatchNote, Latency, Mapped,
    MissingAudit, Model, Pass, Prior, RefusedCause, Tail, Ticket, TripAudit, Unmeasured, Work,
};

use awakener_spec::Reason;

use crate::config::Config;
use crate::machine::{ImageMut, Machine, Step, Violation};
use crate::time::{Millis, Mono, Now};
use phase::Live;

/// Exit code of a process that stopped on a latch (FUS-4).
pub const EXIT_LATCHED: u8 = 90;

/// How long a trip waits for its audit record (FUS-4).
pub const AUDIT_WITHIN: Millis = Millis::seconds(2);

/// The station of one target.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Station {
    image: Image,
    live: Live,
}

impl Station {
    /// Where it is.
    pub const fn phase(&self) -> &Phase {
        &self.live.phase
    }

    /// What the phase waits for; an attached station's driver answers with it.
    pub const fn ticket(&self) -> Option<Ticket> {
        self.live.phase.ticket()
    }

    /// The cleanup that was asked for and is not done.
    pub fn cleaning(&self) -> Option<Ticket> {
        self.live.cleaning.map(|cleaning| cleaning.ticket)
    }

    /// The last ticket of this boot.
    pub const fn last_ticket(&self) -> Ticket {
        Ticket { epoch: self.image.epoch, number: self.live.issued }
    }
}

impl ImageMut for Station {
    fn image_mut(&mut self) -> &mut Image {
        &mut self.image
    }
}

impl Machine for Station {
    type Config = Config;
    type Image = Image;
    type Input = Input;
    type Query = ();
    type Facts = ();
    type Effect = Effect;
    type Event = Event;
    type Refusal = Reason;

    fn recover(config: &Config, now: Now, image: Image) -> Result<Step<Self>, Violation> {
        leaf::recover(config, now, image)
    }

    fn needs(&self, _: &Input) {}

    fn step(self, config: &Config, now: Now, input: Input, (): ()) -> Step<Self> {
        step::step(self, config, now, input)
    }

    fn deadline(&self, config: &Config) -> Option<Mono> {
        self.next_deadline(config)
    }

    fn image(&self) -> &Image {
        &self.image
    }

    fn check(&self, config: &Config) -> Result<(), Violation> {
        check::check(self, config)
    }
}
