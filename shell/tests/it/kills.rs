//! `kill -9` from outside, at least twenty times in each of four windows, and at random under load (issue 2, section 6).
//!
//! A window is a point of `[trial] pause_at`: the process stops there, says so in the file `paused`, and is killed by
//! its id. After each kill the same state is started again, everything unanswered is sent again under the same ids, and
//! what senders were told is held against what is there. Rules: INB-1, INB-2, ACK-2, ADM-7, EMT-1, EMT-2, AUD-1.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use awakener::client::{Client, ClientError};
use awakener::http::wire::answers::Admitted;
use awakener::keys::SecretKey;
use awakener_kernel::audit;
use awakener_kernel::ids::{ContentHash, MessageId, Target, Token};
use awakener_kernel::json as canon;
use awakener_kernel::mailbox::record::Record;
use awakener_kernel::values::{AckOutcome, By};
use awakener_kernel::wire::{Checkpoint, Signed, Submission};
use awakener_tools::enforces;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use super::child::{Home, Story, Up};
use super::support::{ack, submission, word};

/// Kills in each window.
const KILLS: usize = 20;

/// What senders know, and a plane that dies under them.
struct Trial {
    home: Home,
    story: Story,
    lotse: Target,
    /// Admitted, as far as a sender was told: place and tier.
    admitted: BTreeMap<MessageId, Admitted>,
    sent: BTreeMap<MessageId, Submission>,
    acknowledged: BTreeSet<MessageId>,
    checkpoint: Option<Signed<Checkpoint>>,
    number: u64,
    /// Entries of the chain when it was last looked at.
    walked: usize,
    /// Epochs so far; one more with each start that came to its end.
    epochs: Vec<u32>,
    paused: usize,
}

impl Trial {
    fn new(points: &str) -> (Self, Up) {
        let home = Home::new(&["limits.rate_per_minute=1000000"]);
        if !points.is_empty() {
            home.configure(&format!("[trial]\npause_at = [\"{points}\"]"));
        }
        let up = home.up();
        let story = home.story();
        let trial = Self {
            home,
            story,
            lotse: "lotse".parse().unwrap(),
            admitted: BTreeMap::new(),
            sent: BTreeMap::new(),
            acknowledged: BTreeSet::new(),
            checkpoint: None,
            number: 0,
            walked: 0,
            epochs: Vec::new(),
            paused: 0,
        };
        (trial, up)
    }

    fn alice(&self) -> Client {
        self.home.client(&self.story.alice).with_timeout(Duration::from_secs(5))
    }

    fn agent(&self) -> Client {
        self.home.client(&self.story.agent).with_timeout(Duration::from_secs(5))
    }

    /// A new submission, an alert or plain mail.
    fn compose(&mut self, alert: bool) -> Submission {
        self.number += 1;
        let schema = if alert { "interrupt-alert/1" } else { "message/1" };
        let new = submission("lotse", schema, json!({ "word": word(self.number) }));
        self.sent.insert(new.id, new.clone());
        new
    }

    fn told(&mut self, admitted: Admitted) {
        if let Some(first) = self.admitted.get(&admitted.id) {
            assert_eq!(&Admitted { repeat: false, ..admitted }, first, "the first result again");
            return;
        }
        self.admitted.insert(admitted.id, Admitted { repeat: false, ..admitted });
    }

    fn file(&self, name: &str) -> PathBuf {
        self.home.state().join(name)
    }

    /// Asks the process to stop in the window.
    fn arm_window(&self) {
        fs::write(self.file("pause-now"), "").unwrap();
    }

