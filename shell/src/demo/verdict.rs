//! The verdict: what was expected against what was seen. Pure, no I/O, no clock.
//!
//! A line is green only if everything that it expects was seen. What is missing is red, never green: a line without an
//! observation, a path that leads nowhere, a scenario that could not be played. Rules: OBS-1 in spirit, CON-1.

use serde::Serialize;
use serde_json::Value;

use crate::exit::Exit;

use super::scenarios::{Condition, Expect, Line, Observations, Scenarios};
use super::select::{select, shown};

/// The verdict on one line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LineVerdict {
    /// Its name.
    pub name: String,
    /// Whether everything was as expected.
    pub green: bool,
    /// What was seen, in words; empty for a red line, which claims nothing.
    pub seen: String,
    /// The rules that it shows.
    pub rules: Vec<String>,
    /// What was not as expected; empty if and only if the line is green.
    pub why: Vec<String>,
}

/// The verdict on every line of the scenarios, in their order, and on everything else that somebody claims to have
/// seen: that is red.
pub fn verdict(scenarios: &Scenarios, observations: &Observations) -> Vec<LineVerdict> {
    let judged = scenarios.line.iter().map(|line| judge(line, observations.lines.get(&line.name)));
    let known = |name: &String| scenarios.line.iter().any(|line| line.name == *name);
    let foreign = observations.lines.keys().filter(|name| !known(name)).map(|name| LineVerdict {
        name: name.clone(),
        green: false,
        seen: String::new(),
        rules: Vec::new(),
        why: vec!["no scenario asks for this".to_owned()],
    });
    judged.chain(foreign).collect()
}

/// Whether all lines are green. No line at all is not.
pub fn all_green(verdicts: &[LineVerdict]) -> bool {
    !verdicts.is_empty() && verdicts.iter().all(|line| line.green)
}

/// How the demo ends: 0 if all lines are green, else 1.
pub fn exit(verdicts: &[LineVerdict]) -> Exit {
    if all_green(verdicts) { Exit::Ok } else { Exit::Failed }
}

/// The verdict on one line.
pub fn judge(line: &Line, observation: Option<&Value>) -> LineVerdict {
    let why = match observation {
        None => vec!["nothing was seen".to_owned()],
        Some(seen) => match seen.get("fault") {
            Some(fault) => vec![format!("could not be played: {}", shown(&[fault]))],
            None => line.expect.iter().filter_map(|expect| broken(expect, seen)).collect(),
        },
    };
    let green = why.is_empty();
    let seen = observation.filter(|_| green).map(|seen| sentence(&line.seen, seen)).unwrap_or_default();
    LineVerdict { name: line.name.clone(), green, seen, rules: line.rules.clone(), why }
}

/// Why an expectation does not hold, if it does not.
fn broken(expect: &Expect, seen: &Value) -> Option<String> {
    let Expect { at, .. } = expect;
    let Some(found) = select(seen, at) else { return Some(format!("{at} was not seen")) };
    let said = |what: String| Some(format!("{at} {what}, found {}", brief(&shown(&found))));
    let one = match found.as_slice() {
        [one] => Some(*one),
        _none_or_many => None,
    };
    let other = |path: &str| select(seen, path).and_then(|values| values.first().copied());
    let text = |value: &Value| brief(&value.to_string());
    let list = |values: &[Value]| shown(&values.iter().collect::<Vec<_>>());
    match expect.condition() {
        None => said("has no single condition".to_owned()),
        Some(Condition::Is(value)) if one == Some(value) => None,
        Some(Condition::Is(value)) => said(format!("must be {}", text(value))),
        Some(Condition::IsNot(value)) if one.is_some_and(|one| one != value) => None,
        Some(Condition::IsNot(value)) => said(format!("must not be {}", text(value))),
        Some(Condition::AtLeast(n)) if one.and_then(Value::as_u64).is_some_and(|one| one >= n) => None,
        Some(Condition::AtLeast(n)) => said(format!("must be at least {n}")),
        Some(Condition::AtMost(n)) if one.and_then(Value::as_u64).is_some_and(|one| one <= n) => None,
        Some(Condition::AtMost(n)) => said(format!("must be at most {n}")),
        Some(Condition::Count(n)) if found.len() == n => None,
        Some(Condition::Count(n)) => said(format!("must be {n} in number")),
        Some(Condition::Contains(all)) if all.iter().all(|value| found.contains(&value)) => None,
        Some(Condition::Contains(all)) => said(format!("must contain {}", list(all))),
        Some(Condition::Lacks(none)) if !none.iter().any(|value| found.contains(&value)) => None,
        Some(Condition::Lacks(none)) => said(format!("must not contain {}", list(none))),
        Some(Condition::InOrder(all)) if in_order(all, &found) => None,
        Some(Condition::InOrder(all)) => said(format!("must contain, in this order, {}", list(all))),
        Some(Condition::Says(part)) if one.and_then(Value::as_str).is_some_and(|one| one.contains(part)) => {
            None
        }
        Some(Condition::Says(part)) => said(format!("must say {part:?}")),
        Some(Condition::SameAs(path)) if one.is_some() && one == other(path) => None,
        Some(Condition::SameAs(path)) => said(format!("must be the same as {path}")),
        Some(Condition::DiffersFrom(path))
            if one.is_some() && other(path).is_some() && one != other(path) =>
        {
            None
        }
        Some(Condition::DiffersFrom(path)) => said(format!("must differ from {path}")),
    }
}

