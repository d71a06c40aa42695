//! The store thread: takes what has queued up, commits it as one transaction, then lets go of answers and effects.
//!
//! Mailbox inputs share a transaction (group commit). An operator command gets one of its own, so that facts never mix
//! states of the registry; a submission whose sender works on a mailbox of the same batch waits for the next one, so
//! that its cause is what is on disk.

use std::collections::BTreeMap;
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::sync::{Arc, RwLock};
use std::time::Duration;

use awakener_kernel::admission::{self, Attempt};
use awakener_kernel::ids::{Nonce, Target, WakeId};
use awakener_kernel::machine::Outcome;
use awakener_kernel::mailbox::Mailbox;
use awakener_kernel::mailbox::input::{Effect, Event, Fresh, Input};
use awakener_kernel::open::{Store, Txn};
use awakener_kernel::operator::Found;
use awakener_kernel::registry::Registry;
use awakener_kernel::registry::input as registry;
use awakener_kernel::time::Now;
use awakener_spec::Reason;

use super::facts::{Facts, submitted};
use super::{Answered, MailboxReply, Op, Plane, Publication, Refused, Reply, Setup, Submit, View, Waiting, sign};
use crate::clock::Clock;
use crate::host::{Failed, Host, Item};
use crate::pause::Point;
use crate::store::{Db, Statement, StoreFault};

/// How many operations may wait; one more is `overloaded`.
const QUEUE: usize = 4_096;
/// How many operations share a transaction at most.
const BATCH: usize = 256;
/// How often the clock is looked at, and the longest wait of the thread.
const TICK: Duration = Duration::from_secs(1);
/// The registry has no target.
const NO_TARGET: &str = "";

pub(super) struct Thread {
    setup: Setup,
    db: Db,
    clock: Clock,
    mailboxes: Host<Mailbox>,
    registry: Host<Registry>,
    /// No token of this process has an epoch at or below it (EMT-2).
    floor: u32,
    view: Arc<RwLock<View>>,
    arrivals: super::Arrivals,
    ops: Receiver<(Op, Waiting)>,
    /// Inputs that the thread owes itself.
    owed: Vec<(Target, Input)>,
}

pub(super) fn start(setup: Setup) -> Result<(Plane, std::thread::JoinHandle<()>), Refused> {
    let path = setup.state.join("plane.db");
    let (sender, ops) = sync_channel(QUEUE);
    let view = Arc::new(RwLock::new(View::default()));
    let arrivals = super::Arrivals::default();
    let plane = Plane {
        ops: sender,
        arrivals: arrivals.clone(),
        view: view.clone(),
        path: Arc::new(path.clone()),
    };
    let mut db = Db::open(&path, &setup.config_hash)?;
    db.pause_at(setup.pause.clone());
    let clock = Clock::starting_at(db.last_wall()?.unwrap_or(0));
    let now = clock.now();
    let registry = Host::boot(&mut db, setup.limits.get().clone(), now)?;
    let mailboxes = Host::boot(&mut db, setup.limits.get().clone(), now)?;
    let mut thread =
        Thread { setup, db, clock, mailboxes, registry, floor: 0, view, arrivals, ops, owed: Vec::new() };
    thread.boot()?;
    let handle = std::thread::Builder::new()
        .name("plane-store".to_owned())
        .spawn(move || thread.run())
        .map_err(|error| Refused { reason: Reason::StoreUnavailable, detail: error.to_string() })?;
    Ok((plane, handle))
}

