//! Targets, principals, keys and the roster as tables.

use awakener_kernel::ids::Target;

use super::{table, word};
use crate::http::wire::registry::{KeyEntry, PrincipalEntry, RosterNow, TargetEntry};

fn or_dash(text: Option<&String>) -> String {
    text.cloned().unwrap_or_else(|| "-".into())
}

/// Registered targets.
pub fn targets(targets: &[TargetEntry]) -> String {
    let row = |entry: &TargetEntry| {
        vec![
            entry.target.to_string(),
            or_dash(entry.granted_until.as_ref()),
            or_dash(entry.paused_until.as_ref()),
            entry.ack_keys.to_string(),
        ]
    };
    let rows: Vec<Vec<String>> = targets.iter().map(row).collect();
    table(&["target", "granted until", "paused until", "ack keys"], &rows, "no target")
}

/// Credentials.
pub fn principals(principals: &[PrincipalEntry]) -> String {
    let row = |entry: &PrincipalEntry| {
        let read: Vec<&str> = entry.may_read.iter().map(Target::as_str).collect();
        let read = if read.is_empty() { "-".into() } else { read.join(",") };
        let acts = entry.acts_for.as_ref().map_or("-".into(), ToString::to_string);
        vec![
            entry.principal.to_string(),
            acts,
            read,
            entry.credential.to_string(),
            or_dash(entry.revoked.as_ref()),
        ]
    };
    let rows: Vec<Vec<String>> = principals.iter().map(row).collect();
    table(&["principal", "acts for", "may read", "credential", "revoked"], &rows, "no principal")
}

/// Keys of every role.
pub fn keys(keys: &[KeyEntry]) -> String {
    let row = |entry: &KeyEntry| {
        let whose = match (&entry.operator, &entry.target, entry.by) {
            (Some(operator), _, _) => operator.to_string(),
            (_, Some(target), Some(by)) => format!("{target} by {}", word(by)),
            (_, Some(target), None) => target.to_string(),
            (None, None, _) => "-".into(),
        };
        let holds = match (&entry.revoked, &entry.not_after) {
            (Some(at), _) => format!("revoked {at}"),
            (None, Some(until)) => format!("until {until}"),
            (None, None) => "until revoked".into(),
        };
        vec![entry.role.name().into(), whose, entry.key_id.to_string(), holds]
    };
    let rows: Vec<Vec<String>> = keys.iter().map(row).collect();
    table(&["role", "whose", "key", "holds"], &rows, "no key")
}

/// The roster.
pub fn roster(roster: Option<&RosterNow>) -> String {
    let Some(roster) = roster else { return "no roster: nobody may raise an alert\n".into() };
    let rows: Vec<Vec<String>> = roster
        .entries
        .iter()
        .map(|entry| vec![entry.principal.to_string(), entry.schema.to_string(), entry.target.to_string()])
        .collect();
    format!("until {}\n\n", roster.not_after)
        + &table(&["principal", "schema", "target"], &rows, "nobody may raise an alert")
}
