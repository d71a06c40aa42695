//! An agent in a pane of tmux: its prompt is typed into, if and only if it is certain that this is its empty prompt.
//!
//! A pane is proven by session, pane and process (number and start time), once before the first key and again before
//! Enter. Text goes in literally and at once; Enter goes apart, after the text was seen at the prompt, and is repeated a
//! few times at most while the text still stands there. No other key is ever sent: a draft, a dialog, copy mode, a turn
//! under way, another program, or a screen that is not recognised gets nothing at all, and says so. Reading order:
//! `screen` (what a screen shows) → `pane` (which pane, and who is in it) → here. Rules: DSP-3 to DSP-7, DSP-9, CAP-3.

mod pane;
mod screen;

use std::time::{Duration, Instant};

use awakener_kernel::values::{DispatchOutcome, FlightEnd};
use awakener_kernel::waker::Fate;

use crate::broker::Later;
use crate::manifest::Agent;
use crate::spawn::Environment;
use crate::wake::adapter::{Capabilities, Order, RuntimeAdapter};
use pane::{Absent, Door, Place, Proven};
pub use screen::Marks;
use screen::Sight;

/// How patient the adapter is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Touch {
    /// Between two looks at a screen.
    pub look: Duration,
    /// An idle prompt must be there at two looks that lie so far apart.
    pub settle: Duration,
    /// How long the typed text may take to be seen.
    pub echo: Duration,
    /// How long Enter may take to have an effect, each time; as many times as there are, growing.
    pub enter: [Duration; 3],
    /// A pane that was told and shows its idle prompt for so long without having been seen busy is done with it.
    pub quiet: Duration,
}

impl Default for Touch {
    fn default() -> Self {
        Self {
            look: Duration::from_millis(100),
            settle: Duration::from_millis(200),
            echo: Duration::from_secs(3),
            enter: [Duration::from_secs(1), Duration::from_secs(2), Duration::from_secs(4)],
            quiet: Duration::from_secs(3),
        }
    }
}

/// The adapter.
#[derive(Debug)]
pub struct Tmux {
    door: Door,
    marks: Marks,
    touch: Touch,
    /// One hand at a time.
    hand: tokio::sync::Mutex<()>,
}

/// Why nothing more was typed.
type Stop = (DispatchOutcome, String);

impl Tmux {
    /// As an agent's settings say: `session`, `pane` (window.pane), `socket`, `command`; `prompt`, and the texts `idle`,
    /// `busy`, `dialog` and `placeholder` by which a screen is recognised.
    ///
    /// # Errors
    /// In words: a key is missing.
    pub fn of(agent: &Agent, environment: Environment, touch: Touch) -> Result<Self, String> {
        let text = |key: &str| agent.text(key).ok_or_else(|| format!("{}: no `{key}`", agent.target));
        let place = Place {
            session: text("session")?.to_owned(),
            pane: agent.text("pane").map(str::to_owned),
            socket: agent.text("socket").map(str::to_owned),
            command: text("command")?.to_owned(),
        };
        let marks = Marks::of(agent).ok_or_else(|| format!("{}: no `prompt`", agent.target))?;
        Ok(Self { door: Door::new(place, environment), marks, touch, hand: tokio::sync::Mutex::default() })
    }

    async fn tell(&self, order: &Order) -> DispatchOutcome {
        awakener_spec::rule!(Dsp3);
        awakener_spec::rule!(Dsp9);
        let until = Instant::now() + order.within;
        let _hand = self.hand.lock().await;
        match self.type_and_enter(order, until).await {
            Ok(outcome) => outcome,
            Err((outcome, why)) => {
                tracing::warn!(target = %order.target, attempt = order.attempt, ?outcome, rule = "DSP-9", "tmux: {why}");
                outcome
            }
        }
    }

    async fn type_and_enter(&self, order: &Order, until: Instant) -> Result<DispatchOutcome, Stop> {
        let nothing = |why: &str| (DispatchOutcome::NotAttempted, why.to_owned());
        let text = order.text();
        let pane = self.ready(until).await?;
        if Instant::now() >= until {
            return Err(nothing("too late"));
        }
        if !self.door.literal(&pane, &text).await.map_err(typed)? {
            return Err((DispatchOutcome::Unavailable, "tmux does not type literal text".to_owned()));
        }
        self.seen(&pane, &text, self.touch.echo).await?;
        if order.attended {
            // A person submits it.
            return Ok(DispatchOutcome::NotifiedHuman);
        }
        let tries = self.touch.enter.len();
        for (number, wait) in self.touch.enter.into_iter().enumerate() {
            // Whatever has changed since the text went in, Enter must meet the text and nothing else.
            self.still(&pane, &text).await?;
            if Instant::now() >= until {
                return Err((DispatchOutcome::TypedUnverified, "too late for Enter".to_owned()));
            }
            self.door.enter(&pane, number + 1 < tries).await.map_err(typed)?;
            if self.left(&pane, &text, wait).await? {
                return Ok(DispatchOutcome::NotifiedVerified);
            }
        }
        Err((
            DispatchOutcome::TypedUnverified,
            "Enter has no effect; the text stands at the prompt".to_owned(),
        ))
    }

