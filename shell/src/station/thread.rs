//! The store thread of one station: one input, one commit, then its effects.
//!
//! If a commit fails while the input trips the fuse, the latch is written all the same: that write alone is exempt
//! from "durable before visible" (FUS-6).

use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::Duration;

use awakener_kernel::audit::Identities;
use awakener_kernel::config::{Checked, Config};
use awakener_kernel::ids::ContentHash;
use awakener_kernel::machine::{Machine as _, OutcomeOf};
use awakener_kernel::open::{CommitError, Entry, Txn, Write};
use awakener_kernel::station::{
    Effect, Grant, Input, LatchCause, LatchId, LatchNote, LatchStage, Phase, PhaseName, Station,
};
use awakener_kernel::time::{Now, Wall};
use awakener_kernel::values::TurnRef;
use awakener_spec::Reason;
use serde_json::Value;
use tokio::sync::{mpsc::UnboundedSender, oneshot};

use crate::clock::{Clock, Turn, Watch};
use crate::host::{Failed, Host, Item};
use crate::plane::queries::ChainPart;
use crate::store::{Db, Focus, Statement, StoreFault};

/// Where the grant that a latch has used up stands in the store.
const SPENT: &str = "spent_grant";

/// What the thread is asked.
#[derive(Debug)]
pub enum Call {
    /// An input of the machine, and a text that it does not see.
    Input(Box<Input>, Option<Statement>, Option<oneshot::Sender<Option<OutcomeOf<Station>>>>),
    /// The text of a turn's answer.
    Text(TurnRef, oneshot::Sender<Option<String>>),
    /// An entry of its own (FUS-5); the answer is its hash.
    Append(Value, oneshot::Sender<Result<ContentHash, Reason>>),
    /// The machine as it is on disk.
    Look(oneshot::Sender<Option<Station>>),
    /// The same with what displays need beside it.
    Show(oneshot::Sender<Option<Shown>>),
    /// The plane's time; the answer is whether the station goes on from it (EMT-6).
    PlaneTime(Wall, oneshot::Sender<bool>),
    /// The grant that a latch has used up (FUS-7).
    Spent(oneshot::Sender<Result<Option<String>, Reason>>),
    /// Notes it.
    Spend(Grant, oneshot::Sender<Result<(), Reason>>),
    /// The chain from a position on, at most so many entries.
    Audit(u64, u32, oneshot::Sender<Result<ChainPart, Reason>>),
}

/// The machine as displays see it (AUD-8).
#[derive(Clone, Debug)]
pub struct Shown {
    /// As it is on disk.
    pub station: Station,
    /// Since when this process has it in its phase.
    pub since: Wall,
    /// The limits that its steps obey.
    pub limits: Config,
    /// By the store's clock.
    pub now: Now,
}

/// What the thread lets go.
#[derive(Clone, Debug)]
pub enum Released {
    /// An effect of a committed step.
    Effect(Box<Effect>),
    /// The latch of a trip whose step could not be committed.
    Precaution(Box<LatchNote>),
}

/// A handle on the thread; cheap to clone.
#[derive(Clone, Debug)]
pub struct Handle(Sender<Call>);

impl Handle {
    /// Feeds an input; nobody waits for what comes of it.
    pub fn feed(&self, input: Input) {
        self.feed_with(input, None);
    }

    /// The same with a text that belongs to it.
    pub fn feed_with(&self, input: Input, statement: Option<Statement>) {
        // A thread that has ended takes no inputs: the process is about to end.
        let _ = self.0.send(Call::Input(Box::new(input), statement, None));
    }

    /// The text of a turn's answer, if the turn had one.
    pub async fn text(&self, turn: TurnRef) -> Option<String> {
        let (sender, receiver) = oneshot::channel();
        self.0.send(Call::Text(turn, sender)).ok()?;
        receiver.await.ok().flatten()
    }

