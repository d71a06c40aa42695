//! Makes the enums of this crate from the TOML files beside it, and refuses files that are not well formed.
//!
//! Not here: what the names mean, and whether tests claim the rules (`tests/it`). No rules of its own.

use std::{env, fs, process};

use serde::Deserialize;
use serde::de::DeserializeOwned;

#[path = "build/check.rs"]
mod check;
#[path = "build/write.rs"]
mod write;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Rules {
    rule: Vec<Rule>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Rule {
    id: String,
    title: String,
    text: String,
    kind: String,
    state: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Limits {
    limit: Vec<Limit>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Limit {
    name: String,
    unit: String,
    default: u64,
    ceiling: u64,
    floor: Option<u64>,
    rule: String,
    text: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Reasons {
    reason: Vec<Reason>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Reason {
    name: String,
    rule: String,
    group: String,
    fault: String,
    retry: String,
    status: u16,
    exit: u8,
    text: String,
    next: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Classes {
    class: Vec<Class>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Class {
    name: String,
    rule: String,
    kind: String,
    text: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Receipts {
    receipt: Vec<Receipt>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Receipt {
    name: String,
    key: String,
    #[serde(default)]
    any_of: Vec<String>,
    terminal: Option<String>,
    text: String,
}

/// Exit codes that a refusal may ask for: failed, usage, malformed, unavailable, refused, configuration, latched.
const EXIT_CODES: [u8; 7] = [1, 2, 65, 69, 77, 78, 90];

fn main() {
    if let Err(problem) = generate() {
        eprintln!("spec: {problem}");
        process::exit(1);
    }
}

fn generate() -> Result<(), String> {
    let rules: Rules = read("rules.toml")?;
    let limits: Limits = read("limits.toml")?;
    let reasons: Reasons = read("reasons.toml")?;
    let classes: Classes = read("classes.toml")?;
    let receipts: Receipts = read("receipts.toml")?;
    let ids = check::ids(rules.rule.iter().map(|rule| rule.id.as_str()))?;
    let mut out = String::new();
    write::rules(&mut out, &rules.rule)?;
    write::limits(&mut out, &limits.limit, &ids)?;
    write::reasons(&mut out, &reasons.reason, &ids)?;
    write::classes(&mut out, &classes.class, &ids)?;
    write::receipts(&mut out, &receipts.receipt)?;
    let path = format!("{}/lists.rs", env::var("OUT_DIR").map_err(|e| e.to_string())?);
    fs::write(&path, out).map_err(|e| format!("cannot write {path}: {e}"))
}

fn read<T: DeserializeOwned>(file: &str) -> Result<T, String> {
    println!("cargo::rerun-if-changed={file}");
    let text = fs::read_to_string(file).map_err(|e| format!("cannot read {file}: {e}"))?;
    toml::from_str(&text).map_err(|e| format!("{file}: {e}"))
}
