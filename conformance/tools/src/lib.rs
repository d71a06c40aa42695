//! What the tests of awakener share: evidence that a test met the rules that it claims, and foreign tools, each pinned
//! by hash. Not here: anything that a shipped binary needs; this crate is not published.
//!
//! A test that needs a tool fails when it cannot be had. Only whoever runs the tests may do without, by naming it in
//! `AWAKENER_WITHOUT` (names with commas between), and then a line that starts with `SKIPPED` says so.

pub mod chromium;
mod debian;
pub mod evidence;
pub mod faketime;
pub mod mangle;
pub mod nats;
pub mod npm;
pub mod packages;
pub mod python;
pub mod readers;
mod run;
pub mod strace;
pub mod tmux;

use std::path::PathBuf;

/// The variable that names the tools to do without.
pub const WITHOUT: &str = "AWAKENER_WITHOUT";

/// The tools that can be done without.
pub const SKIPPABLE: &[&str] = &["python", "nats", "npm", "strace", "chromium", "faketime", "tmux"];

/// A tool, or the wish to do without it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Tool {
    /// The program to start, or the directory of the data.
    Ready(PathBuf),
    /// The user asked to do without; already said on standard error.
    Skipped(Skipped),
}

/// What was asked to be skipped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Skipped {
    /// The name of the tool in `AWAKENER_WITHOUT`.
    pub tool: &'static str,
}

/// Why a tool cannot be had.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{tool}: {what}\n  where: {}\n  to see it by hand: {line}{}\n  output: {output}", place.display(), hint(tool))]
pub struct ToolError {
    /// The name of the tool, as it may stand in `AWAKENER_WITHOUT`.
    pub tool: &'static str,
    /// What failed.
    pub what: String,
    /// The file or directory concerned.
    pub place: PathBuf,
    /// The line to run to see the failure, or to mend it.
    pub line: String,
    /// The end of what the failed command wrote.
    pub output: String,
}

/// The root of the workspace.
pub fn workspace() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}

/// Whether the user asked to do without a tool; says it visibly if so.
///
/// # Errors
/// When the variable names something that is no tool: a misspelt wish must not pass for one.
pub fn skipped(tool: &'static str) -> Result<Option<Skipped>, ToolError> {
    let without = std::env::var(WITHOUT).unwrap_or_default();
    if !wished(&without, tool)? {
        return Ok(None);
    }
    // Past the capture of the test harness, which shows the output of failed tests only.
    let line = format!("SKIPPED what needs {tool}: {WITHOUT}={without}\n");
    std::io::Write::write_all(&mut std::io::stderr(), line.as_bytes()).ok();
    Ok(Some(Skipped { tool }))
}

fn wished(without: &str, tool: &'static str) -> Result<bool, ToolError> {
    let names: Vec<_> = without.split(',').map(str::trim).filter(|name| !name.is_empty()).collect();
    match names.iter().find(|name| !SKIPPABLE.contains(name)) {
        None => Ok(names.contains(&tool)),
        Some(stranger) => Err(ToolError {
            tool,
            what: format!("{WITHOUT} names {stranger}, which is none of {}", SKIPPABLE.join(", ")),
            place: workspace(),
            line: format!("echo ${WITHOUT}"),
            output: String::new(),
        }),
    }
}

fn hint(tool: &str) -> String {
    if SKIPPABLE.contains(&tool) { format!("\n  to do without: {WITHOUT}={tool}") } else { String::new() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tool_is_skipped_by_its_whole_name_only() {
        assert_eq!(wished("python", "python"), Ok(true));
        assert_eq!(wished(" python ,", "python"), Ok(true));
        assert_eq!(wished("", "python"), Ok(false));
        assert_eq!(wished("python", "other"), Ok(false));
        let error = wished("pythons", "python").unwrap_err();
        assert!(
            error.to_string().contains(
                "names pythons, which is none of python, nats, npm, strace, chromium, faketime, tmux"
            ),
            "{error}"
        );
    }

    #[test]
    fn an_error_says_what_where_and_the_line_to_run() {
        let error = run::run(
            "python",
            "start nothing",
            &workspace(),
            std::process::Command::new("/nonexistent/program").arg("-x"),
        )
        .unwrap_err();
        let text = error.to_string();
        for part in ["start nothing", "/nonexistent/program -x", "AWAKENER_WITHOUT=python"] {
            assert!(text.contains(part), "{part} in {text}");
        }
    }

    #[test]
    fn the_workspace_is_where_the_kernel_is() {
        assert!(workspace().join("kernel/Cargo.toml").is_file());
    }
}
