//! The command line.
//!
//! A command is a function from its arguments to an [`Answer`] or a [`Failure`]; this file alone prints. Results go to
//! standard output, failures to standard error (see [`crate::exit`]). Secrets never stand in arguments: they name
//! files. Reading order: `args` (what can be said) → `context` (where a command looks) → `plane` → the commands → `show`.
//! Rules: CON-1, INB-10, OPR-1, SPW-6.

mod acknowledge;
mod agents;
mod args;
mod audit;
mod check;
mod context;
mod init;
mod mail;
mod offline;
mod operator;
mod out;
mod plane;
mod query;
mod registry;
mod roster;
mod run;
mod show;
mod spec;

use std::ffi::OsString;
use std::io::Write as _;
use std::process::ExitCode;

use awakener_kernel::operator::{Act, Alert, Arming, Empty, Pausing, Resuming, TargetName};
use awakener_kernel::time::{Millis, Wall};
use clap::Parser as _;
use clap::error::ErrorKind;

use crate::clock;
use crate::exit::{Exit, Failure};

use args::{Args, Command};
use context::Context;
pub use out::Answer;

/// How a command ended, before anything is printed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ended {
    /// The exit code.
    pub code: u8,
    /// For standard output.
    pub out: String,
    /// For standard error.
    pub err: String,
}

/// Runs the command of this process and prints what came of it.
pub fn main() -> ExitCode {
    let ended = run(std::env::args_os());
    // Whoever reads may have gone; there is nobody left to tell.
    let _ = std::io::stdout().lock().write_all(ended.out.as_bytes());
    let _ = std::io::stderr().lock().write_all(ended.err.as_bytes());
    ExitCode::from(ended.code)
}

/// Runs one command; the first argument is the name of the program.
pub fn run(args: impl IntoIterator<Item = OsString>) -> Ended {
    let args: Vec<OsString> = args.into_iter().collect();
    let json = args.iter().any(|arg| arg == "--json");
    let settings = settings(&args);
    match Args::try_parse_from(args) {
        Ok(mut args) => {
            let json = args.common.json;
            args.common.set = settings;
            ended(json, dispatch(args))
        }
        Err(error) => match error.kind() {
            ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => {
                Ended { code: 0, out: error.to_string(), err: String::new() }
            }
            _wrong if json => {
                let text = error.to_string();
                let first = text.lines().next().unwrap_or_default();
                ended(json, Err(Failure::usage(first.trim_start_matches("error: "))))
            }
            _wrong => Ended { code: Exit::Usage.code(), out: String::new(), err: error.to_string() },
        },
    }
}

/// Every `--set`, in order: the parser keeps those on one side of the command and forgets the others.
fn settings(args: &[OsString]) -> Vec<(String, String)> {
    let mut texts = Vec::new();
    let mut rest = args.iter().map(|arg| arg.to_string_lossy());
    while let Some(arg) = rest.next() {
        match (arg.as_ref(), arg.strip_prefix("--set=")) {
            ("--", _) => break,
            ("--set", _) => texts.extend(rest.next()),
            (_, Some(text)) => texts.push(text.to_owned().into()),
            (_, None) => {}
        }
    }
    // What is no setting has been refused by the parser, on either side.
    texts.iter().filter_map(|text| args::setting(text).ok()).collect()
}

fn ended(json: bool, result: Result<Answer, Failure>) -> Ended {
    let line = |text: String| if text.is_empty() || text.ends_with('\n') { text } else { text + "\n" };
    match result {
        Ok(answer) if json => {
            Ended { code: answer.exit, out: line(answer.value.to_string()), err: String::new() }
        }
        Ok(answer) => Ended { code: answer.exit, out: line(answer.text), err: String::new() },
        Err(failure) => {
            let text = if json { failure.to_value().to_string() } else { failure.to_string() };
            Ended { code: failure.exit, out: String::new(), err: line(text) }
        }
    }
}

