//! The client of a plane: one typed call per route, for the commands, the wake daemon and stations.
//!
//! It retries nothing by itself and keeps no state but a connection pool. It follows no redirects and uses no proxy,
//! so that a credential goes to the address that it was meant for and nowhere else. Not here: the other side of the
//! wake daemon and of stations. Rules: ADM-2 (`outcome_unknown`), CON-1.

use std::collections::BTreeMap;
use std::time::Duration;

use awakener_kernel::ids::{ContentHash, Fence, Holder, MessageId, Target, ThreadId, TurnId, WakeId};
use awakener_kernel::json::{self, Numbers};
use awakener_kernel::time::{Millis, Wall};
use awakener_kernel::values::{Answer, Finish, FlightReport, Permit, Question};
use awakener_kernel::wire::{AckStatement, Checkpoint, OperatorCommand, Signed, Submission};
use awakener_spec::{Class, Reason, ReceiptKind, Retry};
use reqwest::{Method, StatusCode};
use serde::de::DeserializeOwned;
use serde_json::Value;
use zeroize::Zeroizing;

use crate::http::problem::Problem;
use crate::http::wire::V1;
use crate::http::wire::agents::Agents;
use crate::http::wire::answers::Noted;
use crate::http::wire::answers::{
    Admitted, Audit, Claimed, Consistency, Enacted, Inclusion, Message, OneMessage, Page, Permitted,
    Receipts, RouterKeys, Swept, Trace, WorkRead,
};
use crate::http::wire::registry::RegistryNow;
pub use crate::http::wire::requests::ReadFrom;
use crate::http::wire::requests::{self, TurnRecord};
use crate::http::wire::stations::{GrantNow, OpenWork, Origin};
use crate::http::wire::status::Status;

/// How long an ordinary call may take; a long poll gets its own wait on top.
const TIMEOUT: Duration = Duration::from_secs(30);
/// The most bytes of an answer: a page of the largest size fits.
const LARGEST: usize = 64 << 20;

/// Why a call has no result.
#[derive(Clone, Debug, thiserror::Error)]
pub enum ClientError {
    /// The plane refused; nothing was done, unless the reason is `outcome_unknown`.
    #[error("{}: {}", .0.reason, .0.detail)]
    Problem(Box<Problem>),
    /// No connection: the call surely did nothing.
    #[error("the plane does not answer: {0}")]
    Unreachable(String),
    /// The connection broke or the time ran out after the request was on its way: nobody knows whether it took effect.
    /// Calls that change something are repeated with the same ids.
    #[error("no answer came, the outcome is unknown: {0}")]
    Timeout(String),
    /// What came back is not an answer of a plane.
    #[error("not an answer of a plane: {0}")]
    Malformed(String),
    /// The client only rehearses: this is what would have been sent.
    #[error("nothing was sent: {} {}", .0.method, .0.path)]
    Rehearsed(Box<Rehearsed>),
}

/// A request that changes something, as it would have been sent.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Rehearsed {
    /// Always `POST` so far.
    pub method: String,
    /// Without the address of the plane.
    pub path: String,
    /// The body; null if there is none.
    pub body: Value,
}

impl ClientError {
    /// The refusal of the closed list that this is. A withheld permit has none; see [`Self::class`].
    pub fn reason(&self) -> Option<Reason> {
        match self {
            Self::Problem(problem) => problem.reason(),
            Self::Unreachable(_) => Some(Reason::Unreachable),
            Self::Timeout(_) => Some(Reason::OutcomeUnknown),
            Self::Malformed(_) | Self::Rehearsed(_) => None,
        }
    }

    /// The class of a withheld permit.
    pub fn class(&self) -> Option<Class> {
        match self {
            Self::Problem(problem) => problem.class(),
            Self::Unreachable(_) | Self::Timeout(_) | Self::Malformed(_) | Self::Rehearsed(_) => None,
        }
    }

