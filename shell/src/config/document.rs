//! A TOML file as a tree that knows its lines, and the one shape of a complaint about a setting.
//!
//! Both files that people write (configuration and manifest) are read through here, so that every complaint names
//! file, line, key and the nearest known key (CON-1, CAP-2). Not here: which keys exist.

use std::fmt;
use std::path::{Path, PathBuf};

use awakener_spec::Reason;
use serde_json::{Value, json};
use toml::de::{DeTable, DeValue};

/// Where a value comes from.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Origin {
    /// Nobody set it: the default that is compiled in.
    BuiltIn,
    /// A line of a file; line 0 is the file as a whole.
    File {
        /// The file, as it was named.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
    },
    /// An environment variable.
    Env(String),
    /// A flag of the command line.
    Flag,
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::BuiltIn => f.write_str("built in"),
            Self::File { path, line: 0 } => write!(f, "{}", path.display()),
            Self::File { path, line } => write!(f, "{}:{line}", path.display()),
            Self::Env(name) => write!(f, "environment {name}"),
            Self::Flag => f.write_str("flag --set"),
        }
    }
}

/// One thing that is wrong with a setting.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The refusal that it leads to.
    pub reason: Reason,
    /// Where it stands.
    pub origin: Origin,
    /// The key, dotted; empty for the file as a whole.
    pub key: String,
    /// What is wrong, in one sentence without a full stop.
    pub what: String,
    /// The known key or value that is closest to what was written.
    pub nearest: Option<String>,
}

impl Problem {
    /// The members `reason, rule, origin, file?, line?, key, what, nearest?`.
    pub fn to_value(&self) -> Value {
        let mut value = json!({
            "reason": self.reason,
            "rule": self.reason.rule(),
            "origin": self.origin.to_string(),
            "key": self.key,
            "what": self.what,
            "nearest": self.nearest,
        });
        if let Origin::File { path, line } = &self.origin {
            value["file"] = path.display().to_string().into();
            value["line"] = (*line).into();
        }
        value
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: ", self.origin)?;
        if !self.key.is_empty() {
            write!(f, "`{}`: ", self.key)?;
        }
        f.write_str(&self.what)?;
        match &self.nearest {
            Some(nearest) => write!(f, "; did you mean `{nearest}`?"),
            None => Ok(()),
        }
    }
}

/// Everything that is wrong with a file or with all settings together; never empty.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problems(pub Vec<Problem>);

impl Problems {
    /// The refusal of the first problem.
    pub fn reason(&self) -> Reason {
        self.0.first().map_or(Reason::ConfigMalformed, |problem| problem.reason)
    }

    /// A list of [`Problem::to_value`].
    pub fn to_value(&self) -> Value {
        self.0.iter().map(Problem::to_value).collect()
    }
}

impl fmt::Display for Problems {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, problem) in self.0.iter().enumerate() {
            let gap = if at == 0 { "" } else { "\n" };
            write!(f, "{gap}{problem}")?;
        }
        Ok(())
    }
}

impl std::error::Error for Problems {}

/// A value and the line on which it starts.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// From 1; for a member of a table, the line of its key.
    pub line: usize,
    /// What stands there.
    pub item: Item,
}

/// The kinds of TOML values that settings are made of.
#[derive(Clone, Debug, PartialEq)]
pub enum Item {
    /// A string.
    Text(String),
    /// An integer.
    Integer(i64),
    /// `true` or `false`.
    Bool(bool),
    /// An array.
    List(Vec<Node>),
    /// A table, in the order of its lines.
    Table(Vec<(String, Node)>),
    /// Something that no setting is made of: a float, a date, an integer beyond 64 bits.
    Other(&'static str),
}

impl Item {
    /// What it is, for complaints.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Text(_) => "a string",
            Self::Integer(_) => "an integer",
            Self::Bool(_) => "a boolean",
            Self::List(_) => "a list",
            Self::Table(_) => "a section",
            Self::Other(kind) => kind,
        }
    }
}

