//! The checks on this repository. When one fails, its text says what to change.
//!
//! Rules: CNF-3, RCP-3.

use std::path::Path;

use awakener_spec::{Rule, RuleState};
use awakener_tools::enforces;

use crate::ledger::Entry;
use crate::tree::Tree;
use crate::{claims, ids, ledger, tree};

fn repository() -> Tree {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let tree = tree::read(root);
    assert!(tree.contains_key("spec/rules.toml"), "this is not the repository: {}", root.display());
    tree
}

fn rule_ids() -> Vec<&'static str> {
    Rule::ALL.iter().map(|rule| rule.id()).collect()
}

fn none(problems: &[String]) {
    assert!(problems.is_empty(), "\n{}\n", problems.join("\n"));
}

#[test]
fn every_rule_is_claimed_or_planned() {
    let found = claims::collect(&repository());
    let entry = |rule: &Rule| Entry { id: rule.id(), state: rule.state() };
    let rules: Vec<Entry<'_>> = Rule::ALL.iter().map(entry).collect();
    let mut problems = found.problems;
    problems.extend(ledger::judge(&rules, &found.all));
    none(&problems);
}

#[test]
fn planned_rules_only_get_fewer() {
    let in_state = |state| Rule::ALL.iter().filter(move |rule| rule.state() == state).count();
    let (partial, planned) = (in_state(RuleState::Partial), in_state(RuleState::Planned));
    println!("{partial} of {} rules are partial, {planned} planned", Rule::ALL.len());
    let planned = partial + planned;
    none(&ledger::ratchet(planned, include_str!("../../planned.txt")).into_iter().collect::<Vec<_>>());
}

/// `cargo test -p awakener-spec -- --ignored accept`: marks as enforced what is claimed by now, and lowers the number.
#[test]
#[ignore = "edits spec/rules.toml and spec/planned.txt"]
fn accept_new_claims() {
    let spec = Path::new(env!("CARGO_MANIFEST_DIR"));
    let claims = claims::collect(&repository());
    none(&claims.problems);
    let mut rules = std::fs::read_to_string(spec.join("rules.toml")).unwrap();
    for rule in Rule::ALL {
        let variant = ledger::variant(rule.id());
        // How much of a rule is built is nothing that a claim can say: what is partial stays so until a person says.
        let open = rule.state() == RuleState::Planned;
        if open && claims.all.iter().any(|claim| claim.rules.contains(&variant)) {
            let entry = rules.find(&format!("id = \"{rule}\"")).unwrap();
            let state = entry + rules[entry..].find("state = ").unwrap();
            let end = state + rules[state..].find('\n').unwrap();
            rules.replace_range(state..end, "state = \"enforced\"");
        }
    }
    let planned =
        rules.matches("\nstate = \"planned\"").count() + rules.matches("\nstate = \"partial\"").count();
    let committed: usize = include_str!("../../planned.txt").trim().parse().unwrap();
    assert!(
        planned <= committed,
        "{planned} rules would be planned or partial, more than {committed}: claim or raise by hand"
    );
    std::fs::write(spec.join("rules.toml"), rules).unwrap();
    std::fs::write(spec.join("planned.txt"), format!("{planned}\n")).unwrap();
}

#[test]
fn every_id_in_a_text_is_a_rule() {
    none(&ids::numbering(&rule_ids()));
    none(&ids::unknown(&repository(), &rule_ids()));
}

/// The files in which the past participle stands. Spelt in two halves, or this file would be one of them.
fn with_the_word(tree: &Tree) -> Vec<String> {
    awakener_spec::rule!(Rcp3);
    let word = ["deliv", "ered"].concat();
    let holds = |text: &str| text.to_ascii_lowercase().contains(&word);
    tree.iter().filter(|(path, text)| holds(path) || holds(text)).map(|(path, _)| path.clone()).collect()
}

enforces! {
    [Rcp3] fn rcp_3_the_word_is_used_nowhere(_seen) {
        let control = Tree::from([("a.md".into(), ["Deliv", "ered!"].concat()), ("b.md".into(), "deliver".into())]);
        assert_eq!(with_the_word(&control), ["a.md"]);
        none(&with_the_word(&repository()));
    }
}
