//! What follows from the reports of a run: whether it is complete and clean.
//!
//! Broken laws, a second count that disagrees and numbers that are not as pinned are findings of every run. That a law
//! had nothing to forbid is one only where all scopes of `tiny` and `ci` of its world were searched: a single scope may
//! well have none of what the law is about. Rules: FML-3, FML-5.

use super::{LawReport, LawVerdict, Pins, ScopeReport};
use crate::world::STUTTER;

/// Laws whose twin no single kind of action is necessary for, and why that is all right.
pub const NO_SINGLE_NEED: &[(&str, &str)] =
    &[(STUTTER, "inputs of every kind are refused somewhere, so that none of them is necessary")];

/// What is said of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Judgement {
    /// What is wrong, a line each.
    pub findings: Vec<String>,
    /// Searches that were cut, a line each.
    pub cuts: Vec<String>,
    /// What is not wrong, but should be known.
    pub notes: Vec<String>,
}

impl Judgement {
    /// The exit code: 0 complete and clean, 1 something is wrong, 3 incomplete.
    pub const fn exit(&self) -> u8 {
        match (self.findings.is_empty(), self.cuts.is_empty()) {
            (false, _) => 1,
            (true, false) => 3,
            (true, true) => 0,
        }
    }
}

/// Judges a run. `whole`: worlds of which all scopes of `tiny` and `ci` were searched.
pub fn judge(reports: &[ScopeReport], whole: &[&str]) -> Judgement {
    let mut judged = Judgement::default();
    for report in reports {
        let place = format!("{}/{}", report.world, report.scope);
        for law in report.laws.iter().filter(|law| law.verdict == LawVerdict::Broken) {
            let steps = law.steps.unwrap_or_default();
            judged.findings.push(format!("{place}: {} FALLS after {steps} steps", law.name));
        }
        if let Some(second) = report.second.filter(|second| !second.agrees) {
            judged.findings.push(format!(
                "{place}: the engine saw {} states and stateright {}, or they disagree about a law or a twin",
                report.states, second.states
            ));
        }
        if report.pins == Pins::Differ {
            let differs = report.differs.as_deref().unwrap_or_default();
            judged.findings.push(format!("{place}: not as pinned: {differs} (meant? then --pin)"));
        }
        if let Some(cut) = report.cut {
            let states = report.states;
            judged.cuts.push(format!("{place}: INCOMPLETE: cut by {} after {states} states", why(cut)));
        }
    }
    let unpinned = reports.iter().filter(|report| report.pins == Pins::Unpinned).count();
    if unpinned > 0 {
        judged.notes.push(format!("{unpinned} scopes are not pinned (--pin)"));
    }
    for world in worlds(reports) {
        let of = reports.iter().filter(|report| report.world == world).collect::<Vec<_>>();
        empty(world, &of, whole.contains(&world), &mut judged);
    }
    judged
}

/// Worlds of a run, in its order.
pub fn worlds(reports: &[ScopeReport]) -> Vec<&'static str> {
    let mut worlds: Vec<&'static str> = reports.iter().map(|report| report.world).collect();
    worlds.dedup();
    worlds
}

/// Finds laws that had nothing to forbid, or whose twin nothing is needed for.
fn empty(world: &str, reports: &[&ScopeReport], gates: bool, judged: &mut Judgement) {
    if reports.iter().any(|report| !report.complete) {
        return;
    }
    let laws = reports.first().map(|report| report.laws.as_slice()).unwrap_or_default();
    let everywhere = |name: &str| -> Vec<&LawReport> {
        reports.iter().flat_map(|report| &report.laws).filter(|law| law.name == name).collect()
    };
    let mut idle = 0;
    for law in laws {
        let all = everywhere(law.name);
        if all.iter().all(|law| law.verdict == LawVerdict::Idle) {
            idle += 1;
            if gates {
                judged.findings.push(format!("{world}: {} is IDLE: never reached: {}", law.name, law.twin));
            }
            continue;
        }
        let excused = NO_SINGLE_NEED.iter().any(|(name, _)| *name == law.name);
        let shown = all.iter().any(|law| !law.needs.is_empty());
        let met = all.iter().any(|law| law.twin_depth.is_some());
        if gates && met && !shown && !excused {
            judged.findings.push(format!(
                "{world}: {}: no kind of action is needed to reach its twin ({}), so that it cannot be shown not to be empty",
                law.name, law.twin
            ));
        }
    }
    if !gates && idle > 0 {
        judged.notes.push(format!(
            "{world}: {idle} of {} laws had nothing to forbid here; that is judged where `tiny` and `ci` are searched (--scope ci)",
            laws.len()
        ));
    }
}

/// Why a search was cut, for people.
fn why(cut: &str) -> &str {
    if cut == "stopped" { "^C" } else { cut }
}
