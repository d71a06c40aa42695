//! The closed table of settings: which keys exist, what each takes and its built-in value.
//!
//! A `*` in a path stands for a name that people choose (a target, a schema, a model). `[limits]` is not listed here:
//! its keys are those of the kernel. Rules: CON-1, CAP-5, FUS-3.

use awakener_kernel::config::Config as Limits;
use awakener_kernel::ids::{SchemaRef, Target};
use awakener_spec::{Limit, Unit};
use serde_json::{Value, json};

use super::kind::Kind;
use crate::station::local::Preset;

/// The path of a setting, segment by segment.
pub type Path = Vec<String>;

/// One setting.
#[derive(Clone, Debug)]
pub struct Setting {
    /// Its path, with `*` for a chosen name.
    pub path: &'static [&'static str],
    /// What it takes.
    pub kind: Kind,
    /// Its built-in value; null if there is none.
    pub default: Value,
}

/// The words of `mode`.
pub const MODES: &[&str] = &["trial", "production"];

/// What may run the turns of a station.
const RUNNERS: &[&str] = &["fake", "local-runner"];

/// How a turn of the `fake` runtime may go.
const TURNS: &[&str] = &[
    "complete",
    "silence",
    "failed",
    "truncated",
    "timeout",
    "budget_exceeded",
    "tool_error",
    "model_error",
    "denied",
    "no_turn",
    "contradiction",
    "echo",
];

/// Where a test may stop a process.
const POINTS: &[&str] = &["before_commit", "after_commit", "before_publish", "in_recovery"];

const SETTINGS: &[(&[&str], Kind, &str)] = &[
    (&["version"], Kind::Count, "1"),
    (&["mode"], Kind::Choice(MODES), "\"production\""),
    (&["plane"], Kind::Name, "\"local\""),
    (&["manifest"], Kind::Text, "\"agents.toml\""),
    (&["http", "listen"], Kind::Address, "\"127.0.0.1:7717\""),
    (&["http", "expose"], Kind::Choice(&["loopback", "behind-tls-proxy"]), "\"loopback\""),
    (&["broker", "kind"], Kind::Choice(&["in-process", "http", "nats"]), "\"in-process\""),
    (&["broker", "push"], Kind::Urls, "[]"),
    (&["broker", "servers"], Kind::Texts, "[]"),
    (&["broker", "token_file"], Kind::Text, "null"),
    (&["broker", "user"], Kind::Text, "null"),
    (&["broker", "password_file"], Kind::Text, "null"),
    (&["routes", "*"], Kind::Count, "null"),
    (&["wake", "enabled"], Kind::Bool, "true"),
    (&["wake", "name"], Kind::Name, "\"local\""),
    (&["wake", "listen"], Kind::Address, "\"127.0.0.1:7718\""),
    (&["wake", "plane"], Kind::Url, "\"http://127.0.0.1:7717\""),
    (&["stations", "*", "listen"], Kind::Address, "\"127.0.0.1:9403\""),
    (&["stations", "*", "plane"], Kind::Url, "\"http://127.0.0.1:7717\""),
    (&["stations", "*", "runner"], Kind::Choice(RUNNERS), "\"fake\""),
    (&["stations", "*", "model"], Kind::Text, "\"fake\""),
    (&["stations", "*", "preset"], Kind::Choice(Preset::NAMES), "\"generic\""),
    (&["stations", "*", "argv"], Kind::Texts, "[]"),
    (&["stations", "*", "folder"], Kind::Text, "\".\""),
    (&["stations", "*", "env"], Kind::EnvNames, "[]"),
    (&["stations", "*", "timeout"], Kind::Duration, "600000"),
    (&["stations", "*", "poll"], Kind::Duration, "30000"),
    (&["stations", "*", "turn"], Kind::Duration, "10"),
    (&["stations", "*", "script"], Kind::Choices(TURNS), "[\"complete\"]"),
    (&["models", "*", "window"], Kind::Count, "null"),
    (&["models", "*", "budget"], Kind::Count, "null"),
    (&["trial", "pause_at"], Kind::Choices(POINTS), "[]"),
];

/// All settings, the limits among them.
pub fn settings() -> Vec<Setting> {
    let listed = SETTINGS.iter().map(|(path, kind, default)| Setting {
        path,
        kind: *kind,
        default: serde_json::from_str(default).unwrap_or_default(),
    });
    let limits = Limits::default().table().into_iter().map(|limit| Setting {
        path: limit_path(limit.name),
        kind: if is_time(limit.name) { Kind::Duration } else { Kind::Count },
        default: json!(limit.value),
    });
    listed.chain(limits).collect()
}

