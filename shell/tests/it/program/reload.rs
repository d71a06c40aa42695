//! A manifest that is read again while the program runs.

use std::process::Command;
use std::time::{Duration, Instant};

use super::Machine;

const AGENT: &str =
    "[agents.lotse]\nruntime = \"fake\"\nheadless = true\ntier0_ack = true\ncooldown = \"1ms\"\n";

fn read_again(machine: &Machine, manifest: &str) {
    std::fs::write(machine.state().join("agents.toml"), manifest).unwrap();
    let told = Command::new("kill").args(["-HUP", &machine.pid().to_string()]).status().unwrap();
    assert!(told.success());
}

/// Waits until the trace of an alert says this.
fn says(machine: &Machine, alert: &str, receipt: &str) {
    let end = Instant::now() + Duration::from_secs(40);
    loop {
        let trace = machine.ok(&["trace", alert]);
        if trace.contains(receipt) {
            return;
        }
        assert!(Instant::now() < end, "no {receipt}: {trace}");
        std::thread::sleep(Duration::from_millis(100));
    }
}

#[test]
fn cap_2_a_manifest_is_read_again_and_a_refused_one_leaves_the_old_one() {
    let machine =
        Machine::story_with(&["limits.sweep=1s", "limits.back_off_base=100ms", "limits.back_off_max=200ms"]);
    let first = machine.alert("first");
    let [down, told] =
        ["unavailable", "notified_verified"].map(|outcome| format!("{AGENT}outcome = \"{outcome}\"\n"));
    read_again(&machine, &down);
    says(&machine, &first, "runtime_unavailable");
    assert!(!machine.ok(&["trace", &first]).contains("runtime_notified"));
    // One mistake, and nothing of it is taken.
    read_again(&machine, &told.replace("headless", "headles"));
    let second = machine.alert("second");
    says(&machine, &second, "runtime_unavailable");
    read_again(&machine, &told);
    says(&machine, &second, "runtime_notified");
}