    /// Waits until it stands in the window, and kills it there.
    fn kill_in_window(&mut self, up: Up, point: &str) {
        let paused = self.file("paused");
        let end = Instant::now() + Duration::from_secs(20);
        let said = loop {
            match fs::read_to_string(&paused) {
                Ok(said) if said.ends_with('\n') => break said,
                _ => assert!(Instant::now() < end, "the window was not reached"),
            }
            std::thread::sleep(Duration::from_millis(2));
        };
        assert_eq!(said.trim(), format!("{} {point}", up.pid()));
        up.kill();
        self.paused += 1;
        fs::remove_file(paused).unwrap();
        fs::remove_file(self.file("pause-now")).unwrap();
    }

    /// Sends everything again that nobody was told about; how many of them were there already.
    fn retry(&mut self) -> usize {
        let open: Vec<Submission> =
            self.sent.values().filter(|sent| !self.admitted.contains_key(&sent.id)).cloned().collect();
        let mut repeats = 0;
        for sent in open {
            let admitted = self.home.block(self.alice().submit(&sent, None)).unwrap();
            repeats += usize::from(admitted.repeat);
            self.told(admitted);
        }
        repeats
    }

    /// Reads an alert as its target and acknowledges it as a person.
    fn read_and_ack(&mut self, id: MessageId) -> Result<bool, ClientError> {
        let (agent, lotse) = (self.agent(), self.lotse.clone());
        let holder = "lotse".parse().unwrap();
        let signed = ack(&self.sent[&id], AckOutcome::Handled, By::Human, &self.story.human);
        self.home.block(async {
            let claimed = agent.claim(&lotse, &holder, 50).await?;
            agent.read(&lotse, claimed.fence, id).await?;
            agent.release(&lotse, claimed.fence).await?;
            agent.ack(&signed, None).await
        })
    }

    fn outstanding(&self) -> Vec<MessageId> {
        let open = |id: &&MessageId| !self.acknowledged.contains(*id) && self.admitted[id].tier.get() == 0;
        self.admitted.keys().filter(open).copied().collect()
    }

    /// Holds everything that senders were told against what is there.
    fn check(&mut self, starts: usize) {
        let rows = self.rows();
        // Each exactly once, where its sender was told, and nothing that nobody sent.
        let ids: BTreeSet<MessageId> = rows.iter().map(|(_, id, _)| *id).collect();
        assert_eq!(ids.len(), rows.len(), "a message is there twice");
        assert!(ids.iter().all(|id| self.sent.contains_key(id)), "a message that nobody sent");
        for (id, admitted) in &self.admitted {
            let at = rows.iter().find(|(_, row, _)| row == id);
            assert_eq!(at.map(|(seq, _, _)| *seq), Some(admitted.seq), "{id} was admitted");
        }
        let places: Vec<u64> = rows.iter().map(|(seq, _, _)| *seq).collect();
        assert_eq!(places, (1..=rows.len() as u64).collect::<Vec<_>>(), "INB-2: gapless from 1");
        for (_, id, finished) in &rows {
            let acknowledged = self.acknowledged.contains(id);
            assert!(!acknowledged || *finished, "{id} was acknowledged and is open again");
        }
        self.check_status(&rows);
        self.check_chain(starts);
    }

    fn rows(&self) -> Vec<(u64, MessageId, bool)> {
        let store = self.home.store();
        let mut found = store.prepare("SELECT seq, id, finished FROM message ORDER BY seq").unwrap();
        let rows = found.query_map([], |row| {
            Ok((row.get::<_, i64>(0)?, row.get::<_, String>(1)?, row.get::<_, bool>(2)?))
        });
        rows.unwrap()
            .map(|row| {
                let (seq, id, finished) = row.unwrap();
                (u64::try_from(seq).unwrap(), id.parse().unwrap(), finished)
            })
            .collect()
    }

