//! Messages, pages and claims as text.

use awakener_kernel::ids::ThreadId;

use super::super::out::shown;
use super::{head, short, span, table, word};
use crate::http::wire::answers::{Admitted, Claimed, ClosedState, Head, Message, Page, State, WorkRead};

/// An admission.
pub fn admitted(admitted: &Admitted, thread: ThreadId) -> String {
    let Admitted { id, target, seq, tier, cause, depth, content_sha256, repeat, .. } = admitted;
    head(&[
        ("message", id.to_string()),
        ("thread", thread.to_string()),
        (
            "admitted",
            format!("{target} seq {seq}, tier {}{}", word(tier), if *repeat { ", before" } else { "" }),
        ),
        ("cause", cause.map_or(String::new(), |cause| format!("{cause} (depth {depth})"))),
        ("content", content_sha256.to_string()),
    ])
}

/// A page of an inbox.
pub fn inbox(page: &Page) -> String {
    let mut text = heads(&page.items, "nothing that this reader has not seen");
    let Page { total, outstanding, more, position, .. } = page;
    let more = if *more { ", more wait" } else { "" };
    text += &format!("\n{} of {total}{more}; {outstanding} outstanding\n", page.items.len());
    text + &format!("position {position}\n")
}

/// A lease and what it covers.
pub fn claimed(claimed: &Claimed) -> String {
    let before = if claimed.repeat { " (held before)" } else { "" };
    let lease = format!("fence {} for {}{before}\n\n", claimed.fence.0, span(claimed.lease_ms));
    lease + &heads(&claimed.messages, "no message")
}

/// Claimed work that was read.
pub fn work(work: &WorkRead) -> String {
    let attempt = match work.attempt {
        Some(attempt) => format!("attempt {attempt}"),
        None => "read before under this lease".into(),
    };
    format!("{attempt}\n{}", message(&work.message))
}

/// A whole message.
pub fn message(message: &Message) -> String {
    let Head {
        seq,
        id,
        target,
        principal,
        thread,
        in_reply_to,
        schema,
        tier,
        priority,
        intent,
        subject,
        content_sha256,
        cause,
        depth,
        admitted,
        response_expectation,
        state: reached,
    } = &message.head;
    let mut text = head(&[
        ("message", id.to_string()),
        ("from", format!("{principal} to {target}, seq {seq}")),
        (
            "schema",
            format!(
                "{schema} (tier {}), {}, expects {}",
                word(tier),
                word(priority),
                word(response_expectation)
            ),
        ),
        ("intent", intent.clone()),
        ("subject", subject.clone().unwrap_or_default()),
        ("thread", thread.to_string()),
        ("answers", in_reply_to.map_or(String::new(), |id| id.to_string())),
        ("cause", cause.map_or(String::new(), |cause| format!("{cause} (depth {depth})"))),
        ("admitted", admitted.utc()),
        ("content", content_sha256.to_string()),
        ("state", state(reached)),
    ]);
    if let Some(body) = reached.response.as_ref().and_then(|response| response.body.as_ref()) {
        text += &format!("answer    {body}\n");
    }
    text + &match &message.body {
        serde_json::Value::Object(members) if members.len() == 1 && members.contains_key("text") => {
            format!("\n{}\n", members.get("text").map(shown).unwrap_or_default())
        }
        body => format!("\n{body:#}\n"),
    }
}

fn heads(heads: &[Head], nothing: &str) -> String {
    let rows: Vec<Vec<String>> = heads
        .iter()
        .map(|head| {
            vec![
                head.seq.to_string(),
                word(head.tier),
                head.id.to_string(),
                head.principal.to_string(),
                head.schema.to_string(),
                head.subject.clone().unwrap_or_else(|| head.intent.clone()),
                brief(&head.state),
            ]
        })
        .collect();
    table(&["seq", "tier", "message", "from", "schema", "about", "state"], &rows, nothing)
}

/// The last thing that has become of a message, for a row.
fn brief(reached: &State) -> String {
    let whole = state(reached);
    whole.split(", ").next().unwrap_or_default().to_owned()
}

/// What has become of a message, in a few words; the last thing first.
pub(super) fn state(state: &State) -> String {
    let mut words = Vec::new();
    match &state.closed {
        Some(ClosedState::Acknowledged { outcome, by, .. }) => {
            words.push(format!("acknowledged {} by {}", word(outcome), word(by)));
        }
        Some(ClosedState::OperatorResolved) => words.push("resolved by the operator".into()),
        None if state.quarantined => words.push("set aside for the operator".into()),
        None => {}
    }
    words.extend(state.response.as_ref().map(|response| format!("{} recorded", response.kind)));
    words.extend(
        state.turn.as_ref().map(|turn| format!("turn {} {}", short(&turn.id.to_string()), word(turn.finish))),
    );
    if words.is_empty() {
        words.push(if state.read { "read".into() } else { "unread".into() });
    }
    words.join(", ")
}
