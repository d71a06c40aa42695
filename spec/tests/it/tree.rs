//! The texts of a repository, and which Rust files its crates really compile.
//!
//! Not here: what the texts say. A file that no `mod` reaches is no part of any crate, so its tests never run.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

/// Paths relative to the root, with `/`, and their texts.
pub type Tree = BTreeMap<String, String>;

/// What is text of ours: documents, code, data.
const ENDINGS: [&str; 12] =
    ["md", "rs", "toml", "json", "sql", "tla", "cfg", "yml", "yaml", "sh", "py", "txt"];

/// Folders that hold nothing of ours.
const FOREIGN: [&str; 3] = ["target", ".git", "node_modules"];

/// Reads every text below `root`.
pub fn read(root: &Path) -> Tree {
    let mut tree = Tree::new();
    let mut folders = vec![root.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).unwrap() {
            let entry = entry.unwrap();
            let (path, name) = (entry.path(), entry.file_name().into_string().unwrap());
            if entry.file_type().unwrap().is_dir() {
                if !FOREIGN.contains(&&*name) && !name.starts_with("mutants.out") {
                    folders.push(path);
                }
            } else if name.rsplit_once('.').is_some_and(|(_, ending)| ENDINGS.contains(&ending)) {
                let relative = path.strip_prefix(root).unwrap().to_str().unwrap().replace('\\', "/");
                tree.insert(relative, fs::read_to_string(&path).unwrap());
            }
        }
    }
    tree
}

/// The Rust files in the `src` and `tests` folders of the tree.
pub fn rust_files(tree: &Tree) -> impl Iterator<Item = &str> {
    tree.keys()
        .map(String::as_str)
        .filter(|path| path.ends_with(".rs") && path.split('/').any(|part| part == "src" || part == "tests"))
}

/// The Rust files that start a crate: `src/{lib,main}.rs`, `src/bin`, `tests/*.rs`, `tests/*/main.rs`.
pub fn roots(tree: &Tree) -> BTreeSet<String> {
    let is_root = |path: &&str| {
        let parts: Vec<&str> = path.split('/').collect();
        matches!(
            parts.as_slice(),
            [.., "src", "lib.rs" | "main.rs"]
                | [.., "src", "bin", _]
                | [.., "src", "bin", _, "main.rs"]
                | [.., "tests", _]
                | [.., "tests", _, "main.rs"]
        )
    };
    rust_files(tree).filter(is_root).map(String::from).collect()
}
