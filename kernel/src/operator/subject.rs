//! What acts are about, exactly as it stands in a signed command: closed objects, times as text (SIG-4).
//!
//! Only form is judged here; whether a name exists or an end is allowed is judged in [`super::authorise()`].

use alloc::vec::Vec;

use serde::de::{self, Deserializer};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::act::Scope;
use crate::ids::{ContentHash, KeyId, MessageId, OperatorName, Principal, PublicKey, SchemaRef, Target};
use crate::time::Wall;
use crate::values::By;

macro_rules! subject {
    ($(#[$doc:meta])* $name:ident { $( $(#[$field:meta])* $member:ident: $type:ty, )* }) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
        #[serde(deny_unknown_fields)]
        pub struct $name { $( $(#[$field])* pub $member: $type, )* }
    };
}

subject! {
    /// Nothing more to say.
    Empty {}
}
subject! {
    /// A target.
    TargetName {
        /// Its name.
        target: Target,
    }
}
subject! {
    /// A grant.
    Arming {
        /// Who is armed.
        target: Target,
        /// Until when.
        #[serde(with = "utc")]
        until: Wall,
    }
}
subject! {
    /// A pause.
    Pausing {
        /// Who rests; all, if absent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        target: Option<Target>,
        /// Until when.
        #[serde(with = "utc")]
        until: Wall,
    }
}
subject! {
    /// The end of a pause.
    Resuming {
        /// Who goes on; all, if absent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        target: Option<Target>,
    }
}
subject! {
    /// Who may raise alerts (ADM-3 to ADM-5).
    Roster {
        /// Always 1.
        version: u32,
        /// Its own end.
        #[serde(with = "utc")]
        not_after: Wall,
        /// The list; an empty one admits nobody.
        #[serde(deserialize_with = "objects")]
        entries: Vec<RosterEntry>,
    }
}
subject! {
    /// One line of a roster: this principal may send this schema to this target.
    RosterEntry {
        /// Who.
        principal: Principal,
        /// What.
        schema: SchemaRef,
        /// To whom.
        target: Target,
    }
}
subject! {
    /// A credential, known by its hash alone, and what it allows (IDN-6).
    Credential {
        /// Who presents it.
        principal: Principal,
        /// SHA-256 of the credential.
        credential: ContentHash,
        /// The inboxes that it may read; absent = none.
        #[serde(default)]
        may_read: Vec<Target>,
        /// The one target that it acts for (ADM-13).
        #[serde(default, skip_serializing_if = "Option::is_none")]
        acts_for: Option<Target>,
    }
}
subject! {
    /// A principal that loses credentials.
    OldPrincipal {
        /// Who.
        principal: Principal,
        /// Which; all, if absent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        credential: Option<ContentHash>,
    }
}
subject! {
    /// A key that acknowledges (ACK-3).
    NewAckKey {
        /// For whom.
        target: Target,
        /// As what.
        by: By,
        /// The key.
        key: PublicKey,
        /// From when.
        #[serde(with = "utc")]
        not_before: Wall,
        /// Until when.
        #[serde(with = "utc")]
        not_after: Wall,
    }
}
subject! {
    /// A key that no longer acknowledges.
    OldAckKey {
        /// For whom.
        target: Target,
        /// Which.
        key_id: KeyId,
    }
}
subject! {
    /// A router or audit key.
    AuthorityKey {
        /// The key.
        key: PublicKey,
        /// From when.
        #[serde(with = "utc")]
        not_before: Wall,
        /// Until when.
        #[serde(with = "utc")]
        not_after: Wall,
    }
}
subject! {
    /// A key by its id.
    KeyName {
        /// The id.
        key_id: KeyId,
    }
}
subject! {
    /// An operator key.
    NewOperatorKey {
        /// Who holds it.
        operator: OperatorName,
        /// The key.
        key: PublicKey,
        /// What it may do.
        scopes: Vec<Scope>,
    }
}
subject! {
    /// A message in an inbox.
    Alert {
        /// Whose inbox.
        target: Target,
        /// Which message.
        message: MessageId,
    }
}

/// serde alone would also take an array for an entry.
fn objects<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<RosterEntry>, D::Error> {
    let entries: Vec<Value> = Vec::deserialize(deserializer)?;
    let read = |entry: &Value| match entry {
        Value::Object(_) => RosterEntry::deserialize(entry).map_err(de::Error::custom),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
            Err(de::Error::custom("a roster entry is an object"))
        }
    };
    entries.iter().map(read).collect()
}

/// An instant as the text of SIG-4.
mod utc {
    use alloc::borrow::Cow;

    use serde::{Deserialize, Deserializer, Serializer, de};

    use crate::time::Wall;

    pub(super) fn serialize<S: Serializer>(wall: &Wall, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&wall.utc())
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Wall, D::Error> {
        let text = Cow::<'de, str>::deserialize(deserializer)?;
        Wall::parse_utc(&text).map_err(de::Error::custom)
    }
}
