//! Work under a lease, from claim to result (INB-7 to INB-9, STN-6, ADM-12).

use awakener::http::wire::requests::TurnRecord;
use awakener_kernel::ids::Fence;
use awakener_kernel::values::Finish;
use awakener_tools::enforces_process;
use serde_json::json;

use super::super::support::*;

enforces_process! {
    [Inb7, Inb9, Stn6, Inb2] fn inb_7_work_is_taken_read_answered_and_finished_once(seen) {
        let rig = Rig::start();
        let story = rig.story();
        let (agent, target) = (&story.agent, &story.target);
        let (me, other) = ("me".parse().unwrap(), "other".parse().unwrap());
        let refused = |problem: serde_json::Value, reason: &str| {
            assert_eq!(problem["reason"], reason, "{problem}");
            seen.problem(&problem);
        };
        refused(problem(rig.block(agent.claim(target, &me, 5))), "nothing_to_claim");
        let first = submission("lotse", "message/1", json!({"text": "one"}));
        let second = submission("lotse", "message/1", json!({"text": "two"}));
        for message in [&first, &second] {
            rig.block(story.alice.submit(message, None)).unwrap();
        }
        refused(problem(rig.block(agent.claim(target, &me, 0))), "malformed");
        let lease = rig.block(agent.claim(target, &me, 5)).unwrap();
        assert_eq!((lease.repeat, lease.messages.len()), (false, 2));
        assert!(lease.lease_ms > 0 && lease.lease_ms <= 60_000);
        let again = rig.block(agent.claim(target, &me, 5)).unwrap();
        assert_eq!((again.repeat, again.fence, &again.messages), (true, lease.fence, &lease.messages));
        refused(problem(rig.block(agent.claim(target, &other, 5))), "lease_held");
        let fence = lease.fence;
        let stale = Fence(fence.0 + 1);
        let turn = turn_id();
        // Nothing happens without reading, and nothing at all under another token.
        refused(problem(rig.block(agent.reply(target, fence, first.id, turn, "x"))), "not_claimed");
        refused(problem(rig.block(agent.read(target, stale, first.id))), "lost_lease");
        refused(problem(rig.block(agent.renew(target, stale))), "lost_lease");
        refused(problem(rig.block(agent.read(target, fence, message_id()))), "unknown_message");
        let read = rig.block(agent.read(target, fence, first.id)).unwrap();
        assert_eq!((read.attempt, read.repeat), (Some(1), false));
        assert_eq!((&read.message.body, read.message.head.id), (&json!({"text": "one"}), first.id));
        let read = rig.block(agent.read(target, fence, first.id)).unwrap();
        assert_eq!((read.attempt, read.repeat), (None, true));
        assert_eq!(read.message.body, json!({"text": "one"}));
        rig.block(agent.renew(target, fence)).unwrap();
        let record = TurnRecord {
            directive_sha256: first.content_hash(),
            model: "fake".into(),
            window: 8_000,
            budget: 1_000,
            input_tokens: 120,
            output_tokens: 7,
        };
        let finish = |finish| {
            rig.block(agent.finish_turn(target, fence, first.id, turn, finish, Some(record.clone())))
        };
        assert!(!finish(Finish::Complete).unwrap());
        assert!(finish(Finish::Complete).unwrap());
        refused(problem(finish(Finish::Timeout)), "result_conflict");
        refused(problem(rig.block(agent.reply(target, fence, first.id, turn, ""))), "malformed");
        assert!(!rig.block(agent.reply(target, fence, first.id, turn, "done \"it\"")).unwrap());
        // The result stands, also when the answer to it was lost; another one does not replace it.
        assert!(rig.block(agent.reply(target, fence, first.id, turn, "done \"it\"")).unwrap());
        refused(problem(rig.block(agent.reply(target, fence, first.id, turn, "other"))), "result_conflict");
        refused(problem(rig.block(agent.done(target, fence, first.id, turn))), "result_conflict");
        let whole = rig.block(story.alice.message(first.id)).unwrap();
        assert_eq!(whole.head.state.turn.unwrap().record, Some(record.clone()));
        let response = whole.head.state.response.unwrap();
        assert_eq!((response.kind.as_str(), response.body.as_deref()), ("reply", Some("done \"it\"")));
        assert_eq!(whole.head.state.finished.as_deref(), Some("responded"));
        refused(problem(rig.block(agent.read(target, fence, first.id))), "already_finished");
        // What was not finished goes back and can be taken by another; the old token has no power any more.
        rig.block(agent.release(target, fence)).unwrap();
        refused(problem(rig.block(agent.release(target, fence))), "lost_lease");
        let next = rig.block(agent.claim(target, &other, 5)).unwrap();
        assert_eq!((next.messages.len(), next.messages[0].id), (1, second.id));
        assert!(next.fence > fence);
        refused(problem(rig.block(agent.silence(target, fence, second.id, turn, "late"))), "lost_lease");
        rig.block(agent.read(target, next.fence, second.id)).unwrap();
        assert!(!rig.block(agent.silence(target, next.fence, second.id, turn_id(), "nothing to add")).unwrap());
        let status = rig.block(rig.observer().status()).unwrap().targets.unwrap();
        assert_eq!((status[0].last, status[0].cursor, status[0].outstanding.len()), (2, 2, 0));
        assert_eq!(status[0].lease.as_ref().map(|lease| lease.holder.as_str()), Some("other"));
    }

    [Inb8] fn inb_8_work_that_is_read_too_often_is_set_aside_and_an_alert_stays_outstanding(_seen) {
        let rig = Rig::with(|limits| limits.attempts = 2);
        let story = rig.story();
        let alert = submission("lotse", "interrupt-alert/1", json!("alert"));
        let mail = submission("lotse", "message/1", json!("mail"));
        for message in [&alert, &mail] {
            rig.block(story.alice.submit(message, None)).unwrap();
        }
        let me = "me".parse().unwrap();
        for attempt in [1, 2] {
            // A claim by itself costs nothing.
            let lease = rig.block(story.agent.claim(&story.target, &me, 5)).unwrap();
            rig.block(story.agent.release(&story.target, lease.fence)).unwrap();
            let lease = rig.block(story.agent.claim(&story.target, &me, 5)).unwrap();
            assert_eq!(lease.messages.len(), 2);
            for message in [&alert, &mail] {
                let read = rig.block(story.agent.read(&story.target, lease.fence, message.id)).unwrap();
                assert_eq!(read.attempt, Some(attempt));
            }
            rig.block(story.agent.release(&story.target, lease.fence)).unwrap();
        }
        assert_eq!(problem(rig.block(story.agent.claim(&story.target, &me, 5)))["reason"], "nothing_to_claim");
        let state = |id| rig.block(story.alice.message(id)).unwrap().head.state;
        assert_eq!((state(mail.id).quarantined, state(mail.id).finished.as_deref()), (true, Some("quarantined")));
        assert_eq!((state(alert.id).quarantined, state(alert.id).finished), (true, None));
        let status = rig.block(rig.observer().status()).unwrap().targets.unwrap();
        assert!(status[0].outstanding[0].quarantined && status[0].cursor == 0);
        // The operator gives it back, and it can be worked on again.
        rig.act("release_quarantine", json!({"target": "lotse", "message": alert.id}));
        let lease = rig.block(story.agent.claim(&story.target, &me, 5)).unwrap();
        assert_eq!(lease.messages.iter().map(|head| head.id).collect::<Vec<_>>(), [alert.id]);
    }

    [Adm12] fn adm_12_what_is_sent_at_work_has_that_work_as_its_cause(seen) {
        let rig = Rig::start();
        let story = rig.story();
        rig.target("other");
        let first = submission("lotse", "message/1", json!(1));
        rig.block(story.alice.submit(&first, None)).unwrap();
        let idle = rig.block(story.agent.submit(&submission("other", "message/1", json!("idle")), None)).unwrap();
        assert_eq!((idle.cause, idle.depth), (None, 0));
        let lease = rig.block(story.agent.claim(&story.target, &"me".parse().unwrap(), 1)).unwrap();
        let follow = submission("other", "message/1", json!(2));
        let admitted = rig.block(story.agent.submit(&follow, Some(lease.fence))).unwrap();
        assert_eq!((admitted.cause, admitted.depth), (Some(first.id), 1));
        // Also without showing the lease: the cause is the server's to know.
        let hidden = submission("other", "message/1", json!("hidden"));
        let hidden = rig.block(story.agent.submit(&hidden, None)).unwrap();
        assert_eq!((hidden.cause, hidden.depth), (Some(first.id), 1));
        // A repeat says the same, also when the lease is over by then; a new one under a dead lease is refused.
        rig.block(story.agent.release(&story.target, lease.fence)).unwrap();
        let again = rig.block(story.agent.submit(&follow, Some(lease.fence))).unwrap();
        assert_eq!((again.cause, again.depth, again.repeat), (Some(first.id), 1, true));
        let late = problem(rig.block(story.agent.submit(&submission("other", "message/1", json!(3)), Some(lease.fence))));
        assert_eq!(late["reason"], "lost_lease");
        seen.problem(&late);
        // Who acts for nothing holds no lease.
        let made_up = problem(rig.block(story.alice.submit(&submission("other", "message/1", json!(4)), Some(lease.fence))));
        assert_eq!(made_up["reason"], "lost_lease");
    }

    [Adm9] fn adm_9_the_small_documents_have_exactly_their_members(seen) {
        let rig = Rig::start();
        rig.target("lotse");
        let token = rig.credential("agent", &["lotse"], Some("lotse"));
        let send = |path: &str, body: &str| {
            let request = http()
                .post(format!("{}/v1/inbox/lotse/{path}", rig.base))
                .bearer_auth(token.expose())
                .header("content-type", "application/json")
                .body(body.to_owned());
            rig.raw(request)
        };
        for (path, body) in [
            ("claim", r#"{"holder":"h","max":1}"#),
            ("claim", r#"{"v":2,"holder":"h","max":1}"#),
            ("claim", r#"{"v":1,"holder":"h","max":1,"force":true}"#),
            ("claim", r#"{"v":1,"holder":"h","max":1,"max":2}"#),
            ("claim", r#"{"v":1,"holder":"No Name","max":1}"#),
            ("claim", r#"{"v":1,"holder":"h","max":1.0}"#),
            ("claim", r#"{"v":1,"holder":"h","max":-1}"#),
            ("claim", r#"[1,"h",1]"#),
            ("renew", r#"{"v":1,"fence":"1"}"#),
            ("renew", r#"{"v":1,"fence":9007199254740993}"#),
            ("read", r#"{"v":1,"fence":1,"message":"00000000-0000-4000-8000-000000000000"}"#),
            ("turns", r#"{"v":1,"fence":1,"message":"01890a5d-ac96-774b-bcce-b302099a8057",
                "turn":"01890a5d-ac96-774b-bcce-b302099a8057","finish":"fine"}"#),
            ("turns", r#"{"v":1,"fence":1,"message":"01890a5d-ac96-774b-bcce-b302099a8057",
                "turn":"01890a5d-ac96-774b-bcce-b302099a8057","finish":"complete","record":["x"]}"#),
        ] {
            let (status, _, problem) = send(path, body);
            assert_eq!((status, &problem["reason"]), (400, &json!("malformed")), "{path} {body}: {problem}");
            seen.problem(&problem);
        }
        // Control: the right form gets through to the mailbox.
        assert_eq!(send("claim", r#"{"v":1,"holder":"h","max":1}"#).2["reason"], "nothing_to_claim");
    }
}
