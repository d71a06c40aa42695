//! An attached agent's work from a shell: from the alert to the moved cursor, and what mail, silence and operators do.
//!
//! Rules: ACK-2, ACK-3, ACK-5, ACK-7, ACK-9, INB-4, INB-5, INB-8, INB-9, DSP-10, OPR-1, RCP-4, CON-1.

use super::{Machine, column};

#[test]
fn ack_3_an_alert_goes_from_send_to_a_moved_cursor_by_commands_alone() {
    let machine = Machine::story();
    let id = machine.alert("pump 3");
    assert_eq!((&machine.status()["cursor"], &machine.status()["last"]), (&0.into(), &1.into()));
    let seen = machine.ok(&["inbox", "lotse", "--as", "lotse"]);
    assert!(
        seen.contains(&id) && seen.contains("unread") && seen.contains("1 of 1; 1 outstanding"),
        "{seen}"
    );
    let fence = machine.claim();
    let ack = ["ack", &id, "--target", "lotse", "--outcome", "handled", "--as", "lotse"];
    assert_eq!(machine.fails(&ack, 77)["rule"], "ACK-5");
    let read = machine.ok(&["read", &id, "--target", "lotse", "--fence", &fence, "--as", "lotse"]);
    assert!(read.starts_with("attempt 1\n") && read.ends_with("\npump 3\n"), "{read}");
    let work = ["lotse", "--fence", &fence, "--message", &id, "--as", "lotse"];
    machine.ok(&[&["reply"], &work[..], &["--text", "restarted"]].concat());
    // A reply is no acknowledgement.
    assert_eq!(machine.status()["cursor"], 0);
    assert!(machine.ok(&["trace", &id]).contains("waits since response_recorded"));
    machine.ok(&ack);
    let status = machine.status();
    assert_eq!((&status["cursor"], status["outstanding"].as_array().unwrap().len()), (&1.into(), 0));
    // The same again is the same, another outcome is refused.
    assert_eq!(machine.json(&ack)["repeat"], true);
    let other = ["ack", &id, "--target", "lotse", "--outcome", "failed", "--as", "lotse"];
    assert_eq!(machine.fails(&other, 77)["reason"], "already_acknowledged");

    let trace = machine.ok(&["trace", &id]);
    let (head, ladder) = trace.split_once("\n\n").unwrap();
    assert!(head.contains("state     acknowledged handled by agent, reply recorded"), "{trace}");
    let (ladder, end) = ladder.split_once("\n\n").unwrap();
    assert_eq!(end, "nothing more is owed\n");
    let steps = column(ladder, 1);
    for step in ["receipt", "persisted", "admitted", "inbox_read", "response_recorded", "tier0_acknowledged"]
    {
        assert!(steps.contains(&step), "{step} is not in\n{trace}");
    }
    assert_eq!(steps.last(), Some(&"cursor_advanced"));
    assert!(column(ladder, 0).iter().skip(1).all(|time| time.starts_with('+')), "{trace}");
    let receipts = machine.ok(&["receipts", "--message", &id]);
    assert_eq!(column(&receipts, 2), steps);
}

#[test]
fn inb_9_silence_done_and_a_turn_are_recorded_on_exactly_one_message() {
    let machine = Machine::story();
    let (first, second) = (machine.mail("first"), machine.mail("second"));
    let fence = machine.claim();
    for id in [&first, &second] {
        machine.ok(&["read", id, "--target", "lotse", "--fence", &fence, "--as", "lotse"]);
    }
    let on = |id| ["lotse", "--fence", &fence, "--message", id, "--as", "lotse"];
    machine.ok(&["renew", "lotse", "--fence", &fence, "--as", "lotse"]);
    let ended = machine.json(&[&["turn"], &on(&first)[..], &["--finish", "complete"]].concat());
    let turn = ended["turn"].as_str().unwrap();
    let quiet = [&["silence"], &on(&first)[..], &["--reason", "not for me", "--turn", turn]].concat();
    machine.ok(&quiet);
    assert_eq!(machine.json(&quiet)["repeat"], true);
    assert_eq!(machine.status()["cursor"], 1);
    machine.ok(&[&["done"], &on(&second)[..]].concat());
    assert_eq!(machine.status()["cursor"], 2);
    let whole = machine.ok(&["read", &first, "--as", "lotse"]);
    assert!(whole.contains("silence recorded") && whole.contains("answer    not for me"), "{whole}");
    assert_eq!(machine.fails(&["claim", "lotse", "--as", "lotse"], 69)["reason"], "nothing_to_claim");
    // A reader's position confirms what it was shown.
    let page = machine.json(&["inbox", "lotse", "--as", "lotse", "--limit", "1"]);
    assert_eq!((&page["total"], &page["more"]), (&2.into(), &true.into()));
    let position = page["position"].as_str().unwrap();
    let next = machine.json(&["inbox", "lotse", "--as", "lotse", "--position", position]);
    assert_eq!(next["items"][0]["id"], second.as_str());
    machine.fails(&["inbox", "lotse", "--as", "lotse", "--position", "elsewhere"], 65);
}

