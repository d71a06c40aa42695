//! The store thread: takes what has queued up, commits it as one transaction, then lets go of answers and effects.
//!
//! Mailbox inputs share a transaction (group commit); if that surely failed, each is tried by itself, so that what
//! cannot be read or written for one of them is nobody else's failure. An operator command has one of its own, so that
//! facts never mix states of the registry.

use std::collections::BTreeSet;
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::sync::{Arc, RwLock};
use std::time::{Duration, Instant};

use awakener_kernel::admission::{self, Attempt, Submitted};
use awakener_kernel::audit::Identities;
use awakener_kernel::ids::{Fence, Holder, KeyId, Nonce, OperatorName, Principal, Target, Token, WakeId};
use awakener_kernel::machine::{Machine, Outcome, OutcomeOf};
use awakener_kernel::mailbox::Mailbox;
use awakener_kernel::mailbox::input::{Effect, Event, Fresh, Input};
use awakener_kernel::operator::{self, Denial, Found, Outside, Presented, Roster};
use awakener_kernel::registry::{self, Registry};
use awakener_kernel::time::{Now, Wall};
use awakener_kernel::wire::{AckStatement, Signed};
use awakener_spec::Reason;

use super::facts::{Facts, Known};
use super::files;
use super::{
    MailboxReply, Op, Overview, Plane, Publication, Refused, Reply, Setup, Submit, View, Waiting, sign,
};
use crate::clock::Clock;
use crate::host::{Failed, Host, Item};
use crate::pause::Point;
use crate::store::{Db, Statement};

mod acts;
mod age;
mod alone;
mod checkpoint;
mod prepare;
mod restored;
mod settle;
#[cfg(test)]
mod tests;
mod verify;

use prepare::{Prepared, Staged};
use settle::{Lost, Trouble};

/// How many operations may wait; one more is `overloaded`.
pub(super) const QUEUE: usize = 4_096;
/// How many operations share a transaction at most.
pub(super) const BATCH: usize = 256;
/// How often the clock is looked at, and the longest wait of the thread.
const TICK: Duration = Duration::from_secs(1);
/// The registry has no target.
const NO_TARGET: &str = "";

pub(super) struct Thread {
    setup: Setup,
    db: Db,
    clock: Arc<Clock>,
    mailboxes: Host<Mailbox>,
    registry: Host<Registry>,
    /// No token of this process has an epoch at or below it (EMT-2).
    floor: u32,
    view: Arc<RwLock<View>>,
    arrivals: super::Arrivals,
    ops: Receiver<(Op, Waiting)>,
    /// Inputs that the thread owes itself.
    owed: Vec<(Target, Input)>,
    /// How far the search for what has grown too old has come (INB-3).
    age: age::Search,
    /// What walks a long chain, while Tier-0 waits for it (AUD-5).
    walking: Option<verify::Walking>,
    /// The tree over the chain, shared with readers.
    grown: super::Grown,
    /// What the last checkpoint covered (AUD-3).
    signed: Option<checkpoint::Last>,
    /// Whether the deny file holds something that is not recorded yet.
    denied: bool,
    /// What a failed commit took away; nobody is served before it is back.
    lost: Lost,
    /// Whether the chain in this file was found whole; `None` = not looked at since the file was opened.
    intact: Option<bool>,
    /// Mailboxes that came back from disk without an epoch of their own: they mint nothing (EMT-2).
    silent: BTreeSet<Target>,
    /// What verifiers have said, and whether hints wait for it (EMT-2).
    verifiers: restored::Verifiers,
    /// When mailboxes were last given an epoch apart from a boot.
    revived: Option<Instant>,
    /// The last attempt to get back what was lost, if it failed.
    trouble: Option<Trouble>,
}

pub(super) fn start(setup: Setup) -> Result<(Plane, std::thread::JoinHandle<()>), Refused> {
    let (plane, thread) = open(setup)?;
    let handle = std::thread::Builder::new()
        .name("plane-store".to_owned())
        .spawn(move || thread.run())
        .map_err(|error| Refused { reason: Reason::StoreUnavailable, detail: error.to_string() })?;
    Ok((plane, handle))
}

