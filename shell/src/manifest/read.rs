//! Reading a manifest and judging it as a whole.
//!
//! Collects every problem of the file. Rules: CAP-1, CAP-2, DSP-2, DSP-8, COL-1, FUS-3.

use std::path::Path;

use awakener_kernel::config::Config as Limits;
use awakener_kernel::ids::{Principal, Target};
use awakener_kernel::time::Millis;
use awakener_spec::{Reason, rule};
use serde_json::{Map, Value};

use super::table::{COMMON, Key, Runtime};
use super::{Agent, Agents, StartOn};
use crate::config::document::{self, Item, Node, nearest};
use crate::config::kind::{Kind, written};
use crate::config::settings::dotted;
use crate::config::{Mode, Origin, Problem, Problems};

/// Words that stand for something in the arguments of a runner (COL-1).
const PLACEHOLDERS: [&str; 3] = ["name", "folder", "did"];

pub(super) fn read(path: &Path, mode: Mode) -> Result<Agents, Problems> {
    let members = document::read(path, Reason::ManifestRefused).map_err(|problem| Problems(vec![problem]))?;
    let mut reader = Reader { path, mode, agents: Agents::new(), problems: Vec::new() };
    for (key, node) in &members {
        reader.root(key, node);
    }
    reader.judge_channels();
    if reader.problems.is_empty() {
        rule!(Cap1);
        Ok(reader.agents)
    } else {
        Err(Problems(reader.problems))
    }
}

struct Reader<'a> {
    path: &'a Path,
    mode: Mode,
    agents: Agents,
    problems: Vec<Problem>,
}

