//! The message plane: one thread that owns the store and every mailbox, and the registry beside them.
//!
//! Others reach it through a [`Plane`] handle: an operation goes in, and comes back only when what it did is durable.
//! Not here: HTTP, brokers, files of the operator. Rules: ADM-1, ADM-9, ADM-10, INB-1, INB-10, EMT-2, OPR-2.

mod facts;
mod files;
#[doc(hidden)]
pub mod played;
pub mod queries;
mod registry_rows;
mod rows;
mod thread;
pub mod work;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::mpsc::{SyncSender, TrySendError};
use std::sync::{Arc, Mutex};

use awakener_kernel::config::Checked;
use awakener_kernel::fuse;
use awakener_kernel::ids::{ContentHash, Fence, Principal, Target, WakeId};
use awakener_kernel::json;
use awakener_kernel::machine::OutcomeOf;
use awakener_kernel::mailbox::Mailbox;
use awakener_kernel::mailbox::image::Lease;
use awakener_kernel::mailbox::input::{Input, Minted};
use awakener_kernel::operator::Presented;
use awakener_kernel::registry::Registry;
use awakener_kernel::registry::image::{Held, Running};
use awakener_kernel::router::Routes;
use awakener_kernel::time::Now;
use awakener_kernel::wire::Submission;
use awakener_spec::Reason;
use ed25519_dalek::SigningKey;
use tokio::sync::{Notify, oneshot};

use crate::broker::{Broker, Counters};
use crate::clock::Clock;
use crate::pause::Pause;
use crate::store::{Statement, StoreFault};

/// What a plane needs to start.
pub struct Setup {
    /// The state directory.
    pub state: PathBuf,
    /// The limits.
    pub limits: Checked,
    /// Schemas beyond the four (RTE-1).
    pub routes: Routes,
    /// Hash of the effective configuration.
    pub config_hash: ContentHash,
    /// The first operator key, at `init` only (IDN-7).
    pub enrolment: Option<awakener_kernel::registry::Input>,
    /// What is being started (OPR-2).
    pub running: Running,
    /// The router's key.
    pub router_key: SigningKey,
    /// The key that signs checkpoints (AUD-3).
    pub audit_key: SigningKey,
    /// Whether the capability manifest was accepted (CAP-2).
    pub manifest_accepted: bool,
    /// Where a test wants to stop this process.
    pub pause: Option<Pause>,
    /// Takes signed hints; what comes of each is reported back with `Input::Published`.
    pub publish: tokio::sync::mpsc::Sender<Publication>,
}

impl std::fmt::Debug for Setup {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // Never the key.
        f.debug_struct("Setup").field("state", &self.state).finish_non_exhaustive()
    }
}

/// A signed hint on its way to the broker.
#[derive(Clone, Debug)]
pub struct Publication {
    /// For whom.
    pub target: Target,
    /// Its id.
    pub wake: WakeId,
    /// The event as bytes (SIG-1).
    pub bytes: Vec<u8>,
}

/// One operation.
#[derive(Debug)]
pub enum Op {
    /// A submission from an authenticated principal.
    Submit(Box<Submit>),
    /// An input of one mailbox.
    Mailbox {
        /// Whose.
        target: Target,
        /// What.
        input: Box<Input>,
        /// A text that no machine sees.
        statement: Option<Statement>,
    },
    /// A signed ACK statement, whatever target it names.
    Ack {
        /// The statement as received.
        signed: Box<awakener_kernel::wire::Signed<awakener_kernel::wire::AckStatement>>,
        /// The lease that the signer presents.
        fence: Option<Fence>,
    },
    /// A signed operator command.
    Command(Box<Presented>),
    /// What a sweeping daemon is owed for one target; the hint comes back signed.
    Sweep(Target, Option<u64>),
    /// A refusal that reached no machine (ADM-9).
    Refused {
        /// By whom.
        principal: Principal,
        /// For which target, as claimed.
        target: String,
        /// The message, as claimed.
        message: Option<String>,
        /// Why.
        reason: Reason,
    },
    /// Sign and keep a checkpoint over everything so far (AUD-3).
    Checkpoint,
    /// The state of all machines.
    Overview,
}

