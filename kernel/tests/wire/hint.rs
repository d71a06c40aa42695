//! The hint: one form, and every other one is malformed.

use awakener_kernel::ids::{Form, Nonce, Token};
use awakener_kernel::json::FaultKind;
use awakener_kernel::time::{Millis, Wall};
use awakener_kernel::wire::{self, Domain, Hint, Malformed, ParsedHint, UnsignedHint};
use awakener_tools::enforces;
use proptest::prelude::*;
use serde_json::Value;

use crate::common::{encoded, id_of, public, replace, router, sample, sample_text};

fn malformed(text: &str) -> Malformed {
    ParsedHint::parse(text.as_bytes())
        .map(|hint| panic!("{hint:?} must be malformed"))
        .unwrap_or_else(|why| why)
}

#[test]
fn sig_1_the_hint_of_the_design_is_read_and_verifies() {
    let parsed = ParsedHint::parse(sample_text().as_bytes()).unwrap();
    assert_eq!(parsed.hint, sample());
    assert_eq!(parsed.source, id_of(&router()));
    assert_eq!(parsed.subject, sample().target);
    assert_eq!(wire::verify(&public(&router()), parsed.signing_bytes(), &parsed.signature), Ok(()));
}

#[test]
fn sig_3_the_signed_bytes_are_the_domain_line_and_the_canonical_form() {
    let key = id_of(&router()).hex().to_string();
    let expected = [
        "awakener-wake-v1\n{\"data\":{\"expires_at\":\"2026-08-17T12:00:30Z\",\"freshness_token\":42,",
        "\"message_id\":\"019f0a1b-2c00-7abc-9def-0123456789ab\",\"nonce\":\"-_v7-_v7-_v7-_v7-_v7-w\",",
        "\"router_key_id\":\"sha256:",
        &key,
        "\",\"target\":\"mataya-dyad\"},\"datacontenttype\":\"application/json\",",
        "\"id\":\"019f0a1b-2c3d-7e4f-8a5b-6c7d8e9fa0b1\",\"source\":\"urn:ming-qiao:router:",
        &key,
        "\",\"specversion\":\"1.0\",\"subject\":\"agent/mataya-dyad\",\"time\":\"2026-08-17T12:00:00Z\",",
        "\"type\":\"org.ming-qiao.agent.wake.requested.v1\"}",
    ]
    .concat();
    let parsed = ParsedHint::parse(sample_text().as_bytes()).unwrap();
    assert_eq!(String::from_utf8_lossy(parsed.signing_bytes().as_bytes()), expected);
    let unsigned = UnsignedHint::new(sample()).unwrap();
    assert_eq!(unsigned.signing_bytes(), *parsed.signing_bytes(), "both ways to a hint sign the same bytes");
}

#[test]
fn sig_3_strings_are_signed_as_they_were_received() {
    let text = replace(&sample_text(), "12:00:00Z", "12:00:00.000Z");
    let parsed = ParsedHint::parse(text.as_bytes()).unwrap();
    assert_eq!(parsed.hint, sample(), "the same instant");
    let verdict = wire::verify(&public(&router()), parsed.signing_bytes(), &parsed.signature);
    assert!(verdict.is_err(), "but not what the router signed");
}