impl Thread {
    /// What must be known and recorded before anyone is served.
    fn boot(&mut self) -> Result<(), Refused> {
        let now = self.clock.now();
        self.registry.ensure(&mut self.db, NO_TARGET, now)?;
        let roster = self.stored_roster();
        self.registry_step(registry::Input::Start { running: self.setup.running, roster })?;
        for denial in super::latch::denials(&self.setup.state)? {
            self.registry_step(registry::Input::Deny(denial))?;
        }
        self.registry_step(registry::Input::Manifest { accepted: self.setup.manifest_accepted })?;
        let intact = super::facts::chain_intact(&self.db);
        self.registry_step(registry::Input::Chain { intact })?;
        self.look_at_clock()?;
        self.floor = super::latch::raise_floor(&self.setup.state, self.highest_epoch())?;
        let targets: Vec<Target> =
            self.registry_image().targets.iter().cloned().collect();
        for target in &targets {
            self.mailboxes.ensure(&mut self.db, target.as_str(), now)?;
        }
        self.start_emitters()
    }

    /// Every mailbox gets an epoch above the floor before it may mint (EMT-2).
    fn start_emitters(&mut self) -> Result<(), Refused> {
        let items = self
            .mailboxes
            .machines()
            .map(|(target, _)| item(target, Input::Start { floor: self.floor }, None))
            .collect();
        self.mailbox_batch(items, BTreeMap::new()).map(|_| ()).map_err(|failed| refused(&failed))
    }

    fn run(mut self) {
        loop {
            let first = match self.ops.recv_timeout(self.wait()) {
                Ok(call) => Some(call),
                Err(RecvTimeoutError::Timeout) => None,
                Err(RecvTimeoutError::Disconnected) => break,
            };
            let mut calls: Vec<(Op, Waiting)> = first.into_iter().collect();
            calls.extend(self.ops.try_iter().take(BATCH.saturating_sub(calls.len())));
            self.serve(calls);
            if let Err(refused) = self.look_at_clock() {
                tracing::error!(reason = %refused.reason, "clock: {}", refused.detail);
            }
            self.fire();
            if self.db.poisoned() {
                self.reopen();
            }
            if let Err(fault) = self.mailboxes.snapshot(&mut self.db, false) {
                tracing::warn!("no snapshot: {fault}");
            }
        }
        // Nobody can ask any more: keep what makes the next start short.
        let _ = self.mailboxes.snapshot(&mut self.db, true);
        let _ = self.registry.snapshot(&mut self.db, true);
    }

    fn wait(&self) -> Duration {
        if !self.owed.is_empty() {
            return Duration::ZERO;
        }
        match self.mailboxes.deadline() {
            None => TICK,
            Some(at) => {
                Duration::from_millis(at.saturating_since(self.clock.now().mono).0).min(TICK)
            }
        }
    }

    /// Serves calls in order; consecutive mailbox inputs share a commit.
    fn serve(&mut self, calls: Vec<(Op, Waiting)>) {
        let mut batch: Vec<(Staged, Waiting)> = Vec::new();
        for (op, waiting) in calls {
            match self.prepare(op) {
                Prepared::Staged(staged) => batch.push((*staged, waiting)),
                Prepared::Alone(op) => {
                    self.flush(std::mem::take(&mut batch));
                    let reply = self.alone(op);
                    // A caller that has gone away has its answer in the store.
                    let _ = waiting.send(reply);
                }
                Prepared::Refuse(refused) => {
                    let _ = waiting.send(Err(refused));
                }
            }
        }
        self.flush(batch);
    }

    fn flush(&mut self, batch: Vec<(Staged, Waiting)>) {
        if batch.is_empty() {
            return;
        }
        let (staged, waiting): (Vec<Staged>, Vec<Waiting>) = batch.into_iter().unzip();
        let targets: Vec<Target> = staged.iter().map(|staged| staged.target.clone()).collect();
        match self.mailbox_batch(staged) {
            Err(failed) => {
                let refused = refused(&failed);
                for waiting in waiting {
                    let _ = waiting.send(Err(refused.clone()));
                }
            }
            Ok(outcomes) => {
                for ((target, outcome), waiting) in targets.into_iter().zip(outcomes).zip(waiting) {
                    let lease = self
                        .mailboxes
                        .machine(target.as_str())
                        .and_then(|mailbox| mailbox.live_lease(self.clock.now()))
                        .cloned();
                    let reply = MailboxReply { target, outcome, lease };
                    let _ = waiting.send(Ok(Reply::Mailbox(Box::new(reply))));
                }
            }
        }
    }

