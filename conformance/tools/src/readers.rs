//! How other people read JSON: of two equal keys some take the first value and some the last.

use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};

/// Whether both kinds of readers understand the same, or neither understands anything.
pub fn agree(bytes: &[u8]) -> bool {
    let last: Option<Value> = serde_json::from_slice(bytes).ok();
    let first: Option<First> = serde_json::from_slice(bytes).ok();
    first.map(|first| first.0) == last
}

/// A value in which the first of equal keys counts.
struct First(Value);

impl<'de> Deserialize<'de> for First {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Reader;
        impl<'de> Visitor<'de> for Reader {
            type Value = Value;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a JSON value")
            }
            fn visit_unit<E>(self) -> Result<Value, E> {
                Ok(Value::Null)
            }
            fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
                Ok(value.into())
            }
            fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
                Ok(value.into())
            }
            fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
                Ok(value.into())
            }
            fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
                Ok(value.into())
            }
            fn visit_str<E>(self, value: &str) -> Result<Value, E> {
                Ok(value.into())
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
                let mut list = Vec::new();
                while let Some(First(item)) = items.next_element()? {
                    list.push(item);
                }
                Ok(list.into())
            }
            fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Value, A::Error> {
                let mut object = Map::new();
                while let Some((key, First(value))) = members.next_entry::<String, First>()? {
                    object.entry(key).or_insert(value);
                }
                Ok(object.into())
            }
        }
        deserializer.deserialize_any(Reader).map(Self)
    }
}

#[cfg(test)]
mod tests {
    use super::agree;

    #[test]
    fn readers_disagree_about_equal_keys_with_different_values_alone() {
        for same in ["{\"a\":[1,-1,0.5,null,true,\"x\"],\"b\":{}}", "{\"a\":1,\"a\":1}", "{", "[1e400]"] {
            assert!(agree(same.as_bytes()), "{same}");
        }
        for other in ["{\"a\":1,\"a\":2}", "[{\"b\":{\"a\":1,\"\\u0061\":null}}]"] {
            assert!(!agree(other.as_bytes()), "{other}");
        }
    }
}