    /// ACK-2: the cursor is before every outstanding witness, and every alert without an ACK has one.
    fn check_status(&self, rows: &[(u64, MessageId, bool)]) {
        let status = self.home.block(self.home.observer().status()).unwrap();
        assert_eq!(status.could_not_read, []);
        assert_eq!(status.tier0_open, Some(true));
        let target = &status.targets.unwrap()[0];
        assert_eq!(target.last, rows.len() as u64);
        let witnesses: BTreeSet<MessageId> = target.outstanding.iter().map(|alert| alert.message).collect();
        assert!(target.outstanding.iter().all(|alert| target.cursor < alert.seq), "{target:?}");
        let finished = rows.iter().take_while(|(_, _, finished)| *finished).count();
        assert_eq!(target.cursor, finished as u64, "everything up to the cursor is finished, and no more");
        for id in self.outstanding() {
            assert!(witnesses.contains(&id), "{id} is not outstanding any more");
        }
        assert!(witnesses.is_disjoint(&self.acknowledged));
    }

    /// The chain verifies, holds what the kept checkpoint covers, and tokens and epochs only rise.
    fn check_chain(&mut self, starts: usize) {
        let entries = self.home.audited();
        let stored: Vec<Vec<u8>> = entries.iter().map(|(_, entry)| canon::canonical(entry)).collect();
        let head = audit::verify(stored.iter().map(Vec::as_slice)).unwrap();
        assert_eq!(Some(head.hash), entries.last().map(|(hash, _)| *hash));
        assert!(entries.len() > self.walked, "a start leaves entries");
        self.walked = entries.len();
        let hashes: Vec<ContentHash> = stored.iter().map(|bytes| audit::hash(bytes)).collect();
        assert!(entries.iter().map(|(hash, _)| hash).eq(&hashes));
        if let Some(kept) = &self.checkpoint {
            let key = SecretKey::load(&self.file("keys/audit.key")).unwrap();
            let kept = kept.verify(&key.public()).unwrap();
            let size = usize::try_from(kept.size).unwrap();
            assert_eq!(tree_head(&hashes[..size]), kept.head, "the chain is not the one of the checkpoint");
        }
        self.checkpoint = Some(self.home.block(self.home.observer().checkpoint()).unwrap());
        let (epochs, tokens) = emitted(&entries);
        assert!(epochs.windows(2).all(|pair| pair[0] < pair[1]), "EMT-2: {epochs:?}");
        assert!(epochs.starts_with(&self.epochs), "what was recorded stays");
        assert!(epochs.len() >= self.epochs.len() + starts, "EMT-2: each start has an epoch of its own");
        assert!(tokens.windows(2).all(|pair| pair[0] < pair[1]), "EMT-1: {tokens:?}");
        assert!(!tokens.is_empty());
        self.epochs = epochs;
    }
}

/// Epochs and tokens in the order of the chain.
fn emitted(entries: &[(ContentHash, Value)]) -> (Vec<u32>, Vec<Token>) {
    let (mut epochs, mut tokens) = (Vec::new(), Vec::new());
    for (_, entry) in entries.iter().filter(|(_, entry)| entry["machine"] == "mailbox") {
        for record in entry["records"].as_array().unwrap() {
            match serde_json::from_value(record.clone()).unwrap() {
                Record::EpochStarted { epoch } => epochs.push(epoch),
                Record::Minted { token, .. } => tokens.push(token),
                _ => {}
            }
        }
    }
    (epochs, tokens)
}

/// RFC 9162, section 2.1.1, by its definition.
pub fn tree_head(leaves: &[ContentHash]) -> ContentHash {
    fn node(leaves: &[ContentHash]) -> [u8; 32] {
        match leaves {
            [] => Sha256::digest([]).into(),
            [leaf] => Sha256::new().chain_update([0]).chain_update(leaf.0).finalize().into(),
            more => {
                let (left, right) = more.split_at(more.len().next_power_of_two() / 2);
                Sha256::new()
                    .chain_update([1])
                    .chain_update(node(left))
                    .chain_update(node(right))
                    .finalize()
                    .into()
            }
        }
    }
    ContentHash(node(leaves))
}

