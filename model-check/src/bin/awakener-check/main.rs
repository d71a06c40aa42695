//! The command `awakener-check`: searches the worlds and says what it found, to people and to programs.
//!
//! Results go to standard output, progress and failures to standard error. Here: which command runs. Each has a file of
//! its own; what they do with a world is in the library (`worlds`, `check`, `trace`, `export`). Rules: CON-1, FML-1,
//! FML-3, FML-5.

mod args;
mod check;
mod controls;
mod explain;
mod explore;
mod failure;
mod graph;
mod list;
mod liveness;
mod measure;
mod out;
mod progress;
mod replay;
mod select;

use std::process::ExitCode;

use awakener_model_check::worlds::{self, Listed};
use clap::Parser as _;
use clap::error::ErrorKind;

use args::{Args, Command};
use failure::Failure;

fn main() -> ExitCode {
    let worlds = worlds::all();
    if let Some(measured) = measure::serve(&worlds) {
        return measured;
    }
    let json = std::env::args_os().any(|arg| arg == "--json");
    let ended = match Args::try_parse() {
        Ok(args) => run(&worlds, &args),
        Err(error) => match error.kind() {
            ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => {
                out::say(&error.to_string());
                Ok(0)
            }
            _wrong if json => {
                let text = error.to_string();
                let first = text.lines().next().unwrap_or_default().trim_start_matches("error: ");
                Err(Failure::usage(first))
            }
            _wrong => {
                out::tell(&error.render().ansi().to_string(), &error.to_string());
                return ExitCode::from(2);
            }
        },
    };
    match ended {
        Ok(code) => ExitCode::from(code),
        Err(failure) => {
            let text = if json { failure.to_value().to_string() + "\n" } else { failure.to_string() };
            out::tell(&text, &text);
            ExitCode::from(failure.exit)
        }
    }
}

/// Runs a command; its exit code.
fn run(worlds: &[Box<dyn Listed>], args: &Args) -> Result<u8, Failure> {
    match &args.command {
        Command::List(list) => list::run(worlds, list, args.json),
        Command::Check(check) => match &check.replay {
            Some(file) => replay::run(worlds, file, args.json),
            None => check::run(worlds, check, args.json),
        },
        Command::Liveness(liveness) => liveness::run(liveness, args.json),
        Command::Controls(controls) => controls::run(controls, args.json),
        Command::Measure(measure) => measure::run(worlds, measure, args.json),
        Command::Explore(explore) => explore::run(worlds, explore),
        Command::Graph(graph) => graph::run(worlds, graph),
        Command::Explain(explain) => explain::run(worlds, explain, args.json),
    }
}
