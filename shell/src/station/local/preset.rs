//! The runtimes that a local runner knows: their arguments, and which contract reads their output.

use awakener_kernel::station::Exit;
use serde::{Deserialize, Serialize};

use super::seen::Seen;
use super::{codex, gemini, generic, openhands};

/// Which runtime, and so which arguments and which contract.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Preset {
    /// `codex exec`.
    Codex,
    /// `gemini -p`.
    Gemini,
    /// OpenHands headless.
    Openhands,
    /// A program that speaks awakener's own contract.
    Generic,
}

impl Preset {
    /// Their names.
    pub const NAMES: &'static [&'static str] = &["codex", "gemini", "openhands", "generic"];

    /// What is started if nobody names another program.
    pub(super) fn program(self) -> &'static [&'static str] {
        match self {
            Self::Codex => &["codex"],
            Self::Gemini => &["gemini"],
            Self::Openhands => &["openhands"],
            Self::Generic => &[],
        }
    }

    /// Its own arguments, after those of the operator.
    pub(super) fn arguments(self, model: &str, prompt: String) -> Vec<String> {
        let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
        match self {
            // Calls of consequence are held by the host: nothing outside the workspace is written, and nobody is asked.
            Self::Codex => {
                let held = ["exec", "--json", "--sandbox", "workspace-write", "--skip-git-repo-check"];
                [words(&held), words(&["--color", "never", "--model", model, "-"])].concat()
            }
            // Its default mode refuses every tool that would have to be approved.
            Self::Gemini => {
                let held = ["--approval-mode", "default", "--output-format", "json", "--model", model];
                [words(&held), vec!["--prompt".to_owned(), prompt]].concat()
            }
            // It approves everything itself in this mode, and cannot be told not to.
            Self::Openhands => words(&["--headless", "--json", "--file", "{directive}"]),
            Self::Generic => Vec::new(),
        }
    }

    /// Reads an output.
    pub(super) fn read(self, output: &str, exit: Option<Exit>) -> Seen {
        let code = match exit {
            Some(Exit::Code(code)) => Some(code),
            Some(Exit::Signal | Exit::NotStarted | Exit::Elsewhere) | None => None,
        };
        match self {
            Self::Codex => codex::read(output),
            Self::Gemini => gemini::read(output, code),
            Self::Openhands => openhands::read(output),
            Self::Generic => generic::read(output),
        }
    }
}
