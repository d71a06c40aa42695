//! The rows of agents as a table, and one of them in one screen.
//!
//! At most 24 lines of 100 columns for one agent, whatever is known of it (WHY-1).

use awakener_kernel::time::Wall;

use super::{head, short, span, table};
use crate::agents::State;
use crate::http::wire::agents::{Agent, Agents, Counter};
use crate::http::wire::answers::Stuck;

/// Those who need somebody first.
fn sorted(agents: &[Agent]) -> Vec<&Agent> {
    let mut sorted: Vec<&Agent> = agents.iter().collect();
    sorted.sort_by_key(|agent| (agent.state, agent.target.clone()));
    sorted
}

/// One line per agent, then the commands that help.
pub fn rows(agents: &[Agent]) -> String {
    let rows: Vec<Vec<String>> = sorted(agents).into_iter().map(row).collect();
    let columns = ["agent", "state", "phase", "unread", "outstanding", "turns/h", "waits for"];
    let mut text = table(&columns, &rows, "no target");
    let next: Vec<Vec<String>> = sorted(agents)
        .into_iter()
        .filter_map(|agent| Some(vec![agent.target.to_string(), agent.next.clone()?]))
        .collect();
    if !next.is_empty() {
        text += "\n";
        text += &table(&["next for", "command"], &next, "");
    }
    text
}

fn row(agent: &Agent) -> Vec<String> {
    let phase = agent.phase.as_ref();
    vec![
        agent.target.to_string(),
        agent.state.words().to_owned(),
        phase.map_or("unknown".into(), |phase| format!("{} {}", phase.name, span(phase.age_ms))),
        number(agent.unread),
        outstanding(agent),
        agent.counters.iter().find(|counter| counter.name == "turns_per_hour").map_or("-".into(), counted),
        agent.waits_for.clone(),
    ]
}

fn outstanding(agent: &Agent) -> String {
    match (agent.outstanding, &agent.oldest) {
        (Some(count), Some(oldest)) => format!("{count}, oldest {}", span(oldest.age_ms)),
        (count, _) => number(count),
    }
}

fn number(known: Option<u64>) -> String {
    known.map_or("unknown".into(), |count| count.to_string())
}

/// `3/30`, or with times `12s of 30s`.
fn counted(counter: &Counter) -> String {
    match (counter.unit.as_str(), counter.limit) {
        ("ms", Some(limit)) => format!("{} of {}", span(counter.value), span(limit)),
        ("ms", None) => span(counter.value),
        (_, Some(limit)) => format!("{}/{limit}", counter.value),
        (_, None) => counter.value.to_string(),
    }
}

/// One agent.
pub fn why(of: &Agents, agent: &Agent, stuck: Option<&Stuck>) -> String {
    let since = |since: Wall| format!("{} ({})", since.utc(), span(of.now.saturating_since(since).0));
    let phase = agent.phase.as_ref().map_or_else(
        || "unknown".to_owned(),
        |phase| format!("{} for {}, says its {}", phase.name, span(phase.age_ms), whose(&phase.of)),
    );
    let rule = agent.rule;
    let mut text = head(&[
        ("agent", format!("{} · {} · {}", agent.target, agent.state.words(), plane(of))),
        ("phase", phase),
        ("waits for", agent.waits_for.clone()),
        ("since", agent.since.map(since).unwrap_or_default()),
        ("until", agent.until.map(|until| until.utc()).unwrap_or_default()),
        ("rule", format!("{rule} {}", rule.title())),
        ("next", agent.next.clone().unwrap_or_else(|| nothing(agent.state).to_owned())),
    ]);
    text += "\n";
    text += &head(&[
        ("unread", number(agent.unread)),
        ("alerts", alerts(agent)),
        (
            "message",
            stuck.map_or(String::new(), |stuck| format!("after {}, for {}", stuck.after, stuck.waits_for)),
        ),
        ("turns", counters(agent, "station")),
        ("plane", counters(agent, "plane")),
        ("wake", counters(agent, "wake")),
        ("grant", grant(agent)),
        ("lease", lease(agent, of.now)),
        ("permit", permit(agent, of.now)),
    ]);
    for unread in &agent.could_not_read {
        let part = unread.part.rsplit('.').next().unwrap_or(&unread.part);
        text += &format!("could not read {part}: {}\n", unread.detail);
    }
    text
}

