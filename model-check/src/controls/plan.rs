//! From the registry to numbered controls, and to a copy of the workspace that has all of them in it.
//!
//! Not here: which law must fall. Rules: FML-5, CNF-3.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::{fs, io};

use super::registry::{Frozen, Mutation, Registry, once};
use super::scratch::{Diagnostic, Scratch};
use super::source::Source;
use super::weave::{Form, SWITCH, Woven, edited, frozen, weave};

/// What a control does.
#[derive(Clone, Copy, Debug)]
pub enum What<'a> {
    /// A named edit.
    Edit(&'a Mutation),
    /// One field of a structure never changes.
    Freeze(&'a Frozen, &'a str),
}

/// A numbered control.
#[derive(Clone, Debug)]
pub struct Control<'a> {
    /// Its number, from 1 on.
    pub number: u32,
    /// Its name.
    pub name: String,
    /// What it does.
    pub what: What<'a>,
}

impl Control<'_> {
    /// The file that it edits.
    pub fn file(&self) -> &str {
        match self.what {
            What::Edit(mutation) => &mutation.file,
            What::Freeze(frozen, _) => &frozen.moved,
        }
    }
}

/// The texts of the files that controls touch.
#[derive(Debug, Default)]
pub struct Texts(BTreeMap<String, String>);

impl Texts {
    /// Reads what the registry names.
    ///
    /// # Errors
    /// A file cannot be read.
    pub fn read(root: &Path, registry: &Registry) -> io::Result<Self> {
        let edited = registry.mutation.iter().map(|mutation| &mutation.file);
        let frozen = registry.frozen.iter().flat_map(|frozen| [&frozen.declared, &frozen.moved]);
        let mut texts = BTreeMap::new();
        for file in edited.chain(frozen) {
            if !texts.contains_key(file) {
                let text = fs::read_to_string(root.join(file));
                let text = text.map_err(|error| io::Error::new(error.kind(), format!("{file}: {error}")))?;
                texts.insert(file.clone(), text);
            }
        }
        Ok(Self(texts))
    }

    /// One of them.
    pub fn of(&self, file: &str) -> &str {
        self.0.get(file).map_or("", String::as_str)
    }
}

