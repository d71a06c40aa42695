//! A trace in words: numbered steps, each with what was said of it and what changed.
//!
//! Rules: none of its own.

use std::fmt::Write as _;

use super::told::{Fallen, Told, said};

/// Steps in words; `whole` = with the differences of the states.
pub fn text(told: &Told, whole: bool) -> String {
    let trace = &told.trace;
    let mut text = format!("{}, scope {}", trace.world, trace.scope);
    if let Some(law) = &trace.law {
        let _ = write!(text, "\nlaw: {law}");
    }
    text.push_str("\n\n");
    fallen(&mut text, &told.falls);
    let width = told.steps.len().to_string().len().max(2);
    let indent = " ".repeat(width + 2);
    for step in &told.steps {
        let arrow =
            if step.from == step.to { step.to.to_owned() } else { format!("{} → {}", step.from, step.to) };
        let _ = writeln!(text, "{:>width$}. {}  [{arrow}]", step.number, step.action);
        let said = said(&step.label);
        let stayed = step.stayed.map(|stayed| format!("; {stayed}")).unwrap_or_default();
        let _ = writeln!(text, "{indent}{said}{stayed}");
        if whole {
            for line in
                step.changes.iter().flat_map(|c| c.to_string().lines().map(str::to_owned).collect::<Vec<_>>())
            {
                let _ = writeln!(text, "{indent}  {line}");
            }
        }
        fallen(&mut text, &step.falls);
    }
    if told.steps.is_empty() {
        text.push_str("nothing is done\n");
    }
    text.push('\n');
    text.push_str(&end(told));
    text
}

/// How it ended, in a line or two.
pub fn end(told: &Told) -> String {
    let mut text = String::new();
    let law = told.trace.law.as_deref().unwrap_or("a law");
    match told.fell {
        Some(0) => text += &format!("{law}: falls before anything is done\n"),
        Some(at) => text += &format!("{law}: falls after step {at} of {}\n", told.steps.len()),
        None if told.trace.law.is_some() => text += &format!("{law}: holds all the way\n"),
        None => text += "every law holds all the way\n",
    }
    if let Some((at, why)) = &told.stuck {
        text += &format!("step {at} is not possible: {why}\n");
    }
    if told.same_end == Some(false) {
        text += "the last state is not the one in which the trace was written: world or kernel have changed since\n";
    }
    text
}

fn fallen(text: &mut String, falls: &[Fallen]) {
    for fall in falls {
        let _ = writeln!(text, "    ✗ FALLS: {}", fall.law);
        for because in &fall.because {
            let _ = writeln!(text, "      because of what can be tried here: {because}");
        }
    }
}
