//! The one door through which JSON from outside comes in, and the one form in which it is signed (SIG-2, SIG-3).
//!
//! The door accepts what every reader understands the same way: UTF-8 without a byte order mark, no key twice in an
//! object (compared after unescaping), no lone surrogates, nothing after the document, bounded size, depth and
//! numbers. What a document means is decided elsewhere. It works inside serde's visitors; it never scans text.
//! Rules: SIG-2, SIG-3, ADM-7.

use alloc::string::{String, ToString as _};
use alloc::vec::Vec;
use core::cell::Cell;
use core::fmt;

use serde::de::{self, DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};

use crate::ids::MAX_INTEGER;

/// How deep arrays and objects may nest; the outermost counts one.
pub const MAX_DEPTH: u32 = 32;
/// How deep a document of our own may nest that carries one which passed the door: an answer, an entry of the chain.
pub const CARRIER_DEPTH: u32 = MAX_DEPTH + 16;

/// Which numbers a document may hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Numbers {
    /// Integers from -(2^53-1) to 2^53-1, written without fraction and exponent: signed documents.
    Integers,
    /// Any number of that magnitude, fractions too: bodies, which must survive being read and written by anyone.
    Portable,
    /// Any number at all: members that are ignored anyway.
    Any,
}

/// Why a document did not pass the door.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FaultKind {
    /// More bytes than allowed.
    TooLarge,
    /// It starts with a byte order mark.
    ByteOrderMark,
    /// Not UTF-8.
    Utf8,
    /// Not the grammar of JSON; a lone surrogate in an escape is this too.
    Syntax,
    /// It ends before the document does.
    Truncated,
    /// An object has the same key twice.
    DuplicateKey,
    /// Nested deeper than [`MAX_DEPTH`], or [`CARRIER_DEPTH`] where that holds.
    TooDeep,
    /// A number that [`Numbers`] does not allow here.
    Number,
    /// Something follows the document.
    Trailing,
}

/// A document that did not pass the door, and where that showed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct JsonFault {
    /// What is wrong.
    pub kind: FaultKind,
    /// The byte offset up to which the document had been read when it showed.
    pub at: usize,
}

impl fmt::Display for JsonFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let what = match self.kind {
            FaultKind::TooLarge => "more bytes than allowed",
            FaultKind::ByteOrderMark => "a byte order mark",
            FaultKind::Utf8 => "invalid UTF-8",
            FaultKind::Syntax => "not JSON",
            FaultKind::Truncated => "an unfinished document",
            FaultKind::DuplicateKey => "the same key twice in an object",
            FaultKind::TooDeep => "nested too deep",
            FaultKind::Number => "a number that is not allowed here",
            FaultKind::Trailing => "something after the document",
        };
        write!(f, "{what} at byte {}", self.at)
    }
}

impl core::error::Error for JsonFault {}

/// Reads one document of at most `limit` bytes.
///
/// # Errors
/// The first fault, in the order in which the bytes show them.
pub fn read(bytes: &[u8], limit: usize, numbers: Numbers) -> Result<Value, JsonFault> {
    read_within(bytes, limit, numbers, MAX_DEPTH)
}

/// As [`read`], for a document that carries another one and may nest up to [`CARRIER_DEPTH`].
///
/// # Errors
/// As [`read`].
pub fn read_carrier(bytes: &[u8], limit: usize, numbers: Numbers) -> Result<Value, JsonFault> {
    read_within(bytes, limit, numbers, CARRIER_DEPTH)
}

fn read_within(bytes: &[u8], limit: usize, numbers: Numbers, deepest: u32) -> Result<Value, JsonFault> {
    if bytes.len() > limit {
        return Err(JsonFault { kind: FaultKind::TooLarge, at: limit });
    }
    if bytes.starts_with(b"\xef\xbb\xbf") {
        return Err(JsonFault { kind: FaultKind::ByteOrderMark, at: 0 });
    }
    let text = core::str::from_utf8(bytes)
        .map_err(|error| JsonFault { kind: FaultKind::Utf8, at: error.valid_up_to() })?;
    let fault = Cell::new(None);
    let mut reader = serde_json::Deserializer::from_str(text);
    let value = Door { numbers, left: deepest, fault: &fault }
        .deserialize(&mut reader)
        .map_err(|error| JsonFault { kind: kind(fault.get(), &error), at: offset(bytes, &error) })?;
    reader.end().map_err(|error| JsonFault { kind: FaultKind::Trailing, at: offset(bytes, &error) })?;
    Ok(value)
}

