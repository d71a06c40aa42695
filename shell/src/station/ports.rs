//! Turns a station's effects into acts, and results into inputs. Decides nothing.
//!
//! Effects are carried out one after the other, in the order of the commits; only what waits (a poll, a turn) goes on
//! beside them. What the plane must hear is repeated until there is an answer, since a time-out says nothing.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use awakener_kernel::fuse;
use awakener_kernel::ids::{ContentHash, Fence, Holder, MessageId, SchemaRef, Target, TurnId};
use awakener_kernel::station::{
    Alarm, CursorAfter, Effect, Input, Lane, LatchNote, Mapped, Model, Prior, Ticket, TripAudit, Work,
};
use awakener_kernel::values::{By, Finish, Response, TurnRef};
use awakener_kernel::wire::{AckStatement, Priority, ResponseExpectation, Signed, Submission};
use awakener_spec::Reason;
use ed25519_dalek::SigningKey;
use tokio::sync::mpsc::UnboundedReceiver;
use tokio::task::AbortHandle;

use super::latch::LatchFiles;
use super::runner::{Runner, Task};
use super::thread::{Handle, Released};
use crate::client::{Client, ClientError};
use crate::http::wire::answers::{Message, ResponseState};
use crate::store::Statement;

/// Pause between two tries of a call that had no answer.
const AGAIN: Duration = Duration::from_millis(250);

/// What the ports of a station need.
pub struct Ports {
    pub handle: Handle,
    pub client: Client,
    pub target: Target,
    pub holder: Holder,
    pub ack_key: Arc<SigningKey>,
    pub latch: LatchFiles,
    pub model: Model,
    pub mapped: Option<Mapped>,
    pub runner: Arc<dyn Runner>,
    pub poll_every: Duration,
    pub run: Running,
}

/// What only this boot knows.
#[derive(Default)]
pub struct Running {
    poll: Option<AbortHandle>,
    turn: Option<AbortHandle>,
    lease: Option<Fence>,
    /// The work that was read last, for the turn on it.
    read: BTreeMap<MessageId, Box<Message>>,
}

/// Why the ports end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// A latch: exit code 90.
    Latched,
    /// Nobody needs them any more.
    Stopped,
}

impl Ports {
    /// Carries effects out until the station stops.
    pub async fn serve(mut self, mut released: UnboundedReceiver<Released>) -> Ended {
        while let Some(released) = released.recv().await {
            match released {
                Released::Precaution(note) => {
                    // Safety goes before provenance: the latch is written although nothing could be recorded.
                    self.write_latch(&note);
                    match note.audit {
                        TripAudit::Recorded(hash) => {
                            tracing::error!(rule = "FUS-5", latch = %note.latch.0, %hash, "latched without a store");
                        }
                        TripAudit::Missing(why) => {
                            tracing::error!(rule = "FUS-5", latch = %note.latch.0, ?why, "latched; the audit record is MISSING");
                        }
                    }
                    return Ended::Latched;
                }
                Released::Effect(effect) => {
                    if let Some(ended) = self.act(*effect).await {
                        return ended;
                    }
                }
            }
        }
        Ended::Stopped
    }