/// Whether a limit is a time; its unit stands in the spec.
pub fn is_time(limit: &str) -> bool {
    Limit::from_name(limit).is_some_and(|limit| limit.unit() == Unit::Ms)
}

fn limit_path(name: &'static str) -> &'static [&'static str] {
    // One small allocation per limit and process; paths are compared as slices everywhere.
    Box::leak(Box::new(["limits", name]))
}

/// What a path means.
#[derive(Clone, Debug)]
pub enum Found<'a> {
    /// A setting.
    Setting(&'a Setting),
    /// A section.
    Section,
    /// A chosen name that is none: what is wrong with it.
    BadName(String),
    /// Nothing; the names that would be known at its place.
    Unknown(Vec<&'static str>),
}

/// Looks a path up.
pub fn find<'a>(settings: &'a [Setting], path: &[String]) -> Found<'a> {
    if let Some(wrong) = bad_name(path) {
        return Found::BadName(wrong);
    }
    let fits = |setting: &Setting, depth: usize| {
        setting.path.iter().take(depth).zip(path).all(|(known, name)| *known == "*" || known == name)
    };
    if let Some(setting) = settings.iter().find(|s| s.path.len() == path.len() && fits(s, path.len())) {
        return Found::Setting(setting);
    }
    if settings.iter().any(|s| s.path.len() > path.len() && fits(s, path.len())) {
        return Found::Section;
    }
    let last = path.len().saturating_sub(1);
    let mut known: Vec<&str> =
        settings.iter().filter(|s| fits(s, last)).filter_map(|s| s.path.get(last).copied()).collect();
    known.sort_unstable();
    known.dedup();
    Found::Unknown(known)
}

/// Chosen names have the form of what they name.
fn bad_name(path: &[String]) -> Option<String> {
    match path {
        [section, name, ..] if section == "stations" => {
            Target::parse(name).err().map(|error| format!("is no target: {error}"))
        }
        [section, name] if section == "routes" => SchemaRef::parse(name)
            .err()
            .map(|_| "is no schema with a version, such as \"status-report/1\"".into()),
        _others => None,
    }
}

/// A path as it is written in TOML.
pub fn dotted(path: &[String]) -> String {
    let plain = |segment: &String| {
        let bare = segment.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-'));
        if bare { segment.clone() } else { format!("\"{segment}\"") }
    };
    path.iter().map(plain).collect::<Vec<_>>().join(".")
}

/// The environment variable of a setting without a chosen name in its path.
pub fn env_name(setting: &Setting) -> Option<String> {
    let fixed = !setting.path.contains(&"*");
    fixed.then(|| format!("AWAKENER_{}", setting.path.join("__").to_ascii_uppercase()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(text: &str) -> Path {
        text.split('.').map(str::to_owned).collect()
    }

    #[test]
    fn con_1_every_built_in_value_is_one_that_its_kind_takes() {
        for (path, kind, default) in SETTINGS {
            let value: Value = serde_json::from_str(default).unwrap();
            let text = match &value {
                Value::String(text) => text.clone(),
                Value::Array(words) => words.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(","),
                Value::Null => continue,
                value => value.to_string(),
            };
            assert_eq!(kind.read_text(&text).unwrap(), value, "{path:?}");
        }
    }

    #[test]
    fn con_1_every_limit_of_the_kernel_has_a_unit_in_the_spec() {
        for limit in Limits::default().table() {
            assert!(Limit::from_name(limit.name).is_some(), "{}", limit.name);
        }
        assert!(is_time("cooldown") && !is_time("queue"));
    }

    #[test]
    fn con_1_paths_are_settings_sections_or_unknown() {
        let all = settings();
        assert!(matches!(find(&all, &path("http.listen")), Found::Setting(_)));
        assert!(matches!(find(&all, &path("http")), Found::Section));
        assert!(matches!(find(&all, &path("stations.mataya-dyad.turn")), Found::Setting(_)));
        assert!(matches!(find(&all, &path("stations.Mataya.turn")), Found::BadName(_)));
        let Found::Unknown(known) = find(&all, &path("http.lisen")) else { panic!() };
        assert_eq!(known, ["expose", "listen"]);
        assert!(matches!(find(&all, &path("htp.listen")), Found::Unknown(_)));
    }
}
