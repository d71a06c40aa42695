//! Acts that narrow when the store cannot commit (OPR-2): what stands in the deny file, one line each.
//!
//! A denial needs no signature: whoever can write the file could stop the process as well, and it only takes away.
//! Whatever cannot be read stops everything, because it is not known what it was to stop. Not here: the file.

use alloc::string::String;
use alloc::vec::Vec;

use awakener_spec::Reason;
use serde::{Deserialize, Serialize};

use super::act::{Act, Class};
use super::subject::Empty;
use crate::ids::CommandId;
use crate::time::Wall;

/// One act that narrows, taken in without a store.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Denial {
    /// The command that asked for it, if one did, and its end.
    command: Option<(CommandId, Wall)>,
    /// When it took effect.
    at: Wall,
    /// What.
    act: Act,
}

impl Denial {
    /// A denial that can be written to the deny file.
    ///
    /// # Errors
    /// [`Reason::OperatorMalformed`] if the act widens.
    pub fn new(act: Act, command: Option<(CommandId, Wall)>, at: Wall) -> Result<Self, Reason> {
        awakener_spec::rule!(Opr2);
        match act.class() {
            Class::Narrow => Ok(Self { command, at, act }),
            Class::Widen => Err(Reason::OperatorMalformed),
        }
    }

    /// Everything that a deny file says. A line that is no denial, a cut one too, stops everything.
    pub fn read_file(text: &str) -> Vec<Self> {
        awakener_spec::rule!(Opr2);
        let read = |line| serde_json::from_str::<Self>(line).ok().filter(|d| d.act.class() == Class::Narrow);
        let lines = text.lines().filter(|line| !line.is_empty());
        lines.map(|line| read(line).unwrap_or_else(Self::stop_all)).collect()
    }

    /// The line for the deny file, with its line feed.
    pub fn line(&self) -> String {
        let mut line = serde_json::to_string(self).unwrap_or_default();
        line.push('\n');
        line
    }

    /// What stands for a line, or a whole file, that cannot be read.
    pub const fn stop_all() -> Self {
        Self { command: None, at: Wall(0), act: Act::StopAll(Empty {}) }
    }

    /// What is taken away.
    pub const fn act(&self) -> &Act {
        &self.act
    }

    /// The command that asked for it, and its end.
    pub const fn command(&self) -> Option<(CommandId, Wall)> {
        self.command
    }

    /// When it took effect.
    pub const fn at(&self) -> Wall {
        self.at
    }
}
