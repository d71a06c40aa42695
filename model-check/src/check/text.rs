//! What people read of a run: a line per scope, two lines per law, a sum.
//!
//! Rules: CON-1.

use std::fmt::Write as _;

use super::judge::{Judgement, worlds};
use super::{LawReport, LawVerdict, Pins, ScopeReport};

/// A number with separators.
pub fn number(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A number in at most five characters: `12.3M`.
pub fn short(number: f64) -> String {
    match number {
        n if n >= 1e9 => format!("{:.1}G", n / 1e9),
        n if n >= 1e6 => format!("{:.1}M", n / 1e6),
        n if n >= 1e4 => format!("{:.0}k", n / 1e3),
        n => format!("{n:.0}"),
    }
}

/// Bytes: `512 MiB`.
#[expect(clippy::cast_precision_loss, reason = "a rough number for people")]
pub fn bytes(bytes: u64) -> String {
    match bytes {
        0 => "-".into(),
        b if b < 10 << 30 => format!("{} MiB", b >> 20),
        b => format!("{:.1} GiB", b as f64 / f64::from(1 << 30)),
    }
}

/// Something a second; `-` for what took no time.
#[expect(clippy::cast_precision_loss, reason = "a rough number for people")]
pub fn rate(number: u64, seconds: f64) -> String {
    if seconds < 0.001 { "-".into() } else { short(number as f64 / seconds) }
}

/// So many steps.
fn steps(number: u32) -> String {
    if number == 1 { "1 step".into() } else { format!("{number} steps") }
}

/// The head of the lines of scopes.
pub fn head() -> String {
    format!(
        "{:<10} {:<18} {:<6} {:>11} {:>12} {:>13} {:>5} {:>8} {:>8} {:>9}  {:<9} {:<8} verdict\n",
        "world",
        "scope",
        "group",
        "states",
        "edges",
        "refused",
        "depth",
        "seconds",
        "states/s",
        "peak",
        "second",
        "pins"
    )
}

/// The line of a scope.
pub fn row(report: &ScopeReport) -> String {
    let group = serde_variant::to_variant_name(&report.group).unwrap_or_default();
    let second = match report.second {
        Some(second) if second.agrees => "agrees",
        Some(_) => "DISAGREES",
        None => "-",
    };
    let pins = match report.pins {
        Pins::Match => "match",
        Pins::Differ => "DIFFER",
        Pins::Skipped => "-",
        Pins::Unpinned => "unpinned",
    };
    let broken = report.laws.iter().filter(|law| law.verdict == LawVerdict::Broken).count();
    let verdict = match (report.cut, broken) {
        (_, 1) => "1 LAW FALLS".to_owned(),
        (_, n) if n > 0 => format!("{n} LAWS FALL"),
        (Some(cut), _) => format!("INCOMPLETE ({cut})"),
        (None, _) => "holds".to_owned(),
    };
    format!(
        "{:<10} {:<18} {:<6} {:>11} {:>12} {:>13} {:>5} {:>8.2} {:>8} {:>9}  {second:<9} {pins:<8} {verdict}\n",
        report.world,
        report.scope,
        group,
        number(report.states),
        number(report.edges),
        number(report.stays),
        report.depth,
        report.seconds,
        rate(report.states, report.seconds),
        bytes(report.peak_bytes),
    )
}

/// The laws of every world of a run.
pub fn laws(reports: &[ScopeReport]) -> String {
    let mut text = String::new();
    for world in worlds(reports) {
        let of: Vec<&ScopeReport> = reports.iter().filter(|report| report.world == world).collect();
        let names = of.first().map(|report| report.laws.as_slice()).unwrap_or_default();
        let _ = writeln!(text, "\n{world}: properties");
        for law in names {
            text += &one(law, &of);
        }
    }
    text
}

fn one(law: &LawReport, reports: &[&ScopeReport]) -> String {
    let all: Vec<(&ScopeReport, &LawReport)> = (reports.iter())
        .flat_map(|report| report.laws.iter().map(move |law| (*report, law)))
        .filter(|(_, known)| known.name == law.name)
        .collect();
    let is = |verdict: LawVerdict| all.iter().any(|(_, law)| law.verdict == verdict);
    let verdict = match () {
        () if is(LawVerdict::Broken) => "FALLS",
        () if is(LawVerdict::Holds) => "holds",
        () => "IDLE",
    };
    // The states in which it had something to lose: those of the scopes that reach its twin.
    let met: Vec<_> = all.iter().filter(|(_, law)| law.verdict != LawVerdict::Idle).collect();
    let states: u64 = met.iter().map(|(report, _)| report.states).sum();
    let what = law.name.strip_prefix(law.rule).unwrap_or(law.name).trim_start();
    let mut text = format!("  {verdict:<5} {:<7} {what}  ({} states)\n", law.rule, number(states));
    let first = all.iter().filter_map(|(report, law)| Some((law.twin_depth?, *report, *law)));
    let _ = match first.min_by_key(|first| first.0) {
        Some(first) => {
            let (depth, scope, needs) = (first.0, first.1.scope, needs(&all, &first));
            writeln!(
                text,
                "                twin: {}; first after {} in {scope}; {needs}",
                law.twin,
                steps(depth)
            )
        }
        None if met.is_empty() => writeln!(text, "                twin: {}; never reached", law.twin),
        None => writeln!(text, "                twin: {}; reached", law.twin),
    };
    text
}

/// What a twin needs where it is first reached, or where it needs something that not every twin needs.
fn needs(all: &[(&ScopeReport, &LawReport)], first: &(u32, &ScopeReport, &LawReport)) -> String {
    let (_, report, law) = first;
    let here = special(report, law);
    if !here.is_empty() {
        return format!("needs {}", here.join(" "));
    }
    let elsewhere = all.iter().map(|(report, law)| (report.scope, special(report, law)));
    match elsewhere.filter(|(_, kinds)| !kinds.is_empty()).min_by_key(|(_, kinds)| kinds.len()) {
        Some((scope, kinds)) => format!("needs {} in {scope}", kinds.join(" ")),
        None if law.needs.is_empty() => "needs NO single kind of action".into(),
        None => format!("needs {}, as every twin there", law.needs.join(" ")),
    }
}

/// Kinds that a twin needs and not every other twin of the scope needs as well.
fn special(report: &ScopeReport, law: &LawReport) -> Vec<String> {
    let reached = || report.laws.iter().filter(|law| law.twin_depth.is_some());
    let common = |kind: &&String| reached().count() > 1 && reached().all(|law| law.needs.contains(kind));
    law.needs.iter().filter(|kind| !common(kind)).cloned().collect()
}

/// The sum of a run, and what follows.
pub fn sum(reports: &[ScopeReport], judged: &Judgement) -> String {
    let total = |of: fn(&ScopeReport) -> u64| reports.iter().map(of).sum::<u64>();
    let (states, edges, stays) = (total(|r| r.states), total(|r| r.edges), total(|r| r.stays));
    let seconds: f64 = reports.iter().map(|report| report.seconds).sum();
    let peak = reports.iter().map(|report| report.peak_bytes).max().unwrap_or_default();
    let mut text = format!(
        "\ntotal: {} scopes, {} states, {} edges, {} refused inputs; {seconds:.1} s, {} states/s, {} tries/s; peak {}\n",
        reports.len(),
        number(states),
        number(edges),
        number(stays),
        rate(states, seconds),
        rate(edges + stays, seconds),
        bytes(peak),
    );
    if reports.iter().any(|report| !super::is_explicit(report.group)) {
        text += "deep: fingerprints only; nothing is counted a second time, and what twins need is not found out\n";
    }
    for note in &judged.notes {
        let _ = writeln!(text, "note: {note}");
    }
    for line in judged.findings.iter().chain(&judged.cuts) {
        let _ = writeln!(text, "{line}");
    }
    text += match judged.exit() {
        0 => "complete and clean\n",
        3 => "INCOMPLETE: nothing was found so far, and not everything was seen\n",
        _ => "NOT clean\n",
    };
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn con_1_numbers_are_readable() {
        assert_eq!([0, 12, 1_234, 1_234_567].map(number), ["0", "12", "1,234", "1,234,567"]);
        assert_eq!([9.0, 9_999.0, 12_300.0, 1_250_000.0].map(short), ["9", "9999", "12k", "1.2M"]);
        assert_eq!((rate(5, 0.0), rate(5, 2.0)), ("-".into(), "2".into()));
    }
}