    /// Whether asking again can help.
    pub fn retry(&self) -> Retry {
        match self {
            Self::Problem(problem) => problem.retry,
            Self::Unreachable(_) => Retry::Later,
            Self::Timeout(_) => Retry::SameId,
            Self::Malformed(_) | Self::Rehearsed(_) => Retry::Never,
        }
    }

    fn malformed(error: impl std::fmt::Display) -> Self {
        Self::Malformed(error.to_string())
    }
}

/// The result of a call.
pub type Result<T> = std::result::Result<T, ClientError>;

/// Which receipts; all conditions must hold (RCP-4).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReceiptFilter {
    /// Of one message.
    pub message: Option<MessageId>,
    /// Of one hint.
    pub wake: Option<WakeId>,
    /// Of one thread.
    pub thread: Option<ThreadId>,
    /// Of one target.
    pub target: Option<Target>,
    /// Of one kind.
    pub kind: Option<ReceiptKind>,
    /// Not before this time.
    pub since: Option<Wall>,
    /// Only those with a greater number.
    pub after: Option<u64>,
    /// At most this many.
    pub limit: Option<u32>,
}

/// What a sweep found (DSP-11).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Owed {
    /// Hints as bytes, to be verified like any other.
    pub hints: Vec<Vec<u8>>,
    /// Which of the targets are armed.
    pub armed: Vec<Target>,
}

/// A client of one plane with one credential; cheap to clone.
#[derive(Clone)]
pub struct Client {
    http: reqwest::Client,
    base: String,
    token: std::sync::Arc<Zeroizing<String>>,
    timeout: Duration,
    rehearses: bool,
}

impl std::fmt::Debug for Client {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // Never the credential.
        f.debug_struct("Client").field("base", &self.base).finish_non_exhaustive()
    }
}

impl Client {
    /// A client for the plane at `base`, such as `http://127.0.0.1:7717`, that presents `token` (may be empty for
    /// routes that need none).
    ///
    /// # Errors
    /// [`ClientError::Malformed`] if `base` is no `http` address.
    pub fn new(base: &str, token: &str) -> Result<Self> {
        let url = reqwest::Url::parse(base).map_err(ClientError::malformed)?;
        if url.scheme() != "http" || url.path() != "/" {
            return Err(ClientError::Malformed(format!("{base}: expected http://host:port")));
        }
        let http = reqwest::Client::builder()
            .no_proxy()
            .redirect(reqwest::redirect::Policy::none())
            .connect_timeout(Duration::from_secs(5))
            .build()
            .map_err(ClientError::malformed)?;
        let base = base.trim_end_matches('/').to_owned();
        Ok(Self {
            http,
            base,
            token: Zeroizing::new(token.to_owned()).into(),
            timeout: TIMEOUT,
            rehearses: false,
        })
    }

    /// The same with another time limit per call.
    #[must_use]
    pub fn with_timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    /// The same, but nothing that could change something is sent: such a call ends as [`ClientError::Rehearsed`].
    #[must_use]
    pub fn rehearsing(mut self) -> Self {
        self.rehearses = true;
        self
    }

    /// The address of the plane.
    pub fn base(&self) -> &str {
        &self.base
    }

    /// Submits a message; a repeat with the same content gets the first result again (ADM-7). `lease` is what its
    /// sender works under (ADM-12).
    ///
    /// # Errors
    /// [`ClientError`].
    pub async fn submit(&self, submission: &Submission, lease: Option<Fence>) -> Result<Admitted> {
        let body = Body::json(submission.to_value()).lease(lease);
        self.call(Method::POST, "/v1/messages", body).await
    }

    /// One whole message: for its sender, and for who may read its target.
    ///
    /// # Errors
    /// [`ClientError`].
    pub async fn message(&self, id: MessageId) -> Result<Message> {
        let one: OneMessage = self.get(&format!("/v1/messages/{id}"), &[]).await?;
        Ok(one.message)
    }

