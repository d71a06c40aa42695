//! A runtime that a manifest may name and that this build cannot wake: each dispatch is `unavailable`.
//!
//! The manifest stays good, the message stays, a look stays owed, and the trace says why nobody was told. Rules: CAP-3,
//! DSP-3, DSP-4.

use awakener_kernel::values::{DispatchOutcome, FlightEnd};
use awakener_kernel::waker::Fate;

use crate::broker::Later;
use crate::manifest::Runtime;
use crate::wake::adapter::{Capabilities, Order, RuntimeAdapter};

/// The runtime that is not there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unbuilt {
    runtime: Runtime,
    why: String,
}

impl Unbuilt {
    /// A known runtime without an adapter, and why there is none.
    pub fn new(runtime: Runtime, why: impl Into<String>) -> Self {
        Self { runtime, why: why.into() }
    }
}

impl RuntimeAdapter for Unbuilt {
    fn capabilities(&self) -> Capabilities {
        Capabilities { status: false, verifies: false, proves_gone: false }
    }

    fn dispatch<'a>(&'a self, order: &'a Order) -> Later<'a, DispatchOutcome> {
        awakener_spec::rule!(Dsp3);
        let runtime = self.runtime.name();
        tracing::error!(target = %order.target, runtime, rule = "DSP-3", "unavailable: {}", self.why);
        Box::pin(std::future::ready(DispatchOutcome::Unavailable))
    }

    fn probe<'a>(&'a self, _order: &'a Order) -> Later<'a, Fate> {
        Box::pin(std::future::ready(Fate::CannotTell))
    }

    fn watch<'a>(&'a self, _order: &'a Order) -> Later<'a, FlightEnd> {
        Box::pin(std::future::pending())
    }
}
