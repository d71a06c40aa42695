//! A copy of the workspace in which something is wrong on purpose, and how it is built.
//!
//! Only what the checker needs is copied, and a file is written only if it differs, so that a build after a small
//! edit is a small build. The copy has a target folder of its own that outlives the run. Not here: what is edited.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::{env, fs, io};

use serde::Deserialize;

/// The packages of the copy; everything else of the workspace stays out.
const MEMBERS: [&str; 4] = ["spec", "kernel", "model-check", "conformance/tools"];

/// The program that is built: a slim one, since it is built anew after every change of the kernel.
const PROGRAM: &str = "awakener-control";

/// Where its source stands in the copy, and what it is.
const MAIN: (&str, &str) = (
    "model-check/src/bin/awakener-control.rs",
    "//! Searches one scope for the controls.\n\nfn main() -> std::process::ExitCode {\n    \
     awakener_model_check::controls::program()\n}\n",
);

/// A copy.
#[derive(Clone, Debug)]
pub struct Scratch {
    folder: PathBuf,
    target: PathBuf,
}

/// An error of the compiler, and where in which file.
#[derive(Clone, Debug)]
pub struct Diagnostic {
    /// As it is shown.
    pub text: String,
    /// The file, from the root of the workspace, and the first byte.
    pub places: Vec<(String, usize)>,
}

impl Scratch {
    /// Makes or renews the copy `name` of the workspace at `root`.
    ///
    /// # Errors
    /// A file cannot be read or written, or the workspace is not what it was.
    pub fn of(root: &Path, name: &str) -> io::Result<Self> {
        let base = root.join("target/controls");
        let scratch = Self { folder: base.join(name), target: base.join("build") };
        for member in MEMBERS {
            scratch.copy(root, Path::new(member))?;
        }
        for file in ["Cargo.lock", "rust-toolchain.toml"] {
            scratch.write(file, &fs::read(root.join(file))?)?;
        }
        scratch.write(MAIN.0, MAIN.1.as_bytes())?;
        scratch.write("Cargo.toml", workspace(&fs::read_to_string(root.join("Cargo.toml"))?).as_bytes())?;
        Ok(scratch)
    }

    /// Copies one folder, and removes from the copy what is not in it any more.
    fn copy(&self, root: &Path, folder: &Path) -> io::Result<()> {
        let mut here = BTreeSet::new();
        fs::create_dir_all(self.folder.join(folder))?;
        for entry in fs::read_dir(root.join(folder))? {
            let entry = entry?;
            let path = folder.join(entry.file_name());
            here.insert(entry.file_name());
            if entry.file_type()?.is_dir() {
                self.copy(root, &path)?;
            } else {
                self.write(&path, &fs::read(entry.path())?)?;
            }
        }
        for entry in fs::read_dir(self.folder.join(folder))? {
            let entry = entry?;
            if folder.join(entry.file_name()) == Path::new(MAIN.0) {
                continue;
            }
            match here.contains(&entry.file_name()) {
                true => {}
                false if entry.file_type()?.is_dir() => fs::remove_dir_all(entry.path())?,
                false => fs::remove_file(entry.path())?,
            }
        }
        Ok(())
    }

    /// Writes a file of the copy, unless it is so already.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn write(&self, file: impl AsRef<Path>, content: &[u8]) -> io::Result<()> {
        let path = self.folder.join(file);
        if fs::read(&path).is_ok_and(|old| old == content) {
            return Ok(());
        }
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent)?;
        }
        fs::write(path, content)
    }

    /// Builds the program, and keeps it beside the copy.
    ///
    /// # Errors
    /// What the compiler says, or why it could not be asked.
    pub fn build(&self) -> io::Result<Result<PathBuf, Vec<Diagnostic>>> {
        let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let output = Command::new(cargo)
            .args(["build", "--offline", "--profile", "controls", "--package", "awakener-model-check"])
            .args(["--bin", PROGRAM, "--message-format", "json"])
            .current_dir(&self.folder)
            .env("CARGO_TARGET_DIR", &self.target)
            // What an edit leaves unused is not the question.
            .env("RUSTFLAGS", "--cap-lints allow")
            .env_remove("CARGO_ENCODED_RUSTFLAGS")
            .stdin(Stdio::null())
            .output()?;
        if output.status.success() {
            let kept = self.folder.join(PROGRAM).with_extension(env::consts::EXE_EXTENSION);
            let built = self.target.join("controls").join(PROGRAM).with_extension(env::consts::EXE_EXTENSION);
            // Away first: the old one may still be mapped.
            drop(fs::remove_file(&kept));
            fs::copy(built, &kept)?;
            return Ok(Ok(kept));
        }
        let mut errors = diagnostics(&String::from_utf8_lossy(&output.stdout));
        if errors.is_empty() {
            let text = String::from_utf8_lossy(&output.stderr).into_owned();
            errors.push(Diagnostic { text, places: Vec::new() });
        }
        Ok(Err(errors))
    }
}

/// The workspace's manifest with the members of the copy only.
fn workspace(manifest: &str) -> String {
    let members = MEMBERS.map(|member| format!("\"{member}\"")).join(", ");
    let line = |line: &str| match line.split_once('=').map(|(key, _)| key.trim()) {
        Some("members") => format!("members = [{members}]\n"),
        Some("default-members") => String::new(),
        _ => format!("{line}\n"),
    };
    manifest.lines().map(line).collect()
}

#[derive(Deserialize)]
struct Message {
    message: Option<Said>,
}

#[derive(Deserialize)]
struct Said {
    level: String,
    rendered: Option<String>,
    spans: Vec<Span>,
}

#[derive(Deserialize)]
struct Span {
    file_name: String,
    byte_start: usize,
}

fn diagnostics(stdout: &str) -> Vec<Diagnostic> {
    let said = stdout.lines().filter_map(|line| serde_json::from_str::<Message>(line).ok()?.message);
    said.filter(|said| said.level == "error" && !said.spans.is_empty())
        .map(|said| Diagnostic {
            text: said.rendered.unwrap_or_default(),
            places: said.spans.into_iter().map(|span| (span.file_name, span.byte_start)).collect(),
        })
        .collect()
}