    /// Peeks at an inbox (INB-5, INB-6). With `wait` an empty page is held back until something lands or the time is
    /// over (LSN-1).
    ///
    /// # Errors
    /// [`ClientError`].
    pub async fn inbox(
        &self,
        target: &Target,
        from: &ReadFrom,
        limit: Option<u32>,
        wait: Option<Duration>,
    ) -> Result<Page> {
        let mut query = vec![match from {
            ReadFrom::Start => ("from", "start".to_owned()),
            ReadFrom::Tail => ("from", "tail".to_owned()),
            ReadFrom::Position(position) => ("position", position.clone()),
        }];
        query.extend(limit.map(|limit| ("limit", limit.to_string())));
        query.extend(wait.map(|wait| ("wait_ms", wait.as_millis().to_string())));
        let body = Body { query, ..Body::none() }.within(self.timeout + wait.unwrap_or_default());
        self.call(Method::GET, &format!("/v1/inbox/{target}"), body).await
    }

    /// Takes work under a lease; the same holder gets the same lease again (INB-7).
    ///
    /// # Errors
    /// [`ClientError`]; `nothing_to_claim` when there is no work, `lease_held` when another holder has it.
    pub async fn claim(&self, target: &Target, holder: &Holder, max: u32) -> Result<Claimed> {
        self.post(
            &format!("/v1/inbox/{target}/claim"),
            &requests::Claim { v: V1, holder: holder.clone(), max },
        )
        .await
    }

    /// Keeps a lease.
    ///
    /// # Errors
    /// [`ClientError`]; `lost_lease`.
    pub async fn renew(&self, target: &Target, fence: Fence) -> Result<()> {
        self.noted(&format!("/v1/inbox/{target}/renew"), &requests::Fenced { v: V1, fence }).await.map(drop)
    }

    /// Gives a lease back.
    ///
    /// # Errors
    /// [`ClientError`]; `lost_lease`.
    pub async fn release(&self, target: &Target, fence: Fence) -> Result<()> {
        self.noted(&format!("/v1/inbox/{target}/release"), &requests::Fenced { v: V1, fence }).await.map(drop)
    }

    /// Reads claimed work: from here on an attempt counts (INB-8).
    ///
    /// # Errors
    /// [`ClientError`]; `lost_lease`, `not_claimed`.
    pub async fn read(&self, target: &Target, fence: Fence, message: MessageId) -> Result<WorkRead> {
        self.post(&format!("/v1/inbox/{target}/read"), &requests::Read { v: V1, fence, message }).await
    }

    /// Records how a turn ended (OBS-1, OBS-2). `Ok(true)`: it was recorded before.
    ///
    /// # Errors
    /// [`ClientError`]; `result_conflict` when it ended otherwise.
    pub async fn finish_turn(
        &self,
        target: &Target,
        fence: Fence,
        message: MessageId,
        turn: TurnId,
        finish: Finish,
        record: Option<TurnRecord>,
    ) -> Result<bool> {
        let body = requests::Turn { v: V1, fence, message, turn, finish, record };
        self.noted(&format!("/v1/inbox/{target}/turns"), &body).await
    }

    /// Records a reply (INB-9). `Ok(true)`: it was recorded before.
    ///
    /// # Errors
    /// [`ClientError`].
    pub async fn reply(
        &self,
        target: &Target,
        fence: Fence,
        in_reply_to: MessageId,
        turn: TurnId,
        body: &str,
    ) -> Result<bool> {
        let body = requests::Reply { v: V1, fence, in_reply_to, turn, body: body.to_owned() };
        self.noted(&format!("/v1/inbox/{target}/replies"), &body).await
    }

