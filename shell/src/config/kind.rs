//! The kinds of values that settings have, and how each is read from TOML or from text.
//!
//! A value that passes is plain JSON (durations in milliseconds), so that the effective configuration has one
//! canonical form. Not here: which keys exist. Rules: CON-1.

use std::net::SocketAddr;

use awakener_kernel::ids::{DaemonName, PlaneName, Principal};
use serde_json::Value;

use super::document::{Item, nearest};

/// What a setting takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Any string that is not empty.
    Text,
    /// One of these words.
    Choice(&'static [&'static str]),
    /// `true` or `false`.
    Bool,
    /// An integer from 0 on.
    Count,
    /// `"250ms"`, `"30s"`, `"15m"`, `"1h"`, `"30d"`, or integer milliseconds.
    Duration,
    /// An IP address with a port.
    Address,
    /// An absolute http or https URL without credentials in it.
    Url,
    /// A list of such URLs.
    Urls,
    /// A list of strings that are not empty.
    Texts,
    /// A list of one of these words.
    Choices(&'static [&'static str]),
    /// The name of a plane or a wake daemon (IDN-2).
    Name,
    /// A list of principals.
    Principals,
    /// The name of an environment variable.
    EnvName,
    /// A list of such names.
    EnvNames,
    /// A list of arguments, the first of them a program.
    Argv,
}

/// What is wrong with a value, and the nearest word if it was a word.
pub type Wrong = (String, Option<String>);

impl Kind {
    /// What it takes, for complaints.
    pub fn expected(self) -> String {
        match self {
            Self::Text => "a string that is not empty".into(),
            Self::Choice(words) => format!("one of {}", words.join(", ")),
            Self::Bool => "true or false".into(),
            Self::Count => "an integer from 0 on".into(),
            Self::Duration => "a duration such as \"30s\", \"15m\", \"1h\", or integer milliseconds".into(),
            Self::Address => "an IP address with a port, such as \"127.0.0.1:7717\"".into(),
            Self::Url => "an http or https URL without a user name or password in it".into(),
            Self::Urls => "a list of http or https URLs".into(),
            Self::Texts => "a list of strings".into(),
            Self::Choices(words) => format!("a list of any of {}", words.join(", ")),
            Self::Name => "a name: a-z or 0-9, then a-z, 0-9, _ and -, at most 64 bytes".into(),
            Self::Principals => "a list of principals".into(),
            Self::EnvName => "the name of an environment variable: A-Z, 0-9 and _".into(),
            Self::EnvNames => "a list of names of environment variables".into(),
            Self::Argv => "a list of arguments, the first of them the program".into(),
        }
    }

    /// Reads a value from TOML.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn read(self, item: &Item) -> Result<Value, Wrong> {
        let refuse = || (format!("expected {}, found {}", self.expected(), shown(item)), None);
        let fits = |fits: bool, text: &str| if fits { Ok(text.into()) } else { Err(refuse()) };
        match (self, item) {
            (Self::Text, Item::Text(text)) => fits(!text.is_empty(), text),
            (Self::Choice(words), Item::Text(text)) if words.contains(&text.as_str()) => {
                Ok(text.as_str().into())
            }
            (Self::Choice(words), Item::Text(text)) => {
                Err((refuse().0, nearest(text, words.iter().copied())))
            }
            (Self::Bool, Item::Bool(value)) => Ok((*value).into()),
            (Self::Count, Item::Integer(number)) => {
                u64::try_from(*number).map(Into::into).map_err(|_| refuse())
            }
            (Self::Duration, Item::Integer(ms)) => u64::try_from(*ms).map(Into::into).map_err(|_| refuse()),
            (Self::Duration, Item::Text(text)) => duration(text).map(Into::into).ok_or_else(refuse),
            (Self::Address, Item::Text(text)) => fits(text.parse::<SocketAddr>().is_ok(), text),
            (Self::Url, Item::Text(text)) => fits(is_url(text), text),
            (Self::Name, Item::Text(text)) => {
                fits(PlaneName::parse(text).is_ok() && DaemonName::parse(text).is_ok(), text)
            }
            (Self::EnvName, Item::Text(text)) => fits(is_env_name(text), text),
            (Self::Urls, item) => list(Self::Url, item, refuse),
            (Self::Texts, item) => list(Self::Text, item, refuse),
            (Self::Choices(words), item) => list(Self::Choice(words), item, refuse),
            (Self::EnvNames, item) => list(Self::EnvName, item, refuse),
            (Self::Principals, Item::List(items)) => items
                .iter()
                .map(|node| match &node.item {
                    Item::Text(text) if Principal::parse(text).is_ok() => Ok(Value::from(text.as_str())),
                    _other => Err(refuse()),
                })
                .collect(),
            (Self::Argv, Item::List(items)) if !items.is_empty() => list(Self::Text, item, refuse),
            (_, _) => Err(refuse()),
        }
    }

    /// Reads a value from the text of an environment variable or a flag; lists have commas between their items.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn read_text(self, text: &str) -> Result<Value, Wrong> {
        let integer = || text.parse().map(Item::Integer);
        let item = match self {
            Self::Bool => text.parse().map_or(Item::Text(text.into()), Item::Bool),
            Self::Count | Self::Duration => integer().unwrap_or(Item::Text(text.into())),
            Self::Urls | Self::Texts | Self::Choices(_) | Self::Principals | Self::EnvNames | Self::Argv => {
                let parts = text.split(',').map(str::trim).filter(|part| !part.is_empty());
                Item::List(
                    parts
                        .map(|part| super::document::Node { line: 0, item: Item::Text(part.into()) })
                        .collect(),
                )
            }
            Self::Text | Self::Choice(_) | Self::Address | Self::Url | Self::Name | Self::EnvName => {
                Item::Text(text.into())
            }
        };
        self.read(&item)
    }
}

