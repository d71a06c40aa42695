//! Controls: something is made wrong on purpose, and a law must notice it (FML-5, CNF-3).
//!
//! One engine for `awakener-check controls` and for whoever else wants to know: [`run()`]. The registry says what is
//! edited and which law must fall ([`registry`]); a copy of the workspace gets all the edits at once ([`weave`],
//! [`plan`]) and is built once ([`scratch`]); each control is one search by that program ([`mod@run`]), which is
//! judged ([`mod@judge`]). Beside the named edits each state variable of the machines is frozen in turn. Numbers of
//! states that are pinned elsewhere, snapshots and golden files are never what a control falls to.
//!
//! Reading order: [`registry`] → [`source`] → [`weave`] → [`plan`] → [`scratch`] → [`mod@run`] → [`mod@judge`].

mod judge;
mod plan;
mod program;
pub mod registry;
mod run;
mod scratch;
mod source;
mod weave;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::thread;
use std::time::{Duration, Instant};

use serde::Serialize;

pub use judge::{Ending, judge};
use plan::{Control, Texts, What};
pub use program::{program, search};
use registry::Registry;
pub use run::{Fallen, Found, Law, Place, Said};
use scratch::Scratch;

/// How the controls are run.
#[derive(Clone, Debug)]
pub struct Options {
    /// The root of the workspace.
    pub root: PathBuf,
    /// Searches at a time.
    pub threads: usize,
    /// Only controls whose name has this in it.
    pub only: Option<String>,
}

/// What is said of one control.
#[derive(Clone, Debug, Serialize)]
pub struct Line {
    /// Its name.
    pub name: String,
    /// The rule that it breaks; for a state variable its structure.
    pub rule: String,
    /// The file that it edits.
    pub file: String,
    /// Where it was noticed, or was to be.
    pub place: String,
    /// The law that fell.
    pub law: Option<String>,
    /// How many steps away.
    pub steps: Option<usize>,
    /// What else fell.
    pub also: Vec<String>,
    /// Why it is no good, and what to do.
    pub failure: Option<String>,
    /// Whether it is excused, and was found to influence nothing.
    pub excused: bool,
    /// How long its searches took, in milliseconds.
    pub took_ms: u64,
}

/// Everything that is said.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// By control, in the order of the registry.
    pub controls: Vec<Line>,
    /// Scopes that were searched without any control, and what was wrong with them.
    pub without: Vec<(String, Option<String>)>,
    /// How long the common build took, in milliseconds.
    pub build_ms: u64,
    /// How long everything took, in milliseconds.
    pub took_ms: u64,
}

impl Report {
    /// Whether every control is good, and nothing falls without one.
    pub fn is_clean(&self) -> bool {
        self.controls.iter().all(|line| line.failure.is_none())
            && self.without.iter().all(|(_, failure)| failure.is_none())
    }
}

/// Runs the controls. `hear` is told of each one when it is done, from any thread.
///
/// # Errors
/// In words: the registry is malformed, a file cannot be read, or the copy does not compile even without a control.
pub fn run(options: &Options, hear: &(dyn Fn(&Line) + Sync)) -> Result<Report, String> {
    let began = Instant::now();
    let registry = Registry::read(&options.root).map_err(|error| error.to_string())?;
    let texts = Texts::read(&options.root, &registry).map_err(|error| error.to_string())?;
    let fields = plan::fields(&registry, &texts)?;
    let mut controls = plan::controls(&registry, &fields);
    controls.retain(|control| options.only.as_ref().is_none_or(|only| control.name.contains(only)));
    let scratch = Scratch::of(&options.root, "woven").map_err(|error| error.to_string())?;
    let (program, plan) = plan::build(&scratch, &controls, &texts, &options.root)?;
    let build = began.elapsed();

    let places: Vec<_> = controls.iter().flat_map(places).collect::<BTreeSet<_>>().into_iter().collect();
    let without = side_by_side(options.threads, &places, |place| {
        let failure = match run::run(&program, 0, place) {
            Err(error) => Some(error.to_string()),
            Ok(Said::Complete(fallen)) => {
                (!fallen.is_empty()).then(|| format!("{} falls without a control", fallen[0].law))
            }
            Ok(Said::Incomplete(why)) => Some(format!("INCOMPLETE without a control: {why}")),
            Ok(Said::Broke(why)) => Some(format!("breaks down without a control: {why}")),
        };
        (place.to_string(), failure)
    });

    let builds = Mutex::new(());
    let lines = side_by_side(options.threads, &controls, |control| {
        let began = Instant::now();
        let number = control.number;
        let (place, ending) = match (plan.void.get(&number), plan.alone.get(&number)) {
            (Some(why), _) => (String::new(), Ending::Failed(why.clone())),
            (None, None) => searched(control, &program, number),
            (None, Some((file, text))) => {
                let _one = builds.lock();
                match alone(&options.root, file, text) {
                    Ok(program) => searched(control, &program, 0),
                    Err(why) => (String::new(), Ending::Failed(why)),
                }
            }
        };
        let line = line(control, place, ending, began.elapsed());
        hear(&line);
        line
    });
    Ok(Report { controls: lines, without, build_ms: millis(build), took_ms: millis(began.elapsed()) })
}