/// Everything but the thread itself.
fn open(setup: Setup) -> Result<(Plane, Thread), Refused> {
    let path = setup.state.join("plane.db");
    let (sender, ops) = sync_channel(QUEUE);
    let view = Arc::new(RwLock::new(View::default()));
    let arrivals = super::Arrivals::default();
    files::not_lost(&setup.state, &path)?;
    let mut db = Db::open(&path, setup.config_hash)?;
    let router = awakener_kernel::wire::public_key(&setup.router_key).key_id();
    db.belongs_to(Identities { router: Some(router), ..Identities::default() });
    db.pause_at(setup.pause.clone());
    let grown = super::Grown::default();
    let clock = Arc::new(Clock::starting_at(Wall(db.last_wall()?.unwrap_or(0))));
    let plane = Plane {
        ops: sender,
        arrivals: arrivals.clone(),
        view: view.clone(),
        path: Arc::new(path),
        clock: clock.clone(),
        broker: Arc::default(),
        grown: grown.clone(),
    };
    let now = clock.now();
    let registry = Host::boot(&mut db, setup.limits.get().clone(), now)?;
    let mailboxes = Host::boot(&mut db, setup.limits.get().clone(), now)?;
    let mut thread = Thread {
        setup,
        db,
        clock,
        mailboxes,
        registry,
        floor: 0,
        view,
        arrivals,
        ops,
        owed: Vec::new(),
        age: age::Search::default(),
        walking: None,
        grown,
        signed: None,
        denied: false,
        lost: Lost::Nothing,
        intact: None,
        silent: BTreeSet::new(),
        verifiers: restored::Verifiers::default(),
        revived: None,
        trouble: None,
    };
    thread.recognise()?;
    thread.boot()?;
    Ok((plane, thread))
}

impl Thread {
    /// What must be known and recorded before anyone is served.
    fn boot(&mut self) -> Result<(), Refused> {
        let now = self.clock.now();
        self.registry.ensure(&mut self.db, NO_TARGET, now)?;
        if let Some(enrolment) = self.setup.enrolment.take() {
            self.registry_step(enrolment, None)?;
        }
        let roster = self.stored_roster();
        self.registry_step(registry::Input::Start { running: self.setup.running, roster }, None)?;
        self.take_denials()?;
        match self.intact {
            Some(intact) => self.registry_step(registry::Input::Chain { intact }, None).map(drop)?,
            None => self.verify_chain(verify::AT_ONCE)?,
        }
        let accepted = self.setup.manifest_accepted;
        self.registry_step(registry::Input::Manifest { accepted }, None)?;
        self.look_at_clock()?;
        let targets: Vec<Target> = self.registry()?.image().targets.iter().cloned().collect();
        for target in &targets {
            self.mailboxes.ensure(&mut self.db, target.as_str(), now)?;
        }
        let known: Vec<Target> =
            self.mailboxes.machines().filter_map(|(target, _)| Target::parse(target).ok()).collect();
        self.start_emitters(known, 0)?;
        // Of a store that was opened anew in this process the thread knows itself what it owes.
        let owed = acts::owed(&self.db, &self.mailboxes)?;
        self.owed.retain(|debt| !owed.contains(debt));
        self.owed.extend(owed);
        self.publish_view();
        self.silent.clear();
        self.lost = Lost::Nothing;
        self.checkpoint_when_due();
        Ok(())
    }

    /// Takes in what was denied while the store could not commit (OPR-2). Until that is done nothing else is.
    fn take_denials(&mut self) -> Result<(), Refused> {
        let (denials, readable) = files::denials(&self.setup.state);
        for denial in denials {
            self.registry_step(registry::Input::Deny(denial), None)?;
        }
        // What could not be read is not taken in: it stays, and stops everything again at the next start.
        if readable && let Err(error) = files::denials_taken(&self.setup.state, self.clock.wall()) {
            tracing::warn!(rule = "OPR-2", "the deny file stays where it is: {error}");
        }
        self.denied = false;
        Ok(())
    }