    async fn act(&mut self, effect: Effect) -> Option<Ended> {
        match effect {
            Effect::ReadInbox { ticket } => self.read_inbox(ticket).await,
            Effect::Poll { skip } => self.poll(skip),
            Effect::Claim { ticket, skip } => self.claim(ticket, &skip).await,
            Effect::Release { .. } => self.release().await,
            Effect::StartTurn { ticket, turn, lane } => self.start_turn(ticket, turn, &lane),
            Effect::Renew { fence } => self.renew(fence).await,
            Effect::ReportTurn { turn, fence, finish } => self.report_turn(turn, fence, finish).await,
            Effect::RecordResult { ticket, turn, fence, response } => {
                self.record_result(ticket, turn, fence, response).await;
            }
            Effect::SendAck { ticket, turn, content, outcome, fence } => {
                let statement = AckStatement {
                    message_id: turn.message,
                    content_sha256: content,
                    target: self.target.clone(),
                    outcome,
                    by: By::Station,
                    key_id: awakener_kernel::wire::public_key(&self.ack_key).key_id(),
                    time: crate::clock::system(),
                };
                self.send_ack(ticket, statement, fence).await;
            }
            Effect::ForwardAck { ticket, .. } => {
                // The statement went to the mailbox before this station heard of it.
                self.handle.feed(Input::AckAccepted { ticket });
            }
            Effect::CleanUp { ticket, turn } => self.clean_up(ticket, turn).await,
            Effect::AppendTripAudit { ticket, latch, cause, within } => {
                let what = serde_json::json!({ "trip": { "latch": latch, "cause": cause } });
                let append = self.handle.append(what);
                let result = tokio::time::timeout(Duration::from_millis(within.0), append).await;
                let result = result.unwrap_or(Err(Reason::OutcomeUnknown));
                self.handle.feed(Input::TripAuditDone { ticket, result });
            }
            Effect::WriteLatch { ticket, note } => {
                let ok = self.write_latch(&note);
                self.handle.step(Input::LatchWritten { ticket, ok }).await;
            }
            Effect::StopProcess => return Some(Ended::Latched),
            Effect::ArchiveLatch { ticket, note } => {
                let ok = said("the incident could not be kept", self.latch.archive(&note));
                self.handle.feed(Input::LatchArchived { ticket, ok });
            }
            Effect::RemoveLatch { ticket, latch } => {
                let ok = said("the latch could not be removed", self.latch.remove(latch));
                self.handle.feed(Input::LatchRemoved { ticket, ok });
            }
            Effect::TellOperator(alarm) => tell(&self.target, alarm),
        }
        None
    }

    /// STN-5: what was hinted at is read from the inbox, never from the hint.
    async fn read_inbox(&mut self, ticket: Ticket) {
        match self.client.work(&self.target, &[], None).await {
            Ok(_) => self.handle.feed(Input::InboxRead { ticket }),
            Err(error) => {
                tracing::warn!(target = %self.target, "the inbox cannot be read: {error}");
                self.handle.feed(Input::DispatchFailed { ticket });
            }
        }
    }

    fn poll(&mut self, skip: Vec<MessageId>) {
        if let Some(former) = self.run.poll.take() {
            former.abort();
        }
        let (client, target, handle) = (self.client.clone(), self.target.clone(), self.handle.clone());
        let every = self.poll_every;
        let task = tokio::spawn(async move {
            loop {
                // A plane that does not answer is asked again with the next look; a wake comes first anyway.
                if client.work(&target, &skip, None).await.is_ok_and(|work| !work.messages.is_empty()) {
                    handle.feed(Input::WorkFound);
                    return;
                }
                tokio::time::sleep(every).await;
            }
        });
        self.run.poll = Some(task.abort_handle());
    }

    async fn claim(&mut self, ticket: Ticket, skip: &[MessageId]) {
        let work = self.claimed(skip).await.unwrap_or_else(|error| {
            tracing::info!(target = %self.target, "nothing claimed: {error}");
            None
        });
        if work.is_none() {
            self.release().await;
        }
        let directive = work
            .as_ref()
            .map_or(ContentHash([0; 32]), |work| ContentHash::of(self.directive(work.message()).as_bytes()));
        let lane = Lane::Hosted { directive, model: self.model.clone(), mapped: self.mapped };
        self.handle.feed(Input::Claimed { ticket, turn: turn_id(), lane, work });
    }

    /// The first claimed message that does not rest, read under the lease.
    async fn claimed(&mut self, skip: &[MessageId]) -> Result<Option<Work>, ClientError> {
        let claimed = self.client.claim(&self.target, &self.holder, 50).await?;
        self.run.lease = Some(claimed.fence);
        // Tier-0 first, then by tier, then by place (RTE-3).
        let open = claimed.messages.into_iter().filter(|head| !skip.contains(&head.id));
        let Some(head) = open.min_by_key(|head| (head.tier, head.seq)) else { return Ok(None) };
        let read = self.client.read(&self.target, claimed.fence, head.id).await?;
        let origin = self.client.origin(&self.target, head.id).await?;
        let (own, causes) = match origin.chain.split_first() {
            Some((own, causes)) => (own, causes),
            None => return Err(ClientError::Malformed("a message without its own place".to_owned())),
        };
        let state = &read.message.head.state;
        let complete = state.turn.as_ref().filter(|turn| turn.finish == Finish::Complete);
        let prior = match (&state.response, complete) {
            (Some(response), Some(turn)) if response.turn == turn.id => {
                known(response).map(|response| Prior { turn: turn.id, response })
            }
            (_, _) => None,
        };
        let work = Work {
            seq: awakener_kernel::ids::Seq::new(head.seq)
                .ok_or_else(|| ClientError::Malformed("sequence 0".to_owned()))?,
            tier: head.tier,
            content: head.content_sha256,
            fence: claimed.fence,
            released: origin.released,
            prior,
            cause: fuse::Work {
                message: head.id,
                normal: own.normal,
                depth: head.depth,
                descends_from_own: origin.chain.iter().any(|message| message.own),
                ancestry: causes
                    .iter()
                    .map(|cause| fuse::Ancestor {
                        message: cause.message,
                        here: cause.here,
                        normal: cause.normal,
                    })
                    .collect(),
            },
        };
        // A turn at a time: what was read before and led to none is not kept.
        self.run.read.clear();
        self.run.read.insert(head.id, Box::new(read.message));
        Ok(Some(work))
    }

