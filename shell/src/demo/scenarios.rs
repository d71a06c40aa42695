//! The scenario file: which lines the demo has, and what each must have shown.
//!
//! `demo/scenarios.toml` is compiled in; it is the only place where an expectation stands. What is unknown in it is an
//! error. Not here: how anything is seen (`acts`), nor whether it suffices (`verdict`).

use std::collections::BTreeSet;

use awakener_spec::Rule;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The file as it is committed.
pub const COMMITTED: &str = include_str!("../../demo/scenarios.toml");

/// Every line.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scenarios {
    /// Always 1.
    pub version: u32,
    /// The lines, in the order in which they are listed.
    pub line: Vec<Line>,
}

/// One line of the demo.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Line {
    /// Its name, for `--only`.
    pub name: String,
    /// The rules that it shows.
    pub rules: Vec<String>,
    /// What of the source documents it covers, in our words.
    #[serde(default)]
    pub covers: Vec<String>,
    /// What it is about, one sentence.
    pub says: String,
    /// What was seen, with `{path}` for values of the observation.
    pub seen: String,
    /// All of this must hold.
    pub expect: Vec<Expect>,
}

/// One thing that must have been seen: a path, and exactly one condition on what it leads to.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Expect {
    /// Where to look, see [`super::select::select`].
    pub at: String,
    /// One value, equal to this.
    pub is: Option<Value>,
    /// One value, not equal to this.
    pub is_not: Option<Value>,
    /// One number, at least this.
    pub at_least: Option<u64>,
    /// One number, at most this.
    pub at_most: Option<u64>,
    /// So many values.
    pub count: Option<usize>,
    /// All of these among the values.
    pub contains: Option<Vec<Value>>,
    /// None of these among the values.
    pub lacks: Option<Vec<Value>>,
    /// These among the values, in this order.
    pub in_order: Option<Vec<Value>>,
    /// One text, with this in it.
    pub says: Option<String>,
    /// One value, the same as at this path.
    pub same_as: Option<String>,
    /// One value, other than at this path.
    pub differs_from: Option<String>,
}

/// The condition of an [`Expect`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Condition<'a> {
    /// Equal.
    Is(&'a Value),
    /// Not equal.
    IsNot(&'a Value),
    /// Not less.
    AtLeast(u64),
    /// Not more.
    AtMost(u64),
    /// How many.
    Count(usize),
    /// All of them.
    Contains(&'a [Value]),
    /// None of them.
    Lacks(&'a [Value]),
    /// In this order.
    InOrder(&'a [Value]),
    /// A part of a text.
    Says(&'a str),
    /// Equal to another.
    SameAs(&'a str),
    /// Not equal to another.
    DiffersFrom(&'a str),
}

impl Expect {
    /// Its condition; `None` unless there is exactly one.
    pub fn condition(&self) -> Option<Condition<'_>> {
        let all = [
            self.is.as_ref().map(Condition::Is),
            self.is_not.as_ref().map(Condition::IsNot),
            self.at_least.map(Condition::AtLeast),
            self.at_most.map(Condition::AtMost),
            self.count.map(Condition::Count),
            self.contains.as_deref().map(Condition::Contains),
            self.lacks.as_deref().map(Condition::Lacks),
            self.in_order.as_deref().map(Condition::InOrder),
            self.says.as_deref().map(Condition::Says),
            self.same_as.as_deref().map(Condition::SameAs),
            self.differs_from.as_deref().map(Condition::DiffersFrom),
        ];
        let mut given = all.into_iter().flatten();
        match (given.next(), given.next()) {
            (Some(one), None) => Some(one),
            (_, _) => None,
        }
    }
}

/// Everything that was seen, line by line. Made from outside only: answers over HTTP, audit exports, receipts, exit
/// codes, files.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Observations {
    /// Always 1.
    pub v: u32,
    /// By the name of the line. A member `fault` says why a scenario could not be played.
    pub lines: std::collections::BTreeMap<String, Value>,
}

impl Scenarios {
    /// Reads a scenario file.
    ///
    /// # Errors
    /// In words, with the line where there is one: not TOML, an unknown key, a rule that does not exist, a name twice,
    /// an expectation without exactly one condition, a line that expects nothing.
    pub fn read(text: &str) -> Result<Self, String> {
        let scenarios: Self = toml::from_str(text).map_err(|error| error.to_string())?;
        if scenarios.version != 1 {
            return Err(format!("version {} is not known", scenarios.version));
        }
        let mut names = BTreeSet::new();
        for line in &scenarios.line {
            let name = &line.name;
            if !names.insert(name) {
                return Err(format!("{name}: twice"));
            }
            if line.expect.is_empty() || line.rules.is_empty() {
                return Err(format!("{name}: expects nothing, or shows no rule"));
            }
            if let Some(rule) = line.rules.iter().find(|rule| Rule::from_id(rule).is_none()) {
                return Err(format!("{name}: {rule} is no rule"));
            }
            if let Some(expect) = line.expect.iter().find(|expect| expect.condition().is_none()) {
                return Err(format!("{name}: {} needs exactly one condition", expect.at));
            }
        }
        Ok(scenarios)
    }

    /// The committed file.
    ///
    /// # Errors
    /// Never in a build whose tests are green.
    pub fn committed() -> Result<Self, String> {
        Self::read(COMMITTED)
    }

    /// Those of these names; all, if none is given.
    ///
    /// # Errors
    /// The first name that is none of a line.
    pub fn only(mut self, names: &[String]) -> Result<Self, String> {
        if let Some(unknown) = names.iter().find(|name| self.line.iter().all(|line| line.name != **name)) {
            return Err(unknown.clone());
        }
        if !names.is_empty() {
            self.line.retain(|line| names.contains(&line.name));
        }
        Ok(self)
    }
}
