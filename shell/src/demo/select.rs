//! Pointing into what was seen: dotted paths, `*` for every item of a list.
//!
//! Pure. A path that leads nowhere is `None`, never an empty answer: what was not seen cannot be judged.

use serde_json::Value;

/// The values that a path leads to. `None` when a member on the way is missing, or a `*` stands where no list is.
pub fn select<'a>(from: &'a Value, path: &str) -> Option<Vec<&'a Value>> {
    let mut found = vec![from];
    for segment in path.split('.') {
        let mut next = Vec::with_capacity(found.len());
        for value in found {
            match (segment, value) {
                ("*", Value::Array(items)) => next.extend(items),
                ("*", _) => return None,
                (_, Value::Array(items)) => next.push(items.get(segment.parse::<usize>().ok()?)?),
                (_, value) => next.push(value.get(segment)?),
            }
        }
        found = next;
    }
    Some(found)
}

/// A value in a sentence: strings bare, several values with commas.
pub fn shown(values: &[&Value]) -> String {
    let one = |value: &&Value| match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    values.iter().map(one).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_path_leads_to_values_or_nowhere() {
        let seen = json!({"a": {"b": [{"c": 1}, {"c": 2}]}, "none": []});
        assert_eq!(select(&seen, "a.b.*.c"), Some(vec![&json!(1), &json!(2)]));
        assert_eq!(select(&seen, "a.b.1.c"), Some(vec![&json!(2)]));
        assert_eq!(select(&seen, "none.*.c"), Some(vec![]));
        for nowhere in ["x", "a.x", "a.*", "a.b.2.c", "a.b.*.x", "a.b.c"] {
            assert_eq!(select(&seen, nowhere), None, "{nowhere}");
        }
    }
}
