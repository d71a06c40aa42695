//! Which pane is the agent's, and the few things that are asked of tmux: list, capture, type, Enter.
//!
//! A pane id is reused after its pane has gone, a session can be made again under its name, and a shell can be left where
//! the agent was: so a pane is proven anew each time, by its session, its id, the process that tmux started in it and the
//! one in its foreground, both with their start times. Rules: DSP-9, SPW-1, SPW-3.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use awakener_kernel::station::Exit;

use crate::spawn::{self, Bounds, Environment, Input, Program, SpawnFault, Streams};

/// What is asked of each pane, in this order; a tab stands in none of them but the last.
const FORMAT: &str = "#{pane_id}\t#{window_index}.#{pane_index}\t#{pane_pid}\t#{pane_dead}\t#{pane_in_mode}\t\
                      #{pane_input_off}\t#{cursor_flag}\t#{cursor_x}\t#{cursor_y}\t#{pane_current_command}";

/// How long one question to tmux may take.
const PATIENCE: Duration = Duration::from_secs(2);

/// Where an agent is said to be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) session: String,
    pub(super) pane: Option<String>,
    pub(super) socket: Option<String>,
    pub(super) command: String,
}

/// A pane in which the agent is.
#[derive(Clone, Debug)]
pub(super) struct Proven {
    id: String,
    /// What tmux started, and what is in the foreground.
    processes: [Process; 2],
    /// Whether it is in copy mode or another mode that eats keys.
    pub(super) mode: bool,
    /// Column and line, if it is shown.
    pub(super) cursor: Option<(usize, usize)>,
}

/// The same pane with the same processes; mode and cursor may differ.
impl PartialEq for Proven {
    fn eq(&self, other: &Self) -> bool {
        self.id == other.id && self.processes == other.processes
    }
}

/// A process, known by more than its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Process {
    pid: u32,
    start: u64,
}

/// Why there is no proven pane.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Absent {
    /// The agent is not there.
    Gone(String),
    /// Nobody can say.
    Unclear(String),
}

/// The way to tmux.
#[derive(Debug)]
pub(super) struct Door {
    place: Place,
    environment: Environment,
}

impl Door {
    pub(super) fn new(place: Place, environment: Environment) -> Self {
        // Without it the socket of the user's own tmux is not found where it was moved.
        Self { place, environment: environment.with(["TMUX_TMPDIR"]) }
    }

    /// Finds the pane and proves it.
    pub(super) async fn prove(&self) -> Result<Proven, Absent> {
        let session = format!("={}:", self.place.session);
        let listed = match self.ask(&["list-panes", "-s", "-t", &session, "-F", FORMAT]).await {
            Ok(Some(listed)) => listed,
            Ok(None) => return Err(Absent::Gone(format!("no session {:?}", self.place.session))),
            Err(Failed::NoTmux(why)) => return Err(Absent::Gone(why)),
            Err(Failed::Unclear(why)) => return Err(Absent::Unclear(why)),
        };
        let panes: Vec<Listed> = listed.lines().filter_map(Listed::of).collect();
        let mut found = panes.iter().filter(|pane| self.is_meant(pane));
        let pane = match (found.next(), found.next()) {
            (Some(pane), None) => pane,
            (None, _) => {
                let there: Vec<String> = panes.iter().map(|p| format!("{} {}", p.place, p.command)).collect();
                let wanted = &self.place.command;
                return Err(Absent::Gone(format!("no pane with {wanted:?}, but {}", there.join(", "))));
            }
            (Some(_), Some(_)) => {
                return Err(Absent::Unclear("several panes run it; `pane` says which".to_owned()));
            }
        };
        let (Some(started), Some(front)) = (Process::of(pane.pid), Process::in_front_of(pane.pid)) else {
            return Err(Absent::Unclear("the process of the pane cannot be told from another".to_owned()));
        };
        Ok(Proven { id: pane.id.clone(), processes: [started, front], mode: pane.mode, cursor: pane.cursor })
    }

    fn is_meant(&self, pane: &Listed) -> bool {
        let placed = self.place.pane.as_ref().is_none_or(|place| *place == pane.place);
        placed && !pane.closed && pane.command == self.place.command
    }

    /// What the screen shows, a line each.
    pub(super) async fn capture(&self, pane: &Proven) -> Result<Vec<String>, Absent> {
        match self.ask(&["capture-pane", "-p", "-t", &pane.id]).await {
            Ok(Some(text)) => Ok(text.lines().map(str::to_owned).collect()),
            Ok(None) => Err(Absent::Gone("the pane is gone".to_owned())),
            Err(Failed::NoTmux(why) | Failed::Unclear(why)) => Err(Absent::Unclear(why)),
        }
    }

    /// Types a text as it stands. `false`: tmux refused, and nothing was typed.
    ///
    /// # Errors
    /// In words; then nobody knows.
    pub(super) async fn literal(&self, pane: &Proven, text: &str) -> Result<bool, String> {
        let typed = self.ask(&["send-keys", "-t", &pane.id, "-l", "--", text]).await;
        match typed {
            Ok(done) => Ok(done.is_some()),
            Err(Failed::NoTmux(_)) => Ok(false),
            Err(Failed::Unclear(why)) => Err(why),
        }
    }

