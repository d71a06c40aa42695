//! Makes the enums of this crate from the TOML files beside it, and refuses files that are not well formed.
//!
//! Not here: what the names mean, and whether tests claim the rules (`tests/it`). No rules of its own.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::{env, fs, process};

use serde::Deserialize;
use serde::de::DeserializeOwned;

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
    let ids = rule_ids(&rules.rule)?;
    let mut out = String::new();
    write_rules(&mut out, &rules.rule)?;
    write_limits(&mut out, &limits.limit, &ids)?;
    write_reasons(&mut out, &reasons.reason, &ids)?;
    write_classes(&mut out, &classes.class, &ids)?;
    write_receipts(&mut out, &receipts.receipt)?;
    let path = format!("{}/lists.rs", env::var("OUT_DIR").map_err(|e| e.to_string())?);
    fs::write(&path, out).map_err(|e| format!("cannot write {path}: {e}"))
}

fn read<T: DeserializeOwned>(file: &str) -> Result<T, String> {
    println!("cargo::rerun-if-changed={file}");
    let text = fs::read_to_string(file).map_err(|e| format!("cannot read {file}: {e}"))?;
    toml::from_str(&text).map_err(|e| format!("{file}: {e}"))
}

fn rule_ids(rules: &[Rule]) -> Result<BTreeSet<&str>, String> {
    let mut ids = BTreeSet::new();
    for rule in rules {
        let id = rule.id.as_str();
        let well_formed = id.split_once('-').is_some_and(|(family, number)| {
            family.len() == 3
                && family.bytes().all(|b| b.is_ascii_uppercase())
                && !number.starts_with('0')
                && !number.is_empty()
                && number.bytes().all(|b| b.is_ascii_digit())
        });
        if !well_formed {
            return Err(format!("rules.toml: `{id}` is not an id: three capitals, `-`, a number from 1"));
        }
        if !ids.insert(id) {
            return Err(format!("rules.toml: `{id}` stands there twice; a number is never used again"));
        }
        said("rules.toml", id, &[&rule.title, &rule.text])?;
    }
    Ok(ids)
}

/// Each name once, in snake_case, naming only rules that exist.
fn check<'a>(
    file: &str,
    ids: &BTreeSet<&str>,
    items: impl Iterator<Item = (&'a str, Option<&'a str>, [&'a str; 2])>,
) -> Result<(), String> {
    let mut names = BTreeSet::new();
    for (name, rule, texts) in items {
        let snake = name.starts_with(|c: char| c.is_ascii_lowercase())
            && name.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_')
            && !name.ends_with('_')
            && !name.contains("__");
        if !snake {
            return Err(format!("{file}: `{name}` is not snake_case"));
        }
        if !names.insert(name) {
            return Err(format!("{file}: `{name}` stands there twice"));
        }
        if let Some(rule) = rule.filter(|rule| !ids.contains(rule)) {
            return Err(format!("{file}: `{name}` names the rule `{rule}`, which is not in rules.toml"));
        }
        said(file, name, &texts)?;
    }
    Ok(())
}

fn said(file: &str, name: &str, texts: &[&str]) -> Result<(), String> {
    match texts.iter().all(|text| !text.trim().is_empty() && text.trim() == *text) {
        true => Ok(()),
        false => Err(format!("{file}: a text of `{name}` is empty or has space at an end")),
    }
}

/// `ACK-2` and `too_large` become `Ack2` and `TooLarge`.
fn variant(name: &str) -> String {
    let mut out = String::new();
    for part in name.split(['-', '_']) {
        let mut chars = part.chars();
        out.extend(chars.next().map(|c| c.to_ascii_uppercase()));
        out.push_str(&chars.as_str().to_ascii_lowercase());
    }
    out
}

fn list<'a>(
    out: &mut String,
    doc: &str,
    head: &str,
    items: impl Iterator<Item = (&'a str, &'a str)>,
) -> Result<(), String> {
    let mut text = format!("names! {{\n    #[doc = {doc:?}]\n    pub enum {head} {{\n");
    for (name, doc) in items {
        let doc = doc.replace('[', "\\[").replace('<', "\\<");
        let _ = writeln!(text, "        #[doc = {doc:?}]\n        {} = {name:?},", variant(name));
    }
    text.push_str("    }\n}\n\n");
    out.push_str(&text);
    Ok(())
}