fn plane(of: &Agents) -> String {
    let name = of.plane.as_deref().unwrap_or("plane");
    format!("{name} · {}{}", of.mode, if of.running { "" } else { " · not running" })
}

fn whose(of: &str) -> &'static str {
    match of {
        "station" => "station",
        _waker => "waker",
    }
}

const fn nothing(state: State) -> &'static str {
    match state {
        State::Idle => "nothing to do",
        State::NeedsInput | State::Failed | State::Unknown | State::Working => "wait",
    }
}

fn alerts(agent: &Agent) -> String {
    match (agent.outstanding, &agent.oldest) {
        (Some(count), Some(oldest)) => {
            let mut words =
                format!("{count} outstanding, oldest {} for {}", oldest.message, span(oldest.age_ms));
            for (holds, word) in [(oldest.escalated, ", operator told"), (oldest.quarantined, ", set aside")]
            {
                words += if holds { word } else { "" };
            }
            words
        }
        (count, _) => format!("{} outstanding", number(count)),
    }
}

fn counters(agent: &Agent, of: &str) -> String {
    let of = agent.counters.iter().filter(|counter| counter.of == of);
    let words: Vec<String> =
        of.map(|counter| format!("{} {}", named(&counter.name), counted(counter))).collect();
    words.join(" · ")
}

fn named(name: &str) -> &str {
    match name {
        "cooldown" => "rests",
        "failures" => "failed starts",
        "emissions" => "hints",
        turns => turns.trim_start_matches("turns_per_"),
    }
}

fn grant(agent: &Agent) -> String {
    agent.plane.as_ref().map_or(String::new(), |plane| {
        match (plane.armed, plane.paused, &plane.granted_until) {
            (_, _, None) => "none".to_owned(),
            (true, _, Some(until)) => format!("until {until}"),
            (false, true, Some(until)) => format!("until {until}, and it rests"),
            (false, false, Some(until)) => format!("over since {until}"),
        }
    })
}

fn lease(agent: &Agent, now: Wall) -> String {
    let lease = agent.plane.as_ref().and_then(|plane| plane.lease.as_ref());
    lease.map_or(String::new(), |lease| {
        let held = span(now.saturating_since(lease.at).0);
        format!("{} fence {}, {} claimed, {held}", lease.holder, lease.fence.0, lease.claimed)
    })
}

fn permit(agent: &Agent, now: Wall) -> String {
    let permit = agent.plane.as_ref().and_then(|plane| plane.permit.as_ref());
    permit.map_or(String::new(), |permit| {
        let what = if permit.flying { "flight" } else { "permit" };
        let held = span(now.saturating_since(permit.at).0);
        format!("{what} {} of {}, {held}", short(&permit.wake.to_string()), permit.daemon)
    })
}

#[cfg(test)]
mod tests {
    use awakener_kernel::time::Wall;
    use awakener_spec::ReceiptKind;

    use super::*;
    use crate::http::wire::V1;

    fn of(agents: Vec<Agent>) -> Agents {
        Agents {
            v: V1,
            mode: "production".to_owned(),
            plane: Some("p".repeat(64)),
            running: true,
            now: Wall(1_800_000_000_000),
            tier0_open: Some(true),
            stopped: Some(false),
            roster_until: None,
            agents: Some(agents),
            could_not_read: Vec::new(),
        }
    }

    #[test]
    fn why_1_whatever_is_known_of_an_agent_fits_on_one_screen() {
        let stuck = Stuck {
            after: ReceiptKind::DispatchAttempted,
            since: Wall(1_799_999_000_000),
            for_ms: 1_000_000,
            waits_for: "an operator: it was set aside after too many attempts".to_owned(),
        };
        let mut longest = 0;
        for agent in crate::agents::tests::rows() {
            let text = why(&of(vec![agent.clone()]), &agent, Some(&stuck));
            longest = longest.max(text.lines().count());
            for line in text.lines() {
                assert!(line.chars().count() <= 110, "{line}");
            }
            assert!(text.contains(agent.state.words()) && text.contains(agent.rule.id()), "{text}");
        }
        assert!((12..=24).contains(&longest), "{longest} lines");
    }
}
