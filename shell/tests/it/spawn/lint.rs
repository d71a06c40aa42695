//! SPW-1 as a lint: no source of this crate but the spawning module names a type that starts processes.

use std::path::{Path, PathBuf};

use awakener_tools::enforces_process;
use syn::visit::Visit;

/// Where a process may be started.
const HERE: &str = "src/spawn/mod.rs";

/// Paths that name something which starts processes: `process::Command` of std or tokio, also under another name.
#[derive(Default)]
struct Starters(Vec<String>);

impl Starters {
    fn in_text(text: &str) -> Vec<String> {
        let mut found = Self::default();
        found.visit_file(&syn::parse_file(text).unwrap());
        found.0
    }

    fn judge(&mut self, path: &[String]) {
        let at = path.iter().position(|segment| segment == "process");
        let after = at.and_then(|at| path.get(at + 1)).map(String::as_str);
        let whole = at.is_some() && after.is_none();
        if matches!(after, Some("Command" | "*")) || (whole && path.len() > 1) {
            self.0.push(path.join("::"));
        }
        if path
            .iter()
            .any(|segment| matches!(segment.as_str(), "CommandExt" | "posix_spawn" | "fork" | "execve"))
        {
            self.0.push(path.join("::"));
        }
    }

    fn tree(&mut self, tree: &syn::UseTree, before: &[String]) {
        match tree {
            syn::UseTree::Path(path) => self.tree(&path.tree, &[before, &[path.ident.to_string()]].concat()),
            syn::UseTree::Name(name) => {
                let name = name.ident.to_string();
                let path = if name == "self" { before.to_vec() } else { [before, &[name]].concat() };
                self.judge(&path);
            }
            syn::UseTree::Rename(name) => self.judge(&[before, &[name.ident.to_string()]].concat()),
            syn::UseTree::Glob(_) => self.judge(&[before, &["*".to_owned()]].concat()),
            syn::UseTree::Group(group) => group.items.iter().for_each(|tree| self.tree(tree, before)),
        }
    }
}

impl<'ast> Visit<'ast> for Starters {
    fn visit_item_use(&mut self, item: &'ast syn::ItemUse) {
        self.tree(&item.tree, &[]);
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        let segments: Vec<String> = path.segments.iter().map(|segment| segment.ident.to_string()).collect();
        if segments.last().is_some_and(|last| last != "process") {
            self.judge(&segments);
        }
        syn::visit::visit_path(self, path);
    }
}

fn sources(dir: &Path, into: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, into);
        } else if path.extension().is_some_and(|end| end == "rs") {
            into.push(path);
        }
    }
}

enforces_process! {
    [Spw1] fn spw_1_nothing_but_the_one_function_starts_a_process(seen) {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        let mut files = Vec::new();
        sources(&root.join("src"), &mut files);
        assert!(files.len() > 100);
        let mut found = Vec::new();
        for file in files {
            let name = file.strip_prefix(root).unwrap().to_str().unwrap().to_owned();
            let starters = Starters::in_text(&std::fs::read_to_string(&file).unwrap());
            found.extend(starters.into_iter().map(|path| (name.clone(), path)));
        }
        let elsewhere: Vec<_> = found.iter().filter(|(name, _)| name != HERE).collect();
        assert!(elsewhere.is_empty(), "{elsewhere:?}");
        assert!(found.iter().any(|(name, _)| name == HERE), "the lint sees nothing");
        // The function itself decides, and says so.
        let dir = tempfile::tempdir().unwrap();
        super::finish(&super::shell(dir.path(), "true"), super::bounds());
        let _ = seen;
    }
}

#[test]
fn spw_1_the_lint_sees_every_way_to_name_it() {
    for text in [
        "use std::process::Command;",
        "use std::process::{Child, Command as C};",
        "use tokio::process::*;",
        "use std::process;",
        "use std::process::{self, Stdio};",
        "fn f() { std::process::Command::new(\"sh\"); }",
        "fn f(c: &mut tokio::process::Command) {}",
        "use std::os::unix::process::CommandExt as _;",
    ] {
        assert!(!Starters::in_text(text).is_empty(), "{text}");
    }
    for text in [
        "use std::process::{ExitStatus, Stdio};",
        "fn f() -> u32 { std::process::id() }",
        "use rustix::process::Pid;",
        "fn f() { clap::Command::new(\"x\"); }",
        "use super::spawn::process_of; fn process() {}",
    ] {
        assert!(Starters::in_text(text).is_empty(), "{text}: {:?}", Starters::in_text(text));
    }
}
