//! `check` and `config show`: everything that is wrong, and everything that holds with where it comes from.
//!
//! Rules: CON-1, CAP-2, CAP-5, DSP-8.

use awakener_spec::Reason;
use serde_json::{Value, json};

use super::context::Context;
use super::out::{self, Answer};
use crate::config::{Problems, kind, settings};
use crate::exit::Failure;
use crate::manifest::{Eligibility, Manifest};

/// `config show`.
pub fn show(context: &Context) -> Result<Answer, Failure> {
    let config = context.config()?;
    let mut rows = Vec::new();
    let mut keys = Vec::new();
    for (key, effective) in config.origins() {
        let time = key.strip_prefix("limits.").is_some_and(settings::is_time) || key.ends_with(".turn");
        let text = match effective.value.as_u64().filter(|_| time) {
            Some(ms) => kind::written(ms),
            None => out::shown(&effective.value),
        };
        let origin = effective.origin.to_string();
        keys.push(json!({"key": key, "value": effective.value, "origin": origin}));
        rows.push(vec![key, text, origin]);
    }
    let value = json!({
        "mode": config.mode,
        "config_sha256": config.hash(),
        "settings": keys,
    });
    let text = out::table(&["key", "value", "origin"], &rows) + &format!("\nconfig {}\n", config.hash());
    Ok(Answer::new(value, text))
}

/// `check`: the configuration, then the manifest, whose place and mode the configuration names.
pub fn check(context: &Context) -> Result<Answer, Failure> {
    let config = context.config()?;
    let manifest = Manifest::load(&config.manifest, config.mode);
    if let Some(problems) = manifest.refused() {
        return Err(refused(problems));
    }
    let agents: Vec<Value> = manifest
        .agents()
        .map(|agent| {
            let wake = match agent.eligibility() {
                Eligibility::Unattended => "unattended",
                Eligibility::Attended => "attended",
                Eligibility::None => "none",
            };
            json!({
                "target": agent.target,
                "runtime": agent.runtime.name(),
                "wake": wake,
                "cooldown": kind::written(agent.cooldown.0),
            })
        })
        .collect();
    let value = json!({
        "mode": config.mode,
        "plane": config.plane,
        "config": context.config_file().map(|file| file.display().to_string()),
        "config_sha256": config.hash(),
        "manifest": config.manifest.display().to_string(),
        "agents": agents,
    });
    let mut head = value.clone();
    if let Value::Object(members) = &mut head {
        members.remove("agents");
    }
    let agents = out::list(value.get("agents"), &["target", "runtime", "wake", "cooldown"]);
    let text = format!("{}\n{agents}", out::fields(&head));
    Ok(Answer::new(value, text))
}

fn refused(problems: &Problems) -> Failure {
    Failure { problems: Some(problems.clone()), ..Failure::refused(Reason::ManifestRefused) }
}