/// What can be said of the registry without building anything, a line for each thing that is wrong: an edit that no
/// longer applies, or that would need a build of its own; a rule that is none; a field that is not there.
///
/// # Errors
/// In words: the registry is malformed, or a file cannot be read.
pub fn look(root: &Path) -> Result<Vec<String>, String> {
    let registry = Registry::read(root).map_err(|error| error.to_string())?;
    let texts = Texts::read(root, &registry).map_err(|error| error.to_string())?;
    let fields = plan::fields(&registry, &texts)?;
    let controls = plan::controls(&registry, &fields);
    let plan = plan::plan(&controls, &texts, &BTreeSet::new())?;
    let mut wrong = Vec::new();
    for control in &controls {
        let name = &control.name;
        if let Some(why) = plan.void.get(&control.number) {
            wrong.push(format!("{name}: {why}"));
        }
        if plan.alone.contains_key(&control.number) {
            wrong.push(format!("{name}: it lies in no function's body, which costs a build of its own"));
        }
        if places(control).is_empty() {
            wrong.push(format!("{name}: it is looked for nowhere"));
        }
        if let What::Edit(mutation) = control.what
            && mutation.rule.parse::<awakener_spec::Rule>().is_err()
        {
            wrong.push(format!("{name}: there is no rule {}", mutation.rule));
        }
    }
    Ok(wrong)
}

/// Builds one edit in a copy of its own.
fn alone(root: &Path, file: &str, text: &str) -> Result<PathBuf, String> {
    let scratch = Scratch::of(root, "alone").map_err(|error| error.to_string())?;
    scratch.write(file, text.as_bytes()).map_err(|error| error.to_string())?;
    scratch.build().map_err(|error| error.to_string())?.map_err(|errors| {
        let first = errors.into_iter().next().map(|error| error.text).unwrap_or_default();
        format!("does not compile: {first}")
    })
}

/// Where a control is looked for, in this order.
fn places(control: &Control<'_>) -> Vec<Place> {
    match control.what {
        What::Edit(mutation) => {
            let (world, scope) = (mutation.world.clone(), mutation.scope.clone());
            vec![Place { search: mutation.search, world, scope }]
        }
        What::Freeze(frozen, field) => {
            let first = frozen.first.get(field);
            let others = frozen.tries.iter().filter(|place| Some(*place) != first);
            first.into_iter().chain(others).filter_map(|place| Place::of(place)).collect()
        }
    }
}

fn searched(control: &Control<'_>, program: &Path, number: u32) -> (String, Ending) {
    let mut broke = Vec::new();
    for place in places(control) {
        let said = match run::run(program, number, &place) {
            Ok(said) => said,
            Err(error) => return (place.to_string(), Ending::Failed(error.to_string())),
        };
        match control.what {
            What::Edit(mutation) => return (place.to_string(), judge(mutation, &said)),
            What::Freeze(frozen, field) => {
                let excused = frozen.excused.contains_key(field);
                match &said {
                    Said::Complete(fallen) => {
                        let Some(first) = judge::first(fallen) else { continue };
                        let others = fallen.iter().map(|one| one.law.clone());
                        let others = others.filter(|law| *law != first.law).collect();
                        let ending = if excused {
                            Ending::Failed(format!(
                                "it is excused, but `{}` falls: drop the excuse",
                                first.law
                            ))
                        } else {
                            Ending::Fell(first.law.clone(), first.way.len(), others)
                        };
                        return (place.to_string(), ending);
                    }
                    Said::Incomplete(why) | Said::Broke(why) => broke.push(format!("{place}: {why}")),
                }
            }
        }
    }
    let excused = matches!(control.what, What::Freeze(frozen, field) if frozen.excused.contains_key(field));
    let ending = match (excused, broke.is_empty()) {
        (true, true) => Ending::Excused,
        (_, false) => Ending::Failed(broke.join("; ")),
        (false, true) => Ending::Failed(
            "SURVIVED: nothing depends on it in any scope that is named: a law is missing, or it needs an excuse"
                .to_owned(),
        ),
    };
    (String::new(), ending)
}

fn line(control: &Control<'_>, place: String, ending: Ending, took: Duration) -> Line {
    let (rule, name) = match control.what {
        What::Edit(mutation) => (mutation.rule.clone(), control.name.clone()),
        What::Freeze(frozen, _) => (frozen.name.clone(), control.name.clone()),
    };
    let (law, steps, also, failure, excused) = match ending {
        Ending::Fell(law, steps, also) => (Some(law), Some(steps), also, None, false),
        Ending::Excused => (None, None, Vec::new(), None, true),
        Ending::Failed(why) => (None, None, Vec::new(), Some(why), false),
    };
    let file = control.file().to_owned();
    Line { name, rule, file, place, law, steps, also, failure, excused, took_ms: millis(took) }
}

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

/// Does the same with each of them, several at a time; the answers are in the order of the questions.
fn side_by_side<T: Sync, A: Send>(threads: usize, all: &[T], act: impl Fn(&T) -> A + Sync) -> Vec<A> {
    let next = Mutex::new(all.iter().enumerate());
    let done = Mutex::new(Vec::new());
    thread::scope(|scope| {
        for _ in 0..threads.max(1) {
            scope.spawn(|| {
                loop {
                    let Some((at, one)) = next.lock().ok().and_then(|mut next| next.next()) else { return };
                    let answer = act(one);
                    if let Ok(mut done) = done.lock() {
                        done.push((at, answer));
                    }
                }
            });
        }
    });
    let mut done = done.into_inner().unwrap_or_default();
    done.sort_by_key(|(at, _)| *at);
    done.into_iter().map(|(_, answer)| answer).collect()
}