    /// Feeds an input and returns its outcome once it is durable; `None` if it is not.
    pub async fn step(&self, input: Input) -> Option<OutcomeOf<Station>> {
        let (sender, receiver) = oneshot::channel();
        self.0.send(Call::Input(Box::new(input), None, Some(sender))).ok()?;
        receiver.await.ok().flatten()
    }

    /// Appends an entry.
    ///
    /// # Errors
    /// The store's reason.
    pub async fn append(&self, what: Value) -> Result<ContentHash, Reason> {
        let (sender, receiver) = oneshot::channel();
        self.0.send(Call::Append(what, sender)).map_err(|_| Reason::StoreUnavailable)?;
        receiver.await.unwrap_or(Err(Reason::OutcomeUnknown))
    }

    /// The machine as it is on disk.
    pub async fn look(&self) -> Option<Station> {
        let (sender, receiver) = oneshot::channel();
        self.0.send(Call::Look(sender)).ok()?;
        receiver.await.ok().flatten()
    }

    /// The machine with what displays need beside it.
    pub async fn show(&self) -> Option<Shown> {
        let (sender, receiver) = oneshot::channel();
        self.0.send(Call::Show(sender)).ok()?;
        receiver.await.ok().flatten()
    }

    /// Tells of the plane's time; whether the station goes on from it because its own clock stepped back (EMT-6).
    pub async fn plane_time(&self, plane: Wall) -> bool {
        let (sender, receiver) = oneshot::channel();
        self.0.send(Call::PlaneTime(plane, sender)).is_ok() && receiver.await.unwrap_or(false)
    }

    /// The command of the grant under which the last latch came about: work starts again only by another (FUS-7).
    ///
    /// # Errors
    /// The store's reason.
    pub async fn spent(&self) -> Result<Option<String>, Reason> {
        let (sender, receiver) = oneshot::channel();
        self.0.send(Call::Spent(sender)).map_err(|_| Reason::StoreUnavailable)?;
        receiver.await.unwrap_or(Err(Reason::StoreUnavailable))
    }

    /// Notes that a latch has used this grant up.
    ///
    /// # Errors
    /// The store's reason.
    pub async fn spend(&self, grant: Grant) -> Result<(), Reason> {
        let (sender, receiver) = oneshot::channel();
        self.0.send(Call::Spend(grant, sender)).map_err(|_| Reason::StoreUnavailable)?;
        receiver.await.unwrap_or(Err(Reason::OutcomeUnknown))
    }

    /// Entries of the chain.
    ///
    /// # Errors
    /// The store's reason.
    pub async fn audit(&self, from: u64, limit: u32) -> Result<ChainPart, Reason> {
        let (sender, receiver) = oneshot::channel();
        self.0.send(Call::Audit(from, limit, sender)).map_err(|_| Reason::StoreUnavailable)?;
        receiver.await.unwrap_or(Err(Reason::StoreUnavailable))
    }
}

/// A latch that lies at its path although the store may know of none (FUS-6).
pub type Lying = Option<LatchId>;

/// Opens the store of one station and starts its thread. What lies at the latch path is taken in before anything else.
///
/// # Errors
/// The store's.
pub fn start(
    path: &std::path::Path,
    config_hash: ContentHash,
    limits: Checked,
    target: &str,
    lying: Lying,
    released: UnboundedSender<Released>,
) -> Result<Handle, StoreFault> {
    let mut db = Db::open(path, config_hash)?;
    db.belongs_to(Identities { station: target.parse().ok(), ..Identities::default() });
    let clock = Clock::starting_at(Wall(db.last_wall()?.unwrap_or(0)));
    if let Some(latch) = lying {
        adopt(&mut db, target, latch, clock.now())?;
    }
    let mut host: Host<Station> = Host::boot(&mut db, limits.get().clone(), clock.now())?;
    host.ensure(&mut db, target, clock.now())?;
    let (sender, calls) = channel();
    let entered = (None, clock.now().wall);
    let (target, watch) = (target.to_owned(), Watch::default());
    let thread = Thread { db, clock, watch, host, target, calls, released, entered };
    std::thread::Builder::new().name("station-store".to_owned()).spawn(move || thread.run()).map_err(
        |error| StoreFault {
            reason: Reason::StoreUnavailable,
            path: path.to_owned(),
            detail: error.to_string(),
        },
    )?;
    Ok(Handle(sender))
}

