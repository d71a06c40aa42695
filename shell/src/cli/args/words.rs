//! How single words of the command line are read.
//!
//! A word of a closed list is refused with the list, so that the next attempt can be right. Rules: CON-1.

use awakener_kernel::ids::Fence;
use awakener_kernel::operator::Scope;
use awakener_kernel::time::Millis;
use awakener_kernel::values::{AckOutcome, By, Finish};
use awakener_kernel::wire::{Priority, ResponseExpectation};
use awakener_spec::ReceiptKind;

use crate::config::kind::Kind;

pub(super) fn duration(text: &str) -> Result<Millis, String> {
    let value = Kind::Duration.read_text(text).map_err(|(what, _)| what)?;
    Ok(Millis(value.as_u64().unwrap_or_default()))
}

pub(super) fn fence(text: &str) -> Result<Fence, String> {
    text.parse().map(Fence).map_err(|_| "expected the number that came with the claim".into())
}

/// A word of a closed list, with the list in the complaint.
macro_rules! word {
    ($($name:ident -> $list:ident: $words:literal;)+) => { $(
        pub(super) fn $name(text: &str) -> Result<$list, String> {
            $list::parse(text).ok_or_else(|| format!("expected one of {}", $words))
        }
    )+ };
}
word! {
    priority -> Priority: "low, normal, high, urgent";
    expectation -> ResponseExpectation: "reply, silence_ok, none";
    outcome -> AckOutcome: "handled, silence, declined, failed";
    role -> By: "station, agent, human";
}

pub(super) fn receipt(text: &str) -> Result<ReceiptKind, String> {
    ReceiptKind::from_name(text).ok_or_else(|| {
        let known = ReceiptKind::ALL.iter().map(|kind| kind.name());
        match crate::config::document::nearest(text, known) {
            Some(near) => format!("no such kind; did you mean {near}?"),
            None => "no such kind".into(),
        }
    })
}

pub(super) fn scope(text: &str) -> Result<Scope, String> {
    let spelt =
        |scope: &Scope| serde_json::to_value(scope).ok().and_then(|word| Some(word.as_str()?.to_owned()));
    let words: Vec<String> = Scope::ALL.iter().filter_map(spelt).collect();
    let found = Scope::ALL.iter().zip(&words).find(|(_, word)| *word == text);
    found.map(|(scope, _)| *scope).ok_or_else(|| format!("expected one of {}", words.join(", ")))
}

pub(super) fn finish(text: &str) -> Result<Finish, String> {
    serde_json::from_value(text.into()).map_err(|_| {
        let spelt = |finish: &Finish| Some(serde_json::to_value(finish).ok()?.as_str()?.to_owned());
        let words: Vec<String> = Finish::ALL.iter().filter_map(spelt).collect();
        format!("expected one of {}", words.join(", "))
    })
}
