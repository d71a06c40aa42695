//! The broker of a process that hosts both ends: one bounded channel per subject.
//!
//! A consumer that falls behind loses the oldest hints, which are counted and announced to it; a publisher never
//! waits for anyone. Rules: BRK-1, EMT-4.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};

use awakener_kernel::ids::Target;
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::{broadcast, mpsc};

use super::{Arrival, Broker, Counters, Counting, Later, NotHandedOver, Subscription, subject};

/// How many hints of one target wait for a consumer before it loses the oldest.
const BUFFER: usize = 256;

/// The bounded channel of one subject.
type Channel = broadcast::Sender<Arc<[u8]>>;

/// A broker without a network; clones are the same broker.
#[derive(Clone, Debug)]
pub struct InProcess {
    subjects: Arc<Mutex<BTreeMap<String, Channel>>>,
    counting: Arc<Counting>,
    buffer: usize,
}

impl Default for InProcess {
    fn default() -> Self {
        Self::with_buffer(BUFFER)
    }
}

impl InProcess {
    /// With room for so many hints per target and consumer; at least one.
    pub fn with_buffer(buffer: usize) -> Self {
        Self { subjects: Arc::default(), counting: Arc::default(), buffer: buffer.max(1) }
    }

    fn channel(&self, target: &Target) -> Channel {
        let mut subjects = self.subjects.lock().unwrap_or_else(PoisonError::into_inner);
        subjects.entry(subject(target)).or_insert_with(|| broadcast::channel(self.buffer).0).clone()
    }
}

impl Broker for InProcess {
    fn publish<'a>(&'a self, target: &'a Target, bytes: Arc<[u8]>) -> Later<'a, Result<(), NotHandedOver>> {
        // Nobody listening is no failure: the client has the hint, and that is all that is said (EMT-4).
        let _ = self.channel(target).send(bytes);
        Counting::add(&self.counting.handed_over, 1);
        Box::pin(std::future::ready(Ok(())))
    }

    fn subscribe(&self, targets: &BTreeSet<Target>) -> Subscription {
        // The buffer is the broadcast channel's; this one only joins them.
        let (sender, arrivals) = mpsc::channel(1);
        let feeders = targets
            .iter()
            .map(|target| {
                let receiver = self.channel(target).subscribe();
                tokio::spawn(feed(receiver, sender.clone(), Arc::clone(&self.counting)))
            })
            .collect();
        Subscription::fed_by(arrivals, feeders)
    }

    fn counters(&self) -> Counters {
        self.counting.read()
    }
}

/// Moves the hints of one target until either end is gone.
async fn feed(mut from: broadcast::Receiver<Arc<[u8]>>, to: mpsc::Sender<Arrival>, counting: Arc<Counting>) {
    loop {
        let arrival = match from.recv().await {
            Ok(bytes) => Arrival::Hint(bytes),
            Err(RecvError::Lagged(many)) => {
                Counting::add(&counting.lost, many);
                Arrival::Lost(many)
            }
            Err(RecvError::Closed) => return,
        };
        if to.send(arrival).await.is_err() {
            return;
        }
    }
}