/// Kills while submissions are under way: two messages at a time, and every third time an ACK instead.
fn around_a_commit(point: &str, shown: &str, durable: bool) {
    let (mut trial, mut up) = Trial::new(point);
    let first = trial.compose(true);
    let admitted = trial.home.block(trial.alice().submit(&first, None)).unwrap();
    trial.told(admitted);
    trial.check(0);
    let (mut repeats, mut retried) = (0, 0);
    for kill in 0..KILLS {
        let due = trial.outstanding().first().copied().filter(|_| kill % 3 == 2);
        if let Some(id) = due {
            let statement = ack(&trial.sent[&id], AckOutcome::Handled, By::Human, &trial.story.human);
            let (agent, lotse) = (trial.agent(), trial.lotse.clone());
            trial.home.block(async {
                let claimed = agent.claim(&lotse, &"lotse".parse().unwrap(), 50).await.unwrap();
                agent.read(&lotse, claimed.fence, id).await.unwrap();
                agent.release(&lotse, claimed.fence).await.unwrap();
            });
            trial.arm_window();
            let asked = agent.clone();
            let signed = statement.clone();
            let call = trial.home.runtime.spawn(async move { asked.ack(&signed, None).await });
            trial.kill_in_window(up, shown);
            let lost = trial.home.block(call).unwrap().unwrap_err();
            assert!(matches!(lost, ClientError::Timeout(_)), "{lost:?}");
            up = trial.home.up();
            // The same again: it took effect before, or it takes effect now.
            assert_eq!(trial.home.block(trial.agent().ack(&statement, None)).unwrap(), durable);
            trial.acknowledged.insert(id);
        } else {
            let both = [trial.compose(kill % 2 == 0), trial.compose(false)];
            trial.arm_window();
            let calls = both.map(|message| {
                let alice = trial.alice();
                trial.home.runtime.spawn(async move { alice.submit(&message, None).await })
            });
            trial.kill_in_window(up, shown);
            for call in calls {
                let lost = trial.home.block(call).unwrap().unwrap_err();
                assert!(matches!(lost, ClientError::Timeout(_) | ClientError::Unreachable(_)), "{lost:?}");
            }
            up = trial.home.up();
            let again = trial.retry();
            // Before the commit nothing of it is there; after it everything that shared it is.
            assert!(if durable { again >= 1 } else { again == 0 }, "{again} of 2 were there");
            repeats += again;
            retried += 2;
        }
        trial.check(1);
    }
    assert_eq!(trial.paused, KILLS);
    eprintln!("{shown}: {KILLS} kills, {repeats} of {retried} were there already");
    up.stop();
}

