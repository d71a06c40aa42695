//! The committed description is the one that the handlers give.
//!
//! To write it anew: `WRITE_OPENAPI=1 cargo test -p awakener --test it openapi`.

use serde_json::Value;

const COMMITTED: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../spec/openapi.json");

#[test]
fn aud_6_the_committed_description_is_the_one_in_force() {
    let said = format!("{:#}\n", awakener::http::openapi());
    if std::env::var_os("WRITE_OPENAPI").is_some() {
        std::fs::write(COMMITTED, &said).unwrap();
    }
    let committed = std::fs::read_to_string(COMMITTED).unwrap_or_default();
    let first = said.lines().zip(committed.lines()).position(|(a, b)| a != b);
    assert!(said == committed, "spec/openapi.json differs from line {first:?} on; see the head of this file");
}

#[test]
fn con_1_every_operation_has_a_name_errors_and_examples() {
    let document = awakener::http::openapi();
    assert!(document["openapi"].as_str().unwrap().starts_with("3.1"));
    let mut names = std::collections::BTreeSet::new();
    for (path, item) in document["paths"].as_object().unwrap() {
        for (method, operation) in item.as_object().unwrap() {
            let at = format!("{method} {path}");
            assert!(names.insert(operation["operationId"].as_str().unwrap().to_owned()), "{at}");
            let responses = operation["responses"].as_object().unwrap();
            let errors: Vec<&Value> = responses
                .iter()
                .filter(|(status, _)| status.as_str() >= "400")
                .map(|(_, error)| error)
                .collect();
            assert!(!errors.is_empty(), "{at}");
            for error in errors {
                let content = &error["content"]["application/problem+json"];
                assert!(content["examples"].as_object().is_some_and(|all| !all.is_empty()), "{at}");
                assert_eq!(content["schema"]["$ref"], "#/components/schemas/Problem");
            }
            if let Some(body) = operation.get("requestBody") {
                let content = &body["content"]["application/json"];
                let schema = content["schema"]["$ref"].as_str().map(|reference| {
                    document.pointer(reference.trim_start_matches('#')).unwrap_or(&Value::Null)
                });
                let example =
                    content.get("example").or_else(|| schema.and_then(|schema| schema.get("example")));
                assert!(example.is_some(), "{at} has no example of its body");
            }
        }
    }
    assert_eq!(names.len(), 34);
    assert!(document["components"]["schemas"]["Problem"]["properties"]["rule"].is_object());
}
