//! tmux, whose panes the tests type into: the one of the machine. It is not fetched, since it needs a terminal database and
//! libraries that belong to the machine.

use std::path::PathBuf;
use std::process::Command;

use crate::run::run;
use crate::{Tool, ToolError, skipped};

const TOOL: &str = "tmux";

/// A tmux that runs here.
///
/// # Errors
/// When there is none; the error says how to install it.
pub fn program() -> Result<Tool, ToolError> {
    if let Some(skipped) = skipped(TOOL)? {
        return Ok(Tool::Skipped(skipped));
    }
    let program = PathBuf::from(TOOL);
    run(TOOL, "start it (Debian: apt-get install tmux)", &program, Command::new(TOOL).arg("-V"))?;
    Ok(Tool::Ready(program))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tmux_of_the_machine_says_its_version() {
        let Tool::Ready(program) = program().unwrap_or_else(|error| panic!("{error}")) else { return };
        let output = Command::new(program).arg("-V").output().unwrap();
        assert!(String::from_utf8_lossy(&output.stdout).starts_with("tmux "), "{output:?}");
    }
}