fn list(kind: Kind, item: &Item, refuse: impl Fn() -> Wrong) -> Result<Value, Wrong> {
    let Item::List(items) = item else { return Err(refuse()) };
    items.iter().map(|node| kind.read(&node.item)).collect()
}

/// Scalars are shown as they are; nothing that may be long or secret is repeated.
fn shown(item: &Item) -> String {
    match item {
        Item::Text(text) if text.len() <= 64 => format!("{text:?}"),
        Item::Integer(number) => number.to_string(),
        Item::Bool(value) => value.to_string(),
        Item::Text(_) | Item::List(_) | Item::Table(_) | Item::Other(_) => item.kind().into(),
    }
}

/// Milliseconds of `<integer><unit>`; no unit, no sign, no fraction is no duration.
fn duration(text: &str) -> Option<u64> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let (number, unit) = text.split_at(digits);
    let factor = match unit {
        "ms" => 1,
        "s" => 1_000,
        "m" => 60_000,
        "h" => 3_600_000,
        "d" => 86_400_000,
        _unknown => return None,
    };
    number.parse::<u64>().ok()?.checked_mul(factor)
}

/// Milliseconds in the largest unit that divides them: the inverse of reading.
pub fn written(ms: u64) -> String {
    let units = [(86_400_000, "d"), (3_600_000, "h"), (60_000, "m"), (1_000, "s")];
    match units.iter().find(|(factor, _)| ms > 0 && ms.is_multiple_of(*factor)) {
        Some((factor, unit)) => format!("{}{unit}", ms / factor),
        None => format!("{ms}ms"),
    }
}

fn is_url(text: &str) -> bool {
    reqwest::Url::parse(text).is_ok_and(|url| {
        matches!(url.scheme(), "http" | "https")
            && url.has_host()
            && url.username().is_empty()
            && url.password().is_none()
    })
}

fn is_env_name(text: &str) -> bool {
    text.bytes().all(|byte| matches!(byte, b'A'..=b'Z' | b'0'..=b'9' | b'_'))
        && text.bytes().next().is_some_and(|byte| !byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn con_1_durations_have_one_unit_and_no_fraction() {
        for (text, ms) in
            [("250ms", 250), ("30s", 30_000), ("15m", 900_000), ("1h", 3_600_000), ("30d", 2_592_000_000)]
        {
            assert_eq!(duration(text), Some(ms));
            assert_eq!(written(ms), text);
        }
        for text in
            ["", "30", "s", "-1s", "1.5s", "1h30m", "30 s", "99999999999999999999s", "18446744073709551615d"]
        {
            assert_eq!(duration(text), None, "{text}");
        }
    }

    #[test]
    fn con_1_urls_carry_no_credentials() {
        assert!(is_url("http://127.0.0.1:9403/message"));
        for text in ["127.0.0.1:9403", "ftp://a/b", "http://me:secret@a/", "http://", "http://me@a/"] {
            assert!(!is_url(text), "{text}");
        }
    }

    #[test]
    fn con_1_text_is_read_by_the_kind_of_its_setting() {
        assert_eq!(Kind::Bool.read_text("true").unwrap(), true);
        assert_eq!(Kind::Duration.read_text("1500").unwrap(), 1500);
        assert_eq!(Kind::Texts.read_text("a, b").unwrap(), serde_json::json!(["a", "b"]));
        assert!(Kind::Bool.read_text("yes").is_err());
        assert!(Kind::Count.read_text("-1").is_err());
    }
}
