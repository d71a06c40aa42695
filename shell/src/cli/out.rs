//! What a command answers: JSON for programs, short aligned text for people, from the same values.

use std::fmt::Write as _;

use serde_json::Value;

/// The result of a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// For `--json`; always with a `v`.
    pub value: Value,
    /// For people.
    pub text: String,
    /// The exit code; 0 unless the result itself is bad news.
    pub exit: u8,
}

impl Answer {
    /// Both forms.
    pub fn new(mut value: Value, text: impl Into<String>) -> Self {
        if let Value::Object(members) = &mut value {
            members.entry("v").or_insert_with(|| 1.into());
        }
        Self { value, text: text.into(), exit: 0 }
    }

    /// The members of an object as lines.
    pub fn fields(value: Value) -> Self {
        let text = fields(&value);
        Self::new(value, text)
    }
}

/// Rows with a head, columns as wide as they must be, two spaces between them.
pub fn table(head: &[&str], rows: &[Vec<String>]) -> String {
    let widths: Vec<usize> = (0..head.len())
        .map(|column| {
            let cells = rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count());
            cells.chain(head.get(column).map(|name| name.len())).max().unwrap_or(0)
        })
        .collect();
    let line = |cells: Vec<&str>| {
        let mut line = String::new();
        for (cell, width) in cells.iter().zip(&widths) {
            let _ = write!(line, "{cell:width$}  ");
        }
        line.trim_end().to_owned() + "\n"
    };
    let mut text = line(head.to_vec());
    for row in rows {
        text += &line(row.iter().map(String::as_str).collect());
    }
    text
}

/// The members of an object, one a line, `v` left out; what is nested is shown as JSON.
pub fn fields(value: &Value) -> String {
    let Value::Object(members) = value else { return shown(value) + "\n" };
    let width = members.keys().map(String::len).max().unwrap_or(0);
    let mut text = String::new();
    for (name, value) in members.iter().filter(|(name, _)| *name != "v") {
        let _ = writeln!(text, "{name:width$}  {}", shown(value));
    }
    text
}

/// A list of objects as a table of these members.
pub fn list(items: Option<&Value>, columns: &[&str]) -> String {
    let items = items.and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let cell = |item: &Value, name: &&str| item.get(*name).map(shown).unwrap_or_default();
    let rows: Vec<Vec<String>> =
        items.iter().map(|item| columns.iter().map(|name| cell(item, name)).collect()).collect();
    if rows.is_empty() { "none\n".into() } else { table(columns, &rows) }
}

/// A value in a cell: strings without quotes.
pub fn shown(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Null => "-".into(),
        Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => value.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn con_1_columns_are_aligned_and_end_without_spaces() {
        let text = table(&["a", "name"], &[vec!["long".into(), "x".into()], vec!["b".into(), "y".into()]]);
        assert_eq!(text, "a     name\nlong  x\nb     y\n");
    }

    #[test]
    fn con_1_every_answer_has_a_version() {
        assert_eq!(Answer::fields(serde_json::json!({"a": 1})).value["v"], 1);
        assert_eq!(fields(&serde_json::json!({"v": 1, "a": null, "bc": "x"})), "a   -\nbc  x\n");
    }
}
