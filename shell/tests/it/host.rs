//! Commits that fail, as SQLite itself lets them fail, and batches that share one (architecture, section 4).
//!
//! A deferred foreign key that nothing satisfies makes `COMMIT` fail after everything was written; a trigger makes a
//! statement fail in the middle. Both stand in the file, so that the program is the one that is shipped. A commit that
//! took place and reports an error is in `shell/src/host/tests.rs`, since only its connection can do that. Rules: ADM-2,
//! ADM-10, INB-1, INB-7, EMT-2.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use awakener::client::{Client, ClientError};
use awakener::http::wire::answers::{Admitted, Claimed};
use awakener_kernel::ids::MessageId;
use awakener_kernel::wire::Submission;
use awakener_tools::enforces_process;
use rusqlite::Connection;
use serde_json::json;

use super::support::*;

/// A file whose commits fail while an entry of the chain has this text in it.
struct Spoilt {
    file: Connection,
}

impl Spoilt {
    fn new(rig: &Rig) -> Self {
        let file = Connection::open(rig.dir.path().join("plane.db")).unwrap();
        file.busy_timeout(Duration::from_secs(5)).unwrap();
        file.execute_batch(
            "CREATE TABLE nowhere (x INTEGER PRIMARY KEY);
             CREATE TABLE trap (x INTEGER REFERENCES nowhere (x) DEFERRABLE INITIALLY DEFERRED);
             CREATE TABLE marked (kind TEXT, text TEXT);
             CREATE TRIGGER at_commit AFTER INSERT ON audit
               WHEN EXISTS (SELECT 1 FROM marked WHERE kind = 'commit' AND instr(CAST(NEW.entry AS TEXT), text) > 0)
               BEGIN INSERT INTO trap VALUES (1); END;
             CREATE TRIGGER at_once AFTER INSERT ON audit
               WHEN EXISTS (SELECT 1 FROM marked WHERE kind = 'statement' AND instr(CAST(NEW.entry AS TEXT), text) > 0)
               BEGIN SELECT RAISE(ABORT, 'this one fails'); END;",
        )
        .unwrap();
        Self { file }
    }

    fn on(&self, kind: &str, text: &str) {
        self.file.execute("INSERT INTO marked VALUES (?1, ?2)", [kind, text]).unwrap();
    }

    fn off(&self) {
        self.file.execute("DELETE FROM marked", []).unwrap();
    }

    fn count(&self, table: &str) -> i64 {
        self.file.query_row(&format!("SELECT count(*) FROM {table}"), [], |row| row.get(0)).unwrap()
    }

    /// Commits so far that wrote something: what the file itself counts.
    fn epochs(&self) -> i64 {
        self.file
            .query_row(
                "SELECT count(*) FROM audit WHERE instr(CAST(entry AS TEXT), 'epoch_started') > 0",
                [],
                |row| row.get(0),
            )
            .unwrap()
    }
}

fn many(rig: &Rig, client: &Client, all: &[Submission]) -> Vec<Result<Admitted, ClientError>> {
    let calls: Vec<_> = all
        .iter()
        .map(|message| {
            let (client, message) = (client.clone(), message.clone());
            rig.runtime.spawn(async move { client.submit(&message, None).await })
        })
        .collect();
    calls.into_iter().map(|call| rig.block(call).unwrap()).collect()
}

fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let end = Instant::now() + Duration::from_secs(10);
    while !holds() {
        assert!(Instant::now() < end, "waited in vain: {what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

fn mail(n: u64) -> Submission {
    submission("lotse", "message/1", json!(word(n)))
}

fn alert(n: u64) -> Submission {
    submission("lotse", "interrupt-alert/1", json!(word(n)))
}

enforces_process! {
    [Adm2] fn adm_2_a_commit_of_unknown_fate_is_said_to_all_and_settled_by_the_same_id(seen) {
        let mut rig = Rig::start();
        let story = rig.story();
        rig.block(story.alice.submit(&mail(0), None)).unwrap();
        let spoilt = Spoilt::new(&rig);
        let (messages, entries) = (spoilt.count("message"), spoilt.count("audit"));
        let marked = alert(1);
        spoilt.on("commit", &marked.id.to_string());
        // Everything that shares the commit shares its fate; each hears so.
        let all: Vec<Submission> = std::iter::once(marked.clone()).chain((2..12).map(mail)).collect();
        let answers = many(&rig, &story.alice, &all);
        let unknown: Vec<&Submission> = all
            .iter()
            .zip(&answers)
            .filter(|(_, answer)| answer.is_err())
            .map(|(message, _)| message)
            .collect();
        assert!(unknown.contains(&&marked));
        for answer in answers.iter().filter(|answer| answer.is_err()) {
            let problem = problem(answer.clone());
            // Those that came while the store was being opened again surely did nothing.
            let reason = problem["reason"].as_str().unwrap();
            assert!(reason == "outcome_unknown" || reason == "store_unavailable", "{problem}");
            seen.problem(&problem);
        }
        let problem_of_marked = problem(answers[0].clone());
        assert_eq!(
            (&problem_of_marked["reason"], &problem_of_marked["retry"]),
            (&json!("outcome_unknown"), &json!("same_id"))
        );
        // Nothing was let go: no message, no witness, no hint.
        assert_eq!(spoilt.count("message"), messages + answers.iter().filter(|answer| answer.is_ok()).count() as i64);
        assert!(rig.hints.try_recv().is_err());
        assert_eq!(spoilt.count("mint"), 0);
        spoilt.off();
        // The file was opened again and the machines came back: the same ids get their first and only answer.
        let mut seqs = BTreeSet::new();
        for (message, answer) in all.iter().zip(&answers) {
            let mut again = rig.block(story.alice.submit(message, None));
            let end = Instant::now() + Duration::from_secs(10);
            while again.is_err() && Instant::now() < end {
                std::thread::sleep(Duration::from_millis(50));
                again = rig.block(story.alice.submit(message, None));
            }
            let again = again.unwrap();
            assert_eq!(again.repeat, answer.is_ok(), "nothing of a lost commit was kept");
            assert!(seqs.insert(again.seq));
        }
        let last = all.len() as u64 + 1;
        assert_eq!(seqs, (2..=last).collect());
        // Every recovery is in the chain, and it is whole.
        let audited = rig.audited();
        assert!(audited.len() as i64 > entries);
        // Tier-0 goes on: the alert is outstanding, and a hint is minted for it.
        let status = rig.block(rig.observer().status()).unwrap();
        assert_eq!(status.tier0_open, Some(true));
        assert_eq!(status.targets.unwrap()[0].outstanding.len(), 1);
        let hint = rig.runtime.block_on(async { tokio::time::timeout(Duration::from_secs(5), rig.hints.recv()).await });
        assert!(hint.is_ok(), "no hint");
        rig.restart();
        let again = rig.block(rig.client("").ready());
        assert!(again.is_ok());
    }

    [Adm10, Emt2] fn adm_10_a_statement_that_fails_takes_nothing_but_its_batch_and_hints_go_on(seen) {
        let mut rig = Rig::start();
        let story = rig.story();
        rig.block(story.alice.submit(&alert(0), None)).unwrap();
        let wait = Duration::from_secs(5);
        let hint = rig.runtime.block_on(async { tokio::time::timeout(wait, rig.hints.recv()).await });
        assert!(hint.is_ok(), "the control: a hint comes");
        let spoilt = Spoilt::new(&rig);
        let before = spoilt.epochs();
        let marked = alert(1);
        spoilt.on("statement", &marked.id.to_string());
        let refused = problem(rig.block(story.alice.submit(&marked, None)));
        assert_eq!((&refused["reason"], &refused["retry"]), (&json!("store_unavailable"), &json!("later")));
        seen.problem(&refused);
        spoilt.off();
        assert_eq!(rig.block(story.alice.submit(&marked, None)).unwrap().seq, 2);
        // The mailbox came back from disk without an epoch; it gets a new one, and then it mints again.
        let hint = rig.runtime.block_on(async { tokio::time::timeout(wait, rig.hints.recv()).await });
        assert!(hint.is_ok(), "no hint after a failed commit");
        assert_eq!(spoilt.epochs(), before + 1);
        // Never above what the floor file says, so that no backup brings one of them back.
        let floor: i64 =
            std::fs::read_to_string(rig.dir.path().join("epoch-floor")).unwrap().trim().parse().unwrap();
        let token: i64 =
            spoilt.file.query_row("SELECT max(token) FROM mint", [], |row| row.get(0)).unwrap();
        assert_eq!(token >> 32, floor);
    }

    [Opr2] fn opr_2_after_an_act_that_failed_tier_0_is_as_open_as_before(seen) {
        let rig = Rig::start();
        let story = rig.story();
        let spoilt = Spoilt::new(&rig);
        for kind in ["statement", "commit"] {
            // An act that widens did not happen; the registry comes back, with what only this process knew.
            spoilt.on(kind, "\"builder\"");
            let command = rig.command("register_target", json!({"target": "builder"}));
            let refused = problem(rig.block(rig.client("").operator(&command)));
            let expected = if kind == "commit" { "outcome_unknown" } else { "store_unavailable" };
            assert_eq!(refused["reason"], expected);
            seen.problem(&refused);
            spoilt.off();
            until("Tier-0 is open again", || {
                rig.block(rig.observer().status()).unwrap().tier0_open == Some(true)
            });
            rig.block(story.alice.submit(&alert(kind.len() as u64), None)).unwrap();
            // One that narrows acts although it cannot be recorded.
            let disarm = rig.command("disarm", json!({"target": "lotse"}));
            spoilt.on(kind, "\"disarm\"");
            problem(rig.block(rig.client("").operator(&disarm)));
            assert!(rig.dir.path().join("deny").exists());
            spoilt.off();
            until("it is taken in", || !rig.dir.path().join("deny").exists());
            until("it is disarmed", || {
                let status = rig.block(rig.observer().status()).unwrap();
                status.targets.is_some_and(|targets| !targets[0].armed)
            });
            rig.arm("lotse");
        }
        // The first of them never took effect, so the same command does now.
        rig.act("register_target", json!({"target": "builder"}));
    }

    [Adm12] fn adm_12_a_sender_whose_own_mailbox_cannot_be_read_has_no_message_without_cause(seen) {
        let rig = Rig::start();
        let story = rig.story();
        rig.target("builder");
        let first = mail(0);
        rig.block(story.alice.submit(&first, None)).unwrap();
        let fence = rig
            .block(story.agent.claim(&story.target, &"h".parse().unwrap(), 10))
            .unwrap()
            .fence;
        let send = |n: u64| {
            let message = submission("builder", "message/1", json!(word(n)));
            rig.block(story.agent.submit(&message, Some(fence)))
        };
        let caused = send(1).unwrap();
        assert_eq!((caused.cause, caused.depth), (Some(first.id), 1));
        // The sender's own mailbox fails, and cannot come back from disk either.
        let spoilt = Spoilt::new(&rig);
        spoilt.on("statement", "\"target\":\"lotse\"");
        problem(rig.block(story.alice.submit(&mail(2), None)));
        for n in 3..6 {
            match send(n) {
                Ok(admitted) => assert_eq!((admitted.cause, admitted.depth), (Some(first.id), 1)),
                Err(error) => {
                    let refused = problem::<()>(Err(error));
                    assert_eq!(refused["reason"], "store_unavailable");
                }
            }
        }
        spoilt.off();
        let mut caused = send(6);
        let end = Instant::now() + Duration::from_secs(5);
        while caused.is_err() && Instant::now() < end {
            std::thread::sleep(Duration::from_millis(50));
            caused = send(7);
        }
        let caused = caused.unwrap();
        assert_eq!((caused.cause, caused.depth), (Some(first.id), 1));
        let _ = seen;
    }

    [Inb1] fn inb_1_submissions_that_wait_together_share_a_commit(seen) {
        let rig = Rig::with(|limits| limits.rate_per_minute = 100_000);
        let story = rig.story();
        rig.block(story.alice.submit(&mail(0), None)).unwrap();
        // While another writer holds the file they queue up; then one or two commits take them all.
        let other = Connection::open(rig.dir.path().join("plane.db")).unwrap();
        let version = |conn: &Connection| -> i64 {
            conn.query_row("PRAGMA data_version", [], |row| row.get(0)).unwrap()
        };
        let watch = Connection::open(rig.dir.path().join("plane.db")).unwrap();
        let before = version(&watch);
        other.execute_batch("BEGIN IMMEDIATE").unwrap();
        let all: Vec<Submission> = (1..101).map(mail).collect();
        let calls: Vec<_> = all
            .iter()
            .map(|message| {
                let (client, message) = (story.alice.clone(), message.clone());
                rig.runtime.spawn(async move { client.submit(&message, None).await })
            })
            .collect();
        std::thread::sleep(Duration::from_millis(600));
        other.execute_batch("COMMIT").unwrap();
        let seqs: BTreeSet<u64> =
            calls.into_iter().map(|call| rig.block(call).unwrap().unwrap().seq).collect();
        assert_eq!(seqs, (2..102).collect());
        // Entries of one transaction have one time: the clock is read once for each.
        let times: BTreeSet<String> = rig
            .audited()
            .iter()
            .filter(|entry| entry["correlation"]["message"].is_string() && entry["input"].get("admit").is_some())
            .map(|entry| entry["now"]["mono"].to_string())
            .collect();
        assert!(version(&watch) > before);
        assert!(times.len() <= 12, "{} commits for {} submissions", times.len(), all.len() + 1);
        let _ = seen;
    }

    [Inb7] fn inb_7_in_one_batch_nobody_gets_the_lease_of_another(seen) {
        let rig = Rig::start();
        let story = rig.story();
        for n in 0..3 {
            rig.block(story.alice.submit(&mail(n), None)).unwrap();
        }
        let mut ends = [0, 0];
        for round in 0..6 {
            let first = rig.block(story.agent.claim(&story.target, &"a".parse().unwrap(), 10)).unwrap();
            // Renewed by its holder, given back, and taken by another, all within one commit.
            let other = Connection::open(rig.dir.path().join("plane.db")).unwrap();
            other.execute_batch("BEGIN IMMEDIATE").unwrap();
            let spawn = |holder: &'static str| {
                let (agent, target) = (story.agent.clone(), story.target.clone());
                rig.runtime.spawn(async move { agent.claim(&target, &holder.parse().unwrap(), 10).await })
            };
            let pause = || std::thread::sleep(Duration::from_millis(60));
            // The first one that waits gets a commit of its own; the rest queues up behind it.
            let (agent, target) = (story.agent.clone(), story.target.clone());
            let ahead = rig.runtime.spawn(async move { agent.renew(&target, first.fence).await });
            pause();
            let again = spawn("a");
            pause();
            let (agent, target) = (story.agent.clone(), story.target.clone());
            let released = rig.runtime.spawn(async move { agent.release(&target, first.fence).await });
            pause();
            let taken = spawn("b");
            pause();
            let third = spawn("c");
            pause();
            other.execute_batch("COMMIT").unwrap();
            rig.block(ahead).unwrap().unwrap();
            let again = rig.block(again).unwrap();
            rig.block(released).unwrap().unwrap();
            let taken: Claimed = rig.block(taken).unwrap().unwrap();
            assert!(taken.fence > first.fence, "round {round}");
            let ids = |claimed: &Claimed| -> Vec<MessageId> { claimed.messages.iter().map(|head| head.id).collect() };
            assert_eq!(ids(&taken), ids(&first));
            match again {
                // Its own, which is over by now.
                Ok(claimed) => {
                    assert_eq!(claimed.fence, first.fence);
                    ends[0] += 1;
                }
                Err(error) => {
                    let refused = problem::<()>(Err(error));
                    assert_eq!(refused["reason"], "lost_lease");
                    seen.problem(&refused);
                    ends[1] += 1;
                }
            }
            let refused = problem(rig.block(third).unwrap());
            assert_eq!(refused["reason"], "lease_held");
            seen.problem(&refused);
            // The lease that is in force is that of the one who was told so.
            rig.block(story.agent.renew(&story.target, taken.fence)).unwrap();
            assert!(rig.block(story.agent.renew(&story.target, first.fence)).is_err());
            rig.block(story.agent.release(&story.target, taken.fence)).unwrap();
        }
        assert!(ends[1] > 0, "never in one batch: {ends:?}");
    }
}
