//! One search by a program that follows one control, and what it said.
//!
//! Not here: what follows from it ([`mod@super::judge`]).

use std::io;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::registry::Search;
use super::weave::VARIABLE;

/// A world with bounds, and what searches it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// What searches.
    pub search: Search,
    /// The world.
    pub world: String,
    /// The scope.
    pub scope: String,
}

impl std::fmt::Display for Place {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mark = match self.search {
            Search::Check => "",
            Search::Liveness => "!",
        };
        write!(f, "{}/{}{mark}", self.world, self.scope)
    }
}

impl Place {
    /// Reads `world/scope`, or `world/scope!` for liveness.
    pub fn of(text: &str) -> Option<Self> {
        let (search, text) =
            text.strip_suffix('!').map_or((Search::Check, text), |text| (Search::Liveness, text));
        let (world, scope) = text.split_once('/')?;
        Some(Self { search, world: world.to_owned(), scope: scope.to_owned() })
    }
}

/// A law or property that does not hold.
#[derive(Clone, Debug)]
pub struct Fallen {
    /// Its name.
    pub law: String,
    /// The shortest way there: the actions as JSON.
    pub way: Vec<String>,
}

/// What a run said.
#[derive(Clone, Debug)]
pub enum Said {
    /// Everything was seen; these do not hold.
    Complete(Vec<Fallen>),
    /// Not everything was seen.
    Incomplete(String),
    /// It ended as no run should.
    Broke(String),
}

/// What a search found: the part of `awakener-check check --json` that controls are judged by.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Found {
    /// Whether everything was seen.
    pub complete: bool,
    /// Why not.
    #[serde(default)]
    pub cut: Option<String>,
    /// Every law.
    pub laws: Vec<Law>,
}

/// What it found of a law.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Law {
    name: String,
    verdict: String,
    #[serde(default)]
    way: Option<Vec<Value>>,
}

impl Law {
    /// A law that falls has a way there.
    pub(super) fn new(name: &str, reached: bool, way: Option<Vec<Value>>) -> Self {
        let verdict = match (&way, reached) {
            (Some(_), _) => BROKEN,
            (None, true) => "holds",
            (None, false) => "idle",
        };
        Self { name: name.to_owned(), verdict: verdict.to_owned(), way }
    }

    /// Whether it falls.
    pub fn is_broken(&self) -> bool {
        self.verdict == BROKEN
    }
}

const BROKEN: &str = "broken";

/// Longest time that one search may take; those of the registry take seconds.
const PATIENCE: Duration = Duration::from_secs(180);

/// Searches `place` with `program`, which follows control `number` (0 = none).
///
/// # Errors
/// The program cannot be started.
pub fn run(program: &Path, number: u32, place: &Place) -> io::Result<Said> {
    let search = match place.search {
        Search::Check => "check",
        Search::Liveness => "liveness",
    };
    let mut child = Command::new(program)
        .args([search, &place.world, &place.scope])
        .env(VARIABLE, number.to_string())
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()?;
    let (mut out, mut err) = (child.stdout.take(), child.stderr.take());
    let out = thread::spawn(move || text(out.as_mut()));
    let err = thread::spawn(move || text(err.as_mut()));
    let began = Instant::now();
    let status = loop {
        if let Some(status) = child.try_wait()? {
            break status;
        }
        if began.elapsed() > PATIENCE {
            child.kill()?;
            child.wait()?;
            return Ok(Said::Incomplete(format!("not done after {} s", PATIENCE.as_secs())));
        }
        thread::sleep(Duration::from_millis(10));
    };
    let (out, err) = (out.join().unwrap_or_default(), err.join().unwrap_or_default());
    Ok(said(status.code(), &out, &err))
}

fn text(pipe: Option<&mut impl io::Read>) -> String {
    let mut bytes = Vec::new();
    if let Some(pipe) = pipe {
        drop(pipe.read_to_end(&mut bytes));
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// What exit code and output amount to.
fn said(code: Option<i32>, out: &str, err: &str) -> Said {
    if let Some((_, panic)) = err.split_once("panicked at ") {
        let told: Vec<_> = panic.lines().take(2).collect();
        return Said::Broke(format!("it PANICKED at {}", told.join(" ")));
    }
    let last = |text: &str| {
        let lines: Vec<_> = text.lines().collect();
        lines[lines.len().saturating_sub(8)..].join(" ")
    };
    if !matches!(code, Some(0 | 1 | 3)) {
        let code = code.map_or_else(|| "a signal".to_owned(), |code| format!("exit code {code}"));
        return Said::Broke(format!("{code}: {}", last(err)));
    }
    let lines: Result<Vec<Found>, _> =
        out.lines().filter(|line| !line.is_empty()).map(serde_json::from_str).collect();
    let lines = match lines {
        Ok(lines) if !lines.is_empty() => lines,
        Ok(_) => return Said::Broke("it said nothing".to_owned()),
        Err(error) => return Said::Broke(format!("what it said is not understood: {error}: {}", last(out))),
    };
    if let Some(line) = lines.iter().find(|line| !line.complete) {
        return Said::Incomplete(line.cut.clone().unwrap_or_else(|| "cut short".to_owned()));
    }
    let fallen: Vec<_> = lines
        .into_iter()
        .flat_map(|line| line.laws)
        .filter(Law::is_broken)
        .map(|law| {
            let way = law.way.unwrap_or_default();
            Fallen { law: law.name, way: way.iter().map(ToString::to_string).collect() }
        })
        .collect();
    match (code, fallen.is_empty()) {
        (Some(1), true) => Said::Broke("it failed and named no law".to_owned()),
        (Some(0), false) => Said::Broke("it named a broken law and did not fail".to_owned()),
        _ => Said::Complete(fallen),
    }
}