/// The bytes of RFC 8785 (JCS) for a value.
///
/// What is [`plain`] is in that form as serde_json writes it, at a fraction of the cost; the rest is sorted and
/// formatted anew. Writing a [`Value`] cannot fail. Should it ever, the plain serialisation stands in: it still tells
/// different values apart, so that nothing signed could be taken for something else.
pub fn canonical(value: &Value) -> Vec<u8> {
    if plain(value)
        && let Ok(bytes) = serde_json::to_vec(value)
    {
        return bytes;
    }
    serde_json_canonicalizer::to_vec(value).unwrap_or_else(|_| value.to_string().into_bytes())
}

/// Whether the form that serde_json writes is the canonical one: keys of ASCII in ascending order, of which UTF-8 and
/// UTF-16 think alike, and integers that a double holds, which have one spelling. Strings have one spelling anyway.
fn plain(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(_) | Value::String(_) => true,
        Value::Number(number) => match (number.as_u64(), number.as_i64()) {
            (Some(number), _) => number <= MAX_INTEGER,
            (None, Some(number)) => number.unsigned_abs() <= MAX_INTEGER,
            (None, None) => false,
        },
        Value::Array(items) => items.iter().all(plain),
        Value::Object(members) => {
            members.keys().is_sorted() && members.iter().all(|(key, value)| key.is_ascii() && plain(value))
        }
    }
}

fn kind(own: Option<FaultKind>, error: &serde_json::Error) -> FaultKind {
    match own {
        Some(kind) => kind,
        None if error.is_eof() => FaultKind::Truncated,
        None => FaultKind::Syntax,
    }
}

/// serde_json counts lines and the bytes within them; both from one, an empty line being column zero.
fn offset(bytes: &[u8], error: &serde_json::Error) -> usize {
    let before = error.line().saturating_sub(1);
    let lines: usize = bytes.split_inclusive(|byte| *byte == b'\n').take(before).map(<[u8]>::len).sum();
    lines.saturating_add(error.column()).min(bytes.len())
}

/// Reads one value; leaves the reason in `fault` when it refuses, because a serde error can only carry text.
#[derive(Clone, Copy)]
struct Door<'f> {
    numbers: Numbers,
    /// How many levels may still be opened.
    left: u32,
    fault: &'f Cell<Option<FaultKind>>,
}

impl<'f> Door<'f> {
    fn refuse<T, E: de::Error>(self, kind: FaultKind) -> Result<T, E> {
        self.fault.set(Some(kind));
        Err(E::custom("refused"))
    }

    fn inside<E: de::Error>(self) -> Result<Door<'f>, E> {
        match self.left.checked_sub(1) {
            Some(left) => Ok(Door { left, ..self }),
            None => self.refuse(FaultKind::TooDeep),
        }
    }
}

impl<'de> DeserializeSeed<'de> for Door<'_> {
    type Value = Value;
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Door<'_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E: de::Error>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E: de::Error>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_u64<E: de::Error>(self, value: u64) -> Result<Value, E> {
        let fits = value <= MAX_INTEGER || self.numbers == Numbers::Any;
        if fits { Ok(value.into()) } else { self.refuse(FaultKind::Number) }
    }

    fn visit_i64<E: de::Error>(self, value: i64) -> Result<Value, E> {
        let fits = value.unsigned_abs() <= MAX_INTEGER || self.numbers == Numbers::Any;
        if fits { Ok(value.into()) } else { self.refuse(FaultKind::Number) }
    }

    /// Everything written with a fraction or an exponent comes here, and integers that need more than 64 bits.
    fn visit_f64<E: de::Error>(self, value: f64) -> Result<Value, E> {
        let fits = match self.numbers {
            Numbers::Integers => false,
            // 2^53-1 is exact in a double.
            Numbers::Portable => value.abs() <= 9_007_199_254_740_991.0,
            Numbers::Any => true,
        };
        match Number::from_f64(value) {
            Some(number) if fits => Ok(Value::Number(number)),
            Some(_) | None => self.refuse(FaultKind::Number),
        }
    }

    fn visit_str<E: de::Error>(self, value: &str) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_string<E: de::Error>(self, value: String) -> Result<Value, E> {
        Ok(Value::String(value))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let inside = self.inside()?;
        let mut list = Vec::new();
        while let Some(item) = items.next_element_seed(inside)? {
            list.push(item);
        }
        Ok(Value::Array(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Value, A::Error> {
        let inside = self.inside()?;
        let mut object = Map::new();
        while let Some(key) = members.next_key::<String>()? {
            if object.contains_key(&key) {
                return self.refuse(FaultKind::DuplicateKey);
            }
            let value = members.next_value_seed(inside)?;
            object.insert(key, value);
        }
        Ok(Value::Object(object))
    }
}
