//! Playing the lines: what runs beside what, what is printed when, and how it ends.
//!
//! Lines on different targets are played at the same time; each is printed as it finishes, the ladder first. Children
//! are ended whatever happens. Not here: what a line means.

use std::io::Write as _;
use std::os::unix::fs::{DirBuilderExt as _, PermissionsExt as _};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tokio::task::JoinSet;

use super::acts::{self, Stage};
use super::children::Children;
use super::network::Network;
use super::scenarios::{Line, Observations, Scenarios};
use super::stack::{Kit, chance};
use super::tape::{Outside, Tape};
use super::verdict::{LineVerdict, all_green, exit, judge, verdict};
use crate::exit::Exit;

/// How long one line may take.
const LONGEST: Duration = Duration::from_secs(60);
/// The line that is shown first, as it happens.
const FIRST: &str = "one_alert";

/// What is wanted of a demo.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Leave the stack up.
    pub keep: bool,
    /// Print nothing on the way.
    pub quiet: bool,
    /// The NATS server that hints go through; none: they are pushed by HTTP.
    pub broker: Option<String>,
}

/// How a demo ended.
#[derive(Clone, Debug)]
pub struct Shown {
    /// One object for programs.
    pub value: Value,
    /// What is left to say to people.
    pub text: String,
    /// 0 only if every line was green.
    pub exit: Exit,
}

/// Plays the lines of the scenarios.
///
/// # Errors
/// In words, when the stage cannot be set at all, or when it was interrupted. A line that cannot be played is a red
/// line, not an error.
pub async fn run(scenarios: Scenarios, options: Options) -> Result<Shown, String> {
    let begun = Instant::now();
    let root = directory()?;
    let tape = Arc::new(Tape::default());
    let outside = Outside::new(tape)?;
    let network = Network::start(outside.clone(), options.broker.as_deref()).await?;
    let children = Arc::new(Children::new(root.join("logs"))?);
    let kit = Kit { root: root.clone(), children: children.clone(), outside, network };
    let stage = Arc::new(Stage::new(kit));
    let out = Out::new(&scenarios, options.quiet);
    out.title(&root);
    // The acts wait most of their time, so one thread is enough for all of them.
    let acts = tokio::task::LocalSet::new();
    let played = acts
        .run_until(async {
            tokio::select! {
                observations = play(&scenarios, &stage, &out) => Ok(observations),
                () = interrupted() => Err("interrupted; every process of the demo was ended".to_owned()),
            }
        })
        .await;
    drop(acts);
    let observations = match played {
        Ok(observations) => observations,
        Err(why) => {
            children.end();
            let _ = std::fs::remove_dir_all(&root);
            return Err(why);
        }
    };
    let verdicts = verdict(&scenarios, &observations);
    let green = all_green(&verdicts);
    let seconds = begun.elapsed().as_secs_f64();
    let mut text = totals(&verdicts, seconds);
    let mut logs = Value::Null;
    if options.keep {
        let pids = children.leave();
        text += &kept(&stage, &pids);
        logs = root.join("logs").display().to_string().into();
    } else {
        children.end();
        if green {
            let _ = std::fs::remove_dir_all(&root);
        } else {
            text += &format!("{}logs: {}\n", children.complaints(), root.join("logs").display());
            logs = root.join("logs").display().to_string().into();
        }
    }
    let value = json!({
        "v": 1,
        "green": green,
        "lines": verdicts,
        "seconds": format!("{seconds:.1}"),
        "logs": logs,
        "observations": observations,
    });
    Ok(Shown { value, text, exit: exit(&verdicts) })
}

/// The ladder first and alone, so that its times are those of one alert; then everything else at once, and at the end
/// what looks back at all of it.
async fn play(scenarios: &Scenarios, stage: &Arc<Stage>, out: &Arc<Out>) -> Observations {
    let mut seen = Observations { v: 1, ..Observations::default() };
    let (first, rest): (Vec<&Line>, Vec<&Line>) = scenarios.line.iter().partition(|line| line.name == FIRST);
    let (closing, rest): (Vec<&Line>, Vec<&Line>) =
        rest.into_iter().partition(|line| acts::is_closing(&line.name));
    for act in [first, rest, closing] {
        let mut playing = JoinSet::new();
        for line in act {
            let (line, stage, out) = (line.clone(), stage.clone(), out.clone());
            playing.spawn_local(async move {
                let tell = |text: &str| out.rung(text);
                let played = tokio::time::timeout(LONGEST, acts::play(&line.name, &stage, &tell)).await;
                let observation = match played {
                    Ok(Ok(observation)) => observation,
                    Ok(Err(why)) => json!({ "fault": why }),
                    Err(_) => json!({ "fault": format!("not over after {} s", LONGEST.as_secs()) }),
                };
                out.line(&judge(&line, Some(&observation)));
                (line.name, observation)
            });
        }
        while let Some(played) = playing.join_next().await {
            // A line that panicked leaves no observation and is red for that.
            if let Ok((name, observation)) = played {
                seen.lines.insert(name, observation);
            }
        }
    }
    seen
}

