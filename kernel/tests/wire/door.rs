//! The JSON door and the canonical form.

use std::fs;

use awakener_kernel::json::{
    CARRIER_DEPTH, FaultKind, JsonFault, MAX_DEPTH, Numbers, canonical, read, read_carrier,
};
use proptest::prelude::*;
use serde_json::{Value, json};

fn fault(bytes: &[u8]) -> JsonFault {
    read(bytes, 1_000, Numbers::Integers).expect_err("must not pass the door")
}

#[test]
fn sig_2_the_door_passes_plain_documents() {
    let document = r#" {"a":[1,-1,0,true,null,"x\u00e9\ud83d\ude00"],"b":{"a":{}}} "#;
    let expected = json!({"a": [1, -1, 0, true, null, "xé😀"], "b": {"a": {}}});
    assert_eq!(read(document.as_bytes(), 1_000, Numbers::Integers), Ok(expected));
}

#[test]
fn sig_2_the_door_names_the_fault_and_its_place() {
    use FaultKind::*;
    let rows: &[(&[u8], FaultKind, usize)] = &[
        (b"\xef\xbb\xbf{}", ByteOrderMark, 0),
        (b"{\"a\":\"\xff\"}", Utf8, 6),
        (b"{\"a\":\"\xed\xa0\x80\"}", Utf8, 6),
        (b"{\"a\":1,\"a\":1}", DuplicateKey, 10),
        (b"{\"a\":1,\"\\u0061\":2}", DuplicateKey, 15),
        (b"[{\"b\":{\"a\":1,\"a\":2}}]", DuplicateKey, 16),
        (b"{\"a\":\"\\ud800\"}", Syntax, 13),
        (b"{\"a\":\"\\udc00\"}", Syntax, 12),
        (b"{\"a\":\"\\ud800\\u0041\"}", Syntax, 18),
        (b"{\"\\ud800\":1}", Syntax, 9),
        (b"{} {}", Trailing, 4),
        (b"{}\n\n x", Trailing, 6),
        (b"{}\0", Trailing, 3),
        (b"", Truncated, 0),
        (b"{\"a\":", Truncated, 5),
        (b"{'a':1}", Syntax, 2),
        (b"{\"a\":1,}", Syntax, 8),
        (b"[01]", Syntax, 3),
        (b"[+1]", Syntax, 2),
        (b"[NaN]", Syntax, 2),
        (b"[1.0]", Number, 4),
        (b"[1e2]", Number, 4),
        (b"[-0]", Number, 3),
        (b"[9007199254740992]", Number, 17),
        (b"[-9007199254740992]", Number, 18),
        (b"[18446744073709551616]", Number, 21),
    ];
    for (bytes, kind, at) in rows {
        let text = String::from_utf8_lossy(bytes);
        let fault = fault(bytes);
        assert_eq!(fault.kind, *kind, "{text}");
        assert_eq!(fault.at, *at, "{text}");
    }
}

#[test]
fn sig_2_the_door_bounds_size_and_depth() {
    assert!(read(b"[1234]", 6, Numbers::Integers).is_ok());
    assert_eq!(read(b"[1234]", 5, Numbers::Integers), Err(JsonFault { kind: FaultKind::TooLarge, at: 5 }));
    let nested = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
    let deepest = MAX_DEPTH as usize;
    assert!(read(nested(deepest).as_bytes(), 1_000, Numbers::Integers).is_ok());
    assert_eq!(fault(nested(deepest + 1).as_bytes()).kind, FaultKind::TooDeep);
    let objects = format!("{}1{}", "{\"a\":".repeat(deepest + 1), "}".repeat(deepest + 1));
    assert_eq!(fault(objects.as_bytes()).kind, FaultKind::TooDeep);
    assert_eq!(fault("[".repeat(900).as_bytes()).kind, FaultKind::TooDeep);
    // What carries a document may go deeper, so that whatever passed can be handed out again; not without end.
    let carrier = |depth: u32| read_carrier(nested(depth as usize).as_bytes(), 1_000, Numbers::Any);
    assert!(carrier(CARRIER_DEPTH).is_ok());
    assert_eq!(carrier(CARRIER_DEPTH + 1).map_err(|fault| fault.kind), Err(FaultKind::TooDeep));
}

