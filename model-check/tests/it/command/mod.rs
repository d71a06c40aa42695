//! The command and what it is made of: on a world whose every number is known, and as the program that people run.

mod checks;
mod export;
mod forms;
mod program;
mod scope_md;
pub mod toy;
mod written;

use awakener_model_check::check::{ScopeReport, Settings, Watch};
use awakener_model_check::worlds::{Listed, of};
use toy::Toy;

/// The toy, as the command sees a world.
fn toy() -> Box<dyn Listed> {
    of::<Toy<false>>()
}

fn settings() -> Settings {
    Settings { threads: 2, memory: None, states: None, time: None, laws: Vec::new() }
}

fn check(scope: &str) -> ScopeReport {
    toy().check(scope, &settings(), None, &Watch::nobody()).expect("the scope is known")
}
