//! The way of a message: receipts as a table, a trace as a ladder.

use awakener_kernel::ids::{TurnId, WakeId};

use super::messages::state;
use super::{head, said, short, span, table, word};
use crate::http::wire::answers::{Receipt, Receipts, Rung, Trace};

/// Receipts, oldest first.
pub fn receipts(found: &Receipts) -> String {
    let rows: Vec<Vec<String>> = found
        .receipts
        .iter()
        .map(|receipt| {
            let message = receipt.message.map_or(String::new(), |id| id.to_string());
            let mut row = vec![receipt.number.to_string(), receipt.at.utc(), receipt.kind.to_string()];
            row.extend([receipt.target.clone(), message]);
            row.extend(rest(receipt));
            row
        })
        .collect();
    let columns = ["number", "at", "receipt", "target", "message", "wake", "flight", "turn", "detail"];
    let mut text = table(&columns, &rows, "no receipt");
    if let (true, Some(last)) = (found.more, found.receipts.last()) {
        text += &format!("\nmore: --after {}\n", last.number);
    }
    text
}

/// A ladder: one line per receipt with the time since admission, then where the message stands.
pub fn trace(trace: &Trace) -> String {
    let message = &trace.message;
    let mut text = head(&[
        ("message", message.id.to_string()),
        ("from", format!("{} to {}, seq {}", message.principal, message.target, message.seq)),
        ("schema", format!("{} (tier {})", message.schema, word(message.tier))),
        ("admitted", message.admitted.utc()),
        ("state", state(&message.state)),
    ]);
    let rows: Vec<Vec<String>> = trace.ladder.iter().map(rung).collect();
    text += "\n";
    text += &table(&["ms", "receipt", "wake", "flight", "turn", "detail"], &rows, "no receipt");
    text += "\n";
    text += &match &trace.stuck {
        Some(stuck) => {
            format!("waits since {} ({}) for {}\n", stuck.after, span(stuck.for_ms), stuck.waits_for)
        }
        None => "nothing more is owed\n".to_owned(),
    };
    text
}

fn rung(rung: &Rung) -> Vec<String> {
    let mut row = vec![format!("+{}", rung.since_admission_ms), rung.receipt.kind.to_string()];
    row.extend(rest(&rung.receipt));
    row
}

/// Wake, flight, turn, detail.
fn rest(receipt: &Receipt) -> [String; 4] {
    let wake = receipt.wake.as_ref().map(WakeId::to_string);
    let turn = receipt.turn.as_ref().map(TurnId::to_string);
    // A flight is named by its wake and the permit's fence; the wake stands beside it.
    let flight = receipt.attempt.as_deref().and_then(|attempt| attempt.rsplit('/').next());
    let brief = |id: Option<String>| id.map(|id| short(&id)).unwrap_or_default();
    [brief(wake), flight.unwrap_or_default().to_owned(), brief(turn), said(&receipt.detail)]
}
