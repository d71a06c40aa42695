//! A stand-in with a fixed outcome, for trials: `fake` (CAP-3). It tells nobody anything.
//!
//! Rules: CAP-3, DSP-4, CAP-5.

use std::time::Duration;

use awakener_kernel::values::{DispatchOutcome, FlightEnd};
use awakener_kernel::waker::Fate;

use crate::broker::Later;
use crate::manifest::Agent;
use crate::wake::adapter::{Capabilities, Order, RuntimeAdapter};

/// The stand-in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fake {
    outcome: DispatchOutcome,
    delay: Duration,
}

impl Fake {
    /// As an agent's settings say: `outcome`, and `delay` before it and before the end of the flight.
    ///
    /// # Errors
    /// In words: no outcome, or none of the algebra.
    pub fn of(agent: &Agent) -> Result<Self, String> {
        let outcome = agent.text("outcome").ok_or_else(|| format!("{}: no `outcome`", agent.target))?;
        let outcome = serde_json::from_value(outcome.into()).map_err(|error| error.to_string())?;
        let delay = Duration::from_millis(agent.millis("delay").map_or(0, |delay| delay.0));
        Ok(Self { outcome, delay })
    }
}

impl RuntimeAdapter for Fake {
    fn capabilities(&self) -> Capabilities {
        Capabilities {
            status: true,
            verifies: self.outcome == DispatchOutcome::NotifiedVerified,
            proves_gone: false,
        }
    }

    fn dispatch<'a>(&'a self, order: &'a Order) -> Later<'a, DispatchOutcome> {
        Box::pin(async move {
            tokio::time::sleep(self.delay.min(order.within)).await;
            if self.delay >= order.within { DispatchOutcome::NotAttempted } else { self.outcome }
        })
    }

    fn probe<'a>(&'a self, _order: &'a Order) -> Later<'a, Fate> {
        Box::pin(std::future::ready(Fate::CannotTell))
    }

    fn watch<'a>(&'a self, _order: &'a Order) -> Later<'a, FlightEnd> {
        Box::pin(async move {
            tokio::time::sleep(self.delay).await;
            FlightEnd::Idle
        })
    }
}