#[test]
fn sig_2_which_numbers_pass_depends_on_the_document() {
    let passes = |text: &str| {
        [Numbers::Integers, Numbers::Portable, Numbers::Any]
            .map(|numbers| read(text.as_bytes(), 1_000, numbers).is_ok())
    };
    assert_eq!(passes("9007199254740991"), [true, true, true]);
    assert_eq!(passes("-9007199254740991"), [true, true, true]);
    assert_eq!(passes("0.5"), [false, true, true]);
    assert_eq!(passes("9007199254740991.0"), [false, true, true]);
    assert_eq!(passes("9007199254740992"), [false, false, true]);
    assert_eq!(passes("9007199254740992.0"), [false, false, true]);
    assert_eq!(passes("-9007199254740992"), [false, false, true]);
    assert_eq!(passes("1e300"), [false, false, true]);
    assert_eq!(passes("1e999"), [false, false, false]);
}

#[test]
fn sig_3_the_canonical_form_passes_the_published_vectors() {
    let data = awakener_tools::packages::directory("serde_json_canonicalizer").unwrap();
    let data = data.join("tests/resources/testdata");
    let mut names: Vec<_> = fs::read_dir(data.join("input"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    assert_eq!(
        names,
        ["arrays.json", "french.json", "structures.json", "unicode.json", "values.json", "weird.json"]
    );
    for name in names {
        let value = read(&fs::read(data.join("input").join(&name)).unwrap(), 10_000, Numbers::Any).unwrap();
        let hex = fs::read_to_string(data.join("outhex").join(name.replace(".json", ".txt"))).unwrap();
        let expected: Vec<u8> =
            hex.split_whitespace().map(|byte| u8::from_str_radix(byte, 16).unwrap()).collect();
        assert_eq!(String::from_utf8(canonical(&value)), String::from_utf8(expected), "{name}");
    }
}

#[test]
fn sig_3_keys_are_sorted_by_utf_16() {
    // U+FB33 sorts before U+1F600 by code point, after it by UTF-16.
    let value = json!({"\u{fb33}": 1, "\u{1f600}": 2, "b": 3, "a": {"z": 1, "y": 2}});
    let expected = "{\"a\":{\"y\":2,\"z\":1},\"b\":3,\"\u{1f600}\":2,\"\u{fb33}\":1}";
    assert_eq!(String::from_utf8(canonical(&value)).unwrap(), expected);
}

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        (-9_007_199_254_740_991_i64..=9_007_199_254_740_991).prop_map(Value::from),
        (-1e15..1e15).prop_map(|number: f64| Value::from(number)),
        any::<String>().prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 32, 5, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            // Keys that need no sorting by UTF-16 too, with what must be escaped.
            proptest::collection::btree_map(
                prop_oneof![any::<String>(), "[ -~\\n\\x01\\x7f]{0,4}"],
                inner,
                0..5
            )
            .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn adm_7_the_canonical_form_of_a_body_passes_the_door_and_is_its_own(value in any_json()) {
        let once = canonical(&value);
        prop_assert_eq!(&once, &serde_json_canonicalizer::to_vec(&value).unwrap());
        let again = read(&once, 1 << 20, Numbers::Portable).unwrap();
        prop_assert_eq!(String::from_utf8(canonical(&again)), String::from_utf8(once));
    }

    #[test]
    fn sig_2_the_door_never_panics(bytes in proptest::collection::vec(any::<u8>(), 0..64)) {
        if let Err(fault) = read(&bytes, 64, Numbers::Any) {
            prop_assert!(fault.at <= bytes.len());
        }
    }

    #[test]
    fn sig_2_the_door_agrees_with_serde_json_on_what_it_passes(value in any_json()) {
        let text = serde_json::to_vec_pretty(&value).unwrap();
        prop_assert_eq!(read(&text, 1 << 20, Numbers::Any).unwrap(), value);
    }
}