    /// Every mailbox gets an epoch above the floor, everything stored and `seen` before it may mint (EMT-2).
    fn start_emitters(&mut self, targets: Vec<Target>, seen: u32) -> Result<(), Refused> {
        let stored = self.mailboxes.machines().map(|(_, mailbox)| mailbox.image().epoch).max().unwrap_or(0);
        self.floor = files::raise_floor(&self.setup.state, stored.max(seen))?;
        self.know_floor_file();
        let floor = self.floor;
        let staged: Vec<Staged> = targets
            .into_iter()
            .filter(|target| self.verifiers.let_go(target))
            .map(|target| Staged::plain(target, Input::Start { floor }))
            .collect();
        if staged.is_empty() {
            return Ok(());
        }
        self.mailbox_batch(staged).map(|_| ()).map_err(|failed| refused(&failed))
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
            if let Err(refused) = self.settle() {
                self.turn_away(calls, &refused);
                continue;
            }
            self.serve(calls);
            if let Err(refused) = self.look_at_clock() {
                tracing::error!(reason = %refused.reason, "clock: {}", refused.detail);
            }
            self.fire();
            self.expire();
            self.chain_verified();
            self.revive();
            self.checkpoint_when_due();
            if let Err(fault) = self.mailboxes.snapshot(&mut self.db, false) {
                tracing::warn!("no snapshot: {fault}");
            }
        }
        // Nobody can ask any more: keep what makes the next start short.
        let _ = self.mailboxes.snapshot(&mut self.db, true);
        let _ = self.registry.snapshot(&mut self.db, true);
    }

    fn wait(&self) -> Duration {
        if let Some(trouble) = &self.trouble {
            return trouble.again.saturating_duration_since(Instant::now());
        }
        if !self.owed.is_empty() || self.lost != Lost::Nothing {
            return Duration::ZERO;
        }
        match self.mailboxes.deadline() {
            None => TICK,
            Some(at) => Duration::from_millis(at.saturating_since(self.clock.now().mono).0).min(TICK),
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
        let asked: Vec<(Target, Option<Holder>)> = staged
            .iter()
            .map(|staged| match &staged.input {
                Input::Claim { holder, .. } => (staged.target.clone(), Some(holder.clone())),
                _ => (staged.target.clone(), None),
            })
            .collect();
        let results = self.mailbox_each(staged);
        for (((target, holder), result), waiting) in asked.into_iter().zip(results).zip(waiting) {
            let reply = result.map(|outcome| {
                if matches!(outcome, Outcome::Advanced(Event::Admitted { .. })) {
                    self.arrivals.of(target.as_str()).notify_waiters();
                }
                let lease = self
                    .mailboxes
                    .machine(target.as_str())
                    .and_then(|mailbox| mailbox.live_lease(self.clock.now()))
                    // Later steps of the batch may have ended it: another holder's lease is nobody's answer.
                    .filter(|lease| Some(&lease.holder) == holder.as_ref())
                    .filter(|lease| granted(&outcome).is_none_or(|fence| fence == lease.fence))
                    .cloned();
                Reply::Mailbox(Box::new(MailboxReply { target, outcome, lease }))
            });
            let _ = waiting.send(reply);
        }
    }

    /// One transaction over mailboxes if that can be; if it surely failed, one for each input, so that a row that
    /// cannot be read is the failure of those alone who ask for it. One result per input, in order.
    fn mailbox_each(&mut self, staged: Vec<Staged>) -> Vec<Result<OutcomeOf<Mailbox>, Refused>> {
        let number = staged.len();
        let again = if number > 1 { staged.clone() } else { Vec::new() };
        match self.mailbox_batch(staged) {
            Ok(outcomes) => outcomes.into_iter().map(Ok).collect(),
            Err(Failed::NotDurable(_)) if number > 1 => again
                .into_iter()
                .map(|one| {
                    let outcome = self.mailbox_batch(vec![one]).map_err(|failed| refused(&failed))?;
                    outcome.into_iter().next().ok_or_else(no_outcome)
                })
                .collect(),
            Err(failed) => vec![Err(refused(&failed)); number],
        }
    }

    /// One transaction over mailboxes; effects are let go afterwards.
    fn mailbox_batch(&mut self, staged: Vec<Staged>) -> Result<Vec<OutcomeOf<Mailbox>>, Failed> {
        let now = self.clock.now();
        let Some(registry) = self.registry.machine(NO_TARGET) else {
            return Err(Failed::NotDurable(
                self.db.fault(Reason::StoreUnavailable, &"the registry is not there"),
            ));
        };
        let touched: BTreeSet<Target> = staged.iter().map(|staged| staged.target.clone()).collect();
        let mut context = Vec::with_capacity(staged.len());
        let mut items = Vec::with_capacity(staged.len());
        for Staged { target, input, statement, known } in staged {
            items.push(Item { target: target.as_str().to_owned(), input, statement });
            context.push((target, known));
        }
        let mut context = context.into_iter();
        let (routes, config) = (&self.setup.routes, self.setup.limits.get());
        let result = self.mailboxes.batch(&mut self.db, now, items, |db, peers, item, query| {
            // Facts are asked for once per item, in order.
            let (target, known) =
                context.next().ok_or_else(|| db.fault(Reason::FactsMissing, &"more items than context"))?;
            let facts = Facts { db, registry, routes, config, now, target: &target, peers };
            facts.answer(&item.input, query, known.as_ref())
        });
        match result {
            Ok(done) => {
                for (target, effect) in done.effects {
                    self.act(&target, effect);
                }
                Ok(done.outcomes)
            }
            Err(failed) => {
                self.silent.extend(touched);
                Err(failed)
            }
        }
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
        let owed = std::mem::take(&mut self.owed);
        let mut items: Vec<Staged> =
            owed.iter().map(|(target, input)| Staged::plain(target.clone(), input.clone())).collect();
        items.extend(
            self.mailboxes
                .due(now)
                .iter()
                .filter_map(|target| Target::parse(target).ok())
                .map(|target| Staged::plain(target, Input::Fire { fresh: fresh(now) })),
        );
        if items.is_empty() {
            return;
        }
        let mut owed = owed.into_iter();
        let mut failed = false;
        for result in self.mailbox_each(items) {
            let owing = owed.next();
            let Err(refused) = result else { continue };
            failed = true;
            tracing::error!(reason = %refused.reason, "a deadline could not be kept: {}", refused.detail);
            // What surely did not happen is still owed, as a deadline stays due.
            if refused.reason != Reason::OutcomeUnknown {
                self.owed.extend(owing);
            }
        }
        if failed {
            // Without a pause the thread would spin on a broken disk.
            std::thread::sleep(Duration::from_millis(50));
        }
    }
}

