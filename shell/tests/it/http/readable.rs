//! Who may see and do what (IDN-6, ADM-13).

use awakener::client::{ReadFrom, ReceiptFilter};
use awakener_kernel::ids::Target;
use awakener_tools::enforces_process;
use serde_json::json;

use super::super::support::*;

enforces_process! {
    [Idn6] fn idn_6_a_credential_reads_exactly_the_targets_that_it_names(seen) {
        let rig = Rig::start();
        for name in ["a", "ab"] {
            rig.target(name);
        }
        let reader = rig.credential("reader", &["a"], None);
        let client = rig.client(reader.expose());
        let sender = rig.principal("sender", &[], None);
        let to_a = submission("a", "message/1", json!(1));
        let to_ab = submission("ab", "message/1", json!(2));
        for message in [&to_a, &to_ab] {
            rig.block(sender.submit(message, None)).unwrap();
        }
        let target = |name: &str| name.parse::<Target>().unwrap();
        let page = rig.block(client.inbox(&target("a"), &ReadFrom::Start, None, None)).unwrap();
        assert_eq!(page.total, 1);
        // A longer name, one that does not exist, and one that others can read: all alike.
        for name in ["ab", "zz", "b"] {
            let problem = problem(rig.block(client.inbox(&target(name), &ReadFrom::Start, None, None)));
            assert_eq!((&problem["reason"], &problem["rule"]), (&json!("not_readable"), &json!("IDN-6")));
            seen.problem(&problem);
        }
        for odd in ["*", "%2A", "a%00", "A", "a%2Fb", ".", "%FF"] {
            let (status, _, problem) = rig.raw(
                http().get(format!("{}/v1/inbox/{odd}", rig.base)).bearer_auth(reader.expose()),
            );
            assert!(matches!(status, 400 | 404), "{odd}: {status} {problem}");
            assert_eq!(problem["reason"], "malformed", "{odd}");
        }
        // The same holds for receipts, single messages and traces.
        let filter = |name: &str| ReceiptFilter { target: Some(target(name)), ..ReceiptFilter::default() };
        assert!(!rig.block(client.receipts(&filter("a"))).unwrap().receipts.is_empty());
        assert_eq!(problem(rig.block(client.receipts(&filter("ab"))))["reason"], "not_readable");
        let all = rig.block(client.receipts(&ReceiptFilter::default())).unwrap();
        assert!(all.receipts.iter().all(|receipt| receipt.target == "a") && !all.receipts.is_empty());
        assert_eq!(rig.block(client.message(to_a.id)).unwrap().body, json!(1));
        assert_eq!(problem(rig.block(client.message(to_ab.id)))["reason"], "unknown_message");
        assert_eq!(problem(rig.block(client.trace(to_ab.id)))["reason"], "unknown_message");
        let by_message = ReceiptFilter { message: Some(to_ab.id), ..ReceiptFilter::default() };
        assert!(rig.block(client.receipts(&by_message)).unwrap().receipts.is_empty());
        // The sender sees its own, the observer everything.
        assert_eq!(rig.block(sender.message(to_ab.id)).unwrap().body, json!(2));
        assert!(!rig.block(sender.receipts(&by_message)).unwrap().receipts.is_empty());
        // Who observes sees what becomes of a message, and not what it says; a daemon sees neither.
        let observer = rig.observer();
        assert_eq!(rig.block(observer.trace(to_ab.id)).unwrap().message.id, to_ab.id);
        assert!(!rig.block(observer.receipts(&by_message)).unwrap().receipts.is_empty());
        assert_eq!(problem(rig.block(observer.message(to_ab.id)))["reason"], "unknown_message");
        let daemon = rig.daemon();
        for watcher in [&observer, &daemon] {
            let page = rig.block(watcher.inbox(&target("ab"), &ReadFrom::Start, None, None));
            assert_eq!(problem(page)["reason"], "not_readable");
        }
        assert_eq!(problem(rig.block(daemon.trace(to_ab.id)))["reason"], "unknown_message");
        assert_eq!(problem(rig.block(daemon.receipts(&by_message)))["reason"], "unauthenticated");
        // A star is no name, so no credential can be given one.
        let star = rig.command("register_principal", json!({"principal": "r2", "may_read": ["*"],
            "credential": reader.hash()}));
        assert_eq!(problem(rig.block(client.operator(&star)))["reason"], "operator_malformed");
    }

    [Adm13] fn adm_13_only_who_acts_for_a_target_takes_its_work(seen) {
        let rig = Rig::start();
        let story = rig.story();
        rig.target("other");
        // May read it, and that is all.
        let reader = rig.principal("reader", &["lotse", "other"], Some("other"));
        rig.block(story.alice.submit(&submission("lotse", "message/1", json!(1)), None)).unwrap();
        let holder = "h".parse().unwrap();
        for client in [&reader, &story.alice, &rig.observer(), &rig.daemon()] {
            let problem = problem(rig.block(client.claim(&story.target, &holder, 1)));
            assert_eq!(problem["reason"], "not_readable", "{problem}");
            seen.problem(&problem);
        }
        assert_eq!(rig.block(story.agent.claim(&story.target, &holder, 1)).unwrap().messages.len(), 1);
    }

    [Adm2] fn adm_2_without_a_valid_credential_nothing_is_served(seen) {
        let rig = Rig::start();
        let token = rig.credential("alice", &[], None);
        let ask = |headers: &[(&str, &str)]| {
            let mut request = http().get(format!("{}/v1/status", rig.base));
            for (name, value) in headers {
                request = request.header(*name, *value);
            }
            rig.raw(request)
        };
        let bearer = format!("Bearer {}", token.expose());
        let basic = format!("Basic {}", token.expose());
        for headers in [
            &[][..],
            &[("authorization", "Bearer ")],
            &[("authorization", "Bearer nonsense")],
            &[("authorization", token.expose())],
            &[("authorization", basic.as_str())],
            &[("authorization", bearer.as_str()), ("authorization", bearer.as_str())],
        ] {
            let (status, answer, problem) = ask(headers);
            assert_eq!((status, &problem["reason"]), (401, &json!("unauthenticated")), "{headers:?}");
            assert_eq!(answer["www-authenticate"], "Bearer");
            seen.problem(&problem);
        }
        assert_eq!(ask(&[("authorization", bearer.as_str())]).0, 200);
        // Folded: counted, without an entry each.
        let status = rig.block(rig.observer().status()).unwrap();
        assert_eq!(status.refused_unauthenticated, 6);
        rig.act("revoke_principal", json!({"principal": "alice"}));
        assert_eq!(ask(&[("authorization", bearer.as_str())]).0, 401);
        // A principal's credential opens no door of daemons and observers.
        let bob = rig.principal("bob", &[], None);
        assert_eq!(problem(rig.block(bob.sweep(&[])))["reason"], "unauthenticated");
        assert_eq!(problem(rig.block(bob.audit(1, 1)))["reason"], "unauthenticated");
        assert_eq!(problem(rig.block(bob.checkpoint()))["reason"], "unauthenticated");
        assert_eq!(problem(rig.block(rig.observer().sweep(&[])))["reason"], "unauthenticated");
    }
}
