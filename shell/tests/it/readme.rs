//! The quick start of the README, run as it is written, in a home of its own with the built program on the path.
//!
//! A `sh` block is run; a `text` block right after it is what the block prints, with ids, hashes, times and counts
//! masked and runs of spaces taken as one. Facts of a ladder that happen in two processes may come in either order.

use std::collections::BTreeMap;
use std::fs;
use std::net::TcpListener;
use std::os::unix::fs::DirBuilderExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const README: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../README.md");
/// Between the outputs of two blocks.
const MARK: &str = "@@ block";

/// Commands, and what the README shows of them.
struct Block {
    line: usize,
    commands: String,
    shown: Option<String>,
}

fn blocks(text: &str) -> Vec<Block> {
    let mut blocks: Vec<Block> = Vec::new();
    let mut lines = text.lines().enumerate();
    let mut follows = false;
    while let Some((at, line)) = lines.next() {
        let Some(kind) = line.strip_prefix("```") else {
            follows &= line.is_empty();
            continue;
        };
        let inside = lines.by_ref().map(|(_, line)| line).take_while(|line| *line != "```");
        let content: String = inside.flat_map(|line| [line, "\n"]).collect();
        match (kind, blocks.last_mut()) {
            ("sh", _) => blocks.push(Block { line: at + 1, commands: content, shown: None }),
            ("text", Some(block)) if follows => block.shown = Some(content),
            (_, _) => {}
        }
        follows = kind == "sh";
    }
    blocks
}

/// What differs from run to run, as its kind.
fn masked(text: &str) -> Vec<String> {
    let mut lines: Vec<String> = text.lines().map(|line| words(line).join(" ")).collect();
    // A ladder's facts are put in order of their names.
    for ladder in lines.chunk_by_mut(|a, b| a.starts_with("+n") && b.starts_with("+n")) {
        ladder.sort();
    }
    lines
}

fn words(line: &str) -> Vec<String> {
    let inside = |c: char| c.is_ascii_alphanumeric() || "+-:._".contains(c);
    let word = |word: &str| {
        let mut out = String::new();
        let mut rest = word;
        while !rest.is_empty() {
            let end = rest.find(|c| !inside(c)).unwrap_or(rest.len());
            out += &kind(&rest[..end]);
            let next = rest[end..].find(inside).map_or(rest.len(), |next| end + next);
            out += &rest[end..next];
            rest = &rest[next..];
        }
        out
    };
    line.split_whitespace().map(word).collect()
}

fn kind(word: &str) -> String {
    if let Some(value) = word.strip_prefix(':') {
        return format!(":{}", kind(value));
    }
    let hex = |text: &str| !text.is_empty() && text.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'));
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    let dashes: Vec<usize> = word.split('-').map(str::len).collect();
    let masked = if dashes == [8, 4, 4, 4, 12] && word.split('-').all(hex) {
        "id"
    } else if word.strip_prefix("sha256:").is_some_and(|rest| rest.len() == 64 && hex(rest)) {
        "hash"
    } else if word.len() == 24 && word.ends_with('Z') && word.contains('T') {
        "time"
    } else if word.strip_prefix('+').is_some_and(digits) {
        "+n"
    } else if word.len() == 8 && hex(word) {
        "short"
    } else if word.len() > 1 && digits(word) {
        "n"
    } else {
        word
    };
    masked.to_owned()
}

/// The README has fixed ports; a test that runs beside this one may have them for a while.
fn wait_for_port(port: u16) {
    let until = Instant::now() + Duration::from_secs(60);
    while let Err(error) = TcpListener::bind(("127.0.0.1", port)) {
        assert!(Instant::now() < until, "port {port}, which the README uses, is taken: {error}");
        std::thread::sleep(Duration::from_millis(200));
    }
}

/// Runs all blocks in one shell; gives what each printed.
fn run(blocks: &[Block], dir: &Path) -> BTreeMap<usize, String> {
    let home = dir.join("home");
    fs::DirBuilder::new().mode(0o700).create(&home).unwrap();
    // Whatever happens, nothing that the blocks started outlives them.
    let mut script = String::from("set -eu\ntrap 'kill $(jobs -p) 2>/dev/null || true; wait' EXIT\n");
    for (number, block) in blocks.iter().enumerate() {
        script += &format!("echo '{MARK} {number}'\n{}", block.commands);
    }
    let program = Path::new(env!("CARGO_BIN_EXE_awakener")).parent().unwrap().display();
    let (out, err) = (dir.join("out"), dir.join("err"));
    let mut shell = Command::new("bash")
        .args(["-c", &script])
        .current_dir(dir)
        .env_clear()
        .env("HOME", &home)
        .env("PATH", format!("{program}:/usr/local/bin:/usr/bin:/bin"))
        .stdin(Stdio::null())
        .stdout(fs::File::create(&out).unwrap())
        .stderr(fs::File::create(&err).unwrap())
        .process_group(0)
        .spawn()
        .unwrap();
    let until = Instant::now() + Duration::from_secs(120);
    let status = loop {
        match shell.try_wait().unwrap() {
            Some(status) => break Some(status),
            None if Instant::now() > until => break None,
            None => std::thread::sleep(Duration::from_millis(50)),
        }
    };
    if status.is_none() {
        let group = format!("-{}", shell.id());
        Command::new("kill").args(["-TERM", "--", &group]).status().unwrap();
        shell.wait().unwrap();
    }
    let (out, err) = (fs::read_to_string(out).unwrap(), fs::read_to_string(err).unwrap());
    assert!(status.is_some_and(|status| status.success()), "{status:?}\n{out}\n{err}");
    out.split(MARK)
        .skip(1)
        .map(|part| {
            let (number, printed) = part.split_once('\n').unwrap();
            (number.trim().parse().unwrap(), printed.to_owned())
        })
        .collect()
}

#[test]
fn con_1_the_readme_does_what_it_shows() {
    let blocks = blocks(&fs::read_to_string(README).unwrap());
    let shown = blocks.iter().filter(|block| block.shown.is_some()).count();
    assert!(blocks.len() >= 7 && shown >= 5, "{} blocks, {shown} shown", blocks.len());
    for port in [7717, 9403] {
        wait_for_port(port);
    }
    let dir = tempfile::tempdir().unwrap();
    let printed = run(&blocks, dir.path());
    assert_eq!(printed.len(), blocks.len());
    for (number, block) in blocks.iter().enumerate() {
        if let Some(shown) = &block.shown {
            assert_eq!(masked(&printed[&number]), masked(shown), "README.md:{}", block.line);
        }
    }
}

#[test]
fn con_1_masks_hide_chance_and_nothing_else() {
    let one = "+12  a 01a22d7b-2173-7c7f-a1a0-0a2ec6fa28df seq 1 93076831\n+3 b \"head\":{\"size\":27}\nrest";
    let two =
        "+4 b \"head\":{\"size\":31}\n+900   a 01a22d7b-2173-7c7f-a1a0-0a2ec6fa28d0 seq 1 9307683f\nrest";
    assert_eq!(masked(one), masked(two));
    assert_eq!(masked(one)[0], "+n a id seq 1 short");
    for other in [two.replace("seq 1", "seq 2"), two.replace("+4 b", "+4 c"), two.replace("rest", "")] {
        assert_ne!(masked(one), masked(&other), "{other}");
    }
    let read = blocks("```sh\na\n```\n\n```text\nb\n```\ntext\n```text\nc\n```\n");
    assert_eq!((read.len(), read[0].shown.as_deref(), read[0].line), (1, Some("b\n"), 1));
}
