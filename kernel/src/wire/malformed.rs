//! Why bytes are not one of our documents. Names members by the names that we expect, never by what came in.

use core::fmt;

use crate::ids::Form;
use crate::json::JsonFault;

/// Why bytes are not the document that they should be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Malformed {
    /// Not even acceptable JSON.
    Json(JsonFault),
    /// This part, or the whole (`"document"`), is not an object.
    NotAnObject(&'static str),
    /// A member is missing.
    Missing(&'static str),
    /// This part, or the whole (`"document"`), has a member that it must not have.
    Unknown(&'static str),
    /// A member has the wrong JSON type.
    Type(&'static str),
    /// A member does not have its one form.
    Form(&'static str, Form),
    /// A member is none of the values that it may have.
    Value(&'static str),
    /// A text is empty where it must not be, or longer than it may be.
    Length(&'static str),
    /// Not `time < expires_at <= time + 30 s` (SIG-5), or after the year 9999.
    Window,
}

impl From<JsonFault> for Malformed {
    fn from(fault: JsonFault) -> Self {
        Self::Json(fault)
    }
}

impl fmt::Display for Malformed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Json(fault) => fault.fmt(f),
            Self::NotAnObject(part) => write!(f, "{part} is not an object"),
            Self::Missing(member) => write!(f, "{member} is missing"),
            Self::Unknown(part) => write!(f, "{part} has a member that it must not have"),
            Self::Type(member) => write!(f, "{member} has the wrong JSON type"),
            Self::Form(member, form) => write!(f, "{member}: expected {form}"),
            Self::Value(member) => write!(f, "{member} is none of the allowed values"),
            Self::Length(member) => write!(f, "{member} is empty or too long"),
            Self::Window => f.write_str("expires_at is not within 30 s after time"),
        }
    }
}

impl core::error::Error for Malformed {}
