//! A trace as a Mermaid sequence diagram.
//!
//! Rules: none of its own.

use std::fmt::Write as _;

use super::told::{Fallen, Told, said};
use crate::world::Verdict;

/// The diagram.
pub fn mermaid(told: &Told) -> String {
    let mut parties: Vec<&str> = Vec::new();
    for party in told.steps.iter().flat_map(|step| [step.from, step.to]) {
        if !parties.contains(&party) {
            parties.push(party);
        }
    }
    let mut text = "sequenceDiagram\n    autonumber\n".to_owned();
    for (number, party) in parties.iter().enumerate() {
        let _ = writeln!(text, "    participant p{number} as {}", plain(party));
    }
    let id = |party: &str| parties.iter().position(|known| *known == party).unwrap_or_default();
    for step in &told.steps {
        let (from, to) = (id(step.from), id(step.to));
        let arrow = match step.label.verdict {
            Verdict::Advanced => "->>",
            Verdict::Absorbed => "-->>",
            Verdict::Refused => "-x",
            Verdict::Outside => "-)",
        };
        let _ = writeln!(text, "    p{from}{arrow}p{to}: {}", plain(&step.action));
        if step.label.verdict != Verdict::Outside {
            let _ = writeln!(text, "    Note right of p{to}: {}", plain(&said(&step.label)));
        }
        fallen(&mut text, to, &step.falls);
    }
    if parties.is_empty() {
        text += "    participant p0 as world\n";
        fallen(&mut text, 0, &told.falls);
    }
    text
}

fn fallen(text: &mut String, over: usize, falls: &[Fallen]) {
    for fall in falls {
        let _ = writeln!(text, "    Note over p{over}: FALLS {}", plain(fall.law));
    }
}

/// Without what Mermaid reads as its own: line ends, semicolons, number signs.
fn plain(text: &str) -> String {
    text.replace('\n', " ").replace('#', "#35;").replace(';', ",").replace("#35,", "#35;")
}
