//! The processes of the demo: this same executable, started as a user would start it.
//!
//! Each has a log file. Whatever happens (an end, ^C, a panic) they are ended by their own process ids and by nothing
//! broader, because their handles are dropped. Rules: SPW-3 (stdin, own directory), issue "the main job".

use std::collections::BTreeMap;
use std::fs::OpenOptions;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

/// The processes by label.
#[derive(Debug)]
pub struct Children {
    exe: PathBuf,
    logs: PathBuf,
    running: Mutex<BTreeMap<String, Child>>,
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

    fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(&self.exe);
        command.args(args).env_clear().stdin(Stdio::null());
        // Nothing of the user's own awakener leaks in.
        for name in ["PATH", "HOME", "LANG", "LLVM_PROFILE_FILE"] {
            if let Some(value) = std::env::var_os(name) {
                command.env(name, value);
            }
        }
        command.env("AWAKENER_LOG", "info");
        command
    }

    /// Starts a process that keeps running.
    ///
    /// # Errors
    /// In words.
    pub fn start(&self, label: &str, args: &[&str]) -> Result<(), String> {
        let open = || OpenOptions::new().create(true).append(true).open(self.path(label));
        let (out, err) = open().and_then(|out| Ok((out, open()?))).map_err(|error| error.to_string())?;
        let child = self
            .command(args)
            .stdout(out)
            .stderr(err)
            .spawn()
            .map_err(|error| format!("{label} cannot be started: {error}"))?;
        self.lock().insert(label.to_owned(), child);
        Ok(())
    }

    /// Runs a command with `--json` to its end.
    ///
    /// # Errors
    /// In words, when it cannot be started.
    pub async fn run(&self, args: &[&str]) -> Result<Ran, String> {
        let mut command = self.command(args);
        command.arg("--json");
        let output = tokio::task::spawn_blocking(move || command.output())
            .await
            .map_err(|error| error.to_string())?
            .map_err(|error| format!("{args:?} cannot be started: {error}"))?;
        let read = |bytes: &[u8]| serde_json::from_slice(bytes).unwrap_or(Value::Null);
        Ok(Ran { code: code(output.status), out: read(&output.stdout), err: read(&output.stderr) })
    }

    /// The process id of one that was started and not waited for.
    pub fn pid(&self, label: &str) -> Option<u32> {
        self.lock().get(label).map(Child::id)
    }

    /// The exit code, if it has ended.
    pub fn ended(&self, label: &str) -> Option<i32> {
        let status = self.lock().get_mut(label)?.try_wait().ok()??;
        Some(code(status))
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
        let Some(mut child) = self.lock().remove(label) else { return Err(format!("{label} does not run")) };
        let _ = child.kill();
        child.wait().map(code).map_err(|error| error.to_string())
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
        let mut running = std::mem::take(&mut *self.lock());
        for child in running.values_mut() {
            let _ = child.kill();
        }
        for child in running.values_mut() {
            let _ = child.wait();
        }
    }

    /// Everything that was started and has not been waited for.
    pub fn labels(&self) -> Vec<String> {
        self.lock().keys().cloned().collect()
    }

    /// Lets them all run on, also when this is dropped (`--keep`). Returns their ids.
    pub fn leave(&self) -> Vec<u32> {
        std::mem::take(&mut *self.lock()).into_values().map(|child| child.id()).collect()
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, BTreeMap<String, Child>> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Children {
    fn drop(&mut self) {
        self.end();
    }
}

fn code(status: std::process::ExitStatus) -> i32 {
    use std::os::unix::process::ExitStatusExt as _;
    status.code().or_else(|| status.signal().map(|signal| 128 + signal)).unwrap_or(-1)
}
