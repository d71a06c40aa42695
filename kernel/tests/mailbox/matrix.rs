//! The golden matrix: what each input comes to in each situation, as `spec/machines/mailbox.toml` says.
//!
//! The file is written by this test with `AWAKENER_ACCEPT=1` and reviewed by hand; no rule rests on it alone (CNF-1).

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

use awakener_kernel::config::Config;
use awakener_kernel::machine::Outcome;
use awakener_kernel::mailbox::input::{Event, Refusal};

use crate::situations::{INPUTS, Make, SITUATIONS, Stage};
use crate::world::{Told, World};

const HEAD: &str = "\
# The mailbox, seen from outside: what each input comes to in each situation.
#
# Written by `AWAKENER_ACCEPT=1 cargo test -p awakener-kernel --test mailbox matrix` from the kernel and reviewed by
# hand; no rule rests on this file alone (CNF-1). In every situation the message is number 1 of mira's, sent to a
# target with attempts = 2; `fence` is the last token that was given out, `old_fence` the one before it; the wake is
# the last one that was minted for the message.
#
# `situations` says how each came about. Each table of `inputs` lists its outcomes, and the situations in which that is
# the one; every situation stands once in each. An outcome is `advanced <event>`, `absorbed`, `refused <reason>` or
# `withheld <class>`; all but the first leave everything as it was.
";

/// An outcome in the words of the file.
pub fn words(told: &Told) -> String {
    let name = |value: serde_json::Value| match value {
        serde_json::Value::String(name) => name,
        serde_json::Value::Object(members) => members.keys().next().cloned().unwrap_or_default(),
        other => panic!("{other}"),
    };
    match told {
        Outcome::Advanced(Event::EmissionRefused(why)) => format!("advanced emission_refused {why}"),
        Outcome::Advanced(event) => format!("advanced {}", name(serde_json::to_value(event).unwrap())),
        Outcome::Absorbed => "absorbed".to_owned(),
        Outcome::Refused(Refusal::Because(reason)) => format!("refused {reason}"),
        Outcome::Refused(Refusal::Withheld(class)) => format!("withheld {class}"),
    }
}

/// Every outcome of every input, with the situations in which it is the one.
type Cells = Vec<BTreeMap<String, Vec<&'static str>>>;

fn cells() -> Cells {
    let cell = |(name, _, make): &(&str, &str, Make), (situation, _, stage): &(&str, &str, Stage)| {
        let mut world = World::with(Config { attempts: 2, ..Config::default() });
        stage(&mut world);
        let input = make(&mut world);
        let before = world.snapshot();
        let told = world.give(input);
        if !told.is_advanced() {
            assert_eq!(world.snapshot(), before, "{situation}: {name} is {told:?} and changed something");
        }
        words(&told)
    };
    INPUTS
        .iter()
        .map(|input| {
            let mut by_outcome: BTreeMap<String, Vec<&'static str>> = BTreeMap::new();
            for situation in SITUATIONS {
                by_outcome.entry(cell(input, situation)).or_default().push(situation.0);
            }
            by_outcome
        })
        .collect()
}

fn text(cells: &Cells) -> String {
    let mut text = HEAD.to_owned();
    text.push_str("\n[situations]\n");
    for (situation, about, _) in SITUATIONS {
        writeln!(text, "{situation} = \"{about}\"").unwrap();
    }
    for ((name, about, _), by_outcome) in INPUTS.iter().zip(cells) {
        write!(text, "\n# {about}\n[inputs.{name}]\n").unwrap();
        for (outcome, situations) in by_outcome {
            writeln!(text, "\"{outcome}\" = [").unwrap();
            for line in situations.chunks(5) {
                writeln!(text, "    \"{}\",", line.join("\", \"")).unwrap();
            }
            text.push_str("]\n");
        }
    }
    text
}

#[test]
fn matrix_is_the_one_in_the_spec() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../spec/machines/mailbox.toml");
    let now = text(&cells());
    if std::env::var_os("AWAKENER_ACCEPT").is_some() {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, &now).unwrap();
    }
    let golden = std::fs::read_to_string(&path).unwrap_or_default();
    toml::from_str::<toml::Table>(&golden).expect("a file that parses");
    let different: Vec<String> = golden
        .lines()
        .zip(now.lines())
        .enumerate()
        .filter(|(_, (then, now))| then != now)
        .map(|(at, (then, now))| format!("line {}: {then}  is now  {now}", at + 1))
        .take(20)
        .collect();
    assert!(golden == now, "spec/machines/mailbox.toml differs:\n{}", different.join("\n"));
}

/// The positive control of the comparison: each input does something somewhere, and is turned down somewhere.
#[test]
fn matrix_has_no_input_with_one_outcome_only() {
    for ((name, ..), by_outcome) in INPUTS.iter().zip(cells()) {
        let outcomes: Vec<&str> = by_outcome.keys().map(String::as_str).collect();
        let never = ["admit_own_alert", "ack_station_no_fence", "ack_station_old_fence"];
        if !never.contains(name) && !name.ends_with("_old_fence") {
            assert!(outcomes.iter().any(|o| o.starts_with("advanced")), "{name} never does anything");
        }
        let always = ["admit_mail", "start_above"];
        if !always.contains(name) {
            assert!(outcomes.iter().any(|o| !o.starts_with("advanced")), "{name} is never turned down");
        }
    }
}
