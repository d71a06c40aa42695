//! The generated half of the TLA+ modules is what its table says. TLC is not run here.

use std::fs;
use std::process::{Command, Output};

use awakener_tools::{Tool, python, workspace};

fn check(python: &std::path::Path, tla: &std::path::Path) -> Output {
    Command::new(python).arg(tla.join("tools/wrap.py")).arg("--check").output().unwrap()
}

#[test]
fn what_is_generated_in_tla_is_what_the_table_says() {
    let Tool::Ready(python) = python::environment().unwrap_or_else(|error| panic!("{error}")) else { return };
    let ended = check(&python, &workspace().join("tla"));
    assert!(ended.status.success(), "{}", String::from_utf8_lossy(&ended.stdout));
    // The control: one line of one module was edited by hand.
    let copy = tempfile::tempdir().unwrap();
    let copied = Command::new("cp").arg("-r").arg(workspace().join("tla")).arg(copy.path()).status().unwrap();
    assert!(copied.success());
    let edited = copy.path().join("tla/MCWaker_gen.tla");
    let text = fs::read_to_string(&edited).unwrap().replacen("/\\ TRUE", "/\\ FALSE", 1);
    fs::write(&edited, text + "\n").unwrap();
    assert!(!check(&python, &copy.path().join("tla")).status.success());
}
