//! Acknowledging an alert from outside (ACK-2 to ACK-10).

use awakener_kernel::values::{AckOutcome, By, Finish};
use awakener_kernel::wire::{AckStatement, Document as _, Signed};
use awakener_tools::enforces_process;
use serde_json::{Value, json};

use super::super::support::*;

fn cursor(rig: &Rig) -> (u64, usize) {
    let status = rig.block(rig.observer().status()).unwrap().targets.unwrap();
    (status[0].cursor, status[0].outstanding.len())
}

enforces_process! {
    [Ack2, Ack3, Ack5, Ack7, Ack10] fn ack_3_only_the_stations_signed_word_closes_the_witness(seen) {
        let rig = Rig::start();
        let story = rig.story();
        let (agent, target) = (&story.agent, &story.target);
        let alert = submission("lotse", "interrupt-alert/1", json!("pump"));
        let later = submission("lotse", "message/1", json!("later"));
        for message in [&alert, &later] {
            rig.block(story.alice.submit(message, None)).unwrap();
        }
        let lease = rig.block(agent.claim(target, &"station".parse().unwrap(), 5)).unwrap();
        let fence = lease.fence;
        let said = ack(&alert, AckOutcome::Handled, By::Station, &story.station);
        let refused = |problem: Value, reason: &str| {
            assert_eq!(problem["reason"], reason, "{problem}");
            seen.problem(&problem);
        };
        refused(problem(rig.block(agent.ack(&said, Some(fence)))), "ack_not_complete");
        refused(problem(rig.block(agent.ack(&said, None))), "lost_lease");
        let (turn, other_turn) = (turn_id(), turn_id());
        for (message, turn) in [(&alert, turn), (&later, other_turn)] {
            rig.block(agent.read(target, fence, message.id)).unwrap();
            rig.block(agent.finish_turn(target, fence, message.id, turn, Finish::Complete, None)).unwrap();
        }
        refused(problem(rig.block(agent.ack(&said, Some(fence)))), "ack_no_response");
        rig.block(agent.reply(target, fence, alert.id, turn, "restarted")).unwrap();
        rig.block(agent.done(target, fence, later.id, other_turn)).unwrap();
        let outstanding = || {
            rig.block(agent.inbox(target, &awakener::client::ReadFrom::Start, None, None)).unwrap().outstanding
        };
        assert_eq!(outstanding(), 1);
        // The later message is finished; the cursor still waits for the alert.
        assert_eq!(cursor(&rig), (0, 1));
        assert!(!rig.block(agent.ack(&said, Some(fence))).unwrap());
        // And then it goes over both in one step.
        assert_eq!((cursor(&rig), outstanding()), ((2, 0), 0));
        assert!(rig.block(agent.ack(&said, Some(fence))).unwrap());
        let otherwise = ack(&alert, AckOutcome::Failed, By::Station, &story.station);
        refused(problem(rig.block(agent.ack(&otherwise, Some(fence)))), "already_acknowledged");
        let state = rig.block(story.alice.message(alert.id)).unwrap().head.state;
        assert_eq!(state.finished.as_deref(), Some("witness_closed"));
        assert_eq!(serde_json::to_value(state.closed).unwrap()["by"], "station");
    }

    [Ack3, Ack5, Ack6] fn ack_6_what_does_not_fit_changes_nothing_and_is_audited(seen) {
        let rig = Rig::start();
        let story = rig.story();
        rig.target("other");
        let foreign = rig.ack_key("other", By::Human);
        let alert = submission("lotse", "interrupt-alert/1", json!("pump"));
        let mail = submission("lotse", "message/1", json!("mail"));
        for message in [&alert, &mail] {
            rig.block(story.alice.submit(message, None)).unwrap();
        }
        let human = |message| ack(message, AckOutcome::Handled, By::Human, &story.human);
        let signed = |change: fn(&mut AckStatement)| {
            let mut statement = human(&alert).document().clone();
            change(&mut statement);
            Signed::sign(statement, story.human.signing())
        };
        let mut forged = human(&alert).to_value();
        forged["statement"]["outcome"] = "declined".into();
        let cases: Vec<(&str, Signed<AckStatement>)> = vec![
            ("ack_not_read", human(&alert)),
            ("ack_wrong_tier", human(&mail)),
            ("ack_wrong_key", ack(&alert, AckOutcome::Handled, By::Human, &foreign)),
            ("ack_wrong_key", ack(&alert, AckOutcome::Handled, By::Human, &story.station)),
            ("ack_bad_signature", Signed::from_value(&forged).unwrap()),
            ("ack_wrong_content", signed(|said| said.content_sha256.0[0] ^= 1)),
            ("ack_unknown_message", signed(|said| said.message_id = message_id())),
            ("ack_time_out_of_bounds", signed(|said| said.time.0 += 60_000)),
        ];
        let before = rig.audited().len();
        let count = cases.len();
        for (reason, signed) in cases {
            let problem = problem(rig.block(story.agent.ack(&signed, None)));
            assert_eq!(problem["reason"], reason, "{problem}");
            seen.problem(&problem);
        }
        let entries = rig.audited().split_off(before);
        let refused = entries.iter().filter(|entry| entry["outcome"].get("refused").is_some()).count();
        assert_eq!(refused, count);
        assert_eq!(cursor(&rig), (0, 1));
        // Another target's inbox: this credential may not even ask.
        let elsewhere = signed(|said| said.target = "other".parse().unwrap());
        assert_eq!(problem(rig.block(story.agent.ack(&elsewhere, None)))["reason"], "not_readable");
        assert_eq!(problem(rig.block(story.alice.ack(&human(&alert), None)))["reason"], "not_readable");
        // Control: once it was read, the same statement holds.
        let lease = rig.block(story.agent.claim(&story.target, &"me".parse().unwrap(), 5)).unwrap();
        rig.block(story.agent.read(&story.target, lease.fence, alert.id)).unwrap();
        assert!(!rig.block(story.agent.ack(&human(&alert), None)).unwrap());
        assert_eq!(cursor(&rig), (1, 0));
    }

    [Ack6] fn ack_6_a_statement_of_another_form_is_none(seen) {
        let rig = Rig::start();
        rig.target("lotse");
        let token = rig.credential("agent", &["lotse"], Some("lotse"));
        let key = rig.ack_key("lotse", By::Human);
        let alert = submission("lotse", "interrupt-alert/1", json!(1));
        let good = ack(&alert, AckOutcome::Handled, By::Human, &key).to_value();
        let with = |path: &str, value: Value| {
            let mut changed = good.clone();
            *changed.pointer_mut(path).unwrap() = value;
            changed.to_string()
        };
        let mut extra = good.clone();
        extra["statement"]["note"] = "please".into();
        for body in [
            "{}".to_owned(),
            extra.to_string(),
            with("/statement/v", json!(2)),
            with("/statement/outcome", json!("seen")),
            with("/statement/time", json!("2026-01-01T00:00:00+00:00")),
            with("/signature", json!("ed25519:")),
            good.to_string().replacen('{', "{\"signature\":\"x\",", 1),
        ] {
            let request = http()
                .post(format!("{}/v1/acks", rig.base))
                .bearer_auth(token.expose())
                .header("content-type", "application/json")
                .body(body.clone());
            let (status, _, problem) = rig.raw(request);
            assert_eq!((status, &problem["reason"]), (400, &json!("ack_malformed")), "{body}");
            seen.problem(&problem);
        }
        assert_eq!(AckStatement::NAME, "statement");
    }
}
