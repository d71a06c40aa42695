//! Turns a waker's effects into acts, and what comes of them into inputs. Decides nothing.
//!
//! Each target has four queues, each served in order by a task of its own: questions, sweeps, reports, and the runtime
//! (so a probe cannot overtake an older dispatch). A question or a sweep waits for the reports before it, since the
//! plane judges them by what it knows of the flight. Rules: DSP-2, DSP-5, DSP-7, DSP-10, DSP-11, DSP-12.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use awakener_kernel::ids::{Fence, Target, Token};
use awakener_kernel::time::{Millis, Mono};
use awakener_kernel::values::DispatchOutcome;
use awakener_kernel::waker::{Effect, Fate, Input, Ticket};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::sync::watch;
use tokio::task::JoinHandle;

use super::adapter::{Order, RuntimeAdapter};
use super::fold::{Sample, Via};
use super::inbox::{Cmd, Inbox};
use super::pauses::Pauses;
use super::port::{PlanePort, Reported};
use super::verify::Verifier;
use crate::clock::Clock;

/// The longest pause between two attempts to report.
const REPORT_PAUSE: Duration = Duration::from_secs(5);

/// What the ports of all targets share.
#[derive(Clone, Debug)]
pub(super) struct Common {
    pub(super) plane: Arc<dyn PlanePort>,
    pub(super) inbox: Inbox,
    pub(super) clock: Arc<Clock>,
    pub(super) pauses: Pauses,
    pub(super) verifier: Arc<Verifier>,
    pub(super) reachable: Arc<Reachable>,
    /// How long one answer of the plane is waited for.
    pub(super) patience: Duration,
}

/// Whether the plane answered last time.
#[derive(Debug)]
pub(super) struct Reachable(AtomicBool);

impl Default for Reachable {
    fn default() -> Self {
        Self(AtomicBool::new(true))
    }
}

