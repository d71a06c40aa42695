//! The one function that starts programs: every lane goes through [`start`] (SPW-1).
//!
//! A program is an argument vector, never a line for a shell. It gets an environment that is made for it
//! ([`environment`]), a given input or none, a directory, no descriptor of ours but its three streams, and a process
//! group of its own. [`Running::finish`] bounds its time and its output and ends all that is left of it; dropping a
//! [`Running`] ends it as well. Reading order: [`environment`] → [`secrets`] → here → [`identity`] (who is alive) →
//! `family` (what belongs to a program) → [`bounded`] (how it ends).
//!
//! Not here: what is started, and what its output means. Rules: SPW-1, SPW-2, SPW-3, COL-1.
//!
//! What is caught of a program that leaves its group: whatever still carries the mark that its environment was given,
//! or still has a living ancestor in the family; and, in a process that called [`adopt`], also what cleared its
//! environment and lost its parents, as long as no other program runs. What is not caught: work that a program had
//! somebody else start (a service manager, `at`, a container engine), and, after this process was killed, what has
//! neither the mark nor the group.

pub mod bounded;
pub mod environment;
mod family;
pub mod identity;
pub mod secrets;

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Mutex, PoisonError};

use awakener_kernel::station::Exit;
use awakener_spec::rule;

pub use bounded::{Bounds, Ended, Kept, Stopped};
pub use environment::Environment;
pub use family::adopt;
pub use identity::{Identity, Life, Mark, end_leftover};
pub use secrets::Secrets;

/// What is started.
#[derive(Clone, Debug)]
pub struct Program {
    /// The program and its arguments. The first is an absolute path, or a name that is looked for in the `PATH` that
    /// the program itself gets.
    pub argv: Vec<OsString>,
    /// Where it runs; absolute, and there.
    pub folder: PathBuf,
    /// What it knows of ours.
    pub environment: Environment,
    /// What it can read.
    pub input: Input,
}

/// What a program reads from its standard input.
#[derive(Clone, Default)]
pub enum Input {
    /// `/dev/null`.
    #[default]
    Nothing,
    /// These bytes, then the end.
    Bytes(Vec<u8>),
}

impl std::fmt::Debug for Input {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // Never the bytes: they may be somebody's mail.
        match self {
            Self::Nothing => f.write_str("Nothing"),
            Self::Bytes(bytes) => write!(f, "Bytes({})", bytes.len()),
        }
    }
}

/// Where the output of a program goes.
#[derive(Debug)]
pub enum Streams {
    /// To [`Running::finish`], which keeps a part of it.
    Kept,
    /// To files.
    Files {
        /// Standard output.
        out: File,
        /// Standard error.
        err: File,
    },
}

/// Why nothing was started. Certain: no process exists.
#[derive(Debug, thiserror::Error)]
pub enum SpawnFault {
    /// There is no such program.
    #[error("{0}: no such program")]
    NotFound(String),
    /// It is there and cannot be executed.
    #[error("{program}: {detail}")]
    CannotStart {
        /// The program.
        program: String,
        /// What the system says.
        detail: String,
    },
    /// The directory is not absolute, or not there.
    #[error("{}: no directory to run in", .0.display())]
    NoFolder(PathBuf),
    /// An argument contains one of our own secrets; arguments can be read by everybody on the machine.
    #[error("argument {0} contains a secret of ours")]
    Secret(usize),
    /// There is nothing to start.
    #[error("an empty argument vector")]
    Empty,
}

/// A started program. Dropped, it and its family are killed.
#[derive(Debug)]
pub struct Running {
    child: Option<Child>,
    identity: Identity,
    input: Input,
}

/// The programs of this process that were not waited for yet.
static STARTED: Mutex<BTreeSet<u32>> = Mutex::new(BTreeSet::new());

fn started() -> std::sync::MutexGuard<'static, BTreeSet<u32>> {
    STARTED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Starts a program: the only place in this crate that does.
///
/// # Errors
/// [`SpawnFault`]; then there is no process.
pub fn start(program: &Program, streams: Streams) -> Result<Running, SpawnFault> {
    start_marked(program, streams, Mark::new())
}