/// Reads a file into the members of its root table.
///
/// # Errors
/// One [`Problem`] with `reason`: the file cannot be read, or its text is not TOML.
pub fn read(path: &Path, reason: Reason) -> Result<Vec<(String, Node)>, Problem> {
    let whole = |what: String| Problem {
        reason,
        origin: Origin::File { path: path.into(), line: 0 },
        key: String::new(),
        what,
        nearest: None,
    };
    let text = std::fs::read_to_string(path).map_err(|error| whole(format!("cannot be read: {error}")))?;
    parse(&text)
        .map_err(|(line, what)| Problem { origin: Origin::File { path: path.into(), line }, ..whole(what) })
}

/// Reads TOML text; an error is its line and what is wrong.
pub(crate) fn parse(text: &str) -> Result<Vec<(String, Node)>, (usize, String)> {
    match DeTable::parse(text) {
        Ok(table) => Ok(members(table.get_ref(), text)),
        Err(error) => {
            let at = error.span().map_or(0, |span| span.start);
            Err((line_of(text, at), error.message().lines().collect::<Vec<_>>().join(", ")))
        }
    }
}

fn members(table: &DeTable<'_>, text: &str) -> Vec<(String, Node)> {
    let mut members: Vec<(usize, String, Node)> = table
        .iter()
        .map(|(key, value)| {
            let at = key.span().start;
            let node = Node { line: line_of(text, at), item: item(value.get_ref(), text) };
            (at, key.get_ref().to_string(), node)
        })
        .collect();
    members.sort_by_key(|(at, _, _)| *at);
    members.into_iter().map(|(_, key, node)| (key, node)).collect()
}

fn item(value: &DeValue<'_>, text: &str) -> Item {
    match value {
        DeValue::String(string) => Item::Text(string.to_string()),
        DeValue::Integer(number) => match i64::from_str_radix(number.as_str(), number.radix()) {
            Ok(number) => Item::Integer(number),
            Err(_) => Item::Other("an integer beyond 64 bits"),
        },
        DeValue::Float(_) => Item::Other("a number with a fraction"),
        DeValue::Boolean(value) => Item::Bool(*value),
        DeValue::Datetime(_) => Item::Other("a date"),
        DeValue::Array(list) => {
            let node = |value: &toml::Spanned<DeValue<'_>>| Node {
                line: line_of(text, value.span().start),
                item: item(value.get_ref(), text),
            };
            Item::List(list.iter().map(node).collect())
        }
        DeValue::Table(table) => Item::Table(members(table, text)),
    }
}

fn line_of(text: &str, at: usize) -> usize {
    text.bytes().take(at).filter(|byte| *byte == b'\n').count() + 1
}

/// The known name closest to what was written, if any is close enough to be meant.
pub fn nearest<'a>(written: &str, known: impl IntoIterator<Item = &'a str>) -> Option<String> {
    known
        .into_iter()
        .map(|name| (strsim::damerau_levenshtein(written, name), name))
        .filter(|(distance, name)| *distance <= (name.len().max(written.len()) / 3).max(1))
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, name)| name.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn con_1_lines_are_those_of_the_keys() {
        let tree = parse("a = 1\n\n[b]\n# nothing\nc = [1,\n 2]\n[b.d]\ne = true\n").unwrap();
        let (_, b) = &tree[1];
        let Item::Table(members) = &b.item else { panic!("{b:?}") };
        let lines: Vec<(&str, usize)> = members.iter().map(|(key, node)| (key.as_str(), node.line)).collect();
        assert_eq!((tree[0].1.line, b.line), (1, 3));
        assert_eq!(lines, [("c", 5), ("d", 7)]);
    }

    #[test]
    fn con_1_broken_text_is_refused_with_its_line() {
        assert_eq!(parse("a = 1\nb = \n").unwrap_err().0, 2);
        assert_eq!(parse("a = 1\na = 2\n").unwrap_err().0, 2);
    }

    #[test]
    fn con_1_only_close_names_are_suggested() {
        let known = ["cooldown", "headless", "tier0_ack"];
        assert_eq!(nearest("teir0_ack", known).as_deref(), Some("tier0_ack"));
        assert_eq!(nearest("cooldwn", known).as_deref(), Some("cooldown"));
        assert_eq!(nearest("zzz", known), None);
    }
}
