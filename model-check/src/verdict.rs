//! What is said of the searches of one world: a line per scope, and whether all of it is complete and clean.
//!
//! Complete: every scope has exactly its pinned number of states, and every law had something to forbid in at least
//! one scope. Clean: no law is broken anywhere.

use std::collections::BTreeSet;
use std::fmt;

use crate::explore::{Found, Searched, search, shortest};

/// One scope.
#[derive(Clone, Debug)]
pub struct Line {
    /// Its name.
    pub scope: &'static str,
    /// The number of states that it must have.
    pub pinned: usize,
    /// What was found.
    pub found: Found,
    /// The shortest way to each broken law, as text.
    pub ways: Vec<(&'static str, Vec<String>)>,
}

/// One world.
#[derive(Clone, Debug)]
pub struct Verdict {
    /// Its name.
    pub world: &'static str,
    /// How many laws it has.
    pub laws: usize,
    /// Its scopes.
    pub lines: Vec<Line>,
    /// Laws that nowhere had anything to forbid, by the state that was never reached.
    pub idle: BTreeSet<&'static str>,
}

/// Searches every scope of a world.
pub fn verdict<W: Searched + Clone>() -> Verdict {
    let lines: Vec<_> =
        W::tiny().into_iter().map(|(scope, pinned, world)| line(scope, pinned, world)).collect();
    let reached = |twin: &&str| lines.iter().any(|line| line.found.reached.contains(twin));
    let idle = W::LAWS.iter().map(|law| law.twin).filter(|twin| !reached(twin)).collect();
    Verdict { world: W::NAME, laws: W::LAWS.len(), lines, idle }
}

fn line<W: Searched + Clone>(scope: &'static str, pinned: usize, world: W) -> Line {
    let found = search(world.clone());
    let broken = W::LAWS.iter().filter(|law| found.broken.contains(law.name));
    let ways = broken.map(|law| (law.name, way(&world, law.holds))).collect();
    Line { scope, pinned, found, ways }
}

/// The shortest way to a state in which a law does not hold, a step a line; empty if there is none.
pub fn way<W: Searched>(world: &W, holds: crate::explore::Condition<W>) -> Vec<String> {
    shortest(world, holds).unwrap_or_default().iter().map(|step| format!("{step:?}")).collect()
}

impl Line {
    /// Whether everything was searched.
    pub const fn is_complete(&self) -> bool {
        self.found.states == self.pinned
    }
}

impl Verdict {
    /// Whether everything was searched and nothing found.
    pub fn is_clean(&self) -> bool {
        self.idle.is_empty()
            && self.lines.iter().all(|line| line.is_complete() && line.found.broken.is_empty())
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for Line { scope, pinned, found, ways } in &self.lines {
            let Found { states, generated, depth, broken, reached } = found;
            let verdict = match (states == pinned, broken.is_empty()) {
                (_, false) => "BROKEN".to_owned(),
                (false, true) => format!("INCOMPLETE: {pinned} states expected"),
                (true, true) => "holds".to_owned(),
            };
            writeln!(
                f,
                "{:<8} {scope:<9} {generated:>9} states {states:>8} unique {depth:>4} deep {:>3} laws {:>3} met  {verdict}",
                self.world,
                self.laws,
                reached.len()
            )?;
            for (law, steps) in ways {
                writeln!(f, "  {law} falls after {} steps:", steps.len())?;
                steps.iter().try_for_each(|step| writeln!(f, "    {step}"))?;
            }
        }
        self.idle.iter().try_for_each(|twin| writeln!(f, "{:<8} never reached: {twin}", self.world))
    }
}