    /// Presses Enter: the key by its name, or as the character that it stands for, which some programs take instead.
    ///
    /// # Errors
    /// In words; then nobody knows.
    pub(super) async fn enter(&self, pane: &Proven, by_name: bool) -> Result<(), String> {
        let key: &[&str] = if by_name { &["Enter"] } else { &["-l", "--", "\r"] };
        match self.ask(&[&["send-keys", "-t", &pane.id], key].concat()).await {
            Ok(Some(_)) => Ok(()),
            Ok(None) => Err("tmux refused to press Enter".to_owned()),
            Err(Failed::NoTmux(why) | Failed::Unclear(why)) => Err(why),
        }
    }

    /// Runs tmux; `None` if it says no.
    async fn ask(&self, arguments: &[&str]) -> Result<Option<String>, Failed> {
        let mut argv: Vec<OsString> = vec!["tmux".into(), "-u".into()];
        if let Some(socket) = &self.place.socket {
            argv.extend(["-S".into(), socket.into()]);
        }
        argv.extend(arguments.iter().map(OsString::from));
        let (folder, environment) = (PathBuf::from("/"), self.environment.clone());
        let program = Program { argv, folder, environment, input: Input::Nothing };
        let running = spawn::start(&program, Streams::Kept).map_err(|fault| match fault {
            SpawnFault::NotFound(_) => Failed::NoTmux("tmux is not installed".to_owned()),
            other => Failed::NoTmux(other.to_string()),
        })?;
        let bounds = Bounds { time: PATIENCE, grace: Duration::ZERO, output: 1 << 20, errors: 4 << 10 };
        let ended = running.finish(bounds, std::future::pending()).await;
        match (ended.exit, ended.stopped) {
            (Some(Exit::Code(0)), None) if !ended.out.cut => {
                Ok(Some(String::from_utf8_lossy(&ended.out.bytes).into_owned()))
            }
            (Some(Exit::Code(_)), None) => Ok(None),
            (exit, stopped) => Err(Failed::Unclear(format!("tmux ended with {exit:?}, {stopped:?}"))),
        }
    }
}

enum Failed {
    /// Nothing was run.
    NoTmux(String),
    /// It ran, and nobody knows what it did.
    Unclear(String),
}

/// A line of the list.
struct Listed {
    id: String,
    place: String,
    pid: u32,
    closed: bool,
    mode: bool,
    cursor: Option<(usize, usize)>,
    command: String,
}

impl Listed {
    fn of(line: &str) -> Option<Self> {
        let mut fields = line.splitn(10, '\t');
        let mut next = || fields.next();
        let (id, place, pid) = (next()?.to_owned(), next()?.to_owned(), next()?.parse().ok()?);
        let (dead, mode, off, shown) = (next()?, next()?, next()?, next()?);
        let (x, y) = (next()?.parse().ok()?, next()?.parse().ok()?);
        Some(Self {
            id,
            place,
            pid,
            closed: dead != "0" || off != "0",
            mode: mode != "0",
            cursor: (shown == "1").then_some((x, y)),
            command: next()?.to_owned(),
        })
    }
}

impl Process {
    fn of(pid: u32) -> Option<Self> {
        fields(pid).map(|(start, _)| Self { pid, start })
    }

    /// The leader of the foreground group of the terminal on which a process runs.
    fn in_front_of(pid: u32) -> Option<Self> {
        Self::of(fields(pid)?.1)
    }
}

/// Start time, and the foreground group of the terminal, by proc_pid_stat(5); `None` where the system does not say.
fn fields(pid: u32) -> Option<(u64, u32)> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name may hold anything, also blanks and brackets.
    let (_, rest) = stat.rsplit_once(')')?;
    let fields: Vec<&str> = rest.split_ascii_whitespace().collect();
    Some((fields.get(19)?.parse().ok()?, fields.get(5)?.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dsp_9_a_line_of_the_list_is_read_whole_or_not_at_all() {
        let line = "%3\t0.1\t77\t0\t1\t0\t1\t7\t2\tmy agent";
        let listed = Listed::of(line).unwrap();
        assert_eq!((listed.id.as_str(), listed.place.as_str(), listed.pid), ("%3", "0.1", 77));
        assert!(
            listed.mode && !listed.closed && listed.cursor == Some((7, 2)) && listed.command == "my agent"
        );
        for cut in ["", "%3", "%3\t0.1\tx\t0\t1\t0\t1\t7\t2\ta", "%3\t0.1\t77\t0\t1\t0\t1\t7\t2"] {
            assert!(Listed::of(cut).is_none(), "{cut}");
        }
        assert!(Listed::of("%3\t0.1\t77\t1\t0\t0\t0\t7\t2\ta").unwrap().closed);
    }
}
