//! The program that a control runs: one search of one scope, and what it found as a line of JSON.
//!
//! It is a slim form of `awakener-check check --json`: no pins, no second count, no files. It stands in the library,
//! since only the copy of the workspace has a program around it ([`super::scratch`]).

use std::process::ExitCode;

use serde_json::Value;

use super::run::{Found, Law};
use crate::cyclic::faithful::Effort;
use crate::engine::{Options, explore};
use crate::liveness::all::{self, Extent, Verdict};
use crate::world::{self, Scope, World};
use crate::worlds;

/// Most states of one search; the scopes of the registry have far fewer, and an edit should not change that.
const STATES: u64 = 3_000_000;

/// Searches what the command line says: `check WORLD SCOPE`, or `liveness WORLD SCOPE`. Exit 0 if everything holds, 1 if not, 2 if there is no
/// such world or scope, 3 if the search was cut.
pub fn program() -> ExitCode {
    let arguments: Vec<_> = std::env::args().skip(1).collect();
    let found = match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["check", world, scope] => check(world, scope),
        ["liveness", world, scope] => liveness(world, scope),
        _ => Err("usage: check|liveness WORLD SCOPE".to_owned()),
    };
    let said = found.and_then(|found| {
        let text = serde_json::to_string(&found).map_err(|error| error.to_string())?;
        Ok((text, found))
    });
    match said {
        Ok((text, found)) => {
            println!("{text}");
            let broken = found.laws.iter().any(Law::is_broken);
            ExitCode::from(if broken {
                1
            } else if found.complete {
                0
            } else {
                3
            })
        }
        Err(why) => {
            eprintln!("{why}");
            ExitCode::from(2)
        }
    }
}

fn check(world: &str, scope: &str) -> Result<Found, String> {
    let worlds = worlds::all();
    let known = worlds.iter().find(|known| known.name() == world);
    let known = known.ok_or_else(|| format!("there is no world {world}"))?;
    known.search(scope).map_err(|_| format!("{world} has no scope {scope}"))
}

/// Judges the claims of one cyclic scope, and its laws. A run without end counts as the way to its claim's fall.
fn liveness(world: &str, scope: &str) -> Result<Found, String> {
    let entry = all::table().into_iter().find(|entry| (entry.world, entry.scope) == (world, scope));
    let entry = entry.ok_or_else(|| format!("there is no cyclic scope {world}/{scope}"))?;
    let effort = Effort { states: 0, walks: 0, steps: 0 };
    let report = entry.run(&Extent { threads: 1, effort, recount: false });
    let claim = |claim: &all::Claim| {
        let way = claim.lasso.clone().map(|lasso| lasso.stem.into_iter().chain(lasso.cycle).collect());
        Law::new(claim.name, claim.verdict == Verdict::Holds, way)
    };
    let mut laws: Vec<_> = report.claims.iter().map(claim).collect();
    laws.extend(report.broken.into_iter().map(|broken| Law::new(broken.law, true, Some(broken.way))));
    let defect = report.claims.iter().find_map(|claim| claim.defects.first().cloned());
    Ok(Found { complete: defect.is_none(), cut: defect, laws })
}

/// Searches one scope on one thread, to its end.
pub fn search<W: World>(scope: &Scope<W>) -> Found {
    let options = Options { threads: 1, states: Some(STATES), ..Options::default() };
    let found = explore(&scope.world, &options);
    let law = |(number, law): (usize, &world::Law<W>)| {
        let broken = found.broken.iter().find(|broken| broken.law == number);
        let reached = found.reached.get(number).copied().unwrap_or_default();
        let value = |action| serde_json::to_value(action).unwrap_or(Value::Null);
        let way = broken.map(|broken| broken.way.iter().map(value).collect());
        Law::new(law.name, reached, way)
    };
    let laws = W::LAWS.iter().enumerate().map(law).collect();
    let cut = found.cut.map(|cut| format!("cut by {cut:?}").to_lowercase());
    Found { complete: found.cut.is_none(), cut, laws }
}
