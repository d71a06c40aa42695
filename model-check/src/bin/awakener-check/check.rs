//! `check`: searches what is meant, one scope after the other, and judges all of it at the end.
//!
//! Rules: FML-1, FML-3, FML-5, CON-1.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use awakener_model_check::check::judge::judge;
use awakener_model_check::check::{Pins, ScopeReport, Settings, Watch, text};
use awakener_model_check::manifest::Manifest;
use awakener_model_check::trace::{Files, text as steps};
use awakener_model_check::world::Group;
use awakener_model_check::worlds::Listed;
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;

use crate::args::Check;
use crate::failure::Failure;
use crate::progress::Progress;
use crate::{out, select};

/// Runs the command.
pub fn run(worlds: &[Box<dyn Listed>], args: &Check, json: bool) -> Result<u8, Failure> {
    let chosen = select::scopes(worlds, args.world.as_deref(), &args.scope)?;
    let laws = args.law.as_ref().map(|law| select::laws(&chosen, law)).transpose()?.unwrap_or_default();
    let place = args.manifest.clone().unwrap_or_else(Manifest::place);
    let mut manifest = if args.no_pins { Manifest::default() } else { Manifest::load(&place)? };
    let progress = Arc::new(Progress::new());
    let shown = Arc::clone(&progress);
    let watch = Watch { stop: stop()?, tell: Arc::new(move |doing| shown.tell(doing)) };

    let mut reports: Vec<ScopeReport> = Vec::new();
    if !json {
        out::say(&text::head());
    }
    for (world, scopes) in &chosen {
        let has_law = |law: &String| world.laws().iter().any(|known| known.name == law);
        if !laws.is_empty() && !laws.iter().any(has_law) {
            continue;
        }
        for scope in scopes {
            if watch.stop.load(Ordering::Relaxed) && !reports.is_empty() {
                break;
            }
            progress.begin(world.name(), scope.name);
            let pinned = (!args.no_pins).then(|| manifest.pin(world.name(), scope.name));
            let settings = settings(args, scope.group, &laws);
            let mut report = world.check(scope.name, &settings, pinned, &watch)?;
            progress.clear();
            if let Some(pin) = report.pin.clone().filter(|_| args.pin && report.complete) {
                manifest.set(world.name(), scope.name, pin);
                report.pins = Pins::Match;
            }
            say(&report, args, json)?;
            reports.push(report);
        }
        let known: Vec<_> = world.scopes();
        manifest.retain(world.name(), &known.iter().map(|scope| scope.name).collect::<BTreeSet<_>>());
    }
    if args.pin {
        manifest.save(&place)?;
    }
    let mut judged = judge(&reports, &select::whole(&chosen));
    let searched = chosen.iter().map(|(_, scopes)| scopes.len()).sum::<usize>();
    if watch.stop.load(Ordering::Relaxed) && reports.len() < searched && laws.is_empty() {
        judged.cuts.push(format!("INCOMPLETE: ^C before {} more scopes", searched - reports.len()));
    }
    if json {
        for line in judged.findings.iter().chain(&judged.cuts) {
            out::tell(&format!("{line}\n"), &format!("{line}\n"));
        }
    } else {
        out::say(&text::laws(&reports));
        out::say(&text::sum(&reports, &judged));
    }
    Ok(judged.exit())
}

/// Says what is known of a scope, and writes its counterexamples.
fn say(report: &ScopeReport, args: &Check, json: bool) -> Result<(), Failure> {
    if json {
        let line = serde_json::to_string(report).map_err(|error| Failure::failed(error.to_string()))?;
        out::say(&(line + "\n"));
    } else {
        out::say(&text::row(report));
    }
    for fall in &report.falls {
        let paths = Files::of(fall).write(&args.out);
        let paths = paths.map_err(|error| Failure::file("write counterexamples into", &args.out, &error))?;
        if !json {
            out::say(&format!("\n{}", steps::text(fall, false)));
            for path in paths {
                out::say(&format!("  {}\n", path.display()));
            }
            out::say("\n");
        }
    }
    Ok(())
}

fn settings(args: &Check, group: Group, laws: &[String]) -> Settings {
    let threads = std::thread::available_parallelism().map_or(1, std::num::NonZero::get).min(16);
    let memory = args.memory.unwrap_or(if group == Group::Deep { 8.0 } else { 4.0 });
    Settings {
        threads: args.threads.map_or(threads, usize::from),
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a positive number of gigabytes"
        )]
        memory: Some((memory * f64::from(1 << 30)) as u64),
        states: args.states,
        time: args.time.map(Duration::from_secs_f64),
        laws: laws.to_vec(),
    }
}

/// Becomes true at the first ^C; the second ends the process at once.
fn stop() -> Result<Arc<AtomicBool>, Failure> {
    let stop = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM] {
        flag::register_conditional_shutdown(signal, 3, Arc::clone(&stop))
            .and_then(|_| flag::register(signal, Arc::clone(&stop)))
            .map_err(|error| Failure::failed(format!("cannot listen for ^C: {error}")))?;
    }
    Ok(stop)
}
