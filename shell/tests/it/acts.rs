//! Operators' acts on a mailbox, killed between the command that is durable and what it means (ACK-9, INB-8, OPR-1).

use std::fs;
use std::time::{Duration, Instant};

use awakener::client::ClientError;
use awakener_kernel::ids::MessageId;
use serde_json::json;

use super::child::{Home, Story, Up};
use super::support::submission;

/// Gives the command, and kills the plane once it is durable and nothing has followed from it.
fn cut_off(home: &Home, up: Up, act: &str, message: MessageId) -> Up {
    let before = home.audited().len();
    fs::write(home.state().join("pause-now"), "").unwrap();
    let command = home.signed(act, json!({"target": "lotse", "message": message}));
    let observer = home.observer();
    let call = home.runtime.spawn(async move { observer.operator(&command).await });
    let paused = home.state().join("paused");
    let end = Instant::now() + Duration::from_secs(20);
    while !fs::read_to_string(&paused).is_ok_and(|said| said.ends_with("AfterCommit\n")) {
        assert!(Instant::now() < end, "the window was not reached");
        std::thread::sleep(Duration::from_millis(2));
    }
    up.kill();
    assert!(matches!(
        home.block(call).unwrap().unwrap_err(),
        ClientError::Timeout(_) | ClientError::Unreachable(_)
    ));
    for file in [paused, home.state().join("pause-now")] {
        fs::remove_file(file).unwrap();
    }
    let entries: i64 = home.store().query_row("SELECT count(*) FROM audit", [], |row| row.get(0)).unwrap();
    let last: String = home
        .store()
        .query_row("SELECT machine FROM audit ORDER BY position DESC LIMIT 1", [], |row| row.get(0))
        .unwrap();
    assert_eq!(
        (entries, last.as_str()),
        (i64::try_from(before).unwrap() + 1, "registry"),
        "only the command"
    );
    home.up()
}

fn home() -> (Home, Up, Story) {
    let home = Home::new(&["limits.attempts=1"]);
    home.configure("[trial]\npause_at = [\"after_commit\"]");
    let up = home.up();
    let story = home.story();
    (home, up, story)
}

/// Sends an alert, and waits until its hint is minted and accounted for, so that nothing else is on its way.
fn alert(home: &Home, story: &Story) -> MessageId {
    let alert = submission("lotse", "interrupt-alert/1", json!("down"));
    home.block(home.client(&story.alice).submit(&alert, None)).unwrap();
    let end = Instant::now() + Duration::from_secs(10);
    loop {
        let trace = home.block(home.observer().trace(alert.id)).unwrap();
        if trace.ladder.iter().any(|rung| rung.receipt.kind.name().starts_with("wake_emit")) {
            return alert.id;
        }
        assert!(Instant::now() < end, "no hint was handed over");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Waits for a receipt of this kind, and returns how many there are.
fn receipts(home: &Home, message: MessageId, kind: &str) -> usize {
    let end = Instant::now() + Duration::from_secs(10);
    loop {
        let trace = home.block(home.observer().trace(message)).unwrap();
        let found = trace.ladder.iter().filter(|rung| rung.receipt.kind.name() == kind).count();
        if found > 0 {
            return found;
        }
        assert!(Instant::now() < end, "no receipt {kind}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn ack_9_a_resolution_that_a_crash_cut_off_is_carried_out_by_the_next_start() {
    let (home, up, story) = home();
    let message = alert(&home, &story);
    let other = alert(&home, &story);
    let up = cut_off(&home, up, "resolve", message);
    assert_eq!(receipts(&home, message, "operator_resolved"), 1);
    let outstanding = || home.block(home.observer().status()).unwrap().targets.unwrap().remove(0).outstanding;
    assert_eq!(outstanding().iter().map(|alert| alert.message).collect::<Vec<_>>(), [other]);
    // Once is enough: another start finds nothing owed.
    up.kill();
    let up = home.up();
    assert_eq!(receipts(&home, message, "operator_resolved"), 1);
    assert_eq!(outstanding().len(), 1);
    up.stop();
}

#[test]
fn inb_8_a_release_that_a_crash_cut_off_is_carried_out_once_and_not_after_the_next_quarantine() {
    let (home, up, story) = home();
    let message = alert(&home, &story);
    let (lotse, me) = ("lotse".parse().unwrap(), "me".parse().unwrap());
    let quarantined =
        || home.block(home.observer().status()).unwrap().targets.unwrap()[0].outstanding[0].quarantined;
    let use_up = || {
        let agent = home.client(&story.agent);
        home.block(async {
            let lease = agent.claim(&lotse, &me, 1).await.unwrap();
            agent.read(&lotse, lease.fence, message).await.unwrap();
            agent.release(&lotse, lease.fence).await.unwrap();
        });
    };
    use_up();
    assert!(quarantined());
    let up = cut_off(&home, up, "release_quarantine", message);
    let end = Instant::now() + Duration::from_secs(10);
    while quarantined() {
        assert!(Instant::now() < end, "the release was lost");
        std::thread::sleep(Duration::from_millis(5));
    }
    // Set aside again: the old command is no reason to give it back a second time.
    use_up();
    assert!(quarantined());
    up.kill();
    let up = home.up();
    // A step after the boot, so that whatever was owed has been carried out.
    let _ = alert(&home, &story);
    assert!(quarantined(), "a command counts once");
    up.stop();
}
