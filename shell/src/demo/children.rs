//! The processes of the demo: this same executable, started as a user would start it.
//!
//! Each has a log file. Whatever happens (an end, ^C, a panic) they are ended by their own process ids and by nothing
//! broader, because their handles are dropped. Rules: SPW-1, SPW-3.

use std::collections::BTreeMap;
use std::fs::OpenOptions;
use std::path::{Path, PathBuf};
use std::process::ExitStatus;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use awakener_kernel::station::Exit;
use serde_json::{Value, json};

use crate::spawn::{self, Bounds, Environment, Input, Program, Running, Streams};

/// The bounds of a command that is run to its end.
const BOUNDS: Bounds = Bounds {
    time: Duration::from_secs(120),
    grace: Duration::from_secs(5),
    output: 16 << 20,
    errors: 1 << 20,
};

/// The processes by label.
#[derive(Debug)]
pub struct Children {
    exe: PathBuf,
    logs: PathBuf,
    running: Mutex<BTreeMap<String, Running>>,
}

/// What came of a command that ended.
#[derive(Clone, Debug, PartialEq)]
pub struct Ran {
    /// Its exit code; 128 + signal if it was killed.
    pub code: i32,
    /// Standard output as JSON; null if it is none.
    pub out: Value,
    /// Standard error as JSON; null if it is none.
    pub err: Value,
}

impl Ran {
    /// As an observation.
    pub fn seen(&self) -> Value {
        json!({ "exit": self.code, "out": self.out, "error": self.err })
    }
}

impl Children {
    /// For this executable, with logs in this directory.
    ///
    /// # Errors
    /// In words.
    pub fn new(logs: PathBuf) -> Result<Self, String> {
        let exe = std::env::current_exe().map_err(|error| format!("this executable: {error}"))?;
        std::fs::create_dir_all(&logs).map_err(|error| format!("{}: {error}", logs.display()))?;
        Ok(Self { exe, logs, running: Mutex::default() })
    }

    /// The executable.
    pub fn exe(&self) -> &Path {
        &self.exe
    }

    /// The log of a process.
    pub fn log(&self, label: &str) -> String {
        std::fs::read_to_string(self.path(label)).unwrap_or_default()
    }

    fn path(&self, label: &str) -> PathBuf {
        self.logs.join(format!("{}.log", label.replace('/', "-")))
    }

    /// This executable, with nothing of the user's own awakener around it.
    fn program(&self, args: &[&str]) -> Result<Program, String> {
        let folder = std::env::current_dir().map_err(|error| format!("the current directory: {error}"))?;
        let argv =
            std::iter::once(self.exe.clone().into_os_string()).chain(args.iter().map(Into::into)).collect();
        let environment = Environment::default().set("AWAKENER_LOG", "info");
        Ok(Program { argv, folder, environment, input: Input::Nothing })
    }

    /// Starts a process that keeps running.
    ///
    /// # Errors
    /// In words.
    pub fn start(&self, label: &str, args: &[&str]) -> Result<(), String> {
        let open = || OpenOptions::new().create(true).append(true).open(self.path(label));
        let (out, err) = open().and_then(|out| Ok((out, open()?))).map_err(|error| error.to_string())?;
        let child = spawn::start(&self.program(args)?, Streams::Files { out, err })
            .map_err(|error| format!("{label} cannot be started: {error}"))?;
        self.lock().insert(label.to_owned(), child);
        Ok(())
    }

    /// Runs a command with `--json` to its end.
    ///
    /// # Errors
    /// In words, when it cannot be started.
    pub async fn run(&self, args: &[&str]) -> Result<Ran, String> {
        let mut program = self.program(args)?;
        program.argv.push("--json".into());
        let running = spawn::start(&program, Streams::Kept)
            .map_err(|error| format!("{args:?} cannot be started: {error}"))?;
        let ended = running.finish(BOUNDS, std::future::pending()).await;
        let read = |bytes: &[u8]| serde_json::from_slice(bytes).unwrap_or(Value::Null);
        let code = match ended.exit {
            Some(Exit::Code(code)) => code,
            Some(Exit::Signal | Exit::NotStarted | Exit::Elsewhere) | None => 128,
        };
        Ok(Ran { code, out: read(&ended.out.bytes), err: read(&ended.err.bytes) })
    }

