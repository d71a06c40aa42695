//! What every request goes through, in the order of ADM-2: its size, its credential, its rate, its form.
//!
//! And the other direction: a refusal becomes a problem, is audited when its caller is known, folded when not
//! (ADM-9). Not here: what a route asks of the plane.

use std::sync::{Arc, LazyLock};
use std::time::Instant;

use awakener_kernel::ids::Target;
use awakener_kernel::machine::{Outcome, OutcomeOf};
use awakener_kernel::mailbox::Mailbox;
use awakener_kernel::mailbox::input::{Event, Input, Refusal};
use awakener_kernel::registry::{Held, Registry};
use awakener_kernel::time::{Mono, Now};
use awakener_spec::Reason;
use axum::body::Bytes;
use axum::extract::{FromRequestParts, Path, Request};
use axum::http::request::Parts;
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::auth::{self, Caller};
use super::door::{self, Fault};
use super::problem::Problem;
use super::rate::Kind;
use super::{App, DEADLINE};
use crate::plane::{MailboxReply, Op, Refused, Reply};
use crate::store::Statement;

/// What a handler returns.
pub(super) type Answer = Result<Response, Problem>;

/// The most bytes of a body that is no submission, no ACK and no command.
const SMALL: usize = 16_384;

static START: LazyLock<Instant> = LazyLock::new(Instant::now);

/// The one part of a path that a route takes; what is not even text is `malformed` like everything else.
pub(super) struct Segment(pub(super) String);

impl FromRequestParts<App> for Segment {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Problem> {
        match Path::<String>::from_request_parts(parts, app).await {
            Ok(Path(text)) => Ok(Self(text)),
            Err(_) => Err(app.folded((Reason::Malformed, "the path is not text".to_owned()))),
        }
    }
}

/// The two parts of a path that a route takes.
pub(super) struct Segments(pub(super) String, pub(super) String);

impl FromRequestParts<App> for Segments {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Problem> {
        match Path::<(String, String)>::from_request_parts(parts, app).await {
            Ok(Path((first, second))) => Ok(Self(first, second)),
            Err(_) => Err(app.folded((Reason::Malformed, "the path is not text".to_owned()))),
        }
    }
}

/// A request whose caller is known.
pub(super) struct Call {
    pub(super) app: App,
    pub(super) caller: Caller,
    pub(super) parts: Parts,
    pub(super) body: Bytes,
    pub(super) registry: Arc<Registry>,
    limit: usize,
}

impl App {
    /// A small request of any kind but a submission.
    pub(super) async fn open(&self, request: Request) -> Result<Call, Problem> {
        self.open_sized(request, SMALL, Kind::Other).await
    }

    /// As [`Self::open`], with another bound and another bucket.
    pub(super) async fn open_sized(
        &self,
        request: Request,
        limit: usize,
        kind: Kind,
    ) -> Result<Call, Problem> {
        let (parts, body) = request.into_parts();
        let body = door::body(body, limit, DEADLINE).await;
        let registry = self.registry()?;
        let caller =
            auth::presented(&parts.headers).and_then(|hash| auth::caller(&hash, &self.settings, &registry));
        // The first failure is the answer (ADM-2): a body that is too large is, whoever sent it.
        let (caller, body) = match (caller, body) {
            (None, Err(fault @ (Reason::TooLarge, _))) => return Err(self.folded(fault)),
            (None, Err(_) | Ok(_)) => {
                let detail = "the request presents no credential that this plane knows".to_owned();
                return Err(self.folded((Reason::Unauthenticated, detail)));
            }
            (Some(caller), body) => (caller, body),
        };
        let too_large = matches!(body, Err((Reason::TooLarge, _)));
        if let (Caller::Principal(held), false) = (&caller, too_large)
            && let Err(wait) = self.rates.take(&held.principal, kind, mono())
        {
            let detail = format!("{} asks more often than it may", held.principal);
            return Err(self.folded((Reason::RateLimited, detail)).after(wait));
        }
        let mut call = Call { app: self.clone(), caller, parts, body: Bytes::new(), registry, limit };
        match body {
            Ok(body) => call.body = body,
            Err(fault) => return Err(call.refuse(fault, "", None).await),
        }
        Ok(call)
    }

