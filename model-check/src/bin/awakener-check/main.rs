//! Searches the worlds and says what it found; exit 0 only if every search is complete and clean, 2 for wrong usage.

use std::process::ExitCode;

use awakener_model_check::verdict::{Verdict, verdict};
use awakener_model_check::{mailbox, waker};

const USAGE: &str = "usage: awakener-check check [--world mailbox|waker]";

fn main() -> ExitCode {
    let arguments: Vec<_> = std::env::args().skip(1).collect();
    let worlds: &[fn() -> Verdict] = match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["check"] => &[verdict::<mailbox::World>, verdict::<waker::World>],
        ["check", "--world", "mailbox"] => &[verdict::<mailbox::World>],
        ["check", "--world", "waker"] => &[verdict::<waker::World>],
        _ => {
            eprintln!("{USAGE}");
            return ExitCode::from(2);
        }
    };
    let mut clean = true;
    for search in worlds {
        let verdict = search();
        print!("{verdict}");
        clean &= verdict.is_clean();
    }
    println!("{}", if clean { "complete and clean" } else { "NOT complete and clean" });
    if clean { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
