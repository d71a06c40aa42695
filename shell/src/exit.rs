//! How a command ends: its exit code and what it says.
//!
//! A failure goes to standard error, standard output keeps results only: for people as four short lines (what, where,
//! rule, next), with `--json` as one object on one line with the members `v, error, reason, rule, exit, place, next,
//! problems`. A failure that is no refusal of the closed list has a null `reason`. The codes: 0 ok, 1 failed, 2 usage,
//! 65 malformed or tampered, 69 unavailable, 77 refused, 78 configuration, 90 latched. Rules: CON-1.

use std::fmt;

use awakener_spec::{Class, Reason, Rule};
use serde_json::{Value, json};

use crate::config::Problems;
use crate::keys::KeyError;

/// The exit codes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Exit {
    /// Done.
    Ok = 0,
    /// It failed for a reason that has no code of its own.
    Failed = 1,
    /// The command line is wrong.
    Usage = 2,
    /// What came in is malformed or was tampered with.
    Malformed = 65,
    /// Something that is needed does not answer or cannot take work now.
    Unavailable = 69,
    /// It is not allowed.
    Refused = 77,
    /// Configuration, manifest or key files are wrong.
    Configuration = 78,
    /// A fuse has tripped and the latch holds.
    Latched = 90,
}

impl Exit {
    /// The number.
    pub const fn code(self) -> u8 {
        self as u8
    }
}

/// Why a command failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// The refusal, if it is one of the closed list.
    pub reason: Option<Reason>,
    /// The rule by which it failed.
    pub rule: Option<Rule>,
    /// The exit code.
    pub exit: u8,
    /// What happened, one sentence.
    pub what: String,
    /// Where: a file with a line, an address, a flag.
    pub place: Option<String>,
    /// What to do next.
    pub next: Option<String>,
    /// Every single complaint, when there are several.
    pub problems: Option<Problems>,
}

impl Failure {
    /// A failure without a refusal.
    pub fn new(exit: Exit, what: impl Into<String>) -> Self {
        let what = what.into();
        Self { reason: None, rule: None, exit: exit.code(), what, place: None, next: None, problems: None }
    }

    /// A refusal, in the words of the list.
    pub fn refused(reason: Reason) -> Self {
        Self {
            reason: Some(reason),
            rule: Some(reason.rule()),
            exit: reason.exit(),
            what: reason.text().into(),
            place: None,
            next: Some(reason.next().into()),
            problems: None,
        }
    }

    /// The command line is wrong.
    pub fn usage(what: impl Into<String>) -> Self {
        Self { what: what.into(), ..Self::refused(Reason::Usage) }
    }

    /// What a plane withheld from a wake daemon (VER-1): a class, not a reason.
    pub fn class(class: Class) -> Self {
        Self { rule: Some(class.rule()), ..Self::new(Exit::Refused, format!("{class}: {}", class.text())) }
    }

    /// With more words on what happened.
    #[must_use]
    pub fn saying(mut self, what: impl fmt::Display) -> Self {
        self.what = format!("{} {what}", self.what);
        self
    }

    /// With the place.
    #[must_use]
    pub fn at(mut self, place: impl fmt::Display) -> Self {
        self.place = Some(place.to_string());
        self
    }

    /// With what to do.
    #[must_use]
    pub fn then(mut self, next: impl Into<String>) -> Self {
        self.next = Some(next.into());
        self
    }

    /// With the rule.
    #[must_use]
    pub const fn by(mut self, rule: Rule) -> Self {
        self.rule = Some(rule);
        self
    }

    /// The object of `--json`.
    pub fn to_value(&self) -> Value {
        json!({
            "v": 1,
            "error": self.what,
            "reason": self.reason,
            "rule": self.rule,
            "exit": self.exit,
            "place": self.place,
            "next": self.next,
            "problems": self.problems.as_ref().map(Problems::to_value),
        })
    }
}

/// What a person reads.
impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "error: {}", self.what)?;
        for problem in self.problems.iter().flat_map(|problems| &problems.0) {
            write!(f, "\n       {problem}")?;
        }
        if let Some(place) = &self.place {
            write!(f, "\nwhere: {place}")?;
        }
        match (self.rule, self.reason) {
            (Some(rule), Some(reason)) => write!(f, "\nrule:  {rule} ({reason})")?,
            (Some(rule), None) => write!(f, "\nrule:  {rule}")?,
            (None, Some(reason)) => write!(f, "\nrule:  ({reason})")?,
            (None, None) => {}
        }
        match &self.next {
            Some(next) => write!(f, "\nnext:  {next}"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for Failure {}

impl From<Problems> for Failure {
    fn from(problems: Problems) -> Self {
        Self { problems: Some(problems.clone()), ..Self::refused(problems.reason()) }
    }
}

impl From<KeyError> for Failure {
    fn from(error: KeyError) -> Self {
        let (place, what) = match &error {
            KeyError::Mode { path, what } => (Some(path), what.clone()),
            KeyError::Malformed { path, expected } => (Some(path), format!("The file is not {expected}.")),
            KeyError::Exists { path } => {
                (Some(path), "The file exists already and is not overwritten.".into())
            }
            KeyError::Io { path, source } => (Some(path), format!("The file cannot be used: {source}.")),
            KeyError::Chance(_) => (None, error.to_string()),
        };
        let failure = match &error {
            KeyError::Mode { .. } => Self::refused(Reason::KeyMode).saying(format!("({what})")),
            KeyError::Malformed { .. } | KeyError::Io { .. } => Self::new(Exit::Configuration, what),
            KeyError::Exists { .. } => {
                Self::new(Exit::Refused, what).then("Move it away, or name another file.")
            }
            KeyError::Chance(_) => Self::new(Exit::Failed, what),
        };
        match place {
            Some(path) => failure.at(path.display()),
            None => failure,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn con_1_the_code_of_a_refusal_is_one_of_the_table() {
        let codes = [
            Exit::Failed,
            Exit::Usage,
            Exit::Malformed,
            Exit::Unavailable,
            Exit::Refused,
            Exit::Configuration,
            Exit::Latched,
        ]
        .map(Exit::code);
        assert_eq!(codes, [1, 2, 65, 69, 77, 78, 90]);
        for reason in Reason::ALL {
            assert!(codes.contains(&Failure::refused(*reason).exit), "{reason}");
        }
    }

    #[test]
    fn con_1_a_failure_says_what_where_rule_and_next() {
        let failure = Failure::refused(Reason::KeyMode).at("keys/a.key");
        let text = failure.to_string();
        let starts: Vec<&str> = text.lines().map(|line| line.split(' ').next().unwrap()).collect();
        assert_eq!(starts, ["error:", "where:", "rule:", "next:"]);
        let value = failure.to_value();
        assert_eq!((value["reason"].as_str(), value["rule"].as_str()), (Some("key_mode"), Some("SPW-6")));
        assert_eq!((value["v"].as_u64(), value["exit"].as_u64()), (Some(1), Some(78)));
    }
}
