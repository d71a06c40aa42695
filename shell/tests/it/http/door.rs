//! What comes in: form, order of judgement, repeats, rates (ADM-1, ADM-2, ADM-7, ADM-9, PRT-2).

use awakener_kernel::ids::MessageId;
use awakener_kernel::values::By;
use awakener_kernel::wire::Submission;
use awakener_tools::enforces_process;
use serde_json::{Value, json};

use super::super::support::*;

fn post(rig: &Rig, token: &str, body: impl Into<reqwest::Body>) -> (u16, reqwest::header::HeaderMap, Value) {
    rig.raw(
        http()
            .post(format!("{}/v1/messages", rig.base))
            .bearer_auth(token)
            .header("content-type", "application/json")
            .body(body),
    )
}

/// Entries of refusals that reached no machine.
fn refusals(rig: &Rig, reason: &str) -> usize {
    let because = json!({"refused": {"because": reason}});
    rig.audited()
        .iter()
        .filter(|entry| entry["machine"] == "admission" && entry["outcome"] == because)
        .count()
}

enforces_process! {
    [Adm9, Adm2] fn adm_9_what_is_no_submission_is_refused_audited_and_never_stored(seen) {
        let rig = Rig::start();
        rig.target("lotse");
        let token = rig.credential("alice", &[], None);
        let good = submission("lotse", "message/1", json!({"secret": "wide-open-sesame"})).to_value().to_string();
        let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
        let with = |member: &str| format!("{{{member},{}", &good[1..]);
        let without = |member: &str| {
            let mut value: Value = serde_json::from_str(&good).unwrap();
            value.as_object_mut().unwrap().remove(member);
            value.to_string()
        };
        let mut bad_utf8 = good.clone().into_bytes();
        bad_utf8[20] = 0xff;
        let bad: Vec<(&str, Vec<u8>)> = vec![
            ("nothing", Vec::new()),
            ("no JSON", b"wide-open-sesame".to_vec()),
            ("an array", format!("[{good}]").into_bytes()),
            ("cut short", good.as_bytes()[..good.len() - 1].to_vec()),
            ("something after it", format!("{good} 1").into_bytes()),
            ("the same key twice", with("\"intent\":\"x\"").into_bytes()),
            ("the same key twice, escaped", with("\"int\\u0065nt\":\"x\"").into_bytes()),
            ("invalid UTF-8", bad_utf8),
            ("a byte order mark", [b"\xef\xbb\xbf", good.as_bytes()].concat()),
            ("a lone surrogate", good.replace("wide-open", "\\ud800").into_bytes()),
            ("nested too deep", with(&format!("\"body2\":{deep}")).into_bytes()[..80_000].to_vec()),
            ("an unknown member", with("\"tier\":0").into_bytes()),
            ("a missing member", without("thread").into_bytes()),
            ("a number that is none everywhere", good.replace("\"wide-open-sesame\"", "1e999").into_bytes()),
        ];
        let before = refusals(&rig, "malformed");
        let count = bad.len();
        for (what, bytes) in bad {
            let (status, headers, problem) = post(&rig, token.expose(), bytes);
            assert_eq!((status, &problem["reason"]), (400, &json!("malformed")), "{what}: {problem}");
            assert_eq!(headers["content-type"], "application/problem+json");
            seen.problem(&problem);
        }
        assert_eq!(refusals(&rig, "malformed") - before, count);
        assert_eq!(rig.stored(), 0);
        let chain = json!(rig.audited()).to_string();
        assert!(!chain.contains("sesame") && chain.contains("alice"));
        // Control: the same text without a fault is admitted.
        assert_eq!(post(&rig, token.expose(), good).0, 201);
        assert_eq!(rig.stored(), 1);
    }

    [Adm9] fn adm_9_a_body_in_another_clothing_is_refused(seen) {
        let rig = Rig::start();
        rig.target("lotse");
        let token = rig.credential("alice", &[], None);
        let send = |headers: &[(&str, &str)]| {
            let body = word(message_id().as_bytes()[13].into());
            let good = submission("lotse", "message/1", json!(body)).to_value().to_string();
            let mut request = http()
                .post(format!("{}/v1/messages", rig.base))
                .bearer_auth(token.expose())
                .body(good);
            for (name, value) in headers {
                request = request.header(*name, *value);
            }
            let (status, _, answer) = rig.raw(request);
            (status, answer)
        };
        for headers in [
            &[][..],
            &[("content-type", "text/plain")],
            &[("content-type", "application/json; charset=latin1")],
            &[("content-type", "application/json"), ("content-encoding", "gzip")],
            &[("content-type", "application/json"), ("content-type", "application/json")],
            &[("content-type", "application/json"), ("awakener-lease", "07")],
            &[("content-type", "application/json"), ("awakener-lease", "-1")],
        ] {
            let (status, problem) = send(headers);
            assert_eq!((status, &problem["reason"]), (400, &json!("malformed")), "{headers:?}");
            seen.problem(&problem);
        }
        assert_eq!(rig.stored(), 0);
        assert_eq!(send(&[("content-type", "application/json; charset=utf-8")]).0, 201);
        // A trace context that comes with it is kept, one that is none is left aside (AUD-6).
        for (sent, kept) in [
            ("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", true),
            ("00-00000000000000000000000000000000-00f067aa0ba902b7-01", false),
            ("00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01", false),
            ("nonsense", false),
        ] {
            let (status, answer) = send(&[("content-type", "application/json"), ("traceparent", sent)]);
            assert_eq!(status, 201, "{answer}");
            let id = answer["id"].as_str().unwrap().parse().unwrap();
            let message = rig.block(rig.client(token.expose()).message(id)).unwrap();
            assert_eq!(message.traceparent, kept.then(|| sent.to_owned()));
        }
    }

    [Adm2] fn adm_2_a_body_that_is_too_large_is_that_whoever_sends_it(seen) {
        let rig = Rig::with(|limits| limits.body_bytes = 1_000);
        rig.target("lotse");
        let token = rig.credential("alice", &[], None);
        let huge = vec![b' '; 10 << 20];
        for (who, audited) in [("nobody", 0), (token.expose(), 1)] {
            let before = refusals(&rig, "too_large");
            let (status, _, problem) = post(&rig, who, huge.clone());
            assert_eq!((status, &problem["reason"]), (413, &json!("too_large")), "{problem}");
            assert_eq!(refusals(&rig, "too_large") - before, audited);
            seen.problem(&problem);
        }
        // The bound is that of the body: one byte over it is too much, the bound itself is not.
        let sized = |bytes: usize| {
            let body = submission("lotse", "message/1", json!("x".repeat(bytes - 2)));
            post(&rig, token.expose(), body.to_value().to_string())
        };
        assert_eq!(sized(1_000).0, 201);
        let (status, _, problem) = sized(1_001);
        assert_eq!((status, &problem["reason"]), (413, &json!("too_large")));
        assert_eq!(rig.stored(), 1);
    }

    [Adm1, Adm2, Adm3, Adm8, Adm13] fn adm_2_the_first_failure_wins_in_the_one_order(seen) {
        let rig = Rig::start();
        let agent = rig.principal("alice", &[], None);
        rig.principal("bob", &[], None);
        let mut message = submission("nowhere", "gossip/1", json!(1));
        message.from = Some("bob".parse().unwrap());
        let refused = |message: &Submission, reason: &str| {
            let problem = problem(rig.block(agent.submit(message, None)));
            assert_eq!(problem["reason"], reason, "{problem}");
            seen.problem(&problem);
        };
        // Each step mends one fault, and the next in the order shows.
        refused(&message, "principal_mismatch");
        message.from = Some("alice".parse().unwrap());
        refused(&message, "unknown_schema");
        message.schema = "interrupt-alert/1".parse().unwrap();
        refused(&message, "unknown_target");
        message.target = rig.target("nowhere");
        let id = message.id;
        message.id = MessageId::from_parts(now().0 - 40 * 86_400_000, [7; 10]);
        refused(&message, "too_old");
        message.id = MessageId::from_parts(now().0 + 600_000, [7; 10]);
        refused(&message, "malformed");
        message.id = id;
        refused(&message, "target_cannot_ack");
        rig.ack_key("nowhere", By::Agent);
        refused(&message, "roster_absent");
        rig.roster(&[("bob", "nowhere")]);
        refused(&message, "not_on_roster");
        rig.roster(&[("alice", "nowhere")]);
        assert_eq!(rig.stored(), 0);
        let admitted = rig.block(agent.submit(&message, None)).unwrap();
        assert_eq!((admitted.tier.get(), admitted.seq), (0, 1));
        // A conflict stands before everything that follows it in the order, and the first message stands.
        message.body = json!(2);
        refused(&message, "duplicate_conflict");
        assert_eq!(rig.stored(), 1);
        // Who acts for a target never wakes it, listed or not.
        let own = rig.principal("carol", &["nowhere"], Some("nowhere"));
        rig.roster(&[("alice", "nowhere"), ("carol", "nowhere")]);
        let wake = submission("nowhere", "interrupt-alert/1", json!(1));
        let refusal = problem(rig.block(own.submit(&wake, None)));
        assert_eq!((&refusal["reason"], &refusal["status"]), (&json!("self_wake"), &json!(403)));
    }

    [Adm7] fn adm_7_a_repeat_gets_the_first_result_again_also_after_a_restart(_seen) {
        let mut rig = Rig::start();
        rig.target("lotse");
        let alice = rig.credential("alice", &[], None);
        let bob = rig.credential("bob", &[], None);
        let message = submission("lotse", "message/1", json!({"n": 1}));
        let first = rig.block(rig.client(alice.expose()).submit(&message, None)).unwrap();
        assert!(!first.repeat);
        assert_eq!(first.content_sha256, message.content_hash());
        let again = |rig: &Rig| rig.block(rig.client(alice.expose()).submit(&message, None)).unwrap();
        let mut expected = first.clone();
        expected.repeat = true;
        assert_eq!(again(&rig), expected);
        rig.restart();
        assert_eq!(again(&rig), expected);
        assert_eq!(rig.stored(), 1);
        // Another sender cannot use the id as well: an ACK or a reply could not say which message it means.
        let taken = problem(rig.block(rig.client(bob.expose()).submit(&message, None)));
        assert_eq!(taken["reason"], "duplicate_conflict");
        assert_eq!(rig.stored(), 1);
        // Many at once: still one.
        let message = submission("lotse", "message/1", json!({"n": 2}));
        let results = rig.block(async {
            let client = rig.client(alice.expose());
            let calls: Vec<_> = (0..16)
                .map(|_| {
                    let (client, message) = (client.clone(), message.clone());
                    tokio::spawn(async move { client.submit(&message, None).await.unwrap() })
                })
                .collect();
            let mut results = Vec::new();
            for call in calls {
                results.push(call.await.unwrap());
            }
            results
        });
        assert_eq!(results.iter().filter(|result| !result.repeat).count(), 1);
        assert!(results.iter().all(|result| result.seq == 2));
    }

    [Prt2] fn prt_2_a_principal_has_its_rate_and_no_more(seen) {
        let rig = Rig::with(|limits| limits.rate_per_minute = 2);
        rig.target("lotse");
        let token = rig.credential("alice", &[], None);
        let bob = rig.principal("bob", &[], None);
        let send = || post(&rig, token.expose(), submission("lotse", "message/1", message_id().to_string().into())
            .to_value().to_string());
        assert_eq!((send().0, send().0), (201, 201));
        let (status, headers, problem) = send();
        assert_eq!((status, &problem["reason"]), (429, &json!("rate_limited")), "{problem}");
        seen.problem(&problem);
        let wait: u64 = headers["retry-after"].to_str().unwrap().parse().unwrap();
        assert!((1..=30).contains(&wait), "{wait}");
        assert!(problem["retry_after_ms"].as_u64().unwrap() <= 30_000);
        // Others are not held to it, it leaves no entry each, and a malformed body does not get around it.
        rig.block(bob.submit(&submission("lotse", "message/1", json!(1)), None)).unwrap();
        assert_eq!(post(&rig, token.expose(), "nonsense").0, 429);
        assert_eq!((refusals(&rig, "rate_limited"), refusals(&rig, "malformed")), (0, 0));
        assert_eq!(rig.stored(), 3);
    }
}