    /// Records a silence with its reason (INB-9). `Ok(true)`: it was recorded before.
    ///
    /// # Errors
    /// [`ClientError`].
    pub async fn silence(
        &self,
        target: &Target,
        fence: Fence,
        in_reply_to: MessageId,
        turn: TurnId,
        reason: &str,
    ) -> Result<bool> {
        let body = requests::Silence { v: V1, fence, in_reply_to, turn, reason: reason.to_owned() };
        self.noted(&format!("/v1/inbox/{target}/silences"), &body).await
    }

    /// Records that a message is done without an answer (INB-3). `Ok(true)`: it was recorded before.
    ///
    /// # Errors
    /// [`ClientError`].
    pub async fn done(
        &self,
        target: &Target,
        fence: Fence,
        in_reply_to: MessageId,
        turn: TurnId,
    ) -> Result<bool> {
        let body = requests::Done { v: V1, fence, in_reply_to, turn };
        self.noted(&format!("/v1/inbox/{target}/done"), &body).await
    }

    /// Presents a signed ACK (ACK-3); `lease` is required for `by = station` (ACK-5). `Ok(true)`: the same was
    /// acknowledged before.
    ///
    /// # Errors
    /// [`ClientError`]; any `ack_…`, `already_acknowledged`, `lost_lease`.
    pub async fn ack(&self, signed: &Signed<AckStatement>, lease: Option<Fence>) -> Result<bool> {
        let body = Body::json(signed.to_value()).lease(lease);
        let noted: Noted = self.call(Method::POST, "/v1/acks", body).await?;
        Ok(noted.repeat)
    }

    /// Presents a signed operator command (OPR-1). Needs no credential but the signature.
    ///
    /// # Errors
    /// [`ClientError`]; any `operator_…`.
    pub async fn operator(&self, signed: &Signed<OperatorCommand>) -> Result<Enacted> {
        self.call(Method::POST, "/v1/operator", Body::json(signed.to_value())).await
    }

    /// Receipts that match (RCP-4), oldest first; of targets and messages that the credential may see.
    ///
    /// # Errors
    /// [`ClientError`].
    pub async fn receipts(&self, filter: &ReceiptFilter) -> Result<Receipts> {
        let ReceiptFilter { message, wake, thread, target, kind, since, after, limit } = filter;
        let query: Vec<(&'static str, String)> = [
            message.map(|id| ("message", id.to_string())),
            wake.map(|id| ("wake", id.to_string())),
            thread.map(|id| ("thread", id.to_string())),
            target.as_ref().map(|name| ("target", name.to_string())),
            kind.map(|kind| ("kind", kind.name().to_owned())),
            since.map(|wall| ("since", wall.utc())),
            after.map(|number| ("after", number.to_string())),
            limit.map(|limit| ("limit", limit.to_string())),
        ]
        .into_iter()
        .flatten()
        .collect();
        self.get("/v1/receipts", &query).await
    }

    /// Everything that is known of one message (RCP-4).
    ///
    /// # Errors
    /// [`ClientError`].
    pub async fn trace(&self, message: MessageId) -> Result<Trace> {
        self.get(&format!("/v1/trace/{message}"), &[]).await
    }

    /// Work that is open, passing `skip` over; with `wait` an empty answer is held back until something lands or the time
    /// is over (LSN-1).
    ///
    /// # Errors
    /// [`ClientError`].
    pub async fn work(
        &self,
        target: &Target,
        skip: &[MessageId],
        wait: Option<Duration>,
    ) -> Result<OpenWork> {
        let mut query = Vec::new();
        query.extend(wait.map(|wait| ("wait_ms", wait.as_millis().to_string())));
        if !skip.is_empty() {
            let skip: Vec<String> = skip.iter().map(MessageId::to_string).collect();
            query.push(("skip", skip.join(",")));
        }
        let body = Body { query, ..Body::none() }.within(self.timeout + wait.unwrap_or_default());
        self.call(Method::GET, &format!("/v1/inbox/{target}/work"), body).await
    }