/// One `const fn` from a member to a value, as a match without a catch-all.
fn method<'a>(
    out: &mut String,
    list: &str,
    doc: &str,
    signature: (&str, &str),
    arms: impl Iterator<Item = (&'a str, String)>,
) {
    let (name, value) = signature;
    let _ = writeln!(
        out,
        "impl {list} {{\n    #[doc = {doc:?}]\n    #[must_use]\n    pub const fn {name}(self) -> {value} {{\n        match self {{"
    );
    for (item, value) in arms {
        let _ = writeln!(out, "            Self::{} => {value},", variant(item));
    }
    out.push_str("        }\n    }\n}\n\n");
}

fn quoted(text: &str) -> String {
    format!("{text:?}")
}

fn member(list: &str, name: &str) -> String {
    format!("{list}::{}", variant(name))
}

const TEXT: &str = "&'static str";

fn write_rules(out: &mut String, all: &[Rule]) -> Result<(), String> {
    list(out, "A rule, by its id.", "Rule as id, from_id", all.iter().map(|r| (&*r.id, &*r.title)))?;
    let arms = || all.iter();
    method(out, "Rule", "A few words.", ("title", TEXT), arms().map(|r| (&*r.id, quoted(&r.title))));
    method(out, "Rule", "The whole rule.", ("text", TEXT), arms().map(|r| (&*r.id, quoted(&r.text))));
    let kind = arms().map(|r| (&*r.id, member("RuleKind", &r.kind)));
    method(out, "Rule", "Where it is kept.", ("kind", "RuleKind"), kind);
    let state = arms().map(|r| (&*r.id, member("RuleState", &r.state)));
    method(out, "Rule", "Whether a test claims it.", ("state", "RuleState"), state);
    Ok(())
}

fn write_limits(out: &mut String, all: &[Limit], ids: &BTreeSet<&str>) -> Result<(), String> {
    check("limits.toml", ids, all.iter().map(|l| (&*l.name, Some(&*l.rule), [&*l.text, "-"])))?;
    for limit in all {
        if limit.default > limit.ceiling || limit.floor.is_some_and(|floor| floor > limit.default) {
            return Err(format!("limits.toml: `{}` needs floor <= default <= ceiling", limit.name));
        }
    }
    let doc = "A bound that is compiled in: configuration can lower it, nothing can raise it.";
    list(out, doc, "Limit as name, from_name", all.iter().map(|l| (&*l.name, &*l.text)))?;
    let arms = || all.iter();
    let of = "Limit";
    method(out, of, "What it bounds.", ("text", TEXT), arms().map(|l| (&*l.name, quoted(&l.text))));
    method(out, of, "What it counts.", ("unit", "Unit"), arms().map(|l| (&*l.name, member("Unit", &l.unit))));
    let number = |n: u64| format!("{n}");
    let doc = "The value without configuration.";
    method(out, of, doc, ("default", "u64"), arms().map(|l| (&*l.name, number(l.default))));
    let doc = "The greatest value that configuration can set.";
    method(out, of, doc, ("ceiling", "u64"), arms().map(|l| (&*l.name, number(l.ceiling))));
    let doc = "The least value that configuration can set.";
    method(out, of, doc, ("floor", "u64"), arms().map(|l| (&*l.name, number(l.floor.unwrap_or(1)))));
    let rule = arms().map(|l| (&*l.name, member("Rule", &l.rule)));
    method(out, of, "The rule that it belongs to.", ("rule", "Rule"), rule);
    Ok(())
}

