//! What ten thousand bad hints a second do to good ones: the time from stored to started, with and without them in
//! turns.
//!
//! The bad ones come over the same subject and are of every kind that costs anything: no JSON, too long, nested, of a
//! stranger, altered, for somebody else, too early, too late, repeated, older than what was seen.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use awakener::broker::{Arrival, Broker};
use awakener::clock;
use awakener_kernel::time::Millis;
use awakener_kernel::wire::SigningKey;

use super::Size;
use super::figures::{Times, met};
use super::stand::{directory, router_key, runtime, target};
use super::wake::{Bench, Way, hint};

const PER_SECOND: u32 = 10_000;
/// The goal, microseconds.
const GOAL: f64 = 5_000.0;

pub fn run(size: Size) {
    let (turns, alerts) = if size == Size::Whole { (20, 20) } else { (1, 1) };
    let dir = directory();
    let runtime = runtime();
    // A sender of its own, like any other process.
    let sender = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    runtime.block_on(async {
        let way = Way::open("in process", dir.path()).await.expect("no tool is needed");
        let mut heard = way.broker.subscribe(&BTreeSet::from([target()]));
        let mut bench = Bench::start(dir.path(), &way).await;
        bench.one().await;
        let genuine = loop {
            match heard.next().await.unwrap() {
                Arrival::Hint(bytes) => break bytes,
                Arrival::Lost(_) | Arrival::Connected => {}
            }
        };
        drop(heard);
        let bad: Arc<[Arc<[u8]>]> = bad(&genuine).into();
        let (mut quiet, mut flooded) = (Times::default(), Times::default());
        let (mut sent, mut long) = (0, Duration::ZERO);
        for _ in 0..turns {
            for _ in 0..alerts {
                quiet.add(bench.one().await);
            }
            let begun = Instant::now();
            let flood = Flood::start(&sender, Arc::clone(&way.broker), Arc::clone(&bad));
            for _ in 0..alerts {
                flooded.add(bench.one().await);
            }
            sent += flood.stop().await;
            long += begun.elapsed();
        }
        let refused: u64 = bench.daemon.status().await.unwrap().refused.values().sum();
        assert!(refused > 0, "nothing was refused");
        if size == Size::Whole {
            println!("without: {quiet}");
            #[expect(clippy::cast_precision_loss, reason = "a rate for people")]
            let rate = sent as f64 / long.as_secs_f64();
            println!("with {rate:.0} bad hints a second ({refused} refused of {sent}): {flooded}");
            let later = flooded.p99() - quiet.p99();
            println!("p99 later by {later:.0} us, goal less than {GOAL:.0}: {}", met(later < GOAL));
        }
        bench.stop().await;
    });
    sender.shutdown_background();
}

/// Bad hints, until it is stopped.
struct Flood {
    over: Arc<AtomicBool>,
    sent: Arc<AtomicU64>,
    task: tokio::task::JoinHandle<()>,
}

impl Flood {
    fn start(sender: &tokio::runtime::Runtime, broker: Arc<dyn Broker>, bad: Arc<[Arc<[u8]>]>) -> Self {
        let (over, sent) = (Arc::<AtomicBool>::default(), Arc::<AtomicU64>::default());
        let (end, count) = (Arc::clone(&over), Arc::clone(&sent));
        let task = sender.spawn(async move {
            let mut pace = tokio::time::interval(Duration::from_millis(1));
            let mut next = bad.iter().cycle();
            while !end.load(Ordering::Relaxed) {
                pace.tick().await;
                for bytes in next.by_ref().take(PER_SECOND as usize / 1_000) {
                    broker.publish(&target(), Arc::clone(bytes)).await.unwrap();
                    count.fetch_add(1, Ordering::Relaxed);
                }
            }
        });
        Self { over, sent, task }
    }

    async fn stop(self) -> u64 {
        self.over.store(true, Ordering::Relaxed);
        self.task.await.unwrap();
        self.sent.load(Ordering::Relaxed)
    }
}

/// As many of each kind; of those that are good but for one thing, many different ones.
fn bad(genuine: &Arc<[u8]>) -> Vec<Arc<[u8]>> {
    let (now, router, stranger) = (clock::system(), router_key(), SigningKey::from_bytes(&[9; 32]));
    let mut altered = genuine.to_vec();
    let at = genuine.windows(8).position(|part| part == b"ed25519:").unwrap() + 8;
    altered[at] = if altered[at] == b'A' { b'B' } else { b'A' };
    let mut nested = vec![b'['; 2_000];
    nested.extend(vec![b']'; 2_000]);
    let fixed: [Arc<[u8]>; 5] = [
        Arc::from(&b"no hint"[..]),
        vec![b' '; 5_000].into(),
        nested.into(),
        altered.into(),
        Arc::clone(genuine),
    ];
    let elsewhere = "elsewhere".parse().unwrap();
    let mut all = Vec::new();
    for _ in 0..50 {
        all.extend(fixed.iter().cloned());
        all.push(hint(&target(), &stranger, now, 1).into());
        all.push(hint(&elsewhere, &router, now, 1).into());
        all.push(hint(&target(), &router, now + Millis::seconds(3_600), 1).into());
        all.push(hint(&target(), &router, now - Millis::seconds(60), 1).into());
        all.push(hint(&target(), &router, now, 1).into());
    }
    all
}