    async fn release(&mut self) {
        if let Some(fence) = self.run.lease.take() {
            // A lease that cannot be given back runs out.
            let _ = self.client.release(&self.target, fence).await;
        }
    }

    /// What the model is told, exactly; its hash is recorded (OBS-2).
    fn directive(&self, message: MessageId) -> String {
        let read = self.run.read.get(&message);
        read.map(|message| super::directive::directive(&self.target, message)).unwrap_or_default()
    }

    fn start_turn(&mut self, ticket: Ticket, turn: TurnRef, lane: &Lane) {
        if let Some(former) = self.run.turn.take() {
            former.abort();
        }
        debug_assert!(matches!(lane, Lane::Hosted { .. }), "this station hosts");
        let message = self.run.read.get(&turn.message).cloned();
        let intent = message.as_ref().map(|message| message.head.intent.clone()).unwrap_or_default();
        let task = Task { turn, intent, directive: self.directive(turn.message) };
        let (handle, client, runner) = (self.handle.clone(), self.client.clone(), Arc::clone(&self.runner));
        let (target, fence) = (self.target.clone(), self.run.lease);
        let task = tokio::spawn(async move {
            let ran = runner.run(&task).await;
            if ran.echoes
                && let Some(message) = &message
            {
                echo(&client, &target, message, fence).await;
            }
            let (answer, statement) = match ran.answer {
                None => (None, None),
                Some((answer, text)) => {
                    (Some(answer), Some(Statement::Answer { kind: "answer", body: text }))
                }
            };
            handle.feed_with(Input::TurnFinished { ticket, evidence: ran.evidence, answer }, statement);
        });
        self.run.turn = Some(task.abort_handle());
    }

    async fn renew(&mut self, fence: Fence) {
        if let Err(ClientError::Problem(problem)) = self.client.renew(&self.target, fence).await {
            tracing::warn!(target = %self.target, "the lease is gone: {}", problem.detail);
            self.run.lease = None;
            self.handle.feed(Input::LeaseLost { fence });
        }
    }

    async fn report_turn(&mut self, turn: TurnRef, fence: Fence, finish: Finish) {
        let (client, target) = (&self.client, &self.target);
        let told = insist(|| client.finish_turn(target, fence, turn.message, turn.turn, finish, None)).await;
        if let Err(error) = told {
            tracing::warn!(%target, "the mailbox did not take the turn's end: {error}");
        }
    }

    async fn record_result(&mut self, ticket: Ticket, turn: TurnRef, fence: Fence, response: Response) {
        let text = self.handle.text(turn).await.unwrap_or_default();
        let (client, target) = (&self.client, &self.target);
        let TurnRef { turn, message } = turn;
        let recorded = match response {
            Response::Reply(_) => insist(|| client.reply(target, fence, message, turn, &text)).await,
            Response::Silence => insist(|| client.silence(target, fence, message, turn, &text)).await,
            Response::Done => insist(|| client.done(target, fence, message, turn)).await,
        };
        self.handle.feed(match recorded {
            Ok(_) => Input::ResultRecorded { ticket },
            Err(error) => Input::ResultRefused { ticket, why: why(&error) },
        });
    }

