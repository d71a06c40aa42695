//! Where the plane listens, and for whom (PRT-3).

use awakener::http::problem::Problem;
use awakener_spec::{Class, Fault, Reason, Retry, Rule};
use awakener_tools::enforces_process;
use serde_json::json;

use super::super::support::*;

enforces_process! {
    [Prt3] fn prt_3_only_loopback_by_its_own_name_and_no_foreign_page(seen) {
        let rig = Rig::start();
        let ask = |headers: &[(&str, &str)]| {
            let mut request = http().get(format!("{}/livez", rig.base));
            for (name, value) in headers {
                request = request.header(*name, *value);
            }
            rig.raw(request)
        };
        for headers in [
            &[("host", "evil.example")][..],
            &[("host", "127.0.0.1.evil.example:80")],
            &[("host", "10.0.0.1")],
            &[("origin", "http://evil.example")],
            &[("origin", "https://127.0.0.1")],
            &[("origin", "null")],
        ] {
            let (status, _, problem) = ask(headers);
            assert_eq!((status, &problem["reason"]), (403, &json!("not_loopback")), "{headers:?}");
            seen.problem(&problem);
        }
        for headers in [&[][..], &[("host", "localhost:7717")], &[("origin", "http://localhost:3000")]] {
            let (status, answer, body) = ask(headers);
            assert_eq!((status, body), (200, json!({"v": 1, "ok": true})), "{headers:?}");
            assert_eq!(answer["cache-control"], "no-store");
            assert!(answer.contains_key("x-request-id"));
        }
    }

    [Prt3] fn prt_3_nothing_but_loopback_is_bound(seen) {
        let rig = Rig::start();
        for address in ["0.0.0.0:0", "[::]:0", "192.0.2.1:0"] {
            let refused = rig.block(awakener::http::bind(address.parse().unwrap())).unwrap_err();
            assert_eq!(refused.reason, Reason::NotLoopback, "{address}");
            seen.refusal(refused.reason);
        }
        let taken = rig.base.trim_start_matches("http://").parse().unwrap();
        assert_eq!(rig.block(awakener::http::bind(taken)).unwrap_err().reason, Reason::PortTaken);
        rig.block(awakener::http::bind("127.0.0.1:0".parse().unwrap())).unwrap();
    }
}

#[test]
fn adm_2_every_reason_is_a_problem_with_its_rule() {
    for reason in Reason::ALL {
        let problem = serde_json::to_value(Problem::of(*reason, "why")).unwrap();
        let name = |member: &str| problem[member].as_str().unwrap().to_owned();
        assert_eq!(name("reason"), reason.name());
        assert_eq!(Rule::from_id(&name("rule")), Some(reason.rule()));
        assert!(Fault::from_name(&name("fault")).is_some() && Retry::from_name(&name("retry")).is_some());
        assert_eq!(problem["status"], reason.status());
        assert!((400..600).contains(&reason.status()), "{reason}");
        assert_eq!(name("type"), format!("urn:awakener:problem:{}", reason.name()));
        assert!(!name("title").is_empty() && !name("next").is_empty() && name("detail") == "why");
        let back: Problem = serde_json::from_value(problem).unwrap();
        assert_eq!(back.reason(), Some(*reason));
    }
    let withheld = Problem::withheld(Class::Unminted, "why");
    assert_eq!((withheld.class(), withheld.status, withheld.rule), (Some(Class::Unminted), 409, Rule::Dsp7));
}

#[test]
fn con_1_a_client_tells_a_refusal_from_silence_and_from_nonsense() {
    use awakener::client::{Client, ClientError};
    let runtime = tokio::runtime::Runtime::new().unwrap();
    // Nobody listens where nobody is bound any more.
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let client = Client::new(&format!("http://{free}"), "x").unwrap();
    let error = runtime.block_on(client.status()).unwrap_err();
    assert!(matches!(error, ClientError::Unreachable(_)), "{error}");
    assert_eq!(error.reason(), Some(Reason::Unreachable));
    // Takes the request and hangs up, or says nothing in time: nobody knows what came of it.
    let speak = |answer: &'static str| {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        std::thread::spawn(move || {
            use std::io::{Read as _, Write as _};
            let (mut stream, _) = listener.accept().unwrap();
            let mut bytes = [0; 4096];
            let _ = stream.read(&mut bytes);
            stream.write_all(answer.as_bytes()).unwrap();
            // Held open until the client has given up or hung up.
            if answer.is_empty() {
                let _ = stream.read(&mut bytes);
            }
        });
        let client = Client::new(&format!("http://{address}"), "x").unwrap();
        let client = client.with_timeout(std::time::Duration::from_millis(500));
        runtime.block_on(client.status()).unwrap_err()
    };
    let error = speak("");
    assert!(matches!(error, ClientError::Timeout(_)), "{error}");
    assert_eq!((error.reason(), error.retry()), (Some(Reason::OutcomeUnknown), Retry::SameId));
    let error = speak("HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhello");
    assert!(matches!(error, ClientError::Malformed(_)), "{error}");
    assert!(Client::new("https://127.0.0.1", "x").is_err() && Client::new("nonsense", "x").is_err());
}