enforces! {
    /// Replaces one thing in the sample and expects this and no other complaint.
    [Sig4]
    fn sig_4_every_other_spelling_is_malformed(_seen) {
        use Form::*;
        let text = sample_text();
        let key = id_of(&router()).hex().to_string();
        let digest = format!("\"sha256:{key}\"");
        let source = format!("router:{key}");
        let token = |form| Malformed::Form("freshness_token", form);
        let form = Malformed::Form;
        let rows: Vec<(&str, &str, Malformed)> = vec![
            ("_token\": 42", "_token\": \"42\"", Malformed::Type("freshness_token")),
            ("_token\": 42", "_token\": 42.0", Malformed::Type("freshness_token")),
            ("_token\": 42", "_token\": 4.2e1", Malformed::Type("freshness_token")),
            ("_token\": 42", "_token\": 42e0", Malformed::Type("freshness_token")),
            ("_token\": 42", "_token\": -42", Malformed::Type("freshness_token")),
            ("_token\": 42", "_token\": -0", Malformed::Type("freshness_token")),
            ("_token\": 42", "_token\": null", Malformed::Type("freshness_token")),
            ("_token\": 42", "_token\": [42]", Malformed::Type("freshness_token")),
            ("_token\": 42", "_token\": 18446744073709551616", Malformed::Type("freshness_token")),
            ("_token\": 42", "_token\": 0", token(Token)),
            ("_token\": 42", "_token\": 9007199254740992", token(Token)),
            (":00:00Z\"", ":00:00+00:00\"", form("time", Time)),
            (":00:00Z\"", ":00:00-00:00\"", form("time", Time)),
            (":00:00Z\"", ":00:00z\"", form("time", Time)),
            (":00:00Z\"", ":00:60Z\"", form("time", Time)),
            (":00:00Z\"", ":00:00.1Z\"", form("time", Time)),
            (":00:00Z\"", ":00:00.000000Z\"", form("time", Time)),
            (":00:00Z\"", ":00:00\"", form("time", Time)),
            ("\"2026-08-17T12:00:00Z\"", "1786968000", Malformed::Type("time")),
            ("T12:00:30Z", "t12:00:30Z", form("expires_at", Time)),
            ("T12:00:30Z", " 12:00:30Z", form("expires_at", Time)),
            ("T12:00:30Z", "T12:00:30+00:00", form("expires_at", Time)),
            ("-_v7-w\"", "-_v7-w==\"", form("nonce", Nonce)),
            ("-_v7-w\"", "-_v7-x\"", form("nonce", Nonce)),
            ("-_v7-w\"", "-_v7\"", form("nonce", Nonce)),
            ("\"-_v7-_v7-_v7-_v7-_v7-w", "\"+/v7+/v7+/v7+/v7+/v7+w", form("nonce", Nonce)),
            ("6c7d8e9fa0b1\"", "6c7d8e9fa0B1\"", form("id", Uuid)),
            ("-7e4f-8a5b", "-4e4f-8a5b", form("id", Uuid)),
            ("2c3d-7e4f-8a5b", "2c3d7e4f8a5b", form("id", Uuid)),
            ("-7abc-9def", "-4abc-9def", form("message_id", Uuid)),
            ("-7abc-9def", "-7ABC-9DEF", form("message_id", Uuid)),
            ("\"target\": \"m", "\"target\": \"M", form("target", Name)),
            ("\"target\": \"m", "\"target\": \".", form("target", Name)),
            ("agent/mataya", "agents/mataya", form("subject", Name)),
            ("agent/mataya", "agent/Mataya", form("subject", Name)),
            ("agent/mataya", "mataya", form("subject", Name)),
            ("agent/mataya", "agent/agent/mataya", form("subject", Name)),
            ("urn:ming-qiao:router:", "urn:ming-qiao:router:sha256:", form("source", Digest)),
            ("urn:ming-qiao:router:", "URN:ming-qiao:router:", form("source", Digest)),
            ("\"ed25519:", "\"Ed25519:", form("signature", Signature)),
            ("\"ed25519:", "\"", form("signature", Signature)),
            ("\"specversion\": \"1.0\"", "\"specversion\": \"1.1\"", Malformed::Value("specversion")),
            ("\"specversion\": \"1.0\"", "\"specversion\": 1.0", Malformed::Type("specversion")),
            ("requested.v1", "requested.v2", Malformed::Value("type")),
            ("application/json", "application/json; charset=utf-8", Malformed::Value("datacontenttype")),
            ("application/json", "Application/JSON", Malformed::Value("datacontenttype")),
            ("\"target\": ", "\"body\": \"now!\", \"target\": ", Malformed::Unknown("data")),
            ("\"target\": ", "\"Target\": ", Malformed::Unknown("data")),
            ("\"subject\": ", "\"data_base64\": \"e30\", \"subject\": ", Malformed::Unknown("document")),
            ("\"subject\": ", "\"data_base64\": null, \"subject\": ", Malformed::Unknown("document")),
        ];
        for (from, to, why) in rows {
            assert_eq!(malformed(&replace(&text, from, to)), why, "{from} as {to}");
        }
        let upper = key.to_uppercase();
        assert_ne!(key, upper);
        let other = replace(&text, &digest, &format!("\"sha256:{upper}\""));
        assert_eq!(malformed(&other), form("router_key_id", Digest));
        assert_eq!(malformed(&replace(&text, &digest, &format!("\"{key}\""))), form("router_key_id", Digest));
        assert_eq!(malformed(&replace(&text, &source, &format!("router:{upper}"))), form("source", Digest));
        assert_eq!(malformed(&replace(&text, &source, "router:")), form("source", Digest));
    }
}