    /// One transaction over mailboxes; effects are let go afterwards.
    fn mailbox_batch(&mut self, staged: Vec<Staged>) -> Result<Vec<OutcomeOf<Mailbox>>, Failed> {
        let now = self.clock.now();
        let Some(registry) = self.registry.machine(NO_TARGET) else {
            return Err(Failed::NotDurable(self.db.fault(Reason::StoreUnavailable, &"the registry is not there")));
        };
        let mut context = Vec::with_capacity(staged.len());
        let mut items = Vec::with_capacity(staged.len());
        for Staged { target, input, statement, known } in staged {
            items.push(Item { target: target.as_str().to_owned(), input, statement });
            context.push((target, known));
        }
        let mut context = context.into_iter();
        let (routes, config) = (&self.setup.routes, self.setup.limits.get());
        let done = self.mailboxes.batch(&mut self.db, now, items, |db, peers, item, query| {
            // Facts are asked for once per item, in order.
            let (target, known) =
                context.next().ok_or_else(|| db.fault(Reason::FactsMissing, &"more items than context"))?;
            let facts = Facts { db, registry, routes, config, now, target: &target, peers };
            facts.answer(&item.input, query, known.as_ref())
        })?;
        for (target, effect) in done.effects {
            self.act(&target, effect);
        }
        Ok(done.outcomes)
    }

    fn act(&mut self, target: &str, effect: Effect) {
        let Ok(target) = Target::parse(target) else { return };
        match effect {
            Effect::Publish(minted) => {
                let wake = minted.fresh.wake;
                let handed = sign(&minted, &target, &self.setup.router_key).and_then(|bytes| {
                    self.db.reached(Point::BeforePublish);
                    self.setup
                        .publish
                        .try_send(Publication { target: target.clone(), wake, bytes })
                        .map_err(|error| error.to_string())
                });
                if let Err(detail) = handed {
                    // The hint is lost; the message is not (EMT-4).
                    tracing::warn!(%wake, "hint not handed over: {detail}");
                    self.owed.push((target, Input::Published { wake, handed_over: false }));
                }
            }
            Effect::TellOperator(message) => {
                tracing::warn!(%message, target = target.as_str(), rule = "ACK-9", "an alert needs its operator");
            }
        }
    }