impl Reachable {
    pub(super) fn now(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

impl Common {
    /// Notes whether the plane answered. When it is back, whatever came meanwhile was missed (DSP-11).
    pub(super) async fn answered(&self, yes: bool) {
        if !self.reachable.0.swap(yes, Ordering::Relaxed) && yes {
            self.inbox.give(Cmd::Reconnect).await;
        }
    }
}

/// The queues of one target.
#[derive(Debug)]
struct Queues {
    ask: UnboundedSender<Effect>,
    sweep: UnboundedSender<Effect>,
    report: UnboundedSender<Effect>,
    runtime: UnboundedSender<Effect>,
    unsaid: watch::Sender<usize>,
    seen: Arc<AtomicU64>,
    tasks: Vec<JoinHandle<()>>,
}

/// The queues of all targets. Dropping them ends every task.
#[derive(Debug, Default)]
pub(super) struct Ports(BTreeMap<String, Queues>);

impl Ports {
    /// Opens the queues of a target; without an adapter every dispatch is `not_attempted`.
    pub(super) fn open(
        &mut self,
        runtime: &tokio::runtime::Handle,
        common: &Common,
        target: &Target,
        adapter: Option<Arc<dyn RuntimeAdapter>>,
    ) {
        let (ask, asks) = unbounded_channel();
        let (sweep, sweeps) = unbounded_channel();
        let (report, reports) = unbounded_channel();
        let (dispatch, dispatches) = unbounded_channel();
        let (unsaid, _) = watch::channel(0);
        let port = Port {
            common: common.clone(),
            target: target.clone(),
            unsaid: unsaid.clone(),
            refused: Arc::default(),
            seen: Arc::default(),
        };
        let seen = Arc::clone(&port.seen);
        let tasks = vec![
            runtime.spawn(port.clone().questions(asks)),
            runtime.spawn(port.clone().sweeps(sweeps)),
            runtime.spawn(port.clone().reports(reports)),
            runtime.spawn(Runtime { port, adapter, watching: None }.serve(dispatches)),
        ];
        let queues = Queues { ask, sweep, report, runtime: dispatch, unsaid, seen, tasks };
        self.0.insert(target.as_str().to_owned(), queues);
    }

    /// Notes the greatest token that was accepted for a target, durably: sweeps say it.
    pub(super) fn saw(&self, target: &str, token: Token) {
        if let Some(queues) = self.0.get(target) {
            queues.seen.store(token.get(), Ordering::Relaxed);
        }
    }

    /// Sends an effect on its way; after those before it.
    pub(super) fn send(&self, target: &str, effect: Effect) {
        let Some(queues) = self.0.get(target) else { return };
        let queue = match effect {
            Effect::Ask { .. } => &queues.ask,
            Effect::Sweep { .. } => &queues.sweep,
            Effect::Dispatch { .. } | Effect::Probe { .. } => &queues.runtime,
            Effect::Report { .. } => {
                queues.unsaid.send_modify(|unsaid| *unsaid = unsaid.saturating_add(1));
                &queues.report
            }
            // The store thread's own.
            Effect::TellOperator(_) => return,
        };
        // A queue that is gone belongs to a daemon that is stopping.
        let _ = queue.send(effect);
    }
}

impl Drop for Ports {
    fn drop(&mut self) {
        self.0.values().flat_map(|queues| &queues.tasks).for_each(JoinHandle::abort);
    }
}

#[derive(Clone, Debug)]
struct Port {
    common: Common,
    target: Target,
    unsaid: watch::Sender<usize>,
    /// The permit whose flight the plane would not hear of.
    refused: Arc<Mutex<Option<Fence>>>,
    /// The greatest accepted token, 0 for none.
    seen: Arc<AtomicU64>,
}

impl Port {
    async fn give(&self, input: Input) {
        self.common.inbox.give(Cmd::Input { target: self.target.as_str().to_owned(), input }).await;
    }

    /// Whether the plane has heard every report before this.
    async fn all_said(&self) -> bool {
        let mut unsaid = self.unsaid.subscribe();
        let said = unsaid.wait_for(|many| *many == 0);
        tokio::time::timeout(self.common.patience, said).await.is_ok_and(|result| result.is_ok())
    }

    async fn questions(self, mut queue: UnboundedReceiver<Effect>) {
        while let Some(effect) = queue.recv().await {
            let Effect::Ask { ticket, question } = effect else { continue };
            let answer = if self.all_said().await {
                let asked = self.common.plane.permit(&self.target, question);
                tokio::time::timeout(self.common.patience, asked).await.ok().and_then(Result::ok)
            } else {
                None
            };
            self.common.answered(answer.is_some()).await;
            let input = match answer {
                Some(answer) => Input::Answer { ticket, answer },
                None => Input::AskFailed { ticket },
            };
            self.give(input).await;
        }
    }

    async fn sweeps(self, mut queue: UnboundedReceiver<Effect>) {
        while let Some(effect) = queue.recv().await {
            let Effect::Sweep { ticket } = effect else { continue };
            let found = if self.all_said().await {
                let seen = self.seen.load(Ordering::Relaxed);
                let asked = self.common.plane.sweep(&self.target, seen);
                tokio::time::timeout(self.common.patience, asked).await.ok().and_then(Result::ok)
            } else {
                None
            };
            self.common.answered(found.is_some()).await;
            match found {
                Some(hints) => self.found(ticket, hints).await,
                None => self.give(Input::AskFailed { ticket }).await,
            }
        }
    }

    /// What a sweep brings is verified like anything else.
    async fn found(&self, ticket: Ticket, hints: Vec<Vec<u8>>) {
        let any = !hints.is_empty();
        for bytes in hints {
            let presented = self.common.verifier.present(&bytes);
            let sample = Sample::of(&bytes);
            self.common.inbox.give(Cmd::Hint { via: Via::Sweep, presented, sample, answer: None }).await;
        }
        self.give(Input::Swept { ticket, any }).await;
    }

    /// Says each report until the plane has it or will never take it.
    async fn reports(self, mut queue: UnboundedReceiver<Effect>) {
        while let Some(effect) = queue.recv().await {
            let Effect::Report { fence, wake, report } = effect else { continue };
            let mut pause = Duration::from_millis(50);
            loop {
                let said = self.common.plane.report(&self.target, fence, wake, report);
                match tokio::time::timeout(self.common.patience, said).await {
                    Ok(Ok(Reported::Noted)) => break,
                    Ok(Ok(Reported::Refused(why))) => {
                        tracing::warn!(target = %self.target, %wake, "the plane refuses a report: {why}");
                        *self.refused.lock().unwrap_or_else(PoisonError::into_inner) = Some(fence);
                        break;
                    }
                    Ok(Err(_)) | Err(_) => self.common.answered(false).await,
                }
                tokio::time::sleep(pause).await;
                pause = (pause * 2).min(REPORT_PAUSE);
            }
            self.common.answered(true).await;
            self.unsaid.send_modify(|unsaid| *unsaid = unsaid.saturating_sub(1));
        }
    }
}

/// The queue that ends at the runtime.
struct Runtime {
    port: Port,
    adapter: Option<Arc<dyn RuntimeAdapter>>,
    /// The attempt whose end is watched for.
    watching: Option<(u64, JoinHandle<()>)>,
}

impl Runtime {
    async fn serve(mut self, mut queue: UnboundedReceiver<Effect>) {
        while let Some(effect) = queue.recv().await {
            match effect {
                Effect::Dispatch { ticket, attempt, wake, message, fence, until, attended } => {
                    let heard = self.heard(fence, self.left(until)).await;
                    let within = if heard { self.left(until) } else { Duration::ZERO };
                    let target = self.port.target.clone();
                    let order = Order { target, attempt, wake, message, attended, within };
                    self.dispatch(ticket, order).await;
                }
                Effect::Probe { ticket, attempt, wake, message, .. } => {
                    let (target, within) = (self.port.target.clone(), Duration::ZERO);
                    let order = Order { target, attempt, wake, message, attended: false, within };
                    self.probe(ticket, order).await;
                }
                Effect::Ask { .. }
                | Effect::Sweep { .. }
                | Effect::Report { .. }
                | Effect::TellOperator(_) => {}
            }
        }
    }

    /// Whether the plane knows of this flight. Without that a permit that runs out would let another daemon start
    /// beside it, so nothing starts before (DSP-7).
    async fn heard(&self, fence: Fence, within: Duration) -> bool {
        let mut unsaid = self.port.unsaid.subscribe();
        let said = unsaid.wait_for(|many| *many == 0);
        let said = tokio::time::timeout(within, said).await.is_ok_and(|result| result.is_ok());
        said && *self.port.refused.lock().unwrap_or_else(PoisonError::into_inner) != Some(fence)
    }

    fn left(&self, until: Mono) -> Duration {
        let Millis(left) = until.saturating_since(self.port.common.clock.mono());
        Duration::from_millis(left)
    }

    async fn dispatch(&mut self, ticket: Ticket, order: Order) {
        self.forget();
        let now = self.port.common.clock.now();
        let held = self.port.common.pauses.hold(order.target.as_str(), now.wall);
        let outcome = match &self.adapter {
            // A pause or the end of the permit since the decision: nothing may leave any more (DSP-7, DSP-10).
            _ if held || order.within.is_zero() => DispatchOutcome::NotAttempted,
            None => DispatchOutcome::NotAttempted,
            Some(adapter) => adapter.dispatch(&order).await,
        };
        tracing::info!(target = %order.target, wake = %order.wake, attempt = order.attempt, ?outcome, "dispatch");
        self.port.give(Input::Dispatched { ticket, outcome }).await;
        if !outcome.certainly_nothing() {
            self.watch(order);
        }
    }

    async fn probe(&mut self, ticket: Ticket, order: Order) {
        let fate = match &self.adapter {
            None => Fate::CannotTell,
            Some(adapter) => adapter.probe(&order).await,
        };
        tracing::info!(target = %order.target, attempt = order.attempt, ?fate, "probe");
        self.port.give(Input::Probed { ticket, fate }).await;
        if fate == Fate::Gone {
            self.forget();
        } else {
            self.watch(order);
        }
    }

    fn forget(&mut self) {
        if let Some((_, task)) = self.watching.take() {
            task.abort();
        }
    }

    /// Watches for the end of a flight, beside the queue.
    fn watch(&mut self, order: Order) {
        if self.watching.as_ref().is_some_and(|(attempt, _)| *attempt == order.attempt) {
            return;
        }
        self.forget();
        let Some(adapter) = self.adapter.clone() else { return };
        let (port, attempt) = (self.port.clone(), order.attempt);
        let task = tokio::spawn(async move {
            let end = adapter.watch(&order).await;
            port.give(Input::FlightEnded { attempt, end }).await;
        });
        self.watching = Some((attempt, task));
    }
}

impl Drop for Runtime {
    fn drop(&mut self) {
        self.forget();
    }
}