enforces! {
    [Sig2]
    fn sig_2_what_is_not_strict_json_is_malformed(_seen) {
        use FaultKind::*;
        let text = sample_text();
        let with = |from: &str, to: &str| replace(&text, from, to);
        let rows = [
            ("a leading zero", with("_token\": 42", "_token\": 042"), Syntax),
            ("a plus sign", with("_token\": 42", "_token\": +42"), Syntax),
            ("a key of data twice", with("\"target\":", "\"target\": \"x\", \"target\":"), DuplicateKey),
            ("twice after unescaping", with("\"target\":", "\"t\\u0061rget\": \"x\", \"target\":"), DuplicateKey),
            (
                "a key twice at the top",
                with("\"subject\":", "\"subject\": \"agent/x\", \"subject\":"),
                DuplicateKey,
            ),
            (
                "twice in what is ignored",
                with("\"subject\":", "\"x\": {\"a\": 1, \"a\": 1}, \"subject\":"),
                DuplicateKey,
            ),
            ("a byte order mark", format!("\u{feff}{text}"), ByteOrderMark),
            ("a lone surrogate", with("\"mataya-dyad\"", "\"mataya-\\ud800\""), Syntax),
            (
                "a lone surrogate in what is ignored",
                with("\"subject\":", "\"x\": \"\\udfff\", \"subject\":"),
                Syntax,
            ),
            ("something after it", format!("{text}{{}}"), Trailing),
            ("a NUL after it", format!("{text}\0"), Trailing),
            ("a comma too many", with("42,", "42,,"), Syntax),
            ("nothing", String::new(), Truncated),
            ("half of it", text[..text.len() / 2].to_owned(), Truncated),
        ];
        for (what, text, kind) in rows {
            assert!(
                matches!(malformed(&text), Malformed::Json(fault) if fault.kind == kind),
                "{what}: {:?}",
                malformed(&text)
            );
        }
        let mut bytes = text.clone().into_bytes();
        let at = text.find("dyad").unwrap();
        bytes[at] = 0xff;
        let fault = ParsedHint::parse(&bytes).unwrap_err();
        assert!(matches!(fault, Malformed::Json(fault) if fault.kind == Utf8 && fault.at == at));
        assert_eq!(malformed("[]"), Malformed::NotAnObject("document"));
        assert_eq!(malformed("null"), Malformed::NotAnObject("document"));
    }
}

#[test]
fn sig_2_a_hint_has_at_most_4096_bytes() {
    let text = sample_text();
    let padded = |length: usize| format!("{text}{}", " ".repeat(length - text.len()));
    assert!(ParsedHint::parse(padded(4096).as_bytes()).is_ok());
    assert!(matches!(malformed(&padded(4097)), Malformed::Json(fault) if fault.kind == FaultKind::TooLarge));
}

