//! Numbers that must not be mixed up: tokens, sequences, fences, tiers, versions of schemas.

use core::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use smol_str::SmolStr;

use super::form::{Form, FormError, by_text};
use super::names;

/// The greatest integer that every JSON reader holds exactly: 2^53-1.
pub const MAX_INTEGER: u64 = (1 << 53) - 1;

/// The freshness token of a hint (EMT-1, EMT-2): 21 bits of epoch above 32 bits of counter, from 1 to 2^53-1.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Token(u64);

impl Token {
    /// The greatest epoch: 2^21-1.
    pub const MAX_EPOCH: u32 = (1 << 21) - 1;
    /// The number of the greatest token.
    pub const MAX: u64 = MAX_INTEGER;

    /// The token of an epoch and a counter; `None` if the epoch needs more than 21 bits or both are zero.
    pub const fn new(epoch: u32, counter: u32) -> Option<Self> {
        if epoch > Self::MAX_EPOCH {
            return None;
        }
        Self::from_u64((epoch as u64) << 32 | counter as u64)
    }

    /// A token from its number; `None` outside 1 to 2^53-1.
    pub const fn from_u64(number: u64) -> Option<Self> {
        if number == 0 || number > MAX_INTEGER { None } else { Some(Self(number)) }
    }

    /// The number.
    pub const fn get(self) -> u64 {
        self.0
    }

    /// The upper 21 bits.
    pub const fn epoch(self) -> u32 {
        (self.0 >> 32) as u32
    }

    /// The lower 32 bits.
    pub const fn counter(self) -> u32 {
        (self.0 & 0xffff_ffff) as u32
    }

    /// The next token of the same epoch; `None` when its counter is used up.
    pub const fn next(self) -> Option<Self> {
        match self.counter().checked_add(1) {
            Some(counter) => Self::new(self.epoch(), counter),
            None => None,
        }
    }
}

/// The position of a message in the inbox of its target, gapless from 1 (INB-2).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Seq(u64);

impl Seq {
    /// The first message of an inbox.
    pub const FIRST: Self = Self(1);

    /// A sequence from its number; `None` for zero.
    pub const fn new(number: u64) -> Option<Self> {
        if number == 0 { None } else { Some(Self(number)) }
    }

    /// The number.
    pub const fn get(self) -> u64 {
        self.0
    }

    /// The one before it, if there is one.
    pub const fn previous(self) -> Option<Self> {
        Self::new(self.0 - 1)
    }

    /// The sequence after this one.
    pub const fn next(self) -> Self {
        Self(self.0.saturating_add(1))
    }
}

/// A fencing token: the greater one holds, a stale one has no power (INB-7).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Fence(pub u64);

impl Fence {
    /// The fence that outdoes this one.
    pub const fn next(self) -> Self {
        Self(self.0.saturating_add(1))
    }
}

/// A tier (RTE-1): 0 wakes, 1 directs, 2 informs, 3 observes. Written as the integer.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Tier {
    /// `interrupt-alert`: the only tier that mints hints and opens witnesses.
    Zero,
    /// `directive`.
    One,
    /// `message`.
    Two,
    /// `observation`.
    Three,
}

impl Tier {
    /// All tiers, the most urgent first.
    pub const ALL: [Self; 4] = [Self::Zero, Self::One, Self::Two, Self::Three];

    /// The tier with this number; `None` above 3.
    pub const fn from_u64(number: u64) -> Option<Self> {
        match number {
            0 => Some(Self::Zero),
            1 => Some(Self::One),
            2 => Some(Self::Two),
            3 => Some(Self::Three),
            _ => None,
        }
    }

    /// Its number.
    pub const fn get(self) -> u64 {
        match self {
            Self::Zero => 0,
            Self::One => 1,
            Self::Two => 2,
            Self::Three => 3,
        }
    }
}

macro_rules! by_number {
    ($name:ident, $form:expr, $from:expr) => {
        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(&self.get(), f)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!(stringify!($name), "({})"), self.get())
            }
        }

        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_u64(self.get())
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let from: fn(u64) -> Option<Self> = $from;
                from(u64::deserialize(deserializer)?).ok_or_else(|| de::Error::custom(FormError($form)))
            }
        }
    };
}
by_number!(Token, Form::Token, Token::from_u64);
by_number!(Seq, Form::Seq, Seq::new);
by_number!(Tier, Form::Tier, Tier::from_u64);

impl fmt::Display for Fence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

/// A schema with its version (ADM-11), written `interrupt-alert/1`.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SchemaRef {
    name: SmolStr,
    version: u32,
}

impl SchemaRef {
    /// A schema from its parts: the name has the alphabet of IDN-2, the version is at least 1.
    ///
    /// # Errors
    /// [`Form::Schema`] if one of them is neither.
    pub fn new(name: &str, version: u32) -> Result<Self, FormError> {
        if version > 0 && names::check(name).is_ok() {
            Ok(Self { name: SmolStr::new(name), version })
        } else {
            Err(FormError(Form::Schema))
        }
    }

    /// Reads `name/version`.
    ///
    /// # Errors
    /// [`Form::Schema`] for everything else.
    pub fn parse(text: &str) -> Result<Self, FormError> {
        let wrong = FormError(Form::Schema);
        let (name, version) = text.split_once('/').ok_or(wrong)?;
        // `u32::from_str` also reads a plus sign and leading zeros.
        if !matches!(version.bytes().next(), Some(b'1'..=b'9')) {
            return Err(wrong);
        }
        Self::new(name, version.parse().map_err(|_| wrong)?)
    }

    /// The name without the version.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The version, from 1 on.
    pub const fn version(&self) -> u32 {
        self.version
    }
}

impl fmt::Display for SchemaRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.name, self.version)
    }
}

by_text!(SchemaRef, FormError, "a schema such as message/1");
