//! What a station asks beside the inbox: open work, where a message came from, its grant.

use awakener_kernel::ids::{CommandId, ContentHash, MessageId, Target, Tier};
use awakener_kernel::time::Wall;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::{V1, utc};

/// Messages of an inbox that are neither finished nor set aside, in the order of tiers and places.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct OpenWork {
    /// Always 1.
    #[schema(value_type = u32)]
    pub v: V1,
    /// Whose inbox.
    #[schema(value_type = String)]
    pub target: Target,
    /// Everything up to here is finished (INB-4); 0 = nothing yet.
    pub cursor: u64,
    /// The last place in use; 0 = none.
    pub last: u64,
    /// The first of them.
    pub messages: Vec<OpenMessage>,
}

/// One open message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct OpenMessage {
    /// Its place.
    #[schema(minimum = 1)]
    pub seq: u64,
    /// Its id.
    #[schema(value_type = String, format = Uuid)]
    pub message: MessageId,
    /// Its tier.
    #[schema(value_type = u32, maximum = 3)]
    pub tier: Tier,
}

/// Where a message came from (ADM-12), for the fuse of the station that works on it (FUS-1).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Origin {
    /// Always 1.
    #[schema(value_type = u32)]
    pub v: V1,
    /// How often an operator gave it back after quarantine.
    pub released: u32,
    /// The message itself, then its causes, the nearest first.
    pub chain: Vec<Link>,
}

/// One message of a causal chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Link {
    /// The message.
    #[schema(value_type = String, format = Uuid)]
    pub message: MessageId,
    /// Whether it lies in this target's inbox.
    pub here: bool,
    /// Whether it was sent by a principal that acts for this target.
    pub own: bool,
    /// SHA-256 of its content's normal form.
    #[schema(value_type = String)]
    pub normal: ContentHash,
}

/// The grant of a target as it is now (STN-2). Absent members: it is not armed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct GrantNow {
    /// Always 1.
    #[schema(value_type = u32)]
    pub v: V1,
    /// Whether it is armed, not paused and not stopped.
    pub armed: bool,
    /// Until when.
    #[serde(with = "utc")]
    #[schema(value_type = String, format = DateTime)]
    pub until: Wall,
    /// The command that armed it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    pub command: Option<CommandId>,
    /// The plane's time: a station whose clock stepped back goes back to it (EMT-6).
    #[serde(with = "utc", default)]
    #[schema(value_type = String, format = DateTime)]
    pub now: Wall,
}
