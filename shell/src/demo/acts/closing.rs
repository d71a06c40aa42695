//! What is looked at when everything else is over: the chains as a whole, and the word that nobody may say.

use serde_json::{Value, json};

use super::{Seen, Stage};
use crate::demo::stack::Stack;

/// Every chain verifies, those of wake daemons and stations from their exports; an export with one changed entry does
/// not.
pub(super) async fn chain_verifies(stage: &Stage) -> Seen {
    let mut chains = Vec::new();
    let mut doctored = Value::Null;
    if stage.stacks().is_empty() {
        // Alone on stage: a small plane will do.
        drop(stage.gate().await?);
    }
    for stack in stage.stacks() {
        let verified = stack.cli(&["audit", "verify"]).await?;
        chains.push(
            json!({ "of": format!("{}/plane", stack.plan.name), "exit": verified.code, "out": verified.out }),
        );
        let first = stack.plan.agents.first().map(|agent| agent.target);
        for whose in ["wake"].into_iter().chain(first).filter(|_| stack.plan.wake) {
            let export = stack.audit(whose).await?;
            let file = export_to(&stack, whose, &export)?;
            let verified = stack.cli(&["audit", "verify", &file]).await?;
            chains.push(json!({ "of": format!("{}/{whose}", stack.plan.name), "exit": verified.code, "out": verified.out }));
        }
        if doctored.is_null() {
            let export = stack.audit("plane").await?;
            let mut export = export;
            let middle = export.len() / 2;
            if let Some(entry) = export.get_mut(middle) {
                entry["entry"]["now"]["wall"] = 1.into();
            }
            let file = export_to(&stack, "doctored", &export)?;
            doctored = stack.cli(&["audit", "verify", &file]).await?.seen();
        }
    }
    Ok(json!({ "chains": chains, "doctored": doctored }))
}

/// An export as a file of JSON lines.
fn export_to(stack: &Stack, name: &str, export: &[Value]) -> Result<String, String> {
    let file = stack.kit.root.join(format!("{}-{name}.jsonl", stack.plan.name));
    let lines: String = export.iter().map(|entry| entry.to_string() + "\n").collect();
    std::fs::write(&file, lines).map_err(|error| error.to_string())?;
    Ok(file.display().to_string())
}

/// Over every answer that was read and every log that was written.
pub(super) async fn word_never_said(stage: &Stage) -> Seen {
    if stage.stacks().is_empty() {
        drop(stage.gate().await?);
    }
    let kit = stage.kit();
    for log in kit.children.all_logs() {
        kit.outside.tape().note(&log);
    }
    Ok(kit.outside.tape().seen())
}