fn no_outcome() -> Refused {
    Refused::because(Reason::FactsMissing, "a step without an outcome")
}

/// The fence of a lease that was just taken.
const fn granted(outcome: &OutcomeOf<Mailbox>) -> Option<Fence> {
    match outcome {
        Outcome::Advanced(Event::Leased { fence }) => Some(*fence),
        _ => None,
    }
}

/// Entropy for one hint: chance from the operating system, time from the store's clock.
fn fresh(now: Now) -> Fresh {
    let mut random = [0; 26];
    // Without chance no hint could be told from another; better none at all.
    if getrandom::fill(&mut random).is_err() {
        tracing::error!("the operating system gives no random bytes");
        std::process::abort();
    }
    let (id, nonce) = random.split_at(10);
    let id = <[u8; 10]>::try_from(id).unwrap_or_default();
    let nonce = <[u8; 16]>::try_from(nonce).unwrap_or_default();
    Fresh { wake: WakeId::from_parts(now.wall.0, id), nonce: Nonce(nonce) }
}

fn refused(failed: &Failed) -> Refused {
    match failed {
        Failed::NotDurable(fault) => Refused { reason: fault.reason, detail: fault.to_string() },
        Failed::Unknown(fault) => Refused { reason: Reason::OutcomeUnknown, detail: fault.to_string() },
    }
}

impl Refused {
    /// A refusal with a name for what it is about.
    pub fn because(reason: Reason, about: &str) -> Self {
        Self { reason, detail: format!("{}: {about}", reason.text()) }
    }
}
