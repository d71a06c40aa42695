//! Writes the enums: one `names!` list and its methods for each TOML file.
//!
//! Not here: the shapes of the files and what makes them well formed (`check`).

use std::collections::BTreeSet;
use std::fmt::Write as _;

use crate::{Class, EXIT_CODES, Limit, Reason, Receipt, Rule, check};

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

fn list<'a>(out: &mut String, doc: &str, head: &str, items: impl Iterator<Item = (&'a str, &'a str)>) {
    let mut text = format!("names! {{\n    #[doc = {doc:?}]\n    pub enum {head} {{\n");
    for (name, doc) in items {
        let doc = doc.replace('[', "\\[").replace('<', "\\<");
        let _ = writeln!(text, "        #[doc = {doc:?}]\n        {} = {name:?},", variant(name));
    }
    text.push_str("    }\n}\n\n");
    out.push_str(&text);
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

pub fn rules(out: &mut String, all: &[Rule]) -> Result<(), String> {
    all.iter().try_for_each(|rule| check::texts("rules.toml", &rule.id, &[&rule.title, &rule.text]))?;
    list(out, "A rule, by its id.", "Rule as id, from_id", all.iter().map(|r| (&*r.id, &*r.title)));
    let arms = || all.iter();
    method(out, "Rule", "A few words.", ("title", TEXT), arms().map(|r| (&*r.id, quoted(&r.title))));
    method(out, "Rule", "The whole rule.", ("text", TEXT), arms().map(|r| (&*r.id, quoted(&r.text))));
    let kind = arms().map(|r| (&*r.id, member("RuleKind", &r.kind)));
    method(out, "Rule", "Where it is kept.", ("kind", "RuleKind"), kind);
    let state = arms().map(|r| (&*r.id, member("RuleState", &r.state)));
    method(out, "Rule", "Whether a test claims it.", ("state", "RuleState"), state);
    Ok(())
}

pub fn limits(out: &mut String, all: &[Limit], ids: &BTreeSet<&str>) -> Result<(), String> {
    check::names("limits.toml", ids, all.iter().map(|l| (&*l.name, Some(&*l.rule))))?;
    for limit in all {
        check::texts("limits.toml", &limit.name, &[&limit.text])?;
        if limit.default > limit.ceiling || limit.floor.is_some_and(|floor| floor > limit.default) {
            return Err(format!("limits.toml: `{}` needs floor <= default <= ceiling", limit.name));
        }
    }
    let doc = "A bound that is compiled in: configuration can lower it, nothing can raise it.";
    list(out, doc, "Limit as name, from_name", all.iter().map(|l| (&*l.name, &*l.text)));
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

pub fn reasons(out: &mut String, all: &[Reason], ids: &BTreeSet<&str>) -> Result<(), String> {
    check::names("reasons.toml", ids, all.iter().map(|r| (&*r.name, Some(&*r.rule))))?;
    for reason in all {
        check::texts("reasons.toml", &reason.name, &[&reason.text, &reason.next])?;
        if !EXIT_CODES.contains(&reason.exit) || !(400..600).contains(&reason.status) {
            return Err(format!("reasons.toml: `{}` has an unknown exit or status code", reason.name));
        }
    }
    let doc = "Why something was refused; in each group the order of the list is the order of judgement.";
    list(out, doc, "Reason as name, from_name", all.iter().map(|r| (&*r.name, &*r.text)));
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

pub fn classes(out: &mut String, all: &[Class], ids: &BTreeSet<&str>) -> Result<(), String> {
    check::names("classes.toml", ids, all.iter().map(|c| (&*c.name, Some(&*c.rule))))?;
    all.iter().try_for_each(|class| check::texts("classes.toml", &class.name, &[&class.text]))?;
    let doc = "Why a hint is not accepted, in the order of judgement (VER-1).";
    list(out, doc, "Class as name, from_name", all.iter().map(|c| (&*c.name, &*c.text)));
    let arms = || all.iter();
    let rule = arms().map(|c| (&*c.name, member("Rule", &c.rule)));
    method(out, "Class", "The rule that judges.", ("rule", "Rule"), rule);
    let kind = arms().map(|c| (&*c.name, member("AuditKind", &c.kind)));
    method(out, "Class", "How the audit chain files it (VER-4).", ("kind", "AuditKind"), kind);
    let text = arms().map(|c| (&*c.name, quoted(&c.text)));
    method(out, "Class", "What happened, for people.", ("text", TEXT), text);
    Ok(())
}

pub fn receipts(out: &mut String, all: &[Receipt]) -> Result<(), String> {
    check::names("receipts.toml", &BTreeSet::new(), all.iter().map(|r| (&*r.name, None)))?;
    // A prerequisite stands above what needs it, so that the table can have no circle.
    let mut above = BTreeSet::new();
    for receipt in all {
        check::texts("receipts.toml", &receipt.name, &[&receipt.text])?;
        if let Some(unknown) = receipt.any_of.iter().find(|kind| !above.contains(kind.as_str())) {
            return Err(format!(
                "receipts.toml: `{}` needs `{unknown}`, which is not above it",
                receipt.name
            ));
        }
        above.insert(receipt.name.as_str());
    }
    let doc = "A kind of entry in the receipt ledger (RCP-1).";
    list(out, doc, "ReceiptKind as name, from_name", all.iter().map(|r| (&*r.name, &*r.text)));
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