impl Reader<'_> {
    fn complain(&mut self, line: usize, key: &[&str], what: impl Into<String>, nearest: Option<String>) {
        let key: Vec<String> = key.iter().map(|segment| (*segment).to_owned()).collect();
        self.problems.push(Problem {
            reason: Reason::ManifestRefused,
            origin: Origin::File { path: self.path.into(), line },
            key: dotted(&key),
            what: what.into(),
            nearest,
        });
    }

    fn root(&mut self, key: &str, node: &Node) {
        match (key, &node.item) {
            ("version", Item::Integer(1)) => {}
            ("version", _) => {
                self.complain(
                    node.line,
                    &[key],
                    "is not a version that this program reads; it reads 1",
                    None,
                );
            }
            ("agents", Item::Table(agents)) => {
                for (name, node) in agents {
                    self.section(name, node);
                }
            }
            ("agents", other) => {
                self.complain(node.line, &[key], format!("is a section, found {}", other.kind()), None);
            }
            (_, _) => {
                let near = nearest(key, ["version", "agents"]);
                self.complain(node.line, &[key], "is no key or section of a manifest", near);
            }
        }
    }

    fn section(&mut self, name: &str, node: &Node) {
        let target = match Target::parse(name) {
            Ok(target) => target,
            Err(error) => {
                return self.complain(node.line, &["agents", name], format!("is no target: {error}"), None);
            }
        };
        let Item::Table(members) = &node.item else {
            let what = format!("is a section, found {}", node.item.kind());
            return self.complain(node.line, &["agents", name], what, None);
        };
        let Some(runtime) = self.runtime(name, node.line, members) else { return };
        let mut values = Map::new();
        for (key, member) in members {
            if let Some(value) = self.value(name, runtime, key, member) {
                values.insert(key.clone(), value);
            }
        }
        for (key, kind, _) in runtime.keys().iter().filter(|(_, _, required)| *required) {
            if !members.iter().any(|(name, _)| name == key) {
                let what = format!("is missing: runtime {:?} needs {}", runtime.name(), kind.expected());
                self.complain(node.line, &["agents", name, key], what, None);
            }
        }
        let mut agent = agent(target, runtime, values, node.line);
        self.judge(name, &agent, members);
        agent.settings.remove("max_concurrent_wakes");
        self.agents.insert(agent.target.clone(), agent);
    }

    fn runtime(&mut self, name: &str, line: usize, members: &[(String, Node)]) -> Option<Runtime> {
        let Some((_, node)) = members.iter().find(|(key, _)| key == "runtime") else {
            // The key may be there under a wrong name; then that is the thing to say.
            let near = members.iter().find(|(key, _)| nearest(key, ["runtime"]).is_some());
            match near {
                Some((key, node)) => {
                    self.complain(
                        node.line,
                        &["agents", name, key],
                        "is no key of an agent",
                        Some("runtime".into()),
                    );
                }
                None => {
                    let what =
                        format!("is missing: {}", COMMON.first().map_or(Kind::Text, |(_, k)| *k).expected());
                    self.complain(line, &["agents", name, "runtime"], what, None);
                }
            }
            return None;
        };
        let key = ["agents", name, "runtime"];
        let Item::Text(text) = &node.item else {
            self.complain(node.line, &key, format!("expected a runtime, found {}", node.item.kind()), None);
            return None;
        };
        let Some(runtime) = Runtime::from_name(text) else {
            let near = nearest(text, Runtime::ALL.map(Runtime::name));
            let known = Runtime::ALL.map(Runtime::name).join(", ");
            self.complain(node.line, &key, format!("{text:?} is no runtime; known are {known}"), near);
            return None;
        };
        if runtime == Runtime::Fake && self.mode != Mode::Trial {
            self.complain(node.line, &key, "\"fake\" stands only in a trial; this is production", None);
        }
        Some(runtime)
    }

    fn value(&mut self, name: &str, runtime: Runtime, key: &str, node: &Node) -> Option<Value> {
        let own = runtime.keys().iter().find(|(known, _, _)| *known == key).map(|(_, kind, _)| *kind);
        let kind = own.or_else(|| COMMON.iter().find(|(known, _)| *known == key).map(|(_, kind)| *kind));
        let path = ["agents", name, key];
        let Some(kind) = kind else {
            let known = runtime.keys().iter().map(|(known, _, _)| *known);
            let near = nearest(key, COMMON.iter().map(|(known, _)| *known).chain(known));
            let elsewhere = Runtime::ALL.into_iter().find(|r| r.keys().iter().any(|k: &Key| k.0 == key));
            let what = match elsewhere {
                Some(other) => format!("is a key of runtime {:?}, not of {:?}", other.name(), runtime.name()),
                None => "is no key of an agent".into(),
            };
            self.complain(node.line, &path, what, near);
            return None;
        };
        match kind.read(&node.item) {
            Ok(value) => Some(value),
            Err((what, near)) => {
                self.complain(node.line, &path, what, near);
                None
            }
        }
    }

    /// What one key alone does not show.
    fn judge(&mut self, name: &str, agent: &Agent, members: &[(String, Node)]) {
        let line =
            |key: &str| members.iter().find(|(known, _)| known == key).map_or(agent.line, |(_, n)| n.line);
        if agent.headless && agent.requires_human_submit {
            rule!(Dsp8);
            let key = ["agents", name, "requires_human_submit"];
            let what = "contradicts headless = true: nobody is there to submit";
            self.complain(line("requires_human_submit"), &key, what, None);
        }
        if agent.settings.get("max_concurrent_wakes").is_some_and(|n| *n != 1) {
            rule!(Dsp2);
            let key = ["agents", name, "max_concurrent_wakes"];
            let what = "must be 1: a target has one flight at a time";
            self.complain(line("max_concurrent_wakes"), &key, what, None);
        }
        let bounds = Limits::default().table().into_iter().find(|limit| limit.name == "cooldown");
        if let Some(limit) = bounds.filter(|l| agent.cooldown.0 < l.floor || agent.cooldown.0 > l.ceiling) {
            let what = format!("is not between {} and {}", written(limit.floor), written(limit.ceiling));
            self.complain(line("cooldown"), &["agents", name, "cooldown"], what, None);
        }
        if agent.start_on == StartOn::Mail && agent.accept.is_empty() {
            let what = "\"mail\" needs `accept`, the principals whose mail may start the agent";
            self.complain(line("start_on"), &["agents", name, "start_on"], what, None);
        }
        self.judge_settings(name, agent, &line);
        for word in agent.texts("argv").into_iter().flat_map(placeholders) {
            if !PLACEHOLDERS.contains(&word) {
                let what = format!("{{{word}}} stands for nothing; {{name}}, {{folder}} and {{did}} do");
                self.complain(line("argv"), &["agents", name, "argv"], what, nearest(word, PLACEHOLDERS));
            }
        }
    }
}

