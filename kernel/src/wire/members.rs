//! Taking typed members out of an object that passed the JSON door.

use alloc::string::String;

use serde_json::{Map, Value};

use super::malformed::Malformed;
use crate::ids::Form;
use crate::time::Wall;

/// An object under the name that errors use for it.
#[derive(Clone, Copy)]
pub(super) struct Members<'a> {
    part: &'static str,
    object: &'a Map<String, Value>,
}

impl<'a> Members<'a> {
    pub(super) fn of(part: &'static str, value: &'a Value) -> Result<Self, Malformed> {
        value.as_object().map(|object| Self { part, object }).ok_or(Malformed::NotAnObject(part))
    }

    /// Refuses members other than these.
    pub(super) fn only(self, known: &[&str]) -> Result<Self, Malformed> {
        let stranger = self.object.keys().any(|key| !known.contains(&key.as_str()));
        if stranger { Err(Malformed::Unknown(self.part)) } else { Ok(self) }
    }

    pub(super) fn maybe(self, name: &str) -> Option<&'a Value> {
        self.object.get(name)
    }

    pub(super) fn value(self, name: &'static str) -> Result<&'a Value, Malformed> {
        self.maybe(name).ok_or(Malformed::Missing(name))
    }

    pub(super) fn text(self, name: &'static str) -> Result<&'a str, Malformed> {
        self.value(name)?.as_str().ok_or(Malformed::Type(name))
    }

    /// A text that is not empty and has at most `longest` bytes.
    pub(super) fn bounded(self, name: &'static str, longest: usize) -> Result<&'a str, Malformed> {
        let text = self.text(name)?;
        if text.is_empty() || text.len() > longest { Err(Malformed::Length(name)) } else { Ok(text) }
    }

    pub(super) fn integer(self, name: &'static str) -> Result<u64, Malformed> {
        self.value(name)?.as_u64().ok_or(Malformed::Type(name))
    }

    /// A text of the one form of its type.
    pub(super) fn parsed<T, E>(
        self,
        name: &'static str,
        form: Form,
        parse: impl Fn(&str) -> Result<T, E>,
    ) -> Result<T, Malformed> {
        parse(self.text(name)?).map_err(|_| Malformed::Form(name, form))
    }

    /// As [`Self::parsed`], for a member that may be absent (but not null).
    pub(super) fn maybe_parsed<T, E>(
        self,
        name: &'static str,
        form: Form,
        parse: impl Fn(&str) -> Result<T, E>,
    ) -> Result<Option<T>, Malformed> {
        if self.maybe(name).is_none() { Ok(None) } else { self.parsed(name, form, parse).map(Some) }
    }

    pub(super) fn time(self, name: &'static str) -> Result<Wall, Malformed> {
        self.parsed(name, Form::Time, Wall::parse_utc)
    }

    /// A text that must be exactly this one.
    pub(super) fn fixed(self, name: &'static str, expected: &str) -> Result<(), Malformed> {
        if self.text(name)? == expected { Ok(()) } else { Err(Malformed::Value(name)) }
    }

    /// One of a closed set of texts.
    pub(super) fn one_of<T>(
        self,
        name: &'static str,
        read: impl Fn(&str) -> Option<T>,
    ) -> Result<T, Malformed> {
        read(self.text(name)?).ok_or(Malformed::Value(name))
    }

    /// The version of a document, which must be 1.
    pub(super) fn version_1(self) -> Result<(), Malformed> {
        if self.integer("v")? == 1 { Ok(()) } else { Err(Malformed::Value("v")) }
    }
}
