//! How a runtime is told to look at its inbox: the port that every runtime's adapter implements.
//!
//! An adapter reports in the closed algebra of DSP-4 and never says that work was done. What it sends is
//! [`Order::text`] or [`Order::posted`] and nothing else. Not here: when a runtime may be told (the waker). Rules: DSP-3 to DSP-6, DSP-12,
//! CAP-3.

use std::fmt::Debug;
use std::time::Duration;

use awakener_kernel::ids::{MessageId, Target, WakeId};
use awakener_kernel::values::{DispatchOutcome, FlightEnd};
use awakener_kernel::waker::Fate;

use crate::broker::Later;

/// The longest wake text, bytes (DSP-6).
pub const TEXT_BYTES: usize = 200;

/// What an adapter can do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Capabilities {
    /// It can say whether the runtime is busy, and so see the end of a flight.
    pub status: bool,
    /// It can tell that the runtime took a notice, not only that it was sent.
    pub verifies: bool,
    /// It can prove after a restart that a flight can never start any more (DSP-12).
    pub proves_gone: bool,
}

/// One flight, as an adapter sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Order {
    /// Whose runtime.
    pub target: Target,
    /// The attempt; also the idempotency key for runtimes that take one.
    pub attempt: u64,
    /// The accepted wake.
    pub wake: WakeId,
    /// The alert.
    pub message: MessageId,
    /// Whether a human is there (DSP-8).
    pub attended: bool,
    /// From the end of this time on not a byte may leave (DSP-7).
    pub within: Duration,
}

impl Order {
    /// The one template: identifiers and a count, nothing that a sender wrote (DSP-6).
    pub fn text(&self) -> String {
        awakener_spec::rule!(Dsp6);
        let Self { target, attempt, message, .. } = self;
        format!("awakener: read the inbox of {target}; alert {message}; attempt {attempt}")
    }

    /// The same for a program: one JSON object, in the form in which it is signed (DSP-6). The wake stands beside it, as
    /// the id of the notice.
    pub fn posted(&self) -> String {
        awakener_spec::rule!(Dsp6);
        let Self { target, attempt, message, .. } = self;
        serde_json::json!({ "attempt": attempt, "message_id": message, "target": target, "type": "awakener.wake" })
            .to_string()
    }
}

/// Tells one agent's runtime.
pub trait RuntimeAdapter: Send + Sync + Debug {
    /// What it can do.
    fn capabilities(&self) -> Capabilities;

    /// Starts or notifies the runtime, in bounded time.
    fn dispatch<'a>(&'a self, order: &'a Order) -> Later<'a, DispatchOutcome>;

    /// After a restart: what became of a flight (DSP-12), in bounded time.
    fn probe<'a>(&'a self, order: &'a Order) -> Later<'a, Fate>;

    /// Waits for the end of a flight; for ever if it can never tell, since `flight_max` is not its business.
    fn watch<'a>(&'a self, order: &'a Order) -> Later<'a, FlightEnd>;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dsp_6_the_text_is_short_for_every_target_and_attempt() {
        let order = |target: &str, attempt| Order {
            target: Target::parse(target).unwrap(),
            attempt,
            wake: WakeId::from_parts(1, [0xff; 10]),
            message: MessageId::from_parts(u64::MAX >> 16, [0xff; 10]),
            attended: false,
            within: Duration::ZERO,
        };
        let longest = order(&"a".repeat(64), u64::MAX);
        assert!(longest.text().len() <= TEXT_BYTES && longest.posted().len() <= TEXT_BYTES);
        let text = order("builder", 7).text();
        assert!(text.contains("builder") && text.contains("attempt 7"), "{text}");
    }
}