    /// A refusal of somebody who is not known, or that is not worth an entry each (ADM-9).
    pub(super) fn folded(&self, (reason, detail): Fault) -> Problem {
        self.folded.note(reason);
        Problem::of(reason, detail)
    }

    /// What operators decided, as of the last commit.
    pub(super) fn registry(&self) -> Result<Arc<Registry>, Problem> {
        self.plane
            .view()
            .registry
            .ok_or_else(|| Problem::of(Reason::StoreUnavailable, "the plane does not serve yet"))
    }

    /// An operation of the plane, within the deadline. What is late may still happen.
    pub(super) async fn ask(&self, op: Op) -> Result<Reply, Refused> {
        tokio::time::timeout(DEADLINE, self.plane.call(op)).await.unwrap_or_else(|_| {
            Err(Refused { reason: Reason::OutcomeUnknown, detail: "the plane took too long".to_owned() })
        })
    }
}

/// Milliseconds of this process, for rates.
pub(super) fn mono() -> u64 {
    u64::try_from(START.elapsed().as_millis()).unwrap_or(u64::MAX)
}

/// The clocks as a registry's questions need them: only the wall counts there.
pub(super) fn now() -> Now {
    Now { wall: crate::clock::system(), mono: Mono(0) }
}

impl Call {
    /// The body as a document of ours.
    pub(super) async fn document<T: DeserializeOwned>(&self) -> Result<T, Problem> {
        let read = door::is_json(&self.parts.headers).and_then(|()| door::document(&self.body, self.limit));
        self.sound(read).await
    }

    /// The query string.
    pub(super) async fn query<T: DeserializeOwned>(&self) -> Result<T, Problem> {
        self.sound(door::query(&self.parts.uri)).await
    }

    /// A part of the path that has one form.
    pub(super) async fn segment<T: std::str::FromStr>(&self, text: &str) -> Result<T, Problem> {
        let read =
            text.parse().map_err(|_| (Reason::Malformed, "the path names nothing that can be".to_owned()));
        self.sound(read).await
    }

    /// Refuses what a door refused.
    pub(super) async fn sound<T>(&self, read: Result<T, Fault>) -> Result<T, Problem> {
        match read {
            Ok(value) => Ok(value),
            Err(fault) => Err(self.refuse(fault, "", None).await),
        }
    }

    /// The principal, or the problem that another kind of credential is.
    pub(super) fn principal(&self) -> Result<&Held, Problem> {
        match &self.caller {
            Caller::Principal(held) => Ok(held),
            Caller::Daemon(_) | Caller::Observer => Err(self
                .app
                .folded((Reason::Unauthenticated, "this takes a principal's credential".to_owned()))),
        }
    }

    /// The target, if the caller may see it (IDN-6). Whether it exists is told only to those who may.
    pub(super) async fn readable(&self, target: &str) -> Result<Target, Problem> {
        let target: Target = self.segment(target).await?;
        if !self.caller.may_read(&target) {
            let fault = (Reason::NotReadable, format!("the credential may not read {target}"));
            return Err(self.refuse(fault, target.as_str(), None).await);
        }
        self.known(target).await
    }

    /// The target, if the caller acts for it (ADM-13): only then it may take and answer its work.
    pub(super) async fn own(&self, target: &str) -> Result<Target, Problem> {
        let target: Target = self.segment(target).await?;
        let acts = match &self.caller {
            Caller::Principal(held) => held.acts_for.as_ref() == Some(&target),
            Caller::Daemon(_) | Caller::Observer => false,
        };
        if !acts {
            awakener_spec::rule!(Adm13);
            let fault = (Reason::NotReadable, format!("the credential does not act for {target}"));
            return Err(self.refuse(fault, target.as_str(), None).await);
        }
        self.known(target).await
    }

