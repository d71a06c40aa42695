//! The one shape of every closed list of names: an enum, its list, and its exact spelling.
//!
//! Not here: what the names mean; that stands in the TOML files beside `src/`. No rules of its own.

/// A text that is none of the names of the list it was read as.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct UnknownName {
    /// The list that was searched, by the name of its enum.
    pub list: &'static str,
}

impl core::fmt::Display for UnknownName {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "this is not the name of any {}", self.list)
    }
}

impl core::error::Error for UnknownName {}

/// Declares a closed list: the enum, `ALL`, the two spellings, `Display`, `FromStr` and serde as the spelling.
macro_rules! names {
    (
        $(#[$meta:meta])*
        pub enum $list:ident as $accessor:ident, $parser:ident {
            $( $(#[$item_meta:meta])* $item:ident = $name:literal ),+ $(,)?
        }
    ) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum $list { $( $(#[$item_meta])* $item ),+ }

        impl $list {
            /// Every member, in the order of the list.
            pub const ALL: &'static [Self] = &[ $( Self::$item ),+ ];

            /// The spelling that stands in JSON, audit records and texts.
            #[must_use]
            pub const fn $accessor(self) -> &'static str {
                match self { $( Self::$item => $name ),+ }
            }

            /// The member of exactly this spelling, if there is one.
            #[must_use]
            pub fn $parser(text: &str) -> Option<Self> {
                match text { $( $name => Some(Self::$item), )+ _ => None }
            }
        }

        impl core::fmt::Display for $list {
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                f.pad(self.$accessor())
            }
        }

        impl core::str::FromStr for $list {
            type Err = $crate::UnknownName;

            fn from_str(text: &str) -> Result<Self, Self::Err> {
                Self::$parser(text).ok_or($crate::UnknownName { list: stringify!($list) })
            }
        }

        impl serde::Serialize for $list {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.$accessor())
            }
        }

        impl<'de> serde::Deserialize<'de> for $list {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                struct Spelling;
                impl serde::de::Visitor<'_> for Spelling {
                    type Value = $list;

                    fn expecting(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                        f.write_str(concat!("the name of a ", stringify!($list)))
                    }

                    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<$list, E> {
                        $list::$parser(text)
                            .ok_or_else(|| E::invalid_value(serde::de::Unexpected::Str(text), &self))
                    }
                }
                deserializer.deserialize_str(Spelling)
            }
        }
    };
}
