//! Reading, merging and judging the sources of a configuration.
//!
//! Collects everything that is wrong before it gives up, so that one run of `check` shows it all. Not here: which
//! keys exist (`settings`), what they may be together (`judge`). Rules: CON-1.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use awakener_kernel::ids::{PlaneName, SchemaRef, Target};
use awakener_spec::{Reason, rule};
use serde::Deserialize;
use serde_json::Value;

use super::document::{self, Item, Node, Origin, Problem, Problems, nearest};
use super::kind::Wrong;
use super::settings::{self, Found, Setting, dotted, env_name, find, settings};
use super::{Broker, Config, Effective, Http, Mode, Model, Sources, Station, Trial, Wake};

/// Variables of ours that are not settings: they name files and parties of one command, or steer tests.
const OTHER_VARIABLES: &[&str] = &[
    "AWAKENER_STATE",
    "AWAKENER_CONFIG",
    "AWAKENER_URL",
    "AWAKENER_AS",
    "AWAKENER_TOKEN_FILE",
    "AWAKENER_OPERATOR_KEY",
    "AWAKENER_ACK_KEY",
    "AWAKENER_LOG",
    "AWAKENER_WITHOUT",
];

pub(super) fn load(sources: &Sources) -> Result<Config, Problems> {
    let mut loader = Loader::new();
    if let Some(file) = &sources.file {
        loader.file(file);
    }
    loader.env(&sources.env);
    loader.flags(&sources.flags);
    loader.complete_sections();
    loader.finish(sources.file.as_deref())
}

pub(super) struct Loader {
    settings: Vec<Setting>,
    pub(super) effective: BTreeMap<settings::Path, Effective>,
    pub(super) problems: Vec<Problem>,
    /// Named sections of the file, also those with nothing in them.
    sections: Vec<(settings::Path, Origin)>,
}

impl Loader {
    fn new() -> Self {
        let settings = settings();
        let fixed = settings.iter().filter(|s| !s.path.contains(&"*") && !s.default.is_null());
        let effective = fixed
            .map(|s| {
                let path = s.path.iter().map(|segment| (*segment).to_owned()).collect();
                (path, Effective { value: s.default.clone(), origin: Origin::BuiltIn })
            })
            .collect();
        Self { settings, effective, problems: Vec::new(), sections: Vec::new() }
    }

    fn file(&mut self, file: &Path) {
        match document::read(file, Reason::ConfigMalformed) {
            Ok(members) => self.members(file, &mut Vec::new(), &members),
            Err(problem) => self.problems.push(problem),
        }
    }

    fn members(&mut self, file: &Path, path: &mut settings::Path, members: &[(String, Node)]) {
        for (key, node) in members {
            path.push(key.clone());
            let origin = Origin::File { path: file.into(), line: node.line };
            if let (Found::Section, Item::Table(inner)) = (find(&self.settings, path), &node.item) {
                if path.len() == 2 {
                    self.sections.push((path.clone(), origin));
                }
                self.members(file, path, inner);
            } else {
                self.set(path, origin, |setting| setting.kind.read(&node.item), node.item.kind());
            }
            path.pop();
        }
    }

    fn env(&mut self, variables: &[(String, String)]) {
        for (name, text) in variables {
            if !name.starts_with("AWAKENER_") || OTHER_VARIABLES.contains(&name.as_str()) {
                continue;
            }
            let known = self.settings.iter().find(|s| env_name(s).as_ref() == Some(name));
            let origin = Origin::Env(name.clone());
            if let Some(setting) = known {
                let path: Vec<String> = setting.path.iter().map(|segment| (*segment).to_owned()).collect();
                self.set(&path, origin, |setting| setting.kind.read_text(text), "text");
            } else {
                let names: Vec<String> = self.settings.iter().filter_map(env_name).collect();
                let known = names.iter().map(String::as_str).chain(OTHER_VARIABLES.iter().copied());
                self.complain(
                    origin,
                    name.clone(),
                    "is no variable of awakener".into(),
                    nearest(name, known),
                );
            }
        }
    }

    fn flags(&mut self, flags: &[(String, String)]) {
        for (key, text) in flags {
            let path: Vec<String> = key.split('.').map(str::to_owned).collect();
            self.set(&path, Origin::Flag, |setting| setting.kind.read_text(text), "text");
        }
    }