/// A new directory that nobody else can look into.
fn directory() -> Result<PathBuf, String> {
    let random = chance::<6>()?.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    let root = std::env::temp_dir().join(format!("awakener-demo-{random}"));
    let said = |error: std::io::Error| format!("{}: {error}", root.display());
    std::fs::DirBuilder::new().mode(0o700).create(&root).map_err(said)?;
    std::fs::set_permissions(&root, std::fs::Permissions::from_mode(0o700)).map_err(said)?;
    Ok(root)
}

async fn interrupted() {
    use tokio::signal::unix::{SignalKind, signal};
    let (Ok(mut term), Ok(mut int)) = (signal(SignalKind::terminate()), signal(SignalKind::interrupt()))
    else {
        return std::future::pending().await;
    };
    tokio::select! {
        _ = term.recv() => {}
        _ = int.recv() => {}
    }
}

fn totals(verdicts: &[LineVerdict], seconds: f64) -> String {
    let green = verdicts.iter().filter(|line| line.green).count();
    let red: Vec<&str> = verdicts.iter().filter(|line| !line.green).map(|line| line.name.as_str()).collect();
    let mut text = format!("\n{green} of {} lines green, {seconds:.1} s\n", verdicts.len());
    if !red.is_empty() {
        text += &format!("red: {}\n", red.join(", "));
    }
    text
}

fn kept(stage: &Stage, pids: &[u32]) -> String {
    let exe = stage.kit().children.exe().display().to_string();
    let mut text = "\nThe stacks are left up. To talk to them:\n".to_owned();
    for stack in stage.stacks() {
        let state = stack.dir.display();
        text += &format!("  {exe} --state {state} status\n  {exe} --state {state} receipts\n");
        text += &format!("  {exe} --state {state} audit verify\n");
        if let Some(agent) = stack.plan.agents.first() {
            text += &format!(
                "  {exe} --state {state} --as ops send {} --schema message/1 --intent hello --text hello\n",
                agent.target
            );
        }
    }
    let pids: Vec<String> = pids.iter().map(u32::to_string).collect();
    text + &format!("To end them:\n  kill {}\n  rm -r {}\n", pids.join(" "), stage.kit().root.display())
}

/// What people see on the way.
struct Out {
    quiet: bool,
    width: usize,
    /// Lines that finish at the same time must not mix.
    turn: Mutex<()>,
}

impl Out {
    fn new(scenarios: &Scenarios, quiet: bool) -> Arc<Self> {
        let width = scenarios.line.iter().map(|line| line.name.len()).max().unwrap_or_default();
        Arc::new(Self { quiet, width, turn: Mutex::default() })
    }

    fn print(&self, text: &str) {
        if self.quiet {
            return;
        }
        let _turn = self.turn.lock().unwrap_or_else(PoisonError::into_inner);
        let mut out = std::io::stdout().lock();
        // Whoever reads may have gone; the demo is still judged.
        let _ = writeln!(out, "{text}");
        let _ = out.flush();
    }

    fn title(&self, root: &std::path::Path) {
        self.print(&format!("awakener demo, in {}\n", root.display()));
    }

    fn rung(&self, text: &str) {
        self.print(&format!("  {text}"));
    }

    fn line(&self, line: &LineVerdict) {
        let mark = if line.green { '✓' } else { '✗' };
        let width = self.width;
        let seen = if line.green { line.seen.as_str() } else { "not as expected" };
        let mut text = format!("{mark} {:width$}  {seen}  [{}]", line.name, line.rules.join(" "));
        for why in &line.why {
            text += &format!("\n  {:width$}  {why}", "");
        }
        self.print(&text);
    }
}
