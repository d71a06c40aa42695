//! The status of all agents: one row each, a projection of plane, wake daemon, station and state directory (AUD-8).
//!
//! What could not be read is absent and named in `could_not_read`, and its row is never `idle` (CON-1).

use awakener_kernel::ids::{MessageId, Target};
use awakener_kernel::time::Wall;
use awakener_spec::Rule;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::status::{LeaseStatus, OutstandingAlert, PermitStatus, Unread};
use super::{V1, utc};
use crate::agents::{Cause, State};

/// All agents of a plane.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Agents {
    /// Always 1.
    #[schema(value_type = u32)]
    pub v: V1,
    /// `trial` or `production` (CAP-5).
    pub mode: String,
    /// The plane's name; absent before the first operator key was enrolled.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plane: Option<String>,
    /// Whether the plane runs; if not, its part was read from its store.
    pub running: bool,
    /// When, by the plane's clock.
    #[serde(with = "utc")]
    #[schema(value_type = String, format = DateTime)]
    pub now: Wall,
    /// Whether alerts may be admitted; absent if that is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tier0_open: Option<bool>,
    /// Whether everything is stopped.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stopped: Option<bool>,
    /// Until when the roster holds; absent when there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub roster_until: Option<String>,
    /// One row per registered target, by name; absent if the registry could not be read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agents: Option<Vec<Agent>>,
    /// What could not be read, for all agents and for single ones, and why.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub could_not_read: Vec<Unread>,
}

/// One agent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Agent {
    /// Which.
    #[schema(value_type = String)]
    pub target: Target,
    /// `needs_input`: it goes on only when a person acts. `failed`: something broke. `unknown`: what must be known
    /// could not be read. `working`: it works, or work waits that goes on by itself. `idle`: nothing is owed.
    #[schema(value_type = String)]
    pub state: State,
    /// Why, a name of a closed list.
    #[schema(value_type = String)]
    pub cause: Cause,
    /// The rule behind it.
    #[schema(value_type = String)]
    pub rule: Rule,
    /// What it waits for, in words.
    pub waits_for: String,
    /// Since when, if that is known.
    #[serde(default, with = "maybe", skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, format = DateTime)]
    pub since: Option<Wall>,
    /// When it is over by itself, if that is known.
    #[serde(default, with = "maybe", skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, format = DateTime)]
    pub until: Option<Wall>,
    /// The message that it is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, format = Uuid)]
    pub message: Option<MessageId>,
    /// The command that helps; absent when there is nothing to do but wait.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
    /// Where its machine stands; absent if no machine of it could be read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub phase: Option<PhaseNow>,
    /// Unfinished messages that nobody read yet; absent if unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unread: Option<u64>,
    /// Outstanding alerts; absent if unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outstanding: Option<u64>,
    /// The oldest of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub oldest: Option<OutstandingAlert>,
    /// The counters that enforcement uses, with their limits; those that could not be read are absent.
    pub counters: Vec<Counter>,
    /// What the plane knows of its right to be woken and of who works.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plane: Option<PlanePart>,
    /// What could not be read.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub could_not_read: Vec<Unread>,
}

/// Where a machine stands.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct PhaseNow {
    /// Its name.
    pub name: String,
    /// Whose: `station`, or `wake` where no station is configured.
    pub of: String,
    /// Since when.
    #[serde(with = "utc")]
    #[schema(value_type = String, format = DateTime)]
    pub since: Wall,
    /// Its age, milliseconds.
    pub age_ms: u64,
}

/// A number that enforcement judges, and the limit that it judges by.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Counter {
    /// `turns_per_hour`, `turns_per_day`, `turns_per_boot`, `attempts`, `emissions`, `cooldown` or `failures`.
    pub name: String,
    /// What was counted; of a cooldown, the milliseconds that are left.
    pub value: u64,
    /// What is allowed; of a cooldown, its whole length. Absent where there is no limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<u64>,
    /// `count` or `ms`.
    pub unit: String,
    /// Who enforces it: `station`, `plane` or `wake`.
    pub of: String,
}

/// The plane's part of a row.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct PlanePart {
    /// Whether it may be woken.
    pub armed: bool,
    /// Whether it must rest.
    pub paused: bool,
    /// The end of its grant.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub granted_until: Option<String>,
    /// Everything up to here is finished.
    pub cursor: u64,
    /// The highest sequence.
    pub last: u64,
    /// The live lease.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lease: Option<LeaseStatus>,
    /// The permit or the flight that came of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub permit: Option<PermitStatus>,
}

/// An instant that may be absent, as the text of SIG-4.
mod maybe {
    use awakener_kernel::time::Wall;
    use serde::{Deserialize, Deserializer, Serializer, de};

    #[expect(clippy::ref_option, reason = "serde gives a reference to the member")]
    pub fn serialize<S: Serializer>(wall: &Option<Wall>, serializer: S) -> Result<S::Ok, S::Error> {
        match wall {
            Some(wall) => serializer.serialize_str(&wall.utc()),
            None => serializer.serialize_none(),
        }
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Wall>, D::Error> {
        let text = Option::<String>::deserialize(deserializer)?;
        text.map(|text| Wall::parse_utc(&text).map_err(de::Error::custom)).transpose()
    }
}