enforces! {
    [Sig1]
    fn sig_1_every_member_is_needed(_seen) {
        let whole: Value = serde_json::from_slice(&encoded(sample())).unwrap();
        let top = ["specversion", "type", "id", "source", "subject", "time", "datacontenttype", "data"];
        let data =
            ["message_id", "target", "nonce", "freshness_token", "expires_at", "router_key_id", "signature"];
        assert_eq!(whole.as_object().unwrap().len(), top.len(), "exactly these");
        assert_eq!(whole["data"].as_object().unwrap().len(), data.len(), "exactly these");
        for name in top {
            let mut event = whole.clone();
            event.as_object_mut().unwrap().remove(name).unwrap();
            assert_eq!(malformed(&event.to_string()), Malformed::Missing(name));
        }
        for name in data {
            let mut event = whole.clone();
            event["data"].as_object_mut().unwrap().remove(name).unwrap();
            assert_eq!(malformed(&event.to_string()), Malformed::Missing(name));
        }
        for odd in [Value::Null, "{}".into(), Value::Array(vec![])] {
            let mut event = whole.clone();
            event["data"] = odd;
            assert_eq!(malformed(&event.to_string()), Malformed::NotAnObject("data"));
        }
    }
}

#[test]
fn sig_2_unknown_members_at_the_top_influence_nothing() {
    let text = sample_text();
    let plain = ParsedHint::parse(text.as_bytes()).unwrap();
    let extras = [
        "\"x\": \"y\"",
        "\"sampledrate\": 1.5",
        "\"big\": 1e300",
        "\"nested\": {\"data\": [null]}",
        "\"expires_at\": 1",
    ];
    for extra in extras {
        let text = replace(&text, "\"subject\":", &format!("{extra}, \"subject\":"));
        assert_eq!(ParsedHint::parse(text.as_bytes()).unwrap(), plain, "{extra}");
    }
}

enforces! {
    [Sig5]
    fn sig_5_a_hint_lives_at_most_30_seconds(_seen) {
        let lives = |life: i64| {
            let time = sample().time;
            let expires_at = Wall(time.0.checked_add_signed(life).unwrap());
            let sent = UnsignedHint::new(Hint { expires_at, ..sample() }).map(|_| ());
            let text = replace(&sample_text(), "\"2026-08-17T12:00:30Z\"", &format!("\"{}\"", expires_at.utc()));
            let received = ParsedHint::parse(text.as_bytes()).map(|_| ());
            assert_eq!(sent, received, "who sends and who receives agree");
            received
        };
        assert_eq!(lives(1), Ok(()));
        assert_eq!(lives(30_000), Ok(()));
        for life in [30_001, 31_000, 3_600_000, 0, -1, -30_000] {
            assert_eq!(lives(life), Err(Malformed::Window), "{life} ms");
        }
    }
}

#[test]
fn sig_5_a_hint_past_the_year_9999_cannot_be_made() {
    let near =
        |time: Wall| UnsignedHint::new(Hint { time, expires_at: time + Millis(1), ..sample() }).map(|_| ());
    assert_eq!(near(Wall(Wall::LAST.0 - 1)), Ok(()));
    assert_eq!(near(Wall::LAST), Err(Malformed::Window));
    assert_eq!(near(Wall(u64::MAX)), Err(Malformed::Window));
}

