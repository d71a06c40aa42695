//! What one value alone does not show: bounds, combinations, what production must not have.
//!
//! Rules: CAP-5, FUS-3, OBS-2, PRT-3, RTE-1.

use std::collections::BTreeMap;
use std::path::Path;

use awakener_kernel::config::{Checked, Config as Limits};
use awakener_kernel::ids::{SchemaRef, Target, Tier};
use awakener_spec::{Reason, rule};
use serde::Deserialize;
use serde_json::{Value, json};

use super::document::{Origin, Problem, nearest};
use super::kind::written;
use super::load::{Loader, Shaped};
use super::settings::{self, dotted};
use super::{Broker, BrokerKind, Expose, Mode, Preset, Runner, Station};
use crate::manifest::placeholders;

impl Loader {
    /// The limits, with a complaint for each one that is out of bounds (FUS-3).
    pub(super) fn limits(&mut self) -> Option<Checked> {
        let mut values = super::nested(&self.effective).get_mut("limits")?.take();
        // A count that 32 bits do not hold is above every ceiling; it stays the largest that they hold.
        let most = u64::from(u32::MAX);
        for (_, value) in values.as_object_mut()?.iter_mut().filter(|(name, _)| !settings::is_time(name)) {
            *value = json!(value.as_u64().unwrap_or(most).min(most));
        }
        let mut sound = true;
        loop {
            let limit = match Limits::deserialize(&values).ok()?.checked() {
                Ok(checked) => return sound.then_some(checked),
                Err(limit) => limit,
            };
            rule!(Fus3);
            sound = false;
            let path = ["limits", limit.name].map(str::to_owned);
            let entry = self.effective.get(path.as_slice());
            let value = entry.and_then(|entry| entry.value.as_u64()).unwrap_or(limit.value);
            let origin = entry.map_or(Origin::BuiltIn, |entry| entry.origin.clone());
            let shown = |n: u64| if settings::is_time(limit.name) { written(n) } else { n.to_string() };
            let what = format!(
                "{} is {}: floor {}, ceiling {}, both compiled in",
                shown(value),
                if value > limit.ceiling { "above its ceiling" } else { "below its floor" },
                shown(limit.floor),
                shown(limit.ceiling)
            );
            self.complain(origin, dotted(&path), what, None);
            *values.get_mut(limit.name)? = json!(limit.floor);
        }
    }

    /// What one value alone does not show.
    pub(super) fn judge(&mut self, shaped: &Shaped) {
        if shaped.version != 1 {
            let what = format!("{} is not a version that this program reads; it reads 1", shaped.version);
            self.complain(self.origin(&["version"]), "version".into(), what, None);
        }
        let (key, urls) = match shaped.broker.kind {
            BrokerKind::InProcess => ("", None),
            BrokerKind::Http => ("push", Some(&shaped.broker.push)),
            BrokerKind::Nats => ("servers", Some(&shaped.broker.servers)),
        };
        if urls.is_some_and(Vec::is_empty) {
            let what = "needs at least one URL with this broker.kind".into();
            self.complain(self.origin(&["broker", key]), format!("broker.{key}"), what, None);
        }
        self.login(&shaped.broker);
        if shaped.mode == Mode::Production {
            self.only_trial();
        }
        if shaped.http.expose == Expose::Loopback {
            self.loopback(&["http", "listen"], shaped.http.listen.ip().is_loopback());
        }
        self.loopback(&["wake", "listen"], shaped.wake.listen.ip().is_loopback());
        let flight = self.effective.get(["limits", "flight_max"].map(str::to_owned).as_slice());
        let flight = flight.and_then(|entry| entry.value.as_u64()).unwrap_or(u64::MAX);
        for (target, station) in &shaped.stations {
            self.runner(target, station, flight);
            self.loopback(&["stations", target.as_str(), "listen"], station.listen.ip().is_loopback());
            if !shaped.models.contains_key(&station.model) {
                let key = ["stations", target.as_str(), "model"];
                let what = format!("{:?} has no window and budget in [models]", station.model);
                let near = nearest(&station.model, shaped.models.keys().map(String::as_str));
                self.complain(self.origin(&key), key.join("."), what, near);
            }
        }
    }

