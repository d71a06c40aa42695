//! What clients were told: read from the bytes on the sockets, without asking the clients.
//!
//! One request at a time on a connection, as HTTP/1.1 clients of ours do. Only answers that promise something become
//! facts. Not here: whether it is true ([`super::judge`]).

use awakener_kernel::ids::{ContentHash, MessageId};
use serde_json::Value;

/// One thing that somebody outside knows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fact {
    /// A message is in the inbox, at its place (INB-1).
    Admitted(MessageId, u64),
    /// A witness is closed (ACK-3).
    Acknowledged(MessageId),
    /// A lease was given under this fencing token.
    Leased(u64),
    /// A permit was given under this fencing token.
    Permitted(u64),
    /// A message was read: an attempt is used up.
    Read(MessageId),
    /// A turn is recorded.
    Turn(String),
    /// A result is recorded.
    Answered(MessageId),
    /// An operator's command took effect.
    Enacted(String),
    /// An operator's command that could not be stored stands in the deny file (OPR-2).
    Denied,
    /// A hint with this freshness token is out.
    Hint(u64),
    /// How far the inbox goes, and its cursor.
    Inbox { last: u64, cursor: u64 },
    /// The chain begins so (AUD-3).
    Chain { size: u64, root: ContentHash },
    /// The process has ended.
    Exit(Option<i32>),
}

/// The two directions of a connection, as far as they are not understood yet.
#[derive(Default)]
pub struct Connection {
    asked: Vec<u8>,
    answered: Vec<u8>,
}

struct Part {
    line: String,
    body: Value,
    length: usize,
}

impl Connection {
    pub fn received(&mut self, bytes: &[u8]) {
        self.asked.extend(bytes);
    }

    /// Bytes of an answer; what whoever reads them knows then.
    pub fn sent(&mut self, bytes: &[u8]) -> Vec<Fact> {
        self.answered.extend(bytes);
        let Some(answer) = part(&self.answered) else { return Vec::new() };
        let asked = part(&self.asked).unwrap_or_else(|| panic!("an answer to no request: {}", answer.line));
        self.answered.drain(..answer.length);
        self.asked.drain(..asked.length);
        assert!(self.answered.is_empty(), "more than one answer at once");
        let status = answer.line.split(' ').nth(1).unwrap_or_default();
        let denied =
            answer.body["detail"].as_str().is_some_and(|detail| detail.contains(super::work::DENIED));
        match status.starts_with('2') {
            true => facts(&asked, &answer.body),
            false if denied => vec![Fact::Denied],
            false => Vec::new(),
        }
    }
}

/// The first request or answer in these bytes, if it is complete.
fn part(bytes: &[u8]) -> Option<Part> {
    let head = bytes.windows(4).position(|four| four == b"\r\n\r\n")?;
    let text = String::from_utf8_lossy(&bytes[..head]);
    let mut lines = text.lines();
    let line = lines.next()?.to_owned();
    let length = lines.filter_map(|header| header.split_once(':')).find_map(|(name, value)| {
        assert!(!name.eq_ignore_ascii_case("transfer-encoding"), "not modelled: {value}");
        name.eq_ignore_ascii_case("content-length").then(|| value.trim().parse::<usize>().unwrap())
    });
    let end = head + 4 + length.unwrap_or(0);
    let body = bytes.get(head + 4..end)?;
    Some(Part { line, body: serde_json::from_slice(body).unwrap_or(Value::Null), length: end })
}

fn facts(asked: &Part, answer: &Value) -> Vec<Fact> {
    let number = |value: &Value| value.as_u64().unwrap_or_else(|| panic!("{answer}"));
    let text = |value: &Value| value.as_str().unwrap_or_else(|| panic!("{} {answer}", asked.line)).to_owned();
    let id = |value: &Value| -> MessageId { text(value).parse().unwrap() };
    let mut words = asked.line.split(' ');
    let (method, path) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    let way: Vec<&str> = path.split('?').next().unwrap_or_default().split('/').skip(1).collect();
    match (method, way.as_slice()) {
        ("POST", ["v1", "messages"]) => vec![Fact::Admitted(id(&answer["id"]), number(&answer["seq"]))],
        ("POST", ["v1", "acks"]) => vec![Fact::Acknowledged(id(&asked.body["statement"]["message_id"]))],
        ("POST", ["v1", "inbox", _, "claim"]) => vec![Fact::Leased(number(&answer["fence"]))],
        ("POST", ["v1", "inbox", _, "read"]) => vec![Fact::Read(id(&asked.body["message"]))],
        ("POST", ["v1", "inbox", _, "turns"]) => vec![Fact::Turn(text(&asked.body["turn"]))],
        ("POST", ["v1", "inbox", _, "replies" | "silences"]) => {
            vec![Fact::Answered(id(&asked.body["in_reply_to"]))]
        }
        ("POST", ["v1", "permits"]) => vec![Fact::Permitted(number(&answer["fence"]))],
        ("POST", ["v1", "operator"]) => vec![Fact::Enacted(text(&answer["id"]))],
        ("POST", ["v1", "sweep"]) => {
            let hints = answer["hints"].as_array().unwrap();
            hints.iter().map(|hint| Fact::Hint(number(&hint["data"]["freshness_token"]))).collect()
        }
        ("POST", ["v1", "audit", "checkpoint"]) => {
            let head = &answer["checkpoint"]["checkpoint"];
            let root = serde_json::from_value(head["head"].clone()).unwrap();
            vec![Fact::Chain { size: number(&head["size"]), root }]
        }
        ("GET", ["v1", "status"]) => {
            let target = &answer["targets"][0];
            vec![Fact::Inbox { last: number(&target["last"]), cursor: number(&target["cursor"]) }]
        }
        _ => Vec::new(),
    }
}
