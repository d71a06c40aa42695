//! As much of JSON Schema as the description of AgentAPI uses, to hold requests and answers against it.
//!
//! A keyword that is not understood fails: a check that skips what it does not know checks nothing.

use serde_json::Value;

/// The two operations that awakener uses; where they come from stands in the file.
pub fn agentapi() -> Value {
    serde_json::from_str(include_str!("agentapi-0.12.1.json")).unwrap()
}

/// What is wrong with a value under a schema of the document; nothing if it is right.
pub fn wrong(document: &Value, schema: &Value, value: &Value, at: &str) -> Vec<String> {
    let mut found = Vec::new();
    for (keyword, wanted) in schema.as_object().unwrap() {
        match keyword.as_str() {
            "$ref" => {
                let path = wanted.as_str().unwrap().trim_start_matches('#');
                let named = document.pointer(path).unwrap_or_else(|| panic!("{path} is not in the document"));
                found.extend(wrong(document, named, value, at));
            }
            "type" => {
                let fits = match wanted.as_str().unwrap() {
                    "object" => value.is_object(),
                    "array" => value.is_array(),
                    "string" => value.is_string(),
                    "boolean" => value.is_boolean(),
                    "integer" => value.is_i64(),
                    other => panic!("type {other}"),
                };
                let null = value.is_null() && schema.get("nullable") == Some(&Value::Bool(true));
                if !fits && !null {
                    found.push(format!("{at} is no {wanted}"));
                }
            }
            "enum" => {
                if !wanted.as_array().unwrap().contains(value) {
                    found.push(format!("{at} is none of {wanted}"));
                }
            }
            "required" => {
                let missing = wanted
                    .as_array()
                    .unwrap()
                    .iter()
                    .filter(|name| value.get(name.as_str().unwrap()).is_none());
                found.extend(missing.map(|name| format!("{at} lacks {name}")));
            }
            "additionalProperties" => {
                assert_eq!(wanted, false);
                let known = schema["properties"].as_object().unwrap();
                let strangers =
                    value.as_object().into_iter().flatten().filter(|(name, _)| !known.contains_key(*name));
                found.extend(strangers.map(|(name, _)| format!("{at} has {name}, which is not described")));
            }
            "properties" => {
                for (name, schema) in wanted.as_object().unwrap() {
                    if let Some(value) = value.get(name) {
                        found.extend(wrong(document, schema, value, &format!("{at}.{name}")));
                    }
                }
            }
            "items" => {
                for value in value.as_array().into_iter().flatten() {
                    found.extend(wrong(document, wanted, value, &format!("{at}[]")));
                }
            }
            // Says nothing that could be broken here.
            "format" | "default" | "nullable" => {}
            other => panic!("{at}: the keyword {other} is not understood"),
        }
    }
    found
}

/// The schema of a request or an answer of an operation.
pub fn of<'a>(document: &'a Value, operation: &str, part: &str) -> &'a Value {
    document.pointer(&format!("/paths/{operation}/{part}/schema")).unwrap()
}

/// What `POST /message` takes.
pub const MESSAGE: (&str, &str) = ("~1message/post", "requestBody/content/application~1json");
/// What it answers when all is well.
pub const TAKEN: (&str, &str) = ("~1message/post", "responses/200/content/application~1json");
/// What it answers else.
pub const ERROR: (&str, &str) = ("~1message/post", "responses/default/content/application~1problem+json");
/// What `GET /status` answers.
pub const STATUS: (&str, &str) = ("~1status/get", "responses/200/content/application~1json");

/// Fails on a value that does not fit.
pub fn fits((operation, part): (&str, &str), value: &Value) {
    let document = agentapi();
    let found = wrong(&document, of(&document, operation, part), value, "body");
    assert!(found.is_empty(), "{value}: {found:?}");
}

#[test]
fn cap_3_the_schema_refuses_what_agentapi_refuses() {
    use serde_json::json;
    fits(MESSAGE, &json!({ "content": "x", "type": "user" }));
    fits(STATUS, &json!({ "status": "stable", "agent_type": "claude", "transport": "pty" }));
    fits(ERROR, &json!({ "title": "t", "status": 500, "detail": "d", "errors": null }));
    let document = agentapi();
    let message = of(&document, MESSAGE.0, MESSAGE.1);
    for (bad, what) in [
        (json!({ "content": "x" }), "lacks"),
        (json!({ "content": "x", "type": "users" }), "none of"),
        (json!({ "content": 1, "type": "user" }), "no \"string\""),
        (json!({ "content": "x", "type": "user", "id": 1 }), "not described"),
        (json!([]), "no \"object\""),
    ] {
        let found = wrong(&document, message, &bad, "body");
        assert!(found.iter().any(|found| found.contains(what)), "{bad}: {found:?}");
    }
}
