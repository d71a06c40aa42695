//! How far the program is from its own limits, each limit measured in the same run.
//!
//! `cargo bench -p awakener --bench load -- PART`, PART being `admission`, `wake`, `flood`, `memory` or `growth`; all of
//! them without one. What a figure means stands in `BENCHMARKS.md`. Without `--bench`, as in the tests, each part runs
//! once in the smallest size and says nothing of time. Not here: hints (`kernel/benches/hint.rs`).

mod admission;
mod figures;
mod flood;
mod growth;
mod http;
mod jetstream;
mod memory;
mod stand;
mod wake;

/// How much a part does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Size {
    /// Enough for figures; at most a minute.
    Whole,
    /// Enough to see that it works.
    Smoke,
}

/// What a part does.
type Part = fn(Size);

const PARTS: [(&str, Part); 5] = [
    ("admission", admission::run),
    ("wake", wake::run),
    ("flood", flood::run),
    ("memory", memory::run),
    ("growth", growth::run),
];

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (flags, wanted): (Vec<&String>, Vec<&String>) =
        arguments.iter().partition(|argument| argument.starts_with("--"));
    let size = if flags.iter().any(|flag| *flag == "--bench") { Size::Whole } else { Size::Smoke };
    if flags.iter().any(|flag| *flag == "--list") {
        return;
    }
    for (name, part) in PARTS {
        if wanted.is_empty() || wanted.iter().any(|wanted| *wanted == name) {
            println!("== {name}");
            part(size);
        }
    }
}