/// Records a latch that the store does not know of.
fn adopt(db: &mut Db, target: &str, latch: LatchId, now: Now) -> Result<(), StoreFault> {
    let Some(record) = db.image::<Station>(target)?.adopt(latch, now.wall) else { return Ok(()) };
    awakener_spec::rule!(Fus6);
    let txn = Txn::begin(db)?;
    db.focus(Focus { target: target.to_owned(), statement: None });
    let entry = Entry { now, input: None, outcome: None, records: &[record] };
    if let Err(fault) = Write::<Station>::write(db, entry) {
        db.abort();
        return Err(fault);
    }
    txn.commit(db).map(drop).map_err(|error| match error {
        CommitError::NotDurable(fault) | CommitError::Unknown(fault) => fault,
    })
}

struct Thread {
    db: Db,
    clock: Clock,
    watch: Watch,
    host: Host<Station>,
    target: String,
    calls: Receiver<Call>,
    released: UnboundedSender<Released>,
    /// The phase of the last look, and since when it lasts; for displays only.
    entered: (Option<PhaseName>, Wall),
}

impl Thread {
    fn run(mut self) {
        loop {
            let phase = self.host.machine(&self.target).map(|station| station.phase().name());
            if phase != self.entered.0 {
                self.entered = (phase, self.clock.now().wall);
            }
            match self.calls.recv_timeout(self.wait()) {
                Ok(call) => self.serve(call),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => break,
            }
            self.heal();
            self.look_at_clock();
            if !self.host.due(self.clock.now()).is_empty() && self.step(Input::Fire, None).is_none() {
                // The deadline stays due; without a pause the thread would spin on a broken disk.
                std::thread::sleep(Duration::from_millis(100));
            }
        }
        let _ = self.host.snapshot(&mut self.db, true);
    }

    fn wait(&self) -> Duration {
        let longest = Duration::from_secs(1);
        self.host.deadline().map_or(longest, |at| {
            Duration::from_millis(at.saturating_since(self.clock.now().mono).0).min(longest)
        })
    }

    fn serve(&mut self, call: Call) {
        match call {
            Call::Text(turn, waiting) => {
                let text = crate::store::receipts::answer(self.db.conn(), turn);
                let _ = waiting.send(text.unwrap_or(None));
            }
            Call::Input(input, statement, waiting) => {
                let outcome = self.step(*input, statement);
                if let Some(waiting) = waiting {
                    let _ = waiting.send(outcome);
                }
            }
            Call::Append(what, waiting) => {
                let hash = self
                    .db
                    .note("trip", &self.target, self.clock.now(), what)
                    .map(|()| self.db.head().hash)
                    .map_err(|fault| fault.reason);
                let _ = waiting.send(hash);
            }
            Call::Look(waiting) => {
                let _ = waiting.send(self.host.machine(&self.target).cloned());
            }
            Call::PlaneTime(plane, waiting) => {
                let accepted = self.clock.agree(plane, self.host.config().skew);
                if let Some(accepted) = accepted {
                    self.note_clock(serde_json::json!({ "accepted": accepted, "plane": plane }));
                }
                let _ = waiting.send(accepted.is_some());
            }
            Call::Show(waiting) => {
                let shown = self.host.machine(&self.target).map(|station| Shown {
                    station: station.clone(),
                    since: self.entered.1,
                    limits: self.host.config().clone(),
                    now: self.clock.now(),
                });
                let _ = waiting.send(shown);
            }
            Call::Spent(waiting) => {
                let _ = waiting.send(self.db.meta(SPENT).map_err(|fault| fault.reason));
            }
            Call::Spend(grant, waiting) => {
                let noted = self.db.set_meta(SPENT, &grant.command.to_string());
                let _ = waiting.send(noted.map_err(|fault| fault.reason));
            }
            Call::Audit(from, limit, waiting) => {
                let entries = crate::plane::queries::entries(self.db.conn(), from, limit)
                    .map_err(|_| Reason::StoreUnavailable);
                let _ = waiting.send(entries);
            }
        }
    }