fn write_reasons(out: &mut String, all: &[Reason], ids: &BTreeSet<&str>) -> Result<(), String> {
    check("reasons.toml", ids, all.iter().map(|r| (&*r.name, Some(&*r.rule), [&*r.text, &*r.next])))?;
    for reason in all {
        if !EXIT_CODES.contains(&reason.exit) || !(400..600).contains(&reason.status) {
            return Err(format!("reasons.toml: `{}` has an unknown exit or status code", reason.name));
        }
    }
    let doc = "Why something was refused; in each group the order of the list is the order of judgement.";
    list(out, doc, "Reason as name, from_name", all.iter().map(|r| (&*r.name, &*r.text)))?;
    let arms = || all.iter();
    let of = "Reason";
    let rule = arms().map(|r| (&*r.name, member("Rule", &r.rule)));
    method(out, of, "The rule that refuses.", ("rule", "Rule"), rule);
    let group = arms().map(|r| (&*r.name, member("ReasonGroup", &r.group)));
    method(out, of, "The part that refuses.", ("group", "ReasonGroup"), group);
    let fault = arms().map(|r| (&*r.name, member("Fault", &r.fault)));
    method(out, of, "Whose fault it is.", ("fault", "Fault"), fault);
    let retry = arms().map(|r| (&*r.name, member("Retry", &r.retry)));
    method(out, of, "Whether asking again can help.", ("retry", "Retry"), retry);
    let status = arms().map(|r| (&*r.name, r.status.to_string()));
    method(out, of, "The HTTP status code, 400 to 599.", ("status", "u16"), status);
    let exit = arms().map(|r| (&*r.name, r.exit.to_string()));
    method(out, of, "The exit code of a command that fails by it.", ("exit", "u8"), exit);
    let text = arms().map(|r| (&*r.name, quoted(&r.text)));
    method(out, of, "What happened, for people.", ("text", TEXT), text);
    method(out, of, "What to do next.", ("next", TEXT), arms().map(|r| (&*r.name, quoted(&r.next))));
    Ok(())
}

fn write_classes(out: &mut String, all: &[Class], ids: &BTreeSet<&str>) -> Result<(), String> {
    check("classes.toml", ids, all.iter().map(|c| (&*c.name, Some(&*c.rule), [&*c.text, "-"])))?;
    let doc = "Why a hint is not accepted, in the order of judgement (VER-1).";
    list(out, doc, "Class as name, from_name", all.iter().map(|c| (&*c.name, &*c.text)))?;
    let arms = || all.iter();
    let rule = arms().map(|c| (&*c.name, member("Rule", &c.rule)));
    method(out, "Class", "The rule that judges.", ("rule", "Rule"), rule);
    let kind = arms().map(|c| (&*c.name, member("AuditKind", &c.kind)));
    method(out, "Class", "How the audit chain files it (VER-4).", ("kind", "AuditKind"), kind);
    let text = arms().map(|c| (&*c.name, quoted(&c.text)));
    method(out, "Class", "What happened, for people.", ("text", TEXT), text);
    Ok(())
}

fn write_receipts(out: &mut String, all: &[Receipt]) -> Result<(), String> {
    let ids = BTreeSet::new();
    check("receipts.toml", &ids, all.iter().map(|r| (&*r.name, None, [&*r.text, "-"])))?;
    // A prerequisite stands above what needs it, so that the table can have no circle.
    let mut above = BTreeSet::new();
    for receipt in all {
        if let Some(unknown) = receipt.any_of.iter().find(|kind| !above.contains(kind.as_str())) {
            return Err(format!(
                "receipts.toml: `{}` needs `{unknown}`, which is not above it",
                receipt.name
            ));
        }
        above.insert(receipt.name.as_str());
    }
    let doc = "A kind of entry in the receipt ledger (RCP-1).";
    list(out, doc, "ReceiptKind as name, from_name", all.iter().map(|r| (&*r.name, &*r.text)))?;
    let arms = || all.iter();
    let of = "ReceiptKind";
    method(out, of, "What it says.", ("text", TEXT), arms().map(|r| (&*r.name, quoted(&r.text))));
    let key = arms().map(|r| (&*r.name, member("ReceiptKey", &r.key)));
    method(out, of, "What it belongs to.", ("key", "ReceiptKey"), key);
    let doc = "At least one of these must exist first; an empty list asks for nothing (RCP-2).";
    let needed = arms().map(|r| {
        let kinds: Vec<String> = r.any_of.iter().map(|kind| member("Self", kind)).collect();
        (&*r.name, format!("&[{}]", kinds.join(", ")))
    });
    method(out, of, doc, ("prerequisites", "&'static [Self]"), needed);
    let doc =
        "The question that it answers for good; two different answers under one key contradict (RCP-2).";
    let terminal = arms().map(|r| {
        let group = r.terminal.as_deref().map(|group| format!("Some({})", member("Terminal", group)));
        (&*r.name, group.unwrap_or_else(|| "None".into()))
    });
    method(out, of, doc, ("terminal", "Option<Terminal>"), terminal);
    Ok(())
}