/// A submission and what came with it. What follows from its text alone is found out here, on the thread of whoever
/// brings it, and not on that of the store, which everybody waits for.
#[derive(Clone, Debug)]
pub struct Submit {
    /// The credential that presented it.
    pub held: Held,
    /// The lease that the sender presents (ADM-12).
    pub fence: Option<Fence>,
    /// W3C trace context.
    pub trace: Option<String>,
    submission: Submission,
    /// Size of its body in canonical form, bytes (ADM-2).
    body_bytes: u64,
    /// ADM-7.
    content: ContentHash,
    /// Hash of the normal form of its body (FUS-1).
    normal: ContentHash,
    /// As it is stored.
    text: String,
}

impl Submit {
    /// A submission as it was parsed.
    pub fn new(held: Held, submission: Submission, fence: Option<Fence>, trace: Option<String>) -> Self {
        let body = submission.body.to_string();
        Self {
            held,
            fence,
            trace,
            body_bytes: u64::try_from(json::canonical(&submission.body).len()).unwrap_or(u64::MAX),
            content: submission.content_hash(),
            normal: fuse::normal_hash(&body),
            text: submission.to_value().to_string(),
            submission,
        }
    }

    /// The hash of its content (ADM-7).
    pub const fn content(&self) -> ContentHash {
        self.content
    }
}

/// What comes back.
#[derive(Debug)]
pub enum Reply {
    /// Of a mailbox, with what an answer may need.
    Mailbox(Box<MailboxReply>),
    /// Of an operator command.
    Registry(OutcomeOf<Registry>),
    /// A signed hint, if one is owed.
    Swept(Option<Vec<u8>>),
    /// Noted.
    Noted,
    /// A signed checkpoint.
    Checkpoint(Box<awakener_kernel::wire::Signed<awakener_kernel::wire::Checkpoint>>),
    /// The state of all machines.
    Overview(Box<Overview>),
}

/// The outcome of a mailbox's step.
#[derive(Debug)]
pub struct MailboxReply {
    /// Of which target.
    pub target: Target,
    /// What happened.
    pub outcome: OutcomeOf<Mailbox>,
    /// The live lease afterwards.
    pub lease: Option<Lease>,
}

/// The state of all machines, for displays (AUD-8).
#[derive(Clone, Debug)]
pub struct Overview {
    /// When.
    pub now: awakener_kernel::time::Now,
    /// The end of the chain.
    pub head: awakener_kernel::audit::Head,
    /// What operators decided.
    pub registry: Registry,
    /// Every mailbox.
    pub mailboxes: BTreeMap<String, awakener_kernel::mailbox::image::Image>,
    /// The limits that its steps obey.
    pub limits: Checked,
    /// Whether the chain is being walked, so that nobody can say yet whether it is broken (AUD-5).
    pub walking: bool,
}

/// Why there is no reply.
#[derive(Clone, Debug)]
pub struct Refused {
    /// Which kind.
    pub reason: Reason,
    /// For people.
    pub detail: String,
}

impl From<StoreFault> for Refused {
    fn from(fault: StoreFault) -> Self {
        Self { reason: fault.reason, detail: fault.to_string() }
    }
}

impl From<rusqlite::Error> for Refused {
    /// A question that could not be read is not answered with nothing.
    fn from(error: rusqlite::Error) -> Self {
        Self { reason: Reason::StoreUnavailable, detail: error.to_string() }
    }
}

type Waiting = oneshot::Sender<Result<Reply, Refused>>;

/// Who waits for something to land in an inbox.
#[derive(Clone, Debug, Default)]
pub(crate) struct Arrivals(Arc<Mutex<BTreeMap<String, Arc<Notify>>>>);

impl Arrivals {
    fn of(&self, target: &str) -> Arc<Notify> {
        let mut waiting = self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        waiting.entry(target.to_owned()).or_default().clone()
    }
}

/// The tree over the chain, for everybody who proves something by it; none before the chain was walked (AUD-3).
#[derive(Clone, Debug, Default)]
pub struct Grown(pub(crate) Arc<Mutex<Option<queries::Forest>>>);

impl Grown {
    pub(crate) fn not_yet() -> Refused {
        Refused {
            reason: Reason::StoreUnavailable,
            detail: "the audit chain is still being walked; ask again".to_owned(),
        }
    }

    pub(crate) fn set(&self, forest: Option<queries::Forest>) {
        *self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner) = forest;
    }
}

