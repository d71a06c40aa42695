//! A headless Chromium, which shows a page as a browser does: as its DOM, or as a picture.
//!
//! One that is installed, else Debian's `chromium-headless-shell` with the libraries that the machine lacks, fetched with
//! apt, which checks it against the signed index, and unpacked beside the other tools without installing anything (90 MB
//! to fetch, 270 MB on disk). Each use has a profile of its own. Not here: what is expected of a page.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::run::{failed, run};
use crate::{Tool, ToolError, debian, skipped, workspace};

const TOOL: &str = "chromium";
/// What to install by hand.
const PACKAGE: &str = "chromium-headless-shell";
/// The names under which it may be installed.
const NAMES: [&str; 5] = [PACKAGE, "chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];
/// How often a page is tried.
const TRIES: u32 = 3;
/// How long one page may take.
const PATIENCE: Duration = Duration::from_secs(60);

/// A Chromium that shows pages here.
///
/// # Errors
/// When there is none and it cannot be fetched, or when it does not run on this machine.
pub fn program() -> Result<Tool, ToolError> {
    if let Some(skipped) = skipped(TOOL)? {
        return Ok(Tool::Skipped(skipped));
    }
    let program = match on_path() {
        Some(program) => program,
        None => fetched(&workspace().join("target/tools"))?,
    };
    Browser::new(&program, View::default())
        .dom("about:blank")
        .map_err(|error| ToolError { line: format!("apt-get install {PACKAGE}"), ..error })?;
    Ok(Tool::Ready(program))
}

fn on_path() -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    let directories: Vec<PathBuf> = std::env::split_paths(&path).collect();
    let named = |name: &&str| directories.iter().map(|at| at.join(name)).find(|program| program.is_file());
    NAMES.iter().find_map(named)
}

/// How a page is looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct View {
    /// Width and height, CSS pixels.
    pub size: (u32, u32),
    /// Whether the user prefers dark.
    pub dark: bool,
    /// How long the page may run after it was loaded, milliseconds of its own clock.
    pub budget: u32,
}

impl Default for View {
    fn default() -> Self {
        Self { size: (1_280, 900), dark: false, budget: 2_000 }
    }
}

/// A way of looking at pages.
#[derive(Clone, Debug)]
pub struct Browser {
    program: PathBuf,
    view: View,
}

impl Browser {
    /// With this program.
    pub fn new(program: &Path, view: View) -> Self {
        Self { program: program.to_owned(), view }
    }

    /// The document after its scripts ran, as HTML.
    ///
    /// # Errors
    /// When the browser fails or does not end in time.
    pub fn dom(&self, url: &str) -> Result<String, ToolError> {
        self.show(&["--dump-dom"], url)
    }

    /// A picture of the window, as PNG.
    ///
    /// # Errors
    /// As [`Self::dom`].
    pub fn picture(&self, url: &str, file: &Path) -> Result<(), ToolError> {
        self.show(&[&format!("--screenshot={}", file.display())], url)?;
        fs::metadata(file).map(drop).map_err(|cause| failed(TOOL, "take a picture", file, &cause))
    }

    /// Shows it, again if the browser itself fails: now and then a headless Chromium dies by itself (seen once in some 200 starts),
    /// and what a page shows is judged by what comes out and not by that.
    fn show(&self, how: &[&str], url: &str) -> Result<String, ToolError> {
        let mut tries = TRIES;
        loop {
            tries -= 1;
            match self.show_once(how, url) {
                Err(error) if tries > 0 => eprintln!("once more: {error}"),
                result => return result,
            }
        }
    }

