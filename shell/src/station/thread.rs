//! The store thread of one station: one input, one commit, then its effects.
//!
//! If a commit fails while the input trips the fuse, the latch is written all the same: that write alone is exempt
//! from "durable before visible" (FUS-6).

use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::Duration;

use awakener_kernel::config::Checked;
use awakener_kernel::ids::ContentHash;
use awakener_kernel::machine::OutcomeOf;
use awakener_kernel::station::{Effect, Input, LatchNote, Station};
use awakener_kernel::values::TurnRef;
use awakener_spec::Reason;
use serde_json::Value;
use tokio::sync::{mpsc::UnboundedSender, oneshot};

use crate::clock::Clock;
use crate::host::{Failed, Host, Item};
use crate::plane::queries::ChainPart;
use crate::store::{Db, Statement, StoreFault};

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
    /// The chain from a position on, at most so many entries.
    Audit(u64, u32, oneshot::Sender<Result<ChainPart, Reason>>),
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

/// Opens the store of one station and starts its thread.
///
/// # Errors
/// The store's.
pub fn start(
    path: &std::path::Path,
    config_hash: ContentHash,
    limits: Checked,
    target: &str,
    released: UnboundedSender<Released>,
) -> Result<Handle, StoreFault> {
    let mut db = Db::open(path, config_hash)?;
    let clock = Clock::starting_at(awakener_kernel::time::Wall(db.last_wall()?.unwrap_or(0)));
    let mut host: Host<Station> = Host::boot(&mut db, limits.get().clone(), clock.now())?;
    host.ensure(&mut db, target, clock.now())?;
    let (sender, calls) = channel();
    let thread = Thread { db, clock, host, target: target.to_owned(), calls, released };
    std::thread::Builder::new().name("station-store".to_owned()).spawn(move || thread.run()).map_err(
        |error| StoreFault {
            reason: Reason::StoreUnavailable,
            path: path.to_owned(),
            detail: error.to_string(),
        },
    )?;
    Ok(Handle(sender))
}

struct Thread {
    db: Db,
    clock: Clock,
    host: Host<Station>,
    target: String,
    calls: Receiver<Call>,
    released: UnboundedSender<Released>,
}

impl Thread {
    fn run(mut self) {
        loop {
            match self.calls.recv_timeout(self.wait()) {
                Ok(call) => self.serve(call),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => break,
            }
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
            Call::Audit(from, limit, waiting) => {
                let entries = crate::plane::queries::entries(self.db.conn(), from, limit)
                    .map_err(|_| Reason::StoreUnavailable);
                let _ = waiting.send(entries);
            }
        }
    }

    /// `None` if nothing became durable.
    fn step(&mut self, input: Input, statement: Option<Statement>) -> Option<OutcomeOf<Station>> {
        if self.db.poisoned() {
            // Opening it again failed before; what holds a disk up can pass.
            self.reopen();
        }
        let now = self.clock.now();
        if self.host.ensure(&mut self.db, &self.target, now).is_err() {
            tracing::error!(target = self.target, "the station's store cannot be read");
            return None;
        }
        let precaution =
            self.host.machine(&self.target).and_then(|station| station.trip(self.host.config(), now, &input));
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
                if self.db.poisoned() {
                    self.reopen();
                }
                None
            }
        }
    }

    fn reopen(&mut self) {
        let now = self.clock.now();
        let config = self.host.config().clone();
        match self.db.reopen().and_then(|()| Host::boot(&mut self.db, config, now)) {
            Ok(host) => self.host = host,
            Err(fault) => {
                tracing::error!(reason = %fault.reason, "the store cannot be opened again: {fault}")
            }
        }
    }
}
