//! Names of parties (IDN-2): one alphabet, one length, and a type of its own per kind of party (IDN-1).

use core::fmt;

use smol_str::SmolStr;

use super::form::by_text;

/// The longest name, in bytes.
const LONGEST: usize = 64;

/// What is wrong with a name (IDN-2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum NameError {
    /// There is nothing.
    Empty,
    /// More than 64 bytes.
    TooLong,
    /// The first character is neither `a-z` nor `0-9`.
    Start,
    /// The byte at this offset is none of `a-z`, `0-9`, `_`, `-`.
    Character {
        /// Byte offset of the first such character.
        at: usize,
    },
}

impl fmt::Display for NameError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => f.write_str("a name must not be empty"),
            Self::TooLong => write!(f, "a name has at most {LONGEST} bytes"),
            Self::Start => f.write_str("a name starts with a-z or 0-9"),
            Self::Character { at } => {
                write!(f, "only a-z, 0-9, _ and - make up a name; byte {at} is none of them")
            }
        }
    }
}

impl core::error::Error for NameError {}

pub(super) fn check(text: &str) -> Result<(), NameError> {
    judge(text).inspect_err(|_| awakener_spec::rule!(Idn2))
}

fn judge(text: &str) -> Result<(), NameError> {
    let first = text.bytes().next().ok_or(NameError::Empty)?;
    if text.len() > LONGEST {
        return Err(NameError::TooLong);
    }
    let inside = |byte: u8| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'_' | b'-');
    match text.bytes().position(|byte| !inside(byte)) {
        Some(at) if at > 0 => Err(NameError::Character { at }),
        Some(_) => Err(NameError::Start),
        None if matches!(first, b'_' | b'-') => Err(NameError::Start),
        None => Ok(()),
    }
}

macro_rules! name {
    ($(#[$doc:meta])* $name:ident, $expected:literal) => {
        $(#[$doc])*
        #[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(SmolStr);

        impl $name {
            /// Takes a text that is a name (IDN-2).
            ///
            /// # Errors
            /// The first thing that is wrong with it.
            pub fn parse(text: &str) -> Result<Self, NameError> {
                check(text).map(|()| Self(SmolStr::new(text)))
            }

            /// The name as it was given.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        by_text!($name, NameError, $expected);
    };
}

name! {
    /// Who submits; stands in a credential, never in a body.
    Principal, "the name of a principal"
}
name! {
    /// Whose inbox it is; one agent.
    Target, "the name of a target"
}
name! {
    /// The process or record that does the work of a target.
    Station, "the name of a station"
}
name! {
    /// Who holds, or asks for, a lease on claimed messages.
    Holder, "the name of a holder"
}
name! {
    /// A wake daemon, as the plane knows it when it gives permits.
    DaemonName, "the name of a wake daemon"
}
name! {
    /// The holder of an operator key.
    OperatorName, "the name of an operator"
}
name! {
    /// A message plane: the one store that operator commands and checkpoints are bound to.
    PlaneName, "the name of a message plane"
}
