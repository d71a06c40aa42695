//! What can be said on the command line, and nothing of what it does.
//!
//! Rules: CON-1.

use std::path::PathBuf;

use awakener_model_check::export::Format;
use clap::{Args as ClapArgs, Parser, Subcommand, ValueEnum};

/// Every reachable state of small worlds, with the machines that ship, against a hostile environment.
///
/// Exit codes: 0 complete and clean; 1 a law falls, is empty, or a number is not as it must be; 2 usage: a name, a file or
/// an option is wrong; 3 INCOMPLETE: cut by states, memory, time or ^C before anything was found. Results go to standard
/// output, progress and failures to standard error.
#[derive(Debug, Parser)]
#[command(name = "awakener-check", version, propagate_version = true, max_term_width = 100)]
pub struct Args {
    /// JSON instead of text; one object a line.
    #[arg(long, global = true)]
    pub json: bool,
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Show worlds, their scopes with bounds, and their laws with twins.
    List(List),
    /// Search worlds exhaustively, and say of each law whether it holds.
    Check(Check),
    /// Check what must happen at last, on the cyclic worlds, under fairness.
    Liveness(Liveness),
    /// Make something wrong on purpose, a control at a time, and see that a law notices.
    Controls(Controls),
    /// Measure the engine and stateright.
    Measure(Measure),
    /// Walk through a world in a browser.
    Explore(Explore),
    /// Write the graph of a scope.
    Graph(Graph),
    /// Tell a trace in words, with what changes at each step.
    Explain(Explain),
}

/// `list`.
#[derive(Debug, ClapArgs)]
pub struct List {
    /// Print SCOPE.md, with the pinned numbers.
    #[arg(long, conflicts_with = "json")]
    pub markdown: bool,
    /// The manifest [default: model-check/manifest.toml].
    #[arg(long, value_name = "FILE")]
    pub manifest: Option<PathBuf>,
}

/// `check`.
#[derive(Debug, ClapArgs)]
pub struct Check {
    /// The world [default: all].
    pub world: Option<String>,
    /// A scope, or all scopes of a group: tiny, ci (with tiny), deep, cyclic.
    #[arg(long, value_name = "NAME|GROUP", default_value = "tiny")]
    pub scope: String,
    /// Report only this law: its name, or the id of its rule.
    #[arg(long, value_name = "NAME|RULE")]
    pub law: Option<String>,
    /// Threads that search [default: those of the machine, at most 16].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=16))]
    pub threads: Option<u16>,
    /// Most memory, in GB of 2^30 bytes [default: 4, and 8 for deep scopes].
    #[arg(long, value_name = "GB", value_parser = positive)]
    pub memory: Option<f64>,
    /// Most seconds of one scope.
    #[arg(long, value_name = "S", value_parser = positive)]
    pub time: Option<f64>,
    /// Most states of one scope.
    #[arg(long, value_name = "N")]
    pub states: Option<u64>,
    /// Do not compare with the manifest.
    #[arg(long, conflicts_with = "pin")]
    pub no_pins: bool,
    /// Write the numbers into the manifest.
    #[arg(long, conflicts_with = "law")]
    pub pin: bool,
    /// The manifest [default: model-check/manifest.toml].
    #[arg(long, value_name = "FILE")]
    pub manifest: Option<PathBuf>,
    /// Where counterexamples are written.
    #[arg(long, value_name = "DIR", default_value = "target/awakener-check")]
    pub out: PathBuf,
    /// Search nothing; run this JSON trace and say whether its law falls: exit 1 if it does, 0 if not.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["world", "scope", "law", "pin"])]
    pub replay: Option<PathBuf>,
}

/// `liveness`.
#[derive(Debug, ClapArgs)]
pub struct Liveness {
    /// The world [default: all].
    pub world: Option<String>,
    /// Only this scope.
    #[arg(long, value_name = "NAME")]
    pub scope: Option<String>,
    /// Threads that search.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=16))]
    pub threads: Option<u16>,
}

/// `controls`.
#[derive(Debug, ClapArgs)]
pub struct Controls {
    /// Only controls with this in their name.
    pub name: Option<String>,
    /// Searches at a time [default: those of the machine].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=64))]
    pub threads: Option<u16>,
}

/// `measure`.
#[derive(Debug, ClapArgs)]
pub struct Measure {
    /// The world [default: all, and two-phase commit].
    pub world: Option<String>,
    /// The scope [default: the last of the group ci].
    #[arg(long, value_name = "NAME")]
    pub scope: Option<String>,
    /// Threads of the engine.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=16))]
    pub threads: Option<u16>,
    /// How often each search is done; the fastest counts.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100))]
    pub repeat: Option<u32>,
}

/// `explore`.
#[derive(Debug, ClapArgs)]
pub struct Explore {
    /// The world.
    pub world: String,
    /// The scope.
    #[arg(long, value_name = "NAME")]
    pub scope: String,
    /// The port on the loopback interface; 0 = any that is free.
    #[arg(long, value_name = "PORT", default_value_t = 3000)]
    pub port: u16,
}

/// `graph`.
#[derive(Debug, ClapArgs)]
pub struct Graph {
    /// The world.
    pub world: String,
    /// The scope.
    #[arg(long, value_name = "NAME")]
    pub scope: String,
    /// The format.
    #[arg(long, value_enum)]
    pub format: GraphFormat,
    /// The file to write [default: standard output].
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
}

/// Formats of `graph`.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum GraphFormat {
    /// Graphviz.
    Dot,
    /// JSON, with what led nowhere.
    Json,
    /// A Mermaid state diagram, for small graphs.
    Mermaid,
}

impl From<GraphFormat> for Format {
    fn from(format: GraphFormat) -> Self {
        match format {
            GraphFormat::Dot => Self::Dot,
            GraphFormat::Json => Self::Json,
            GraphFormat::Mermaid => Self::Mermaid,
        }
    }
}

/// `explain`.
#[derive(Debug, ClapArgs)]
pub struct Explain {
    /// A JSON trace, as `check` writes them.
    pub file: PathBuf,
}

fn positive(text: &str) -> Result<f64, String> {
    let number: f64 = text.parse().map_err(|_| "not a number".to_owned())?;
    if number > 0.0 && number.is_finite() { Ok(number) } else { Err("not a positive number".to_owned()) }
}
