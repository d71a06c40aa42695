//! A way through a world, written down: as a file that runs again, in words, as a diagram, as a test.
//!
//! A trace holds actions only. What they do is found out by the world each time it is followed ([`follow`]), so that a
//! trace says the same of a changed kernel as a search would. Not here: how a way is found ([`crate::engine`]).
//! Reading order: this file (the trace) → [`follow`] (it runs) → [`told`] (what there is to say of it, without types)
//! → [`diff`], [`text`], [`mermaid`], [`rust`] (the forms). Rules: FML-1, FML-5, AUD-6.

pub mod diff;
pub mod follow;
pub mod mermaid;
pub mod rust;
pub mod text;
pub mod told;

use std::fmt;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use told::Told;

/// The id of the form that this program writes and reads.
pub const SCHEMA: &str = "urn:awakener:schema:trace:1";

/// A trace.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Trace {
    /// [`SCHEMA`].
    #[serde(rename = "$schema")]
    pub schema: String,
    /// Which world.
    pub world: String,
    /// Which of its scopes.
    pub scope: String,
    /// The law that it is about, by its whole name; absent if it only shows a way.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub law: Option<String>,
    /// What is done, in the world's own words.
    pub actions: Vec<Value>,
    /// Fingerprint of the state at its end, 16 hex digits; absent if it was written by hand.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last: Option<String>,
}

/// Why something is no trace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NoTrace {
    /// It is not JSON of this form.
    Malformed(String),
    /// It has another form, perhaps of a later version.
    OtherSchema(String),
}

impl fmt::Display for NoTrace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Malformed(why) => write!(f, "not a trace: {why}"),
            Self::OtherSchema(schema) => write!(f, "`$schema` is `{schema}`, and only `{SCHEMA}` is known"),
        }
    }
}

impl Trace {
    /// Reads one.
    ///
    /// # Errors
    /// [`NoTrace`]; a name that no world has is found out by whoever looks for the world.
    pub fn parse(text: &str) -> Result<Self, NoTrace> {
        let malformed = |error: serde_json::Error| NoTrace::Malformed(error.to_string());
        let value: Value = serde_json::from_str(text).map_err(malformed)?;
        match value.get("$schema").and_then(Value::as_str) {
            Some(schema) if schema != SCHEMA => Err(NoTrace::OtherSchema(schema.to_owned())),
            // Read from the text again, for the line of an error.
            Some(_) | None => serde_json::from_str(text).map_err(malformed),
        }
    }

    /// Writes it: one action a line, so that two of them can be compared.
    pub fn to_text(&self) -> String {
        let string = |text: &str| Value::from(text).to_string();
        let mut text = format!(
            "{{\n  \"$schema\": {},\n  \"world\": {},\n  \"scope\": {},\n",
            string(&self.schema),
            string(&self.world),
            string(&self.scope)
        );
        if let Some(law) = &self.law {
            text += &format!("  \"law\": {},\n", string(law));
        }
        let actions: Vec<String> = self.actions.iter().map(|action| format!("\n    {action}")).collect();
        text += &format!("  \"actions\": [{}\n  ]", actions.join(","));
        if let Some(last) = &self.last {
            text += &format!(",\n  \"last\": {}", string(last));
        }
        text + "\n}\n"
    }
}

/// A fingerprint as text.
pub fn print(fingerprint: u64) -> String {
    format!("{fingerprint:016x}")
}

/// A name for files and tests: lower-case letters, digits and `between`, nothing twice; at most 60 characters.
pub fn slug(name: &str, between: char) -> String {
    let mut slug = String::new();
    for c in name.chars() {
        if c.is_ascii_alphanumeric() {
            slug.push(c.to_ascii_lowercase());
        } else if !slug.is_empty() && !slug.ends_with(between) {
            slug.push(between);
        }
        if slug.len() == 60 {
            break;
        }
    }
    slug.trim_end_matches(between).to_owned()
}

/// An action as a few words: `{"present":{"hint":1}}` is `present hint=1`.
pub fn words(action: &Value) -> String {
    match action {
        Value::String(text) => text.clone(),
        Value::Object(members) => {
            let member = |(name, value): (&String, &Value)| match value {
                Value::Object(inner) if members.len() == 1 => {
                    let inner: Vec<String> =
                        inner.iter().map(|(name, value)| format!("{name}={}", words(value))).collect();
                    format!("{name} {}", inner.join(" "))
                }
                _ if members.len() == 1 => format!("{name} {}", words(value)),
                _ => format!("{name}={}", words(value)),
            };
            members.iter().map(member).collect::<Vec<_>>().join(" ")
        }
        Value::Array(items) => items.iter().map(words).collect::<Vec<_>>().join(" "),
        Value::Null | Value::Bool(_) | Value::Number(_) => action.to_string(),
    }
}

/// The four files of one counterexample.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Files {
    /// Steps in words.
    pub txt: String,
    /// Sequence diagram.
    pub mmd: String,
    /// Test.
    pub rs: String,
    /// The trace itself.
    pub json: String,
    /// Name without ending.
    pub name: String,
}

impl Files {
    /// All forms of one trace. They are named after world, scope and law.
    pub fn of(told: &Told) -> Self {
        let trace = &told.trace;
        let name = [Some(&trace.world), Some(&trace.scope), trace.law.as_ref()];
        let name: Vec<String> = name.into_iter().flatten().map(|part| slug(part, '-')).collect();
        Self {
            txt: text::text(told, true),
            mmd: mermaid::mermaid(told),
            rs: rust::rust(told),
            json: trace.to_text(),
            name: name.join("-"),
        }
    }

    /// Writes them into a directory, which is made.
    ///
    /// # Errors
    /// Those of the file system.
    pub fn write(&self, directory: &Path) -> std::io::Result<Vec<PathBuf>> {
        std::fs::create_dir_all(directory)?;
        [("txt", &self.txt), ("mmd", &self.mmd), ("rs", &self.rs), ("json", &self.json)]
            .into_iter()
            .map(|(ending, text)| {
                let path = directory.join(format!("{}.{ending}", self.name));
                std::fs::write(&path, text)?;
                Ok(path)
            })
            .collect()
    }
}
