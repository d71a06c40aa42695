//! A trace as a Rust test, ready to be put into `model-check/tests/it/`.
//!
//! The test fails as long as the law falls on this way. It passes once the law holds, also when the way is not possible
//! any more: the fault may have been mended before its last step. Rules: FML-5.

use std::fmt::Write as _;

use super::told::Told;
use super::{SCHEMA, Trace, slug, text};
use crate::world::World;

/// The test.
pub fn rust(told: &Told) -> String {
    let trace = &told.trace;
    let law = trace.law.clone().unwrap_or_default();
    let name = match slug(&law, '_') {
        empty if empty.is_empty() => format!("{}_{}_a_way", slug(&trace.world, '_'), slug(&trace.scope, '_')),
        slug => format!("{slug}_on_one_way"),
    };
    let mut text = format!("//! One way through `{}`, scope `{}`.\n\n", trace.world, trace.scope);
    let _ = writeln!(text, "#[test]\nfn {name}() {{");
    let _ = writeln!(text, "    awakener_model_check::trace::rust::must_hold::<{}>(", path(told.world_type));
    let _ = writeln!(text, "        {:?},\n        {law:?},", trace.scope);
    let actions: Vec<String> = trace.actions.iter().map(|action| raw(&action.to_string())).collect();
    let line = format!("        &[{}],", actions.join(", "));
    // As rustfmt would have it.
    if line.chars().count() <= 110 {
        let _ = writeln!(text, "{line}");
    } else {
        text += "        &[\n";
        actions.iter().for_each(|action| text += &format!("            {action},\n"));
        text += "        ],\n";
    }
    text + "    );\n}\n"
}

/// A type's path as a test of this package can write it: what is not of the library is of the test itself.
fn path(name: &str) -> String {
    match name.split_once("::") {
        Some(("awakener_model_check", _)) | None => name.to_owned(),
        Some((_, rest)) => format!("crate::{rest}"),
    }
}

/// A raw string with as many number signs as it needs.
fn raw(text: &str) -> String {
    let mut signs = String::new();
    while text.contains(&format!("\"{signs}")) {
        signs.push('#');
    }
    format!("r{signs}\"{text}\"{signs}")
}

/// Fails if `law` does not hold somewhere on a way; what tests call that [`rust`] wrote. A `law` of no characters is
/// every law.
///
/// # Panics
/// The law falls; there is no such scope or law; an action is not JSON.
pub fn must_hold<W: World>(scope: &str, law: &str, actions: &[&str]) {
    let scopes = W::scopes();
    let found = scopes.iter().find(|known| known.name == scope);
    let found = found.unwrap_or_else(|| panic!("{} has no scope `{scope}`", W::NAME));
    let number = W::LAWS.iter().position(|known| known.name == law);
    assert!(number.is_some() || law.is_empty(), "{} has no law `{law}`", W::NAME);
    let trace = Trace {
        schema: SCHEMA.into(),
        world: W::NAME.into(),
        scope: scope.into(),
        law: number.map(|_| law.into()),
        actions: actions
            .iter()
            .map(|action| serde_json::from_str(action).expect("an action is JSON"))
            .collect(),
        last: None,
    };
    let told = Told::of(found, &trace, number);
    assert!(told.fell.is_none(), "{}", text::text(&told, true));
}