    fn show_once(&self, how: &[&str], url: &str) -> Result<String, ToolError> {
        let profile = Profile::new()?;
        let View { size: (width, height), dark, budget } = self.view;
        let mut command = Command::new(&self.program);
        command
            .args([
                "--headless",
                "--no-sandbox",
                "--disable-gpu",
                "--disable-dev-shm-usage",
                "--no-first-run",
            ])
            .args(["--hide-scrollbars", "--disable-background-networking", "--disable-component-update"])
            .arg(format!("--user-data-dir={}", profile.0.display()))
            .arg(format!("--window-size={width},{height}"))
            .arg(format!("--blink-settings=preferredColorScheme={}", u8::from(!dark)))
            .arg(format!("--virtual-time-budget={budget}"))
            .args(how)
            .arg(url)
            .env("HOME", &profile.0)
            .stdin(Stdio::null())
            .stdout(
                File::create(profile.0.join("out"))
                    .map_err(|cause| failed(TOOL, "write", &profile.0, &cause))?,
            )
            .stderr(
                File::create(profile.0.join("err"))
                    .map_err(|cause| failed(TOOL, "write", &profile.0, &cause))?,
            );
        let mut child = command.spawn().map_err(|cause| failed(TOOL, "start it", &self.program, &cause))?;
        let end = Instant::now() + PATIENCE;
        let status = loop {
            match child.try_wait() {
                Ok(Some(status)) => break status,
                Ok(None) if Instant::now() < end => std::thread::sleep(Duration::from_millis(20)),
                Ok(None) | Err(_) => {
                    // Its only failure is that it has ended meanwhile.
                    let _ = child.kill();
                    let _ = child.wait();
                    return Err(failed(TOOL, "show a page in time", &self.program, &profile.said()));
                }
            }
        };
        if !status.success() {
            let said = format!("{status}: {}", profile.said());
            return Err(failed(TOOL, "show a page", &self.program, &said));
        }
        fs::read_to_string(profile.0.join("out"))
            .map_err(|cause| failed(TOOL, "read what it wrote", &profile.0, &cause))
    }
}

/// A directory for one use, which goes with it.
struct Profile(PathBuf);

impl Profile {
    fn new() -> Result<Self, ToolError> {
        static NEXT: std::sync::atomic::AtomicU32 = std::sync::atomic::AtomicU32::new(0);
        let number = NEXT.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        let place = std::env::temp_dir().join(format!("awakener-chromium-{}-{number}", std::process::id()));
        fs::create_dir_all(&place).map_err(|cause| failed(TOOL, "create a directory", &place, &cause))?;
        Ok(Self(place))
    }

    fn said(&self) -> String {
        fs::read_to_string(self.0.join("err")).unwrap_or_default()
    }
}

impl Drop for Profile {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Fetches and unpacks it, unless that was done before.
fn fetched(tools: &Path) -> Result<PathBuf, ToolError> {
    let home = debian::unpacked((TOOL, PACKAGE), tools, lacking, |partial, home| {
        let script = format!(
            "#!/bin/sh\nhome='{}'\nlibraries=$(echo \"$home\"/usr/lib/*-linux-gnu)\n\
             LD_LIBRARY_PATH=\"$libraries:$libraries/pulseaudio\" exec \"$home/usr/lib/chromium/{PACKAGE}\" \"$@\"\n",
            home.display()
        );
        debian::script(partial, &script)
    })?;
    Ok(home.join("run"))
}

/// The packages that would be installed: what is there already is not fetched.
fn lacking(place: &Path) -> Result<Vec<String>, ToolError> {
    let what = format!("ask what it needs; to mend it: apt-get update, then apt-get install {PACKAGE}");
    let simulated = ["--simulate", "--no-install-recommends", "install", PACKAGE];
    let said = run(TOOL, &what, place, Command::new("apt-get").args(simulated))?;
    let packages = said.lines().filter_map(|line| line.strip_prefix("Inst ")?.split(' ').next());
    Ok(packages.map(str::to_owned).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_browser_runs_scripts_and_knows_its_size_and_its_colours() {
        let Tool::Ready(program) = program().unwrap() else { return };
        let place = Profile::new().unwrap();
        let page = place.0.join("page.html");
        let script = "document.body.textContent = innerWidth + ' ' + matchMedia('(prefers-color-scheme: dark)').matches";
        fs::write(&page, format!("<!doctype html><body><script>{script}</script>")).unwrap();
        let url = format!("file://{}", page.display());
        for (view, expected) in [
            (View::default(), "<body>1280 false</body>"),
            (View { size: (390, 844), dark: true, budget: 500 }, "<body>390 true</body>"),
        ] {
            let browser = Browser::new(&program, view);
            let dom = browser.dom(&url).unwrap();
            assert!(dom.contains(expected), "{dom}");
            let picture = place.0.join("page.png");
            browser.picture(&url, &picture).unwrap();
            assert!(fs::read(&picture).unwrap().starts_with(b"\x89PNG"));
        }
    }

    #[test]
    fn what_shows_nothing_is_said_to_show_nothing() {
        let error = Browser::new(Path::new("/bin/false"), View::default()).dom("about:blank").unwrap_err();
        for part in ["show a page", "AWAKENER_WITHOUT=chromium"] {
            assert!(error.to_string().contains(part), "{part} in {error}");
        }
    }
}
