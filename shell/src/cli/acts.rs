//! The operator acts as they stand in a command: a name and a subject.
//!
//! Form only. What an act needs and does is decided by the plane. Rules: OPR-1, OPR-2.

use awakener_kernel::ids::{
    ContentHash, KeyId, MessageId, OperatorName, Principal, PublicKey, SchemaRef, Target,
};
use awakener_kernel::time::Wall;
use awakener_kernel::values::By;
use serde_json::{Map, Value, json};

/// A named act and its subject.
#[derive(Clone, Debug, PartialEq)]
pub struct Act {
    /// The name.
    pub name: &'static str,
    /// The members that the act needs.
    pub subject: Map<String, Value>,
}

/// An act from members; those that are null are absent.
fn act(name: &'static str, subject: Value) -> Act {
    let Value::Object(members) = subject else { return Act { name, subject: Map::new() } };
    Act { name, subject: members.into_iter().filter(|(_, value)| !value.is_null()).collect() }
}

/// One line of a roster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Who.
    pub principal: Principal,
    /// What.
    pub schema: SchemaRef,
    /// To whom.
    pub target: Target,
}

pub fn install_roster(not_after: Wall, entries: &[Entry]) -> Act {
    let entry = |e: &Entry| json!({"principal": e.principal, "schema": e.schema, "target": e.target});
    let entries: Vec<Value> = entries.iter().map(entry).collect();
    act("install_roster", json!({"version": 1, "not_after": not_after.utc(), "entries": entries}))
}

pub fn remove_roster() -> Act {
    act("remove_roster", json!({}))
}

pub fn arm(target: &Target, until: Wall) -> Act {
    act("arm", json!({"target": target, "until": until.utc()}))
}

pub fn disarm(target: &Target) -> Act {
    act("disarm", json!({"target": target}))
}

pub fn abort() -> Act {
    act("abort", json!({}))
}

pub fn pause(target: Option<&Target>, until: Wall) -> Act {
    act("pause", json!({"target": target, "until": until.utc()}))
}

pub fn resume(target: Option<&Target>) -> Act {
    act("resume", json!({"target": target}))
}

pub fn stop_all() -> Act {
    act("stop_all", json!({}))
}

pub fn clear_latch(target: &Target) -> Act {
    act("clear_latch", json!({"target": target}))
}

pub fn register_target(target: &Target) -> Act {
    act("register_target", json!({"target": target}))
}

pub fn remove_target(target: &Target) -> Act {
    act("remove_target", json!({"target": target}))
}

pub fn register_principal(
    principal: &Principal,
    credential: ContentHash,
    may_read: &[Target],
    acts_for: Option<&Target>,
) -> Act {
    let subject = json!({
        "principal": principal,
        "credential": credential,
        "may_read": may_read,
        "acts_for": acts_for,
    });
    act("register_principal", subject)
}

pub fn revoke_principal(principal: &Principal, credential: Option<ContentHash>) -> Act {
    act("revoke_principal", json!({"principal": principal, "credential": credential}))
}

pub fn register_ack_key(target: &Target, by: By, key: PublicKey, from: Wall, until: Wall) -> Act {
    let subject = json!({
        "target": target,
        "by": by,
        "key": key,
        "not_before": from.utc(),
        "not_after": until.utc(),
    });
    act("register_ack_key", subject)
}

pub fn revoke_ack_key(target: &Target, key_id: KeyId) -> Act {
    act("revoke_ack_key", json!({"target": target, "key_id": key_id}))
}

pub fn register_router_key(key: PublicKey, from: Wall, until: Wall) -> Act {
    act("register_router_key", json!({"key": key, "not_before": from.utc(), "not_after": until.utc()}))
}

pub fn revoke_router_key(key_id: KeyId) -> Act {
    act("revoke_router_key", json!({"key_id": key_id}))
}

pub fn register_audit_key(key: PublicKey, from: Wall, until: Wall) -> Act {
    act("register_audit_key", json!({"key": key, "not_before": from.utc(), "not_after": until.utc()}))
}

pub fn revoke_audit_key(key_id: KeyId) -> Act {
    act("revoke_audit_key", json!({"key_id": key_id}))
}

pub fn register_operator_key(operator: &OperatorName, key: PublicKey, scopes: &[String]) -> Act {
    act("register_operator_key", json!({"operator": operator, "key": key, "scopes": scopes}))
}

pub fn revoke_operator_key(key_id: KeyId) -> Act {
    act("revoke_operator_key", json!({"key_id": key_id}))
}

pub fn resolve(target: &Target, message: MessageId) -> Act {
    act("resolve", json!({"target": target, "message": message}))
}

pub fn release_quarantine(target: &Target, message: MessageId) -> Act {
    act("release_quarantine", json!({"target": target, "message": message}))
}

pub fn accept_clock() -> Act {
    act("accept_clock", json!({}))
}

pub fn reanchor() -> Act {
    act("reanchor", json!({}))
}