enforces! {
    [Aud1, Aud5]
    fn aud_1_killed_before_a_commit_nothing_of_it_is_there(_seen) {
        around_a_commit("before_commit", "BeforeCommit", false);
    }

    [Aud1, Aud5]
    fn aud_1_killed_between_commit_and_answer_everything_is_there_once(_seen) {
        around_a_commit("after_commit", "AfterCommit", true);
    }

    [Aud1, Aud5]
    fn aud_1_killed_between_commit_and_publish_no_token_comes_twice(_seen) {
        let (mut trial, mut up) = Trial::new("before_publish");
        for kill in 0..KILLS {
            let alert = trial.compose(true);
            trial.arm_window();
            // The answer does not wait for the hint (EMT-4), but the kill may overtake it.
            let alice = trial.alice();
            let call = trial.home.runtime.spawn(async move { alice.submit(&alert, None).await });
            trial.kill_in_window(up, "BeforePublish");
            if let Ok(admitted) = trial.home.block(call).unwrap() {
                trial.told(admitted);
            }
            let minted = |trial: &Trial| -> i64 {
                trial.home.store().query_row("SELECT count(*) FROM mint", [], |row| row.get(0)).unwrap()
            };
            // Minted durably, and handed to nobody.
            assert!(minted(&trial) > i64::try_from(kill).unwrap());
            up = trial.home.up();
            let open = trial.sent.len() - trial.admitted.len();
            assert_eq!(trial.retry(), open, "an alert whose hint was minted is durable");
            if kill % 4 == 3 {
                let id = trial.outstanding()[0];
                assert!(!trial.read_and_ack(id).unwrap());
                trial.acknowledged.insert(id);
            }
            trial.check(1);
        }
        assert_eq!(trial.paused, KILLS);
        up.stop();
    }

    [Aud1, Aud5]
    fn aud_5_killed_during_recovery_the_next_one_finds_the_same(_seen) {
        let (mut trial, mut up) = Trial::new("in_recovery");
        let minted = |trial: &Trial| -> i64 {
            trial.home.store().query_row("SELECT count(*) FROM mint", [], |row| row.get(0)).unwrap()
        };
        for kill in 0..KILLS {
            let new = [trial.compose(kill % 2 == 0), trial.compose(false)];
            for message in new {
                let admitted = trial.home.block(trial.alice().submit(&message, None)).unwrap();
                trial.told(admitted);
            }
            if kill == 0 {
                // The first hint is on its way before anything is killed.
                let end = Instant::now() + Duration::from_secs(10);
                while minted(&trial) == 0 {
                    assert!(Instant::now() < end, "no hint was minted");
                    std::thread::sleep(Duration::from_millis(5));
                }
            }
            if kill % 5 == 4 {
                let id = trial.outstanding()[0];
                assert!(!trial.read_and_ack(id).unwrap());
                trial.acknowledged.insert(id);
            }
            up.kill();
            trial.arm_window();
            let recovering = Up::start(trial.home.command());
            trial.kill_in_window(recovering, "InRecovery");
            up = trial.home.up();
            assert_eq!(trial.retry(), 0, "everybody had an answer");
            trial.check(1);
        }
        assert_eq!(trial.paused, KILLS);
        up.stop();
    }

    [Aud1, Aud5]
    fn aud_5_killed_at_random_under_load_nothing_admitted_is_lost(_seen) {
        let (mut trial, mut up) = Trial::new("");
        let first = trial.compose(true);
        let admitted = trial.home.block(trial.alice().submit(&first, None)).unwrap();
        trial.told(admitted);
        trial.check(0);
        let end = Instant::now() + Duration::from_secs(8);
        let (mut kills, mut answered, mut unknown, mut repeats) = (0, 0, 0, 0);
        while Instant::now() < end || kills < 5 {
            let messages: Vec<Submission> = (0..24).map(|n| trial.compose(n % 5 == 0)).collect();
            let calls: Vec<_> = messages
                .into_iter()
                .map(|message| {
                    let alice = trial.alice();
                    trial.home.runtime.spawn(async move { alice.submit(&message, None).await })
                })
                .collect();
            let due = trial.outstanding().first().copied();
            // Times that no rhythm of the process follows.
            std::thread::sleep(Duration::from_micros(1_500 * (kills * 7_919 % 41)));
            up.kill();
            for call in calls {
                match trial.home.block(call).unwrap() {
                    Ok(admitted) => {
                        answered += 1;
                        trial.told(admitted);
                    }
                    Err(ClientError::Timeout(_) | ClientError::Unreachable(_)) => unknown += 1,
                    Err(other) => panic!("{other:?}"),
                }
            }
            if kills % 3 == 1 {
                // A start that is itself killed, wherever it stands.
                let starting = Up::start(trial.home.command());
                std::thread::sleep(Duration::from_millis(kills * 53 % 300));
                starting.kill();
            }
            up = trial.home.up();
            repeats += trial.retry();
            if let Some(id) = due {
                assert!(!trial.read_and_ack(id).unwrap());
                trial.acknowledged.insert(id);
            }
            trial.check(1);
            kills += 1;
        }
        eprintln!("at random: {kills} kills, {answered} answered, {unknown} not, {repeats} of them were there already");
        assert!(unknown > 0, "no kill met a message under way");
        up.stop();
    }
}
