//! ACK statements, operator commands, checkpoints and submissions.

use awakener_kernel::ids::{
    CommandId, ContentHash, Form, MAX_INTEGER, MessageId, PlaneName, SchemaRef, ThreadId, Tier,
};
use awakener_kernel::json::{FaultKind, canonical};
use awakener_kernel::router::Routes;
use awakener_kernel::values::{AckOutcome, By};
use awakener_kernel::wire::{
    AckStatement, BadSignature, Checkpoint, Document, Domain, Malformed, OperatorCommand, Priority,
    ResponseExpectation, Signed, Submission, sign,
};
use awakener_tools::enforces;
use serde_json::{Value, json};

use crate::common::{at, id_of, public, router, sample, stranger, target};

pub fn ack() -> AckStatement {
    AckStatement {
        message_id: sample().message_id,
        content_sha256: ContentHash::of(b"content"),
        target: target("mataya-dyad"),
        outcome: AckOutcome::Handled,
        by: By::Agent,
        key_id: id_of(&router()),
        time: at("2026-08-17T12:00:05.250Z"),
    }
}

pub fn command() -> OperatorCommand {
    OperatorCommand {
        id: CommandId::parse("019f0a1b-2c3d-7e4f-8a5b-000000000001").unwrap(),
        plane: PlaneName::parse("main").unwrap(),
        act: "install_roster".into(),
        subject: json!({"entries": [{"principal": "mira", "target": "mataya-dyad"}]})
            .as_object()
            .unwrap()
            .clone(),
        expected_state: Value::Null,
        reason: "pilot of 17 August".into(),
        not_after: at("2026-08-17T12:10:00Z"),
        key_id: id_of(&router()),
    }
}

pub fn checkpoint() -> Checkpoint {
    Checkpoint {
        plane: PlaneName::parse("main").unwrap(),
        size: 1_000,
        head: ContentHash([9; 32]),
        time: at("2026-08-17T12:00:00Z"),
        key_id: id_of(&router()),
    }
}

/// What holds for every signed document.
fn check<D: Document + Clone + PartialEq + std::fmt::Debug>(document: D) {
    let signed = Signed::sign(document.clone(), &router());
    let bytes = signed.encode();
    let parsed = Signed::<D>::parse(&bytes).unwrap();
    assert_eq!(parsed, signed);
    assert_eq!(parsed.verify(&public(&router())), Ok(&document));
    assert_eq!(bytes, canonical(&serde_json::from_slice(&bytes).unwrap()), "canonical as it is");

    // Only the key that the document names, even if another one signed.
    assert_eq!(parsed.verify(&public(&stranger())), Err(BadSignature));
    let by_other = Signed::sign(document.clone(), &stranger());
    assert_eq!(by_other.verify(&public(&stranger())), Err(BadSignature));
    assert_eq!(by_other.verify(&public(&router())), Err(BadSignature));

    // Each member is needed, none may be added, and each is under the signature.
    let whole: Value = serde_json::from_slice(&bytes).unwrap();
    let parse = |value: &Value| Signed::<D>::parse(value.to_string().as_bytes());
    let members: Vec<String> = whole[D::NAME].as_object().unwrap().keys().cloned().collect();
    for name in &members {
        let mut less = whole.clone();
        less[D::NAME].as_object_mut().unwrap().remove(name);
        assert!(matches!(parse(&less), Err(Malformed::Missing(missing)) if missing == name), "{name}");
        for odd in [json!(0.5), json!([])] {
            let mut other = whole.clone();
            other[D::NAME][name] = odd;
            let verified = parse(&other).map(|signed| signed.verify(&public(&router())).is_ok());
            assert_ne!(verified, Ok(true), "{name} is not under the signature");
        }
    }
    let mut more = whole.clone();
    more[D::NAME]["note"] = json!("x");
    assert_eq!(parse(&more), Err(Malformed::Unknown(D::NAME)));
    let mut more = whole.clone();
    more["note"] = json!("x");
    assert_eq!(parse(&more), Err(Malformed::Unknown("document")));
    let mut next = whole.clone();
    next[D::NAME]["v"] = json!(2);
    assert_eq!(parse(&next), Err(Malformed::Value("v")));

    // Strict JSON.
    let doubled = String::from_utf8(bytes).unwrap().replacen("\"v\":1", "\"v\":1,\"\\u0076\":1", 1);
    let fault = Signed::<D>::parse(doubled.as_bytes()).unwrap_err();
    assert!(matches!(fault, Malformed::Json(fault) if fault.kind == FaultKind::DuplicateKey));

    // A signature of another domain does not count.
    let elsewhere: Vec<_> = Domain::ALL.iter().filter(|domain| **domain != D::DOMAIN).collect();
    assert_eq!(elsewhere.len(), 4);
    for domain in elsewhere {
        let signature = sign(&router(), &domain.frame(&canonical(&whole[D::NAME])));
        let mut other = whole.clone();
        other["signature"] = json!(signature);
        assert_eq!(parse(&other).unwrap().verify(&public(&router())), Err(BadSignature));
    }
}

