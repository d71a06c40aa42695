//! The plane as a command meets it: the crate's one client, driven from plain functions, and its errors as failures.
//!
//! Not here: what goes over the wire ([`crate::client`]); retries, because who retries must present the same id, and
//! only the caller knows it. Rules: CON-1, ADM-2 (`outcome_unknown`).

use std::time::Duration;

use awakener_spec::Reason;
use serde::Serialize;
use serde_json::Value;

use super::out::Answer;
use crate::client::{Client, ClientError, Rehearsed};
use crate::exit::{Exit, Failure};
use crate::http::problem::Problem;
use crate::keys::Token;

/// How long one call of a command may take; a long poll has its wait on top.
const PATIENCE: Duration = Duration::from_secs(20);

/// A plane, and whether it is only shown what would be sent.
#[derive(Debug)]
pub struct Plane {
    client: Client,
    runtime: tokio::runtime::Runtime,
}

/// What came of a call that changes something.
#[derive(Clone, Debug)]
pub enum Told<T> {
    /// The plane did it.
    Done(T),
    /// A dry run: nothing was sent.
    Shown(Box<Rehearsed>),
}

impl Plane {
    /// The plane at `base`, with a token to present.
    ///
    /// # Errors
    /// Usage, if the base is no http URL.
    pub fn new(base: &str, token: Option<&Token>, dry_run: bool) -> Result<Self, Failure> {
        let client = Client::new(base, token.map_or("", Token::expose))
            .map_err(|_| Failure::usage("The plane's address is no http URL.").at(base))?
            .with_timeout(PATIENCE);
        let client = if dry_run { client.rehearsing() } else { client };
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(|error| Failure::new(Exit::Failed, format!("The client cannot start: {error}.")))?;
        Ok(Self { client, runtime })
    }

    /// Asks something that changes nothing.
    ///
    /// # Errors
    /// What the plane refuses, or that it does not answer.
    pub fn ask<T>(
        &self,
        question: impl AsyncFnOnce(&Client) -> Result<T, ClientError>,
    ) -> Result<T, Failure> {
        self.runtime.block_on(question(&self.client)).map_err(|error| match error {
            // Nothing can have happened, so nothing has to be found out.
            ClientError::Timeout(detail) => self.failure(ClientError::Unreachable(detail)),
            other => self.failure(other),
        })
    }

    /// Waits for something that is no call of the plane.
    pub fn wait<T>(&self, future: impl Future<Output = T>) -> T {
        self.runtime.block_on(future)
    }

    /// Has something done; in a dry run only shows what would be sent.
    ///
    /// # Errors
    /// What the plane refuses, that it does not answer, or that nobody knows.
    pub fn tell<T>(
        &self,
        call: impl AsyncFnOnce(&Client) -> Result<T, ClientError>,
    ) -> Result<Told<T>, Failure> {
        match self.runtime.block_on(call(&self.client)) {
            Ok(done) => Ok(Told::Done(done)),
            Err(ClientError::Rehearsed(request)) => Ok(Told::Shown(request)),
            Err(error) => Err(self.failure(error)),
        }
    }

    fn failure(&self, error: ClientError) -> Failure {
        let failure = Failure::from(error);
        if failure.place.is_some() { failure } else { failure.at(self.client.base()) }
    }
}

impl<T> Told<T> {
    /// Both kinds as an answer; `show` is asked only about what was done.
    pub fn answer(self, show: impl FnOnce(T) -> Answer) -> Answer {
        match self {
            Self::Done(done) => show(done),
            Self::Shown(request) => shown(&request),
        }
    }
}

/// A wire type as the value of `--json`.
pub fn value(of: &impl Serialize) -> Value {
    serde_json::to_value(of).unwrap_or_default()
}

fn shown(request: &Rehearsed) -> Answer {
    let Rehearsed { method, path, body } = request;
    let value = serde_json::json!({ "dry_run": true, "method": method, "path": path, "body": body });
    Answer::new(value, format!("not sent: {method} {path}\n{body:#}\n"))
}

impl From<ClientError> for Failure {
    fn from(error: ClientError) -> Self {
        match error {
            ClientError::Problem(problem) => refused(&problem),
            ClientError::Unreachable(detail) => {
                // The innermost cause says it; those around it repeat the address.
                let cause = detail.rsplit(": ").next().unwrap_or(&detail);
                Self::refused(Reason::Unreachable).saying(format!("({cause})"))
            }
            ClientError::Timeout(detail) => {
                Self::refused(Reason::OutcomeUnknown).saying(format!("({detail})"))
            }
            ClientError::Malformed(detail) => {
                Self::new(Exit::Malformed, format!("What answered is no plane: {detail}."))
                    .then("Check what listens at this address.")
            }
            ClientError::Rehearsed(_) => Self::new(Exit::Failed, "A dry run sends nothing."),
        }
    }
}

/// A problem document as a failure. A reason that this program does not know keeps its words and gets a code by its
/// status.
fn refused(problem: &Problem) -> Failure {
    let mut failure = match (problem.reason(), problem.class()) {
        (Some(reason), _) => Failure::refused(reason),
        (None, Some(class)) => Failure::class(class),
        (None, None) => {
            let exit = if problem.status >= 500 { Exit::Unavailable } else { Exit::Refused };
            Failure::new(exit, format!("The plane refuses ({}): {}.", problem.status, problem.reason))
        }
    };
    failure.rule = Some(problem.rule);
    // What the list says already is not said twice: of `lost_lease: lotse` only what it is about.
    let title = problem.title.trim_end_matches('.');
    let after = |said: &str| problem.detail.split_once(said).map(|(_, about)| about);
    let about = after(&problem.reason).or_else(|| after(title)).unwrap_or(&problem.detail);
    let about = about.trim_start_matches(['.', ':', ' ']);
    if !about.is_empty() {
        failure = failure.saying(format!("({about})"));
    }
    failure.then(problem.next.to_string())
}

#[cfg(test)]
mod tests {
    use awakener_spec::Class;

    use super::*;

    #[test]
    fn adm_2_a_problem_becomes_the_refusal_that_it_names() {
        let mut problem = Problem::of(Reason::LostLease, "fence 3 is stale");
        problem.next = "claim".into();
        let failure = Failure::from(ClientError::Problem(Box::new(problem)));
        assert_eq!((failure.reason, failure.exit), (Some(Reason::LostLease), 77));
        assert!(failure.what.contains("fence 3 is stale"));
        assert_eq!(failure.next.as_deref(), Some("claim"));
    }

    #[test]
    fn ver_1_a_class_is_no_reason_and_says_its_rule() {
        let failure = refused(&Problem::withheld(Class::PermitHeld, "held by another"));
        assert_eq!((failure.reason, failure.rule), (None, Some(Class::PermitHeld.rule())));
    }

    #[test]
    fn con_1_what_is_no_answer_is_never_a_success() {
        assert_eq!(Failure::from(ClientError::Malformed("<html>".into())).exit, 65);
        assert_eq!(Failure::from(ClientError::Unreachable(String::new())).exit, 69);
        let mut unknown = Problem::of(Reason::Malformed, "x");
        unknown.reason = "new_word".into();
        unknown.status = 404;
        assert_eq!(refused(&unknown).exit, 77);
        unknown.status = 503;
        assert_eq!(refused(&unknown).exit, 69);
    }
}
