//! Someone else's implementation, in Python, reads what we write and writes what we read.

use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use awakener_kernel::ids::{PublicKey, Token};
use awakener_kernel::time::Millis;
use awakener_kernel::values::{AckOutcome, By};
use awakener_kernel::wire::{AckStatement, BadSignature, Keyring, RouterKey, Signed, Submission, present};
use awakener_spec::Class;
use awakener_tools::Tool;
use serde_json::{Value, json};

use crate::common::{at, encoded, public, replace, ring, router, sample, target};
use crate::documents::ack;

/// Asks the other side; `None` if the user chose to do without Python.
fn ask(hint: &str, ack: &str, submission: &str) -> Option<Value> {
    let python = match awakener_tools::python::environment().unwrap_or_else(|error| panic!("{error}")) {
        Tool::Ready(python) => python,
        Tool::Skipped(_) => return None,
    };
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/wire/interop.py");
    let key = public(&router());
    let asked = json!({"hint": hint, "ack": ack, "submission": submission, "router": key, "agent": key});
    let mut child = Command::new(python)
        .arg(script)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the Python of the tests starts");
    child.stdin.take().unwrap().write_all(asked.to_string().as_bytes()).unwrap();
    let done = child.wait_with_output().unwrap();
    assert!(done.status.success(), "interop.py: {}", done.status);
    Some(serde_json::from_slice(&done.stdout).unwrap())
}

fn our_hint() -> String {
    String::from_utf8(encoded(sample())).unwrap()
}

fn our_ack() -> String {
    String::from_utf8(Signed::sign(ack(), &router()).encode()).unwrap()
}

#[test]
fn idn_5_another_implementation_verifies_ours() {
    let Some(answer) = ask(&our_hint(), &our_ack(), "{}") else { return };
    assert_eq!((&answer["hint_verifies"], &answer["ack_verifies"]), (&json!(true), &json!(true)));
    let hint = replace(&our_hint(), "_token\":42", "_token\":43");
    let ack = replace(&our_ack(), "\"handled\"", "\"silence\"");
    let answer = ask(&hint, &ack, "{}").unwrap();
    assert_eq!((&answer["hint_verifies"], &answer["ack_verifies"]), (&json!(false), &json!(false)));
}

#[test]
fn idn_5_we_accept_what_another_implementation_signs() {
    let Some(answer) = ask(&our_hint(), &our_ack(), "{}") else { return };
    let text = |name: &str| answer[name].as_str().unwrap();
    let key = |name: &str| PublicKey::parse(text(name)).unwrap();

    let theirs = Keyring::from(&[RouterKey { public: key("router"), window: ring()[0].window }]);
    let see = |bytes: &str| {
        let served = |name: &_| *name == target("mataya-dyad");
        present(bytes.as_bytes(), &theirs, served, at("2026-08-17T12:00:01Z"), Millis(0))
    };
    let hint = see(text("hint")).unwrap();
    assert_eq!(hint.freshness_token, Token::new(Token::MAX_EPOCH, u32::MAX).unwrap());
    assert_eq!(hint.nonce.0, [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15]);
    assert_eq!(see(&replace(text("hint"), "740991", "740990")), Err(Class::Tamper));

    let signed = Signed::<AckStatement>::parse(text("ack").as_bytes()).unwrap();
    let statement = signed.verify(&key("agent")).unwrap();
    assert_eq!((statement.outcome, statement.by), (AckOutcome::Declined, By::Human));
    let other =
        Signed::<AckStatement>::parse(replace(text("ack"), "declined", "handled").as_bytes()).unwrap();
    assert_eq!(other.verify(&key("agent")), Err(BadSignature));
}

#[test]
fn adm_7_another_implementation_finds_the_same_content_hash() {
    let text = r#"{
        "id": "019f0a1b-2c00-7abc-9def-0123456789ab", "from": "mira", "subject": "\u00dcber \ud83d\ude00 \"x\"",
        "thread": "019f0a1b-2c00-7abc-9def-000000000001", "in_reply_to": "019f0a1b-2c00-7abc-9def-000000000002",
        "target": "mataya-dyad", "schema": "message/3", "priority": "low", "intent": "tell\tall",
        "response_expectation": "silence_ok",
        "body": {"\ufb33": 1, "\ud83d\ude00": [0.1, 1e-7, 1.5e-10, 123456789.125, -0.0, 100.0, 4.9e-324, 333333333.33333329],
            "": null, "b": {"z": [], "a": {}}, "max": 9007199254740991, "\u0000\u007f": "\u2028\/\b"}
    }"#;
    let submission = Submission::parse(text.as_bytes(), 65_536).unwrap();
    let Some(answer) = ask(&our_hint(), &our_ack(), text) else { return };
    assert_eq!(answer["content_sha256"], json!(submission.content_hash()));
    let other = replace(text, "100.0", "101");
    let answer = ask(&our_hint(), &our_ack(), &other).unwrap();
    assert_ne!(answer["content_sha256"], json!(submission.content_hash()));
}