fn dispatch(args: Args) -> Result<Answer, Failure> {
    let mut common = args.common;
    if let Some(Command::Up(serve) | Command::Wake(serve)) = &args.command {
        common.set.extend(serve.settings());
    }
    let context = Context::new(common)?;
    match args.command.unwrap_or_else(|| Command::Demo(args::Demo::default())) {
        Command::Init(args) => init::init(&context, &args),
        Command::Up(_) => run::up(&context),
        Command::Wake(_) => run::wake(&context),
        Command::Station { target } => run::station(&context, &target),
        Command::Demo(args) => run::demo(&context, args),
        Command::Send(args) => mail::send(&context, &args),
        Command::Inbox(args) => mail::inbox(&context, &args),
        Command::Read(args) => mail::read(&context, &args),
        Command::Claim(args) => mail::claim(&context, &args),
        Command::Renew(args) => mail::renew(&context, &args),
        Command::Release(args) => mail::release(&context, &args),
        Command::Turn(args) => mail::turn(&context, &args),
        Command::Reply(args) => mail::reply(&context, &args),
        Command::Silence(args) => mail::silence(&context, &args),
        Command::Done(args) => mail::done(&context, &args),
        Command::Ack(args) => acknowledge::ack(&context, &args),
        Command::Receipts(args) => query::receipts(&context, &args),
        Command::Trace { message, wait } => query::trace(&context, message, wait),
        Command::Status { page: true } => agents::page(&context),
        Command::Status { page: false } => agents::status(&context),
        Command::Why { target } => agents::why(&context, &target),
        Command::Roster(command) => roster::roster(&context, command),
        Command::Target(command) => operator::target(&context, command),
        Command::Principal(command) => operator::principal(&context, command),
        Command::Keys(command) => operator::keys(&context, command),
        Command::Arm { target, r#for, by } => {
            operator::act(&context, Act::Arm(Arming { target, until: until(r#for) }), &by)
        }
        Command::Disarm { target, by } => operator::act(&context, Act::Disarm(TargetName { target }), &by),
        Command::Abort { by } => operator::act(&context, Act::Abort(Empty {}), &by),
        Command::Pause { target, r#for, by } => {
            operator::act(&context, Act::Pause(Pausing { target, until: until(r#for) }), &by)
        }
        Command::Resume { target, by } => operator::act(&context, Act::Resume(Resuming { target }), &by),
        Command::StopAll { by } => operator::act(&context, Act::StopAll(Empty {}), &by),
        Command::Latch(args::Latch::Show) => query::latches(&context),
        Command::Latch(args::Latch::Clear { target, by }) => operator::clear_latch(&context, target, &by),
        Command::Resolve { target, message, by } => {
            operator::act(&context, Act::Resolve(Alert { target, message }), &by)
        }
        Command::Quarantine(args::Quarantine::Release { target, message, by }) => {
            operator::act(&context, Act::ReleaseQuarantine(Alert { target, message }), &by)
        }
        Command::Clock(args::ClockCommand::Accept { by }) => {
            operator::act(&context, Act::AcceptClock(Empty {}), &by)
        }
        Command::Audit(command) => audit::audit(&context, command),
        Command::Spec(command) => spec::spec(&command),
        Command::Config(args::ConfigCommand::Show) => check::show(&context),
        Command::Check => check::check(&context),
    }
}

fn until(length: Millis) -> Wall {
    clock::system() + length
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A command that is shown to people is one that this program takes.
    #[test]
    fn why_1_every_next_command_can_be_pasted() {
        let commands = crate::agents::tests::commands();
        assert!(commands.len() > 15, "{commands:?}");
        for command in commands {
            if command.starts_with("rm ") {
                // The state directory of the table has a quote in its name.
                assert!(
                    command.starts_with(r"rm '/var/lib/it'\''s/") && command.ends_with('\''),
                    "{command}"
                );
                continue;
            }
            let words: Vec<&str> = command.split(' ').collect();
            let parsed = Args::try_parse_from(&words);
            assert!(parsed.is_ok(), "{command}: {}", parsed.unwrap_err());
        }
        assert!(Args::try_parse_from(["awakener", "latch", "unlatch", "lotse"]).is_err(), "control");
    }
}
