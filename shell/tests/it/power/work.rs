//! What the recorded plane is put through: several senders at once, a worker, operators, large mail until the WAL is
//! copied back and begun anew, a kill and an ordinary end in between.
//!
//! Every step waits for its answers, which the recording has as bytes. Not here: what is expected.

use std::path::Path;

use awakener::client::Client;
use awakener::keys::Token;
use awakener_kernel::ids::{Fence, MessageId, Target};
use awakener_kernel::values::{AckOutcome, By, Finish, Question};
use awakener_kernel::wire::Submission;
use serde_json::{Value, json};

use super::super::child::{Home, Story, Up};
use super::super::support::{ack, ahead, submission, turn_id, word};
use super::events::Recording;
use super::record::{DISK_FULL, snapshot, traced, written};
use super::trace::Trace;
use super::trial::faithful;

/// What an operator is told whose act stands in the deny file.
pub const DENIED: &str = "stands in the deny file";
/// Senders at the same time.
const SENDERS: usize = 6;
/// Bytes of a large body; the WAL is copied back when it has 1,000 pages of 4,096.
const LARGE: usize = 60_000;

pub struct Work<'a> {
    home: &'a Home,
    story: Story,
    lotse: Target,
    number: u64,
}

/// Records the plane over three starts.
pub fn record(strace: &Path, home: &Home) -> Recording {
    let root = home.state();
    let mut recording = Recording::new(&root, snapshot(&root, |_| false));
    let log = |number: usize| home.dir.path().join(format!("calls-{number}"));
    let start = |number: usize, more: &[&str]| {
        let mut up = Up::start(traced(strace, &home.command(), &log(number), more));
        up.serves(home);
        up
    };
    let mut add = |number: usize| {
        recording.add(&Trace::parse(&written(&log(number))));
        faithful(&recording, snapshot(&root, |_| false));
    };
    let up = start(1, &[]);
    let mut work = Work { home, story: home.story(), lotse: "lotse".parse().unwrap(), number: 0 };
    work.round(3, 40);
    work.round(2, 40);
    up.kill();
    add(1);
    let up = start(2, &[]);
    // The WAL fills up, is copied back and begun anew.
    for _ in 0..4 {
        work.round(1, LARGE);
    }
    up.stop();
    add(2);
    let up = start(3, &[]);
    work.round(2, 40);
    home.act("disarm", json!({"target": "lotse"}));
    home.act("arm", json!({"target": "lotse", "until": ahead(3_600_000)}));
    up.kill();
    add(3);
    let up = start(4, DISK_FULL);
    work.deny();
    up.kill();
    add(4);
    recording
}

impl Work<'_> {
    fn agent(&self) -> Client {
        self.home.client(&self.story.agent)
    }

    /// Each sender submits so many messages, one after the other, all senders at once; then the alerts are worked on.
    fn round(&mut self, each: usize, size: usize) {
        let mut sent = Vec::new();
        let calls: Vec<_> = (0..SENDERS)
            .map(|sender| {
                let mine: Vec<Submission> =
                    (0..each).map(|n| self.compose((sender + n) % 3 == 0, size)).collect();
                sent.extend(mine.clone());
                let alice = self.home.client(&self.story.alice);
                self.home.runtime.spawn(async move {
                    for message in &mine {
                        alice.submit(message, None).await.unwrap();
                    }
                })
            })
            .collect();
        calls.into_iter().for_each(|call| self.home.block(call).unwrap());
        self.sweep();
        let alerts: Vec<&Submission> =
            sent.iter().filter(|one| one.schema.to_string().starts_with("interrupt")).collect();
        self.answer(alerts[0]);
        self.acknowledge(alerts[1]);
        self.look();
    }

    fn compose(&mut self, alert: bool, size: usize) -> Submission {
        self.number += 1;
        let schema = if alert { "interrupt-alert/1" } else { "message/1" };
        // Bytes that tell one page from another.
        let body: String = (0..)
            .map(|n| word(self.number * 7_919 + n))
            .scan(0, |sum, word| {
                *sum += word.len();
                (*sum < size).then_some(word)
            })
            .collect();
        submission("lotse", schema, json!({ "word": word(self.number), "body": body }))
    }

    fn claimed(&self, id: MessageId) -> Fence {
        let agent = self.agent();
        self.home.block(async {
            let claimed = agent.claim(&self.lotse, &"lotse".parse().unwrap(), 100).await.unwrap();
            agent.read(&self.lotse, claimed.fence, id).await.unwrap();
            claimed.fence
        })
    }

    /// Read, a turn, a reply, the ACK.
    fn answer(&self, alert: &Submission) {
        let (agent, fence, turn) = (self.agent(), self.claimed(alert.id), turn_id());
        let signed = ack(alert, AckOutcome::Handled, By::Human, &self.story.human);
        self.home.block(async {
            agent.finish_turn(&self.lotse, fence, alert.id, turn, Finish::Complete, None).await.unwrap();
            agent.reply(&self.lotse, fence, alert.id, turn, "done").await.unwrap();
            agent.ack(&signed, None).await.unwrap();
            agent.release(&self.lotse, fence).await.unwrap();
        });
    }

    /// Read and acknowledged by a person.
    fn acknowledge(&self, alert: &Submission) {
        let (agent, fence) = (self.agent(), self.claimed(alert.id));
        let signed = ack(alert, AckOutcome::Handled, By::Human, &self.story.human);
        self.home.block(async {
            agent.release(&self.lotse, fence).await.unwrap();
            agent.ack(&signed, None).await.unwrap();
        });
    }

    /// A daemon asks for hints, and for a permit with the first.
    fn sweep(&self) {
        let daemon = self.home.client(&Token::load(&self.home.state().join("tokens/daemon.token")).unwrap());
        let owed = self.home.block(daemon.sweep(std::slice::from_ref(&self.lotse))).unwrap();
        let hint: Value = serde_json::from_slice(&owed.hints[0]).unwrap();
        let member = |value: &Value| serde_json::from_value(value.clone());
        let question = Question {
            wake: member(&hint["id"]).unwrap(),
            message: serde_json::from_value(hint["data"]["message_id"].clone()).unwrap(),
            token: serde_json::from_value(hint["data"]["freshness_token"].clone()).unwrap(),
        };
        self.home.block(daemon.permit(&self.lotse, &question)).unwrap();
    }

    fn look(&self) {
        self.home.block(self.home.observer().status()).unwrap();
        self.home.block(self.home.observer().checkpoint()).unwrap();
    }

    /// Until nothing can be stored any more; then an operator stops everything all the same (OPR-2).
    fn deny(&mut self) {
        let alice = self.home.client(&self.story.alice);
        let full = (0..200).any(|_| {
            let message = self.compose(false, 40);
            self.home.block(alice.submit(&message, None)).is_err()
        });
        assert!(full, "the disk does not fill up");
        let stop = self.home.signed("stop_all", json!({}));
        let answer = self.home.block(Client::new(&self.home.base(), "").unwrap().operator(&stop));
        assert!(format!("{answer:?}").contains(DENIED), "{answer:?}");
    }
}