    /// Where a message of an inbox came from (ADM-12, FUS-1).
    ///
    /// # Errors
    /// [`ClientError`].
    pub async fn origin(&self, target: &Target, message: MessageId) -> Result<Origin> {
        self.get(&format!("/v1/inbox/{target}/origin/{message}"), &[]).await
    }

    /// The grant of a target (STN-2).
    ///
    /// # Errors
    /// [`ClientError`].
    pub async fn grant(&self, target: &Target) -> Result<GrantNow> {
        self.get(&format!("/v1/grants/{target}"), &[]).await
    }

    /// Asks for a permit (DSP-7), as the daemon whose credential this client has.
    ///
    /// # Errors
    /// [`ClientError`] when there is no answer at all; a withheld permit is an answer.
    pub async fn permit(&self, target: &Target, question: &Question) -> Result<Answer> {
        let Question { wake, message, token } = *question;
        let body = requests::Permit { v: V1, target: target.clone(), wake, message, token };
        match self.post::<Permitted>("/v1/permits", &body).await {
            Ok(Permitted { fence, life_ms, .. }) => {
                Ok(Answer::Granted(Permit { fence, life: Millis(life_ms) }))
            }
            Err(ClientError::Problem(problem)) => match withheld(&problem) {
                Some(class) => Ok(Answer::Withheld(class)),
                None => Err(ClientError::Problem(problem)),
            },
            Err(error) => Err(error),
        }
    }

    /// Reports of a flight (DSP-2, DSP-4). `Ok(true)`: the same was reported before.
    ///
    /// # Errors
    /// [`ClientError`].
    pub async fn report(
        &self,
        target: &Target,
        fence: Fence,
        wake: WakeId,
        report: FlightReport,
    ) -> Result<bool> {
        let body = requests::Report { v: V1, target: target.clone(), fence, wake, report: report.into() };
        self.noted("/v1/reports", &body).await
    }

    /// Asks what is owed to these targets (DSP-11); targets that the plane does not know are passed over.
    ///
    /// # Errors
    /// [`ClientError`].
    pub async fn sweep(&self, targets: &[Target]) -> Result<Owed> {
        self.sweep_above(targets, BTreeMap::new()).await
    }

    /// The same, saying which tokens were accepted last, as numbers, 0 for none: hints get tokens above them (EMT-2).
    ///
    /// # Errors
    /// [`ClientError`].
    pub async fn sweep_above(&self, targets: &[Target], seen: BTreeMap<Target, u64>) -> Result<Owed> {
        let body = requests::Sweep { v: V1, targets: targets.to_vec(), seen };
        let Swept { hints, armed, .. } = self.post("/v1/sweep", &body).await?;
        Ok(Owed { hints: hints.iter().map(json::canonical).collect(), armed })
    }

    /// The router keys that hold now or will (HAF-3).
    ///
    /// # Errors
    /// [`ClientError`].
    pub async fn router_keys(&self) -> Result<RouterKeys> {
        self.get("/v1/router-keys", &[]).await
    }

    /// A part of the audit chain: entries from position `from` (1 = the first) on. For observers.
    ///
    /// # Errors
    /// [`ClientError`].
    pub async fn audit(&self, from: u64, limit: u32) -> Result<Audit> {
        self.get("/v1/audit", &[("from", from.to_string()), ("limit", limit.to_string())]).await
    }

    /// Has a checkpoint over the whole chain as it is now signed by the audit key, and kept (AUD-3). For observers.
    /// Whether the signature holds is for whoever knows the key.
    ///
    /// # Errors
    /// [`ClientError`]; `checkpoint_untrusted` when the plane's audit key was revoked.
    pub async fn checkpoint(&self) -> Result<Signed<Checkpoint>> {
        let value: Value = self.call(Method::POST, "/v1/audit/checkpoint", Body::none()).await?;
        Signed::from_value(value.get("checkpoint").unwrap_or(&Value::Null)).map_err(ClientError::malformed)
    }

