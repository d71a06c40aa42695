//! The roster as a person writes it, and its three commands.
//!
//! The file is TOML: `version = 1`, one of `not_after = "2026-12-01T00:00:00Z"` and `valid = "24h"`, and `[[entries]]`
//! with `principal`, `schema`, `target`. Anything else in it refuses the file, with the line. Rules: ADM-3 to ADM-5.

use std::path::Path;

use awakener_kernel::ids::{Principal, SchemaRef, Target};
use awakener_kernel::operator::{Act, Empty, Roster as Installed, RosterEntry as Entry};
use awakener_kernel::time::{Millis, Wall};
use awakener_spec::Reason;

use super::args::Roster;
use super::context::Context;
use super::out::Answer;
use super::{operator, registry};
use crate::clock;
use crate::config::document::{self, Item, Node, nearest};
use crate::config::kind::Kind;
use crate::config::{Origin, Problem, Problems};
use crate::exit::Failure;

/// `roster …`.
pub fn roster(context: &Context, command: Roster) -> Result<Answer, Failure> {
    match command {
        Roster::Install { file, by } => {
            let (not_after, entries) = read(&file, clock::system())?;
            operator::act(context, Act::InstallRoster(Installed { version: 1, not_after, entries }), &by)
        }
        Roster::Remove { by } => operator::act(context, Act::RemoveRoster(Empty {}), &by),
        Roster::Show => registry::roster(context),
    }
}

fn read(file: &Path, now: Wall) -> Result<(Wall, Vec<Entry>), Failure> {
    let mut reader = Reader { file, problems: Vec::new() };
    let members = document::read(file, Reason::RosterMalformed).map_err(|problem| failed(vec![problem]))?;
    let (mut end, mut entries) = (None, Vec::new());
    for (key, node) in &members {
        match (key.as_str(), &node.item) {
            ("version", Item::Integer(1)) => {}
            ("not_after", Item::Text(text)) => match Wall::parse_utc(text) {
                Ok(wall) => end = Some(wall),
                Err(_) => {
                    reader.complain(node.line, key, "expected a time such as 2026-12-01T00:00:00Z", None)
                }
            },
            ("valid", item) => match Kind::Duration.read(item) {
                Ok(ms) => end = Some(now + Millis(ms.as_u64().unwrap_or_default())),
                Err((what, _)) => reader.complain(node.line, key, what, None),
            },
            ("entries", Item::List(items)) => {
                entries.extend(items.iter().filter_map(|item| reader.entry(item)));
            }
            ("version" | "not_after" | "entries", other) => {
                reader.complain(node.line, key, format!("cannot be {}", other.kind()), None);
            }
            (_, _) => {
                let near = nearest(key, ["version", "not_after", "valid", "entries"]);
                reader.complain(node.line, key, "is no key of a roster", near);
            }
        }
    }
    let Some(end) = end else {
        if reader.problems.is_empty() {
            reader.complain(0, "not_after", "is missing: a roster has an end", None);
        }
        return Err(failed(reader.problems));
    };
    if reader.problems.is_empty() { Ok((end, entries)) } else { Err(failed(reader.problems)) }
}

/// A file that is wrong here is the caller's: nothing was installed, so it is malformed input.
fn failed(problems: Vec<Problem>) -> Failure {
    let mut failure = Failure::from(Problems(problems));
    failure.what = "The roster file cannot be used; nothing was sent.".into();
    failure.exit = crate::exit::Exit::Malformed.code();
    failure.next = Some("Correct what is named above.".into());
    failure
}

struct Reader<'a> {
    file: &'a Path,
    problems: Vec<Problem>,
}

impl Reader<'_> {
    fn complain(&mut self, line: usize, key: &str, what: impl Into<String>, nearest: Option<String>) {
        self.problems.push(Problem {
            reason: Reason::RosterMalformed,
            origin: Origin::File { path: self.file.into(), line },
            key: key.into(),
            what: what.into(),
            nearest,
        });
    }

    fn entry(&mut self, node: &Node) -> Option<Entry> {
        let Item::Table(members) = &node.item else {
            self.complain(
                node.line,
                "entries",
                format!("an entry is a section, found {}", node.item.kind()),
                None,
            );
            return None;
        };
        let known = ["principal", "schema", "target"];
        for (key, member) in members {
            if !known.contains(&key.as_str()) {
                self.complain(member.line, key, "is no key of an entry", nearest(key, known));
            }
        }
        let principal = self.text(node.line, members, "principal", |text| Principal::parse(text).ok());
        let schema = self.text(node.line, members, "schema", |text| SchemaRef::parse(text).ok());
        let target = self.text(node.line, members, "target", |text| Target::parse(text).ok());
        Some(Entry { principal: principal?, schema: schema?, target: target? })
    }

    fn text<T>(
        &mut self,
        line: usize,
        members: &[(String, Node)],
        key: &str,
        parse: impl Fn(&str) -> Option<T>,
    ) -> Option<T> {
        let Some((_, node)) = members.iter().find(|(name, _)| name == key) else {
            self.complain(line, key, "is missing in this entry", None);
            return None;
        };
        let value = if let Item::Text(text) = &node.item { parse(text) } else { None };
        if value.is_none() {
            self.complain(node.line, key, format!("is no {key}"), None);
        }
        value
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str) -> Result<(Wall, Vec<Entry>), Failure> {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("roster.toml");
        std::fs::write(&file, text).unwrap();
        read(&file, Wall(1_000))
    }

    #[test]
    fn adm_4_a_roster_is_read_whole_or_not_at_all() {
        let good = "version = 1\nvalid = \"24h\"\n[[entries]]\nprincipal = \"ops\"\nschema = \"interrupt-alert/1\"\n\
                    target = \"mataya-dyad\"\n";
        let (end, entries) = check(good).unwrap();
        assert_eq!((end, entries.len()), (Wall(86_401_000), 1));
        for (bad, line, key) in [
            (good.replace("valid", "vaild"), 2, "vaild"),
            (good.replace("interrupt-alert/1", "interrupt-alert"), 5, "schema"),
            (good.replace("target =", "traget ="), 6, "traget"),
            (good.replace("version = 1", "version = 2"), 1, "version"),
            (good.replace("valid = \"24h\"\n", ""), 0, "not_after"),
        ] {
            let failure = check(&bad).unwrap_err();
            assert_eq!((failure.reason, failure.exit), (Some(Reason::RosterMalformed), 65));
            let problem = &failure.problems.unwrap().0[0];
            assert!(matches!(&problem.origin, Origin::File { line: l, .. } if *l == line), "{problem}");
            assert_eq!(problem.key, key);
        }
    }
}