/// Every control of the registry, numbered in its order; the fields of structures as the sources have them.
pub fn controls<'a>(registry: &'a Registry, fields: &'a BTreeMap<String, Vec<String>>) -> Vec<Control<'a>> {
    let mut all: Vec<(String, What<'a>)> = Vec::new();
    all.extend(registry.mutation.iter().map(|mutation| (mutation.name.clone(), What::Edit(mutation))));
    for frozen in &registry.frozen {
        for field in fields.get(&frozen.name).into_iter().flatten() {
            all.push((format!("{}.{field}", frozen.name), What::Freeze(frozen, field)));
        }
    }
    (1..).zip(all).map(|(number, (name, what))| Control { number, name, what }).collect()
}

/// The fields of each frozen structure, by its name in the registry.
///
/// # Errors
/// A structure is not there, or something is said of a field that it does not have.
pub fn fields(registry: &Registry, texts: &Texts) -> Result<BTreeMap<String, Vec<String>>, String> {
    let mut all = BTreeMap::new();
    for frozen in &registry.frozen {
        let Frozen { name, declared, structure, .. } = frozen;
        let source = Source::of(texts.of(declared)).map_err(|error| format!("{declared}: {error}"))?;
        let found =
            source.fields(structure).ok_or_else(|| format!("{name}: {declared} has no {structure}"))?;
        for field in frozen.first.keys().chain(frozen.excused.keys()) {
            if !found.contains(field) {
                return Err(format!("{name}.{field}: {structure} has no such field any more"));
            }
        }
        all.insert(name.clone(), found.to_vec());
    }
    Ok(all)
}

/// How a control is put into a program.
#[derive(Debug)]
pub struct Plan {
    /// Files with every form in them.
    pub woven: BTreeMap<String, Woven>,
    /// Controls that need a build of their own, with the text of their file.
    pub alone: BTreeMap<u32, (String, String)>,
    /// Controls that do not apply, and why.
    pub void: BTreeMap<u32, String>,
}

/// Plans all of `controls`; those of `apart` are not woven.
///
/// # Errors
/// A file is no Rust.
pub fn plan(controls: &[Control<'_>], texts: &Texts, apart: &BTreeSet<u32>) -> Result<Plan, String> {
    let mut plan = Plan { woven: BTreeMap::new(), alone: BTreeMap::new(), void: BTreeMap::new() };
    let mut files: BTreeMap<&str, Vec<&Control<'_>>> = BTreeMap::new();
    for control in controls {
        files.entry(control.file()).or_default().push(control);
    }
    for (file, controls) in files {
        let text = texts.of(file);
        let source = Source::of(text).map_err(|error| format!("{file}: {error}"))?;
        let mut forms = Vec::new();
        for control in controls {
            match form(control, &source, text) {
                Err(why) => drop(plan.void.insert(control.number, why)),
                Ok(Err(whole)) => drop(plan.alone.insert(control.number, (file.to_owned(), whole))),
                Ok(Ok(form)) if apart.contains(&control.number) => {
                    plan.alone.insert(control.number, (file.to_owned(), alone(text, &form)));
                }
                Ok(Ok(form)) => forms.push(form),
            }
        }
        let (mut woven, left) = weave(&source, text, &forms, switch(file));
        for form in forms.iter().filter(|form| left.contains(&form.number)) {
            plan.alone.insert(form.number, (file.to_owned(), alone(text, form)));
        }
        if file == LIBRARY {
            woven.text.push_str(SWITCH);
        }
        plan.woven.insert(file.to_owned(), woven);
    }
    Ok(plan)
}

/// The root of the kernel, which has the switch.
pub const LIBRARY: &str = "kernel/src/lib.rs";

fn switch(file: &str) -> &'static str {
    if file.starts_with("kernel/") {
        "crate::control_switch::is"
    } else {
        "awakener_kernel::control_switch::is"
    }
}

/// The text with this form only.
fn alone(text: &str, form: &Form) -> String {
    [&text[..form.body.start], &form.text, &text[form.body.end..]].concat()
}

/// The form of a control, or the whole text where it lies in no function's body.
fn form(control: &Control<'_>, source: &Source, text: &str) -> Result<Result<Form, String>, String> {
    match control.what {
        What::Edit(Mutation { find, replace, .. }) => {
            let at = once(text, find).map_err(|times| {
                format!(
                    "no longer applies: `find` occurs {times} times in {}, not once: renew it",
                    control.file()
                )
            })?;
            Ok(edited(source, text, control.number, at, find, replace)
                .ok_or_else(|| [&text[..at], replace, &text[at + find.len()..]].concat()))
        }
        What::Freeze(Frozen { function, from, to, .. }, field) => {
            let found = source.function(function).ok_or_else(|| {
                format!("no longer applies: {} has not exactly one {function}", control.file())
            })?;
            let dot = |path: &str| if path.is_empty() { String::new() } else { format!("{path}.{field}") };
            Ok(Ok(frozen(found, text, control.number, &dot(from), &dot(to))))
        }
    }
}

/// Writes the woven files and builds. Forms that do not compile are taken out and named.
///
/// # Errors
/// The copy cannot be made, or does not compile without any form that could be blamed.
pub fn build(
    scratch: &Scratch,
    controls: &[Control<'_>],
    texts: &Texts,
    root: &Path,
) -> Result<(PathBuf, Plan), String> {
    let mut apart = BTreeSet::new();
    let library = fs::read_to_string(root.join(LIBRARY)).map_err(|error| error.to_string())?;
    loop {
        let plan = plan(controls, texts, &apart)?;
        for (file, woven) in &plan.woven {
            scratch.write(file, woven.text.as_bytes()).map_err(|error| error.to_string())?;
        }
        if !plan.woven.contains_key(LIBRARY) {
            let text = [library.as_str(), SWITCH].concat();
            scratch.write(LIBRARY, text.as_bytes()).map_err(|error| error.to_string())?;
        }
        match scratch.build().map_err(|error| error.to_string())? {
            Ok(program) => return Ok((program, plan)),
            Err(errors) => {
                let before = apart.len();
                apart.extend(errors.iter().filter_map(|error| blamed(&plan, error)));
                if apart.len() == before {
                    let texts: Vec<_> = errors.into_iter().map(|error| error.text).collect();
                    return Err(format!("the copy does not compile:\n{}", texts.join("\n")));
                }
            }
        }
    }
}

/// The form in which an error lies.
fn blamed(plan: &Plan, error: &Diagnostic) -> Option<u32> {
    error.places.iter().find_map(|(file, at)| {
        let places = &plan.woven.get(file)?.places;
        places.iter().find(|(place, _)| place.contains(at)).map(|(_, number)| *number)
    })
}