    /// The newest checkpoint that the plane has kept (AUD-3). For observers.
    ///
    /// # Errors
    /// [`ClientError`]; `store_unavailable` when none is signed yet.
    pub async fn newest_checkpoint(&self) -> Result<Signed<Checkpoint>> {
        let value: Value = self.get("/v1/audit/checkpoint", &[]).await?;
        Signed::from_value(value.get("checkpoint").unwrap_or(&Value::Null)).map_err(ClientError::malformed)
    }

    /// The proof that the newest checkpoint has everything that one over `first` records had (AUD-3). For observers.
    ///
    /// # Errors
    /// [`ClientError`].
    pub async fn consistency(&self, first: u64) -> Result<Consistency> {
        self.get("/v1/audit/consistency", &[("first", first.to_string())]).await
    }

    /// The proof that the newest checkpoint covers the record at `position` (AUD-3). For observers.
    ///
    /// # Errors
    /// [`ClientError`].
    pub async fn inclusion(&self, position: u64) -> Result<Inclusion> {
        self.get("/v1/audit/inclusion", &[("position", position.to_string())]).await
    }

    /// The status of the plane, as far as the credential may see it.
    ///
    /// # Errors
    /// [`ClientError`].
    pub async fn status(&self) -> Result<Status> {
        self.get("/v1/status", &[]).await
    }

    /// All agents, or one: what each does, why it waits, and what helps. For observers.
    ///
    /// # Errors
    /// [`ClientError`].
    pub async fn agents(&self, only: Option<&Target>) -> Result<Agents> {
        let query: Vec<(&str, String)> = only.iter().map(|target| ("target", target.to_string())).collect();
        self.get("/v1/agents", &query).await
    }

    /// What operators decided. For observers.
    ///
    /// # Errors
    /// [`ClientError`].
    pub async fn registry(&self) -> Result<RegistryNow> {
        self.get("/v1/registry", &[]).await
    }

    /// Whether the plane serves.
    ///
    /// # Errors
    /// [`ClientError`] says why it does not.
    pub async fn ready(&self) -> Result<()> {
        self.get::<Value>("/readyz", &[]).await.map(drop)
    }
}

/// A class that only a withheld permit can have; `malformed` and `not_armed` are also reasons of other refusals, and
/// only the second is one of a permit.
fn withheld(problem: &Problem) -> Option<Class> {
    match problem.class()? {
        class @ (Class::Unminted
        | Class::AuthorityWithdrawn
        | Class::NotArmed
        | Class::NotOutstanding
        | Class::PermitHeld
        | Class::Unanswered) => Some(class),
        Class::Malformed
        | Class::WrongRouter
        | Class::Tamper
        | Class::WrongTarget
        | Class::NotYetValid
        | Class::Stale
        | Class::Replay
        | Class::FreshnessRegression
        | Class::WindowFull => None,
    }
}

/// What a request carries beside its route.
struct Body {
    query: Vec<(&'static str, String)>,
    json: Option<Value>,
    lease: Option<Fence>,
    timeout: Option<Duration>,
}

impl Body {
    const fn none() -> Self {
        Self { query: Vec::new(), json: None, lease: None, timeout: None }
    }

    fn json(value: Value) -> Self {
        Self { json: Some(value), ..Self::none() }
    }

    fn lease(self, lease: Option<Fence>) -> Self {
        Self { lease, ..self }
    }