/// The same under a mark that was written down before, so that nothing that was started can be unknown to a later boot.
///
/// # Errors
/// [`SpawnFault`]; then there is no process.
pub fn start_marked(program: &Program, streams: Streams, mark: Mark) -> Result<Running, SpawnFault> {
    rule!(Spw1);
    let (first, arguments) = program.argv.split_first().ok_or(SpawnFault::Empty)?;
    if let Some(at) = program.argv.iter().position(|word| program.environment.betrays(word.as_bytes())) {
        return Err(SpawnFault::Secret(at));
    }
    if !program.folder.is_absolute() || !program.folder.is_dir() {
        return Err(SpawnFault::NoFolder(program.folder.clone()));
    }
    let environment = program.environment.clean(std::env::vars_os());
    let path = environment.get(OsStr::new("PATH")).cloned().unwrap_or_default();
    let executable = find(first, &path).ok_or_else(|| SpawnFault::NotFound(shown(first)))?;
    let mut command = Command::new(executable);
    command.arg0(first).args(arguments).env_clear().envs(&environment).env(Mark::VARIABLE, mark.as_str());
    command.current_dir(&program.folder).process_group(0);
    command.stdin(match program.input {
        Input::Nothing => Stdio::null(),
        Input::Bytes(_) => Stdio::piped(),
    });
    match streams {
        Streams::Kept => command.stdout(Stdio::piped()).stderr(Stdio::piped()),
        Streams::Files { out, err } => command.stdout(out).stderr(err),
    };
    // Rust opens everything close-on-exec; what our own parent left open is not. The lock of a store, above all, is
    // ours alone.
    close_fds::set_fds_cloexec_threadsafe(3, &[]);
    let mut registered = started();
    let child = command.spawn().map_err(|error| match error.kind() {
        std::io::ErrorKind::NotFound => SpawnFault::NotFound(shown(first)),
        _ => SpawnFault::CannotStart { program: shown(first), detail: error.to_string() },
    })?;
    registered.insert(child.id());
    drop(registered);
    rule!(Spw3);
    let identity = Identity::of_child(child.id(), mark);
    Ok(Running { child: Some(child), identity, input: program.input.clone() })
}

/// The file that a name stands for.
fn find(name: &OsStr, path: &OsStr) -> Option<PathBuf> {
    let executable = |path: &Path| {
        path.metadata().is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
    };
    if name.as_bytes().contains(&b'/') {
        let file = Path::new(name);
        // A relative path would depend on who asks.
        return (file.is_absolute() && executable(file)).then(|| file.to_owned());
    }
    std::env::split_paths(path)
        .filter(|folder| folder.is_absolute())
        .map(|folder| folder.join(name))
        .find(|file| executable(file))
}

fn shown(name: &OsStr) -> String {
    name.to_string_lossy().into_owned()
}

impl Running {
    /// Who it is: written down, it can be found again after a restart.
    pub const fn identity(&self) -> &Identity {
        &self.identity
    }

    /// Its process id.
    pub const fn id(&self) -> u32 {
        self.identity.pid
    }

    /// How it ended, if it has.
    pub fn ended(&mut self) -> Option<ExitStatus> {
        let status = self.child.as_mut()?.try_wait().ok()??;
        self.gone();
        Some(status)
    }

    /// Kills it and its family at once, and waits for its end.
    pub fn kill(mut self) -> Option<ExitStatus> {
        let mut child = self.child.take()?;
        if !matches!(child.try_wait(), Ok(Some(_))) {
            family::signal(&self.identity, rustix::process::Signal::KILL);
        }
        let status = child.wait().ok();
        self.gone();
        status
    }

    /// Lets it run on by itself.
    pub fn leave(mut self) -> u32 {
        self.child = None;
        self.gone();
        self.identity.pid
    }

    /// It was waited for: its number may name another process from now on.
    fn gone(&self) {
        started().remove(&self.identity.pid);
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let Some(mut child) = self.child.take() else { return };
        if !matches!(child.try_wait(), Ok(Some(_))) {
            family::signal(&self.identity, rustix::process::Signal::KILL);
            // A killed process may still take its time; nobody here has that time.
            let waited = std::thread::Builder::new().name("reap".to_owned()).spawn(move || child.wait());
            drop(waited);
        }
        self.gone();
    }
}

fn exit(status: ExitStatus) -> Exit {
    match (status.code(), status.signal()) {
        (Some(code), _) => Exit::Code(code),
        (None, _) => Exit::Signal,
    }
}
