//! The checks of traceability on made-up trees: for each way to fail one tree that fails, and one beside it that does not.

use crate::claims::{self, Claims};
use crate::ledger::{self, Entry};
use crate::tree::Tree;
use crate::{ids, tree};
use awakener_spec::RuleState;

fn tree(files: &[(&str, &str)]) -> Tree {
    files.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned())).collect()
}

fn collect(text: &str) -> Claims {
    claims::collect(&tree(&[("kernel/src/lib.rs", text)]))
}

/// Judged against one enforced rule, ACK-2, and one planned, INB-4.
fn judge(text: &str) -> Vec<String> {
    let found = collect(text);
    assert!(found.problems.is_empty(), "{:?}", found.problems);
    let rules =
        [Entry { id: "ACK-2", state: RuleState::Enforced }, Entry { id: "INB-4", state: RuleState::Planned }];
    ledger::judge(&rules, &found.all)
}

const HONEST: &str = "enforces! { [Ack2] fn ack_2_holds(seen) { } }";

#[test]
fn an_honest_tree_has_no_problem() {
    assert_eq!(judge(HONEST), [""; 0]);
    assert_eq!(
        judge("mod tests { awakener_tools::enforces_process! { [Ack2,] fn ack_2_holds(seen) { } } }"),
        [""; 0]
    );
    assert_eq!(
        judge("enforces! { /// Says.\n [Ack2] fn ack_2_holds(s) -> Result<(), Error> { Ok(()) } }"),
        [""; 0]
    );
    assert_eq!(judge("#[cfg(test)] mod tests { enforces! { [Ack2] fn ack_2_holds(seen) { } } }"), [""; 0]);
}

#[test]
fn an_unknown_rule_in_a_claim_fails() {
    let problems = judge("enforces! { [Ack2, Ack77] fn ack_2_holds(seen) { } }");
    assert_eq!(problems, ["kernel/src/lib.rs: ack_2_holds claims Ack77, which is no rule"]);
}

#[test]
fn a_name_after_another_rule_fails() {
    let problems = judge("enforces! { [Ack2] fn ack_22_holds(seen) { } }");
    assert_eq!(
        problems,
        ["kernel/src/lib.rs: ack_22_holds is named after Ack22, which is not among its claims"]
    );
    let problems = judge("enforces! { [Ack2] fn it_holds(seen) { } }");
    assert_eq!(problems, ["kernel/src/lib.rs: it_holds is not named after a rule, like `ack_2_…`"]);
}

#[test]
fn an_enforced_rule_without_a_running_claim_fails() {
    for silent in [
        "",
        "// enforces! { [Ack2] fn ack_2_holds(seen) { } }",
        "/// enforces! { [Ack2] fn ack_2_holds(seen) { } }\nfn f() {}",
        "/* enforces! { [Ack2] fn ack_2_holds(seen) { } } */",
        r#"const S: &str = "enforces! { [Ack2] fn ack_2_holds(seen) { } }";"#,
        "enforces! { #[ignore] [Ack2] fn ack_2_holds(seen) { } }",
        "enforces! { #[ignore = \"slow\"] [Ack2] fn ack_2_holds(seen) { } }",
        "enforces! { #[should_panic] [Ack2] fn ack_2_holds(seen) { } }",
        "enforces! { #[should_panic(expected = \"claims\")] [Ack2] fn ack_2_holds(seen) { } }",
        "enforces! { #[cfg(windows)] [Ack2] fn ack_2_holds(seen) { } }",
        "enforces! { #[cfg_attr(unix, ignore)] [Ack2] fn ack_2_holds(seen) { } }",
        "#[cfg(any())] mod tests { enforces! { [Ack2] fn ack_2_holds(seen) { } } }",
        "#[cfg(any())] enforces! { [Ack2] fn ack_2_holds(seen) { } }",
        "fn never() { enforces! { [Ack2] fn ack_2_holds(seen) { } } }",
        "macro_rules! never { () => { enforces! { [Ack2] fn ack_2_holds(seen) { } } } }",
        "other! { [Ack2] fn ack_2_holds(seen) { } }",
    ] {
        assert_eq!(judge(silent), ["ACK-2 is marked enforced and no test claims it"], "{silent}");
    }
}

#[test]
fn a_planned_rule_with_a_claim_fails() {
    let problems = judge("enforces! { [Ack2, Inb4] fn ack_2_holds(seen) { } }");
    assert_eq!(
        problems,
        ["INB-4 is claimed and still planned: set state = \"enforced\" in spec/rules.toml, or \"partial\""]
    );
}

#[test]
fn a_partial_rule_has_a_claim() {
    let partial = [Entry { id: "ACK-2", state: RuleState::Partial }];
    assert_eq!(ledger::judge(&partial, &collect(HONEST).all), [""; 0]);
    assert_eq!(ledger::judge(&partial, &[]), ["ACK-2 is marked partial and no test claims it"]);
}

