//! Pauses as files in the state directory, so that they work while the daemon is dead (DSP-10): `stop-all` for every
//! target, `pause-<target>` for one.
//!
//! A file that holds one instant (`YYYY-MM-DDTHH:MM:SSZ`) ends by itself; any other content pauses without an end, and
//! so does a file that cannot be read.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use awakener_kernel::time::Wall;

/// The pauses of one state directory.
#[derive(Clone, Debug)]
pub struct Pauses {
    state: PathBuf,
}

impl Pauses {
    /// Those of this directory.
    pub fn in_state(state: &Path) -> Self {
        Self { state: state.to_owned() }
    }

    /// Whether nothing may start for a target now.
    pub fn hold(&self, target: &str, now: Wall) -> bool {
        awakener_spec::rule!(Dsp10);
        self.says("stop-all", now) || self.says(&format!("pause-{target}"), now)
    }

    /// Whether one such file holds now.
    pub(crate) fn says(&self, name: &str, now: Wall) -> bool {
        match std::fs::read_to_string(self.state.join(name)) {
            Ok(text) => Wall::parse_utc(text.trim()).map_or(true, |until| now < until),
            Err(error) => error.kind() != ErrorKind::NotFound,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dsp_10_a_file_holds_its_target_until_its_end_and_stop_all_holds_all() {
        let folder = tempfile::tempdir().unwrap();
        let pauses = Pauses::in_state(folder.path());
        let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
        assert!(!pauses.hold("a", Wall(0)));
        write("pause-a", "");
        assert!(pauses.hold("a", Wall(0)) && !pauses.hold("b", Wall(0)));
        write("pause-a", &Wall(5_000).utc());
        assert!(pauses.hold("a", Wall(4_999)) && !pauses.hold("a", Wall(5_000)));
        write("stop-all", "until further notice");
        assert!(pauses.hold("a", Wall(5_000)) && pauses.hold("b", Wall(5_000)));
    }
}
