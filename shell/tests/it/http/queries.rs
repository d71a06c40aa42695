//! Receipts, traces, the audit chain, checkpoints, status (RCP-4, AUD-1, AUD-3, AUD-8).

use awakener::client::ReceiptFilter;
use awakener_kernel::audit;
use awakener_kernel::ids::ContentHash;
use awakener_kernel::json;
use awakener_spec::ReceiptKind;
use awakener_tools::enforces_process;
use serde_json::json;

use super::super::support::*;

enforces_process! {
    [Rcp1, Rcp4] fn rcp_4_a_trace_tells_where_a_message_waits(_seen) {
        let rig = Rig::start();
        let story = rig.story();
        let mail = submission("lotse", "message/1", json!(1));
        let other = submission("lotse", "message/1", json!(2));
        for message in [&mail, &other] {
            rig.block(story.alice.submit(message, None)).unwrap();
        }
        let kinds = |trace: &awakener::http::wire::answers::Trace| -> Vec<ReceiptKind> {
            trace.ladder.iter().map(|rung| rung.receipt.kind).collect()
        };
        let trace = rig.block(story.alice.trace(mail.id)).unwrap();
        assert_eq!(kinds(&trace), [ReceiptKind::Persisted, ReceiptKind::Admitted]);
        assert_eq!(trace.stuck.unwrap().after, ReceiptKind::Admitted);
        let lease = rig.block(story.agent.claim(&story.target, &"me".parse().unwrap(), 5)).unwrap();
        rig.block(story.agent.read(&story.target, lease.fence, mail.id)).unwrap();
        let trace = rig.block(story.alice.trace(mail.id)).unwrap();
        let stuck = trace.stuck.unwrap();
        assert_eq!(stuck.after, ReceiptKind::InboxRead);
        assert!(stuck.waits_for.contains("turn"), "{}", stuck.waits_for);
        rig.block(story.agent.done(&story.target, lease.fence, mail.id, turn_id())).unwrap();
        let trace = rig.block(story.alice.trace(mail.id)).unwrap();
        assert_eq!(trace.stuck, None);
        assert_eq!(
            kinds(&trace)[..4],
            [ReceiptKind::Persisted, ReceiptKind::Admitted, ReceiptKind::InboxRead, ReceiptKind::DoneRecorded]
        );
        assert!(trace.ladder.is_sorted_by_key(|rung| (rung.since_admission_ms, rung.receipt.number)));
        // Filters are joined by "and".
        let count = |filter: ReceiptFilter| rig.block(rig.observer().receipts(&filter)).unwrap().receipts.len();
        let of = |message| ReceiptFilter { message: Some(message), ..ReceiptFilter::default() };
        assert_eq!((count(of(mail.id)), count(of(other.id))), (trace.ladder.len(), 2));
        assert_eq!(count(ReceiptFilter { kind: Some(ReceiptKind::InboxRead), ..of(mail.id) }), 1);
        assert_eq!(count(ReceiptFilter { kind: Some(ReceiptKind::InboxRead), ..of(other.id) }), 0);
        assert_eq!(count(ReceiptFilter { thread: Some(other.thread), ..ReceiptFilter::default() }), 2);
        assert_eq!(count(ReceiptFilter { thread: Some(other.thread), ..of(mail.id) }), 0);
        let tomorrow = awakener_kernel::time::Wall(now().0 + 86_400_000);
        assert_eq!(count(ReceiptFilter { since: Some(tomorrow), ..of(mail.id) }), 0);
        // Pages of receipts join without a gap.
        let all = rig.block(rig.observer().receipts(&ReceiptFilter::default())).unwrap();
        assert!(!all.more);
        let (mut after, mut joined) = (None, Vec::new());
        loop {
            let filter = ReceiptFilter { after, limit: Some(2), ..ReceiptFilter::default() };
            let part = rig.block(rig.observer().receipts(&filter)).unwrap();
            after = part.receipts.last().map(|receipt| receipt.number);
            joined.extend(part.receipts);
            if !part.more {
                break;
            }
        }
        assert_eq!(joined, all.receipts);
    }

    [Rcp4] fn rcp_4_hints_that_go_on_do_not_hide_where_a_message_waits(_seen) {
        let rig = Rig::with(|limits| limits.re_emission_base = awakener_kernel::time::Millis(300));
        let story = rig.story();
        let alert = submission("lotse", "interrupt-alert/1", json!(1));
        rig.block(story.alice.submit(&alert, None)).unwrap();
        let kinds = |trace: &awakener::http::wire::answers::Trace| -> Vec<ReceiptKind> {
            trace.ladder.iter().map(|rung| rung.receipt.kind).collect()
        };
        let minted = |kinds: &[ReceiptKind]| kinds.iter().filter(|kind| **kind == ReceiptKind::WakeMinted).count();
        let wait = |holds: &dyn Fn(&[ReceiptKind]) -> bool| loop {
            let trace = rig.block(rig.observer().trace(alert.id)).unwrap();
            if holds(&kinds(&trace)) {
                return trace;
            }
            std::thread::sleep(std::time::Duration::from_millis(10));
        };
        // Control: before anybody reads, the hint is what it waits for.
        let trace = wait(&|kinds| minted(kinds) == 1);
        assert_eq!(trace.stuck.unwrap().after, ReceiptKind::WakeMinted);
        let lease = rig.block(story.agent.claim(&story.target, &"me".parse().unwrap(), 5)).unwrap();
        rig.block(story.agent.read(&story.target, lease.fence, alert.id)).unwrap();
        let trace = wait(&|kinds| {
            let read = kinds.iter().position(|kind| *kind == ReceiptKind::InboxRead);
            read.is_some_and(|read| minted(&kinds[read..]) > 0)
        });
        let stuck = trace.stuck.unwrap();
        assert_eq!(stuck.after, ReceiptKind::InboxRead);
        assert!(stuck.waits_for.contains("the end of a turn"), "{}", stuck.waits_for);
    }

    [Aud1] fn aud_1_a_checkpoint_covers_the_chain_that_is_exported(_seen) {
        let rig = Rig::start();
        let story = rig.story();
        rig.block(story.alice.submit(&submission("lotse", "message/1", json!(1)), None)).unwrap();
        let part = rig.block(rig.observer().audit(1, 1_000)).unwrap();
        let stored: Vec<Vec<u8>> = part.entries.iter().map(|row| json::canonical(&row.entry)).collect();
        // Whoever has the export alone can walk it.
        let head = audit::verify(stored.iter().map(Vec::as_slice)).unwrap();
        assert_eq!((head.size, head.hash), (part.head.size, part.head.hash));
        let hashes: Vec<ContentHash> = stored.iter().map(|bytes| audit::hash(bytes)).collect();
        assert_eq!(hashes, part.entries.iter().map(|row| row.hash).collect::<Vec<_>>());
        // Control: one altered entry breaks it.
        let mut altered = stored.clone();
        let text = String::from_utf8(altered[3].clone()).unwrap().replacen("\"v\":1", "\"v\":2", 1);
        altered[3] = text.into_bytes();
        assert!(audit::verify(altered.iter().map(Vec::as_slice)).is_err());
        let signed = rig.block(rig.observer().checkpoint()).unwrap();
        let checkpoint = signed.verify(&rig.audit.public()).unwrap();
        assert_eq!((checkpoint.plane.as_str(), checkpoint.size), (PLANE, head.size));
        assert!(signed.verify(&rig.router.public()).is_err());
        // A longer chain has another head.
        rig.block(story.alice.submit(&submission("lotse", "message/1", json!(2)), None)).unwrap();
        let later = rig.block(rig.observer().checkpoint()).unwrap();
        assert!(later.document().size > checkpoint.size && later.document().head != checkpoint.head);
        let part = rig.block(rig.observer().audit(3, 2)).unwrap();
        assert_eq!(part.entries.iter().map(|row| row.position).collect::<Vec<_>>(), [3, 4]);
    }

    [Idn6] fn idn_6_the_status_shows_each_caller_its_own(_seen) {
        let rig = Rig::start();
        let story = rig.story();
        rig.target("other");
        let reader = rig.principal("reader", &["other"], None);
        let alert = submission("lotse", "interrupt-alert/1", json!(1));
        rig.block(story.alice.submit(&alert, None)).unwrap();
        let names = |client: &awakener::client::Client| -> Vec<String> {
            let status = rig.block(client.status()).unwrap();
            assert_eq!(status.could_not_read, []);
            status.targets.unwrap().iter().map(|target| target.target.to_string()).collect()
        };
        assert_eq!(names(&rig.observer()), ["lotse", "other"]);
        assert_eq!(names(&reader), ["other"]);
        assert_eq!(names(&story.alice), Vec::<String>::new());
        let status = rig.block(rig.observer().status()).unwrap();
        assert_eq!((status.mode.as_str(), status.plane.as_deref()), ("trial", Some(PLANE)));
        assert_eq!((status.tier0_open, status.stopped), (Some(true), Some(false)));
        let lotse = &status.targets.unwrap()[0];
        assert_eq!((lotse.last, lotse.cursor, lotse.armed, lotse.paused), (1, 0, true, false));
        assert_eq!(lotse.outstanding[0].message, alert.id);
        assert_eq!((lotse.queued[0].principal.as_str(), lotse.queued[0].unfinished), ("alice", 1));
        let keys = rig.block(story.alice.router_keys()).unwrap();
        assert_eq!(keys.keys.iter().map(|key| key.key_id).collect::<Vec<_>>(), [rig.router.key_id()]);
        rig.block(rig.client("").ready()).unwrap();
    }
}