#[test]
fn ack_3_a_statement_is_strict_and_signed() {
    check(ack());
}

#[test]
fn opr_1_a_command_is_strict_and_signed() {
    check(command());
}

#[test]
fn aud_3_a_checkpoint_is_strict_and_signed() {
    check(checkpoint());
}

#[test]
fn ack_3_strings_are_signed_as_they_were_received() {
    let mut statement = AckStatement { time: at("2026-08-17T12:00:05Z"), ..ack() }.to_value();
    statement["time"] = json!("2026-08-17T12:00:05.000Z");
    let signature = sign(&router(), &Domain::Ack.frame(&canonical(&statement)));
    let envelope = json!({"statement": statement, "signature": signature});
    let signed = Signed::<AckStatement>::parse(envelope.to_string().as_bytes()).unwrap();
    assert_eq!(signed.verify(&public(&router())).unwrap().time, at("2026-08-17T12:00:05Z"));
    assert_eq!(signed.to_value(), envelope, "and it is kept as it was received");
}

#[test]
fn aud_3_the_size_of_a_checkpoint_is_an_integer_that_everyone_reads() {
    let with = |size: Value| {
        let mut checkpoint = checkpoint().to_value();
        checkpoint["size"] = size;
        Checkpoint::from_value(&checkpoint).map(|checkpoint| checkpoint.size)
    };
    assert_eq!(with(json!(0)), Ok(0));
    assert_eq!(with(json!(MAX_INTEGER)), Ok(MAX_INTEGER));
    assert_eq!(with(json!(MAX_INTEGER + 1)), Err(Malformed::Value("size")));
    assert_eq!(with(json!("1")), Err(Malformed::Type("size")));
}

#[test]
fn ack_3_the_signed_bytes_are_these() {
    let expected = [
        "awakener-ack-v1\n{\"by\":\"agent\",\"content_sha256\":\"",
        &ack().content_sha256.to_string(),
        "\",\"key_id\":\"",
        &ack().key_id.to_string(),
        "\",\"message_id\":\"019f0a1b-2c00-7abc-9def-0123456789ab\",\"outcome\":\"handled\",",
        "\"target\":\"mataya-dyad\",\"time\":\"2026-08-17T12:00:05.250Z\",\"v\":1}",
    ]
    .concat();
    let signed = Signed::sign(ack(), &router());
    assert_eq!(String::from_utf8_lossy(signed.signing_bytes().as_bytes()), expected);
}

