//! Runs one command to its end and turns every failure into a [`ToolError`] that can be acted upon.

use std::fmt::Display;
use std::path::Path;
use std::process::Command;

use crate::ToolError;

/// How much of the output of a failed command is kept, in characters.
const KEPT: usize = 2_000;

/// Runs a command; returns its standard output.
pub(crate) fn run(
    tool: &'static str,
    what: &str,
    place: &Path,
    command: &mut Command,
) -> Result<String, ToolError> {
    let line = line(command);
    let error = |what: String, output: String| ToolError {
        tool,
        what,
        place: place.to_path_buf(),
        line: line.clone(),
        output,
    };
    let done = command
        .stdin(std::process::Stdio::null())
        .output()
        .map_err(|cause| error(format!("cannot {what}"), cause.to_string()))?;
    let stdout = String::from_utf8_lossy(&done.stdout).into_owned();
    if done.status.success() {
        return Ok(stdout);
    }
    let all = format!("{stdout}{}", String::from_utf8_lossy(&done.stderr));
    Err(error(format!("could not {what} ({})", done.status), end(&all)))
}

/// What could not be done with a file or directory, and why.
pub(crate) fn failed(tool: &'static str, what: &str, place: &Path, cause: &dyn Display) -> ToolError {
    ToolError {
        tool,
        what: format!("cannot {what}"),
        place: place.to_path_buf(),
        line: format!("ls -ld {}", place.display()),
        output: end(&cause.to_string()),
    }
}

fn end(output: &str) -> String {
    output.chars().skip(output.chars().count().saturating_sub(KEPT)).collect()
}

fn line(command: &Command) -> String {
    let mut words = vec![command.get_program().to_string_lossy().into_owned()];
    words.extend(command.get_args().map(|argument| argument.to_string_lossy().into_owned()));
    words.join(" ")
}