    fn within(self, timeout: Duration) -> Self {
        Self { timeout: Some(timeout), ..self }
    }
}

impl Client {
    async fn get<T: DeserializeOwned>(&self, path: &str, query: &[(&'static str, String)]) -> Result<T> {
        self.call(Method::GET, path, Body { query: query.to_vec(), ..Body::none() }).await
    }

    async fn post<T: DeserializeOwned>(&self, path: &str, body: &impl serde::Serialize) -> Result<T> {
        let value = serde_json::to_value(body).map_err(ClientError::malformed)?;
        self.call(Method::POST, path, Body::json(value)).await
    }

    async fn noted(&self, path: &str, body: &impl serde::Serialize) -> Result<bool> {
        self.post::<Noted>(path, body).await.map(|noted| noted.repeat)
    }

    async fn call<T: DeserializeOwned>(&self, method: Method, path: &str, body: Body) -> Result<T> {
        if self.rehearses && method != Method::GET {
            let (method, path) = (method.to_string(), path.to_owned());
            let body = body.json.unwrap_or_default();
            return Err(ClientError::Rehearsed(Box::new(Rehearsed { method, path, body })));
        }
        let mut url = reqwest::Url::parse(&format!("{}{path}", self.base)).map_err(ClientError::malformed)?;
        if !body.query.is_empty() {
            url.query_pairs_mut().extend_pairs(body.query);
        }
        let mut request = self.http.request(method, url).timeout(body.timeout.unwrap_or(self.timeout));
        if !self.token.is_empty() {
            request = request.bearer_auth(self.token.as_str());
        }
        if let Some(fence) = body.lease {
            request = request.header("awakener-lease", fence.0.to_string());
        }
        if let Some(value) = body.json {
            request = request
                .header(reqwest::header::CONTENT_TYPE, "application/json")
                .body(serde_json::to_vec(&value).map_err(ClientError::malformed)?);
        }
        let mut response = request.send().await.map_err(|error| unsent(&error))?;
        let status = response.status();
        let mut bytes = Vec::new();
        while let Some(chunk) = response.chunk().await.map_err(|error| ClientError::Timeout(chain(&error)))? {
            if bytes.len() + chunk.len() > LARGEST {
                return Err(ClientError::Malformed(format!("more than {LARGEST} bytes")));
            }
            bytes.extend_from_slice(&chunk);
        }
        answer(status, &bytes)
    }
}

/// An error before the request was on its way is certain; any other leaves the fate open.
fn unsent(error: &reqwest::Error) -> ClientError {
    if error.is_connect() {
        ClientError::Unreachable(chain(error))
    } else if error.is_builder() {
        ClientError::Malformed(chain(error))
    } else {
        ClientError::Timeout(chain(error))
    }
}

fn answer<T: DeserializeOwned>(status: StatusCode, bytes: &[u8]) -> Result<T> {
    let value = json::read_carrier(bytes, LARGEST, Numbers::Any)
        .map_err(|fault| ClientError::Malformed(format!("status {status}: {fault}")))?;
    if status.is_success() {
        serde_json::from_value(value).map_err(ClientError::malformed)
    } else {
        let problem: Problem = serde_json::from_value(value)
            .map_err(|error| ClientError::Malformed(format!("status {status}: {error}")))?;
        Err(ClientError::Problem(Box::new(problem)))
    }
}

fn chain(error: &dyn std::error::Error) -> String {
    let mut said = error.to_string();
    let mut cause = error.source();
    while let Some(inner) = cause {
        said.push_str(": ");
        said.push_str(&inner.to_string());
        cause = inner.source();
    }
    said
}

/// What a plane stores of a credential, for those who register one (IDN-6).
pub fn credential_hash(token: &str) -> ContentHash {
    crate::keys::token_hash(token)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn aud_1_what_carries_a_document_of_full_depth_can_be_read() {
        // A signed command may be as deep as the door allows; its entry and the page around that are deeper.
        let nested = |levels: u32| "[".repeat(levels as usize) + &"]".repeat(levels as usize);
        let read = |levels| answer::<serde_json::Value>(StatusCode::OK, nested(levels).as_bytes());
        assert!(read(json::MAX_DEPTH + 6).is_ok());
        assert!(read(json::CARRIER_DEPTH + 1).is_err());
    }
}