enforces! {
    [Ack4]
    fn ack_4_outcomes_and_roles_are_closed(_seen) {
        assert_eq!(
            AckOutcome::ALL.iter().map(|it| it.as_str()).collect::<Vec<_>>(),
            ["handled", "silence", "declined", "failed"]
        );
        assert_eq!(By::ALL.iter().map(|it| it.as_str()).collect::<Vec<_>>(), ["station", "agent", "human"]);
        for outcome in AckOutcome::ALL {
            assert_eq!(AckOutcome::parse(outcome.as_str()), Some(*outcome));
            assert_eq!(serde_json::to_value(outcome).unwrap(), outcome.as_str());
        }
        let mut value = ack().to_value();
        value["outcome"] = json!("seen");
        assert_eq!(AckStatement::from_value(&value), Err(Malformed::Value("outcome")));
        value = ack().to_value();
        value["by"] = json!("operator");
        assert_eq!(AckStatement::from_value(&value), Err(Malformed::Value("by")));
        value = ack().to_value();
        value["time"] = json!("2026-08-17T12:00:05+00:00");
        assert_eq!(AckStatement::from_value(&value), Err(Malformed::Form("time", Form::Time)));
    }
}

#[test]
fn opr_1_the_texts_of_a_command_are_bounded() {
    let with = |name: &str, value: Value| {
        let mut command = command().to_value();
        command[name] = value;
        OperatorCommand::from_value(&command).map(|_| ())
    };
    assert_eq!(with("act", json!("clear-latch2")), Ok(()));
    assert_eq!(with("act", json!("")), Err(Malformed::Length("act")));
    assert_eq!(with("act", json!("a".repeat(65))), Err(Malformed::Length("act")));
    assert_eq!(with("act", json!("Arm")), Err(Malformed::Value("act")));
    assert_eq!(with("reason", json!("x".repeat(1024))), Ok(()));
    assert_eq!(with("reason", json!("x".repeat(1025))), Err(Malformed::Length("reason")));
    assert_eq!(with("reason", json!("")), Err(Malformed::Length("reason")));
    assert_eq!(with("subject", json!("roster")), Err(Malformed::Type("subject")));
    assert_eq!(with("expected_state", json!({"phase": "DARK"})), Ok(()));
}

#[test]
fn signed_documents_in_records_come_back() {
    let signed = Signed::sign(command(), &router());
    let json = serde_json::to_string(&signed).unwrap();
    let again: Signed<OperatorCommand> = serde_json::from_str(&json).unwrap();
    assert!(again.verify(&public(&router())).is_ok());
    assert!(serde_json::from_str::<Signed<OperatorCommand>>("{}").is_err());
    let json = serde_json::to_string(&ack()).unwrap();
    assert_eq!(serde_json::from_str::<AckStatement>(&json).unwrap(), ack());
}

pub fn submission() -> Submission {
    Submission {
        id: MessageId::parse("019f0a1b-2c00-7abc-9def-0123456789ab").unwrap(),
        thread: ThreadId::parse("019f0a1b-2c00-7abc-9def-000000000001").unwrap(),
        in_reply_to: None,
        target: target("mataya-dyad"),
        schema: SchemaRef::new("interrupt-alert", 1).unwrap(),
        priority: Priority::Urgent,
        intent: "stop the rollout".into(),
        response_expectation: ResponseExpectation::Reply,
        subject: None,
        body: json!({"text": "now", "ratio": 0.5}),
        from: None,
    }
}