    /// The process id of one that was started and not waited for.
    pub fn pid(&self, label: &str) -> Option<u32> {
        self.lock().get(label).map(Running::id)
    }

    /// The exit code, if it has ended.
    pub fn ended(&self, label: &str) -> Option<i32> {
        self.lock().get_mut(label)?.ended().map(code)
    }

    /// Waits for it to end by itself.
    ///
    /// # Errors
    /// In words, when it does not in time.
    pub async fn exit(&self, label: &str, within: Duration) -> Result<i32, String> {
        let start = Instant::now();
        while start.elapsed() < within {
            if let Some(code) = self.ended(label) {
                self.lock().remove(label);
                return Ok(code);
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        Err(format!("{label} did not end within {} s", within.as_secs()))
    }

    /// `kill -9`, by its own id, and waits for it.
    ///
    /// # Errors
    /// In words.
    pub fn kill(&self, label: &str) -> Result<i32, String> {
        let child = self.lock().remove(label).ok_or_else(|| format!("{label} does not run"))?;
        child.kill().map(code).ok_or_else(|| format!("{label} cannot be waited for"))
    }

    /// Asks it to end, and waits for it.
    ///
    /// # Errors
    /// In words.
    pub async fn stop(&self, label: &str) -> Result<i32, String> {
        let pid = self.pid(label).ok_or_else(|| format!("{label} does not run"))?;
        let pid = i32::try_from(pid).ok().and_then(rustix::process::Pid::from_raw);
        if let Some(pid) = pid {
            let _ = rustix::process::kill_process(pid, rustix::process::Signal::TERM);
        }
        match self.exit(label, Duration::from_secs(5)).await {
            Ok(code) => Ok(code),
            Err(_) => self.kill(label),
        }
    }

    /// Every log.
    pub fn all_logs(&self) -> Vec<String> {
        let found = std::fs::read_dir(&self.logs).into_iter().flatten().flatten();
        found.filter_map(|entry| std::fs::read_to_string(entry.path()).ok()).collect()
    }

    /// The last complaints of each process, for people who look for the cause of a red line.
    pub fn complaints(&self) -> String {
        let mut text = String::new();
        let found = std::fs::read_dir(&self.logs).into_iter().flatten().flatten();
        for path in found.map(|entry| entry.path()) {
            let log = std::fs::read_to_string(&path).unwrap_or_default();
            let grave = |line: &&str| ["ERROR", "error:", "panicked"].iter().any(|word| line.contains(word));
            let mut last: Vec<&str> = log.lines().rev().filter(grave).take(3).collect();
            last.reverse();
            let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
            for line in last {
                text += &format!("{name}: {line}\n");
            }
        }
        text
    }

    /// Ends them all, by their own ids.
    pub fn end(&self) {
        for child in std::mem::take(&mut *self.lock()).into_values() {
            child.kill();
        }
    }

    /// Everything that was started and has not been waited for.
    pub fn labels(&self) -> Vec<String> {
        self.lock().keys().cloned().collect()
    }

    /// Lets them all run on, also when this is dropped (`--keep`). Returns their ids.
    pub fn leave(&self) -> Vec<u32> {
        std::mem::take(&mut *self.lock()).into_values().map(Running::leave).collect()
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, BTreeMap<String, Running>> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Children {
    fn drop(&mut self) {
        self.end();
    }
}

fn code(status: ExitStatus) -> i32 {
    use std::os::unix::process::ExitStatusExt as _;
    status.code().or_else(|| status.signal().map(|signal| 128 + signal)).unwrap_or(-1)
}
