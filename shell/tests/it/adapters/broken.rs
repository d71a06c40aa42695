//! Adapters that are wrong on purpose, each in one way, and the law by which the suite finds each.

use std::sync::Arc;
use std::time::Duration;

use awakener::broker::Later;
use awakener::wake::{AgentApi, Capabilities, Order, RuntimeAdapter};
use awakener_kernel::values::{DispatchOutcome, FlightEnd};
use awakener_kernel::waker::Fate;

use super::agentapi::Served;
use super::suite::{Law, Runtime, World, judge};
use crate::wake::rig::run;

/// What is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fault {
    /// Sends again when nobody knows.
    Retries,
    /// Takes what nobody knows for a success.
    Hopes,
    /// Looks at no clock.
    Dawdles,
    /// Says after a restart that what does not answer is gone.
    Buries,
}

#[derive(Debug)]
struct Broken(AgentApi, Fault);

impl RuntimeAdapter for Broken {
    fn capabilities(&self) -> Capabilities {
        self.0.capabilities()
    }

    fn dispatch<'a>(&'a self, order: &'a Order) -> Later<'a, DispatchOutcome> {
        Box::pin(async move {
            let within = if self.1 == Fault::Dawdles { Duration::from_secs(30) } else { order.within };
            let order = Order { within, ..order.clone() };
            let outcome = self.0.dispatch(&order).await;
            match (self.1, outcome) {
                (Fault::Retries, DispatchOutcome::OutcomeUnknown) => self.0.dispatch(&order).await,
                (Fault::Hopes, DispatchOutcome::OutcomeUnknown) => DispatchOutcome::NotifiedVerified,
                (_, outcome) => outcome,
            }
        })
    }

    fn probe<'a>(&'a self, order: &'a Order) -> Later<'a, Fate> {
        Box::pin(async move {
            match self.0.probe(order).await {
                Fate::CannotTell if self.1 == Fault::Buries => Fate::Gone,
                fate => fate,
            }
        })
    }

    fn watch<'a>(&'a self, order: &'a Order) -> Later<'a, FlightEnd> {
        self.0.watch(order)
    }
}

struct Around(Served, Fault);

impl Runtime for Around {
    fn adapter(&self) -> Arc<dyn RuntimeAdapter> {
        Arc::new(Broken(self.0.real(), self.1))
    }

    async fn enter(&self, world: World) -> bool {
        self.0.enter(world).await
    }

    async fn heard(&self) -> Vec<String> {
        self.0.heard().await
    }

    fn template(&self, order: &Order) -> String {
        self.0.template(order)
    }

    fn taken(&self) -> u64 {
        self.0.taken()
    }
}

#[test]
fn cap_3_the_suite_finds_each_broken_adapter_by_its_law() {
    run(async {
        for (fault, laws) in [
            (Fault::Retries, &[Law::OncePerAttempt] as &[Law]),
            (Fault::Hopes, &[Law::UnknownIsUnknown]),
            (Fault::Dawdles, &[Law::NotAfterWithin]),
            // Idle is not gone; so it is neither certain nor what was declared.
            (Fault::Buries, &[Law::GoneIsCertain, Law::Honest]),
        ] {
            let report = judge(&Around(Served::start().await, fault)).await;
            assert_eq!(report.laws(), laws.iter().copied().collect(), "{fault:?}: {:#?}", report.broken);
        }
    });
}