#[test]
fn opr_1_operators_resolve_release_pause_and_disarm() {
    let machine = Machine::story_with(&["limits.attempts=1"]);
    // Read once too often: set aside, and given back.
    let read_once = |id: &str| {
        let fence = machine.claim();
        machine.ok(&["read", id, "--target", "lotse", "--fence", &fence, "--as", "lotse"]);
        machine.ok(&["release", "lotse", "--fence", &fence, "--as", "lotse"]);
        let trace = machine.ok(&["trace", id]);
        assert!(trace.contains("quarantined"), "{trace}");
        let nothing = machine.fails(&["claim", "lotse", "--as", "lotse"], 69);
        assert_eq!(nothing["reason"], "nothing_to_claim");
    };
    let alert = machine.alert("nobody is there");
    read_once(&alert);
    assert!(machine.ok(&["trace", &alert]).contains("set aside for the operator"));
    assert!(machine.ok(&["status"]).contains("set aside"));
    let release = ["quarantine", "release", "lotse", &alert];
    machine.ok(&release);
    machine.claim();
    assert_eq!(machine.fails(&release, 65)["reason"], "operator_unknown_subject");
    machine.ok(&["resolve", "lotse", &alert, "--reason", "the pump is gone"]);
    assert!(machine.ok(&["trace", &alert]).contains("resolved by the operator"));
    assert_eq!(machine.status()["cursor"], 1);
    // Mail that is set aside is finished; it does not come back, and the command says so.
    let mail = machine.mail("a hard one");
    read_once(&mail);
    assert_eq!(machine.status()["cursor"], 2);
    let release = ["quarantine", "release", "lotse", &mail];
    assert_eq!(machine.fails(&release, 65)["reason"], "operator_unknown_subject");

    let wakes = || {
        let text = machine.ok(&["status"]);
        let table = text.split_once("\ntarget  wakes").unwrap().1;
        let line = table.lines().find(|line| line.starts_with("lotse")).unwrap();
        line.split("  ").find(|cell| !cell.is_empty() && *cell != "lotse").unwrap().trim().to_owned()
    };
    assert!(wakes().starts_with("armed until"));
    machine.ok(&["pause", "lotse", "--for", "5m"]);
    assert_eq!(wakes(), "paused");
    machine.ok(&["resume", "lotse"]);
    assert!(wakes().starts_with("armed until"));
    machine.ok(&["disarm", "lotse"]);
    assert_eq!(wakes(), "not armed");
    machine.ok(&["arm", "lotse", "--for", "5m"]);
    machine.ok(&["stop-all"]);
    assert!(machine.ok(&["status"]).contains(" · stopped · "));
    machine.ok(&["resume"]);
    machine.ok(&["abort"]);
    assert_eq!(wakes(), "not armed");
    assert!(machine.ok(&["roster", "show"]).starts_with("no roster"));
}

#[test]
fn aud_8_what_is_registered_is_listed() {
    let machine = Machine::story();
    assert!(machine.ok(&["roster", "show"]).contains("ops        interrupt-alert/1  lotse"));
    assert_eq!(machine.json(&["roster", "show"])["roster"]["entries"][0]["principal"], "ops");
    assert_eq!(column(&machine.ok(&["target", "list"]), 0), ["target", "lotse"]);
    assert_eq!(column(&machine.ok(&["principal", "list"]), 0), ["principal", "lotse", "ops"]);
    assert_eq!(column(&machine.ok(&["keys", "list"]), 0), ["role", "operator", "router", "audit", "ack"]);
    let keys = machine.json(&["keys", "list"])["keys"].clone();
    let ack = keys.as_array().unwrap().iter().find(|key| key["role"] == "ack").unwrap().clone();
    assert_eq!((&ack["target"], &ack["by"]), (&"lotse".into(), &"agent".into()));
    machine.ok(&["keys", "revoke-ack", "lotse", ack["key_id"].as_str().unwrap()]);
    assert!(machine.ok(&["keys", "list"]).contains("revoked 20"));
    machine.ok(&["principal", "revoke", "ops"]);
    machine.fails(&["send", "lotse", "--as", "ops", "--text", "x"], 77);
    assert_eq!(machine.ok(&["latch", "show"]), "none\n");
    machine.ok(&["target", "remove", "lotse"]);
    assert_eq!(machine.ok(&["target", "list"]), "no target\n");
}
