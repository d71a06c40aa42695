//! What operators decided, as a plane shows it: targets, principals, keys, the roster.
//!
//! Projections only (AUD-8). Rules: RCP-4 (what is asked for is shown in order), ADM-4 (no roster is said, not shown as
//! an empty one).

use serde_json::json;

use super::context::{Bearer, Context};
use super::out::Answer;
use super::show;
use crate::exit::Failure;
use crate::http::wire::registry::RegistryNow;

fn fetch(context: &Context) -> Result<RegistryNow, Failure> {
    context.plane(Bearer::Observer)?.ask(async |client| client.registry().await)
}

/// `target list`.
pub fn targets(context: &Context) -> Result<Answer, Failure> {
    let targets = fetch(context)?.targets;
    Ok(Answer::new(json!({ "targets": targets }), show::targets(&targets)))
}

/// `principal list`.
pub fn principals(context: &Context) -> Result<Answer, Failure> {
    let principals = fetch(context)?.principals;
    Ok(Answer::new(json!({ "principals": principals }), show::principals(&principals)))
}

/// `keys list`.
pub fn keys(context: &Context) -> Result<Answer, Failure> {
    let keys = fetch(context)?.keys;
    Ok(Answer::new(json!({ "keys": keys }), show::keys(&keys)))
}

/// `roster show`.
pub fn roster(context: &Context) -> Result<Answer, Failure> {
    let roster = fetch(context)?.roster;
    Ok(Answer::new(json!({ "roster": roster }), show::roster(roster.as_ref())))
}