    /// What a runner needs, and what belongs to another one.
    fn runner(&mut self, target: &Target, station: &Station, flight: u64) {
        let (own, other, wrong): (&str, &str, &[&str]) = match station.runner {
            Runner::Fake => ("fake", "local-runner", &["preset", "argv", "folder", "env", "timeout"]),
            Runner::LocalRunner => ("local-runner", "fake", &["script", "turn"]),
        };
        let path = |key: &'static str| ["stations", target.as_str(), key];
        for key in wrong.iter().copied() {
            let origin = self.origin(&path(key));
            if origin != Origin::BuiltIn {
                let what = format!("is a key of runner {other:?}, not of {own:?}");
                self.complain(origin, path(key).join("."), what, None);
            }
        }
        if station.runner == Runner::Fake {
            return;
        }
        let mut wrong = |key: &'static str, what: String, near: Option<String>| {
            let named = self.origin(&path(key));
            let origin = if named == Origin::BuiltIn { self.origin(&path("runner")) } else { named };
            self.complain(origin, path(key).join("."), what, near);
        };
        if station.folder == Path::new(".") {
            wrong("folder", "is missing: runner \"local-runner\" needs the folder of the agent".into(), None);
        }
        if station.preset == Preset::Generic && station.argv.is_empty() {
            wrong("argv", "is missing: preset \"generic\" has no program of its own".into(), None);
        }
        // Only a program that speaks our own contract can be given the directive where it wants it.
        let known: &[&str] = if station.preset == Preset::Generic {
            &["name", "folder", "directive"]
        } else {
            &["name", "folder"]
        };
        for word in station.argv.iter().flat_map(|argument| placeholders(argument)) {
            if !known.contains(&word) {
                rule!(Col1);
                let what = format!("{{{word}}} stands for nothing here; known are {}", known.join(", "));
                wrong("argv", what, nearest(word, known.iter().copied()));
            }
        }
        if station.timeout == 0 || station.timeout > flight {
            let what = format!("is not between 1ms and limits.flight_max, {}", written(flight));
            wrong("timeout", what, None);
        }
    }

    /// A broker is told a token, or a user with a password, and only one that asks.
    fn login(&mut self, broker: &Broker) {
        let Broker { token_file, user, password_file, .. } = broker;
        let (key, what) = match (token_file, user, password_file) {
            (None, None, None) => return,
            (Some(_), None, None) | (None, Some(_), Some(_)) if broker.kind == BrokerKind::Nats => return,
            (Some(_), None, None) => ("token_file", "is for broker.kind = \"nats\" only"),
            (None, Some(_), Some(_)) => ("user", "is for broker.kind = \"nats\" only"),
            (Some(_), _, _) => {
                ("token_file", "stands beside broker.user or broker.password_file; one of the two ways")
            }
            (None, Some(_), None) => ("user", "needs broker.password_file"),
            (None, None, Some(_)) => ("password_file", "needs broker.user"),
        };
        self.complain(self.origin(&["broker", key]), format!("broker.{key}"), what.into(), None);
    }

    /// CAP-5: production has neither pauses nor fakes.
    fn only_trial(&mut self) {
        rule!(Cap5);
        let fake = |path: &[String], value: &Value| {
            matches!(path, [group, _, key] if group == "stations" && key == "runner") && value == "fake"
        };
        let refused: Vec<Problem> = self
            .effective
            .iter()
            .filter(|(path, entry)| match path.first().map(String::as_str) {
                Some("trial") => entry.origin != Origin::BuiltIn,
                _others => fake(path, &entry.value),
            })
            .map(|(path, entry)| Problem {
                reason: Reason::PauseRefused,
                origin: entry.origin.clone(),
                key: dotted(path),
                what: "stands only in a configuration with mode = \"trial\"; this one is production".into(),
                nearest: None,
            })
            .collect();
        self.problems.extend(refused);
    }

    fn loopback(&mut self, key: &[&str], is: bool) {
        if !is {
            rule!(Prt3);
            self.problems.push(Problem {
                reason: Reason::NotLoopback,
                origin: self.origin(key),
                key: key.join("."),
                what: "is not a loopback address".into(),
                nearest: None,
            });
        }
    }

    /// RTE-1: configuration adds schemas to tiers 1 to 3, never to 0.
    pub(super) fn routes(&mut self, written: &BTreeMap<SchemaRef, u64>) -> BTreeMap<SchemaRef, Tier> {
        let mut routes = BTreeMap::new();
        for (schema, tier) in written {
            match Tier::from_u64(*tier).filter(|tier| *tier != Tier::Zero) {
                Some(tier) => {
                    routes.insert(schema.clone(), tier);
                }
                None => {
                    rule!(Rte1);
                    let name = schema.to_string();
                    let key = dotted(&["routes".to_owned(), name.clone()]);
                    let what = format!("{tier} is no tier that configuration can give; 1, 2 and 3 are");
                    self.complain(self.origin(&["routes", &name]), key, what, None);
                }
            }
        }
        routes
    }
}
