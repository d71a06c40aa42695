//! The status of a plane: one line about it, one per agent, one per target, one per outstanding alert.

use awakener_kernel::time::Wall;
use serde_json::Value;

use super::{said, short, span, table};
use crate::http::wire::agents::Agent;
use crate::http::wire::status::{BrokerStatus, Status, TargetStatus};

/// The status, with the rows of the agents in front.
pub fn status(status: &Status, agents: Option<&[Agent]>) -> String {
    let mut text = plane(status);
    text += &status.broker.as_ref().map(broker).unwrap_or_default();
    if let Some(agents) = agents.filter(|agents| !agents.is_empty()) {
        text += "\n";
        text += &super::rows(agents);
    }
    if let Some(targets) = &status.targets {
        let rows: Vec<Vec<String>> = targets.iter().map(|target| row(target, status)).collect();
        let columns = ["target", "wakes", "cursor/last", "outstanding", "lease", "permit", "queue"];
        text += "\n";
        text += &table(&columns, &rows, "no target");
        let alerts: Vec<Vec<String>> = targets.iter().flat_map(alerts).collect();
        if !alerts.is_empty() {
            text += "\n";
            text +=
                &table(&["target", "seq", "outstanding", "age", "hints", "attempts", "note"], &alerts, "");
        }
    }
    for unread in &status.could_not_read {
        text += &format!("could not read {}: {} ({})\n", unread.part, unread.detail, unread.reason);
    }
    text
}

/// A broker that has a connection to lose.
fn broker(broker: &BrokerStatus) -> String {
    let Some(connected) = broker.connected else { return String::new() };
    let BrokerStatus { handed_over, failed, lost, reconnects, refused, .. } = broker;
    let mut text = format!(
        "broker {} · hints {handed_over} handed over, {failed} not, {lost} lost · {reconnects} reconnects",
        if connected { "connected" } else { "not connected" }
    );
    if *refused > 0 {
        text += &format!(" · refused {refused} times for its credentials");
    }
    text + "\n"
}

/// Latches of this machine; what cannot be read is a latch all the same.
pub fn latches(latches: &[Value]) -> String {
    let row = |latch: &Value| {
        // The file names its target and holds the note.
        let note = latch.pointer("/latch/latch");
        let member = |name| note.and_then(|note| note.get(name));
        let at = member("at").and_then(Value::as_u64).map_or("-".to_owned(), |at| Wall(at).utc());
        let cause = member("cause").map_or("not readable".into(), cause_word);
        vec![
            latch.get("target").map(said).unwrap_or_default(),
            at,
            cause,
            latch.get("file").map(said).unwrap_or_default(),
        ]
    };
    let rows: Vec<Vec<String>> = latches.iter().map(row).collect();
    table(&["target", "at", "cause", "file"], &rows, "none")
}

/// The kind of a cause: of a tripped fuse which, else the cause itself; the rest stands in the file.
fn cause_word(cause: &Value) -> String {
    let which = cause.pointer("/tripped/trip").unwrap_or(cause);
    match which.as_object().and_then(|members| members.keys().next()) {
        Some(kind) => kind.clone(),
        None => said(which),
    }
}

fn plane(status: &Status) -> String {
    let mut words =
        vec![format!("plane {}", status.plane.as_deref().unwrap_or("not enrolled")), status.mode.clone()];
    words.push(match (status.stopped, status.tier0_open) {
        (Some(true), _) => "stopped".into(),
        (_, Some(true)) => "alerts open".into(),
        (_, Some(false)) => "alerts closed".into(),
        (_, None) => "not running".into(),
    });
    words.push(match &status.roster_until {
        Some(until) => format!("roster until {until}"),
        None => "no roster".into(),
    });
    if let Some(head) = &status.head {
        words.push(format!("{} records", head.size));
    }
    if status.refused_unauthenticated > 0 {
        words.push(format!("{} refused without credential", status.refused_unauthenticated));
    }
    words.join(" · ") + "\n"
}

fn row(target: &TargetStatus, status: &Status) -> Vec<String> {
    let TargetStatus {
        target,
        last,
        cursor,
        outstanding,
        lease,
        permit,
        armed,
        paused,
        granted_until,
        queued,
    } = target;
    let armed = match (armed, paused, granted_until) {
        (_, true, _) => "paused".into(),
        (true, _, Some(until)) => format!("armed until {until}"),
        (true, _, None) => "armed".into(),
        (false, ..) => "not armed".into(),
    };
    let outstanding = match outstanding.first() {
        Some(oldest) => format!("{}, oldest {}", outstanding.len(), span(oldest.age_ms)),
        None => "-".into(),
    };
    let held = |at| span(status.now.saturating_since(at).0);
    let lease = lease.as_ref().map_or("-".into(), |lease| {
        format!("{} fence {}, {} claimed, {}", lease.holder, lease.fence.0, lease.claimed, held(lease.at))
    });
    let permit = permit.as_ref().map_or("-".into(), |permit| {
        let what = if permit.flying { "flight" } else { "permit" };
        format!("{what} {} of {}, {}", short(&permit.wake.to_string()), permit.daemon, held(permit.at))
    });
    let queue: Vec<String> =
        queued.iter().map(|queue| format!("{} {}", queue.principal, queue.unfinished)).collect();
    let queue = if queue.is_empty() { "-".into() } else { queue.join(", ") };
    vec![target.to_string(), armed, format!("{cursor}/{last}"), outstanding, lease, permit, queue]
}

fn alerts(target: &TargetStatus) -> Vec<Vec<String>> {
    let alert = |alert: &crate::http::wire::status::OutstandingAlert| {
        let notes = [(alert.escalated, "operator told"), (alert.quarantined, "set aside")];
        let notes: Vec<&str> = notes.iter().filter(|(holds, _)| *holds).map(|(_, note)| *note).collect();
        vec![
            target.target.to_string(),
            alert.seq.to_string(),
            alert.message.to_string(),
            span(alert.age_ms),
            alert.emissions.to_string(),
            alert.attempts.to_string(),
            notes.join(", "),
        ]
    };
    target.outstanding.iter().map(alert).collect()
}
