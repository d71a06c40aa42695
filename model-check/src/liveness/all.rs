//! Every claim on every cyclic scope, judged, in a form that a program can print.
//!
//! One line of the [`table`] is one scope of one world. Its safety laws are checked in the same search, the number of
//! its states is counted again by stateright, and its canonical form is checked against the concrete world; a claim
//! on a graph that is wrong would be worth nothing. Rules: FML-3, FML-5.

use std::collections::BTreeMap;
use std::fmt;
use std::time::{Duration, Instant};

use serde::Serialize;
use serde_json::Value;

use super::{Lasso, Leads, Strength, judge, marks};
use crate::cyclic::faithful::{self, Effort, Met};
use crate::cyclic::{Cyclic, system, waker};
use crate::engine::{Options, explore};
use crate::second;
use crate::world::{Scope, World};

/// One scope of one world, to be judged.
pub struct Entry {
    /// The world.
    pub world: &'static str,
    /// The scope.
    pub scope: &'static str,
    run: Box<dyn Fn(&Extent) -> Report + Send + Sync>,
}

impl fmt::Debug for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.world, self.scope)
    }
}

impl Entry {
    /// Judges it.
    pub fn run(&self, extent: &Extent) -> Report {
        (self.run)(extent)
    }
}

/// How much is done beside the judging.
#[derive(Clone, Copy, Debug)]
pub struct Extent {
    /// Threads of the search.
    pub threads: usize,
    /// How far the canonical form is checked.
    pub effort: Effort,
    /// Whether stateright counts the states again.
    pub recount: bool,
}

impl Default for Extent {
    fn default() -> Self {
        let effort = Effort { states: 20_000, walks: 200, steps: 100 };
        Self { threads: 2, effort, recount: true }
    }
}

/// A run that never ends, for printing: the actions as traces hold them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Way {
    /// The way to the cycle.
    pub stem: Vec<Value>,
    /// The cycle; empty = it rests.
    pub cycle: Vec<Value>,
}

/// A fairness condition of a claim, and what happens without it.
#[derive(Clone, Debug, Serialize)]
pub struct Condition {
    /// Its name.
    pub name: &'static str,
    /// How strong it is.
    pub strength: Strength,
    /// Why it takes no power from the adversary.
    pub why: &'static str,
    /// The run that it forbids; none = it is superfluous.
    pub without: Option<Way>,
}

/// What is said of a claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// It holds, and says something.
    Holds,
    /// A fair run breaks it.
    Lasso,
    /// What it speaks of is never met in this scope.
    Idle,
    /// The search is not to be trusted.
    Defect,
}

/// One claim, judged.
#[derive(Clone, Debug, Serialize)]
pub struct Claim {
    /// Rule ids and what is promised.
    pub name: &'static str,
    /// What it begins with.
    pub when: &'static str,
    /// What must follow.
    pub then: &'static str,
    /// What is said of it.
    pub verdict: Verdict,
    /// The run that breaks it.
    pub lasso: Option<Way>,
    /// Its conditions.
    pub fairness: Vec<Condition>,
    /// What is never met.
    pub idle: Vec<&'static str>,
    /// What is wrong with the search.
    pub defects: Vec<String>,
}

/// A safety law that does not hold, with the shortest way to where it does not.
#[derive(Clone, Debug, Serialize)]
pub struct Broken {
    /// The law.
    pub law: &'static str,
    /// The way.
    pub way: Vec<Value>,
}

/// One scope, judged.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// The world.
    pub world: &'static str,
    /// The scope.
    pub scope: &'static str,
    /// States.
    pub states: u64,
    /// Edges.
    pub edges: u64,
    /// What stateright counts; none = it was not asked.
    pub second: Option<u64>,
    /// How far the canonical form was checked, or the difference that was found.
    pub form: Result<Met, String>,
    /// Safety laws that do not hold.
    pub broken: Vec<Broken>,
    /// Twins of the laws, each with whether it was reached.
    pub twins: Vec<(&'static str, bool)>,
    /// The claims.
    pub claims: Vec<Claim>,
    /// How long it took, in seconds.
    pub seconds: f64,
}

impl Report {
    /// Whether everything holds and can be trusted. Not every scope needs every condition, or meets everything that a
    /// claim speaks of: that is judged over all scopes of a world ([`superfluous`], [`idle`]).
    pub fn is_clean(&self) -> bool {
        self.form.is_ok()
            && self.broken.is_empty()
            && self.second.is_none_or(|second| second == self.states)
            && self.claims.iter().all(|claim| matches!(claim.verdict, Verdict::Holds | Verdict::Idle))
    }
}