/// A handle on the plane; cheap to clone.
#[derive(Clone, Debug)]
pub struct Plane {
    ops: SyncSender<(Op, Waiting)>,
    arrivals: Arrivals,
    view: Arc<std::sync::RwLock<View>>,
    path: Arc<PathBuf>,
    clock: Arc<Clock>,
    /// What takes its hints, for the status.
    broker: Arc<std::sync::OnceLock<Arc<dyn Broker>>>,
    grown: Grown,
}

/// What authentication and queries need, as of the last commit.
#[derive(Clone, Debug, Default)]
pub struct View {
    /// What operators decided; absent only before the plane serves.
    pub registry: Option<Arc<Registry>>,
}

impl Plane {
    /// Opens the store, recovers every machine and starts the thread.
    ///
    /// # Errors
    /// A [`Refused`] with the reason of the store.
    pub fn start(setup: Setup) -> Result<(Self, std::thread::JoinHandle<()>), Refused> {
        thread::start(setup)
    }

    /// Does one operation; returns when it is durable.
    ///
    /// # Errors
    /// `overloaded` when too much is waiting, `store_unavailable` when it surely did not happen, `outcome_unknown` when
    /// nobody knows.
    pub async fn call(&self, op: Op) -> Result<Reply, Refused> {
        let (sender, receiver) = oneshot::channel();
        self.ops.try_send((op, sender)).map_err(|error| match error {
            TrySendError::Full(_) => {
                Refused { reason: Reason::Overloaded, detail: "too many operations are waiting".to_owned() }
            }
            TrySendError::Disconnected(_) => {
                Refused { reason: Reason::StoreUnavailable, detail: "the store thread has ended".to_owned() }
            }
        })?;
        // The thread answers everything it has taken, so a lost answer means that it died in between.
        receiver.await.unwrap_or_else(|_| {
            Err(Refused { reason: Reason::OutcomeUnknown, detail: "the store thread ended".to_owned() })
        })
    }

    /// An operation of one mailbox.
    ///
    /// # Errors
    /// As [`Self::call`].
    pub async fn mailbox(
        &self,
        target: &Target,
        input: Input,
        statement: Option<Statement>,
    ) -> Result<MailboxReply, Refused> {
        let op = Op::Mailbox { target: target.clone(), input: Box::new(input), statement };
        match self.call(op).await? {
            Reply::Mailbox(reply) => Ok(*reply),
            other => Err(Refused { reason: Reason::FactsMissing, detail: format!("unexpected {other:?}") }),
        }
    }

    /// Wakes up when something may have landed in an inbox (LSN-1).
    pub fn arrival(&self, target: &str) -> Arc<Notify> {
        self.arrivals.of(target)
    }

    /// What authentication needs, as of the last commit.
    pub fn view(&self) -> View {
        self.view.read().unwrap_or_else(std::sync::PoisonError::into_inner).clone()
    }

    /// The store's time, which never runs backwards: what ends by itself is over for good, whatever the machine's
    /// clock shows (EMT-6).
    pub fn now(&self) -> Now {
        self.clock.now()
    }

    /// Says which broker takes the hints from now on; the first one counts.
    pub fn emits_through(&self, broker: Arc<dyn Broker>) {
        // A second one would be another way for the hints of one plane, and there is none.
        let _ = self.broker.set(broker);
    }

    /// What the broker's client has counted; `None` as long as nobody takes the hints.
    pub fn broker(&self) -> Option<Counters> {
        self.broker.get().map(|broker| broker.counters())
    }

    /// The tree over the chain (AUD-3).
    pub fn grown(&self) -> Grown {
        self.grown.clone()
    }

    /// The database file, for readers of their own.
    pub fn path(&self) -> &std::path::Path {
        &self.path
    }
}

/// The parts of a minted hint that a signer needs.
pub(crate) fn sign(minted: &Minted, target: &Target, key: &SigningKey) -> Result<Vec<u8>, String> {
    use awakener_kernel::wire;
    let key_id = wire::public_key(key).key_id();
    let hint = wire::Hint {
        id: minted.fresh.wake,
        message_id: minted.message,
        target: target.clone(),
        nonce: minted.fresh.nonce,
        freshness_token: minted.token,
        time: minted.time,
        expires_at: minted.expires,
        router_key_id: key_id,
    };
    let unsigned = wire::UnsignedHint::new(hint).map_err(|malformed| malformed.to_string())?;
    Ok(unsigned.sign(key))
}