    /// Deadlines that are due, and inputs that the thread owes itself.
    fn fire(&mut self) {
        let now = self.clock.now();
        let mut items: Vec<Item<Mailbox>> = std::mem::take(&mut self.owed)
            .into_iter()
            .map(|(target, input)| item(target.as_str(), input, None))
            .collect();
        items.extend(self.mailboxes.due(now).iter().map(|target| item(target, Input::Fire { fresh: fresh(now) }, None)));
        if items.is_empty() {
            return;
        }
        if let Err(failed) = self.mailbox_batch(items, BTreeMap::new()) {
            tracing::error!("a deadline could not be kept: {}", refused(&failed).detail);
            // The deadline stays due; without a pause the thread would spin on a broken disk.
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    /// After a commit of unknown fate: close, open, recover (ADM-2).
    fn reopen(&mut self) {
        let path = self.db.path().to_owned();
        let hash = self.setup.config_hash.clone();
        loop {
            // The old handle holds the lock; it must go first.
            let reopened = self.db.reopen(&path, &hash).and_then(|()| {
                let now = self.clock.now();
                self.registry = Host::boot(&mut self.db, self.setup.limits.get().clone(), now)?;
                self.mailboxes = Host::boot(&mut self.db, self.setup.limits.get().clone(), now)?;
                Ok(())
            });
            match reopened.map_err(Refused::from).and_then(|()| self.boot()) {
                Ok(()) => return,
                Err(refused) => {
                    tracing::error!(reason = %refused.reason, "the store cannot be opened again: {}", refused.detail);
                    std::thread::sleep(TICK);
                }
            }
        }
    }
}

/// What a call turns out to be.
enum Prepared {
    /// An input of a mailbox, which may share a transaction.
    Staged(Box<Staged>),
    /// Something that needs a transaction of its own, or none.
    Alone(Op),
    /// Nothing; it is refused before any machine is asked.
    Refuse(Refused),
}

/// One input of a mailbox, and what is known of it beside the store.
struct Staged {
    target: Target,
    input: Input,
    statement: Option<Statement>,
    known: Option<Known>,
}

impl Staged {
    const fn plain(target: Target, input: Input) -> Self {
        Self { target, input, statement: None, known: None }
    }
}

impl Thread {
    /// What can be said without a transaction.
    fn prepare(&mut self, op: Op) -> Prepared {
        match op {
            Op::Submit(submit) => self.prepare_submission(*submit),
            Op::Mailbox { target, input, statement } => {
                if !self.registry_image().target_known(&target) {
                    return Prepared::Refuse(Refused::because(Reason::UnknownTarget, target.as_str()));
                }
                Prepared::Staged(Box::new(Staged { target, input: *input, statement, known: None }))
            }
            Op::Ack { signed, fence } => self.prepare_ack(*signed, fence),
            Op::Command(_) | Op::Sweep(_) | Op::Refused { .. } | Op::Overview => Prepared::Alone(op),
        }
    }

    /// The head of ADM-2 that needs the registry; the rest is the mailbox's.
    fn prepare_submission(&mut self, submit: Submit) -> Prepared {
        let Submit { held, submission, body_bytes, fence, trace } = submit;
        let attempt = Attempt {
            body_bytes,
            authenticated: true,
            within_rate: true,
            well_formed: true,
            other_sender: submission.from.as_ref().is_some_and(|from| *from != held.principal),
            schema_known: self.setup.routes.tier(&submission.schema).is_some(),
            target_known: self.registry_image().target_known(&submission.target),
        };
        if let Err(reason) = admission::screen(&attempt, self.setup.limits.get()) {
            let refused = self.note_refusal(
                &held.principal,
                submission.target.as_str(),
                Some(&submission.id.to_string()),
                reason,
            );
            return Prepared::Refuse(refused);
        }
        let normal = fuse::normal_form(&submission.body.to_string());
        let known = Known::Submission { held: held.clone(), normal: ContentHash::of(normal.as_bytes()) };
        let statement = Statement::Submission {
            submission: submission.to_value(),
            normal: ContentHash::of(normal.as_bytes()).to_string(),
            trace,
        };
        let submitted = Submitted {
            id: submission.id,
            principal: held.principal,
            content: submission.content_hash(),
            schema: submission.schema.clone(),
            fence,
        };
        Prepared::Staged(Box::new(Staged {
            target: submission.target,
            input: Input::Admit(submitted),
            statement: Some(statement),
            known: Some(known),
        }))
    }

    fn prepare_ack(&mut self, signed: Signed<AckStatement>, fence: Option<Fence>) -> Prepared {
        let statement = signed.document().clone();
        let target = statement.target.clone();
        if !self.registry_image().target_known(&target) {
            return Prepared::Refuse(Refused::because(Reason::UnknownTarget, target.as_str()));
        }
        let signature_valid = self
            .registry_image()
            .ack_public_key(&statement.key_id, &target)
            .is_some_and(|key| signed.verify(key).is_ok());
        let text = Statement::Signed {
            kind: "ack",
            subject: statement.message_id.to_string(),
            signed: signed.to_value(),
        };
        Prepared::Staged(Box::new(Staged {
            target,
            input: Input::Ack { ack: statement.said(), fence },
            statement: Some(text),
            known: Some(Known::Signature { valid: signature_valid }),
        }))
    }
}
