//! The lists that were made from data hold together and are spelt as they are written.

use std::collections::BTreeSet;
use std::fmt::{Debug, Display};
use std::str::FromStr;

use awakener_spec::{
    AuditKind, Class, Fault, Limit, Reason, ReasonGroup, ReceiptKey, ReceiptKind, Retry, Rule, RuleKind,
    RuleState, Terminal, Unit, UnknownName,
};
use serde::Serialize;
use serde::de::DeserializeOwned;

/// One spelling per member, the same in every direction.
fn check<T>(all: &[T])
where
    T: Copy + Debug + Display + Ord + FromStr<Err = UnknownName> + Serialize + DeserializeOwned,
{
    let spellings: BTreeSet<String> = all.iter().map(T::to_string).collect();
    assert_eq!(spellings.len(), all.len());
    assert!(all.is_sorted(), "Ord is the order of the list");
    for item in all {
        let text = item.to_string();
        assert_eq!(T::from_str(&text), Ok(*item));
        assert_eq!(serde_json::to_value(item).unwrap(), serde_json::Value::from(text.clone()));
        assert_eq!(serde_json::from_str::<T>(&format!("\"{text}\"")).unwrap(), *item);
        for near in [format!("{text}x"), format!(" {text}"), String::new()] {
            assert!(T::from_str(&near).is_err(), "{near:?}");
            assert!(serde_json::from_str::<T>(&format!("\"{near}\"")).is_err(), "{near:?}");
        }
    }
}

#[test]
fn every_list_is_spelt_one_way() {
    check(Rule::ALL);
    check(RuleKind::ALL);
    check(RuleState::ALL);
    check(Limit::ALL);
    check(Unit::ALL);
    check(Reason::ALL);
    check(ReasonGroup::ALL);
    check(Fault::ALL);
    check(Retry::ALL);
    check(Class::ALL);
    check(AuditKind::ALL);
    check(ReceiptKind::ALL);
    check(ReceiptKey::ALL);
    check(Terminal::ALL);
}

#[test]
fn ids_become_variants_and_come_back() {
    assert_eq!(Rule::Ack2.id(), "ACK-2");
    assert_eq!(Rule::from_id("ACK-10"), Some(Rule::Ack10));
    assert_eq!(Rule::from_id("ack-10"), None);
    assert_eq!("ACK-".parse::<Rule>().unwrap_err().to_string(), "this is not the name of any Rule");
}

/// The names between backticks of a rule, as far as they belong to the list.
fn quoted<T: Copy>(rule: Rule, member: impl Fn(&str) -> Option<T>) -> Vec<T> {
    rule.text().split('`').skip(1).step_by(2).filter_map(member).collect()
}

#[test]
fn classes_stand_in_the_order_of_their_rule() {
    assert_eq!(quoted(Rule::Ver1, Class::from_name), Class::ALL);
}

#[test]
fn admission_is_judged_in_the_order_of_its_rule() {
    let of_group: Vec<Reason> =
        Reason::ALL.iter().copied().filter(|reason| reason.group() == ReasonGroup::Admission).collect();
    assert_eq!(quoted(Rule::Adm2, Reason::from_name), of_group);
}

#[test]
fn every_kind_of_receipt_stands_in_its_rule_and_no_other() {
    let named: BTreeSet<ReceiptKind> = quoted(Rule::Rcp1, ReceiptKind::from_name).into_iter().collect();
    assert_eq!(named, ReceiptKind::ALL.iter().copied().collect());
    assert_eq!(Rule::Rcp1.text().matches('`').count() / 2, named.len());
}

#[test]
fn every_receipt_can_be_reached() {
    let mut reached = BTreeSet::new();
    for kind in ReceiptKind::ALL {
        let needed = kind.prerequisites();
        assert!(needed.is_empty() || needed.iter().any(|kind| reached.contains(kind)), "{kind}");
        assert!(!needed.contains(kind));
        reached.insert(*kind);
    }
}

#[test]
fn a_terminal_group_is_a_question_with_two_answers_under_one_key() {
    for group in Terminal::ALL {
        let answers: Vec<_> =
            ReceiptKind::ALL.iter().filter(|kind| kind.terminal() == Some(*group)).collect();
        assert!(answers.len() > 1, "{group}");
        assert!(answers.iter().all(|kind| kind.key() == answers[0].key()), "{group}");
    }
}

#[test]
fn codes_of_refusals_agree_with_what_they_say() {
    for reason in Reason::ALL {
        let later = reason.retry() == Retry::Later;
        assert!(reason.status() != 429 || later, "{reason}: 429 is for what passes");
        assert_eq!(reason.retry() == Retry::SameId, *reason == Reason::OutcomeUnknown, "{reason}");
        let latches = reason.name().starts_with("fuse_") || *reason == Reason::Latched;
        assert_eq!(reason.exit() == 90, latches, "{reason}");
        assert!(
            reason.exit() != 69 || later || reason.retry() == Retry::SameId,
            "{reason}: 69 is for what passes"
        );
        assert!(reason.text().ends_with('.') && reason.next().ends_with('.'), "{reason}");
    }
}

#[test]
fn limits_keep_their_order() {
    for limit in Limit::ALL {
        assert!(1 <= limit.floor() && limit.floor() <= limit.default(), "{limit}");
        assert!(limit.default() <= limit.ceiling(), "{limit}");
    }
    assert_eq!((Limit::Skew.default(), Limit::Skew.ceiling()), (2_000, 5_000));
    assert_eq!(Limit::NonceHistory.floor(), 1_024);
}

#[test]
fn every_decision_has_a_date_and_rules_that_exist() {
    let lines: Vec<&str> =
        include_str!("../../decisions.md").lines().filter(|line| line.starts_with("- ")).collect();
    assert!(!lines.is_empty());
    let mut last = "";
    for line in lines {
        let (date, rest) = line[2..].split_once(' ').unwrap();
        let digits = |at: std::ops::Range<usize>| date[at].bytes().all(|byte| byte.is_ascii_digit());
        assert!(date.len() == 10 && digits(0..4) && digits(5..7) && digits(8..10), "{line}");
        assert!(last <= date, "oldest first: {line}");
        let (ids, text) = rest.split_once(": ").unwrap();
        assert!(ids.split(", ").all(|id| Rule::from_id(id).is_some()), "{line}");
        assert!(!text.is_empty());
        last = date;
    }
}
