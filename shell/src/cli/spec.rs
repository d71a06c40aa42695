//! `spec`: the rules, refusals, classes and limits that this very program keeps.
//!
//! Rules: CON-1.

use std::collections::BTreeSet;

use awakener_spec::{Class, Limit, Reason, ReceiptKind, Rule};
use serde_json::{Value, json};

use super::args::Spec;
use super::out::{self, Answer};
use crate::config::document::nearest;
use crate::exit::Failure;

/// `spec …`.
pub fn spec(command: &Spec) -> Result<Answer, Failure> {
    match command {
        Spec::Rules => Ok(rules()),
        Spec::Show { id } => show(id),
        Spec::Table { machine } => {
            Err(Failure::usage(format!("This program carries no table of `{machine}`."))
                .then("The tables of the machines stand in spec/machines of the source."))
        }
    }
}

fn rules() -> Answer {
    let rules: Vec<Value> = Rule::ALL
        .iter()
        .map(|rule| json!({"id": rule, "kind": rule.kind(), "state": rule.state(), "title": rule.title()}))
        .collect();
    let value = json!({ "rules": rules });
    let text = out::list(value.get("rules"), &["id", "kind", "state", "title"]);
    Answer::new(value, text)
}

fn show(id: &str) -> Result<Answer, Failure> {
    let mut found = Vec::new();
    if let Some(rule) = Rule::from_id(&id.to_ascii_uppercase()) {
        found.push(json!({
            "rule": rule,
            "title": rule.title(),
            "text": rule.text(),
            "kind": rule.kind(),
            "state": rule.state(),
        }));
    }
    if let Some(reason) = Reason::from_name(id) {
        found.push(json!({
            "reason": reason,
            "text": reason.text(),
            "rule": reason.rule(),
            "fault": reason.fault(),
            "retry": reason.retry(),
            "status": reason.status(),
            "exit": reason.exit(),
            "next": reason.next(),
        }));
    }
    if let Some(class) = Class::from_name(id) {
        found.push(json!({"class": class, "text": class.text(), "rule": class.rule(), "kind": class.kind()}));
    }
    if let Some(limit) = Limit::from_name(id) {
        found.push(json!({
            "limit": limit,
            "text": limit.text(),
            "rule": limit.rule(),
            "unit": limit.unit(),
            "default": limit.default(),
            "floor": limit.floor(),
            "ceiling": limit.ceiling(),
        }));
    }
    if let Some(kind) = ReceiptKind::from_name(id) {
        found.push(json!({"receipt": kind, "text": kind.text(), "key": kind.key()}));
    }
    if found.is_empty() {
        return Err(unknown(id));
    }
    let text = found.iter().map(out::fields).collect::<Vec<_>>().join("\n");
    Ok(Answer::new(json!({ "found": found }), text))
}

fn unknown(id: &str) -> Failure {
    let names: BTreeSet<&str> = (Rule::ALL.iter().map(|rule| rule.id()))
        .chain(Reason::ALL.iter().map(|reason| reason.name()))
        .chain(Class::ALL.iter().map(|class| class.name()))
        .chain(Limit::ALL.iter().map(|limit| limit.name()))
        .chain(ReceiptKind::ALL.iter().map(|kind| kind.name()))
        .collect();
    let failure = Failure::usage(format!("There is no rule, reason, class, limit or receipt `{id}`."));
    match nearest(id, names) {
        Some(near) => failure.then(format!("Did you mean `{near}`?")),
        None => failure.then("See `awakener spec rules`."),
    }
}