impl Reader<'_> {
    /// A session has one channel: two agents in one pane would be typed to over each other (DSP-9).
    fn judge_channels(&mut self) {
        let panes: Vec<Agent> =
            self.agents.values().filter(|agent| agent.runtime == Runtime::Tmux).cloned().collect();
        for (number, later) in panes.iter().enumerate() {
            let shares = |earlier: &&Agent| {
                let same = |key: &str| earlier.text(key) == later.text(key);
                let apart = match (earlier.text("pane"), later.text("pane")) {
                    (Some(one), Some(other)) => one != other,
                    (_, _) => !same("command"),
                };
                same("session") && same("socket") && !apart
            };
            if let Some(earlier) = panes.iter().take(number).find(shares) {
                rule!(Dsp9);
                let what = format!("is the pane of {} as well", earlier.target);
                self.complain(later.line, &["agents", later.target.as_str(), "session"], what, None);
            }
        }
    }

    /// What the settings of one runtime say together, so that `check` knows and not the first alert.
    fn judge_settings(&mut self, name: &str, agent: &Agent, line: &impl Fn(&str) -> usize) {
        let mut wrong = |key: &str, what: &str| {
            self.complain(line(key), &["agents", name, key], what, None);
        };
        for what in ["token", "secret"] {
            let (env, file) = (format!("{what}_env"), format!("{what}_file"));
            if agent.text(&env).is_some() && agent.text(&file).is_some() {
                wrong(&file, &format!("contradicts {env}: a secret has one place"));
            }
        }
        match agent.runtime {
            Runtime::Agentapi => {
                for key in ["endpoint", "status_endpoint"] {
                    if agent.text(key).is_some_and(|url| crate::broker::loopback(url).is_err()) {
                        rule!(Prt3);
                        wrong(key, "is not an http URL of this machine: AgentAPI knows no callers");
                    }
                }
            }
            Runtime::Webhook => {
                if agent.text("secret_env").or(agent.text("secret_file")).is_none() {
                    wrong(
                        "secret_env",
                        "is missing: a webhook is signed; name a variable here or a file in secret_file",
                    );
                }
                let plain = agent.text("url").is_some_and(|url| url.starts_with("http:"));
                if plain && agent.settings.get("allow_private") != Some(&Value::Bool(true)) {
                    wrong("url", "is not encrypted, which needs allow_private = true and a private address");
                }
            }
            Runtime::Tmux
            | Runtime::Cmux
            | Runtime::DesktopNotification
            | Runtime::LocalRunner
            | Runtime::TurnHook
            | Runtime::External
            | Runtime::Fake => {}
        }
    }
}

fn agent(target: Target, runtime: Runtime, mut values: Map<String, Value>, line: usize) -> Agent {
    let mut take = |key: &str| values.remove(key).unwrap_or_default();
    let flag = |value: Value| value.as_bool().unwrap_or(false);
    take("runtime");
    let (headless, tier0_ack) = (flag(take("headless")), flag(take("tier0_ack")));
    let requires_human_submit = flag(take("requires_human_submit"));
    let cooldown = take("cooldown").as_u64().map_or(Limits::default().cooldown, Millis);
    let start_on = if take("start_on") == "mail" { StartOn::Mail } else { StartOn::Hint };
    let accept = take("accept");
    let accept = accept.as_array().into_iter().flatten().filter_map(Value::as_str);
    let accept = accept.filter_map(|name| Principal::parse(name).ok()).collect();
    Agent {
        target,
        runtime,
        headless,
        tier0_ack,
        requires_human_submit,
        cooldown,
        start_on,
        accept,
        settings: values,
        line,
    }
}

/// The words between braces of one argument.
pub fn placeholders(argument: &str) -> Vec<&str> {
    argument.split('{').skip(1).filter_map(|rest| rest.split_once('}').map(|(word, _)| word)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn col_1_placeholders_are_what_stands_between_braces() {
        assert_eq!(placeholders("--in={folder}/{name}"), ["folder", "name"]);
        assert!(placeholders("no { brace ends").is_empty());
    }
}
