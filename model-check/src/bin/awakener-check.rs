//! Searches the tiny scopes and says what it found.

use std::process::ExitCode;

use awakener_model_check::engine::{Options, explore};
use awakener_model_check::second;
use awakener_model_check::world::{Group, World};
use awakener_model_check::{mailbox, waker};

fn check<W: World>() -> bool {
    let mut clean = true;
    for scope in W::scopes().into_iter().filter(|scope| {
        scope.group == Group::Tiny
            || std::env::args().any(|a| a == scope.name || (a == "ci" && scope.group == Group::Ci))
    }) {
        let found = explore(&scope.world, &Options::default());
        let start = std::time::Instant::now();
        let counted = second::count(scope.world);
        println!(
            "{} {} {} states {} edges {} stays {:.1} s, second {} in {:.1} s",
            W::NAME,
            scope.name,
            found.states,
            found.edges,
            found.stays,
            found.took.as_secs_f64(),
            counted.states,
            start.elapsed().as_secs_f64()
        );
        for broken in &found.broken {
            println!("  {} falls: {:#?}", W::LAWS[broken.law].name, broken.way);
        }
        clean &= found.broken.is_empty() && counted.states == found.states;
    }
    clean
}

fn main() -> ExitCode {
    if check::<mailbox::World>() & check::<waker::World>() & check::<awakener_model_check::system::World>() {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}
