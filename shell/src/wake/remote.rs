//! The plane of another process, over HTTP.
//!
//! Only moves calls into the client's and sorts what comes back: a withheld permit is an answer, anything that a retry
//! could change is none. Rules: DSP-7, DSP-11, HAF-4.

use std::collections::BTreeMap;

use awakener_kernel::ids::{Fence, Target, WakeId};
use awakener_kernel::values::{Answer, FlightReport, Question};
use awakener_kernel::wire::{KeyWindow, RouterKey};
use awakener_spec::{Class, Reason, Retry};

use super::port::{NoAnswer, PlanePort, Reported, Ring, Shown};
use crate::broker::Later;
use crate::client::{Client, ClientError};

/// A plane behind an HTTP client that holds the daemon's credential.
#[derive(Clone, Debug)]
pub struct Remote(Client);

impl Remote {
    /// Asks through this client.
    pub const fn new(client: Client) -> Self {
        Self(client)
    }

    async fn ask(&self, target: &Target, question: Question) -> Result<Answer, NoAnswer> {
        match self.0.permit(target, &question).await {
            Ok(answer) => Ok(answer),
            // Nothing was ever minted for a target that the plane does not have.
            Err(error) if error.reason() == Some(Reason::UnknownTarget) => {
                Ok(Answer::Withheld(Class::Unminted))
            }
            Err(error) => Err(unanswered(&error)),
        }
    }

    async fn tell(
        &self,
        target: &Target,
        fence: Fence,
        wake: WakeId,
        report: FlightReport,
    ) -> Result<Reported, NoAnswer> {
        match self.0.report(target, fence, wake, report).await {
            Ok(_) => Ok(Reported::Noted),
            // A credential that does not hold, or a fault that passes, says nothing about this report.
            Err(ClientError::Problem(problem))
                if matches!(problem.retry, Retry::Never)
                    && problem.reason() != Some(Reason::Unauthenticated) =>
            {
                Ok(Reported::Refused(format!("{}: {}", problem.reason, problem.detail)))
            }
            Err(error) => Err(unanswered(&error)),
        }
    }

    async fn look(&self, target: &Target, seen: u64) -> Result<Vec<Vec<u8>>, NoAnswer> {
        let seen = BTreeMap::from([(target.clone(), seen)]);
        let owed = self.0.sweep_above(std::slice::from_ref(target), seen).await;
        owed.map(|owed| owed.hints).map_err(|error| unanswered(&error))
    }

    async fn ring(&self) -> Result<Shown, NoAnswer> {
        let keys = self.0.router_keys().await.map_err(|error| unanswered(&error))?;
        let window = |from, until| KeyWindow { valid_from: from, valid_until: until };
        let ring = Ring {
            version: keys.ring,
            keys: keys
                .keys
                .into_iter()
                .map(|key| RouterKey { public: key.public, window: window(key.valid_from, key.valid_until) })
                .collect(),
        };
        Ok(Shown { ring, now: keys.now })
    }
}

fn unanswered(error: &ClientError) -> NoAnswer {
    NoAnswer(error.to_string())
}

impl PlanePort for Remote {
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
        Box::pin(self.ring())
    }
}