    /// A clock that went back, and one that has caught up, is on record (EMT-6).
    fn look_at_clock(&mut self) {
        let reading = self.clock.read();
        let (held, observed) = (reading.now.wall, reading.observed);
        match self.watch.look(&reading, self.host.config().skew) {
            None => {}
            Some(Turn::SteppedBack) => {
                self.note_clock(serde_json::json!({ "stepped_back": { "held": held, "observed": observed } }))
            }
            Some(Turn::CaughtUp) => self.note_clock(serde_json::json!({ "caught_up": observed })),
        }
    }

    fn note_clock(&mut self, what: Value) {
        awakener_spec::rule!(Emt6);
        tracing::warn!(rule = "EMT-6", "the clock: {what}");
        if let Err(fault) = self.db.note("clock", &self.target, self.clock.now(), what) {
            tracing::error!(reason = %fault.reason, "a step of the clock could not be recorded: {fault}");
        }
    }

    /// `None` if nothing became durable.
    fn step(&mut self, input: Input, statement: Option<Statement>) -> Option<OutcomeOf<Station>> {
        if !self.heal() {
            return None;
        }
        let now = self.clock.now();
        let precaution = self
            .host
            .machine(&self.target)
            .and_then(|station| station.trip(self.host.config(), now, &input).or_else(|| unwritten(station)));
        let item = Item { target: self.target.clone(), input, statement };
        match self.host.batch(&mut self.db, now, vec![item], |_, _, _, ()| Ok(())) {
            Ok(done) => {
                for (_, effect) in done.effects {
                    let _ = self.released.send(Released::Effect(Box::new(effect)));
                }
                done.outcomes.into_iter().next()
            }
            Err(failed) => {
                let (Failed::NotDurable(fault) | Failed::Unknown(fault)) = &failed;
                tracing::error!(reason = %fault.reason, "nothing became of an input: {fault}");
                if let Some(note) = precaution {
                    let _ = self.released.send(Released::Precaution(Box::new(note)));
                }
                None
            }
        }
    }

    /// Gets the file and the machine back after a commit that failed; without them nothing happens, and it is tried
    /// again with the next input and with time.
    fn heal(&mut self) -> bool {
        if !self.db.poisoned() && self.host.machine(&self.target).is_some() {
            return true;
        }
        let now = self.clock.now();
        let config = self.host.config().clone();
        let (db, host, target) = (&mut self.db, &mut self.host, &self.target);
        let reopened = if db.poisoned() {
            db.reopen().and_then(|()| Host::boot(db, config, now)).map(|booted| *host = booted)
        } else {
            Ok(())
        };
        match reopened.and_then(|()| host.ensure(db, target, now)) {
            Ok(()) => true,
            Err(fault) => {
                tracing::error!(reason = %fault.reason, "the station's store cannot be used: {fault}");
                false
            }
        }
    }
}

/// The latch of a trip that is on record and whose file was not seen yet: it must not wait for a store that fails
/// (FUS-4).
fn unwritten(station: &Station) -> Option<LatchNote> {
    let Phase::LatchedDown(latched) = station.phase() else { return None };
    match latched.stage {
        LatchStage::Owed(_) | LatchStage::Auditing(..) | LatchStage::Writing(..) => {
            let latch = station.image().latch.as_ref()?;
            matches!(latch.cause, LatchCause::Tripped { .. }).then(|| latch.note())
        }
        LatchStage::Down | LatchStage::Archiving(..) | LatchStage::Removing(..) => None,
    }
}