    fn set(
        &mut self,
        path: &[String],
        origin: Origin,
        read: impl Fn(&Setting) -> Result<Value, Wrong>,
        found: &str,
    ) {
        let (what, near) = match find(&self.settings, path) {
            Found::Setting(setting) => match read(setting) {
                Ok(value) => {
                    self.effective.insert(path.to_vec(), Effective { value, origin });
                    return;
                }
                Err(wrong) => wrong,
            },
            Found::Section => (format!("is a section, found {found}"), None),
            Found::BadName(wrong) => (wrong, None),
            Found::Unknown(known) => {
                let what = if path.len() == 1 { "is no key or section" } else { "is no key of this section" };
                let last = path.last().map_or("", String::as_str);
                let near = nearest(last, known.into_iter().filter(|name| *name != "*"));
                let parent = path.get(..path.len().saturating_sub(1)).unwrap_or_default();
                (what.into(), near.map(|name| dotted(&[parent, &[name]].concat())))
            }
        };
        self.complain(origin, dotted(path), what, near);
    }

    pub(super) fn complain(&mut self, origin: Origin, key: String, what: String, nearest: Option<String>) {
        rule!(Con1);
        self.problems.push(Problem { reason: Reason::ConfigMalformed, origin, key, what, nearest });
    }

    /// A named section has the built-in values of the keys that it leaves out, and needs those that have none.
    fn complete_sections(&mut self) {
        let set = self
            .effective
            .iter()
            .filter(|(path, _)| path.len() == 3)
            .map(|(path, entry)| (path.iter().take(2).cloned().collect(), entry.origin.clone()));
        let named: Vec<(settings::Path, Origin)> = set.chain(self.sections.clone()).collect();
        for (section, origin) in named {
            for setting in self.settings.clone() {
                let [group, "*", key] = setting.path else { continue };
                let path = [section.as_slice(), &[(*key).to_owned()]].concat();
                if section.first().is_none_or(|name| name != group) || self.effective.contains_key(&path) {
                    continue;
                }
                // What was written wrongly has been said, and is neither missing nor what is built in.
                if self.problems.iter().any(|p| p.key == dotted(&path)) {
                    continue;
                }
                if setting.default.is_null() {
                    let whole = dotted(&section);
                    let what = format!("is missing in `{whole}`");
                    self.complain(origin.clone(), dotted(&path), what, None);
                } else {
                    let value = setting.default.clone();
                    self.effective.insert(path, Effective { value, origin: Origin::BuiltIn });
                }
            }
        }
    }

    pub(super) fn origin(&self, key: &[&str]) -> Origin {
        let path: Vec<String> = key.iter().map(|segment| (*segment).to_owned()).collect();
        self.effective.get(&path).map_or(Origin::BuiltIn, |entry| entry.origin.clone())
    }

    fn finish(mut self, file: Option<&Path>) -> Result<Config, Problems> {
        let limits = self.limits();
        let shaped = Shaped::deserialize(super::nested(&self.effective));
        let shaped = match shaped {
            Ok(shaped) => shaped,
            Err(error) if self.problems.is_empty() => {
                self.complain(
                    Origin::BuiltIn,
                    String::new(),
                    format!("does not fit together: {error}"),
                    None,
                );
                return Err(Problems(self.problems));
            }
            Err(_) => return Err(Problems(self.problems)),
        };
        self.judge(&shaped);
        let routes = self.routes(&shaped.routes);
        let Some(limits) = limits.filter(|_| self.problems.is_empty()) else {
            return Err(Problems(self.problems));
        };
        let beside = file.and_then(Path::parent).unwrap_or(Path::new(""));
        Ok(Config {
            mode: shaped.mode,
            plane: shaped.plane,
            manifest: beside.join(shaped.manifest),
            http: shaped.http,
            broker: Broker {
                token_file: shaped.broker.token_file.map(|file| beside.join(file)),
                password_file: shaped.broker.password_file.map(|file| beside.join(file)),
                ..shaped.broker
            },
            limits,
            routes,
            wake: shaped.wake,
            stations: shaped
                .stations
                .into_iter()
                .map(|(target, station)| {
                    let folder = beside.join(&station.folder);
                    (target, Station { folder, ..station })
                })
                .collect(),
            models: shaped.models,
            trial: shaped.trial,
            effective: self.effective,
        })
    }
}

/// The typed part of the effective values; the limits are read by themselves.
#[derive(Deserialize)]
pub(super) struct Shaped {
    pub(super) version: u64,
    pub(super) mode: Mode,
    pub(super) plane: PlaneName,
    pub(super) manifest: PathBuf,
    pub(super) http: Http,
    pub(super) broker: Broker,
    #[serde(default)]
    pub(super) routes: BTreeMap<SchemaRef, u64>,
    pub(super) wake: Wake,
    #[serde(default)]
    pub(super) stations: BTreeMap<Target, Station>,
    #[serde(default)]
    pub(super) models: BTreeMap<String, Model>,
    pub(super) trial: Trial,
}