    pub(super) async fn known(&self, target: Target) -> Result<Target, Problem> {
        if self.registry.target_known(&target) {
            return Ok(target);
        }
        Err(self.refuse((Reason::UnknownTarget, target.to_string()), target.as_str(), None).await)
    }

    /// A refusal that reaches no machine: accounted for, without anything of the body (ADM-9).
    pub(super) async fn refuse(&self, fault: Fault, target: &str, message: Option<String>) -> Problem {
        let (reason, detail) = fault;
        let Caller::Principal(held) = &self.caller else {
            return self.app.folded((reason, detail));
        };
        awakener_spec::rule!(Adm9);
        let op =
            Op::Refused { principal: held.principal.clone(), target: target.to_owned(), message, reason };
        // The answer is the refusal itself; a store that cannot take it says so loudly on its own.
        let _ = self.app.ask(op).await;
        Problem::of(reason, detail)
    }

    /// One input of a mailbox.
    pub(super) async fn mailbox(
        &self,
        target: &Target,
        input: Input,
        statement: Option<Statement>,
    ) -> Result<Done, Problem> {
        let op = Op::Mailbox { target: target.clone(), input: Box::new(input), statement };
        done(self.app.ask(op).await)
    }
}

/// A step of a mailbox that was not refused.
#[derive(Debug)]
pub(super) struct Done {
    /// What happened; nothing for a repeat.
    pub(super) event: Option<Event>,
    /// All that came back.
    pub(super) reply: MailboxReply,
}

impl Done {
    pub(super) const fn repeat(&self) -> bool {
        self.event.is_none()
    }
}

/// Sorts a reply of the plane.
pub(super) fn done(reply: Result<Reply, Refused>) -> Result<Done, Problem> {
    let reply = match reply {
        Ok(Reply::Mailbox(reply)) => *reply,
        Ok(other) => return Err(unexpected(&other)),
        Err(refused) => return Err(refused.into()),
    };
    let target = reply.target.clone();
    let outcome: OutcomeOf<Mailbox> = reply.outcome.clone();
    match outcome {
        Outcome::Advanced(event) => Ok(Done { event: Some(event), reply }),
        Outcome::Absorbed => Ok(Done { event: None, reply }),
        Outcome::Refused(Refusal::Because(reason)) => {
            Err(Problem::of(reason, format!("{}: {target}", reason.name())))
        }
        Outcome::Refused(Refusal::Withheld(class)) => {
            Err(Problem::withheld(class, format!("no permit for {target}: {}", class.name())))
        }
    }
}

pub(super) fn unexpected(reply: &Reply) -> Problem {
    tracing::error!("the plane answered something else: {reply:?}");
    Problem::of(Reason::FactsMissing, "the plane answered something else")
}

impl From<Refused> for Problem {
    fn from(refused: Refused) -> Self {
        if matches!(refused.reason, Reason::StoreUnavailable | Reason::OutcomeUnknown | Reason::StoreCorrupt)
        {
            // Cannot be recorded, so it is said (ADM-9).
            tracing::error!(reason = refused.reason.name(), "{}", refused.detail);
        }
        Self::of(refused.reason, refused.detail)
    }
}

/// An answer in JSON.
pub(super) fn json(status: axum::http::StatusCode, value: &impl Serialize) -> Answer {
    match serde_json::to_vec(value) {
        Ok(bytes) => {
            let kind = [(axum::http::header::CONTENT_TYPE, "application/json")];
            Ok((status, kind, bytes).into_response())
        }
        Err(error) => Err(Problem::of(Reason::FactsMissing, error.to_string())),
    }
}

/// A plain success.
pub(super) fn ok(value: &impl Serialize) -> Answer {
    json(axum::http::StatusCode::OK, value)
}
