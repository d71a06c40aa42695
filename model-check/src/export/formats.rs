//! The formats themselves.

use std::fmt::Write as _;

use serde_json::{Value, json};

use super::Plain;
use crate::trace::told::said;
use crate::trace::{print, words};

/// Graphviz; a state's tooltip is its fingerprint.
pub fn dot(plain: &Plain) -> String {
    let mut text = format!("digraph \"{} {}\" {{\n", plain.world, plain.scope);
    for (state, fingerprint) in plain.prints.iter().enumerate() {
        let round =
            if plain.init.iter().any(|init| *init as usize == state) { ", peripheries=2" } else { "" };
        let _ = writeln!(text, "  s{state} [label=\"{state}\", tooltip=\"{}\"{round}];", print(*fingerprint));
    }
    for (from, label, to) in &plain.edges {
        let (action, label) = &plain.labels[*label as usize];
        let label = format!("{}\\n{}", escaped(&words(action)), escaped(&said(label)));
        let _ = writeln!(text, "  s{from} -> s{to} [label=\"{label}\"];");
    }
    text + "}\n"
}

fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"")
}

/// JSON: labels once, edges as `[from, label, to]`, refused inputs of each state as lists of labels.
pub fn json(plain: &Plain) -> String {
    let list = |items: Vec<String>| format!("[\n    {}\n  ]", items.join(",\n    "));
    let label = |(action, label): &(Value, crate::world::Label)| {
        json!({
            "action": action,
            "verdict": label.verdict,
            "what": label.what,
            "effects": label.effects,
        })
        .to_string()
    };
    let edges = plain.edges.iter().map(|(from, label, to)| format!("[{from},{label},{to}]"));
    format!(
        "{{\n  \"$schema\": \"urn:awakener:schema:graph:1\",\n  \"world\": {},\n  \"scope\": {},\n  \"states\": {},\n  \
         \"init\": {},\n  \"labels\": {},\n  \"edges\": {},\n  \"stays\": {},\n  \"fingerprints\": {}\n}}\n",
        Value::from(plain.world),
        Value::from(plain.scope),
        plain.states,
        json!(plain.init),
        list(plain.labels.iter().map(label).collect()),
        list(edges.collect()),
        list(plain.stays.iter().map(|stays| json!(stays).to_string()).collect()),
        list(plain.prints.iter().map(|fingerprint| Value::from(print(*fingerprint)).to_string()).collect()),
    )
}

/// A Mermaid state diagram.
pub fn mermaid(plain: &Plain) -> String {
    let mut text = "stateDiagram-v2\n".to_owned();
    for init in &plain.init {
        let _ = writeln!(text, "    [*] --> s{init}");
    }
    for (from, label, to) in &plain.edges {
        let (action, label) = &plain.labels[*label as usize];
        let what = if label.what.is_empty() { String::new() } else { format!(" / {}", label.what) };
        let line = format!("{}{what}", words(action)).replace([':', ';', '#', '"'], " ");
        let _ = writeln!(text, "    s{from} --> s{to}: {line}");
    }
    text
}
