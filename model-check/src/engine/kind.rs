//! The kind of an action: its variant's name as it is serialised, without what it carries; `call.ack` where a variant
//! carries nothing but another enum. Not here: what kinds mean.

use std::fmt;

use serde::ser::{Error, Impossible, Serialize, Serializer};

/// The kind of an action. What is no enum is of the kind `""`.
pub fn of<T: Serialize>(action: &T) -> String {
    action.serialize(Namer).unwrap_or_default()
}

/// Whether a kind is `of`, or something below it.
pub fn is(kind: &str, of: &str) -> bool {
    kind.strip_prefix(of).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}

/// Everything but a variant.
#[derive(Debug)]
struct NoVariant;

impl fmt::Display for NoVariant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("not a variant")
    }
}

impl std::error::Error for NoVariant {}

impl Error for NoVariant {
    fn custom<T: fmt::Display>(_: T) -> Self {
        Self
    }
}

/// A serialiser that keeps only the names of variants.
struct Namer;

/// The rest of a variant, passed over.
struct Named(&'static str);

macro_rules! no_variant {
    ($($method:ident: $type:ty),*) => {
        $(fn $method(self, _: $type) -> Result<String, NoVariant> { Err(NoVariant) })*
    };
}

type Never = Impossible<String, NoVariant>;

impl Serializer for Namer {
    type Ok = String;
    type Error = NoVariant;
    type SerializeSeq = Never;
    type SerializeTuple = Never;
    type SerializeTupleStruct = Never;
    type SerializeTupleVariant = Named;
    type SerializeMap = Never;
    type SerializeStruct = Never;
    type SerializeStructVariant = Named;

    no_variant!(serialize_bool: bool, serialize_i8: i8, serialize_i16: i16, serialize_i32: i32, serialize_i64: i64,
        serialize_u8: u8, serialize_u16: u16, serialize_u32: u32, serialize_u64: u64, serialize_f32: f32,
        serialize_f64: f64, serialize_char: char, serialize_str: &str, serialize_bytes: &[u8],
        serialize_unit_struct: &'static str);

    fn serialize_none(self) -> Result<String, NoVariant> {
        Err(NoVariant)
    }
    fn serialize_some<T: ?Sized + Serialize>(self, _: &T) -> Result<String, NoVariant> {
        Err(NoVariant)
    }
    fn serialize_unit(self) -> Result<String, NoVariant> {
        Err(NoVariant)
    }
    fn serialize_unit_variant(self, _: &str, _: u32, name: &'static str) -> Result<String, NoVariant> {
        Ok(name.to_owned())
    }
    fn serialize_newtype_struct<T: ?Sized + Serialize>(
        self,
        _: &'static str,
        value: &T,
    ) -> Result<String, NoVariant> {
        value.serialize(self)
    }
    fn serialize_newtype_variant<T: ?Sized + Serialize>(
        self,
        _: &'static str,
        _: u32,
        name: &'static str,
        value: &T,
    ) -> Result<String, NoVariant> {
        Ok(value.serialize(self).map_or_else(|NoVariant| name.to_owned(), |inner| format!("{name}.{inner}")))
    }
    fn serialize_seq(self, _: Option<usize>) -> Result<Never, NoVariant> {
        Err(NoVariant)
    }
    fn serialize_tuple(self, _: usize) -> Result<Never, NoVariant> {
        Err(NoVariant)
    }
    fn serialize_tuple_struct(self, _: &'static str, _: usize) -> Result<Never, NoVariant> {
        Err(NoVariant)
    }
    fn serialize_tuple_variant(
        self,
        _: &'static str,
        _: u32,
        name: &'static str,
        _: usize,
    ) -> Result<Named, NoVariant> {
        Ok(Named(name))
    }
    fn serialize_map(self, _: Option<usize>) -> Result<Never, NoVariant> {
        Err(NoVariant)
    }
    fn serialize_struct(self, _: &'static str, _: usize) -> Result<Never, NoVariant> {
        Err(NoVariant)
    }
    fn serialize_struct_variant(
        self,
        _: &'static str,
        _: u32,
        name: &'static str,
        _: usize,
    ) -> Result<Named, NoVariant> {
        Ok(Named(name))
    }
}

impl serde::ser::SerializeTupleVariant for Named {
    type Ok = String;
    type Error = NoVariant;
    fn serialize_field<T: ?Sized + Serialize>(&mut self, _: &T) -> Result<(), NoVariant> {
        Ok(())
    }
    fn end(self) -> Result<String, NoVariant> {
        Ok(self.0.to_owned())
    }
}

impl serde::ser::SerializeStructVariant for Named {
    type Ok = String;
    type Error = NoVariant;
    fn serialize_field<T: ?Sized + Serialize>(&mut self, _: &'static str, _: &T) -> Result<(), NoVariant> {
        Ok(())
    }
    fn end(self) -> Result<String, NoVariant> {
        Ok(self.0.to_owned())
    }
}
