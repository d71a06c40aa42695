//! A wake daemon that stands still while hints are pushed to it: they are lost, the plane is told, and no alert is.
//!
//! Rules: BRK-1, EMT-4, DSP-11.

use std::process::Stdio;
use std::time::{Duration, Instant};

use serde_json::Value;

use super::{Ends, Machine, until};

#[test]
fn brk_1_a_daemon_too_slow_for_pushes_loses_them_and_no_alert() {
    let address = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let mut machine = Machine::made();
    machine.settings = vec![
        "wake.enabled=false".to_owned(),
        "limits.sweep=1s".to_owned(),
        "limits.attempts=20".to_owned(),
        format!("wake.plane=http://{}", machine.listen),
        format!("wake.listen={address}"),
        "broker.kind=http".to_owned(),
        format!("broker.push=http://{address}/v1/hints"),
    ];
    let manifest = machine.state().join("agents.toml");
    let agents = "\n[agents.lotse]\nruntime = \"fake\"\noutcome = \"notified_verified\"\nheadless = true\n\
                  tier0_ack = true\ncooldown = \"500ms\"\n";
    std::fs::write(&manifest, std::fs::read_to_string(&manifest).unwrap() + agents).unwrap();
    machine.start();
    machine.register();
    let number = |store: &str, sql: &str| -> i64 {
        let store = rusqlite::Connection::open(machine.state().join(store)).unwrap();
        store.busy_timeout(Duration::from_secs(5)).unwrap();
        store.query_row(sql, [], |row| row.get(0)).unwrap()
    };
    let receipts =
        |kind: &str| number("plane.db", &format!("SELECT count(*) FROM receipt WHERE kind = '{kind}'"));
    let wake = Ends(machine.command(&["wake"]).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap());
    // The control: a daemon that keeps up takes what is pushed.
    let mut alerts = vec![machine.alert("one")];
    until("it is pushed", || (receipts("wake_emitted") >= 1).then_some(()));
    until("it is notified", || (receipts("runtime_notified") >= 1).then_some(()));
    let failed = receipts("wake_emit_failed");
    wake.signal("-STOP");
    for about in ["two", "three", "four"] {
        // The sender waits for nobody's broker.
        let began = Instant::now();
        alerts.push(machine.alert(about));
        assert!(began.elapsed() < Duration::from_secs(30));
    }
    until("the plane is told", || (receipts("wake_emit_failed") >= failed + 3).then_some(()));
    let broker = machine.whole_status()["broker"].clone();
    assert!(broker["failed"].as_i64().unwrap() >= failed + 3, "{broker}");
    wake.signal("-CONT");
    // Each alert is woken for, read and acknowledged.
    for alert in &alerts {
        let before = receipts("runtime_notified");
        until("it is notified", || (receipts("runtime_notified") > before).then_some(()));
        let fence = until("it can be claimed", || {
            let claimed = machine.run(&["claim", "lotse", "--as", "lotse", "--max", "10", "--json"]);
            let value: Value = serde_json::from_str(claimed.out.lines().next()?).ok()?;
            Some(value["fence"].to_string())
        });
        machine.ok(&["read", alert, "--target", "lotse", "--fence", &fence, "--as", "lotse"]);
        machine.ok(&["release", "lotse", "--fence", &fence, "--as", "lotse"]);
        machine.ok(&["ack", alert, "--target", "lotse", "--outcome", "handled", "--as", "lotse"]);
    }
    assert_eq!(receipts("tier0_acknowledged"), 4);
    // No wake was started twice.
    let twice = "SELECT count(*) - count(DISTINCT wake) FROM receipt WHERE kind = 'dispatch_attempted'";
    assert_eq!(number("wake.db", twice), 0);
    assert!(number("wake.db", "SELECT count(*) FROM receipt WHERE kind = 'dispatch_attempted'") >= 4);
}
