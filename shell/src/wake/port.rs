//! What a wake daemon asks of the message plane, wherever that is: permits, reports, sweeps, router keys.
//!
//! No answer is not a refusal (DSP-7): [`NoAnswer`] means that nobody knows, and the machine holds or asks again. Not
//! here: HTTP ([`super::Remote`]). Rules: DSP-7, DSP-11, HAF-4.

use std::fmt::Debug;

use awakener_kernel::ids::{DaemonName, Fence, Target, WakeId};
use awakener_kernel::machine::Outcome;
use awakener_kernel::mailbox::input::{Event, Input, Refusal};
use awakener_kernel::time::Wall;
use awakener_kernel::values::{Answer, FlightReport, Question};
use awakener_kernel::wire::{KeyWindow, RouterKey};
use awakener_spec::{Class, Reason};
use serde::{Deserialize, Serialize};

use crate::broker::Later;
use crate::plane::{Op, Plane, Reply};

/// The plane could not be reached, or could not answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoAnswer(pub String);

/// What became of a report.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reported {
    /// The plane has it.
    Noted,
    /// The plane will never take it, and why; there is no use in saying it again.
    Refused(String),
}

/// The router keys that hold now or will, with the version of the ring (HAF-3).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ring {
    /// Raised whenever the keys change, never back.
    pub version: u64,
    /// The keys.
    pub keys: Vec<RouterKey>,
}

/// What the plane shows when it is asked for its keys.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Shown {
    /// The keys.
    pub ring: Ring,
    /// The plane's time, to which a clock that stepped back may go back (EMT-6).
    pub now: Wall,
}

/// The plane, as a wake daemon sees it.
pub trait PlanePort: Send + Sync + Debug {
    /// Asks before state moves and before a dispatch (DSP-7).
    fn permit<'a>(&'a self, target: &'a Target, question: Question) -> Later<'a, Result<Answer, NoAnswer>>;

    /// Tells of a flight.
    fn report<'a>(
        &'a self,
        target: &'a Target,
        fence: Fence,
        wake: WakeId,
        report: FlightReport,
    ) -> Later<'a, Result<Reported, NoAnswer>>;

    /// Asks what is owed (DSP-11): hints as bytes, to be verified like any other. `seen` is the greatest token that was
    /// accepted for the target, 0 for none (EMT-2).
    fn sweep<'a>(&'a self, target: &'a Target, seen: u64) -> Later<'a, Result<Vec<Vec<u8>>, NoAnswer>>;

    /// The router keys.
    fn router_keys(&self) -> Later<'_, Result<Shown, NoAnswer>>;
}

/// The plane of the same process.
#[derive(Clone, Debug)]
pub struct Local {
    plane: Plane,
    daemon: DaemonName,
}

impl Local {
    /// A port under the name of a daemon, which the permits are given to.
    pub const fn new(plane: Plane, daemon: DaemonName) -> Self {
        Self { plane, daemon }
    }

    async fn ask(&self, target: &Target, question: Question) -> Result<Answer, NoAnswer> {
        let input = Input::Ask { daemon: self.daemon.clone(), question };
        match self.plane.mailbox(target, input, None).await {
            Ok(reply) => match reply.outcome {
                Outcome::Advanced(Event::Permitted(permit)) => Ok(Answer::Granted(permit)),
                Outcome::Refused(Refusal::Withheld(class)) => Ok(Answer::Withheld(class)),
                other => Err(NoAnswer(format!("{other:?}"))),
            },
            // Nothing was ever minted for a target that the plane does not have.
            Err(refused) if refused.reason == Reason::UnknownTarget => Ok(Answer::Withheld(Class::Unminted)),
            Err(refused) => Err(NoAnswer(refused.detail)),
        }
    }

    async fn tell(
        &self,
        target: &Target,
        fence: Fence,
        wake: WakeId,
        report: FlightReport,
    ) -> Result<Reported, NoAnswer> {
        match self
            .plane
            .mailbox(target, Input::Report { daemon: self.daemon.clone(), fence, wake, report }, None)
            .await
        {
            Ok(reply) => match reply.outcome {
                Outcome::Advanced(_) | Outcome::Absorbed => Ok(Reported::Noted),
                Outcome::Refused(refusal) => Ok(Reported::Refused(format!("{refusal:?}"))),
            },
            Err(refused) if refused.reason == Reason::UnknownTarget => Ok(Reported::Refused(refused.detail)),
            Err(refused) => Err(NoAnswer(refused.detail)),
        }
    }

    async fn look(&self, target: &Target, seen: u64) -> Result<Vec<Vec<u8>>, NoAnswer> {
        match self.plane.call(Op::Sweep(target.clone(), Some(seen))).await {
            Ok(Reply::Swept(hint)) => Ok(hint.into_iter().collect()),
            Ok(other) => Err(NoAnswer(format!("unexpected {other:?}"))),
            Err(refused) if refused.reason == Reason::UnknownTarget => Ok(Vec::new()),
            Err(refused) => Err(NoAnswer(refused.detail)),
        }
    }

    fn ring(&self) -> Result<Shown, NoAnswer> {
        let registry = self.plane.view().registry.ok_or_else(|| NoAnswer("not serving yet".to_owned()))?;
        // The store's time: a key whose life is over does not come back with the machine's clock (EMT-6).
        let now = self.plane.now();
        let (version, keys) = registry.router_ring(now);
        let keys = keys.map(|(_, key)| RouterKey {
            public: key.key,
            window: KeyWindow { valid_from: key.not_before, valid_until: key.not_after },
        });
        Ok(Shown { ring: Ring { version, keys: keys.collect() }, now: now.wall })
    }
}

impl PlanePort for Local {
    fn permit<'a>(&'a self, target: &'a Target, question: Question) -> Later<'a, Result<Answer, NoAnswer>> {
        Box::pin(self.ask(target, question))
    }

    fn report<'a>(
        &'a self,
        target: &'a Target,
        fence: Fence,
        wake: WakeId,
        report: FlightReport,
    ) -> Later<'a, Result<Reported, NoAnswer>> {
        Box::pin(self.tell(target, fence, wake, report))
    }

    fn sweep<'a>(&'a self, target: &'a Target, seen: u64) -> Later<'a, Result<Vec<Vec<u8>>, NoAnswer>> {
        Box::pin(self.look(target, seen))
    }

    fn router_keys(&self) -> Later<'_, Result<Shown, NoAnswer>> {
        Box::pin(std::future::ready(self.ring()))
    }
}