enforces! {
    [Sig3]
    fn sig_3_each_signed_member_is_under_the_signature(_seen) {
        let text = sample_text();
        let genuine = |text: &str| {
            let parsed = ParsedHint::parse(text.as_bytes()).unwrap();
            wire::verify(&public(&router()), parsed.signing_bytes(), &parsed.signature).is_ok()
        };
        assert!(genuine(&text));
        let key = id_of(&router()).hex().to_string();
        let turned: String = key.chars().rev().collect();
        let changes = [
            ("6c7d8e9fa0b1", "6c7d8e9fa0b2"),
            ("0123456789ab", "0123456789ac"),
            ("agent/mataya", "agent/nataya"),
            ("\"target\": \"m", "\"target\": \"n"),
            ("-_v7-w\"", "-_v7-g\""),
            ("_token\": 42", "_token\": 43"),
            ("12:00:00Z", "12:00:01Z"),
            ("12:00:30Z", "12:00:29Z"),
        ];
        for (from, to) in changes {
            assert!(!genuine(&replace(&text, from, to)), "{from} as {to}");
        }
        assert!(!genuine(&replace(&text, &format!("router:{key}"), &format!("router:{turned}"))));
        assert!(!genuine(&replace(&text, &format!("sha256:{key}"), &format!("sha256:{turned}"))));
    }
}

#[test]
fn sig_1_a_malformed_hint_names_the_rule_that_it_breaks() {
    use awakener_spec::Rule;
    let text = sample_text();
    let rule = |from, to| wire::hint::rule(&malformed(&replace(&text, from, to)));
    assert_eq!(rule("requested.v1", "requested.v2"), Rule::Sig1);
    assert_eq!(rule("\"nonce\"", "\"once\""), Rule::Sig2);
    assert_eq!(rule(":00:00Z", ":00:00z"), Rule::Sig4);
    assert_eq!(rule(":00:30Z", ":00:31Z"), Rule::Sig5);
}

fn any_hint() -> impl Strategy<Value = Hint> {
    (0..=Wall::LAST.0 - 30_000, 1..=30_000_u64, 1..1_u64 << 53, any::<[u8; 16]>(), "[a-z0-9][a-z0-9_-]{0,63}")
        .prop_map(|(time, life, token, nonce, name)| Hint {
            target: crate::common::target(&name),
            nonce: Nonce(nonce),
            freshness_token: Token::from_u64(token).unwrap(),
            time: Wall(time),
            expires_at: Wall(time + life),
            ..sample()
        })
}

proptest! {
    #[test]
    fn sig_1_what_is_sent_is_what_is_read(hint in any_hint()) {
        let bytes = encoded(hint.clone());
        let parsed = ParsedHint::parse(&bytes).unwrap();
        prop_assert_eq!(&parsed.hint, &hint);
        prop_assert!(wire::verify(&public(&router()), parsed.signing_bytes(), &parsed.signature).is_ok());
        prop_assert_eq!(UnsignedHint::new(hint).unwrap().encode(&parsed.signature), bytes);
    }

    /// The signed bytes are written into a fixed line; here they are made from the members that SIG-3 names.
    #[test]
    fn sig_3_the_fixed_line_is_the_canonical_form(hint in any_hint(), strange in any::<i64>()) {
        let mut event: Value = serde_json::from_slice(&encoded(hint)).unwrap();
        event["extension"] = strange.into();
        let parsed = ParsedHint::parse(event.to_string().as_bytes()).unwrap();
        event.as_object_mut().unwrap().remove("extension");
        event["data"].as_object_mut().unwrap().remove("signature");
        let canonical = serde_json_canonicalizer::to_vec(&event).unwrap();
        let signed = [Domain::Wake.line().as_bytes(), canonical.as_slice()].concat();
        prop_assert_eq!(parsed.signing_bytes().as_bytes(), signed);
    }

    #[test]
    fn sig_2_parsing_never_panics(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        prop_assert!(ParsedHint::parse(&bytes).is_err());
    }

    /// One changed byte makes a hint malformed, or breaks its signature, or was only white space.
    #[test]
    fn sig_3_no_changed_byte_goes_unnoticed(at in 0_usize..4096, byte: u8) {
        let mut bytes = encoded(sample());
        let at = at % bytes.len();
        prop_assume!(bytes[at] != byte);
        bytes[at] = byte;
        if let Ok(parsed) = ParsedHint::parse(&bytes) {
            prop_assert!(wire::verify(&public(&router()), parsed.signing_bytes(), &parsed.signature).is_err());
        }
    }
}
