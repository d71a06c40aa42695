//! What lies in a state directory about its agents: latches and pauses. One look at the directory for all of them.
//!
//! Only what is there is opened, so that a thousand agents at rest cost one listing. Rules: FUS-6, DSP-10, CON-1.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use awakener_kernel::time::Wall;

use super::facts::{FileFacts, LatchFact, Source};
use crate::station::latch::{Found, LatchFiles};
use crate::wake::Pauses;

/// The names that lie in a state directory.
#[derive(Clone, Debug)]
pub struct Files {
    state: PathBuf,
    names: Result<BTreeSet<String>, String>,
}

impl Files {
    /// Lists the directory.
    pub fn of(state: &Path) -> Self {
        let names = std::fs::read_dir(state).and_then(|entries| {
            entries.map(|entry| Ok(entry?.file_name().to_string_lossy().into_owned())).collect()
        });
        Self { state: state.to_owned(), names: names.map_err(|error| error.to_string()) }
    }

    /// What concerns one target.
    pub fn about(&self, target: &str, now: Wall) -> Source<FileFacts> {
        let names = match &self.names {
            Ok(names) => names,
            Err(why) => return Source::Unread(why.clone()),
        };
        let pauses = Pauses::in_state(&self.state);
        let holds = |name: &str| names.contains(name) && pauses.says(name, now);
        let latch = names.contains(&format!("latch-{target}")).then(|| self.latch(target)).flatten();
        Source::Known(FileFacts {
            state: self.state.display().to_string(),
            latch,
            stop_all: holds("stop-all"),
            pause: holds(&format!("pause-{target}")),
        })
    }

    fn latch(&self, target: &str) -> Option<LatchFact> {
        match LatchFiles::new(&self.state, target).found() {
            Found::Nothing => None,
            Found::Latch(note) => {
                Some(LatchFact { at: Some(note.at), cause: Some(note.cause.clone()), clearing: false })
            }
            Found::Unreadable => Some(LatchFact { at: None, cause: None, clearing: false }),
        }
    }
}
