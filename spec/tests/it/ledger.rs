//! Sets the claims against the rules, in both directions, and the number of planned rules against the committed one.
//!
//! Not here: how claims are found (`claims`).

use awakener_spec::RuleState;
use std::collections::{BTreeMap, BTreeSet};

use crate::claims::Claim;

/// What the ledger must know of a rule.
#[derive(Debug, Clone, Copy)]
pub struct Entry<'a> {
    /// `ACK-2`.
    pub id: &'a str,
    /// What the list says of it.
    pub state: RuleState,
}

/// `ACK-2` as `Ack2`.
pub fn variant(id: &str) -> String {
    let (family, number) = id.split_once('-').unwrap();
    format!("{}{}{number}", &family[..1], family[1..].to_ascii_lowercase())
}

/// Every way in which rules and claims disagree.
pub fn judge(rules: &[Entry<'_>], claims: &[Claim]) -> Vec<String> {
    let by_variant: BTreeMap<String, &str> = rules.iter().map(|rule| (variant(rule.id), rule.id)).collect();
    let mut claimed = BTreeSet::new();
    let mut problems = Vec::new();
    for claim in claims {
        let at = format!("{}: {}", claim.file, claim.test);
        for rule in &claim.rules {
            match by_variant.get(rule) {
                Some(id) => drop(claimed.insert(*id)),
                None => problems.push(format!("{at} claims {rule}, which is no rule")),
            }
        }
        match prefix(&claim.test) {
            Some(prefix) if !claim.rules.contains(&prefix) => {
                problems.push(format!("{at} is named after {prefix}, which is not among its claims"));
            }
            Some(_) => {}
            None => problems.push(format!("{at} is not named after a rule, like `ack_2_…`")),
        }
    }
    for rule in rules {
        match (rule.state, claimed.contains(rule.id)) {
            (state @ (RuleState::Enforced | RuleState::Partial), false) => {
                problems.push(format!("{} is marked {state} and no test claims it", rule.id));
            }
            (RuleState::Planned, true) => problems.push(format!(
                "{} is claimed and still planned: set state = \"enforced\" in spec/rules.toml, or \"partial\"",
                rule.id
            )),
            (RuleState::Enforced | RuleState::Partial, true) | (RuleState::Planned, false) => {}
        }
    }
    problems
}

/// `ack_2_never` is named after `Ack2`.
fn prefix(test: &str) -> Option<String> {
    let mut parts = test.splitn(3, '_');
    let (family, number, _story) = (parts.next()?, parts.next()?, parts.next()?);
    let fits = family.len() == 3
        && family.bytes().all(|byte| byte.is_ascii_lowercase())
        && !number.is_empty()
        && number.bytes().all(|byte| byte.is_ascii_digit());
    fits.then(|| format!("{}{}{number}", family[..1].to_ascii_uppercase(), &family[1..]))
}

/// The number of planned rules only ever falls.
pub fn ratchet(planned: usize, committed: &str) -> Option<String> {
    let Ok(committed) = committed.trim().parse::<usize>() else {
        return Some("spec/planned.txt holds no number".into());
    };
    match planned.cmp(&committed) {
        std::cmp::Ordering::Greater => Some(format!(
            "{planned} rules are planned or partial, more than the {committed} of spec/planned.txt"
        )),
        std::cmp::Ordering::Less => Some(format!("spec/planned.txt says {committed}: lower it to {planned}")),
        std::cmp::Ordering::Equal => None,
    }
}
