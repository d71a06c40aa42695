//! Durable admissions a second over HTTP, against the same handlers without a store and against JetStream.
//!
//! The three take turns of a few seconds. Every sender has a connection of its own and one request under way. JetStream
//! keeps a stream in files and syncs each write before it answers.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use awakener::keys::Token;
use awakener::plane::{MailboxReply, Op, Refused, Reply, played};
use awakener_kernel::ids::{Seq, Tier};
use awakener_kernel::machine::Outcome;
use awakener_kernel::mailbox::input::Event;
use awakener_spec::Reason;

use super::figures::{Times, met};
use super::http::Http;
use super::jetstream::{self, Publisher};
use super::stand::{Stand, directory, runtime, submission};
use super::{Size, stand};

/// What fills a submission up to half a kilobyte.
const FILLER: usize = 150;

pub fn run(size: Size) {
    let (numbers, turn, turns) = match size {
        Size::Whole => (&[1, 16, 64, 256][..], Duration::from_millis(1_500), 3),
        Size::Smoke => (&[1, 4][..], Duration::from_millis(50), 1),
    };
    let dir = directory();
    let clients = runtime();
    let stand = Stand::new(dir.path());
    let most = numbers.iter().copied().max().unwrap_or(1);
    let tokens: Vec<Arc<Token>> = clients.block_on(async {
        let mut tokens = Vec::new();
        for number in 0..most {
            tokens.push(Arc::new(stand.principal(&format!("sender-{number}")).await));
        }
        tokens
    });
    let whole = stand.listen(stand.plane.clone());
    let registry = stand.plane.view().registry.unwrap();
    let storeless = stand.listen(played::plane(registry, |op| answered(&op)));
    let nats = jetstream::server(&dir.path().join("nats"));
    if let Some(nats) = &nats {
        clients.block_on(async { Publisher::connect(nats.addr()).await?.create().await }).unwrap();
    }
    for &senders in numbers {
        let mut totals = [0.0; 3];
        let mut times = [(); 3].map(|()| Times::default());
        for _ in 0..turns {
            for (at, listener) in [&whole, &storeless].into_iter().enumerate() {
                let work = |sender: usize| {
                    let (to, token) = (listener.at, Arc::clone(&tokens[sender]));
                    async move { Http::connect(to, token.expose()).await.map(Worker::Http) }
                };
                let (rate, took) = clients.block_on(turn_of(senders, turn, work));
                totals[at] += rate;
                times[at].merge(took);
            }
            if let Some(nats) = &nats {
                let to = nats.addr();
                let work = |_| async move { Publisher::connect(to).await.map(Worker::JetStream) };
                let (rate, took) = clients.block_on(turn_of(senders, turn, work));
                totals[2] += rate;
                times[2].merge(took);
            }
        }
        if size == Size::Whole {
            let [durable, without, jetstream] = totals.map(|total| total / f64::from(turns));
            println!("{senders} senders: {durable:.0} durable admissions/s ({})", times[0]);
            say("the same handlers without a store", senders, durable, without, 0.5);
            if nats.is_some() {
                say("JetStream, file, sync_interval always", senders, durable, jetstream, 3.0);
            }
        }
    }
    drop((whole, storeless));
    stand.close();
}

fn say(what: &str, senders: usize, durable: f64, other: f64, goal: f64) {
    let ratio = durable / other;
    let goal = if senders == 64 { format!(", goal {goal}: {}", met(ratio >= goal)) } else { String::new() };
    println!("  {what}: {other:.0}/s, ratio {ratio:.2}{goal}");
}

/// One client at work.
enum Worker {
    Http(Http),
    JetStream(Publisher),
}

impl Worker {
    async fn once(&mut self, number: u64, filler: &str) {
        let body = submission("message/1", filler).to_value().to_string();
        match self {
            Self::Http(http) => {
                let (status, answer) = http.call("POST /v1/messages", body.as_bytes()).await.unwrap();
                assert_eq!(status, 201, "{}", String::from_utf8_lossy(&answer));
            }
            Self::JetStream(publisher) => publisher.publish(number, body.as_bytes()).await.unwrap(),
        }
    }
}

/// Requests a second of so many clients, and how long they took.
async fn turn_of<Connected: Future<Output = std::io::Result<Worker>>>(
    senders: usize,
    turn: Duration,
    connect: impl Fn(usize) -> Connected,
) -> (f64, Times) {
    let over = Arc::new(AtomicBool::new(false));
    let filler: Arc<str> = "of pressure and pumps ".repeat(FILLER / 22).into();
    let mut tasks = Vec::new();
    let mut workers = Vec::new();
    for sender in 0..senders {
        workers.push(connect(sender).await.unwrap());
    }
    let start = Instant::now();
    for mut worker in workers {
        let (over, filler) = (Arc::clone(&over), Arc::clone(&filler));
        tasks.push(tokio::spawn(async move {
            let mut times = Times::default();
            let mut number = 0;
            while !over.load(Ordering::Relaxed) || number == 0 {
                let begun = Instant::now();
                worker.once(number, &filler).await;
                times.add(begun.elapsed());
                number += 1;
            }
            times
        }));
    }
    tokio::time::sleep(turn).await;
    over.store(true, Ordering::Relaxed);
    let mut times = Times::default();
    for task in tasks {
        times.merge(task.await.unwrap());
    }
    let number = u32::try_from(times.number()).unwrap();
    (f64::from(number) / start.elapsed().as_secs_f64(), times)
}

/// What a plane would say if it had stored it.
fn answered(op: &Op) -> Result<Reply, Refused> {
    static SEQ: AtomicU64 = AtomicU64::new(1);
    match op {
        Op::Submit(_) => {
            let seq = Seq::new(SEQ.fetch_add(1, Ordering::Relaxed)).unwrap();
            let admitted = Event::Admitted { seq, tier: Tier::Two, cause: None, depth: 0 };
            let outcome = Outcome::Advanced(admitted);
            Ok(Reply::Mailbox(Box::new(MailboxReply { target: stand::target(), outcome, lease: None })))
        }
        _ => Err(Refused { reason: Reason::StoreUnavailable, detail: "there is no store".to_owned() }),
    }
}
