//! `spec`: the rules, refusals, classes and limits that this very program keeps.
//!
//! Rules: CON-1.

use std::collections::BTreeSet;

use awakener_spec::{Class, Limit, MACHINES, Reason, ReceiptKind, Rule};
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
        Spec::Table { machine } => table(machine),
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

fn table(machine: &str) -> Result<Answer, Failure> {
    let names = || MACHINES.iter().map(|(name, _)| *name);
    match MACHINES.iter().find(|(name, _)| *name == machine) {
        Some((name, table)) => Ok(Answer::new(json!({ "machine": name, "table": table }), *table)),
        None => {
            let known = names().collect::<Vec<_>>().join(", ");
            let failure = Failure::usage(format!("There is no machine `{machine}`."));
            Err(match nearest(machine, names()) {
                Some(near) => failure.then(format!("Did you mean `{near}`?")),
                None => failure.then(format!("Machines are {known}.")),
            })
        }
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn con_1_every_table_can_be_shown_and_a_wrong_name_is_told_the_right_one() {
        for (name, table) in MACHINES {
            let shown = spec(&Spec::Table { machine: (*name).into() }).unwrap();
            assert_eq!(shown.text, *table);
        }
        let failure = spec(&Spec::Table { machine: "wakr".into() }).unwrap_err();
        assert_eq!(failure.next.as_deref(), Some("Did you mean `waker`?"));
    }

    #[test]
    fn con_1_a_name_is_shown_in_every_list_that_has_it() {
        let found =
            |id: &str| spec(&Spec::Show { id: id.into() }).unwrap().value["found"].as_array().unwrap().len();
        assert_eq!((found("ack-2"), found("lost_lease"), found("replay"), found("cooldown")), (1, 1, 1, 1));
        assert_eq!(spec(&Spec::Show { id: "no_such_name".into() }).unwrap_err().exit, 2);
        assert_eq!(rules().value["rules"].as_array().unwrap().len(), Rule::ALL.len());
    }
}