#[test]
fn a_claim_that_does_not_parse_fails() {
    let found = collect("enforces! { [Ack2] fn ack_2_holds() { } }");
    assert!(
        found.problems[0].starts_with("kernel/src/lib.rs: a claim does not parse"),
        "{:?}",
        found.problems
    );
    let found = collect("fn {");
    assert!(found.problems[0].starts_with("kernel/src/lib.rs is not Rust"), "{:?}", found.problems);
}

#[test]
fn claims_are_found_through_modules() {
    for files in [
        [("a/tests/it/main.rs", "mod b;"), ("a/tests/it/b.rs", HONEST)],
        [("a/tests/it/main.rs", "mod b;"), ("a/tests/it/b/mod.rs", HONEST)],
        [("a/src/lib.rs", "mod b { mod c; }"), ("a/src/b/c.rs", HONEST)],
        [("a/src/lib.rs", "#[path = \"x.rs\"] mod b;"), ("a/src/x.rs", HONEST)],
        [("a/src/lib.rs", "#[path = \"../b/x.rs\"] mod b;"), ("a/b/x.rs", HONEST)],
        [("a/b/src/main.rs", "mod c;"), ("a/b/src/c.rs", HONEST)],
    ] {
        let found = claims::collect(&tree(&files));
        assert_eq!((found.all.len(), found.problems), (1, vec![]), "{files:?}");
    }
    let nested = [("a/src/lib.rs", "mod b;"), ("a/src/b.rs", "mod c;"), ("a/src/b/c.rs", HONEST)];
    assert_eq!(claims::collect(&tree(&nested)).all[0].file, "a/src/b/c.rs");
}

#[test]
fn claims_in_a_file_of_no_crate_fail() {
    let found = claims::collect(&tree(&[("a/src/lib.rs", "// mod b;"), ("a/src/b.rs", HONEST)]));
    assert_eq!(found.all, []);
    assert_eq!(found.problems, ["a/src/b.rs claims rules and is part of no crate: no `mod` reaches it"]);
    let found = claims::collect(&tree(&[("a/src/lib.rs", "mod b;")]));
    assert_eq!(found.problems, ["a/src/lib.rs: the file of `mod b` is missing"]);
}

#[test]
fn ids_of_no_rule_fail_wherever_they_stand() {
    // Put together here, or this file itself would name rules that do not exist.
    let (gone, longer) = (["ACK", "99"].join("-"), ["ACK", "20"].join("-"));
    let known = ["ACK-1", "ACK-2"];
    for (path, text) in [
        ("README.md", format!("see ({gone}).")),
        ("kernel/src/lib.rs", format!("fn f() {{}}\n// {gone}: why")),
        ("limits.toml", format!("rule = \"{gone}\"")),
        ("tla/Mailbox.tla", format!("\\* {gone}…")),
    ] {
        let problems = ids::unknown(&tree(&[(path, &text)]), &known);
        assert_eq!(problems.len(), 1, "{path}");
        assert!(problems[0].ends_with(&format!("there is no rule {gone}")), "{problems:?}");
    }
    assert_eq!(ids::unknown(&tree(&[("a.md", &longer)]), &known).len(), 1);
    let fine = "ACK-1, ACK-2; SHA-256, UTF-8, ABC-7, BACK-77, x-ACK-77, ACK-77th, ä-1, ACK-";
    assert_eq!(ids::unknown(&tree(&[("a.md", fine)]), &known), [""; 0]);
}

#[test]
fn numbers_left_out_or_used_twice_fail() {
    assert_eq!(ids::numbering(&["ABC-2", "ABC-1", "XYZ-1"]), [""; 0]);
    assert_eq!(ids::numbering(&["ABC-1", "ABC-3", "XYZ-2"]), ["ABC-2 is left out", "XYZ-1 is left out"]);
    assert_eq!(ids::numbering(&["ABC-1", "ABC-2", "ABC-2"]), ["ABC-2 is used twice"]);
}

#[test]
fn the_number_of_planned_rules_is_a_ratchet() {
    assert_eq!(ledger::ratchet(7, "7\n"), None);
    assert_eq!(
        ledger::ratchet(8, "7").unwrap(),
        "8 rules are planned or partial, more than the 7 of spec/planned.txt"
    );
    assert_eq!(ledger::ratchet(6, "7").unwrap(), "spec/planned.txt says 7: lower it to 6");
    assert_eq!(ledger::ratchet(6, "few").unwrap(), "spec/planned.txt holds no number");
}

#[test]
fn only_src_and_tests_are_crates() {
    let files =
        tree(&[("a/src/lib.rs", ""), ("a/build.rs", ""), ("a/tests/it/main.rs", ""), ("a/src/bin/b.rs", "")]);
    assert_eq!(tree::rust_files(&files).count(), 3);
    assert_eq!(tree::roots(&files).len(), 3);
}
