//! The one function that starts programs, on real programs that behave badly, and the lint that keeps it the only one.
//!
//! Rules: SPW-1, SPW-2, SPW-3.

mod hostile;
mod lint;
mod parent;

use std::path::Path;
use std::time::{Duration, Instant};

use awakener::spawn::{self, Bounds, Ended, Environment, Input, Life, Program, Running, Streams};
use tokio::runtime::Runtime;

/// A shell as the program under test; awakener itself never uses one.
pub fn shell(folder: &Path, script: &str) -> Program {
    Program {
        argv: ["sh", "-c", script].map(Into::into).to_vec(),
        folder: folder.to_owned(),
        environment: Environment::default(),
        input: Input::Nothing,
    }
}

pub fn runtime() -> Runtime {
    tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap()
}

/// Short times; what they bound must happen long before a test would give up.
pub fn bounds() -> Bounds {
    Bounds { time: Duration::from_secs(20), grace: Duration::from_millis(300), ..Bounds::default() }
}

pub fn start(program: &Program) -> Running {
    spawn::start(program, Streams::Kept).unwrap()
}

pub fn finish(program: &Program, bounds: Bounds) -> Ended {
    runtime().block_on(start(program).finish(bounds, std::future::pending()))
}

pub fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

pub fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let end = Instant::now() + Duration::from_secs(15);
    while !holds() {
        assert!(Instant::now() < end, "waited in vain: {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// The number that a script has written.
pub fn number(file: &Path) -> u32 {
    let mut number = None;
    until("the script has started", || {
        number = std::fs::read_to_string(file).ok().and_then(|text| text.trim().parse().ok());
        number.is_some()
    });
    number.unwrap()
}

/// Whether a process lives; one that nobody has waited for yet does not.
pub fn lives(pid: u32) -> bool {
    std::fs::read_to_string(format!("/proc/{pid}/stat"))
        .is_ok_and(|stat| !stat.rsplit_once(')').unwrap().1.trim_start().starts_with('Z'))
}

/// For the end of a test that has let something run.
pub fn end(pid: u32) {
    let pid = rustix::process::Pid::from_raw(i32::try_from(pid).unwrap()).unwrap();
    let _ = rustix::process::kill_process(pid, rustix::process::Signal::KILL);
}

#[test]
fn spw_3_what_cannot_start_is_said_and_nothing_runs() {
    let dir = tempfile::tempdir().unwrap();
    let fault = |argv: &[&str], folder: &Path| {
        let argv = argv.iter().map(Into::into).collect();
        let program = Program { argv, ..shell(folder, "") };
        format!("{:?}", spawn::start(&program, Streams::Kept).map(|running| running.id()))
    };
    let plain = dir.path().join("plain");
    std::fs::write(&plain, "no program").unwrap();
    assert!(fault(&[], dir.path()).contains("Empty"));
    assert!(fault(&["no-such-program-anywhere"], dir.path()).contains("NotFound"));
    assert!(fault(&["./sh"], dir.path()).contains("NotFound"), "relative to whom?");
    assert!(fault(&[plain.to_str().unwrap()], dir.path()).contains("NotFound"), "it cannot be executed");
    assert!(fault(&["true"], Path::new("relative")).contains("NoFolder"));
    assert!(fault(&["true"], &dir.path().join("away")).contains("NoFolder"));
    assert!(fault(&["true"], dir.path()).starts_with("Ok"));
    let mut once = start(&shell(dir.path(), "exit 7"));
    until("it has ended", || once.ended().is_some_and(|status| status.code() == Some(7)));
    assert_eq!(once.identity().life(), Life::Gone);
}