/// Every scope of every cyclic world.
pub fn table() -> Vec<Entry> {
    fn of<W: Cyclic>() -> impl Iterator<Item = Entry> {
        W::scopes().into_iter().map(|scope| {
            let name = scope.name;
            Entry { world: W::NAME, scope: name, run: Box::new(move |extent| run(&scope, extent)) }
        })
    }
    of::<waker::World>().chain(of::<system::World>()).collect()
}

/// Claims with conditions that no scope needs: world, claim, condition. There must be none.
pub fn superfluous(reports: &[Report]) -> Vec<(&'static str, &'static str, &'static str)> {
    let conditions = reports.iter().flat_map(|report| {
        let claims = report.claims.iter();
        claims.flat_map(|claim| {
            claim.fairness.iter().map(|fair| ((report.world, claim.name, fair.name), fair.without.is_some()))
        })
    });
    unmet(conditions)
}

/// Claims that never say anything, and laws that never forbid anything: world, claim or law. There must be none.
pub fn idle(reports: &[Report]) -> Vec<(&'static str, &'static str)> {
    let met = reports.iter().flat_map(|report| {
        let claims = report.claims.iter().map(|claim| (claim.name, claim.idle.is_empty()));
        let laws = report.twins.iter().copied();
        claims.chain(laws).map(|(name, met)| ((report.world, name), met))
    });
    unmet(met)
}

fn unmet<K: Ord>(all: impl Iterator<Item = (K, bool)>) -> Vec<K> {
    let mut met = BTreeMap::new();
    for (key, here) in all {
        *met.entry(key).or_insert(false) |= here;
    }
    met.into_iter().filter(|(_, met)| !met).map(|(key, _)| key).collect()
}

/// Judges everything.
pub fn all(extent: &Extent) -> Vec<Report> {
    table().iter().map(|entry| entry.run(extent)).collect()
}

fn run<W: Cyclic>(scope: &Scope<W>, extent: &Extent) -> Report {
    let (began, world) = (Instant::now(), &scope.world);
    let properties = world.properties();
    let options = Options { threads: extent.threads, marks: marks(properties), ..Options::default() };
    let found = explore(world, &options);
    let graph = found.graph.as_ref().expect("the graph is kept");
    let claims = (0..properties.len()).map(|number| {
        let mut judged = judge(world, graph, properties, number);
        if let Some(cut) = found.cut {
            judged.defects.push(format!("the search was cut short: {cut:?}"));
        }
        claim(&properties[number], judged)
    });
    let claims = claims.collect();
    let second = extent.recount.then(|| second::count(world.clone()).states);
    let form = faithful::check(world, extent.effort).map_err(|difference| {
        let ways =
            [&difference.one, &difference.other].map(|way| serde_json::to_string(way).unwrap_or_default());
        format!("{}\none:   {}\nother: {}", difference.what, ways[0], ways[1])
    });
    let broken =
        found.broken.iter().map(|broken| Broken { law: W::LAWS[broken.law].name, way: values(&broken.way) });
    let twins = W::LAWS.iter().map(|law| law.twin).zip(found.reached.iter().copied());
    Report {
        world: W::NAME,
        scope: scope.name,
        states: found.states,
        edges: found.edges,
        second,
        form,
        broken: broken.collect(),
        twins: twins.collect(),
        claims,
        seconds: seconds(began.elapsed()),
    }
}

fn claim<W: World>(property: &Leads<W>, judged: super::Judged<W>) -> Claim {
    let verdict = if !judged.defects.is_empty() {
        Verdict::Defect
    } else if judged.lasso.is_some() {
        Verdict::Lasso
    } else if !judged.idle.is_empty() {
        Verdict::Idle
    } else {
        Verdict::Holds
    };
    let conditions = judged.needs.iter().map(|need| Condition {
        name: need.name,
        strength: need.strength,
        why: need.why,
        without: need.without.as_ref().map(way),
    });
    Claim {
        name: property.name,
        when: property.when,
        then: property.then,
        verdict,
        lasso: judged.lasso.as_ref().map(way),
        fairness: conditions.collect(),
        idle: judged.idle.clone(),
        defects: judged.defects.clone(),
    }
}

fn way<W: World>(lasso: &Lasso<W>) -> Way {
    Way { stem: values(&lasso.stem), cycle: values(&lasso.cycle) }
}

fn values<A: Serialize>(way: &[A]) -> Vec<Value> {
    way.iter().map(|action| serde_json::to_value(action).unwrap_or(Value::Null)).collect()
}

fn seconds(took: Duration) -> f64 {
    (took.as_secs_f64() * 1000.0).round() / 1000.0
}
