//! What is looked at when everything else is over: the chains as a whole, and the word that nobody may say.

use serde_json::{Value, json};

use super::{Seen, Stage};

/// Every plane's chain verifies, and an export with one changed entry does not.
pub(super) async fn chain_verifies(stage: &Stage) -> Seen {
    let mut chains = Vec::new();
    let mut doctored = Value::Null;
    if stage.stacks().is_empty() {
        // Alone on stage: a small plane will do.
        drop(stage.gate().await?);
    }
    for stack in stage.stacks() {
        let verified = stack.cli(&["audit", "verify"]).await?;
        chains.push(json!({ "plane": stack.plan.name, "exit": verified.code, "out": verified.out }));
        if doctored.is_null() {
            let export = stack.audit("plane").await?;
            let mut lines: Vec<String> = export.iter().map(Value::to_string).collect();
            let middle = lines.len() / 2;
            if let Some(line) = lines.get_mut(middle) {
                *line = line.replacen("\"wall\":", "\"wall\":1", 1);
            }
            let file = stack.kit.root.join("doctored.jsonl");
            std::fs::write(&file, lines.join("\n") + "\n").map_err(|error| error.to_string())?;
            doctored = stack.cli(&["audit", "verify", &file.display().to_string()]).await?.seen();
        }
    }
    Ok(json!({ "chains": chains, "doctored": doctored }))
}

/// Over every answer that was read and every log that was written.
pub(super) fn word_never_said(stage: &Stage) -> Seen {
    let kit = stage.kit();
    for log in kit.children.all_logs() {
        kit.outside.tape().note(&log);
    }
    Ok(kit.outside.tape().seen())
}