enforces! {
    [Adm11]
    fn adm_11_a_submission_has_exactly_its_members(_seen) {
        let value = submission().to_value();
        let parse = |value: &Value| Submission::parse(value.to_string().as_bytes(), 65_536);
        assert_eq!(parse(&value), Ok(submission()));
        for name in ["id", "thread", "target", "schema", "priority", "intent", "response_expectation", "body"] {
            let mut less = value.clone();
            less.as_object_mut().unwrap().remove(name).unwrap();
            assert_eq!(parse(&less), Err(Malformed::Missing(name)));
        }
        for name in ["tier", "principal", "seq", "cause", "depth", "content_sha256", "x"] {
            let mut more = value.clone();
            more[name] = json!(0);
            assert_eq!(parse(&more), Err(Malformed::Unknown("document")), "{name} is the server's");
        }
        for name in ["in_reply_to", "subject", "from"] {
            let mut null = value.clone();
            null[name] = Value::Null;
            assert_eq!(parse(&null), Err(Malformed::Type(name)), "absent is absent");
        }
        for (name, word) in [("priority", "max"), ("response_expectation", "maybe")] {
            let mut odd = value.clone();
            odd[name] = json!(word);
            assert_eq!(parse(&odd), Err(Malformed::Value(name)));
        }
        let mut odd = value.clone();
        odd["schema"] = json!("interrupt-alert");
        assert_eq!(parse(&odd), Err(Malformed::Form("schema", Form::Schema)));
        let short = Submission::parse(value.to_string().as_bytes(), 100).unwrap_err();
        assert!(matches!(short, Malformed::Json(fault) if fault.kind == FaultKind::TooLarge));
        // All of them at once, and no more than that.
        let full = Submission {
            in_reply_to: Some(submission().id),
            subject: Some("rollout".into()),
            from: Some("mira".parse().unwrap()),
            ..submission()
        };
        assert_eq!(parse(&full.to_value()), Ok(full.clone()));
        assert_eq!(full.to_value().as_object().unwrap().len(), 11);
        for name in ["in_reply_to", "target", "subject"] {
            let mut many = full.to_value();
            many[name] = json!([many[name].clone()]);
            assert_eq!(parse(&many), Err(Malformed::Type(name)), "at most one");
        }
        let mut bare = value.clone();
        bare["schema"] = json!("message/1");
        for priority in ["low", "normal", "high", "urgent"] {
            for intent in ["interrupt-alert/1", "wake up", "tier 0"] {
                for (document, tier) in [(&value, Tier::Zero), (&bare, Tier::Two)] {
                    let mut moved = document.clone();
                    (moved["priority"], moved["intent"]) = (json!(priority), json!(intent));
                    let schema = parse(&moved).unwrap().schema;
                    assert_eq!(Routes::default().tier(&schema), Some(tier), "{priority} {intent}");
                }
            }
        }
    }
}

#[test]
fn adm_7_the_content_hash_covers_everything_but_id_and_from() {
    let base = submission();
    let hash = base.content_hash();
    let same = [
        Submission { id: MessageId::parse("019f0a1b-2c00-7abc-9def-ffffffffffff").unwrap(), ..base.clone() },
        Submission { from: Some("mira".parse().unwrap()), ..base.clone() },
    ];
    for submission in same {
        assert_eq!(submission.content_hash(), hash);
    }
    let others = [
        Submission {
            thread: ThreadId::parse("019f0a1b-2c00-7abc-9def-000000000002").unwrap(),
            ..base.clone()
        },
        Submission { in_reply_to: Some(base.id), ..base.clone() },
        Submission { target: target("other"), ..base.clone() },
        Submission { schema: SchemaRef::new("interrupt-alert", 2).unwrap(), ..base.clone() },
        Submission { priority: Priority::Low, ..base.clone() },
        Submission { intent: "go on".into(), ..base.clone() },
        Submission { response_expectation: ResponseExpectation::None, ..base.clone() },
        Submission { subject: Some("rollout".into()), ..base.clone() },
        Submission { body: json!({"text": "now", "ratio": 0.25}), ..base.clone() },
        Submission { body: Value::Null, ..base.clone() },
    ];
    let mut seen = vec![hash];
    for submission in others {
        assert!(!seen.contains(&submission.content_hash()), "{submission:?}");
        seen.push(submission.content_hash());
    }
}

#[test]
fn adm_7_the_content_hash_is_of_the_canonical_form() {
    let content = concat!(
        r#"{"body":{"ratio":0.5,"text":"now"},"intent":"stop the rollout","priority":"urgent","#,
        r#""response_expectation":"reply","schema":"interrupt-alert/1","target":"mataya-dyad","#,
        r#""thread":"019f0a1b-2c00-7abc-9def-000000000001"}"#
    );
    assert_eq!(submission().content_hash(), ContentHash::of(content.as_bytes()));
}
