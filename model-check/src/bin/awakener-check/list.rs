//! `list`: what there is.
//!
//! Rules: CON-1, FML-2.

use std::fmt::Write as _;

use awakener_model_check::manifest::Manifest;
use awakener_model_check::scope_md;
use awakener_model_check::worlds::Listed;
use serde_json::json;

use crate::args::List;
use crate::failure::Failure;
use crate::out;

/// Runs the command.
pub fn run(worlds: &[Box<dyn Listed>], args: &List, json: bool) -> Result<u8, Failure> {
    if args.markdown {
        let manifest = Manifest::load(&args.manifest.clone().unwrap_or_else(Manifest::place))?;
        out::say(&scope_md::markdown(worlds, &manifest));
    } else {
        for world in worlds {
            let world = world.as_ref();
            out::say(&if json { object(world) } else { text(world) });
        }
    }
    Ok(0)
}

fn object(world: &dyn Listed) -> String {
    let scopes: Vec<_> = (world.scopes().into_iter())
        .map(|scope| {
            let bounds: serde_json::Map<_, _> =
                scope.bounds.into_iter().map(|(name, value)| (name.to_owned(), value.into())).collect();
            json!({"name": scope.name, "group": scope.group, "bounds": bounds})
        })
        .collect();
    let object = json!({
        "v": 1,
        "world": world.name(),
        "scopes": scopes,
        "laws": world.laws(),
        "abstractions": world.abstractions(),
        "gaps": world.gaps(),
    });
    object.to_string() + "\n"
}

fn text(world: &dyn Listed) -> String {
    let mut text = format!("{}\n", world.name());
    let scopes = world.scopes();
    let width = scopes.iter().map(|scope| scope.name.len()).max().unwrap_or_default();
    for scope in &scopes {
        let group =
            serde_json::to_value(scope.group).ok().and_then(|group| group.as_str().map(str::to_owned));
        let bounds: Vec<String> =
            scope.bounds.iter().map(|(name, value)| format!("{name}={value}")).collect();
        let line =
            format!("  {:<width$}  {:<6}  {}", scope.name, group.unwrap_or_default(), bounds.join(" "));
        let _ = writeln!(text, "{}", line.trim_end());
    }
    for law in world.laws() {
        let what = law.name.strip_prefix(law.rule).unwrap_or(law.name).trim_start();
        let _ = writeln!(text, "  {:<7} {what}\n          twin: {}", law.rule, law.twin);
    }
    text.push('\n');
    text
}
