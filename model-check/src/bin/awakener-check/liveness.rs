//! `liveness`: what must happen at last, on the cyclic worlds, under fairness.
//!
//! Here: which scopes are judged, and what is said. The judging is in the library ([`all`]). Rules: FML-3, CON-1.

use awakener_model_check::liveness::all::{self, Extent, Report};
use awakener_model_check::lookup::find;
use serde_json::json;

use crate::args::Liveness;
use crate::failure::Failure;
use crate::out;

/// Runs the command.
pub fn run(args: &Liveness, json: bool) -> Result<u8, Failure> {
    let mut entries = all::table();
    if let Some(name) = &args.world {
        let mut names: Vec<&str> = entries.iter().map(|entry| entry.world).collect();
        names.dedup();
        let world = names[find("cyclic world", name, &names)?];
        entries.retain(|entry| entry.world == world);
    }
    if let Some(name) = &args.scope {
        let names: Vec<&str> = entries.iter().map(|entry| entry.scope).collect();
        let scope = names[find("cyclic scope", name, &names)?];
        entries.retain(|entry| entry.scope == scope);
    }
    let threads = args.threads.map_or(Extent::default().threads, usize::from);
    let extent = Extent { threads, ..Extent::default() };
    let mut reports = Vec::new();
    for entry in &entries {
        let report = entry.run(&extent);
        let text = if json { serde_json::to_string(&report).unwrap_or_default() } else { report.to_string() };
        out::say(&(text + "\n"));
        reports.push(report);
    }
    // Whether every condition and every claim earns its place is seen over all scopes of a world.
    let whole = args.scope.is_none();
    let faults = if whole { faults(&reports) } else { Vec::new() };
    let clean = faults.is_empty() && reports.iter().all(Report::is_clean);
    if json {
        let sum = json!({"v": 1, "scopes": reports.len(), "whole": whole, "faults": faults, "clean": clean});
        out::say(&format!("{sum}\n"));
    } else {
        let states: u64 = reports.iter().map(|report| report.states).sum();
        let claims: usize = reports.iter().map(|report| report.claims.len()).sum();
        let seconds: f64 = reports.iter().map(|report| report.seconds).sum();
        faults.iter().for_each(|fault| out::say(&format!("{fault}\n")));
        out::say(&format!(
            "total: {} scopes, {states} states, {claims} claims, {seconds:.1} s\n{}\n",
            reports.len(),
            if clean { "every claim holds, and each condition is needed" } else { "NOT clean" },
        ));
    }
    Ok(u8::from(!clean))
}

fn faults(reports: &[Report]) -> Vec<String> {
    let superfluous = all::superfluous(reports).into_iter();
    let idle = all::idle(reports).into_iter();
    let superfluous = superfluous
        .map(|(world, claim, fair)| format!("{world}: {claim}: the condition \"{fair}\" is never needed"));
    let idle = idle.map(|(world, what)| format!("{world}: never met: {what}"));
    superfluous.chain(idle).collect()
}
