//! `graph`: the graph of a scope as a file.
//!
//! Rules: FML-4, CON-1.

use awakener_model_check::worlds::{Listed, NoGraph};

use crate::args::Graph;
use crate::failure::Failure;
use crate::{out, select};

/// Runs the command.
pub fn run(worlds: &[Box<dyn Listed>], args: &Graph) -> Result<u8, Failure> {
    let format = args.format.into();
    let text = select::world(worlds, &args.world)?.graph(&args.scope, format).map_err(|why| match why {
        NoGraph::Unknown(unknown) => unknown.into(),
        NoGraph::TooLarge(large) => {
            Failure::usage(large.to_string()).then("Choose a smaller scope, or `--format json`.")
        }
        NoGraph::Cut(states) => {
            let (most, _) = format.most();
            Failure::usage(format!(
                "the graph has more than {states} states; {} is written up to {most} states",
                format.name()
            ))
            .then("Choose a smaller scope, or `--format json`.")
        }
    })?;
    match &args.out {
        Some(path) => std::fs::write(path, text).map_err(|error| Failure::file("write", path, &error))?,
        None => out::say(&text),
    }
    Ok(0)
}