    /// Waits for two idle looks at the same proven pane; anything else ends it at once.
    async fn ready(&self, until: Instant) -> Result<Proven, Stop> {
        let first = self.idle().await?;
        tokio::time::sleep(self.touch.settle.min(until.saturating_duration_since(Instant::now()))).await;
        let second = self.idle().await?;
        if first != second {
            return Err((DispatchOutcome::NotAttempted, "the process in the pane has changed".to_owned()));
        }
        Ok(second)
    }

    async fn idle(&self) -> Result<Proven, Stop> {
        let (pane, sight) = self.look().await?;
        let refused = match &sight {
            Sight::Idle => return Ok(pane),
            Sight::Busy(_) => DispatchOutcome::RefusedBusy,
            Sight::Dialog(_) | Sight::Draft | Sight::Mode | Sight::Unknown(_) => {
                DispatchOutcome::NotAttempted
            }
        };
        Err((refused, sight.words()))
    }

    /// The pane and what its screen shows.
    async fn look(&self) -> Result<(Proven, Sight), Stop> {
        let absent = |absent: Absent| match absent {
            Absent::Gone(why) => (DispatchOutcome::Unavailable, why),
            Absent::Unclear(why) => (DispatchOutcome::NotAttempted, why),
        };
        let pane = self.door.prove().await.map_err(absent)?;
        if pane.mode {
            return Ok((pane, Sight::Mode));
        }
        let lines = self.door.capture(&pane).await.map_err(absent)?;
        let sight = self.marks.judge(&lines, pane.cursor);
        Ok((pane, sight))
    }

    /// Waits until the text stands at the prompt.
    async fn seen(&self, pane: &Proven, text: &str, wait: Duration) -> Result<(), Stop> {
        let end = Instant::now() + wait;
        loop {
            match self.still(pane, text).await {
                Ok(()) => return Ok(()),
                Err(stop) if Instant::now() >= end => return Err(stop),
                Err(_) => tokio::time::sleep(self.touch.look).await,
            }
        }
    }

    /// Whether the same process still has the text at its prompt, with nothing in the way.
    async fn still(&self, pane: &Proven, text: &str) -> Result<(), Stop> {
        let stop = |why: &str| Err((DispatchOutcome::TypedUnverified, why.to_owned()));
        let Ok(now) = self.door.prove().await else { return stop("the pane is gone, with the text typed") };
        if now != *pane || now.mode {
            return stop("something else is in the pane now, with the text typed");
        }
        let Ok(lines) = self.door.capture(&now).await else { return stop("the screen cannot be read") };
        if self.marks.dialog(&lines).is_some() {
            return stop("a dialog came up, with the text typed");
        }
        if self.marks.stands(&lines, now.cursor, text) {
            Ok(())
        } else {
            stop("the text does not show at the prompt")
        }
    }

    /// Waits until the text has left the prompt. `false`: it still stands there, so Enter had no effect.
    async fn left(&self, pane: &Proven, text: &str, wait: Duration) -> Result<bool, Stop> {
        let end = Instant::now() + wait;
        loop {
            tokio::time::sleep(self.touch.look).await;
            match self.door.prove().await {
                Ok(now) if now == *pane && !now.mode => {
                    let lines = self
                        .door
                        .capture(&now)
                        .await
                        .map_err(|_| typed("the screen cannot be read".to_owned()))?;
                    if !self.marks.stands(&lines, now.cursor, text) {
                        return Ok(true);
                    }
                }
                Ok(_) | Err(_) => return Err(typed("the pane has changed right behind Enter".to_owned())),
            }
            if Instant::now() >= end {
                return Ok(false);
            }
        }
    }

    async fn fate(&self) -> Fate {
        match self.look().await {
            Ok((_, Sight::Busy(_))) => Fate::Alive,
            // A pane that is gone does not prove that its process is; which one was told is not known any more.
            Ok(_) | Err(_) => Fate::CannotTell,
        }
    }

    async fn end(&self) -> FlightEnd {
        let mut busy = false;
        let mut idle_since: Option<Instant> = None;
        loop {
            match self.look().await {
                Ok((_, Sight::Busy(_))) => (busy, idle_since) = (true, None),
                Ok((_, Sight::Idle)) => {
                    let since = *idle_since.get_or_insert_with(Instant::now);
                    let enough = if busy { self.touch.settle } else { self.touch.quiet };
                    if since.elapsed() >= enough {
                        return FlightEnd::Idle;
                    }
                }
                Err((DispatchOutcome::Unavailable, _)) => return FlightEnd::ProcessEnded,
                Ok(_) | Err(_) => idle_since = None,
            }
            tokio::time::sleep(self.touch.look).await;
        }
    }
}

/// A failure once keys may have gone.
fn typed(why: String) -> Stop {
    awakener_spec::rule!(Dsp5);
    (DispatchOutcome::TypedUnverified, why)
}

impl RuntimeAdapter for Tmux {
    fn capabilities(&self) -> Capabilities {
        Capabilities { status: true, verifies: true, proves_gone: false }
    }

    fn dispatch<'a>(&'a self, order: &'a Order) -> Later<'a, DispatchOutcome> {
        Box::pin(async move {
            let outcome = self.tell(order).await;
            awakener_spec::rule!(Dsp4);
            outcome
        })
    }

    fn probe<'a>(&'a self, _order: &'a Order) -> Later<'a, Fate> {
        Box::pin(self.fate())
    }

    fn watch<'a>(&'a self, _order: &'a Order) -> Later<'a, FlightEnd> {
        Box::pin(self.end())
    }
}