fn in_order(wanted: &[Value], found: &[&Value]) -> bool {
    let mut rest = found.iter();
    wanted.iter().all(|value| rest.any(|candidate| *candidate == value))
}

/// The sentence with what it points to filled in; `?` for what was not seen.
fn sentence(template: &str, seen: &Value) -> String {
    let mut said = String::new();
    let mut rest = template;
    while let Some((before, after)) = rest.split_once('{') {
        let (path, behind) = after.split_once('}').unwrap_or((after, ""));
        said += before;
        said += &select(seen, path).map_or_else(|| "?".to_owned(), |found| shown(&found));
        rest = behind;
    }
    said + rest
}

fn brief(text: &str) -> String {
    let mut cut: String = text.chars().take(160).collect();
    if cut.len() < text.len() {
        cut.push('…');
    }
    if cut.is_empty() { "nothing".to_owned() } else { cut }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn line(expect: &str) -> Line {
        let text = format!(
            "version = 1\n[[line]]\nname = \"a\"\nrules = [\"ACK-3\"]\nsays = \"s\"\nseen = \"{{n}} of {{m}}\"\nexpect = [{expect}]\n"
        );
        Scenarios::read(&text).unwrap().line.remove(0)
    }

    #[test]
    fn every_condition_can_hold_and_can_fail() {
        for (expect, good, bad) in [
            ("{ at = 'n', is = 1 }", json!({"n": 1}), json!({"n": 2})),
            ("{ at = 'n', is = false }", json!({"n": false}), json!({"n": null})),
            ("{ at = 'n', is_not = 1 }", json!({"n": 2}), json!({"n": 1})),
            ("{ at = 'n', at_least = 2 }", json!({"n": 2}), json!({"n": 1})),
            ("{ at = 'n', at_least = 0 }", json!({"n": 2}), json!({"n": "2"})),
            ("{ at = 'n', at_most = 2 }", json!({"n": 2}), json!({"n": 3})),
            ("{ at = 'n.*', count = 2 }", json!({"n": [1, 1]}), json!({"n": [1]})),
            ("{ at = 'n.*', contains = [1, 2] }", json!({"n": [2, 3, 1]}), json!({"n": [1, 3]})),
            ("{ at = 'n.*', lacks = [1] }", json!({"n": [2]}), json!({"n": [2, 1]})),
            ("{ at = 'n.*', in_order = [1, 2] }", json!({"n": [1, 3, 2]}), json!({"n": [2, 1]})),
            ("{ at = 'n', says = 'b' }", json!({"n": "abc"}), json!({"n": "ac"})),
            ("{ at = 'n', same_as = 'm' }", json!({"n": 1, "m": 1}), json!({"n": 1, "m": 2})),
            ("{ at = 'n', differs_from = 'm' }", json!({"n": 1, "m": 2}), json!({"n": 1, "m": 1})),
        ] {
            let line = line(expect);
            assert!(judge(&line, Some(&good)).green, "{expect} {good}");
            for red in [&bad, &json!({}), &json!({"n": []}), &json!({"fault": "x", "n": good["n"]})] {
                // An empty list is something else than 1, and lacks it.
                let empty_list =
                    red == &json!({"n": []}) && (expect.contains("lacks") || expect.contains("is_not"));
                assert!(judge(&line, Some(red)).why.len() == usize::from(!empty_list), "{expect} {red}");
            }
            assert!(!judge(&line, None).green);
        }
    }

    #[test]
    fn what_nobody_asked_for_is_red_and_nothing_at_all_is_not_green() {
        let scenarios = Scenarios { version: 1, line: vec![line("{ at = 'n', is = 1 }")] };
        let lines = [("a".to_owned(), json!({"n": 1})), ("b".to_owned(), json!({"n": 1}))];
        let verdicts = verdict(&scenarios, &Observations { v: 1, lines: lines.into() });
        assert_eq!(verdicts.iter().map(|line| line.green).collect::<Vec<_>>(), [true, false]);
        assert_eq!(verdicts[0].seen, "1 of ?");
        assert!(!all_green(&verdicts) && all_green(&verdicts[..1]) && !all_green(&[]));
    }

    #[test]
    fn a_scenario_file_with_anything_unknown_is_refused() {
        let good = "version = 1\n[[line]]\nname = \"a\"\nrules = [\"ACK-3\"]\nsays = \"s\"\nseen = \"\"\nexpect = [{ at = \"n\", is = 1 }]\n";
        assert!(Scenarios::read(good).is_ok());
        for (from, to) in [
            ("says", "syas"),
            ("is = 1", "iz = 1"),
            (", is = 1", ""),
            ("is = 1", "is = 1, count = 1"),
            ("ACK-3", "ACK-x"),
            ("version = 1", "version = 2"),
            ("[{ at = \"n\", is = 1 }]", "[]"),
        ] {
            assert!(Scenarios::read(&good.replace(from, to)).is_err(), "{to}");
        }
        assert!(Scenarios::read(&(good.to_owned() + good.trim_start_matches("version = 1\n"))).is_err());
    }
}