    async fn send_ack(&mut self, ticket: Ticket, statement: AckStatement, fence: Fence) {
        let signed = Signed::sign(statement, &self.ack_key);
        let client = &self.client;
        let sent = insist(|| client.ack(&signed, Some(fence))).await;
        self.handle.feed(match sent {
            Ok(_) => Input::AckAccepted { ticket },
            Err(error) => Input::AckRefused { ticket, why: why(&error) },
        });
    }

    async fn clean_up(&mut self, ticket: Ticket, turn: Option<(TurnRef, Fence)>) {
        if let Some(running) = self.run.turn.take() {
            running.abort();
        }
        let fence = turn.map(|(_, fence)| fence).or(self.run.lease);
        self.run.lease = None;
        if let Some(fence) = fence {
            let _ = self.client.release(&self.target, fence).await;
        }
        let (client, target) = (&self.client, &self.target);
        let seq =
            turn.and_then(|(turn, _)| self.run.read.remove(&turn.message)).map(|message| message.head.seq);
        let cursor = match insist(|| client.work(target, &[], None)).await {
            Ok(work) if seq.is_some_and(|seq| work.cursor >= seq) => CursorAfter::Moved,
            Ok(_) | Err(_) => CursorAfter::Pinned,
        };
        let reach = self.runner.reaches_ack_key().then_some(Statement::AckKeyInReach);
        self.handle.feed_with(Input::CleanupDone { ticket, cursor }, reach);
    }

    fn write_latch(&self, note: &LatchNote) -> bool {
        said("the latch could not be written", self.latch.write(note))
    }
}

/// Sends what was read to its own inbox again, with the lease that it is working under.
async fn echo(client: &Client, target: &Target, message: &Message, fence: Option<Fence>) {
    let submission = Submission {
        id: MessageId::from_parts(crate::clock::system().0, random()),
        thread: message.head.thread,
        in_reply_to: Some(message.head.id),
        target: target.clone(),
        schema: SchemaRef::parse("message/1").unwrap_or_else(|_| message.head.schema.clone()),
        priority: Priority::Normal,
        intent: message.head.intent.clone(),
        response_expectation: ResponseExpectation::None,
        subject: None,
        body: message.body.clone(),
        from: None,
    };
    if let Err(error) = client.submit(&submission, fence).await {
        tracing::info!(%target, "the echo was refused: {error}");
    }
}

/// Repeats a call until there is an answer: what changes something is idempotent by its ids.
async fn insist<T, F>(mut call: impl FnMut() -> F) -> Result<T, ClientError>
where
    F: Future<Output = Result<T, ClientError>>,
{
    loop {
        match call().await {
            Err(ClientError::Unreachable(_) | ClientError::Timeout(_)) => tokio::time::sleep(AGAIN).await,
            Err(error) if error.reason().is_some_and(passing) => tokio::time::sleep(AGAIN).await,
            answered => return answered,
        }
    }
}

/// Refusals that say nothing about what was asked for.
fn passing(reason: Reason) -> bool {
    matches!(
        reason,
        Reason::StoreUnavailable | Reason::OutcomeUnknown | Reason::Overloaded | Reason::RateLimited
    )
}

fn why(error: &ClientError) -> Reason {
    error.reason().unwrap_or(Reason::FactsMissing)
}

/// A result as the mailbox knows it; the text of a reply stays there.
fn known(response: &ResponseState) -> Option<Response> {
    match (response.kind.as_str(), &response.body) {
        ("reply", Some(body)) => Some(Response::Reply(ContentHash::of(body.as_bytes()))),
        ("silence", _) => Some(Response::Silence),
        ("done", _) => Some(Response::Done),
        (_, _) => None,
    }
}

fn said(what: &str, result: std::io::Result<()>) -> bool {
    if let Err(error) = &result {
        tracing::error!(rule = "FUS-4", "{what}: {error}");
    }
    result.is_ok()
}

fn tell(target: &Target, alarm: Alarm) {
    tracing::error!(%target, ?alarm, "an operator must look at this station");
}

/// An id for a turn, should one start.
pub fn turn_id() -> TurnId {
    TurnId::from_parts(crate::clock::system().0, random())
}

fn random() -> [u8; 10] {
    let mut random = [0; 10];
    if getrandom::fill(&mut random).is_err() {
        // Without chance ids could meet; better none at all.
        std::process::abort();
    }
    random
}
