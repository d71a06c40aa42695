//! The program that a control runs: one search of one scope, and what it found as a line of JSON.
//!
//! It is a slim form of `awakener-check check --json`: no pins, no second count, no files. It stands in the library,
//! since only the copy of the workspace has a program around it ([`super::scratch`]).

use std::process::ExitCode;

use serde_json::Value;

use super::run::{Law, Line};
use crate::engine::{Options, explore};
use crate::world::World;

/// Most states of one search; the scopes of the registry have far fewer, and an edit should not change that.
const STATES: u64 = 3_000_000;

/// Searches what the command line says: `check WORLD SCOPE` or `liveness WORLD SCOPE`. Exit 0 if everything holds, 1 if
/// not, 2 if there is no such world or scope, 3 if the search was cut.
pub fn program() -> ExitCode {
    let arguments: Vec<_> = std::env::args().skip(1).collect();
    let line = match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["check", world, scope] => check(world, scope),
        _ => None,
    };
    let Some(line) = line else {
        eprintln!("no such search: {arguments:?}");
        return ExitCode::from(2);
    };
    match serde_json::to_string(&line) {
        Ok(text) => println!("{text}"),
        Err(error) => {
            eprintln!("{error}");
            return ExitCode::from(2);
        }
    }
    let broken = line.laws.iter().any(|law| law.verdict == BROKEN);
    ExitCode::from(if broken {
        1
    } else if line.complete {
        0
    } else {
        3
    })
}

const BROKEN: &str = "broken";

fn check(world: &str, scope: &str) -> Option<Line> {
    [search::<crate::mailbox::World>, search::<crate::waker::World>]
        .into_iter()
        .find_map(|search| search(world, scope))
}

fn search<W: World>(world: &str, scope: &str) -> Option<Line> {
    let scope = W::scopes().into_iter().find(|known| W::NAME == world && known.name == scope)?;
    let options = Options { threads: 1, states: Some(STATES), ..Options::default() };
    let found = explore(&scope.world, &options);
    let law = |(number, law): (usize, &crate::world::Law<W>)| {
        let broken = found.broken.iter().find(|broken| broken.law == number);
        let reached = found.reached.get(number).copied().unwrap_or_default();
        let verdict = if broken.is_some() {
            BROKEN
        } else if reached {
            "holds"
        } else {
            "idle"
        };
        let value = |action| serde_json::to_value(action).unwrap_or(Value::Null);
        let way = broken.map(|broken| broken.way.iter().map(value).collect());
        Law { name: law.name.to_owned(), verdict: verdict.to_owned(), way }
    };
    let laws = W::LAWS.iter().enumerate().map(law).collect();
    let cut = found.cut.map(|cut| format!("cut by {cut:?}").to_lowercase());
    Some(Line { complete: found.cut.is_none(), cut, laws })
}
