//! What operators decided, for observers: targets, principals, keys and the roster. A projection of the registry's image
//! (AUD-8).
//!
//! No secret stands in it: of a credential only its hash, of a key only its public half. Not here: what follows from
//! it for one target ([`super::status`]).

use awakener_kernel::ids::{ContentHash, KeyId, OperatorName, Principal, PublicKey, SchemaRef, Target};
use awakener_kernel::operator::Scope;
use awakener_kernel::registry::image::{Image, Key};
use awakener_kernel::values::By;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::V1;

/// Everything that operators decided.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct RegistryNow {
    /// Always 1.
    #[schema(value_type = u32)]
    pub v: V1,
    /// The plane's name; absent before the first operator key was enrolled.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plane: Option<String>,
    /// Registered targets, by name.
    pub targets: Vec<TargetEntry>,
    /// Credentials, by principal; revoked ones stay.
    pub principals: Vec<PrincipalEntry>,
    /// Keys of every role, by role; revoked ones stay.
    pub keys: Vec<KeyEntry>,
    /// The roster; absent when there is none, and then nobody may raise an alert (ADM-4).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub roster: Option<RosterNow>,
}

/// A registered target.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct TargetEntry {
    /// Its name.
    #[schema(value_type = String)]
    pub target: Target,
    /// Until when its grant holds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub granted_until: Option<String>,
    /// Until when it must rest.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub paused_until: Option<String>,
    /// How many ACK keys are registered for it, revoked ones not counted.
    pub ack_keys: u64,
}

/// A credential of a principal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct PrincipalEntry {
    /// Who presents it.
    #[schema(value_type = String)]
    pub principal: Principal,
    /// SHA-256 of the token.
    #[schema(value_type = String)]
    pub credential: ContentHash,
    /// The inboxes that it may read.
    #[schema(value_type = Vec<String>)]
    pub may_read: Vec<Target>,
    /// The one target that it acts for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    pub acts_for: Option<Target>,
    /// When it was revoked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub revoked: Option<String>,
}

/// What a key is for (IDN-7).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum KeyRole {
    /// Signs operator commands.
    Operator,
    /// Signs hints.
    Router,
    /// Signs checkpoints.
    Audit,
    /// Signs acknowledgements.
    Ack,
}

impl KeyRole {
    /// Its name on the wire.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Operator => "operator",
            Self::Router => "router",
            Self::Audit => "audit",
            Self::Ack => "ack",
        }
    }
}

/// A registered key.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct KeyEntry {
    /// What it is for.
    pub role: KeyRole,
    /// Its id (IDN-4).
    #[schema(value_type = String)]
    pub key_id: KeyId,
    /// The public key.
    #[schema(value_type = String)]
    pub public: PublicKey,
    /// Who holds it; operator keys only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    pub operator: Option<OperatorName>,
    /// What it may do; operator keys only.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schema(value_type = Vec<String>)]
    pub scopes: Vec<Scope>,
    /// For whom it acknowledges; ACK keys only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    pub target: Option<Target>,
    /// In which role it acknowledges; ACK keys only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    pub by: Option<By>,
    /// From when it holds; operator keys hold until they are revoked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub not_before: Option<String>,
    /// From when it no longer holds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub not_after: Option<String>,
    /// When it was revoked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub revoked: Option<String>,
}

/// The roster (ADM-3 to ADM-5).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct RosterNow {
    /// From when it no longer holds.
    pub not_after: String,
    /// The operator key that signed it.
    #[schema(value_type = String)]
    pub key_id: KeyId,
    /// Who may raise which alerts for whom.
    pub entries: Vec<RosterLine>,
}

/// One line of the roster.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct RosterLine {
    /// Who.
    #[schema(value_type = String)]
    pub principal: Principal,
    /// With which schema.
    #[schema(value_type = String)]
    pub schema: SchemaRef,
    /// For whom.
    #[schema(value_type = String)]
    pub target: Target,
}

impl RegistryNow {
    /// The projection of an image.
    pub fn of(image: &Image) -> Self {
        let targets = image.targets.iter().map(|target| TargetEntry {
            target: target.clone(),
            granted_until: image.grants.get(target).map(|until| until.utc()),
            paused_until: image.pauses.get(target).map(|until| until.utc()),
            ack_keys: image.ack_keys.get(target).map_or(0, |keys| {
                let live = keys.values().filter(|entry| entry.key.revoked.is_none()).count();
                u64::try_from(live).unwrap_or(u64::MAX)
            }),
        });
        let mut principals: Vec<PrincipalEntry> = image
            .credentials
            .iter()
            .map(|(credential, held)| PrincipalEntry {
                principal: held.principal.clone(),
                credential: *credential,
                may_read: held.may_read.iter().cloned().collect(),
                acts_for: held.acts_for.clone(),
                revoked: held.revoked.map(|at| at.utc()),
            })
            .collect();
        principals.sort_by(|a, b| (&a.principal, a.credential).cmp(&(&b.principal, b.credential)));
        let roster = image.roster.as_ref().map(|installed| RosterNow {
            not_after: installed.roster.not_after.utc(),
            key_id: installed.key,
            entries: installed
                .roster
                .entries
                .iter()
                .map(|entry| RosterLine {
                    principal: entry.principal.clone(),
                    schema: entry.schema.clone(),
                    target: entry.target.clone(),
                })
                .collect(),
        });
        Self {
            v: V1,
            plane: image.plane.as_ref().map(ToString::to_string),
            targets: targets.collect(),
            principals,
            keys: keys(image),
            roster,
        }
    }
}

fn keys(image: &Image) -> Vec<KeyEntry> {
    let operators = image.operators.iter().map(|(key_id, entry)| KeyEntry {
        role: KeyRole::Operator,
        key_id: *key_id,
        public: entry.key,
        operator: Some(entry.operator.clone()),
        scopes: entry.scopes.iter().copied().collect(),
        target: None,
        by: None,
        not_before: None,
        not_after: None,
        revoked: entry.revoked.map(|at| at.utc()),
    });
    let router = image.router_keys.iter().map(|(id, key)| lasting(KeyRole::Router, *id, key));
    let audit = image.audit_keys.iter().map(|(id, key)| lasting(KeyRole::Audit, *id, key));
    let ack = image.ack_keys.iter().flat_map(|(target, keys)| {
        keys.iter().map(|(id, entry)| KeyEntry {
            target: Some(target.clone()),
            by: Some(entry.by),
            ..lasting(KeyRole::Ack, *id, &entry.key)
        })
    });
    operators.chain(router).chain(audit).chain(ack).collect()
}

fn lasting(role: KeyRole, key_id: KeyId, key: &Key) -> KeyEntry {
    KeyEntry {
        role,
        key_id,
        public: key.key,
        operator: None,
        scopes: Vec::new(),
        target: None,
        by: None,
        not_before: Some(key.not_before.utc()),
        not_after: Some(key.not_after.utc()),
        revoked: key.revoked.map(|at| at.utc()),
    }
}
